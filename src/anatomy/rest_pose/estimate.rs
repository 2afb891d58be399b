//! Estimates the reference pose from a motion: hips, trunk, arms, legs, hands, feet.

use super::axis_convention::follows_axes;
use super::motion_samples::{MotionSamples, SAMPLES};
use super::partial_estimate::{PartialEstimate, spread};
use super::t_pose_assembly::assemble;
use super::{t_pose_feet, t_pose_hands, t_pose_limbs, t_pose_trunk};
use crate::anatomy::orientation::nearest_axis;
use crate::anatomy::up_axis::proves_up;
use crate::math::{Quat, Vec3, arc, median, percentile, plain_mean_rotation, rotation_between};
use crate::model::{CalibratedJoint, Clip, JointId, ModelPose, Rig, Role, Side};

/// A reference pose estimated from a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// All joints in the T-pose: Y up, facing +Z, the lowest point of the feet at height 0, in the skeleton's unit.
    pub pose: ModelPose,
    /// Rotation from the world of the clips to Y up; the heading is kept.
    pub y_up_from_world: Quat,
    /// Whether the figure is upright along that axis clearly enough.
    pub sure_of_up: bool,
    /// Whether the joints' axes follow the body, so that rotations were rounded to the nearest axis.
    pub conventional: bool,
    /// Confidence and reason of each joint with a role.
    pub joints: Vec<CalibratedJoint>,
}

/// Radians (40 degrees): least difference that contradicts a confident estimate. Errors of confident joints are below
/// 7 degrees in nine of ten, while the joint axes of other exports differ by 90.
pub const CONTRADICTED: f64 = 0.7;
/// Confidence from which a joint of an estimate may contradict another pose.
const SURE: f64 = 0.85;

impl Estimate {
    /// The confidently estimated joints whose rotation differs in `pose`, of the same skeleton.
    pub fn contradicted_by(&self, pose: &ModelPose) -> Vec<JointId> {
        let sure = self.joints.iter().filter(|j| j.confidence >= SURE).map(|j| j.joint);
        let apart =
            |id: &JointId| rotation_between(&self.pose.joint(*id).rotation, &pose.joint(*id).rotation);
        sure.filter(|id| apart(id) > CONTRADICTED).collect()
    }
}

/// Degrees by which the median joint of a take must rotate before another one counts as rigid.
const MOVES: f64 = 3.0;
/// Degrees of trunk lean up to which a frame counts fully for gravity.
const LEAN: f64 = 10.0;

/// Estimates the reference pose from clips on the skeleton of `rig`, one after the other.
///
/// `up` is the up axis of the clips' world if known. `None` without hips, thighs and a joint above them, or without a
/// frame.
pub fn rest_from_motion(rig: &Rig, clips: &[&Clip], up: Option<Vec3>) -> Option<Estimate> {
    let wanted = [Role::Hips, Role::UpperLeg(Side::Left), Role::UpperLeg(Side::Right)];
    if clips.iter().all(|c| c.frames() == 0) || wanted.iter().any(|role| rig.joint(*role).is_none()) {
        return None;
    }
    let (up, sure_of_up) = match up {
        Some(up) => (up, true),
        None => up_of(&MotionSamples::new(rig, clips, Quat::identity(), SAMPLES))?,
    };
    let y_up_from_world = arc(&up, &Vec3::y(), &Vec3::x());
    let e = MotionSamples::new(rig, clips, y_up_from_world, SAMPLES);
    let mut found = upright(&e)?;
    t_pose_trunk::hips(&e, &mut found);
    found.conventional = follows_axes(&e, &found);
    t_pose_trunk::trunk(&e, &mut found);
    for side in Side::BOTH {
        t_pose_limbs::arm(&e, &mut found, side);
        t_pose_limbs::leg(&e, &mut found, side);
        t_pose_hands::hand(&e, &mut found, side);
    }
    t_pose_feet::feet(&e, &mut found);
    let pose = assemble(&e, &found);
    let joints = found.how.iter().map(|(role, (confidence, reason))| CalibratedJoint {
        joint: e.joint(*role),
        confidence: *confidence,
        reason: reason.clone(),
    });
    let joints = joints.collect();
    Some(Estimate { pose, y_up_from_world, sure_of_up, conventional: found.conventional, joints })
}

/// Length of the mean direction from feet to head (0 to 1) below which a figure is upright along no axis.
const STANDS: f64 = 0.6;

/// The up axis of a motion, and whether the figure is upright along it: Y, as nearly all files have it, unless the figure
/// stands along another axis and the ground proves that this one is up. A figure that lies stands along another axis too.
fn up_of(e: &MotionSamples) -> Option<(Vec3, bool)> {
    let feet: fn(Side) -> Role = if e.has(&Side::BOTH.map(Role::Foot)) { Role::Foot } else { Role::LowerLeg };
    let low = e.middle(feet).or_else(|| e.middle(Role::UpperLeg))?;
    let high: Vec<Vec3> = match e.has(&[Role::Head]) {
        true => e.at(Role::Head).iter().map(|t| t.translation).collect(),
        false => e.middle(Role::UpperArm)?,
    };
    let unit = |(h, l): (&Vec3, &Vec3)| (h - l).try_normalize(1e-12).unwrap_or_default();
    let mean = high.iter().zip(&low).map(unit).sum::<Vec3>() / e.count as f64;
    let other = nearest_axis(&mean);
    let proved = other != Vec3::y() && proves_up(e.rig, e.clips, &Vec3::y(), &other);
    let up = if proved { other } else { Vec3::y() };
    Some((up, mean.dot(&up) >= STANDS))
}

/// Frame weights by the lean of the trunk; nothing else is known yet.
fn upright(e: &MotionSamples) -> Option<PartialEstimate> {
    let places = |role: Role| e.at(role).iter().map(|t| t.translation).collect::<Vec<Vec3>>();
    let top = e.middle(Role::UpperArm).or_else(|| {
        let last = e.chain(Role::Neck).pop().or_else(|| e.chain(Role::Spine).pop());
        last.or(e.has(&[Role::Head]).then_some(Role::Head)).map(places)
    })?;
    let hips = e.middle(Role::UpperLeg)?;
    let trunk: Vec<Vec3> = top.iter().zip(&hips).map(|(t, h)| t - h).collect();
    let size = median(trunk.iter().map(|v| v.norm()).collect());
    if size <= 0.0 || !size.is_finite() {
        return None;
    }
    let lean: Vec<f64> = trunk.iter().map(|v| v.angle(&Vec3::y()).to_degrees()).collect();
    let scale = LEAN.max(1.5 * percentile(&lean, 0.1));
    let weights = lean.iter().map(|l| libm::exp(-(l / scale).powi(2)) + 1e-6).collect();
    Some(PartialEstimate { weights, lean, size, moves: moves(e), ..PartialEstimate::default() })
}

/// Whether the median joint rotates against its parent by more than [`MOVES`].
fn moves(e: &MotionSamples) -> bool {
    let ones = vec![1.0; e.count];
    let change = |(role, assignment): (Role, &crate::model::Assignment)| {
        let parent = e.skeleton().parent(assignment.joint).filter(|_| role != Role::Hips)?;
        let pairs = e.of_joint(parent).iter().zip(e.of_joint(assignment.joint));
        let relative: Vec<Quat> = pairs.map(|(p, j)| p.rotation.inverse() * j.rotation).collect();
        Some(spread(&plain_mean_rotation(&relative, &ones), &relative))
    };
    median(e.rig.assignments().filter_map(change).collect()) > MOVES
}
