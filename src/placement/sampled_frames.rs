//! The frames of a clip for which arms are solved: corrections are slow, so where a second has many frames only some are solved.
//!
//! Every `step`-th frame of the clip is sampled, counted from its first. Between sampled frames of a shot states follow a cubic through
//! the four around them (Catmull and Rom 1974), beyond the last one a line. Units: frames, radians.

use super::arm_equations::{BothArms, SolvedArms};
use crate::kinematics::is_cycle;
use crate::model::Motion;
use std::ops::Range;

/// Sampled frames per second, at least: 18 times the rate beyond which corrections are damped. Of 96 results at 120 Hz no measure of
/// arms changes in the mean by more than a fiftieth; with 30 one arm passes through the body in two more frames of a hundred.
const RATE: f64 = 40.0;

/// The frames that are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledFrames {
    step: usize,
}

impl SampledFrames {
    /// Those of a clip. In a cycle the last sampled frame is followed by the first at the same distance.
    pub fn of(motion: &Motion) -> SampledFrames {
        let most = ((motion.clip.sample_rate / RATE) as usize).max(1);
        let period = motion.clip.frames().saturating_sub(1);
        let closes = |step: &usize| period.is_multiple_of(*step);
        let step = match most > 1 && is_cycle(motion) {
            true => (1..=most).rev().find(closes).unwrap_or(1),
            false => most,
        };
        SampledFrames { step }
    }

    /// The distance between them, frames of the clip.
    pub fn step(self) -> usize {
        self.step
    }

    /// Sampled frames per second of a clip at this rate.
    pub fn rate(self, of_clip: f64) -> f64 {
        of_clip / self.step as f64
    }

    /// The frame of the clip that a sampled frame is.
    pub fn frame(self, sampled: usize) -> usize {
        sampled * self.step
    }

    /// The sampled frames among these of the clip.
    pub fn within(self, frames: &Range<usize>) -> Range<usize> {
        frames.start.div_ceil(self.step)..frames.end.div_ceil(self.step)
    }

    /// Whether a cycle of so many frames is one of sampled frames.
    pub fn closes(self, period: usize) -> bool {
        period.is_multiple_of(self.step)
    }

    /// The states of all frames of a shot from those of its sampled frames; zero in a shot that is too short to have one.
    pub fn interpolated(self, solved: &[SolvedArms], shot: Range<usize>, cycle: bool) -> Vec<SolvedArms> {
        let within = self.within(&shot);
        let [first, last] = match within.len() {
            0 => return vec![SolvedArms::default(); shot.len()],
            _ => [within.start, within.end - 1],
        };
        let state = |k: usize| solved[k].state;
        let beyond = |end: usize, next: usize| combined([2.0, -1.0], [state(end), state(next)]);
        shot.map(|f| {
            let k = (f / self.step).clamp(first, last.max(first + 1) - 1);
            let at = (f as f64 - self.frame(k) as f64) / self.step as f64;
            if at == 0.0 || first == last {
                return solved[k];
            }
            let before = match k > first {
                true => state(k - 1),
                false if cycle => state(last - 1),
                false => beyond(k, k + 1),
            };
            let after = match k + 2 <= last {
                true => state(k + 2),
                false if cycle => state(first + 1),
                false => beyond(k + 1, k),
            };
            // Beyond the ends a line.
            let weights = if (0.0..=1.0).contains(&at) { cubic(at) } else { [0.0, 1.0 - at, at, 0.0] };
            SolvedArms {
                state: combined(weights, [before, state(k), state(k + 1), after]),
                missed: solved[k].missed.max(solved[k + 1].missed),
            }
        })
        .collect()
    }
}

/// The weights of four values in equal distances for one that is `at` between the second, 0, and the third, 1.
fn cubic(at: f64) -> [f64; 4] {
    let [square, cube] = [at * at, at * at * at];
    [2.0 * square - at - cube, 2.0 - 5.0 * square + 3.0 * cube, at + 4.0 * square - 3.0 * cube, cube - square]
        .map(|x| 0.5 * x)
}

fn combined<const N: usize>(weights: [f64; N], states: [BothArms; N]) -> BothArms {
    std::array::from_fn(|i| weights.iter().zip(&states).map(|(w, state)| w * state[i]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(of: impl Fn(f64) -> f64, count: usize, step: usize) -> Vec<SolvedArms> {
        let state = |k: usize| std::array::from_fn(|i| of((k * step) as f64) + i as f64);
        (0..count).map(|k| SolvedArms { state: state(k), missed: k as f64 }).collect()
    }

    #[test]
    fn curves_of_second_degree_are_kept_and_ends_are_lines() {
        let sampled = SampledFrames { step: 3 };
        let curve = |f: f64| 0.01 * f * f - 0.2 * f;
        // Frames 3, 6, .. 18 of the shot are sampled.
        let found = sampled.interpolated(&states(curve, 7, 3), 1..21, false);
        assert_eq!(found.len(), 20);
        for (f, found) in (1..21).zip(&found) {
            let at = f as f64;
            let expected = match f {
                ..3 => curve(3.0) + (at - 3.0) * (curve(6.0) - curve(3.0)) / 3.0,
                6..=15 => curve(at),
                18.. => curve(18.0) + (at - 18.0) * (curve(18.0) - curve(15.0)) / 3.0,
                // Beside an end the curve is bent less.
                _ => found.state[0],
            };
            assert!((found.state[0] - expected).abs() < 1e-12, "{f}: {} {expected}", found.state[0]);
            assert!((found.state[7] - found.state[0] - 7.0).abs() < 1e-12);
            assert!((found.state[0] - curve(at)).abs() < 0.2, "{f}: {}", found.state[0]);
        }
        assert_eq!(sampled.interpolated(&states(curve, 7, 3), 4..6, false)[0].state, [0.0; 8]);
        let alone = sampled.interpolated(&states(curve, 7, 3), 5..8, false);
        assert!(alone.iter().all(|found| found.state[0] == curve(6.0)));
    }

    #[test]
    fn a_cycle_has_no_ends() {
        let sampled = SampledFrames { step: 2 };
        let wave = |f: f64| libm::sin(std::f64::consts::TAU * f / 20.0);
        let found = sampled.interpolated(&states(wave, 11, 2), 0..21, true);
        // As far from the wave beside the seam as in its middle.
        let off = |f: usize| found[f].state[0] - wave(f as f64);
        assert!((off(1) + off(11)).abs() < 1e-12 && off(1).abs() < 0.01, "{} {}", off(1), off(11));
        assert!((off(19) + off(9)).abs() < 1e-12);
    }
}
