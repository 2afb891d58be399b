//! The list of formats that can be written.
//!
//! To add one, write `export/NAME.rs` or `export/NAME/` with a [`Format`] and add it to [`FORMATS`].

use super::save::{ExportError, ExportOptions, Written};
use super::{bvh, csv, gltf, robot, vrma};
#[cfg(feature = "formats")]
use super::{fbx, npy, npz, usd, vmd};
use crate::model::Motion;
use std::fmt;

/// A format that can be written.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name, which is also the file extension.
    pub name: &'static str,
    /// Short description.
    pub about: &'static str,
    /// Short list of what a file does not store of a motion and its character.
    pub loses: &'static str,
    /// Whether a new file has morph targets and their weights.
    pub morphs: bool,
    /// Whether a file can hold several clips.
    pub several: bool,
    /// Writes motions that share one character: at least one, and only one if a file cannot hold several.
    pub write: fn(&[Motion], &ExportOptions) -> Result<Written, ExportError>,
}

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

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
