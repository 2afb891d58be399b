//! Feet in the T-pose: flat while they rest on the ground, the toes ahead.
//!
//! Both soles have one slope from ankle to toes. People stand on the balls of their feet and hardly on their heels, so the
//! lower quarter of the slopes of the resting frames counts.

use super::axis_convention::{LineKind, snapped};
use super::estimate::PartialEstimate;
use super::motion_samples::{MotionSamples, frame};
use crate::math::{
    Quat, Transform, Vec3, mean_direction, median, percentile, rotation_between, weighted_quantile,
};
use crate::model::{Clip, JointId, Role, Side};

/// Leg lengths above its lowest height up to which an ankle is at the ground.
const LOW: f64 = 0.12;
/// Leg lengths and degrees per second below which a sole rests. Its way over the ground does not count, so that a take on
/// the spot has resting feet too.
const RISES: f64 = 0.15;
const TURNS: f64 = 60.0;
/// Seconds for which the soles must rest, together, to show how they stand.
const RESTS: f64 = 0.1;
/// Degrees from ankle to toes, downwards, where they do not.
const SOLE_SLOPE: f64 = 25.0;
/// Frames of a clip that are looked at; a longer one is read in larger steps.
const MOST: usize = 8192;

/// One foot over the frames of all clips.
struct FootObservation {
    side: Side,
    /// From ankle to toes, and across the foot, in its axes.
    ahead: Vec3,
    across: Vec3,
    /// Foot and toes in every frame that is read.
    foot: Vec<Transform>,
    toes: Vec<Transform>,
    /// Degrees from ankle to toes, downwards, in each frame, and how much it rests; all 0 where it never does.
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

/// What a foot shows; without toes it is set as the shin on average, and there is nothing to show.
fn sole(e: &MotionSamples, found: &mut PartialEstimate, side: Side) -> Option<FootObservation> {
    let (role, shin, toes) = (Role::Foot(side), Role::LowerLeg(side), Role::Toes(side));
    if !e.has(&[role]) || !found.c.contains_key(&shin) {
        return None;
    }
    let above = found.away(e, shin);
    let tip = e.skeleton().joint(e.joint(role)).tip;
    let ahead = if e.has(&[toes]) { Some(e.line(role, role, toes)) } else { tip };
    let Some(ahead) = ahead.filter(|v| v.norm() > 1e-6 * found.size).map(|v| v.normalize()) else {
        let (mean, _) = found.turns(e, &above, role);
        found.set(role, mean, 0.3, "no toes: as the shin on average");
        return None;
    };
    let foot = every_frame(e, e.joint(role));
    let read: Vec<Transform> = foot.iter().flat_map(|c| c.joints.iter().copied()).collect();
    let weights = resting(e, side, &foot);
    let up: Vec<Vec3> = read.iter().map(|t| t.rotation.inverse() * Vec3::y()).collect();
    let aside = mean_direction(&e.seen_from(role, |f| above[f] * Vec3::x()), &found.weights);
    let aside = aside.unwrap_or_else(Vec3::x);
    let mut across = snapped(found, super::motion_samples::across(&aside, &ahead), LineKind::Foot);
    let seconds: f64 = {
        let steps = foot.iter().flat_map(|c| c.joints.iter().map(|_| c.seconds));
        weights.iter().zip(steps).map(|(w, s)| w * s).sum()
    };
    let rests = seconds > RESTS;
    let normal = mean_direction(&up, &weights).filter(|_| rests);
    match normal {
        Some(normal) => {
            across = normal.cross(&ahead).try_normalize(1e-9).unwrap_or(across);
            let total: f64 = weights.iter().sum();
            let square = |(u, w): (&Vec3, &f64)| w * u.angle(&normal).to_degrees().powi(2);
            let spread = (up.iter().zip(&weights).map(square).sum::<f64>() / total).sqrt();
            let sure = (1.0 - spread / 40.0).clamp(0.3, 0.9);
            found.how.insert(role, (sure, "flat while it rests on the ground".into()));
        }
        None => {
            found.how.insert(role, (0.3, "it never rests: an ordinary instep".into()));
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

/// Toes: the tip level, straight ahead; rigid toes keep their relation, toes without a tip lie as they do on average while
/// the foot rests.
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
    let (mean, rigid) = found.mean_of(&relative, &weights);
    match e.tip(role, found.size, &found.weights).filter(|_| !rigid) {
        None if rigid => found.set(role, mean, 0.9, "they never turn"),
        None => found.set(role, mean, 0.4, "as they are while the foot rests"),
        Some(tip) => {
            let level = c_foot * sole.ahead;
            let level = Vec3::new(level.x, 0.0, level.z).try_normalize(1e-9).unwrap_or_else(Vec3::z);
            let aside = (mean.inverse() * Vec3::y()).cross(&tip).try_normalize(1e-9).unwrap_or_else(Vec3::x);
            let n = snapped(found, aside, LineKind::Foot);
            let c = frame(&Vec3::y().cross(&level), &level) * frame(&n, &tip).inverse();
            found.set(role, c, 0.8, "level, as the foot points");
        }
    }
}

/// One joint in the frames of one clip.
struct JointTrajectory {
    joints: Vec<Transform>,
    /// How fast it turns in each of them, degrees per second, and rises, units per second.
    turns: Vec<f64>,
    rises: Vec<f64>,
    /// Seconds that each of them stands for.
    seconds: f64,
}

/// A joint in every frame of every clip (every second one, and so on, of a long one).
fn every_frame(e: &MotionSamples, joint: JointId) -> Vec<JointTrajectory> {
    let skeleton = e.skeleton();
    let mut path: Vec<JointId> = skeleton.path_to_root(joint).collect();
    path.reverse();
    let world = Transform::from_rotation(e.turn);
    let at = |clip: &Clip, f: usize| path.iter().fold(world, |t, id| t * clip.local(skeleton, f, *id));
    let course = |clip: &&Clip| {
        let frames = clip.frames();
        let step = frames.div_ceil(MOST).max(1);
        let mut course = JointTrajectory {
            joints: Vec::new(),
            turns: Vec::new(),
            rises: Vec::new(),
            seconds: step as f64 / clip.sample_rate,
        };
        let all: Vec<Transform> =
            if step == 1 { (0..frames).map(|f| at(clip, f)).collect() } else { Vec::new() };
        let get = |f: usize| if step == 1 { all[f] } else { at(clip, f) };
        for f in (0..frames).step_by(step) {
            let (before, here, after) = (get(f.saturating_sub(1)), get(f), get((f + 1).min(frames - 1)));
            let turn = rotation_between(&before.rotation, &here.rotation);
            let turn = turn.max(rotation_between(&here.rotation, &after.rotation));
            let span = ((f + 1).min(frames - 1) - f.saturating_sub(1)).max(1) as f64 / clip.sample_rate;
            course.turns.push(turn.to_degrees() * clip.sample_rate);
            course.rises.push((after.translation.y - before.translation.y).abs() / span);
            course.joints.push(here);
        }
        course
    };
    e.clips.iter().map(course).collect()
}

/// How much the sole of a side rests in each frame: low, neither turning nor rising. A clip of less than three frames
/// shows none.
fn resting(e: &MotionSamples, side: Side, foot: &[JointTrajectory]) -> Vec<f64> {
    let apart = |a: Role, b: Role| {
        let pairs = e.at(a).iter().zip(e.at(b));
        median(pairs.map(|(a, b)| (a.translation - b.translation).norm()).collect())
    };
    let (upper, lower, end) = (Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side));
    let leg = (apart(upper, lower) + apart(lower, end)).max(1e-12);
    let heights: Vec<f64> = foot.iter().flat_map(|c| c.joints.iter().map(|t| t.translation.y)).collect();
    let ground = percentile(&heights, 0.05);
    let weight = |course: &JointTrajectory, f: usize| {
        if course.joints.len() < 3 {
            return 0.0;
        }
        let high = (course.joints[f].translation.y - ground).max(0.0) / leg / LOW;
        let rises = course.rises[f] / leg / RISES;
        let turns = course.turns[f] / TURNS;
        libm::exp(-(high * high) - rises * rises - turns * turns)
    };
    foot.iter().flat_map(|c| (0..c.joints.len()).map(move |f| weight(c, f))).collect()
}
