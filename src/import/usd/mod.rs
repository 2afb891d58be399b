//! Reads USD, as text (`.usda`) or binary (a crate, `.usdc`): skeletons, their animations and the meshes that they move, through a glTF document.

mod usd_error;
mod usda_layer;
mod usda_escapes;
mod usda_parser;
mod crate_bytes;
mod crate_tables;
mod crate_values;
mod crate_layer;
mod usd_skeleton;
mod usd_xforms;
mod usd_animation;
mod usd_mesh;
mod usd_format;

pub use usd_error::UsdError;
pub use usd_format::FORMAT;
