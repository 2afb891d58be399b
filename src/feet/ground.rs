//! A motion that floats, sinks or drifts becomes one over a ground of known height, with nothing in it.
//!
//! What rests tells by how much the ground of every moment is missed. Through these misses goes a slow curve, robust
//! against wrong labels (iteratively reweighted least squares with Cauchy weights `1 / (1 + (r / c)^2)`); the whole
//! body is moved by it. Then knees that are in the floor lift the body, and feet and hands in it are lifted by their
//! limbs, in frames in which they do not rest. Space: model space, Y up. Units: metres, hertz.

use super::closure::{close, knee_direction};
use super::foot::{changes, floor_under};
use super::leg::{Change, Leg, Step, read};
use super::lock::{Held, Locks};
use super::plant::{Options, TRANSITION};
use super::ramp::envelope;
use super::write::write;
use crate::anatomy::{Figure, contact_points};
use crate::kinematics::map_frames;
use crate::math::Vec3;
use crate::model::{Character, ContactPart, ContactPoint, Contacts, ModelPose, Motion};
use crate::signal::{Difference, whittaker, whittaker_penalty};
use rayon::prelude::*;

/// Drift is what is slower than this, hertz: a walk up and down within ten seconds is no drift.
const DRIFT: f64 = 0.1;

/// Misses much greater than this are taken for wrong labels, metres.
const OUTLIER: f64 = 0.02;

/// What was done to a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GroundWork {
    /// The mean way of the body, upwards, in metres.
    pub lifted: f64,
    /// The difference between its greatest and its least.
    pub drift: f64,
    /// The most that knees lifted the body out of the floor.
    pub knees: f64,
    /// The most that a foot or a hand was lifted out of it.
    pub limbs: f64,
}

/// The motion over a ground at `height`, and what was done; `contacts` say what rests.
pub fn ground(motion: &Motion, contacts: &Contacts, height: f64) -> (Motion, GroundWork) {
    let frames = motion.clip.frames();
    let points = contact_points(&motion.character, &motion.character.rig);
    if frames == 0 || points.is_empty() {
        return (motion.clone(), GroundWork::default());
    }
    let rate = motion.clip.sample_rate;
    let [reach, blend] = [TRANSITION, Options::default().blend].map(|seconds| (seconds * rate).max(1.0));
    let heights = heights(motion, &points);
    let mut offset = misses(contacts, &points, &heights, rate);
    let rise = height - contacts.ground;
    offset.iter_mut().for_each(|d| *d = rise - *d);
    let contacts = contacts.changed(|f| f, |h| h + rise);
    let mut work = GroundWork { lifted: offset.iter().sum::<f64>() / frames as f64, ..GroundWork::default() };
    let range = |a: (f64, f64), x: &f64| (a.0.min(*x), a.1.max(*x));
    let (low, high) = offset.iter().fold((f64::INFINITY, f64::NEG_INFINITY), range);
    work.drift = high - low;

    // A knee has no lock: where it rests the body comes up as well.
    let knees = points.iter().zip(&heights).filter(|(p, _)| matches!(p.part, ContactPart::Knee(_)));
    for (_, heights) in knees {
        let needed: Vec<f64> = (0..frames).map(|f| (height - heights[f] - offset[f]).max(0.0)).collect();
        let lift = envelope(&needed, |_| false, blend as usize);
        offset.iter_mut().zip(&lift).for_each(|(d, lift)| *d += lift);
        work.knees = lift.iter().copied().fold(work.knees, f64::max);
    }
    let clip = write(motion, &[], &[], &offset, |f| offset[f].abs() < 1e-12);
    let lifted = Motion { clip, contacts: Some(contacts), ..motion.clone() };
    let (result, limbs) = out_of_floor(lifted, [reach, blend]);
    work.limbs = limbs;
    (result, work)
}

/// The height of the surface of every point in every frame.
fn heights(motion: &Motion, points: &[ContactPoint]) -> Vec<Vec<f64>> {
    let of = |model: &ModelPose| -> Vec<f64> {
        points.iter().map(|p| model.joint(p.joint).point(&p.at).y - p.radius).collect()
    };
    let frames = map_frames(motion.character.skeleton(), &motion.clip, of);
    (0..points.len()).map(|k| frames.iter().map(|heights| heights[k]).collect()).collect()
}

