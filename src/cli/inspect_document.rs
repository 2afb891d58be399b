//! The document of `posemill inspect --json`.

use super::inspect_page::{height_of_joints, made_by, stature};
use super::inspect_robot::RobotMember;
use crate::model::{Asset, Character, JointId};
use crate::pipeline::MadeBy;
use crate::report::{Finding, Warnings, rounded};
use crate::retarget::second_best;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

const SCHEMA: &str = "posemill.inspect/1";

/// The content of a file, how it was interpreted, and capture errors of its clips; of several files an array.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum InspectDocument {
    /// One file.
    One(Box<FileDocument>),
    /// Several files, in the order of their names.
    Several(Vec<Inspected>),
}

/// One of several files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Inspected {
    /// A file that was read.
    Read(Box<FileDocument>),
    /// A file that cannot be read.
    Unread {
        /// The file.
        file: String,
        /// Why it cannot be read.
        error: String,
    },
}

/// The content of a file in normal form: metres, Y up, facing +Z.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileDocument {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The file.
    file: String,
    /// The format, as `posemill formats` names it; `glb` or `vrma` for such files of glTF.
    format: &'static str,
    /// The name of the character.
    character: String,
    /// Metres per unit of this document: 1.
    metres_per_unit: f64,
    /// The axis that points up: `y`.
    up: &'static str,
    /// Height from the lowest joint to the highest in the reference pose, metres.
    height_m: f64,
    /// Height from the soles to the top of the head in the reference pose, metres; null without legs.
    stature_m: Option<f64>,
    /// Whether the skin has a bind pose.
    bind_pose: bool,
    /// The reference pose, in which two bodies are compared.
    calibration: CalibrationMember,
    /// The joints, parents first.
    joints: Vec<InspectedJoint>,
    /// The clips.
    clips: Vec<InspectedClip>,
    /// The parts of the skin.
    meshes: Vec<InspectedMesh>,
    /// What made the file, as recorded in it; null if it has no record of this program.
    #[schemars(with = "Option<MadeBy>")]
    made_by: Option<Value>,
    /// Changes that reading the file needed, in order of first occurrence.
    warnings: Warnings,
    /// Capture errors of the clips, as the stage `repair` finds them.
    findings: Vec<ClipFinding>,
    /// The robot; absent for other characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "RobotMember")]
    robot: Option<RobotMember>,
}

/// The reference pose.
#[derive(Debug, Serialize, JsonSchema)]
struct CalibrationMember {
    /// Its origin: `bind`, `rest`, `motion` (estimated), `frame N` of the take, or another `file`.
    from: String,
    /// The joints that were estimated.
    joints: Vec<CalibrationJoint>,
}

/// A joint of an estimated reference pose.
#[derive(Debug, Serialize, JsonSchema)]
struct CalibrationJoint {
    /// The name.
    name: String,
    /// How sure its rotation is, from 0 to 1.
    confidence: f64,
    /// The evidence.
    reason: String,
}

/// A joint.
#[derive(Debug, Serialize, JsonSchema)]
struct InspectedJoint {
    /// The name, unique in the skeleton.
    name: String,
    /// The name in the file; null for a joint that reading added.
    file_name: Option<String>,
    /// The number of the parent in `joints`, from 0; -1 for a root.
    parent: i64,
    /// What the joint is for, such as `left_foot`; null if it has no role.
    role: Option<String>,
    /// How sure the role is, from 0 to 1; null without a role.
    confidence: Option<f64>,
    /// The evidence for the role; null without a role.
    reason: Option<String>,
    /// For a doubtful role, the joint that comes next; else null.
    second_best: Option<SecondBest>,
}

/// The second-best joint for a role.
#[derive(Debug, Serialize, JsonSchema)]
struct SecondBest {
    /// The name.
    name: String,
    /// How sure the role would be, from 0 to 1; null if it is not known.
    confidence: Option<f64>,
}

/// A clip.
#[derive(Debug, Serialize, JsonSchema)]
struct InspectedClip {
    /// The name.
    name: String,
    /// Number of frames.
    frames: usize,
    /// Frames per second.
    rate_hz: f64,
    /// The time of the first frame, seconds.
    start_s: f64,
    /// From the first frame to the last, seconds.
    duration_s: f64,
}

/// A part of the skin.
#[derive(Debug, Serialize, JsonSchema)]
struct InspectedMesh {
    /// The name.
    name: String,
    /// Number of vertices.
    vertices: usize,
    /// Number of triangles.
    triangles: usize,
    /// Number of joints that it is bound to.
    joints: usize,
}

/// A capture error of a clip.
#[derive(Debug, Serialize, JsonSchema)]
struct ClipFinding {
    #[serde(flatten)]
    finding: Finding,
    /// The number of the clip, from 0.
    clip: usize,
}

impl FileDocument {
    /// The document of a file with the capture errors of each of its clips.
    pub fn new(asset: &Asset, file: String, format: &'static str, errors: Vec<Vec<Finding>>) -> Self {
        let character = &asset.character;
        let of_clip = |(clip, all): (usize, Vec<Finding>)| {
            all.into_iter().map(move |finding| ClipFinding { finding, clip })
        };
        let clips = asset.clips.iter().map(|c| InspectedClip {
            name: c.name.clone(),
            frames: c.frames(),
            rate_hz: c.sample_rate,
            start_s: c.start,
            duration_s: c.duration(),
        });
        let meshes = character.meshes.iter().map(|m| InspectedMesh {
            name: m.name.clone(),
            vertices: m.positions.len(),
            triangles: m.triangles.len(),
            joints: m.bindings.len(),
        });
        Self {
            schema: SCHEMA,
            file,
            format,
            character: character.name.clone(),
            metres_per_unit: 1.0,
            up: "y",
            height_m: height_of_joints(character),
            stature_m: stature(character),
            bind_pose: character.bind.is_some(),
            calibration: CalibrationMember::of(character),
            joints: character.skeleton().ids().map(|id| InspectedJoint::of(character, id)).collect(),
            clips: clips.collect(),
            meshes: meshes.collect(),
            made_by: made_by(asset),
            warnings: asset.warnings.clone(),
            findings: errors.into_iter().enumerate().flat_map(of_clip).collect(),
            robot: character.robot.as_deref().map(RobotMember::of),
        }
    }
}

impl CalibrationMember {
    /// The origin of the reference pose, and the confidence of its joints.
    fn of(character: &Character) -> Self {
        let joints = character.calibration.iter().flat_map(|c| &c.joints);
        let joints = joints.map(|j| CalibrationJoint {
            name: character.skeleton().joint(j.joint).name.clone(),
            confidence: rounded(j.confidence),
            reason: j.reason.clone(),
        });
        Self { from: character.calibration_source().to_string(), joints: joints.collect() }
    }
}

impl InspectedJoint {
    fn of(character: &Character, id: JointId) -> Self {
        let skeleton = character.skeleton();
        let joint = skeleton.joint(id);
        let role = character.rig.role(id);
        let assignment = role.and_then(|r| character.rig.assignment(r));
        let second = assignment.filter(|a| a.is_doubtful()).and_then(|_| second_best(character, role?));
        Self {
            name: joint.name.clone(),
            file_name: joint.file_name.clone(),
            parent: joint.parent.map_or(-1, |p| p.index() as i64),
            role: role.map(|r| r.to_string()),
            confidence: assignment.map(|a| rounded(a.confidence)),
            reason: assignment.map(|a| a.reason.clone()),
            second_best: second.map(|(id, confidence)| SecondBest {
                name: skeleton.joint(id).name.clone(),
                confidence: confidence.map(rounded),
            }),
        }
    }
}
