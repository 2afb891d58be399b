//! What is written, read again.

#[cfg(feature = "fbx")]
mod fbx;
#[cfg(feature = "fbx")]
mod fbx_splice;
#[cfg(feature = "fbx")]
mod fbx_bind;
mod bvh;
mod gltf;
#[cfg(feature = "fbx")]
mod gltf_surfaces;
mod laws;
#[cfg(feature = "formats")]
mod losses;
mod moved_skin;
mod robots;
#[cfg(feature = "fbx")]
mod not_finite;
#[cfg(feature = "formats")]
mod positions_out;
mod surfaces;
mod usd;
mod usd_crate;
mod usd_read;
mod vrma;
