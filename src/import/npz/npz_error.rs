//! Errors of SMPL motion archives, each with its array and a hint.

use crate::memory_budget::OverBudget;
use crate::model::SkeletonError;
use crate::report::Shown;
use std::path::PathBuf;

/// Why an archive of arrays cannot be read as a motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// The zip is damaged.
    #[error(
        "the archive cannot be opened: {reason}\n  hint: copy the file again, or save it again with numpy"
    )]
    Archive {
        /// The message of the zip reader.
        reason: String,
    },
    /// An array that is damaged or of a kind that is not read.
    #[error("the array `{array}` cannot be read: {reason}")]
    Array {
        /// Its name.
        array: String,
        /// Why.
        reason: String,
    },
    /// A file of one array that is damaged or of a kind that is not read.
    #[error("the array cannot be read: {reason}")]
    ArrayFile {
        /// Why.
        reason: String,
    },
    /// An array of Python objects.
    #[error(
        "the array `{array}` holds Python objects, a pickle, which could run any program: it is never read\n  hint: save it again as numbers, in Python: `numpy.asarray(x.todense() if hasattr(x, \"todense\") else x, float)`"
    )]
    Objects {
        /// Its name.
        array: String,
    },
    /// A file of Python objects, such as `results.npy` of motion-diffusion-model.
    #[error(
        "the file holds Python objects, a pickle, which could run any program: it is never read\n  hint: save the positions as \
         numbers, without the padding behind their length, in Python: `r = numpy.load(\"results.npy\", allow_pickle=True).item(); \
         numpy.save(\"one.npy\", r[\"motion\"][0][..., :r[\"lengths\"][0]])`"
    )]
    ObjectFile,
    /// An array whose shape does not match its name.
    #[error("the array `{array}` has the shape {found}, expected {expected}")]
    Shape {
        /// Its name.
        array: String,
        /// The expected shape.
        expected: String,
        /// The shape found.
        found: String,
    },
    /// A number that is infinite or NaN.
    #[error(
        "the array `{array}`, row {row}: a value is not finite, or far beyond any body\n  hint: save the motion again"
    )]
    NotFinite {
        /// Its name.
        array: String,
        /// The row, from 0.
        row: usize,
    },
    /// More than a limit allows.
    #[error("{what}: {found}, at most {limit} can be read (`{name}`)\n  hint: split the file")]
    Limit {
        /// What is counted.
        what: String,
        /// How many there are.
        found: u64,
        /// The limit.
        limit: u64,
        /// The constant that holds it.
        name: &'static str,
    },
    /// The memory limit of the file is exceeded.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// The arrays are not an SMPL motion.
    #[error(
        "the archive holds no motion that is known, only {found}\n  hint: save an AMASS take (`trans` and `poses` of 72, 156 or 165 angles a frame, or `root_orient` and `pose_body`), or positions as the array `joints` of the shape (frames, points, 3)"
    )]
    NoMotion {
        /// The arrays found.
        found: String,
    },
    /// Rotations without the lengths of the bones.
    #[error(
        "the archive holds rotations, but neither offsets of the joints nor positions\n  hint: save one of the arrays `{names}` of the shape (joints, 3)"
    )]
    NoOffsets {
        /// Names that are read.
        names: String,
    },
    /// The body model cannot be used.
    #[error("the body model `{}`: {error}", path.shown())]
    BodyModel {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<BodyModelError>,
    },
    /// The joints do not form a skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
}

/// Why a file cannot be read as a body model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyModelError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(String),
    /// A pickle.
    #[error(
        "a pickle could run any program: it is never read\n  hint: use the `.npz` that the model's authors offer, or save `v_template`, `shapedirs` and a dense `J_regressor` with `numpy.savez`"
    )]
    Pickle,
    /// A number of joints that is not that of a known model.
    #[error(
        "`J_regressor` has {found} joints; models of 22, 24 (SMPL), 52 (SMPL+H) and 55 (SMPL-X) are read"
    )]
    Joints {
        /// How many it has.
        found: usize,
    },
    /// An array that is missing, damaged or of another shape.
    #[error(transparent)]
    Arrays(#[from] NpzError),
}
