//! Reads glTF, GLB, VRM and VRM animation files: skeletons, skins, meshes and animations.
//!
//! [`GltfFile::read`] decodes a file; `gltf_format` detects the roles of its joints and makes the asset.
//! Source: glTF 2.0 specification (Khronos, ISO/IEC 12113:2022).

mod gltf_format;
mod gltf_file;
mod resources;
mod accessors;
mod accessor_elements;
mod meshopt;
mod not_finite;
mod draco;
mod node_joints;
mod bind_spaces;
mod skin_bind;
mod checked_document;
mod texture_transform;
mod materials;
mod influences;
mod morph_targets;
mod mesh_context;
mod primitives;
mod static_meshes;
mod animations;
mod sampling;
mod sampling_plan;
mod frame_tile;
mod interpolation;
mod property_tracks;
mod required_extensions;

pub(crate) use animations::SCALE_ANIMATED;
pub use gltf_file::GltfFile;
pub(super) use gltf_format::{FORMAT, asset};
#[cfg(feature = "fbx")]
pub(super) use interpolation::LEAST_BAKED;
#[cfg(feature = "formats")]
pub(super) use node_joints::{VrmHumanoid, VrmVersion};
