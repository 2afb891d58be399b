//! The list of formats that can be written.
//!
//! To add one, write `export/NAME.rs` or `export/NAME/` with a [`Format`] and add it to [`FORMATS`].

use super::save::Format;
use super::{bvh, csv, gltf, robot, vrma};
#[cfg(feature = "formats")]
use super::{fbx, npy, npz, usd, vmd};

/// Every format that can be written, common ones first.
pub const FORMATS: &[Format] = &[
    gltf::GLB,
    gltf::GLTF,
    gltf::VRM,
    #[cfg(feature = "formats")]
    fbx::FORMAT,
    bvh::FORMAT,
    vrma::FORMAT,
    #[cfg(feature = "formats")]
    usd::USDA,
    #[cfg(feature = "formats")]
    usd::USDC,
    #[cfg(feature = "formats")]
    usd::USD,
    #[cfg(feature = "formats")]
    usd::USDZ,
    #[cfg(feature = "formats")]
    vmd::FORMAT,
    #[cfg(feature = "formats")]
    npz::FORMAT,
    #[cfg(feature = "formats")]
    npy::FORMAT,
    csv::FORMAT,
    robot::PKL,
];

impl Format {
    /// Binary glTF.
    pub const GLB: Format = gltf::GLB;
    /// glTF as JSON.
    pub const GLTF: Format = gltf::GLTF;
    /// VRM.
    pub const VRM: Format = gltf::VRM;
    /// Biovision hierarchy.
    pub const BVH: Format = bvh::FORMAT;
    /// FBX.
    #[cfg(feature = "formats")]
    pub const FBX: Format = fbx::FORMAT;

    /// The format with this name or file extension, case-insensitive.
    pub fn of(name: &str) -> Option<Format> {
        FORMATS.iter().find(|f| f.name.eq_ignore_ascii_case(name)).copied()
    }
}
