//! The joints that arms are placed by, and where they are in one frame.
//!
//! Space: model space. Units: metres.

use crate::anatomy::{Figure, on_four_legs};
use crate::math::{Quat, Vec3, from_columns};
use crate::model::{JointId, ModelPose, Rig, Role, Side};

/// How far along the joints from the hips to the neck the trunk is divided into a low and a high part: about the waist,
/// whatever the number of spine joints.
const WAIST: f64 = 0.45;

/// The joints of legs, arms, trunk and head of a body that stands on two legs.
#[derive(Clone, Debug)]
pub struct Landmarks {
    /// Thigh, shin and foot, left and right.
    legs: [[JointId; 3]; 2],
    /// Upper arm, forearm and hand, left and right.
    arms: [[JointId; 3]; 2],
    /// The waist: between a joint (`None`: the midpoint of the hip joints) and the next one of the spine, and how far along.
    waist: (Option<JointId>, JointId, f64),
    head: JointId,
    /// The body's left in the reference pose, in the joint spaces of the thighs.
    thigh_left: [Vec3; 2],
    /// From the head's joint space to a frame whose columns are left, up and front in the reference pose.
    head_from_axes: Quat,
}

/// Where the landmarks are in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LandmarkPose {
    /// Hips, knees and ankles, left and right.
    pub legs: [[Vec3; 3]; 2],
    /// The body's left in the reference pose, rotated with the thighs, left and right: unit vectors.
    pub thigh_left: [Vec3; 2],
    /// Shoulders, elbows and wrists, left and right.
    pub arms: [[Vec3; 3]; 2],
    /// The rotations of the hands, left and right.
    pub hands: [Quat; 2],
    /// The waist.
    pub waist: Vec3,
    /// The head joint.
    pub head: Vec3,
    /// A frame with the head's left, up and front as columns.
    pub head_axes: Quat,
}

/// Lengths of a body in its reference pose, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyLengths {
    /// The upper arm, mean of both sides.
    pub upper_arm: f64,
    /// The forearm.
    pub forearm: f64,
    /// The thigh.
    pub thigh: f64,
    /// The shin.
    pub shin: f64,
    /// From the middle of the hip joints to the waist.
    pub low_trunk: f64,
    /// From the waist to the middle of the shoulders.
    pub high_trunk: f64,
    /// Between the hip joints.
    pub hips: f64,
    /// Between the shoulders.
    pub shoulders: f64,
    /// From the middle of the shoulders to the head joint.
    pub neck: f64,
}

impl Landmarks {
    /// The landmarks of a rig in its reference pose; `None` where a joint is missing, arms do not hang together, or the
    /// body walks on four legs.
    pub fn of(rig: &Rig, reference_pose: &ModelPose, figure: &Figure) -> Option<Landmarks> {
        if on_four_legs(rig, reference_pose) {
            return None;
        }
        let joint = |role| rig.joint(role);
        let leg = |s| Some([joint(Role::UpperLeg(s))?, joint(Role::LowerLeg(s))?, joint(Role::Foot(s))?]);
        let arm = |s| Some([joint(Role::UpperArm(s))?, joint(Role::LowerArm(s))?, joint(Role::Hand(s))?]);
        let both = |of: &dyn Fn(Side) -> Option<[JointId; 3]>| Some([of(Side::Left)?, of(Side::Right)?]);
        let (legs, arms) = (both(&leg)?, both(&arm)?);
        let skeleton = rig.skeleton();
        let hangs = |[a, b, c]: &[JointId; 3]| skeleton.is_ancestor(*a, *b) && skeleton.is_ancestor(*b, *c);
        let at = |id: &JointId| reference_pose.position(*id);
        let long = |[a, b, c]: &[JointId; 3]| {
            let (upper, lower) = ((at(b) - at(a)).norm(), (at(c) - at(b)).norm());
            upper.min(lower) > 1e-3 * (upper + lower)
        };
        if !(arms.iter().all(|arm| hangs(arm) && long(arm)) && legs.iter().all(long)) {
            return None;
        }
        let head = joint(Role::Head)?;
        let front = figure.front();
        let thigh_left = legs.map(|leg| reference_pose.joint(leg[0]).rotation.inverse() * figure.left);
        let axes = from_columns(&figure.left, &figure.up, &front);
        Some(Landmarks {
            waist: waist(rig, reference_pose, figure, head),
            legs,
            arms,
            head,
            thigh_left,
            head_from_axes: reference_pose.joint(head).rotation.inverse() * axes,
        })
    }

