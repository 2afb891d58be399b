//! The section `[input]` as written: one field per key, each with its default.

use super::memory::Memory;
use super::section_values::{OneOrMany, Units, name_or_number, one_or_many};
use crate::anatomy::Word;
use crate::import;
#[cfg(feature = "physics")]
use crate::model::{BodyMass, MassShares};
use crate::model::{FRAME_RATES, is_frame_rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// The inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Input")]
pub struct InputSection {
    /// Motion files or globs (`takes/**/*.bvh`), relative to this file. Required.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<String>")]
    pub motion: Vec<String>,
    /// The rigged character (FBX, glTF, GLB, VRM, USD, PMX), or a robot (MJCF, URDF), to retarget onto, relative to this file.
    /// Several may be listed; each gets a sub-folder of the outputs with its name. Omitted: the motion keeps its own skeleton.
    #[serde(deserialize_with = "one_or_many")]
    #[schemars(with = "OneOrMany<String>")]
    pub character: Vec<String>,
    /// Overrides of a character's joint limits, in degrees, if they differ from those of people:
    /// `[input.limits.hero.left_lower_arm]` with `flexion = 120` for the character `hero.glb`. The stages `ik` and
    /// `limits` use them. A joint map may contain the same overrides.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>")]
    pub limits: WrittenLimits,
    /// Roles of joints whose names contain no known word. `[input.roles.words]` with
    /// `zampa = "hand"` adds the word `zampa`, in names of motion files and characters; `--set
    /// input.roles.words.zampa=hand` does the same. A word may denote `hips`, `spine`, `neck`, `head`, `tail`,
    /// `clavicle`, `upper_arm`, `lower_arm`, `hand`, `upper_leg`, `lower_leg`, `foot`, `toes`, `thumb`, `index`,
    /// `middle`, `ring`, `little`, `finger` (told apart by number), `first` to `fifth`, `metacarpal`, `left`, `right`, `front`, `hind`,
    /// `helper` (no part of the body) or `noise` (meaningless).
    pub roles: RoleWords,
    /// The length unit of the motion files: "m", "cm", "mm", "in", "ft", or metres per unit. Omitted: guessed
    /// from the size of the figure.
    pub units: Option<Units>,
    /// The axis that points up in motion files that do not state it. Omitted: found from the figure.
    pub up: Option<Up>,
    /// Frames per second of motion files that do not contain it (AMC).
    #[schemars(range(min = FRAME_RATES[0], max = FRAME_RATES[1]))]
    pub rate: Option<FrameRate>,
    /// The ASF file with the skeleton of AMC files, or the PMX file of VMD files, relative to this file. Omitted: `01.asf` next to
    /// `01_01.amc`, `dance.pmx` next to `dance.vmd`.
    pub skeleton: Option<String>,
    /// The file of the body model (`SMPLH_NEUTRAL.npz`) that SMPL motions were fitted with, relative to this file; it
    /// determines the lengths of their bodies. Omitted: a neutral figure of 1.70 m.
    pub body_model: Option<String>,
    /// The robot (MJCF or URDF) whose motion the files hold, relative to this file. The layout of `.csv` and `.npz` files is found, and
    /// what in them contradicts the robot is reported; files of other formats with the robot's joints get its hinges, shapes and ranges.
    /// Omitted: they are read as other takes.
    pub robot: Option<String>,
    /// Memory limit for reading one file ("2GB", "500MB"). Omitted: a limit that grows with the size of the file, at most 4 GB.
    /// A small file that needs more is most likely damaged.
    pub memory: Option<Memory>,
    /// The mass of the body in kilograms, for forces, hits and ragdolls: torques and forces grow with it, and the same impulse moves a
    /// heavier body less. Omitted: 70.
    #[cfg(feature = "physics")]
    #[schemars(range(min = LIGHTEST, max = HEAVIEST))]
    pub mass_kg: Option<Kilograms>,
    /// How the mass is distributed: "table" as in people (Winter 2009), "skin" as the volume inside of a closed skin, for
    /// characters that are not built like people.
    #[cfg(feature = "physics")]
    pub mass_shares: MassShares,
    /// The clip of a motion file that holds several, by name or number from 0. Omitted: all of them.
    #[serde(deserialize_with = "name_or_number")]
    #[schemars(with = "Option<String>")]
    pub clip: Option<String>,
    /// The name of a joint of the person whose motion is meant, in motion files that hold several. Omitted: the first.
    pub body: Option<String>,
    /// How position channels of a BVH file combine with the offset of their joint. Omitted: decided from the data of each file.
    pub bvh_positions: Option<BvhPositions>,
    /// The pose in which the motion files are compared with a character: "auto" takes the bind pose, else the rest pose
    /// unless it is degenerate, else one that is estimated from the motion; "bind", "rest" and "motion" force one of these;
    /// `{ frame = 12 }` uses that frame of each take, `{ file = "rig.pose.bvh" }` the pose of that file
    /// (as `posemill calibrate` writes it), matched by joint names.
    pub calibration: CalibrationChoice,
    /// How arrays of positions are read.
    pub points: PointsSection,
}

/// How arrays of positions are read (`[input.points]`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Points")]
pub struct PointsSection {
    /// The order of the points: "humanml3d" (22 points), "smpl24", "smplh52", "soma77", "coco17", "h36m17", "body25", "mediapipe33",
    /// "kinect25", "azure32" (from the producers' documents, not checked on files of each), or a table of points, "points.toml",
    /// relative to this file. Omitted: found by the number of points, if only one layout has it. For `.c3d` and `.trc`: a table of
    /// markers, "markers.toml", or the name of a marker set. Omitted: the set that has most of the labels.
    pub layout: Option<String>,
    /// Exchanges left and right in all frames.
    pub swap_sides: bool,
    /// The number, from 0, of the person to read from arrays of several people, or of the sample to read from those of a motion
    /// model. Omitted: the only one with points.
    pub person: Option<usize>,
}

impl PointsSection {
    /// The file of the layout, if it is a table.
    pub(super) fn table(&self) -> Option<&String> {
        self.layout.as_ref().filter(|layout| layout.to_ascii_lowercase().ends_with(".toml"))
    }

    fn options(&self, folder: &Path) -> import::PointOptions {
        let layout = match (self.table(), &self.layout) {
            (Some(file), _) => Some(import::PointLayout::File(folder.join(file))),
            (None, Some(name)) => Some(import::PointLayout::Named(name.clone())),
            (None, None) => None,
        };
        import::PointOptions { layout, swap_sides: self.swap_sides, person: self.person }
    }
}

/// The pose in which motion files are compared with a character.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`auto`, `bind`, `rest`, `motion`, `{ frame = 12 }` or `{ file = \"rig.pose.bvh\" }`"
)]
pub enum CalibrationChoice {
    /// By a word.
    Word(CalibrationWord),
    /// A frame of each take.
    Frame(CalibrationFrame),
    /// A file.
    File(CalibrationFile),
}

