//! Why a file cannot be imported: the errors of all formats, each with the file and a hint.

use super::asf_amc::AsfError;
use super::bvh::BvhError;
use super::face::FaceError;
#[cfg(feature = "formats")]
use super::mmd::MmdError;
#[cfg(feature = "formats")]
use super::npz::NpzError;
#[cfg(feature = "formats")]
use super::points::PointsError;
use super::robot::RobotError;
#[cfg(feature = "formats")]
use super::usd::UsdError;
use crate::gltf_document::GltfError;
use crate::memory_budget::{OverBudget, OverWork};
use crate::model::SkeletonError;
use crate::report::Shown;
use std::path::PathBuf;

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error("`{}` cannot be read: {reason}", path.shown())]
    Read {
        /// The file.
        path: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// The memory limit of the file is exceeded.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// It needs more work than a file of its size may use.
    #[error(transparent)]
    Work(#[from] OverWork),
    /// The content is of no known format.
    #[error("{what}")]
    Unknown {
        /// What it appears to be, by its first bytes and its extension, and what to do.
        what: String,
    },
    /// The frame of the reference pose does not exist.
    #[error(
        "there is no frame {frame} to calibrate by: the take has {frames} frames, counted from 0\n  hint: set `input.calibration.frame` to a frame in which the figure stands in a T-pose"
    )]
    CalibrationFrame {
        /// The requested frame.
        frame: usize,
        /// Frames of the take.
        frames: usize,
    },
    /// The file of the reference pose cannot be read.
    #[error("the file of the reference pose `{}`: {error}", path.shown())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<ImportError>,
    },
    /// The file of the reference pose has another skeleton.
    #[error(
        "no joint of the take has the name of a joint in `{}`\n  hint: set `input.calibration.file` to a file of the same skeleton", path.shown()
    )]
    CalibrationFile {
        /// The file.
        path: PathBuf,
    },
    /// A fault of a file of MikuMikuDance.
    #[cfg(feature = "formats")]
    #[error(transparent)]
    Mmd(#[from] MmdError),
    /// A fault of an archive of arrays.
    #[cfg(feature = "formats")]
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// A fault of an array of positions.
    #[cfg(feature = "formats")]
    #[error(transparent)]
    Points(#[from] PointsError),
    /// A fault of an ASF or AMC file.
    #[error(transparent)]
    Asf(#[from] AsfError),
    /// A fault of a face take.
    #[error(transparent)]
    Face(#[from] FaceError),
    /// A fault of a robot's model.
    #[error(transparent)]
    Robot(#[from] RobotError),
    /// A fault of a table.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A fault of a USD file.
    #[cfg(feature = "formats")]
    #[error(transparent)]
    Usd(#[from] UsdError),
    /// A fault of a BVH file.
    #[error(transparent)]
    Bvh(#[from] BvhError),
    /// An FBX file whose axes are a mirror image of those of others.
    #[error(
        "the axes of the FBX file are left-handed, which is not read: left and right would be exchanged\n  hint: export it with \
         right-handed axes, as Maya, Blender and 3ds Max write them"
    )]
    FbxLeftHanded,
    /// An FBX file that cannot be read.
    #[error("the FBX file is invalid: {reason}\n  hint: save it again as FBX 3.0 to 7.7, binary or ASCII")]
    Fbx {
        /// The message of the reader.
        reason: String,
    },
    /// A fault of a glTF file.
    #[error(transparent)]
    Gltf(#[from] GltfError),
}

/// Why a table cannot be read as a motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// The table is not one that posemill writes.
    #[error("line {line}: {reason}{}", columns_hint(*line))]
    Table {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The memory limit of the file is exceeded.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// The joints do not form a skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
}

/// What a header needs; other lines are not fixed by it.
fn columns_hint(line: usize) -> &'static str {
    match line {
        1 => {
            "\n  hint: use the columns `time` and `NAME.px` to `NAME.qw`, or `frame,time,joint,px` to `qw`; for the motion of a robot \
              name its model: `--set input.robot=robot.xml`"
        }
        _ => "",
    }
}
