//! T-pose orientation of feet and toes: flat as when planted, pointing ahead.
//!
//! Both soles share one slope from ankle to toes. People stand on the balls of their feet and rarely on their heels,
//! so the lower quartile of the slopes of planted frames is used.

use super::axis_convention::{LineKind, snapped};
use super::motion_samples::{MotionSamples, frame};
use super::partial_estimate::PartialEstimate;
use crate::math::{
    Quat, Transform, Vec3, horizontal, mean_direction, median, percentile, rotation_between,
    weighted_quantile,
};
use crate::model::{Clip, JointId, Role, Side};

/// Height in leg lengths above its minimum up to which an ankle is near the ground.
const LOW: f64 = 0.12;
/// Vertical speed in leg lengths per second below which a foot is planted. Horizontal speed is ignored, so that
/// walking in place has planted feet too.
const RISES: f64 = 0.15;
/// Angular speed in degrees per second below which a foot is planted.
const ROTATES: f64 = 60.0;
/// Total seconds of planted frames from which they define the slope.
const RESTS: f64 = 0.1;
/// Slope from ankle to toes, degrees downwards, of feet without such frames: an ordinary instep.
const SOLE_SLOPE: f64 = 25.0;
/// Frames of a clip that are read; a longer one is read in larger steps.
const MOST: usize = 8192;

/// One foot over the frames of all clips.
struct FootObservation {
    side: Side,
    /// Unit vectors from ankle to toes and across the foot, in its axes.
    ahead: Vec3,
    across: Vec3,
    /// Foot and toes in every frame that is read.
    foot: Vec<Transform>,
    toes: Vec<Transform>,
    /// Slope from ankle to toes in each frame, degrees downwards, and the frame's weight as a planted one; all
    /// weights are 0 where the foot is never planted.
    slopes: Vec<f64>,
    weights: Vec<f64>,
}

/// Feet and toes of both sides.
pub(super) fn feet(e: &MotionSamples, found: &mut PartialEstimate) {
    let soles: Vec<FootObservation> =
        Side::BOTH.into_iter().filter_map(|side| sole(e, found, side)).collect();
    let slopes: Vec<f64> = soles.iter().flat_map(|s| s.slopes.iter().copied()).collect();
    let weights: Vec<f64> = soles.iter().flat_map(|s| s.weights.iter().copied()).collect();
    let shown = weights.iter().sum::<f64>() > 0.0;
    let slope = if shown { weighted_quantile(&slopes, &weights, 0.25) } else { SOLE_SLOPE };
    let (sin, cos) = libm::sincos(slope.to_radians());
    for sole in &soles {
        let normal = sole.ahead.cross(&sole.across) * cos - sole.ahead * sin;
        let c = frame(&sole.across, &normal).inverse();
        found.c.insert(Role::Foot(sole.side), c);
        toes(e, found, sole);
    }
}

