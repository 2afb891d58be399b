//! Motions become the bytes of files: a plain listing of the rotations.

use crate::model::Motion;
use std::fmt::Write;

/// A format that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Binary glTF.
    Glb,
    /// glTF with files beside it.
    Gltf,
    /// Biovision hierarchy.
    Bvh,
}

/// How to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Whether the animations of the character's own file are replaced.
    pub replace_animations: bool,
    /// The name of the main file without its extension: other files are named after it.
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
    #[error("no motion to write")]
    Empty,
}

/// The files of these motions, which share one character.
///
/// # Errors
/// An [`ExportError`].
pub fn save(motions: &[Motion], format: Format, options: &Options) -> Result<Vec<OutputFile>, ExportError> {
    let extension = match format {
        Format::Glb => "glb",
        Format::Gltf => "gltf",
        Format::Bvh => "bvh",
    };
    let mut text = String::new();
    for motion in motions {
        let clip = &motion.clip;
        let _ = writeln!(text, "{} {} {} {}", clip.name, clip.frames(), clip.joints(), clip.sample_rate);
        for q in clip.all_rotations() {
            let _ = writeln!(text, "{} {} {} {}", q.w, q.i, q.j, q.k);
        }
    }
    if motions.is_empty() {
        return Err(ExportError::Empty);
    }
    Ok(vec![OutputFile { name: format!("{}.{extension}", options.stem), bytes: text.into_bytes() }])
}
