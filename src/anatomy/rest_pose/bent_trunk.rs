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
/// Lean forwards, radians (5 degrees), above which a trunk is bent if the motion also holds chest and head back against the pose
/// ([`UprightPitch`]). Zero poses of builds lean by up to 5. With double, four of five zero poses that lean by 15 degrees
/// from the first joint of the spine, which the line of the trunk does by 5 to 14, keep their lean; with half, builds rest on the
/// motion alone.
const LEANING: f64 = 0.087;
/// Share of the frames, the most upright ones, in which chest and head are compared with the pose.
const MOST_UPRIGHT: f64 = 0.1;
/// The same of leaning to a side and of twisting, radians (10 degrees): the development takes have up to 1.4 and 3.7.
const ASKEW: f64 = 0.175;
/// Frames that are read.
const SAMPLES: usize = 64;
/// A pose is contradicted by frames that are straighter by this factor: [`MOST_UPRIGHT`] of them upright, half of them untwisted.
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

/// How the motion pitches joints against a pose, forwards, radians: the medians of the frames in which the trunk is most upright. In the
/// development takes a chest is pitched by 2 to 20 degrees and a head by -5 to 18, since zero poses stand straighter than people do;
/// a pose that leans takes its lean away from both.
struct UprightPitch {
    /// Of the pelvis.
    hips: f64,
    /// Of the last joint of the spine.
    chest: f64,
    /// Of the head.
    head: f64,
}

impl UprightPitch {
    /// Of these frames of the motion, with the leans of their trunks and their directions to the left; `None` without a head.
    fn of(e: &MotionSamples, pose: &ModelPose, seen: &[(usize, Vec3, TrunkBend)]) -> Option<UprightPitch> {
        let chest = e.rig.chain(Role::Spine).last().copied()?;
        let joints = [e.rig.joint(Role::Hips)?, chest, e.rig.joint(Role::Head)?];
        let leans: Vec<f64> = seen.iter().map(|(_, _, bend)| bend.lean()).collect();
        let most = percentile(&leans, MOST_UPRIGHT);
        let [hips, chest, head] = joints.map(|joint| {
            let up = pose.joint(joint).rotation.inverse() * Vec3::y();
            let pitch = |(f, left, _): &(usize, Vec3, TrunkBend)| {
                let up = e.of_joint(joint)[*f].rotation * up;
                libm::atan2(up.dot(&left.cross(&Vec3::y())), up.y)
            };
            median(seen.iter().filter(|(_, _, bend)| bend.lean() <= most).map(pitch).collect())
        });
        Some(UprightPitch { hips, chest, head })
    }

    /// Whether chest and head are both held back against a lean of the pose, and by most of it in the mean.
    fn is_back(&self, lean: f64) -> bool {
        self.chest.max(self.head) < 0.0 && 0.5 * (self.chest + self.head) < -STRAIGHTER * lean
    }

    /// Whether the pelvis is held back with them, so that the pose leans from the hips.
    fn is_from_hips(&self, lean: f64) -> bool {
        self.hips < -STRAIGHTER * lean && self.chest - self.hips > -STRAIGHTER * lean
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
    let leans = !posed[0] && bend.forwards > LEANING;
    if posed == [false; 3] && !leans || !carries(rig) {
        return None;
    }
    let e = MotionSamples::new(rig, clips, Quat::identity(), SAMPLES);
    let seen = (0..e.count).filter_map(|f| {
        let at = |role: Role| rig.joint(role).map(|id| e.of_joint(id)[f].translation);
        let across = at(Role::UpperLeg(Side::Left))? - at(Role::UpperLeg(Side::Right))?;
        let left = horizontal(&across).try_normalize(1e-9)?;
        Some((f, left, TrunkBend::of(at, &left)?))
    });
    let seen: Vec<(usize, Vec3, TrunkBend)> = seen.collect();
    if seen.is_empty() {
        return None;
    }
    let pitch = UprightPitch::of(&e, pose, &seen).filter(|pitch| leans && pitch.is_back(bend.forwards));
    let seen_leans: Vec<f64> = seen.iter().map(|(_, _, bend)| bend.lean()).collect();
    let upright = percentile(&seen_leans, MOST_UPRIGHT) < STRAIGHTER * bend.lean();
    let twists = seen.iter().map(|(_, _, bend)| bend.twist.abs());
    let untwisted = median(twists.collect()) < STRAIGHTER * bend.twist.abs();
    posed = [(posed[0] || pitch.is_some()) && upright, posed[1] && upright, posed[2] && untwisted];
    let angles = [bend.forwards, bend.sideways, bend.twist];
    let angle =
        angles.iter().zip(posed).filter(|(_, posed)| *posed).map(|(a, _)| a.abs()).fold(0.0, f64::max);
    let from_hips =
        pitch.filter(|pitch| pitch.is_from_hips(bend.forwards)).and_then(|_| rig.joint(Role::Hips));
    let (away, pivot) = match from_hips {
        Some(hips) => (angle, hips),
        None => posed_joint(&e, pose)?,
    };
    if angle == 0.0 || away < STRAIGHTER * angle {
        return None;
    }
    let kept = |k: usize| if posed[k] { 0.0 } else { libm::tan(angles[k]) };
    let wanted = Vec3::y() + left.cross(&Vec3::y()) * kept(0) + left * kept(1);
    let q = unbent(rig, pose, pivot, (&wanted, left), posed[2])?;
    let mut joints = pose.joints().to_vec();
    rotate_below(rig, &mut joints, pivot, &q);
    if from_hips.is_some() {
        keep_legs(rig, pose, &mut joints, &q);
    }
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

/// Rotates legs back that a rotation `q` of the pelvis moved, and puts the middle of the hip joints back.
fn keep_legs(rig: &Rig, pose: &ModelPose, joints: &mut [Transform], q: &Quat) {
    let thighs = || Side::BOTH.iter().filter_map(|side| rig.joint(Role::UpperLeg(*side)));
    let middle = |at: &[Transform]| thighs().map(|id| at[id.index()].translation).sum::<Vec3>() * 0.5;
    thighs().for_each(|thigh| rotate_below(rig, joints, thigh, &q.inverse()));
    let back = middle(pose.joints()) - middle(joints);
    joints.iter_mut().for_each(|joint| joint.translation += back);
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
