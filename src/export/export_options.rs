//! Options of the formats, as `[output]` and the library set them.

use crate::model::FRAME_RATES;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

/// Options of [`save`](super::save()).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// Whether the new animations replace those of the character's file.
    pub replace_animations: bool,
    /// Whether the character's document already contains the clips, unchanged: they are not added again.
    pub clips_inside: bool,
    /// The name of the main file without its extension.
    pub stem: String,
    /// The folder of the resource files of a glTF, relative to the main file; empty: the paths in the document are kept.
    pub files: String,
    /// Provenance of the file as JSON, for formats that can store it (`asset.extras.posemill` of glTF); may be empty.
    pub made_by: String,
    /// Options of arrays.
    pub npz: NpzOptions,
    /// Options of arrays of positions.
    pub points: PointArrayOptions,
    /// Options of tables.
    pub csv: CsvOptions,
    /// Options of robot motions.
    pub robot: RobotOptions,
    /// Options of VRM animations.
    pub vrma: VrmaOptions,
    /// Options of FBX files.
    pub fbx: FbxOptions,
}

impl ExportOptions {
    /// The name of the main file.
    pub fn file(&self, extension: &str) -> String {
        format!("{}.{extension}", self.stem)
    }
}

/// Options of tables (`[output.csv]`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CsvOptions {
    /// The rows of `.csv` files: "wide" has one for each frame, with columns `time` and, for every joint, `NAME.px` to
    /// `NAME.qw`; "long" has one for each joint of each frame.
    pub layout: Layout,
}

/// The content of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A frame.
    #[default]
    Wide,
    /// A joint in a frame.
    Long,
}

/// Options of arrays (`[output.npz]`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NpzOptions {
    /// The axis that points up in `.npz` files: "y", facing +Z, or "z", facing -Y.
    pub up: NpzUpAxis,
}

/// The axis that points up in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "UpAxis")]
pub enum NpzUpAxis {
    /// +Y, facing +Z.
    #[default]
    Y,
    /// +Z, facing -Y.
    Z,
}

/// Options of arrays of positions (`[output.points]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PointArrayOptions {
    /// The points of `.npy` files: "humanml3d" (22 points at 20 Hz), "humanml3d_features" (its rows of 263 numbers), "smpl24", "smplh52",
    /// "soma77", "coco17", "h36m17", "body25", "mediapipe33", "kinect25" or "azure32".
    pub layout: String,
    /// Frames per second of `.npy` files, which do not state it: "layout" is the usual rate of the layout (that of the take, if it has
    /// none), "take" that of the take; or a number.
    pub rate: ArrayRate,
}

impl Default for PointArrayOptions {
    fn default() -> Self {
        Self { layout: "humanml3d".to_owned(), rate: ArrayRate::default() }
    }
}

/// The frame rate of an array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a rate is `layout`, `take` or a number of frames per second from 0.1 to 10000"
)]
pub enum ArrayRate {
    /// By a word.
    Word(ArrayRateWord),
    /// Frames per second.
    #[serde(deserialize_with = "frames_per_second")]
    #[schemars(extend("minimum" = FRAME_RATES[0], "maximum" = FRAME_RATES[1]))]
    Hz(f64),
}

/// Whose frame rate an array has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrayRateWord {
    /// The layout's.
    Layout,
    /// The take's.
    Take,
}

impl Default for ArrayRate {
    fn default() -> Self {
        ArrayRate::Word(ArrayRateWord::Layout)
    }
}

fn frames_per_second<'de, D: serde::Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    number_within(value, FRAME_RATES, "frames per second")
}

/// Options of VRM animations (`[output.vrma]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VrmaOptions {
    /// Whether `.vrma` files have the bone `upperChest`. An avatar without that bone loses its rotation; with `false`, the
    /// rotation is added to its child bones.
    pub upper_chest: bool,
}

impl Default for VrmaOptions {
    fn default() -> Self {
        Self { upper_chest: true }
    }
}

/// Content of FBX files (`[output.fbx]`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FbxOptions {
    /// Whether the character's meshes, materials and textures are written. Without them the file has only a skeleton and its
    /// clips, also for a character that was read from FBX.
    pub skin: bool,
    /// The pose in which a new file without a skin shows its skeleton, which engines take as the bind pose.
    pub bind: FbxBind,
    /// Largest error of an animation curve for which keys are left out: degrees of an Euler angle, millimetres of a translation,
    /// percent of a morph weight. 0 writes a key for every frame.
    #[serde(deserialize_with = "tolerance")]
    #[schemars(with = "f64", range(min = 0, max = MOST_TOLERANCE))]
    pub tolerance: f64,
}

