//! The layouts of robot motions: one entry each, with its source and the date at which it was read there.
//!
//! A layout is data: what a column or an array holds, and in which form. Space: the robot's world, X front, Z up. Units: metres,
//! radians, seconds unless the entry says otherwise.

/// A layout.
#[derive(Clone, Copy, Debug)]
pub struct RobotLayout {
    /// The name, as `[output.robot] layout` has it.
    pub name: &'static str,
    /// What reads it, in a few words.
    pub about: &'static str,
    /// The extension of its files.
    pub extension: &'static str,
    /// Where it was read, and when.
    pub source: &'static str,
    /// The rate that its readers expect, Hz; `None` if any.
    pub rate: Option<f64>,
    /// Whether hinges and links are breadth first, as PhysX orders them, instead of depth first.
    pub breadth_first: bool,
    /// Whether a table begins with a line of names.
    pub header: bool,
    /// The columns or arrays, in order, with their names where they have one.
    pub fields: &'static [(&'static str, RobotField)],
}

/// The content of an array, or of some columns of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RobotField {
    /// The number of the frame.
    Frame,
    /// The rate as an array of one whole number.
    RateArray,
    /// The rate as a number.
    Rate,
    /// A whole number that is always the same.
    Whole(i32),
    /// Place of the base; the number is units per metre.
    BasePlace(f64),
    /// Rotation of the base.
    BaseRotation(RotationForm),
    /// Values of the hinges; the number is units per radian (slides: per metre).
    Hinges(f64),
    /// Speeds of the hinges.
    HingeSpeeds,
    /// Place and rotation (w x y z) of the base, then the hinges: MuJoCo's `qpos`.
    Positions,
    /// Velocity of the base in the world, its angular velocity in its own axes, speeds of the hinges: MuJoCo's `qvel`.
    Velocities,
    /// Base place, rotation vector of the base, hinges.
    PlaceVectorHinges,
    /// Places of the links.
    LinkPlaces,
    /// Rotations of the links, w x y z.
    LinkRotations,
    /// Velocities of the links in the world.
    LinkVelocities,
    /// Angular velocities of the links, in the axes of the world.
    LinkAngularVelocities,
    /// Names of the hinges.
    HingeNames,
    /// Names of the joints: the floating base first, then the hinges.
    JointNames,
    /// Names of the links.
    LinkNames,
    /// The number of joints, the floating base included.
    JointCount,
    /// MuJoCo's type of each joint: 0 free, 2 slide, 3 hinge; the base first.
    JointTypes,
    /// The first frame, and the one after the last.
    Ends,
    /// Nothing: Python's `None`.
    Nothing,
}

/// The form of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationForm {
    /// A quaternion, x y z w.
    Xyzw,
    /// A quaternion, w x y z.
    Wxyz,
    /// Angles about the fixed axes x, y and z, in this order, degrees.
    FixedXyzDegrees,
}

use RobotField::{
    BasePlace, BaseRotation, Ends, Frame, HingeNames, HingeSpeeds, Hinges, JointCount, JointNames,
    JointTypes, LinkAngularVelocities, LinkNames, LinkPlaces, LinkRotations, LinkVelocities, Nothing,
    PlaceVectorHinges, Positions, Rate, RateArray, Velocities, Whole,
};
use RotationForm::{FixedXyzDegrees, Wxyz, Xyzw};

/// Centimetres per metre.
const CENTIMETRES: f64 = 100.0;

/// The arrays of BeyondMimic's files.
const BEYONDMIMIC: &[(&str, RobotField)] = &[
    ("fps", RateArray),
    ("joint_pos", Hinges(1.0)),
    ("joint_vel", HingeSpeeds),
    ("body_pos_w", LinkPlaces),
    ("body_quat_w", LinkRotations),
    ("body_lin_vel_w", LinkVelocities),
    ("body_ang_vel_w", LinkAngularVelocities),
];

