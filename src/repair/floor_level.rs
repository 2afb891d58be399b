//! Corrects a constant height error: a body that floats above the floor or is sunk into it.
//!
//! With a skin the soles define the height. Without one it is estimated from the lowest joint and from the ankle,
//! assuming usual sole and ankle heights; both must show an error, and the mean of both is used: on feet of another build than
//! a person's they disagree, and only a large error is corrected. A skinned character at the height of its rest pose is correct; for
//! a skeleton, a rest pose on the floor defines the offset. What is smaller than bodies differ is reported. Units: metres of 0.86 m
//! legs.

use super::fault_log::{FaultLog, all, own};
use super::stances::{FootTrajectories, PointKind, SLOW, Stance};
use super::working_take::WorkingTake;
use crate::body::CharacterBody;
use crate::contacts::FootingJoints;
use crate::kinematics::Towards;
use crate::legs::Timeline;
use crate::math::{Vec3, median, percentile};
use crate::model::{JointId, ModelPose, Pose, Role};
use crate::parallel;
use std::ops::Range;

/// Usual heights of the lowest joint and of the lower ankle of a standing body, metres: clean takes have 0 to 8 cm
/// and 7 to 11 cm.
const BONES: [f64; 2] = [0.03, 0.095];
/// Largest height error without and with a skin that is not corrected, metres: 12 clean takes have up to 3 cm by
/// their bones, one of unknown units 5.
const OFF: [f64; 2] = [0.06, 0.02];
/// Largest difference between the errors by lowest joint and by ankle, metres: ten clean takes have up to 2 cm, three have 2.8 to 4.5, on
/// feet of another build ...
const AGREE: f64 = 0.025;
/// ... where an error is corrected from this on, metres: twice the largest of a clean take, so that the result is nearer to the truth
/// whatever the take's own error is.
const OF_ODD_FEET: f64 = 0.1;
/// Height error from which it is reported without a skin, metres: clean takes have up to 3.9 cm.
const REPORTED: f64 = 0.04;
/// Height of the lowest joint of a rest pose that stands on the floor, metres: clean takes have up to 0.06, one of the thick feet of a
/// robot 0.064; at 0.1 an ankle would be the lowest. If the root is at the origin instead, it is a leg length below.
const STANDS: Range<f64> = -0.02..0.1;
/// Largest interquartile range of the height of one floor, metres.
const SPREAD: f64 = 0.03;
/// Least seconds of contact.
const SHORTEST: f64 = 0.2;

/// Moves the floor to height 0; true if it was elsewhere.
pub(super) fn level(take: &mut WorkingTake, feet: &FootTrajectories, log: &mut FaultLog) -> bool {
    let stances = feet.stances(SLOW);
    let on = feet.planted(&stances);
    let planted: Vec<usize> = (0..on.len()).filter(|frame| on[*frame]).collect();
    if planted.len() as f64 * take.dt <= SHORTEST {
        return false;
    }
    let (heights, lowest_at_rest) = lowest(take, &planted);
    let spread = percentile(&heights, 0.75) - percentile(&heights, 0.25);
    let skinned = !take.motion.character.meshes.is_empty();
    let lowest = median(heights);
    let (height, sure, apart) = match ankle(feet, &stances).filter(|_| !skinned) {
        Some(ankle) => {
            let [sole, ankle] = [lowest - BONES[0], ankle - BONES[1]];
            (0.5 * (sole + ankle), nearer(sole, ankle), (sole - ankle).abs())
        }
        None if skinned => (lowest, lowest, 0.0),
        None => (lowest - BONES[0], lowest - BONES[0], 0.0),
    };
    let like_rest = lowest - lowest_at_rest;
    let (height, least) = match take.motion.character.bind.is_some() {
        // The rest pose of a skinned skeleton is at the height of its clips.
        true if like_rest.abs() < height.abs() => (like_rest, like_rest),
        // Both must show an offset; the rest pose gives its size more precisely, whatever the soles.
        false if STANDS.contains(&lowest_at_rest) => (like_rest, nearer(like_rest, height)),
        _ => (height, sure),
    };
    let off = least.abs() / if apart > AGREE { OF_ODD_FEET } else { OFF[usize::from(skinned)] };
    let fires = log.test("level", all(&[off, SPREAD / spread.max(1e-9)]));
    let frames = 0..take.frames();
    if fires && height > 0.0 && held_above_floor(take) {
        log.refute("level");
        let why = "a seat or a bar bears the body: its feet are above the floor";
        log.record_unfixed("level", frames, "m", own(take, height), why);
        return false;
    }
    if fires {
        frames.clone().for_each(|f| take.shift(f, &(Vec3::y() * -height)));
        log.record_fixed("level", None, frames, "m", [own(take, height), 0.0]);
    } else if off > 1.0 {
        let why = "contacts have no common height: stairs, a slope or a drift";
        log.record_unfixed("level", frames, "m", own(take, height), why);
    } else if !fires && least.abs() > REPORTED {
        let why = "feet of another build would explain it: only the heights of toes and ankles speak for it";
        log.record_unfixed("level", frames, "m", own(take, height), why);
    }
    fires
}

