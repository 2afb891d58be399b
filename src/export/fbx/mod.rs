//! Writes binary FBX: a new file, or the character's own file with clips added.
//!
//! `records` is the container, `record_properties` the values in it; `fbx_builder` assembles a new file from `limb_nodes`,
//! `mesh`, `material` and `animation_stack`; `append_clips` adds clips to an existing file.
//!
//! Space: model space, Y up, +Z front, as stated in the file. Units: metres are converted to centimetres. Rates are the nominal
//! ones; every frame gets keys, even if the motion allows key reduction.

mod fbx_format;
mod fbx_builder;
mod limb_nodes;
mod bound_mesh;
mod mesh;
mod geometry;
mod morph_channels;
mod material;
mod animation_stack;
mod templates;
mod ticks;
#[cfg(feature = "fbx")]
mod append_clips;
#[cfg(feature = "fbx")]
mod original_nodes;
#[cfg_attr(not(feature = "fbx"), allow(dead_code, reason = "files are read only to add clips to them"))]
mod record_properties;
#[cfg_attr(not(feature = "fbx"), allow(dead_code, reason = "files are read only to add clips to them"))]
mod records;

pub use fbx_format::FORMAT;
