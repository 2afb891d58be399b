//! Detects rotation spikes of one or two frames and interpolates them.
//!
//! The criterion of a value far from its neighbours in units of their deviation is Hampel's (1974). Units: degrees,
//! seconds.

use super::fault_log::{FaultLog, all};
use super::robust_statistics::median_around;
use super::working_take::WorkingTake;
use crate::math::{rotation_between, slerp};
use crate::signal::spans;

/// Least rotation out and back, degrees: at half of it real motions of toes and thumbs are changed...
const LEAST: f64 = 20.0;
/// ... and the least speed, degrees per second: fingers flick and toes strike by 30 degrees between two frames at 30
/// per second in hand-made clips.
const FASTEST: f64 = 1200.0;
/// Least multiple of the median step around.
const TIMES: f64 = 6.0;
/// Largest rotation between the frames on either side, as a share of the spike.
const BACK: f64 = 0.35;
/// Window of the median in seconds, and at least so many steps.
const AROUND: (f64, usize) = (0.15, 4);
/// The most frames of one spike.
const LONGEST: usize = 2;

/// Removes spikes, joint by joint.
pub(super) fn spikes(take: &mut WorkingTake, log: &mut FaultLog) {
    let (edges, reach) = (take.edges(), take.frames_in(AROUND.0, AROUND.1));
    let before = log.fixed.len();
    let least = LEAST.max(FASTEST * take.dt);
    log.test("spike", 0.0);
    // Shares from half of the limit are reported; few joints come near it.
    for k in take.leaps(LONGEST, 0.5 * least) {
        let steps: Vec<f64> = (0..edges).map(|e| take.steps(e)[k]).collect();
        let j = take.rotating[k];
        for length in 1..=LONGEST {
            for f in 1..take.frames() - length {
                let [out, back] = [f - 1, f + length - 1];
                let leap = take.steps(out)[k].min(take.steps(back)[k]);
                if leap < 0.5 * least {
                    continue;
                }
                let around = [out, back].map(|e| median_around(|k| steps[k], edges, e, reach));
                let apart = rotation_between(&take.rotation(f - 1, j), &take.rotation(f + length, j));
                let returns = BACK * leap / apart.to_degrees().max(1e-9);
                let times = leap / (TIMES * around[0].max(around[1])).max(1e-9);
                if !log.test("spike", all(&[leap / least, times, returns])) {
                    continue;
                }
                let (from, to) = (take.rotation(f - 1, j), take.rotation(f + length, j));
                for i in 0..length {
                    take.set_rotation(f + i, j, slerp(&from, &to, (i + 1) as f64 / (length + 1) as f64));
                }
                take.measure(f..f + length);
                let after = take.steps(out)[k].max(take.steps(back)[k]);
                log.record_fixed("spike", Some(take.name(j)), f..f + length, "deg", [leap, after]);
            }
        }
    }
    if log.fixed.len() > before {
        take.fix_signs();
    }
}

/// Least steps of a joint that rotates the long way around, degrees: half a circle and more within a few frames.
const WRAPPED: f64 = 40.0;
/// The most frames between two recorded ones that an interpolation across +-180 degrees fills.
const BETWEEN: usize = 6;
/// Largest difference of the path around from a full circle less the rotation between the frames on either side, degrees.
const FULL_CIRCLE: f64 = 40.0;

/// Interpolates joints anew that were interpolated across the jump of an angle from 180 to -180 degrees: they wrap the long way
/// around within a few frames.
pub(super) fn wraps(take: &mut WorkingTake, log: &mut FaultLog) {
    log.test("wrap", 0.0);
    let mut changed = false;
    for k in take.leaps(1, WRAPPED) {
        let j = take.rotating[k];
        for wrap in spans(0..take.edges(), |e| take.steps(e)[k] >= WRAPPED) {
            if wrap.len() < 3 || wrap.len() > BETWEEN + 1 {
                continue;
            }
            let (from, to) = (take.rotation(wrap.start, j), take.rotation(wrap.end, j));
            let path: f64 = wrap.clone().map(|e| take.steps(e)[k]).sum();
            let apart = rotation_between(&from, &to).to_degrees();
            let off = (path - (360.0 - apart)).abs();
            if !log.test("wrap", all(&[FULL_CIRCLE / off.max(1e-9), WRAPPED / apart.max(1e-9)])) {
                continue;
            }
            let before = wrap.clone().map(|e| take.steps(e)[k]).fold(0.0, f64::max);
            for f in wrap.start + 1..wrap.end {
                let share = (f - wrap.start) as f64 / wrap.len() as f64;
                take.set_rotation(f, j, slerp(&from, &to, share));
            }
            take.measure(wrap.start + 1..wrap.end);
            let after = wrap.clone().map(|e| take.steps(e)[k]).fold(0.0, f64::max);
            let frames = wrap.start + 1..wrap.end;
            log.record_fixed("wrap", Some(take.name(j)), frames, "deg", [before, after]);
            changed = true;
        }
    }
    if changed {
        take.fix_signs();
    }
}

/// Least leap that is reported, degrees, and least speed, degrees per second: 11 clean takes at 120 to 15 Hz have 11 such leaps of
/// 10 degrees, all of toes and fingers.
const POP: (f64, f64) = (10.0, 300.0);
/// The longest pop, seconds.
const POP_LASTS: f64 = 0.07;

/// Reports joints that leap and return within a few frames, by less than a spike: a glitch or a quick motion.
pub(super) fn pops(take: &WorkingTake, log: &mut FaultLog) {
    let (edges, reach) = (take.edges(), take.frames_in(AROUND.0, AROUND.1));
    let least = POP.0.max(POP.1 * take.dt);
    let longest = take.frames_in(POP_LASTS, 1);
    let mut found = Vec::new();
    for k in take.leaps(longest, least) {
        let j = take.rotating[k];
        let around = |e: usize| median_around(|e| take.steps(e)[k], edges, e, reach);
        let mut next = 1;
        for f in 1..take.frames() {
            if f < next || take.steps(f - 1)[k] < least {
                continue;
            }
            let pop = (1..=longest).take_while(|length| f + length <= edges).find(|length| {
                let back = f + length - 1;
                let leap = take.steps(f - 1)[k].min(take.steps(back)[k]);
                let apart = rotation_between(&take.rotation(f - 1, j), &take.rotation(f + length, j));
                leap >= least
                    && apart.to_degrees() <= BACK * leap
                    && leap >= TIMES * around(f - 1).max(around(back))
            });
            if let Some(length) = pop {
                found.push((f..f + length, take.name(j), take.steps(f - 1)[k]));
                next = f + length + 1;
            }
        }
    }
    // By time: the order of joints differs between a body and its mirror image.
    found.sort_by_key(|pop| (pop.0.start, pop.0.end));
    for (frames, joint, size) in found {
        let why = "it leaps and returns: a glitch, or a quick motion";
        log.record_doubtful("spike", joint, frames, "deg", size, why);
    }
}