/// Observes a foot; without toes it is given its average orientation relative to the shin, and the result is `None`.
fn sole(e: &MotionSamples, found: &mut PartialEstimate, side: Side) -> Option<FootObservation> {
    let (role, shin, toes) = (Role::Foot(side), Role::LowerLeg(side), Role::Toes(side));
    if !e.has(&[role]) || !found.c.contains_key(&shin) {
        return None;
    }
    let above = found.rotation_from_t_pose(e, shin);
    let tip = e.skeleton().joint(e.joint(role)).tip;
    let ahead = if e.has(&[toes]) { Some(e.line(role, role, toes)) } else { tip };
    let Some(ahead) = ahead.filter(|v| v.norm() > 1e-6 * found.size).map(|v| v.normalize()) else {
        let (mean, _) = found.relative_rotation(e, &above, role);
        found.set(role, mean, 0.3, "no toes: its average rotation against the shin");
        return None;
    };
    let foot = every_frame(e, e.joint(role));
    let read: Vec<Transform> = foot.iter().flat_map(|c| c.joints.iter().copied()).collect();
    let weights = planted_weights(e, side, &foot);
    let up: Vec<Vec3> = read.iter().map(|t| t.rotation.inverse() * Vec3::y()).collect();
    let aside = mean_direction(&e.seen_from(role, |f| above[f] * Vec3::x()), &found.weights);
    let aside = aside.unwrap_or_else(Vec3::x);
    let mut across = snapped(found, super::motion_samples::across(&aside, &ahead), LineKind::Foot);
    let seconds: f64 = {
        let steps = foot.iter().flat_map(|c| c.joints.iter().map(|_| c.seconds));
        weights.iter().zip(steps).map(|(w, s)| w * s).sum()
    };
    let planted = seconds > RESTS;
    let normal = mean_direction(&up, &weights).filter(|_| planted).filter(|n| on_sole(n, &ahead, &across));
    match normal {
        Some(normal) => {
            across = normal.cross(&ahead).try_normalize(1e-9).unwrap_or(across);
            let total: f64 = weights.iter().sum();
            let square = |(u, w): (&Vec3, &f64)| w * u.angle(&normal).to_degrees().powi(2);
            let spread = (up.iter().zip(&weights).map(square).sum::<f64>() / total).sqrt();
            let sure = (1.0 - spread / 40.0).clamp(0.3, 0.9);
            found.how.insert(role, (sure, "flat while it is planted".into()));
        }
        None => {
            found.how.insert(role, (0.3, "it is never planted: an ordinary instep".into()));
        }
    }
    let slopes = up.iter().map(|u| libm::asin((-u.dot(&ahead)).clamp(-1.0, 1.0)).to_degrees()).collect();
    let weights = if normal.is_some() { weights } else { vec![0.0; weights.len()] };
    let toes = match e.has(&[toes]) {
        true => every_frame(e, e.joint(toes)).into_iter().flat_map(|c| c.joints).collect(),
        false => Vec::new(),
    };
    Some(FootObservation { side, ahead, across, foot: read, toes, slopes, weights })
}

/// Toes: the tip level, straight ahead; rigid toes keep their rotation against the foot, toes without a tip have
/// their average rotation while the foot is planted.
fn toes(e: &MotionSamples, found: &mut PartialEstimate, sole: &FootObservation) {
    let role = Role::Toes(sole.side);
    if sole.toes.is_empty() {
        return;
    }
    let c_foot = found.c[&Role::Foot(sole.side)];
    let pairs = sole.foot.iter().zip(&sole.toes);
    let relative: Vec<Quat> =
        pairs.map(|(foot, toes)| (foot.rotation * c_foot.inverse()).inverse() * toes.rotation).collect();
    let weights: Vec<f64> = sole.weights.iter().map(|w| w + 1e-9).collect();
    let (mean, rigid) = found.mean_and_rigidity(&relative, &weights);
    match e.tip(role, found.size, &found.weights).filter(|_| !rigid) {
        None if rigid => found.set(role, mean, 0.9, "they never rotate"),
        None => found.set(role, mean, 0.4, "their average while the foot is planted"),
        Some(tip) => {
            let level = c_foot * sole.ahead;
            let level = horizontal(&level).try_normalize(1e-9).unwrap_or_else(Vec3::z);
            let aside = (mean.inverse() * Vec3::y()).cross(&tip).try_normalize(1e-9).unwrap_or_else(Vec3::x);
            let n = snapped(found, aside, LineKind::Foot);
            let c = frame(&Vec3::y().cross(&level), &level) * frame(&n, &tip).inverse();
            found.set(role, c, 0.8, "level, as the foot points");
        }
    }
}

/// Slopes from ankle to toes of a foot that stands on its sole, degrees downwards: from toes on a ramp to a raised heel. A foot
/// beyond kneels, sits, or the up axis is wrong.
const STANDING: std::ops::RangeInclusive<f64> = -30.0..=70.0;
/// Roll of a standing foot against the axis of its knee, radians (75 degrees): ankles roll by 30.
const ROLLED: f64 = 1.3;