    /// All joints, for forward kinematics.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        let limbs = self.legs.iter().chain(&self.arms).flatten().copied();
        limbs.chain(self.waist.0).chain([self.waist.1, self.head])
    }

    /// Upper arm, forearm and hand, left and right.
    pub fn arms(&self) -> &[[JointId; 3]; 2] {
        &self.arms
    }

    /// Where they are in a pose.
    pub fn at(&self, pose: &ModelPose) -> LandmarkPose {
        let positions = |limbs: &[[JointId; 3]; 2]| limbs.map(|limb| limb.map(|id| pose.position(id)));
        let legs = positions(&self.legs);
        let (below, above, share) = self.waist;
        let below = below.map_or((legs[0][0] + legs[1][0]) * 0.5, |id| pose.position(id));
        LandmarkPose {
            legs,
            thigh_left: [0, 1].map(|k| pose.joint(self.legs[k][0]).rotation * self.thigh_left[k]),
            arms: positions(&self.arms),
            hands: self.arms.map(|arm| pose.joint(arm[2]).rotation),
            waist: below.lerp(&pose.position(above), share),
            head: pose.position(self.head),
            head_axes: pose.joint(self.head).rotation * self.head_from_axes,
        }
    }
}

/// The waist: [`WAIST`] of the line along the joints from the hips to the neck, in the reference pose.
fn waist(
    rig: &Rig,
    reference_pose: &ModelPose,
    figure: &Figure,
    head: JointId,
) -> (Option<JointId>, JointId, f64) {
    let mut chain = rig.chain(Role::Spine);
    chain.push(rig.joint(Role::Neck(0)).unwrap_or(head));
    let mut points = vec![(None, figure.pelvis)];
    points.extend(chain.into_iter().map(|id| (Some(id), reference_pose.position(id))));
    let lengths: Vec<f64> = points.windows(2).map(|p| (p[1].1 - p[0].1).norm()).collect();
    let mut left = WAIST * lengths.iter().sum::<f64>();
    for (pair, length) in points.windows(2).zip(&lengths) {
        if left <= *length {
            return (pair[0].0, pair[1].0.unwrap_or(head), left / length.max(1e-12));
        }
        left -= length;
    }
    (None, head, WAIST)
}

impl LandmarkPose {
    /// The middle of the hip joints.
    pub fn pelvis(&self) -> Vec3 {
        (self.legs[0][0] + self.legs[1][0]) * 0.5
    }

    /// The middle of the shoulders.
    pub fn shoulders(&self) -> Vec3 {
        (self.arms[0][0] + self.arms[1][0]) * 0.5
    }

    /// The lengths of this pose.
    pub fn lengths(&self) -> BodyLengths {
        let mean = |limbs: &[[Vec3; 3]; 2], k: usize| {
            0.5 * limbs.iter().map(|limb| (limb[k + 1] - limb[k]).norm()).sum::<f64>()
        };
        BodyLengths {
            upper_arm: mean(&self.arms, 0),
            forearm: mean(&self.arms, 1),
            thigh: mean(&self.legs, 0),
            shin: mean(&self.legs, 1),
            low_trunk: (self.waist - self.pelvis()).norm(),
            high_trunk: (self.shoulders() - self.waist).norm(),
            hips: (self.legs[0][0] - self.legs[1][0]).norm(),
            shoulders: (self.arms[0][0] - self.arms[1][0]).norm(),
            neck: (self.head - self.shoulders()).norm(),
        }
    }
}

impl BodyLengths {
    /// The length of an arm from shoulder to wrist.
    pub fn arm(&self) -> f64 {
        self.upper_arm + self.forearm
    }

    /// The length of a leg from hip to ankle.
    pub fn leg_length(&self) -> f64 {
        self.thigh + self.shin
    }

    /// Every length, in the order of the fields.
    pub fn all(&self) -> [f64; 9] {
        let BodyLengths { upper_arm, forearm, thigh, shin, low_trunk, high_trunk, hips, shoulders, neck } =
            *self;
        [upper_arm, forearm, thigh, shin, low_trunk, high_trunk, hips, shoulders, neck]
    }
}
