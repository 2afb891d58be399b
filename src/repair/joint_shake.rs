//! Reports joints that shake for a few tenths of a second: they turn back at most frames, as noise does and no limb.
//!
//! Differences of white noise have a correlation of -0.5 with the next ones, those of motion up to 1. The test needs fewer frames than
//! that of [`noise_burst`](super::noise_burst), and larger noise. Nothing is changed: what the joint did meanwhile is not known. Units:
//! degrees, seconds.

use super::fault_log::FaultLog;
use super::working_take::WorkingTake;
use crate::math::median;
use crate::parallel;
use std::ops::Range;

/// Length of a window, seconds, and least steps of it.
const WINDOW: (f64, usize) = (0.3, 8);
/// Least root mean square of the steps, degrees: noise of 4 degrees. Toes of clean takes reach 4.5 as they strike.
const LEAST: f64 = 5.5;
/// Least multiple of the joint's median change of step over the take: toes and fingers at 60 Hz, whose other measures are those of noise,
/// reach 6.3, and none of 169 clips has all measures with 6; noise of 6 degrees on an arm has mostly 10 and more.
const TIMES: f64 = 8.0;
/// Largest correlation of a step with the next one. Noise over a slow motion reaches it; motion alone, mostly -0.2.
const CORRELATION: f64 = -0.3;
/// Least share of steps that are followed by one back: in noise two of three are.
const BACK: f64 = 0.55;
/// Largest share of one step in the sum of squares: a spike has two of a half. Toes at 15 Hz that pass all other limits have 0.57.
const ONE: f64 = 0.45;

/// Reports joints that shake and that no other test of noise has reported there.
pub(super) fn shakes(take: &WorkingTake, cut: &[bool], log: &mut FaultLog) {
    let length = ((WINDOW.0 / take.dt).round() as usize).max(WINDOW.1);
    let columns = take.joints_with(|_, largest| largest > LEAST);
    let of_joint = |k: &usize| shake(take, cut, *k, length);
    let mut found: Vec<_> = parallel::map_each(&columns, 1, of_joint).into_iter().flatten().collect();
    // By time: the order of joints differs between a body and its mirror image.
    found.sort_by_key(|(_, frames, _)| (frames.start, frames.end));
    for (k, frames, size) in found {
        let name = take.name(take.rotating[k]);
        let known = log.left.iter().any(|f| {
            f.fault == "noise"
                && f.joint.as_ref() == Some(&name)
                && f.frames[0] < frames.end
                && frames.start < f.frames[1]
        });
        if !known {
            let why = "it shakes for a moment: noise, or motion too quick for the rate";
            log.record_doubtful("noise", name, frames, "deg", size, why);
        }
    }
}

/// The column `k`, with the frames over which its joint shakes and the noise in degrees.
fn shake(take: &WorkingTake, cut: &[bool], k: usize, length: usize) -> Vec<(usize, Range<usize>, f64)> {
    let (edges, j) = (take.edges(), take.rotating[k]);
    let square = |e: usize| take.steps(e)[k].powi(2);
    let least = length as f64 * LEAST.powi(2);
    let large = |first: &usize| (*first..first + length).map(square).sum::<f64>() > least;
    let windows: Vec<usize> = (0..edges.saturating_sub(length)).filter(large).collect();
    if windows.is_empty() {
        return Vec::new();
    }
    // Chords of unit quaternions stand for rotation vectors: half of them for small ones.
    let chord = |e: usize| take.rotation(e + 1, j).coords - take.rotation(e, j).coords;
    let changes = (0..edges - 1).map(|e| 2.0 * (chord(e + 1) - chord(e)).norm().to_degrees());
    let usual = median(changes.collect());
    let shakes = |first: &usize| {
        let steps = *first..first + length;
        let sum: f64 = steps.clone().map(square).sum();
        let chords = steps.clone().map(|e| chord(e).norm_squared()).sum::<f64>();
        let products: Vec<f64> = steps.clone().map(|e| chord(e).dot(&chord(e + 1))).collect();
        let back = products.iter().filter(|product| **product < 0.0).count() as f64;
        let largest = steps.clone().map(square).fold(0.0, f64::max);
        sum > length as f64 * (TIMES * usual).powi(2)
            && products.iter().sum::<f64>() < CORRELATION * chords
            && back > BACK * length as f64
            && largest < ONE * sum
            && !steps.clone().any(|e| cut[e])
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for first in windows.into_iter().filter(shakes) {
        match found.last_mut() {
            Some(last) if first < last.end => last.end = first + length + 1,
            _ => found.push(first..first + length + 1),
        }
    }
    // The variance of a difference is twice that of the noise.
    let noise = |frames: &Range<usize>| {
        let squares = (frames.start..frames.end - 1).map(square).sum::<f64>();
        (0.5 * squares / (frames.len() - 1) as f64).sqrt()
    };
    found.into_iter().map(|frames| (k, frames.clone(), noise(&frames))).collect()
}
