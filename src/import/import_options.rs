//! Options of the import: user-specified properties of files and limits.

use super::bvh::Positions;
#[cfg(feature = "formats")]
use crate::anatomy::ArrayAxes;
use crate::anatomy::{Vocabulary, Word};
use crate::math::{Quat, Vec3};
use crate::memory_budget::MemoryBudget;
use crate::model::BodyMass;
use crate::report::Warnings;
use std::borrow::Cow;
use std::f64::consts::{FRAC_PI_2, PI};
use std::path::PathBuf;

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpAxis {
    /// +Y.
    Y,
    /// +Z.
    Z,
    /// -Y, as in the coordinates of a camera: x to the right, y down, z away from it.
    MinusY,
}

impl UpAxis {
    fn vector(self) -> Vec3 {
        match self {
            UpAxis::Y => Vec3::y(),
            UpAxis::Z => Vec3::z(),
            UpAxis::MinusY => -Vec3::y(),
        }
    }

    /// The rotation about X to Y up.
    pub(super) fn to_y_up(self) -> Quat {
        let angle = match self {
            UpAxis::Y => return Quat::identity(),
            UpAxis::Z => -FRAC_PI_2,
            UpAxis::MinusY => PI,
        };
        Quat::from_axis_angle(&Vec3::x_axis(), angle)
    }

    /// The axes of an array with this axis up.
    #[cfg(feature = "formats")]
    pub(super) fn array_axes(self) -> ArrayAxes {
        match self {
            UpAxis::Y => ArrayAxes::YUp,
            UpAxis::Z => ArrayAxes::ZUp,
            UpAxis::MinusY => ArrayAxes::Camera,
        }
    }
}

/// The reference pose that the user asks for: the pose in which takes are compared with characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Calibrate {
    /// The bind pose, else the rest pose, or, if that is degenerate, an estimate from the motion.
    #[default]
    Auto,
    /// The bind pose, if the file has one.
    Bind,
    /// The rest pose, also if it is degenerate.
    Rest,
    /// A pose estimated from the motion.
    Motion,
    /// This frame of the take, as it is.
    Frame(usize),
    /// The pose of another file, matched by joint names.
    File(PathBuf),
}

/// User-specified properties of files, for formats that do not state them (BVH), and limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Metres per unit; `None`: estimated from the figure.
    pub units: Option<f64>,
    /// The up axis of rest pose and motion; `None`: detected from both.
    pub up: Option<UpAxis>,
    /// How position channels and offsets are combined; `None`: decided from the data.
    pub bvh_positions: Option<Positions>,
    /// The name of a joint of the body whose motion is meant, of a file that holds several; `None`: the first.
    pub body: Option<String>,
    /// The reference pose, in which the body is compared with others.
    pub calibration: Calibrate,
    /// Words of joint names, in addition to the built-in ones.
    pub words: Vec<Word>,
    /// Frames per second of files that do not state it (AMC), positive; `None`: the format's usual rate.
    pub rate: Option<f64>,
    /// The ASF file of AMC files, or the PMX file of VMD files; `None`: looked up in the folder of each.
    pub skeleton: Option<PathBuf>,
    /// The body model of SMPL motions; `None`: a neutral figure.
    pub body_model: Option<PathBuf>,
    /// The model of the robot whose motion `.csv` and `.npz` files hold; `None`: they are read as other takes.
    pub robot: Option<PathBuf>,
    /// Memory limit for reading one file, bytes; `None`: a limit that grows with the file's size, up to
    /// `memory_budget::MAX_MEMORY`.
    pub memory: Option<u64>,
    /// The mass of the body.
    pub mass: BodyMass,
    /// Options of arrays of positions.
    pub points: PointOptions,
}

/// Options of arrays of positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointOptions {
    /// Which number is which point; `None`: by the number of points, if only one layout has it.
    pub layout: Option<PointLayout>,
    /// Whether left and right are exchanged.
    pub swap_sides: bool,
    /// The person, from 0, of files of several people or samples; `None`: the only one with points.
    pub person: Option<usize>,
}

/// A layout of an array of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointLayout {
    /// A built-in one, by its name.
    Named(String),
    /// A table of points (TOML).
    File(PathBuf),
}

impl ImportOptions {
    /// The words by which joint names are parsed.
    pub(super) fn vocabulary(&self) -> Cow<'static, Vocabulary> {
        let built_in = Vocabulary::built_in();
        // Copies some hundred words per file, only if there are words to add.
        if self.words.is_empty() { Cow::Borrowed(built_in) } else { Cow::Owned(built_in.with(&self.words)) }
    }

    /// The user-specified up axis, as a vector.
    pub(super) fn up_vector(&self) -> Option<Vec3> {
        self.up.map(UpAxis::vector)
    }

    /// Warns where an up axis is set for a take of a format that states its own.
    pub(super) fn warn_of_stated_up(&self, warnings: &mut Warnings) {
        if self.up.is_some_and(|up| up != UpAxis::Y) {
            let said = "`input.up` applies to formats that state no up axis; this one states it, so it was read as it says (a take that \
                        stands along another axis: convert it to BVH, and set `input.up` for that)";
            warnings.add("up-stated", said, "the file");
        }
    }

    /// The memory limit for reading these bytes.
    pub(super) fn budget(&self, bytes: &[u8]) -> MemoryBudget {
        MemoryBudget::new(bytes.len() as u64, self.memory)
    }
}
