//! Straightens the trunk of a take whose reference pose bends or twists it while its motion is upright: no body is built so.
//!
//! Joints along the spine differ between rigs, so the trunk is judged by two lines: from the middle of the hip joints to that of the
//! shoulders, and from shoulder to shoulder. Space: model space, Y up. Units: those of the skeleton, radians.

use super::motion_samples::MotionSamples;
use crate::math::{
    Quat, Transform, Vec3, angle_between, arc, exp, horizontal, mean_rotation, median, percentile,
    rotation_between,
};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side};

/// Lean forwards or backwards above which a trunk is bent, radians (20 degrees): rest poses of the development takes lean by -11 to 5.
const BENT: f64 = 0.35;
/// The same of leaning to a side and of twisting, radians (10 degrees): the development takes have up to 1.4 and 3.7.
const ASKEW: f64 = 0.175;
/// Frames that are read.
const SAMPLES: usize = 64;
/// A pose is contradicted by frames that are straighter by this factor: one of ten upright, half of them untwisted.
const STRAIGHTER: f64 = 0.5;
/// Rounds in which the trunk is rotated about a joint above the hips until its line is straight.
const ROUNDS: usize = 24;
/// A head is straightened with the trunk unless the motion holds it upright by this much more without, radians (5 degrees).
const UPRIGHT: f64 = 0.09;

/// How a trunk leans forwards and to its left, and how it is twisted to its left, radians.
struct TrunkBend {
    forwards: f64,
    sideways: f64,
    twist: f64,
}

impl TrunkBend {
    /// Of joints at these positions; `left` is horizontal. `None` without shoulders, and of a trunk that is not above the hips.
    fn of(at: impl Fn(Role) -> Option<Vec3>, left: &Vec3) -> Option<TrunkBend> {
        let ends = |role: fn(Side) -> Role| Some((at(role(Side::Left))?, at(role(Side::Right))?));
        let (hips, shoulders) = (ends(Role::UpperLeg)?, ends(Role::UpperArm)?);
        let line = ((shoulders.0 + shoulders.1) - (hips.0 + hips.1)).try_normalize(1e-9)?;
        let front = left.cross(&Vec3::y());
        let across = arc(&line, &Vec3::y(), left) * (shoulders.0 - shoulders.1);
        (line.y > 0.0).then(|| TrunkBend {
            forwards: libm::atan2(line.dot(&front), line.y),
            sideways: libm::atan2(line.dot(left), line.y),
            twist: libm::atan2(-across.dot(&front), across.dot(left)),
        })
    }

    fn lean(&self) -> f64 {
        libm::hypot(self.forwards, self.sideways)
    }
}

/// `pose` with its trunk straightened, and the angle by which it was bent or twisted; `None` of a trunk that is straight, or that these
/// clips show as it is. `left` points to the left across the hips.
pub fn straightened_trunk(
    rig: &Rig,
    pose: &ModelPose,
    clips: &[&Clip],
    left: &Vec3,
) -> Option<(ModelPose, f64)> {
    let bend = TrunkBend::of(|role| rig.joint(role).map(|id| pose.position(id)), left)?;
    let posed = [(bend.forwards, BENT), (bend.sideways, ASKEW), (bend.twist, ASKEW)];
    let mut posed = posed.map(|(angle, most)| angle.abs() > most);
    if posed == [false; 3] || !carries(rig) {
        return None;
    }
    let e = MotionSamples::new(rig, clips, Quat::identity(), SAMPLES);
    let seen = (0..e.count).filter_map(|f| {
        let at = |role: Role| rig.joint(role).map(|id| e.of_joint(id)[f].translation);
        let across = at(Role::UpperLeg(Side::Left))? - at(Role::UpperLeg(Side::Right))?;
        TrunkBend::of(at, &horizontal(&across).try_normalize(1e-9)?)
    });
    let seen: Vec<TrunkBend> = seen.collect();
    if seen.is_empty() {
        return None;
    }
    let leans: Vec<f64> = seen.iter().map(TrunkBend::lean).collect();
    let upright = percentile(&leans, 0.1) < STRAIGHTER * bend.lean();
    let untwisted = median(seen.iter().map(|b| b.twist.abs()).collect()) < STRAIGHTER * bend.twist.abs();
    posed = [posed[0] && upright, posed[1] && upright, posed[2] && untwisted];
    let angles = [bend.forwards, bend.sideways, bend.twist];
    let angle =
        angles.iter().zip(posed).filter(|(_, posed)| *posed).map(|(a, _)| a.abs()).fold(0.0, f64::max);
    let (away, pivot) = posed_joint(&e, pose)?;
    if angle == 0.0 || away < STRAIGHTER * angle {
        return None;
    }
    let kept = |k: usize| if posed[k] { 0.0 } else { libm::tan(angles[k]) };
    let wanted = Vec3::y() + left.cross(&Vec3::y()) * kept(0) + left * kept(1);
    let q = unbent(rig, pose, pivot, (&wanted, left), posed[2])?;
    let mut joints = pose.joints().to_vec();
    rotate_below(rig, &mut joints, pivot, &q);
    keep_head(&e, pose, &mut joints, &q);
    Some((ModelPose::new(joints), angle))
}