/// Origin of the reference pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CalibrationWord {
    /// The first usable one of bind pose, rest pose and motion.
    Auto,
    /// Where the skin was attached.
    Bind,
    /// The rest pose.
    Rest,
    /// The motion.
    Motion,
}

/// A frame of each take as the reference pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFrame {
    /// The number of the frame, from 0.
    pub frame: usize,
}

/// A file with the reference pose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFile {
    /// The file, relative to the pipeline.
    pub file: String,
}

impl Default for CalibrationChoice {
    fn default() -> Self {
        CalibrationChoice::Word(CalibrationWord::Auto)
    }
}

impl CalibrationChoice {
    /// The option of the importer; relative paths start from `folder`.
    fn calibrate(&self, folder: &Path) -> import::Calibrate {
        match self {
            CalibrationChoice::Word(CalibrationWord::Auto) => import::Calibrate::Auto,
            CalibrationChoice::Word(CalibrationWord::Bind) => import::Calibrate::Bind,
            CalibrationChoice::Word(CalibrationWord::Rest) => import::Calibrate::Rest,
            CalibrationChoice::Word(CalibrationWord::Motion) => import::Calibrate::Motion,
            CalibrationChoice::Frame(frame) => import::Calibrate::Frame(frame.frame),
            CalibrationChoice::File(file) => import::Calibrate::File(folder.join(&file.file)),
        }
    }
}

