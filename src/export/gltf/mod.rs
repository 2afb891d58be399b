//! Writes glTF: clips are added to the character's own document, and everything else in it is preserved.

mod gltf_format;
mod add_clips;
mod animation_buffer;
mod property_channels;
mod thin_tracks;
mod node_tracks;
mod local_tracks;
mod rest_thresholds;
mod new_document;
mod resource_files;
mod made_by;
mod json_splice;
mod self_contained;

pub use add_clips::{GltfOptions, GltfOutput, write};
pub(super) use gltf_format::has_extension;
pub use gltf_format::{GLB, GLTF, VRM};
pub use made_by::made_by;
pub(super) use property_channels::DROPPED;
pub(crate) use resource_files::decoded_uri;
#[cfg(feature = "cli")]
pub(crate) use self_contained::lost_buffer;
