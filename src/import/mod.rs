//! Bytes become an asset in normal form: metres, Y up, parents first, one root, unique names, uniform frames.
//!
//! [`load`] is the door. [`bvh`] reads BVH text: a tolerant scanner for the hierarchy, rows decoded straight into a
//! clip, and a hook for units and axes; `gltf` reads skeletons, skins, meshes and animations of glTF, GLB and VRM.

mod asf_amc;
pub mod bvh;
mod bvh_angles;
mod bvh_asset;
mod bvh_error;
mod bvh_model;
mod bvh_motion;
mod bvh_number;
mod bvh_rows;
mod bvh_scan;
mod calibration;
#[cfg(feature = "fbx")]
mod fbx;
mod format;
mod gltf;
mod gltf_accessor;
mod gltf_animation;
mod gltf_asset;
mod gltf_bind;
mod gltf_carried;
mod gltf_mesh;
mod gltf_packed;
mod gltf_resources;
mod gltf_sample;
mod gltf_skeleton;
mod gltf_track;
mod gltf_view;
mod load;
#[cfg(feature = "formats")]
mod npz;
mod stated;
mod understand;

pub use asf_amc::AsfError;
pub use bvh::Positions;
pub use bvh_error::{BvhError, Place};
pub use calibration::Calibrate;
pub use format::FORMATS;
pub use format::{ReadFormat, Source};
pub use gltf::GltfFile;
#[cfg(feature = "cli")]
pub(crate) use load::MAX_FILE_BYTES;
pub use load::{Axis, ImportError, Options, format_name, from_bytes, from_file, load};
pub(crate) use load::{from_shared, read};
#[cfg(feature = "formats")]
pub use npz::{BodyModelError, NpzError};