/// Every layout that is written; the first of an extension is its default.
pub const ROBOT_LAYOUTS: &[RobotLayout] = &[
    RobotLayout {
        name: "unitree_csv",
        about: "Unitree's LAFAN1, input of BeyondMimic and mjlab",
        extension: "csv",
        source: "unitreerobotics/LAFAN1_Retargeting_Dataset, HybridRobotics/whole_body_tracking scripts/csv_to_npz.py; 2026-11",
        rate: Some(30.0),
        breadth_first: false,
        header: false,
        fields: &[("", BasePlace(1.0)), ("", BaseRotation(Xyzw)), ("", Hinges(1.0))],
    },
    RobotLayout {
        name: "seed_csv",
        about: "BONES-SEED, soma-retargeter, input of ProtoMotions",
        extension: "csv",
        source: "NVlabs/ProtoMotions data/scripts, BONES-SEED's README; 2026-11",
        rate: Some(120.0),
        breadth_first: false,
        header: true,
        fields: &[
            ("Frame", Frame),
            ("root_translate", BasePlace(CENTIMETRES)),
            ("root_rotate", BaseRotation(FixedXyzDegrees)),
            ("_dof", Hinges(1f64.to_degrees())),
        ],
    },
    RobotLayout {
        name: "kimodo_csv",
        about: "Kimodo, input of ProtoMotions",
        extension: "csv",
        source: "NVlabs/ProtoMotions data/scripts, Kimodo's README; 2026-11",
        rate: Some(30.0),
        breadth_first: false,
        header: false,
        fields: &[("", BasePlace(1.0)), ("", BaseRotation(Wxyz)), ("", Hinges(1.0))],
    },
    RobotLayout {
        name: "mjlab",
        about: "mjlab: MuJoCo's order",
        extension: "npz",
        source: "mujocolab/mjlab src/mjlab/scripts/csv_to_npz.py; 2026-11",
        rate: Some(50.0),
        breadth_first: false,
        header: false,
        fields: BEYONDMIMIC,
    },
    RobotLayout {
        name: "beyondmimic",
        about: "whole_body_tracking, unitree_rl_lab: Isaac Lab's order",
        extension: "npz",
        source: "HybridRobotics/whole_body_tracking scripts/csv_to_npz.py, tasks/tracking/mdp/commands.py; 2026-11",
        rate: Some(50.0),
        breadth_first: true,
        header: false,
        fields: BEYONDMIMIC,
    },
    RobotLayout {
        name: "holosoma",
        about: "holosoma: whole positions and velocities, with names",
        extension: "npz",
        source: "amazon-far/holosoma, data conversion; 2026-11",
        rate: Some(50.0),
        breadth_first: false,
        header: false,
        fields: &[
            ("fps", RateArray),
            ("joint_pos", Positions),
            ("joint_vel", Velocities),
            ("body_pos_w", LinkPlaces),
            ("body_quat_w", LinkRotations),
            ("body_lin_vel_w", LinkVelocities),
            ("body_ang_vel_w", LinkAngularVelocities),
            ("joint_names", HingeNames),
            ("body_names", LinkNames),
        ],
    },
    RobotLayout {
        name: "isaaclab_amp",
        about: "Isaac Lab's adversarial motion priors",
        extension: "npz",
        source: "isaac-sim/IsaacLab isaaclab_tasks/direct/humanoid_amp/motions/motion_loader.py; 2026-11",
        rate: None,
        breadth_first: true,
        header: false,
        fields: &[
            ("fps", Rate),
            ("dof_names", HingeNames),
            ("body_names", LinkNames),
            ("dof_positions", Hinges(1.0)),
            ("dof_velocities", HingeSpeeds),
            ("body_positions", LinkPlaces),
            ("body_rotations", LinkRotations),
            ("body_linear_velocities", LinkVelocities),
            ("body_angular_velocities", LinkAngularVelocities),
        ],
    },
    RobotLayout {
        name: "locomujoco",
        about: "LocoMuJoCo's trajectories",
        extension: "npz",
        source: "robfiras/loco-mujoco loco_mujoco/trajectory/dataclasses.py; 2026-11",
        rate: None,
        breadth_first: false,
        header: false,
        fields: &[
            ("joint_names", JointNames),
            ("frequency", Rate),
            ("njnt", JointCount),
            ("jnt_type", JointTypes),
            ("qpos", Positions),
            ("qvel", Velocities),
            ("split_points", Ends),
        ],
    },
    RobotLayout {
        name: "gmr",
        about: "GMR, TWIST",
        extension: "pkl",
        source: "YanjieZe/GMR scripts/bvh_to_robot.py; 2026-11",
        rate: Some(30.0),
        breadth_first: false,
        header: false,
        fields: &[
            ("fps", Rate),
            ("root_pos", BasePlace(1.0)),
            ("root_rot", BaseRotation(Xyzw)),
            ("dof_pos", Hinges(1.0)),
            ("local_body_pos", Nothing),
            ("link_body_list", Nothing),
        ],
    },
    RobotLayout {
        name: "mimickit",
        about: "MimicKit",
        extension: "pkl",
        source: "xbpeng/MimicKit mimickit/anim/motion.py; 2026-11",
        rate: Some(30.0),
        breadth_first: false,
        header: false,
        fields: &[("loop_mode", Whole(0)), ("fps", Rate), ("frames", PlaceVectorHinges)],
    },
];

impl RobotField {
    /// The numbers of a field in a row of a table, for a robot with so many hinges.
    pub(crate) fn columns(self, hinges: usize) -> usize {
        match self {
            BasePlace(_) | BaseRotation(FixedXyzDegrees) => 3,
            BaseRotation(_) => 4,
            Hinges(_) => hinges,
            _ => 1,
        }
    }
}

impl RobotLayout {
    /// The layout of this name.
    pub fn of(name: &str) -> Option<&'static RobotLayout> {
        ROBOT_LAYOUTS.iter().find(|layout| layout.name == name)
    }

    /// The name of column `k` of a field of a table; `hinge` is the name of the hinge with this number.
    pub(crate) fn column(name: &str, field: RobotField, k: usize, hinge: impl Fn(usize) -> String) -> String {
        match field {
            Hinges(_) => format!("{}{name}", hinge(k)),
            BasePlace(_) | BaseRotation(FixedXyzDegrees) => format!("{name}{}", ["X", "Y", "Z"][k]),
            _ => name.to_owned(),
        }
    }
}
