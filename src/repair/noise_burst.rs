//! Reports joints that tremble for a while: white noise within a window, far above the joint's own noise elsewhere.
//!
//! Nothing is changed: quick motion at a low rate looks the same, and what the joint did meanwhile is not known. Units: degrees,
//! seconds.

use super::fault_log::FaultLog;
use super::working_take::WorkingTake;
use crate::math::median;
use crate::parallel;
use crate::signal::{WhiteNoise, may_exceed};
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
/// Least ratio of both estimates of the noise: 1 for white noise.
const WHITE: f64 = 0.7;
/// Least ratio of the estimates by the lowest tenth and by the quiet quarter: 1 for noise.
const ALWAYS: f64 = 0.2;

/// Reports bursts of noise.
pub(super) fn bursts(take: &WorkingTake, cut: &[bool], log: &mut FaultLog) {
    let length = take.frames_in(WINDOW.0, WINDOW.1);
    let least = LEAST * (SURE_RATE * take.dt).max(1.0).powi(2);
    let starts: Vec<usize> = (0..=take.frames().saturating_sub(length)).step_by(length / 2).collect();
    if starts.len() < FEWEST {
        return;
    }
    let of_joint = |j: &usize| -> Option<(usize, Range<usize>, f64)> {
        let at = |f: usize| -> [f64; 4] { take.rotation(f, *j).coords.into() };
        let rotations: Vec<[f64; 4]> = (0..take.frames()).map(at).collect();
        // Almost no joint comes near the limit.
        if !may_exceed(&rotations, length, 0.25 * least.to_radians()) {
            return None;
        }
        let noise = |start: &usize| WhiteNoise::of(&rotations[*start..start + length]);
        let noises: Vec<WhiteNoise> = starts.iter().map(noise).collect();
        let degrees: Vec<f64> = noises.iter().map(|n| 2.0 * (2.0 * n.by_sixth).to_degrees()).collect();
        let usual = median(degrees.clone());
        let mut found: Option<(usize, Range<usize>, f64)> = None;
        for ((start, noise), size) in starts.iter().zip(&noises).zip(degrees) {
            let frames = *start..start + length;
            let trembles = size > least && size > TIMES * usual;
            let white = noise.whiteness() > WHITE && noise.always > ALWAYS;
            if trembles && white && !frames.clone().skip(1).any(|f| cut[f - 1]) {
                let (_, all, most) = found.get_or_insert((*j, frames.clone(), size));
                (all.end, *most) = (frames.end, most.max(size));
            }
        }
        found
    };
    let mut found: Vec<_> = parallel::map_each(&take.rotating, 1, of_joint).into_iter().flatten().collect();
    found.sort_by_key(|(_, frames, _)| (frames.start, frames.end));
    for (j, frames, size) in found {
        let why = "it trembles for a while: noise, or motion too quick for the rate";
        log.record_doubtful("noise", take.name(j), frames, "deg", size, why);
    }
}