/// Whether a foot whose up axis is `normal` may stand on its sole; all are unit vectors in its axes, `across` by the knee.
fn on_sole(normal: &Vec3, ahead: &Vec3, across: &Vec3) -> bool {
    let slope = libm::asin((-normal.dot(ahead)).clamp(-1.0, 1.0)).to_degrees();
    let level = normal - ahead * normal.dot(ahead);
    STANDING.contains(&slope) && level.angle(&ahead.cross(across)) < ROLLED
}

/// One joint in the frames of one clip.
#[derive(Default)]
struct JointTrajectory {
    joints: Vec<Transform>,
    /// Angular speed in each frame, degrees per second.
    angular_speeds: Vec<f64>,
    /// Vertical speed in each frame, units per second.
    vertical_speeds: Vec<f64>,
    /// Seconds that each frame represents.
    seconds: f64,
}

/// A joint in every frame of every clip (in every second one, and so on, of a long clip).
fn every_frame(e: &MotionSamples, joint: JointId) -> Vec<JointTrajectory> {
    let skeleton = e.skeleton();
    let mut path: Vec<JointId> = skeleton.path_to_root(joint).collect();
    path.reverse();
    let world = Transform::from_rotation(e.y_up_from_world);
    let at = |clip: &Clip, f: usize| path.iter().fold(world, |t, id| t * clip.local(skeleton, f, *id));
    let trajectory = |clip: &&Clip| {
        let frames = clip.frames();
        let step = frames.div_ceil(MOST).max(1);
        let seconds = step as f64 / clip.sample_rate;
        let mut trajectory = JointTrajectory { seconds, ..JointTrajectory::default() };
        let all: Vec<Transform> =
            if step == 1 { (0..frames).map(|f| at(clip, f)).collect() } else { Vec::new() };
        let get = |f: usize| if step == 1 { all[f] } else { at(clip, f) };
        for f in (0..frames).step_by(step) {
            let (before, here, after) = (get(f.saturating_sub(1)), get(f), get((f + 1).min(frames - 1)));
            let angle = rotation_between(&before.rotation, &here.rotation);
            let angle = angle.max(rotation_between(&here.rotation, &after.rotation));
            let span = ((f + 1).min(frames - 1) - f.saturating_sub(1)).max(1) as f64 / clip.sample_rate;
            trajectory.angular_speeds.push(angle.to_degrees() * clip.sample_rate);
            trajectory.vertical_speeds.push((after.translation.y - before.translation.y).abs() / span);
            trajectory.joints.push(here);
        }
        trajectory
    };
    e.clips.iter().map(trajectory).collect()
}

/// The weight of each frame as a planted one: low, neither rotating nor rising. A clip of fewer than three frames has
/// none.
fn planted_weights(e: &MotionSamples, side: Side, foot: &[JointTrajectory]) -> Vec<f64> {
    let apart = |a: Role, b: Role| {
        let pairs = e.at(a).iter().zip(e.at(b));
        median(pairs.map(|(a, b)| (a.translation - b.translation).norm()).collect())
    };
    let (upper, lower, end) = (Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side));
    let leg = (apart(upper, lower) + apart(lower, end)).max(1e-12);
    let heights: Vec<f64> = foot.iter().flat_map(|c| c.joints.iter().map(|t| t.translation.y)).collect();
    let ground = percentile(&heights, 0.05);
    let weight = |trajectory: &JointTrajectory, f: usize| {
        if trajectory.joints.len() < 3 {
            return 0.0;
        }
        let high = (trajectory.joints[f].translation.y - ground).max(0.0) / leg / LOW;
        let rises = trajectory.vertical_speeds[f] / leg / RISES;
        let rotates = trajectory.angular_speeds[f] / ROTATES;
        libm::exp(-(high * high) - rises * rises - rotates * rotates)
    };
    foot.iter().flat_map(|c| (0..c.joints.len()).map(move |f| weight(c, f))).collect()
}
