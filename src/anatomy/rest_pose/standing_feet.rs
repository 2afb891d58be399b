//! Finds the soles of a take's feet: while the body stands on a foot, its sole is level.
//!
//! Space: model space, Y up. Units: those of the skeleton, seconds, radians.

use crate::math::{Transform, Vec3, angle_between, median, median_of, percentile, rotation_between};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side};
use std::ops::{Range, RangeInclusive};

/// Frames of a clip that are read, evenly spread.
const SAMPLES: usize = 512;
/// Heights of ankle and ball above their lowest up to which a foot may stand, leg lengths.
const LOW: [f64; 2] = [0.06, 0.04];
/// Speed of ankle and ball up to which a foot may stand, leg lengths per second.
const STILL: f64 = 0.15;
/// The same of the rotation of the foot, radians per second (30 degrees).
const ROTATES: f64 = 0.52;
/// Height of the hip joint above the ankle from which a body stands on a leg, leg lengths: who sits or kneels has half of it, who
/// lies nothing.
const STANDS: f64 = 0.75;
/// The toes' rotation against the foot, from that of the reference pose, above which the heel is raised, radians (25 degrees): those
/// of flat feet are bent by up to 21.
const ON_TOES: f64 = 0.44;
/// Slopes from ankle to ball of feet that stand, radians downwards (-25 to 55 degrees): beyond, the heel of a foot without toes, or
/// with rigid ones, is raised.
const SLOPES: Range<f64> = -0.44..0.96;
/// The same of feet that stand in the reference pose of a take (10 to 40 degrees): the motion shows nothing better, as who stands on
/// the balls of the feet for the whole take, a boxer, does not show the sole. Development takes have 11 to 40.
const LEVEL: RangeInclusive<f64> = 0.17..=0.70;
/// Standing frames from which a sole is known, and their seconds.
const ENOUGH: (usize, f64) = (3, 0.1);
/// The median angle of standing frames from their mean above which they show no sole, radians (4 degrees): development takes
/// have up to 3.
const SPREAD: f64 = 0.07;

/// A leg in one frame.
struct StandingLeg {
    hip: Vec3,
    foot: Transform,
    /// The toe joint, or the end of a foot without one.
    ball: Transform,
    /// Whether foot and ball hardly move until the next frame.
    still: bool,
}

/// The directions from heel to ball along the soles of the left and of the right foot in the reference pose `pose`, as these clips
/// show them; `None` of a foot that is level in the reference pose, of one that never stands, and of one that has neither toes nor an
/// end.
pub fn standing_soles(rig: &Rig, pose: &ModelPose, clips: &[&Clip]) -> [Option<Vec3>; 2] {
    Side::BOTH.map(|side| standing_sole(rig, pose, clips, side))
}

fn standing_sole(rig: &Rig, pose: &ModelPose, clips: &[&Clip], side: Side) -> Option<Vec3> {
    let roles = [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side), Role::Toes(side)];
    let [hip, knee, foot, toes] = roles.map(|role| rig.joint(role));
    let (hip, knee, foot) = (hip?, knee?, foot?);
    // The ball is the toe joint, or the end of the foot.
    let ball = match toes {
        Some(toes) => (toes, Vec3::zeros()),
        None => (foot, rig.skeleton().joint(foot).tip?),
    };
    let apart = |a: JointId, b: JointId| (pose.position(a) - pose.position(b)).norm();
    let leg = apart(hip, knee) + apart(knee, foot);
    let at = pose.joint(foot);
    let foot_from_ball = at.inverse() * *pose.joint(ball.0) * Transform::from_translation(ball.1);
    let ahead = foot_from_ball.translation.try_normalize(1e-9)?;
    if LEVEL.contains(&slope(&ahead, &(at.rotation.inverse() * Vec3::y()))) {
        return None;
    }
    let of_clip = |clip: &&Clip| legs_of(rig, clip, [hip, foot], ball, leg);
    let legs: Vec<(StandingLeg, f64)> = clips.iter().flat_map(of_clip).collect();
    if leg <= 0.0 || legs.is_empty() {
        return None;
    }
    let lowest = |height: fn(&StandingLeg) -> f64| {
        percentile(&legs.iter().map(|(leg, _)| height(leg)).collect::<Vec<_>>(), 0.05)
    };
    let ground = [lowest(|l| l.foot.translation.y), lowest(|l| l.ball.translation.y)];
    let stands = |l: &StandingLeg| {
        let heights = [l.foot, l.ball].into_iter().zip(ground).map(|(t, ground)| t.translation.y - ground);
        let bent = rotation_between(&(l.foot.rotation.inverse() * l.ball.rotation), &foot_from_ball.rotation);
        l.still
            && heights.zip(LOW).all(|(height, low)| height < low * leg)
            && l.hip.y - l.foot.translation.y > STANDS * leg
            && bent < ON_TOES
    };
    let standing = legs.iter().filter(|(leg, _)| stands(leg));
    let (seen, seconds): (Vec<Vec3>, Vec<f64>) =
        standing.map(|(leg, seconds)| (leg.foot.rotation.inverse() * Vec3::y(), *seconds)).unzip();
    if seen.len() < ENOUGH.0 || seconds.iter().sum::<f64>() < ENOUGH.1 {
        return None;
    }
    let up = median_of(seen.iter().copied()).try_normalize(0.5)?;
    let spread = median(seen.iter().map(|u| angle_between(u, &up)).collect());
    (spread < SPREAD && SLOPES.contains(&slope(&ahead, &up)))
        .then(|| at.rotation * (ahead - up * up.dot(&ahead)))
}

/// The angle of a direction below the horizontal, radians; both vectors have length 1.
fn slope(direction: &Vec3, up: &Vec3) -> f64 {
    libm::asin((-up.dot(direction)).clamp(-1.0, 1.0))
}

/// A leg in frames of a clip, and the seconds that each stands for; `ball` is a point in the space of its joint.
fn legs_of(
    rig: &Rig,
    clip: &Clip,
    [hip, foot]: [JointId; 2],
    ball: (JointId, Vec3),
    leg: f64,
) -> Vec<(StandingLeg, f64)> {
    let skeleton = rig.skeleton();
    let at = |f: usize, id: JointId| {
        let path = skeleton.path_to_root(id);
        path.fold(Transform::identity(), |below, id| clip.local(skeleton, f, id) * below)
    };
    let end = Transform::from_translation(ball.1);
    let ends = |f: usize| [at(f, foot), at(f, ball.0) * end];
    let last = clip.frames().saturating_sub(1);
    let step = last.div_ceil(SAMPLES).max(1);
    let frame = 1.0 / clip.sample_rate;
    let legs = (0..last).step_by(step).map(|f| {
        let ([foot, ball], next) = (ends(f), ends(f + 1));
        let slow =
            |a: &Transform, b: &Transform| (b.translation - a.translation).norm() < STILL * leg * frame;
        let rotates = rotation_between(&foot.rotation, &next[0].rotation);
        let still = slow(&foot, &next[0]) && slow(&ball, &next[1]) && rotates < ROTATES * frame;
        (StandingLeg { hip: at(f, hip).translation, foot, ball, still }, step as f64 * frame)
    });
    legs.collect()
}
