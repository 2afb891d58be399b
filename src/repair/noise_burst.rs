//! Reports joints that tremble for a while: white noise within a window, far above the joint's own noise elsewhere.
//!
//! Nothing is changed: quick motion at a low rate looks the same, and what the joint did meanwhile is not known. Units: degrees,
//! seconds.

use super::fault_log::FaultLog;
use super::working_take::WorkingTake;
use crate::math::median;
use crate::parallel;
use crate::signal::{LEAST_WHITENESS, SquaredDifferences, WhiteNoise};
use std::ops::Range;

/// Length of a window, seconds, and least frames of it; windows overlap by half.
const WINDOW: (f64, usize) = (0.4, 18);
/// Least windows of a take: with fewer, a joint has no noise of its own to compare with.
const FEWEST: usize = 6;
/// Least noise of a burst, degrees, at rates from [`SURE_RATE`] on; clean takes at 100 and 120 Hz have up to 1.6.
const LEAST: f64 = 2.0;
/// At lower rates the limit grows with the square of the time of a frame, as what accelerations leave in differences does.
pub(super) const SURE_RATE: f64 = 48.0;
/// Least multiple of the joint's median over all windows.
const TIMES: f64 = 10.0;
/// Least ratio of the estimates by the lowest tenth and by the quiet quarter: 1 for noise.
const ALWAYS: f64 = 0.2;

/// Frames of a window, and the least noise of a burst, degrees.
fn window(take: &WorkingTake) -> (usize, f64) {
    (take.frames_in(WINDOW.0, WINDOW.1), LEAST * (SURE_RATE * take.dt).max(1.0).powi(2))
}

/// Whether a joint with these differences of its rotations may have a burst: almost none comes near the limit.
pub(super) fn may_tremble(take: &WorkingTake, differences: &SquaredDifferences<4>) -> bool {
    let (length, least) = window(take);
    differences.may_exceed(length, 0.25 * least.to_radians())
}

/// Reports bursts of noise. `trembling` says which of the rotating joints may have one, if that is known.
pub(super) fn bursts(take: &WorkingTake, cut: &[bool], trembling: Option<Vec<bool>>, log: &mut FaultLog) {
    let (length, least) = window(take);
    let starts: Vec<usize> = (0..=take.frames().saturating_sub(length)).step_by(length / 2).collect();
    if starts.len() < FEWEST {
        return;
    }
    let all = 0..take.frames();
    let trembling =
        trembling.unwrap_or_else(|| take.map_differences(&all, |differences| may_tremble(take, differences)));
    let trembling: Vec<usize> =
        take.rotating.iter().zip(trembling).filter(|(_, may)| *may).map(|(j, _)| *j).collect();
    let of_joint = |j: &usize| -> Option<(usize, Range<usize>, f64)> {
        let rotations = take.rotations(&all, *j);
        let noise = |start: &usize| WhiteNoise::of(&rotations[*start..start + length]);
        let noises: Vec<WhiteNoise> = starts.iter().map(noise).collect();
        let degrees: Vec<f64> = noises.iter().map(|n| 2.0 * (2.0 * n.by_sixth).to_degrees()).collect();
        let usual = median(degrees.clone());
        let mut found: Option<(usize, Range<usize>, f64)> = None;
        for ((start, noise), size) in starts.iter().zip(&noises).zip(degrees) {
            let frames = *start..start + length;
            let trembles = size > least && size > TIMES * usual;
            let white = noise.whiteness() > LEAST_WHITENESS && noise.always > ALWAYS;
            if trembles && white && !frames.clone().skip(1).any(|f| cut[f - 1]) {
                let (_, all, most) = found.get_or_insert((*j, frames.clone(), size));
                (all.end, *most) = (frames.end, most.max(size));
            }
        }
        found
    };
    let mut found: Vec<_> = parallel::map_each(&trembling, 1, of_joint).into_iter().flatten().collect();
    found.sort_by_key(|(_, frames, _)| (frames.start, frames.end));
    for (j, frames, size) in found {
        let why = "it trembles for a while: noise, or motion too quick for the rate";
        log.record_doubtful("noise", take.name(j), frames, "deg", size, why);
    }
}