/// Angles by their words, by the role of a joint, by the name of a character.
pub type WrittenLimits =
    BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, BTreeMap<Spanned<String>, Spanned<f64>>>>;

/// Roles of joints by words in their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleWords {
    /// Words in the names of joints, and the part that each stands for.
    #[schemars(with = "BTreeMap<String, String>")]
    pub words: BTreeMap<Spanned<String>, Spanned<String>>,
}

impl InputSection {
    /// The words; invalid ones were reported when the section was read.
    fn words(&self) -> Vec<Word> {
        let words = self.roles.words.iter();
        words.filter_map(|(word, part)| Word::new(word.get_ref(), part.get_ref()).ok()).collect()
    }

    /// The options of the importer; relative paths start from `folder`, that of the pipeline.
    pub fn options(&self, folder: &Path) -> import::ImportOptions {
        import::ImportOptions {
            calibration: self.calibration.calibrate(folder),
            units: self.units.as_ref().map(|u| u.metres),
            up: self.up.map(|up| match up {
                Up::Y => import::UpAxis::Y,
                Up::Z => import::UpAxis::Z,
                Up::MinusY => import::UpAxis::MinusY,
            }),
            bvh_positions: self.bvh_positions.map(|p| match p {
                BvhPositions::Replace => import::Positions::Replace,
                BvhPositions::Add => import::Positions::Add,
            }),
            body: self.body.clone(),
            words: self.words(),
            rate: self.rate.map(|rate| rate.0),
            skeleton: self.skeleton.as_ref().map(|path| folder.join(path)),
            body_model: self.body_model.as_ref().map(|path| folder.join(path)),
            robot: self.robot.as_ref().map(|path| folder.join(path)),
            memory: self.memory.map(|memory| memory.bytes),
            points: self.points.options(folder),
            #[cfg(feature = "physics")]
            mass: BodyMass { kilograms: self.mass_kg.map(|mass| mass.0), shares: self.mass_shares },
            #[cfg(not(feature = "physics"))]
            mass: crate::model::BodyMass::default(),
        }
    }
}

/// Frames per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(with = "f64")]
pub struct FrameRate(pub f64);

impl TryFrom<f64> for FrameRate {
    type Error = String;

    fn try_from(rate: f64) -> Result<Self, String> {
        if is_frame_rate(rate) {
            return Ok(FrameRate(rate));
        }
        let [least, most] = FRAME_RATES;
        Err(format!("{rate} frames per second, expected {least} to {most}"))
    }
}

/// A mass.
#[cfg(feature = "physics")]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64")]
#[schemars(with = "f64")]
pub struct Kilograms(pub f64);

#[cfg(feature = "physics")]
impl TryFrom<f64> for Kilograms {
    type Error = String;

    fn try_from(mass: f64) -> Result<Self, String> {
        if (LIGHTEST..=HEAVIEST).contains(&mass) {
            return Ok(Kilograms(mass));
        }
        Err(format!("{mass} kg, expected {LIGHTEST} to {HEAVIEST}"))
    }
}

/// The lightest body, kilograms: a doll.
#[cfg(feature = "physics")]
const LIGHTEST: f64 = 0.1;
/// The heaviest body, kilograms: beyond the largest land animal.
#[cfg(feature = "physics")]
const HEAVIEST: f64 = 100_000.0;

/// The axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// +Y.
    Y,
    /// +Z.
    Z,
    /// -Y, as in the coordinates of a camera.
    #[serde(rename = "-y")]
    MinusY,
}

/// How position channels and offsets of a BVH file combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BvhPositions {
    /// The channels replace the offset.
    Replace,
    /// The channels are added to the offset.
    Add,
}
