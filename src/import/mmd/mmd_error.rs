//! Errors of files of MikuMikuDance, each with its byte and a hint.

use std::path::PathBuf;

/// Why a `.pmx` or `.vmd` file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MmdError {
    /// The file is shorter than its counts.
    #[error("byte {offset}: the file ends within {what}\n  hint: copy or export it again")]
    Truncated {
        /// Where the incomplete part begins.
        offset: usize,
        /// What should be there.
        what: &'static str,
    },
    /// A value that the format does not allow.
    #[error(
        "byte {offset}: {reason}\n  hint: save it again, a `.pmx` with PMX Editor, a `.vmd` with MikuMikuDance"
    )]
    Value {
        /// Where it is.
        offset: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A model without bones.
    #[error("the model has no bones\n  hint: use a `.pmx` of a character; stages and props have no skeleton")]
    NoBones,
    /// A motion without keys of bones and morph targets.
    #[error(
        "the motion has no keys of bones or morph targets, {cameras} of a camera\n  hint: use the `.vmd` of a character"
    )]
    NoKeys {
        /// Keys of the camera.
        cameras: usize,
    },
    /// The character of a motion cannot be read.
    #[error("the character `{path}` of the motion: {reason}\n  hint: set `input.skeleton` to a `.pmx` file", path = path.display())]
    Character {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}
