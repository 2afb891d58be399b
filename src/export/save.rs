//! Motions become the files of a format: the door of the export.

use super::bvh::{self, BvhOptions};
use super::gltf::{self, GltfOptions};
use crate::model::{Clip, Container, Motion};
use crate::report::{Warnings, one_line};
use crate::scene::GltfError;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Binary glTF.
    Glb,
    /// glTF as JSON; a character that came as GLB brings its binary data along as a data URI.
    Gltf,
    /// Biovision hierarchy, centimetres: one clip, no skin.
    Bvh,
}

/// How to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether the animations of the character's own file are replaced.
    pub replace_animations: bool,
    /// Whether the clips are those that the character's own document holds, unchanged: they are not added again.
    pub clips_inside: bool,
    /// The name of the main file without its extension.
    pub stem: String,
}

/// One file to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFile {
    /// The name, relative to the folder of the main file, which comes first.
    pub name: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// Why motions cannot be written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// Nothing to write.
    #[error("there is no motion to write")]
    Empty,
    /// A format of one clip was asked to hold several.
    #[error(
        "a BVH file holds one clip, {} were to be written into one\n  hint: write GLB, or one file per take, and of a take with several clips one: `--clip NAME`, here {}",
        clips.len(),
        clips.iter().map(|c| format!("`{c}`")).collect::<Vec<_>>().join(", ")
    )]
    OneClip {
        /// What they are called.
        clips: Vec<String>,
    },
    /// The character's document cannot take the clips.
    #[error(transparent)]
    Gltf(#[from] GltfError),
}

/// The files of these motions, which share one character, and what could not be kept as it was.
///
/// # Errors
/// An [`ExportError`].
pub fn save(
    motions: &[Motion],
    format: Format,
    options: &Options,
) -> Result<(Vec<OutputFile>, Warnings), ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let name = |extension: &str| format!("{}.{extension}", options.stem);
    let container = match format {
        Format::Bvh if motions.len() > 1 => {
            let clips = motions.iter().map(|m| one_line(&m.clip.name)).collect();
            return Err(ExportError::OneClip { clips });
        }
        Format::Bvh => {
            let bytes = bvh::write(first, &BvhOptions::default());
            return Ok((vec![OutputFile { name: name("bvh"), bytes }], Warnings::new()));
        }
        Format::Glb => Container::Glb,
        Format::Gltf => Container::Gltf,
    };
    let inside = options.clips_inside && first.character.document.is_some();
    let clips: Vec<&Clip> = motions.iter().filter(|_| !inside).map(|m| &m.clip).collect();
    let how = GltfOptions { replace: options.replace_animations, container: Some(container) };
    let written = gltf::write(&first.character, &clips, &how)?;
    let extension = if container == Container::Glb { "glb" } else { "gltf" };
    let mut files = vec![OutputFile { name: name(extension), bytes: written.bytes }];
    files.extend(written.beside.into_iter().map(|(name, bytes)| OutputFile { name, bytes: bytes.to_vec() }));
    Ok((files, written.warnings))
}
