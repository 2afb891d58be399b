//! The formats that are written, each in a file of its own.
//!
//! To add one: write `export/NAME.rs` with a [`Format`] and list it in [`FORMATS`].

use super::save::{ExportError, ExportOptions, Written};
use super::{bvh, csv, gltf, vrma};
#[cfg(feature = "formats")]
use super::{fbx, npz, usd};
use crate::model::Motion;
use std::fmt;

/// One format that is written.
#[derive(Clone, Copy)]
pub struct Format {
    /// What it is called, which is the extension of its files.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What of a motion and its character a file does not keep, in a few words.
    pub loses: &'static str,
    /// Whether one file holds several clips.
    pub several: bool,
    /// Writes motions, at least one, which share one character; one alone where a file does not hold several.
    pub write: fn(&[Motion], &ExportOptions) -> Result<Written, ExportError>,
}

/// Every format that is written, the usual ones first.
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
    usd::USDZ,
    #[cfg(feature = "formats")]
    npz::FORMAT,
    csv::FORMAT,
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

    /// The format of this name, or of a file with this extension, in any case.
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