/// Whether the spine carries the arms, and not the legs.
fn carries(rig: &Rig) -> bool {
    let Some(first) = rig.joint(Role::Spine(0)) else { return false };
    let below = |role: Role| rig.joint(role).is_some_and(|id| rig.skeleton().is_ancestor(first, id));
    Side::BOTH.iter().all(|s| below(Role::UpperArm(*s)) && !below(Role::UpperLeg(*s)))
}

/// The joint of the spine whose rotation in the pose is farthest from its mean in the motion, and how far.
fn posed_joint(e: &MotionSamples, pose: &ModelPose) -> Option<(f64, JointId)> {
    let ones = vec![1.0; e.count];
    let away = |joint: JointId| {
        let parent = e.skeleton().parent(joint)?;
        let relative = |p: &Transform, j: &Transform| p.rotation.inverse() * j.rotation;
        let pairs = e.of_joint(parent).iter().zip(e.of_joint(joint));
        let moving: Vec<Quat> = pairs.map(|(p, j)| relative(p, j)).collect();
        let posed = relative(pose.joint(parent), pose.joint(joint));
        Some((rotation_between(&mean_rotation(&moving, &ones), &posed), joint))
    };
    e.rig.chain(Role::Spine).into_iter().filter_map(away).max_by(|a, b| a.0.total_cmp(&b.0))
}

/// The rotation about a joint of the spine with which the line of the trunk is along `wanted`, and, if it is to be untwisted, the
/// shoulders are as the hips.
fn unbent(
    rig: &Rig,
    pose: &ModelPose,
    pivot: JointId,
    (wanted, left): (&Vec3, &Vec3),
    untwist: bool,
) -> Option<Quat> {
    let middle = |role: fn(Side) -> Role| {
        let [a, b] = Side::BOTH.map(|s| rig.joint(role(s)).map(|id| pose.position(id)));
        Some((a? + b?) * 0.5)
    };
    let (hips, shoulders, at) = (middle(Role::UpperLeg)?, middle(Role::UpperArm)?, pose.position(pivot));
    let mut q = Quat::identity();
    for _ in 0..ROUNDS {
        q = arc(&(at + q * (shoulders - at) - hips), wanted, left) * q;
        let place = |role: Role| {
            let p = pose.position(rig.joint(role)?);
            Some(if matches!(role, Role::UpperArm(_)) { at + q * (p - at) } else { p })
        };
        let twist = TrunkBend::of(place, left).filter(|_| untwist).map_or(0.0, |bend| bend.twist);
        q = exp(&(wanted.normalize() * -twist)) * q;
    }
    Some(q)
}

/// Rotates neck and head back if the motion shows that they were upright in the pose.
fn keep_head(e: &MotionSamples, pose: &ModelPose, joints: &mut [Transform], q: &Quat) {
    let Some(head) = e.rig.joint(Role::Head) else { return };
    let top = e.rig.joint(Role::Neck(0)).unwrap_or(head);
    let tilt = |rest: &Quat| {
        let up = |t: &Transform| angle_between(&(t.rotation * (rest.inverse() * Vec3::y())), &Vec3::y());
        median(e.of_joint(head).iter().map(up).collect())
    };
    if tilt(&pose.joint(head).rotation) + UPRIGHT < tilt(&joints[head.index()].rotation) {
        rotate_below(e.rig, joints, top, &q.inverse());
    }
}

/// Rotates a joint of a pose and all below it about the joint's position.
pub fn rotate_below(rig: &Rig, joints: &mut [Transform], joint: JointId, rotation: &Quat) {
    let at = joints[joint.index()].translation;
    let about = Transform::new(*rotation, at - rotation * at);
    for (transform, below) in joints.iter_mut().zip(rig.skeleton().below(&[joint])) {
        if below {
            *transform = about * *transform;
        }
    }
}
