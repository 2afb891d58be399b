//! The formats that are read, each in a file of its own.
//!
//! To add one: write `import/NAME.rs` with a [`ReadFormat`] and list it in [`FORMATS`].

#[cfg(feature = "fbx")]
use super::fbx;
use super::import_error::ImportError;
use super::import_options::ImportOptions;
use super::{asf_amc, bvh, csv, face, gltf, robot};
#[cfg(feature = "formats")]
use super::{mmd, npz, points, usd};
use crate::model::Asset;
use std::path::Path;
use std::sync::Arc;

/// One format that is read.
#[derive(Debug)]
pub struct ReadFormat {
    /// Its name.
    pub name: &'static str,
    /// The extensions of its files, without dots.
    pub suffixes: &'static [&'static str],
    /// A short description.
    pub about: &'static str,
    /// The content that is not imported, in a few words.
    pub loses: &'static str,
    /// Whether the first bytes of a file (at most `HEAD`) identify the format.
    pub recognise: fn(&[u8]) -> bool,
    /// Reads a file.
    pub read: fn(&SourceFile, &ImportOptions) -> Result<Asset, ImportError>,
}

/// Number of bytes from which the format of a file is detected.
pub const HEAD: usize = 4096;

/// A file to be read.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// The same, if a document may keep it without a copy.
    pub shared: Option<&'a Arc<Vec<u8>>>,
    /// The file's name without its extension.
    pub name: &'a str,
    /// Its extension without the dot, as it is written; empty if it has none.
    pub extension: &'a str,
    /// Its folder, relative to which it refers to other files.
    pub folder: Option<&'a Path>,
}

impl SourceFile<'_> {
    /// The content for a document that keeps it.
    pub fn kept(&self) -> Arc<Vec<u8>> {
        self.shared.cloned().unwrap_or_else(|| Arc::new(self.bytes.to_vec()))
    }
}

/// Every format that is read; a file that may be of two formats is read as the first.
pub const FORMATS: &[&ReadFormat] = &[
    &gltf::FORMAT,
    #[cfg(feature = "fbx")]
    &fbx::FORMAT,
    &bvh::FORMAT,
    #[cfg(feature = "formats")]
    &npz::FORMAT,
    #[cfg(feature = "formats")]
    &usd::FORMAT,
    #[cfg(feature = "formats")]
    &mmd::PMX,
    #[cfg(feature = "formats")]
    &mmd::VMD,
    &face::FORMAT,
    #[cfg(feature = "formats")]
    &points::FORMAT,
    #[cfg(feature = "formats")]
    &points::C3D,
    #[cfg(feature = "formats")]
    &points::TRC,
    &csv::FORMAT,
    &asf_amc::ASF,
    &asf_amc::AMC,
    &robot::MJCF,
    &robot::URDF,
];

/// Recognises a file by its first bytes and its extension in lower case.
type HeadTest = fn(&[u8], &str) -> bool;

/// Extensions of packed files.
const PACKED: [&str; 7] = ["zip", "gz", "tgz", "xz", "bz2", "7z", "rar"];

/// Whether the content is that of a zip or gzip file, whatever its extension says, unless files of this extension are zips.
fn is_packed(head: &[u8], suffix: &str) -> bool {
    let zips = ["npz", "npy", "usdz"];
    (head.starts_with(b"PK\x03\x04") && !zips.contains(&suffix)) || head.starts_with(b"\x1f\x8b")
}