/// By how much what rests is above its ground, as a slow curve over all frames.
fn misses(contacts: &Contacts, points: &[ContactPoint], heights: &[Vec<f64>], rate: f64) -> Vec<f64> {
    let frames = heights[0].len();
    let (mut lowest, mut known) = (vec![f64::INFINITY; frames], vec![0.0; frames]);
    for (point, heights) in points.iter().zip(heights).filter(|(p, _)| p.part.of_foot()) {
        for hold in contacts.holds(point.part) {
            for f in hold.frames.start..hold.frames.end.min(frames) {
                lowest[f] = lowest[f].min(heights[f] - hold.height);
                known[f] = 1.0;
            }
        }
    }
    let values: Vec<f64> = lowest.iter().map(|x| if x.is_finite() { *x } else { 0.0 }).collect();
    let penalty = whittaker_penalty(Difference::Second, DRIFT, rate);
    let mut weights = known.clone();
    let mut curve = vec![0.0; frames];
    for _ in 0..6 {
        curve = whittaker(Difference::Second, &weights, &values, penalty);
        let misfits = values.iter().zip(&curve).map(|(y, x)| (y - x) / OUTLIER);
        for ((weight, known), misfit) in weights.iter_mut().zip(&known).zip(misfits) {
            *weight = known / (1.0 + misfit * misfit);
        }
    }
    curve
}

/// The motion with feet and hands out of the floor where they do not rest, and the most that one was lifted; as
/// [`changes`] has it, in frames.
fn out_of_floor(motion: Motion, [reach, blend]: [f64; 2]) -> (Motion, f64) {
    let legs = Leg::of(&motion.character);
    let arms = Leg::arms(&motion.character);
    let limbs: Vec<Leg> = legs.iter().cloned().chain(arms.iter().map(|a| a.0.clone())).collect();
    let Some(contacts) = motion.contacts.as_ref().filter(|_| !limbs.is_empty()) else { return (motion, 0.0) };
    let steps = read(&motion, &limbs);
    let frames = motion.clip.frames();
    let mut changed: Vec<Vec<Change>> = Vec::new();
    for (k, (leg, steps)) in limbs.iter().zip(&steps).enumerate() {
        let arm = k.checked_sub(legs.len()).map(|k| &arms[k]);
        let free = Locks { heel: Vec::new(), ball: Vec::new(), held: vec![Held::Free; frames] };
        let (rests, floor): (Vec<bool>, Vec<f64>) = match arm {
            Some((_, radius)) => {
                let rests = (0..frames).map(|f| contacts.rests(ContactPart::Hand(leg.side), f)).collect();
                (rests, vec![contacts.ground + radius; frames])
            }
            None => {
                let soles: Vec<_> = steps.iter().map(|s| leg.sole(s)).collect();
                let locks = Locks::of(leg, contacts, &soles);
                let floor = floor_under(&locks, contacts.ground);
                (locks.held.iter().map(|h| *h != Held::Free).collect(), floor)
            }
        };
        // Under what rests there is no floor: it is up to its lock.
        let floor: Vec<f64> =
            floor.iter().zip(&rests).map(|(g, rests)| if *rests { f64::NEG_INFINITY } else { *g }).collect();
        changed.push(changes(leg, steps, &free, &floor, [reach, blend]));
    }
    let mut most = 0.0_f64;
    let mut closed: Vec<Vec<(Step, f64)>> = Vec::new();
    for ((leg, steps), changes) in limbs.iter().zip(&steps).zip(&changed) {
        let ahead = knee_direction(leg, steps);
        most = changes.iter().map(|c| c.shift.y).fold(most, f64::max);
        let one = |(step, change): (&Step, &Change)| close(leg, step, change, &Vec3::zeros(), &ahead, 0.0);
        closed.push(steps.par_iter().zip(changes).map(one).collect());
    }
    let still = |f: usize| changed.iter().all(|c| c[f] == Change::default());
    let clip = write(&motion, &limbs, &closed, &vec![0.0; frames], still);
    (Motion { clip, ..motion.clone() }, most)
}

/// The height that a character stands on in its own file: that of its soles where it stands upright; 0 of a body
/// without soles or without a file, whose ground is the zero of its world.
pub fn own_ground(character: &Character) -> f64 {
    let stand = character.calibration_pose();
    let upright = Figure::of(&character.rig, &stand).is_some_and(|f| f.up.y > 0.9);
    if character.document.is_none() || !upright {
        return 0.0;
    }
    let points = contact_points(character, &character.rig);
    let soles = points.iter().filter(|p| p.part.of_foot()).map(|p| stand.joint(p.joint).point(&p.at).y);
    soles.min_by(f64::total_cmp).unwrap_or(0.0)
}
