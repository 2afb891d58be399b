//! The formats that are read, each in a file of its own.
//!
//! To add one: write `import/NAME.rs` with a [`ReadFormat`] and list it in [`FORMATS`].

#[cfg(feature = "fbx")]
use super::fbx;
use super::load::{ImportError, ImportOptions};
#[cfg(feature = "formats")]
use super::npz;
use super::{asf_amc, bvh, gltf};
use crate::model::Asset;
use std::path::Path;
use std::sync::Arc;

/// One format that is read.
#[derive(Debug)]
pub struct ReadFormat {
    /// What it is called.
    pub name: &'static str,
    /// The extensions of its files, without dots.
    pub suffixes: &'static [&'static str],
    /// What it is, in a few words.
    pub about: &'static str,
    /// What of a file is not taken over, in a few words.
    pub loses: &'static str,
    /// Whether the first bytes of a file (`HEAD` of them at most) are such that it can be nothing else.
    pub recognise: fn(&[u8]) -> bool,
    /// Reads a file.
    pub read: fn(&SourceFile, &ImportOptions) -> Result<Asset, ImportError>,
}

/// How much of a file is looked at to tell its format, bytes.
pub const HEAD: usize = 4096;

/// A file to be read.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// The same, where a document may keep it without a copy.
    pub shared: Option<&'a Arc<Vec<u8>>>,
    /// The file's name without its extension.
    pub name: &'a str,
    /// Where it lies: the folder of what it refers to.
    pub folder: Option<&'a Path>,
}

impl SourceFile<'_> {
    /// The content for a document that keeps it.
    pub fn kept(&self) -> Arc<Vec<u8>> {
        self.shared.cloned().unwrap_or_else(|| Arc::new(self.bytes.to_vec()))
    }
}

/// Every format that is read; where a file might be of two, the first of them.
pub const FORMATS: &[&ReadFormat] = &[
    &gltf::FORMAT,
    #[cfg(feature = "fbx")]
    &fbx::FORMAT,
    &bvh::FORMAT,
    #[cfg(feature = "formats")]
    &npz::FORMAT,
    &asf_amc::ASF,
    &asf_amc::AMC,
];

/// Tells a file by its first bytes and its extension in small letters.
type HeadTest = fn(&[u8], &str) -> bool;

/// Formats that are known by sight and not read: what tells them, and what to do.
const UNREAD: &[(HeadTest, &str)] = &[
    (
        |head, suffix| suffix == "c3d" || suffix == "trc" || head.starts_with(b"PathFileType"),
        "it is marker data\n  hint: solve it to a skeleton first (for example in OpenSim or Theia) and bring BVH, FBX or glTF",
    ),
    (
        |head, suffix| {
            let zipped = head.starts_with(b"PK\x03\x04") && suffix == "usdz";
            head.starts_with(b"#usda") || head.starts_with(b"PXR-USDC") || zipped
        },
        "USD is written, not read\n  hint: bring the character as glTF or FBX",
    ),
    (
        |head, suffix| suffix == "fbx" || head.starts_with(b"Kaydara FBX") || head.starts_with(b"; FBX"),
        "this program was built without FBX\n  hint: build it with the feature `fbx`, which is on by default",
    ),
    (
        |head, suffix| suffix == "npz" || head.starts_with(b"PK\x03\x04"),
        "this program was built without archives of arrays\n  hint: build it with the feature `formats`, which is on by default",
    ),
    (
        |head, _| head.starts_with(b"\x93NUMPY"),
        "it is one array without a name\n  hint: SMPL motions are archives (`.npz`) of arrays: `poses`, `trans`, `betas`",
    ),
    (
        |_, suffix| suffix == "pkl" || suffix == "pickle",
        "it is a pickle, which can do anything when it is opened\n  hint: save its arrays as `.npz`",
    ),
    (
        |head, suffix| {
            let says = |word: &[u8]| head.windows(word.len()).any(|w| w == word);
            suffix == "urdf" || says(b"<mujoco") || says(b"<robot")
        },
        "it is the model of a robot, which is not read yet\n  hint: bring the character as glTF or FBX",
    ),
    (|head, _| head.trim_ascii_start().starts_with(b"{"), "it is JSON of another kind than glTF"),
];

/// The format of a file, by its content, else by its extension.
///
/// # Errors
/// [`ImportError::Unknown`] with what the file looks like.
pub fn format_of(bytes: &[u8], name: &str, extension: &str) -> Result<&'static ReadFormat, ImportError> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let suffix = extension.to_ascii_lowercase();
    let by_content = FORMATS.iter().find(|f| (f.recognise)(head));
    let by_suffix = || FORMATS.iter().find(|f| f.suffixes.contains(&suffix.as_str()));
    by_content.or_else(by_suffix).copied().ok_or_else(|| {
        let looks = UNREAD.iter().find(|(recognise, _)| recognise(head, &suffix));
        let suffixes: Vec<String> =
            FORMATS.iter().flat_map(|f| f.suffixes).map(|suffix| format!(".{suffix}")).collect();
        let what = looks.map_or_else(
            || format!("its format is not known\n  hint: formats read are {}", suffixes.join(", ")),
            |(_, what)| (*what).to_owned(),
        );
        ImportError::Unknown { name: name.to_owned(), what }
    })
}