/// Largest tolerance, degrees, millimetres or percent: beyond it no motion is left.
const MOST_TOLERANCE: f64 = 90.0;

fn tolerance<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number_within(deserializer, [0.0, MOST_TOLERANCE], "degrees, millimetres or percent")
}

impl Default for FbxOptions {
    fn default() -> Self {
        Self { skin: true, bind: FbxBind::TPose, tolerance: 0.0 }
    }
}

/// The pose of the nodes of a new file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FbxBind {
    /// The T-pose that was found where the rest pose is degenerate: Unity and Unreal expect one.
    #[default]
    TPose,
    /// The rest pose, whatever it is.
    Rest,
}

/// Longest lead, seconds: more would be a mistake of units.
pub(super) const LONGEST_LEAD: f64 = 60.0;

/// Options of robot motions (`[output.robot]`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RobotOptions {
    /// The layout of a robot's motion in `.csv`, `.npz` and `.pkl` files: "unitree_csv" (the default of `.csv`), "seed_csv",
    /// "kimodo_csv"; "mjlab" (the default of `.npz`), "beyondmimic", "holosoma", "isaaclab_amp", "locomujoco"; "gmr" (the default
    /// of `.pkl`), "mimickit"; "none" writes tables and arrays of joints as for other characters.
    pub layout: String,
    /// Frames per second; 0: what the layout's readers expect, else the rate of the motion.
    #[serde(deserialize_with = "rate")]
    #[schemars(with = "f64", range(min = 0, max = FRAME_RATES[1]))]
    pub rate: f64,
    /// A standing pose in which the motion begins and ends: a value for each hinge, radians, in the order of `posemill inspect`.
    /// Omitted: no pose is added.
    pub default_pose: Vec<f64>,
    /// Duration of each transition from and to `default_pose`, seconds, at most 60.
    #[serde(deserialize_with = "lead")]
    #[schemars(with = "f64", range(min = 0, max = LONGEST_LEAD))]
    pub lead: f64,
}

fn rate<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number_within(deserializer, [0.0, FRAME_RATES[1]], "frames per second")
}

fn lead<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number_within(deserializer, [0.0, LONGEST_LEAD], "seconds")
}

/// Seconds of a lead-in: a hinge that has to rotate by 3 radians reaches 4.5 rad/s, a quarter of what motors of humanoids reach.
const LEAD: f64 = 1.0;

impl Default for RobotOptions {
    fn default() -> Self {
        Self { layout: String::new(), rate: 0.0, default_pose: Vec::new(), lead: LEAD }
    }
}

/// A number from `low` to `high`, in this unit.
///
/// # Errors
/// Any other number, also one that is not finite, with what is allowed.
fn number_within<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
    [low, high]: [f64; 2],
    unit: &str,
) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let wrong = || D::Error::custom(format!("{number} is out of range, allowed is {low} to {high} {unit}"));
    (low..=high).contains(&number).then_some(number).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused_with_what_is_allowed() {
        let robot = |text: &str| toml::from_str::<RobotOptions>(text).map_err(|error| error.to_string());
        for (text, allowed) in [
            ("rate = -5", "allowed is 0 to 10000 frames per second"),
            ("rate = nan", "allowed is 0 to 10000 frames per second"),
            ("lead = -1", "allowed is 0 to 60 seconds"),
            ("lead = 1e9", "allowed is 0 to 60 seconds"),
        ] {
            let error = robot(text).unwrap_err();
            assert!(error.contains(allowed), "{text}: {error}");
        }
        assert_eq!(robot("rate = 50\nlead = 2.5").unwrap().rate, 50.0);
        assert_eq!(robot("").unwrap(), ExportOptions::default().robot);
    }

    #[test]
    fn a_tolerance_is_no_negative_number() {
        let fbx = |text: &str| toml::from_str::<FbxOptions>(text);
        assert!(fbx("tolerance = 0.1").is_ok());
        for text in ["tolerance = -1", "tolerance = nan", "tolerance = 1e9"] {
            assert!(fbx(text).unwrap_err().to_string().contains("allowed is 0 to 90 degrees"), "{text}");
        }
    }
}
