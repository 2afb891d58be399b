//! The calibration pose of a motion, part by part: hips, trunk, arms, legs, hands, feet.

use super::axis_convention::follows_axes;
use super::motion_samples::{MotionSamples, SAMPLES};
use super::t_pose_assembly::stand;
use super::{t_pose_feet, t_pose_hands, t_pose_limbs, t_pose_trunk};
use crate::math::{
    Quat, Vec3, arc, mean_rotation, median, percentile, plain_mean_rotation, rotation_between,
};
use crate::model::{CalibratedJoint, Clip, JointId, ModelPose, Rig, Role, Side};
use std::collections::BTreeMap;

/// A calibration pose that was read off a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Every joint in the T-pose: Y up, facing +Z, the lowest point of the feet at height 0, in the skeleton's unit.
    pub pose: ModelPose,
    /// Y up from the world of the clips; the heading is left alone.
    pub turn: Quat,
    /// Whether the figure stood along that axis clearly enough to tell it.
    pub sure_of_up: bool,
    /// Whether the joints' axes follow the body, so that turns were taken to the nearest axis.
    pub conventional: bool,
    /// How sure each joint with a role is, and why.
    pub joints: Vec<CalibratedJoint>,
}

/// Radians (40 degrees) by which a pose that was told may differ from a sure estimate: errors of sure joints stay below 7
/// degrees in nine of ten, while joint axes of other exports differ by 90.
pub const CONTRADICTED: f64 = 0.7;
/// From here a joint of an estimate is sure.
const SURE: f64 = 0.85;

impl Estimate {
    /// The joints that this estimate is sure of and that stand elsewhere in `pose`, which is of the same skeleton.
    pub fn contradicted_by(&self, pose: &ModelPose) -> Vec<JointId> {
        let sure = self.joints.iter().filter(|j| j.confidence >= SURE).map(|j| j.joint);
        let apart =
            |id: &JointId| rotation_between(&self.pose.joint(*id).rotation, &pose.joint(*id).rotation);
        sure.filter(|id| apart(id) > CONTRADICTED).collect()
    }
}

/// What is known so far, part by part.
pub(super) struct PartialEstimate {
    /// `C`: how the axes of a role's joint stand in the T-pose.
    pub(super) c: BTreeMap<Role, Quat>,
    /// How sure that is, and why.
    pub(super) how: BTreeMap<Role, (f64, String)>,
    /// Where the bones of some roles point in the T-pose.
    pub(super) bones: BTreeMap<Role, Vec3>,
    pub(super) conventional: bool,
    /// How much each frame counts: much where the trunk is upright.
    pub(super) weights: Vec<f64>,
    /// How far the trunk leans in each frame, degrees.
    pub(super) lean: Vec<f64>,
    /// The length of the trunk.
    pub(super) size: f64,
    /// Whether the take moves enough to tell a rigid joint from one that happens to be held.
    pub(super) moves: bool,
    /// What hips and chest have turned away from the T-pose in each frame.
    pub(super) hips: Vec<Quat>,
    pub(super) chest: Vec<Quat>,
}

/// Degrees, root mean square, below which a joint does not turn against the one above.
const RIGID: f64 = 0.5;
/// Degrees by which the median joint of a take must move to show that a joint is rigid.
const MOVES: f64 = 3.0;
/// Degrees that a trunk may lean to count fully for gravity.
const LEAN: f64 = 10.0;

/// The calibration pose of these clips, which play on the skeleton of `rig` one after the other.
///
/// `up` is the up axis of the clips' world where it is known. `None` without hips, thighs and something above them, or
/// without a frame.
pub fn rest_from_motion(rig: &Rig, clips: &[&Clip], up: Option<Vec3>) -> Option<Estimate> {
    let wanted = [Role::Hips, Role::UpperLeg(Side::Left), Role::UpperLeg(Side::Right)];
    if clips.iter().all(|c| c.frames() == 0) || wanted.iter().any(|role| rig.joint(*role).is_none()) {
        return None;
    }
    let (up, sure_of_up) = match up {
        Some(up) => (up, true),
        None => up_of(&MotionSamples::new(rig, clips, Quat::identity(), SAMPLES))?,
    };
    let turn = arc(&up, &Vec3::y(), &Vec3::x());
    let e = MotionSamples::new(rig, clips, turn, SAMPLES);
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
    let pose = stand(&e, &found);
    let joints = found.how.iter().map(|(role, (confidence, reason))| CalibratedJoint {
        joint: e.joint(*role),
        confidence: *confidence,
        reason: reason.clone(),
    });
    let joints = joints.collect();
    Some(Estimate { pose, turn, sure_of_up, conventional: found.conventional, joints })
}

