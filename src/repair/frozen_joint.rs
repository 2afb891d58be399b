//! Detects joints that freeze while the body goes on, and interpolates them.
//!
//! A lost marker or sensor repeats its last rotation until it is found again: exact repetition, although the body moves, and a
//! step by which the joint catches up. A joint that rests has no such step. A tracker loses a limb, an animator holds a joint by
//! its keys: a joint that freezes alone is reported and left, and so is the end of a limb whose first joint does not catch up.
//! Units: degrees, seconds.

use super::fault_log::{FaultLog, all};
use super::held_frames::bridge_joint;
use super::working_take::{EDGES_PER_TASK, STILL, WorkingTake};
use crate::math::median;
use crate::model::JointId;
use crate::parallel;
use crate::signal::spans;
use std::ops::Range;

/// Least time of a freeze, seconds: shorter ones are held frames or rest, and move nothing.
const SHORTEST: f64 = 0.1;
/// Longest time that is filled, seconds: what happened in a longer one is unknown.
const LONGEST: f64 = 0.55;
/// The step that catches up, degrees: 11 clean takes have one frozen joint, whose step is 0.01 degrees...
const CATCHES_UP: f64 = 1.0;
/// ... and its least multiple of the median step around.
const TIMES: f64 = 4.0;
/// Steps on either side of which the median is taken.
const AROUND: usize = 4;
/// Least mean step of all joints meanwhile, degrees: the body goes on.
const GOES_ON: f64 = 0.02;

/// Interpolates frozen joints.
pub(super) fn frozen(take: &mut WorkingTake, log: &mut FaultLog) {
    log.test("frozen", 0.0);
    let edges = take.edges();
    let of_joint = |&k: &usize| -> Vec<(usize, Range<usize>, f64, f64)> {
        let still = spans(0..edges, |e| take.steps(e)[k] < STILL).into_iter();
        let long = still.filter(|s| s.start > 0 && s.end < edges && s.len() as f64 * take.dt >= SHORTEST);
        let share = |span: Range<usize>| {
            let step = take.steps(span.end)[k];
            let around = (span.start.saturating_sub(AROUND)..span.start)
                .chain(span.end + 1..(span.end + 1 + AROUND).min(edges));
            let around: Vec<f64> = around.map(|e| take.steps(e)[k]).filter(|s| *s >= STILL).collect();
            let usual = if around.is_empty() { f64::INFINITY } else { median(around) };
            let going = span.clone().map(|e| take.mean_step(e)).sum::<f64>() / span.len() as f64;
            let share = all(&[step / CATCHES_UP, step / (TIMES * usual), going / GOES_ON]);
            (k, span, step, share)
        };
        long.map(share).collect()
    };
    let slow = take.joints_with(|smallest, _| smallest < STILL);
    let found = parallel::map_each(&slow, 1 + EDGES_PER_TASK / edges, of_joint);
    let found: Vec<_> = found.into_iter().flatten().filter(|found| log.test("frozen", found.3)).collect();
    // All reasons before anything is interpolated: the joints of a limb are witnesses for each other.
    let reasons: Vec<Option<&str>> =
        found.iter().map(|(k, span, ..)| why_left(take, *k, span, &found)).collect();
    let mut changed = false;
    for ((k, span, step, _), why) in found.into_iter().zip(reasons) {
        let (j, frames) = (take.rotating[k], span.start + 1..span.end + 1);
        if let Some(why) = why {
            log.refute("frozen");
            log.record_doubtful("frozen", take.name(j), frames, "deg", step, why);
            continue;
        }
        bridge_joint(take, j, &frames);
        take.measure(frames.clone());
        let after = (frames.start - 1..frames.end).map(|e| take.steps(e)[k]).fold(0.0, f64::max);
        log.record_fixed("frozen", Some(take.name(j)), frames, "deg", [step, after]);
        changed = true;
    }
    if changed {
        take.fix_signs();
    }
}

/// Why a joint that freezes over these steps is left as it is, if it is.
fn why_left(
    take: &WorkingTake,
    k: usize,
    span: &Range<usize>,
    found: &[(usize, Range<usize>, f64, f64)],
) -> Option<&'static str> {
    if span.len() as f64 * take.dt > LONGEST {
        return Some(
            "the joint repeats one rotation and then catches up: what it did for so long is not known",
        );
    }
    let freezes = |k: usize| {
        let moves = |e: usize| take.steps(e)[k] >= STILL;
        !span.clone().any(moves) && moves(span.start - 1) && moves(span.end)
    };
    let skeleton = take.motion.character.skeleton();
    let parent = |k: usize| {
        let parent = skeleton.parent(JointId::new(take.rotating[k]))?.index();
        take.rotating.iter().position(|j| *j == parent)
    };
    let mut first = k;
    while let Some(above) = parent(first).filter(|above| freezes(*above)) {
        first = above;
    }
    if first == k && !(0..take.rotating.len()).any(|child| parent(child) == Some(k) && freezes(child)) {
        return Some("the joint alone repeats one rotation and then catches up: held by its keys, or lost");
    }
    let catches_up = found.iter().any(|(k, own, ..)| *k == first && own == span);
    (!catches_up).then_some(
        "the limb repeats its rotations and does not catch up from its first joint on: held, or lost",
    )
}