/// Whether something else than the feet bears the body ([`Footing::borne_by_seat_or_bar`](crate::contacts::Footing::borne_by_seat_or_bar)).
fn held_above_floor(take: &WorkingTake) -> bool {
    let joints = FootingJoints::of(&CharacterBody::new(&take.motion.character));
    joints.footing(&take.motion, &Timeline::of(&take.motion).shots()).borne_by_seat_or_bar
}

/// The height of the lowest point of the body in these frames, and in the rest pose.
fn lowest(take: &WorkingTake, frames: &[usize]) -> (Vec<f64>, f64) {
    let (skeleton, clip) = (take.motion.character.skeleton(), &take.motion.clip);
    let points = lowest_points(take);
    let height = |model: &ModelPose| {
        let height = |(joint, at): &(JointId, Vec3)| model.joint(*joint).point(at).y;
        points.iter().map(height).fold(f64::INFINITY, f64::min) * take.scale
    };
    let towards = Towards::new(skeleton, points.iter().map(|point| point.0));
    let scratch = || (skeleton.rest_pose(), skeleton.rest_model_pose());
    let at = |(pose, model): &mut (Pose, ModelPose), k: usize| {
        clip.read_pose(frames[k], pose);
        towards.set(pose, model);
        height(model)
    };
    (parallel::map_with(frames.len(), 1, scratch, at), height(&skeleton.rest_model_pose()))
}

/// The points that may be the lowest of a body: its soles where it has a skin, else the joints below the hips and
/// their tips.
fn lowest_points(take: &WorkingTake) -> Vec<(JointId, Vec3)> {
    let character = &take.motion.character;
    let rig = &character.rig;
    if !character.meshes.is_empty() {
        return CharacterBody::new(character).sole_points().map(|p| (p.joint, p.at)).collect();
    }
    let skeleton = rig.skeleton();
    let hips = rig.joint(Role::Hips).unwrap_or(JointId::new(0));
    let mut points = Vec::new();
    for id in skeleton.ids().filter(|id| skeleton.is_ancestor(hips, *id)) {
        points.push((id, Vec3::zeros()));
        points.extend(skeleton.joint(id).tip.map(|tip| (id, tip)));
    }
    points
}

/// The one nearer to 0; 0 where their signs differ.
fn nearer(a: f64, b: f64) -> f64 {
    if a * b <= 0.0 {
        0.0
    } else if a.abs() < b.abs() {
        a
    } else {
        b
    }
}

/// Median height of the lower one of the two ankles during its stances.
fn ankle(feet: &FootTrajectories, stances: &[Stance]) -> Option<f64> {
    let of_point = |k: usize| {
        let own = stances.iter().filter(|s| s.point == k).flat_map(|s| feet.at(s));
        let heights: Vec<f64> = own.map(|p| p.y).collect();
        (!heights.is_empty()).then(|| median(heights))
    };
    let ankles = (0..feet.points.len()).filter(|k| feet.points[*k].kind == PointKind::Ankle);
    ankles.filter_map(of_point).min_by(f64::total_cmp)
}