/// Formats that are recognised but not read, each with a message and a hint.
const UNREAD: &[(HeadTest, &str)] = &[
    (
        |_, suffix| suffix == "tar",
        "it is an archive, whose files are named as those of a folder\n  hint: write 'takes.tar/**/*.bvh'",
    ),
    (
        |_, suffix| suffix == "zst",
        "it is packed\n  hint: the files of a `.tar.zst` are named as those of a folder ('takes.tar.zst/**/*.bvh'); decompress other files",
    ),
    (
        |head, suffix| is_packed(head, suffix) || PACKED.contains(&suffix),
        "it is packed\n  hint: decompress it and pass the files in it",
    ),
    (
        |_, suffix| suffix == "blend" || suffix == "ma" || suffix == "mb" || suffix == "max",
        "it is the scene of a modelling program\n  hint: export it from there as glTF (`.glb`) or FBX",
    ),
    (
        |_, suffix| suffix == "dae" || suffix == "abc",
        "Collada and Alembic are not read\n  hint: export it as glTF (`.glb`) or FBX, with skeleton and animation",
    ),
    (
        |_, suffix| suffix == "pmd",
        "PMD, the older format of MikuMikuDance, is not read\n  hint: open it in PMX Editor and save it as `.pmx`",
    ),
    (
        |_, suffix| suffix == "vmd" || suffix == "pmx",
        "it is no file of MikuMikuDance, or this program was built without them\n  hint: export it again; the feature `formats`, which is on by default, reads them",
    ),
    (
        |_, suffix| suffix == "obj" || suffix == "stl" || suffix == "ply",
        "it is a mesh without a skeleton\n  hint: export the mesh with a skin, bound to a skeleton, as glTF (`.glb`) or FBX",
    ),
    (
        |head, suffix| {
            suffix.starts_with("usd") || head.starts_with(b"#usda") || head.starts_with(b"PXR-USDC")
        },
        "this program was built without USD\n  hint: build it with the feature `formats`, which is on by default",
    ),
    (
        |head, suffix| suffix == "c3d" || suffix == "trc" || head.starts_with(b"PathFileType"),
        "this program was built without markers\n  hint: build it with the feature `formats`, which is on by default",
    ),
    (
        |head, suffix| suffix == "fbx" || head.starts_with(b"Kaydara FBX") || head.starts_with(b"; FBX"),
        "this program was built without FBX\n  hint: build it with the feature `fbx`, which is on by default",
    ),
    (
        |head, suffix| {
            let array = head.starts_with(b"\x93NUMPY") || head.starts_with(b"PK\x03\x04");
            suffix == "npz" || suffix == "npy" || array
        },
        "this program was built without archives of arrays\n  hint: build it with the feature `formats`, which is on by default",
    ),
    (
        |_, suffix| suffix == "pkl" || suffix == "pickle",
        "it is a pickle, which can execute any code when it is opened\n  hint: save its arrays as `.npz`",
    ),
    (|head, _| head.trim_ascii_start().starts_with(b"{"), "it is JSON, but not glTF"),
];

/// Detects the format of a file by its content, else by its extension.
///
/// # Errors
/// [`ImportError::Unknown`] with what the file appears to be.
pub fn format_of(bytes: &[u8], extension: &str) -> Result<&'static ReadFormat, ImportError> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let suffix = extension.to_ascii_lowercase();
    // Archives of arrays are zipped too, but are not called so; the first file of an archive is not all of it.
    let packed = ["zip", "tar"].contains(&suffix.as_str());
    let by_content = FORMATS.iter().find(|f| !packed && (f.recognise)(head));
    let by_suffix = || FORMATS.iter().find(|f| f.suffixes.contains(&suffix.as_str()));
    by_content
        .or_else(|| by_suffix().filter(|_| !bytes.is_empty() && !is_packed(head, &suffix)))
        .copied()
        .ok_or_else(|| {
            if bytes.is_empty() {
                return ImportError::Unknown {
                    what: "the file is empty\n  hint: export it again".to_owned(),
                };
            }
            let unread = UNREAD.iter().find(|(recognise, _)| recognise(head, &suffix));
            let suffixes: Vec<String> =
                FORMATS.iter().flat_map(|f| f.suffixes).map(|suffix| format!(".{suffix}")).collect();
            let what = unread.map_or_else(
                || {
                    format!(
                        "its format is not known\n  hint: save it in a format that is read: {}",
                        suffixes.join(", ")
                    )
                },
                |(_, what)| (*what).to_owned(),
            );
            ImportError::Unknown { what }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_are_told_apart_by_their_content() {
        let (zip, gzip) = (b"PK\x03\x04walk.bvh", b"\x1f\x8b\x08walk.bvh");
        for (bytes, suffix) in [(&zip[..], "bvh"), (&zip[..], "fbx"), (&gzip[..], "bvh"), (&gzip[..], "npz")]
        {
            let error = format_of(bytes, suffix).unwrap_err().to_string();
            assert!(error.contains("it is packed"), "{suffix}: {error}");
        }
        let array = b"PK\x03\x04";
        assert!(format_of(array, "npz").is_ok_and(|format| format.suffixes.contains(&"npz")));
        assert!(format_of(b"HIERARCHY", "zip").is_err());
    }
}
