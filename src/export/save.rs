//! Motions become the files of a format: the door of the export.

use super::csv::CsvOptions;
#[cfg(feature = "formats")]
use super::fbx::FbxOptions;
use super::format::Format;
use super::gltf::DROPPED;
#[cfg(feature = "formats")]
use super::npz::NpzOptions;
use super::vrma::VrmaOptions;
use crate::gltf_document::GltfError;
use crate::model::Motion;
use crate::report::{Warnings, one_line};

/// How to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// Whether the animations of the character's own file are replaced.
    pub replace_animations: bool,
    /// Whether the clips are those that the character's own document holds, unchanged: they are not added again.
    pub clips_inside: bool,
    /// The name of the main file without its extension.
    pub stem: String,
    /// The folder of the files that a glTF lies beside, relative to it; empty: they are called as the document calls them.
    pub files: String,
    /// What made the file, as JSON, for formats that have a place for it (`asset.extras.posemill` of glTF); may be empty.
    pub made_by: String,
    /// How arrays are written.
    #[cfg(feature = "formats")]
    pub npz: NpzOptions,
    /// How tables are written.
    pub csv: CsvOptions,
    /// How VRM animations are written.
    pub vrma: VrmaOptions,
    /// What FBX files shall hold.
    #[cfg(feature = "formats")]
    pub fbx: FbxOptions,
}

impl ExportOptions {
    /// The name of the main file.
    pub fn file(&self, extension: &str) -> String {
        format!("{}.{extension}", self.stem)
    }
}

/// One file to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFile {
    /// The name, relative to the folder of the main file, which comes first.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// The files of some motions, the main one first, and what could not be kept as it was.
pub type Written = (Vec<OutputFile>, Warnings);

/// Why motions cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// Nothing to write.
    #[error("there is no motion to write")]
    Empty,
    /// A format of one clip was asked to hold several.
    #[error(
        "a file of the format {format} holds one clip, {} were to be written into one\n  hint: name a folder, which gets a file for each, or one of them: `--clip NAME`, here {}, or write GLB",
        clips.len(),
        clips.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
    )]
    OneClip {
        /// The format.
        format: &'static str,
        /// What they are called.
        clips: Vec<String>,
    },
    /// The character is no VRM.
    #[error(
        "only a VRM character is written as `.vrm`\n  hint: write `.vrma`, an animation that any VRM plays, or `.glb`"
    )]
    NotVrm,
    /// A VRM animation has bones that the character lacks.
    #[error(
        "a VRM animation needs human bones that were not found: {missing}\n  hint: `posemill inspect` shows what joints were taken for; a word of your own is told with `--set input.roles.words.WORD=PART`"
    )]
    HumanBones {
        /// What they are called.
        missing: String,
    },
    /// An archive cannot hold what belongs into it.
    #[error("the files cannot be packed into one: {reason}\n  hint: trim the clip, or write another format")]
    Archive {
        /// What is wrong.
        reason: String,
    },
    /// The character's document cannot take the clips.
    #[error(transparent)]
    Gltf(#[from] GltfError),
    /// The file would be larger than its format can say.
    #[error("the FBX file cannot be written: {reason}\n  hint: write fewer clips into one file, or GLB")]
    Fbx {
        /// What of it.
        reason: String,
    },
}

/// Writes motions which share one character.
///
/// # Errors
/// An [`ExportError`].
pub fn save(motions: &[Motion], format: Format, options: &ExportOptions) -> Result<Written, ExportError> {
    if motions.is_empty() {
        return Err(ExportError::Empty);
    }
    if motions.len() > 1 && !format.several {
        let clips = motions.iter().map(|m| one_line(&m.clip.name)).collect();
        return Err(ExportError::OneClip { format: format.name, clips });
    }
    let (files, mut warnings) = (format.write)(motions, options)?;
    let fbx = |m: &Motion| m.character.document.as_ref().is_some_and(|d| d.fbx.is_some());
    let untouched = format.name == "fbx" && options.clips_inside && motions.iter().all(fbx);
    let kept = untouched || [Format::GLB, Format::GLTF, Format::VRM].contains(&format);
    let carried = motions.iter().flat_map(|m| &m.clip.property_tracks).next();
    if let Some(carried) = carried.filter(|_| !kept) {
        let said = format!("morph weights and nodes that are no joints are not written to {}", format.name);
        warnings.add(DROPPED, said, format!("the node {}", carried.node));
    }
    Ok((files, warnings))
}
