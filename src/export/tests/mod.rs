//! What is written, read again.

#[cfg(feature = "fbx")]
mod fbx;
#[cfg(feature = "fbx")]
mod fbx_splice;
mod gltf;
mod laws;
mod moved_skin;
mod surfaces;
mod usd;
mod vrma;