/// Below this length of the mean direction from feet to head (0 to 1) a figure stands along no axis.
const STANDS: f64 = 0.6;

/// The up axis of a motion: the coordinate axis that points from the feet to the head on average. A figure that lies
/// or climbs stands along none: then the axis along which its lower foot keeps its height best.
fn up_of(e: &MotionSamples) -> Option<(Vec3, bool)> {
    let feet: fn(Side) -> Role = if e.has(&Side::BOTH.map(Role::Foot)) { Role::Foot } else { Role::LowerLeg };
    let low = e.middle(feet).or_else(|| e.middle(Role::UpperLeg))?;
    let high: Vec<Vec3> = match e.has(&[Role::Head]) {
        true => e.at(Role::Head).iter().map(|t| t.translation).collect(),
        false => e.middle(Role::UpperArm)?,
    };
    let unit = |(h, l): (&Vec3, &Vec3)| (h - l).try_normalize(1e-12).unwrap_or_default();
    let mean = high.iter().zip(&low).map(unit).sum::<Vec3>() / e.count as f64;
    let k = mean.iamax();
    let axis = |k: usize| {
        let mut axis = Vec3::zeros();
        axis[k] = mean[k].signum();
        axis
    };
    if mean[k].abs() >= STANDS || !e.has(&Side::BOTH.map(feet)) {
        return Some((axis(k), mean[k].abs() >= STANDS));
    }
    let [a, b] = Side::BOTH.map(|s| e.at(feet(s)));
    let spread = |k: usize| {
        let up = axis(k);
        let heights = a.iter().zip(b).map(|(a, b)| a.translation.dot(&up).min(b.translation.dot(&up)));
        let heights: Vec<f64> = heights.collect();
        percentile(&heights, 0.9) - percentile(&heights, 0.1)
    };
    let k = [1, 2, 0].into_iter().min_by(|&i, &j| spread(i).total_cmp(&spread(j)))?;
    Some((axis(k), false))
}

/// Frame weights by how upright the trunk is; nothing else is known yet.
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
    Some(PartialEstimate {
        c: BTreeMap::new(),
        how: BTreeMap::new(),
        bones: BTreeMap::new(),
        conventional: false,
        weights,
        lean,
        size,
        moves: moves(e),
        hips: Vec::new(),
        chest: Vec::new(),
    })
}

/// Whether the median joint turns against its parent by more than [`MOVES`].
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

/// The root mean square of the angles between rotations and their mean, degrees.
fn spread(mean: &Quat, rotations: &[Quat]) -> f64 {
    let sum: f64 = rotations.iter().map(|q| rotation_between(mean, q).powi(2)).sum();
    (sum / rotations.len().max(1) as f64).sqrt().to_degrees()
}

impl PartialEstimate {
    /// Sets what a role's axes are, how sure that is, and why.
    pub(super) fn set(&mut self, role: Role, c: Quat, confidence: f64, reason: impl Into<String>) {
        self.c.insert(role, c);
        self.how.insert(role, (confidence, reason.into()));
    }

    /// What a role has turned away from the T-pose in each frame.
    pub(super) fn away(&self, e: &MotionSamples, role: Role) -> Vec<Quat> {
        let back = self.c[&role].inverse();
        e.at(role).iter().map(|s| s.rotation * back).collect()
    }

    /// The average rotation of a joint's axes seen from frames `above`, and whether it never changes.
    pub(super) fn turns(&self, e: &MotionSamples, above: &[Quat], role: Role) -> (Quat, bool) {
        let relative: Vec<Quat> =
            above.iter().zip(e.at(role)).map(|(a, s)| a.inverse() * s.rotation).collect();
        let mean = mean_rotation(&relative, &self.weights);
        let rigid = self.moves && spread(&mean, &relative) < RIGID;
        (mean, rigid)
    }

    /// As [`PartialEstimate::turns`] with weights of their own: the mean, and whether it never changes.
    pub(super) fn mean_of(&self, relative: &[Quat], weights: &[f64]) -> (Quat, bool) {
        let mean = mean_rotation(relative, weights);
        (mean, self.moves && spread(&mean, relative) < RIGID)
    }
}
