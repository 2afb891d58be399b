//! Solves the rotation about a bone over all frames at once.
//!
//! The unknown is one angle per frame. It is drawn to measured angles (capped, so that a false side has no force) and to a
//! neutral angle, kept within the reach of the joint, and it changes little against a given transport. The global optimum on
//! a grid of angles is found by dynamic programming (Bellman 1957), then refined by Newton steps with a penalty on second
//! differences. No initial guess, so no flips. Units: radians, seconds.

use crate::math::in_wide_registers;
use crate::signal::{BEND, Bands};
use std::f64::consts::{PI, TAU};

/// Measured angles with their weights, one per frame: the inverse of a variance, in rad^-2.
pub(super) struct TwistEvidence {
    pub(super) angles: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

/// The task.
pub(super) struct TwistProblem<'a> {
    pub(super) evidence: &'a [TwistEvidence],
    /// Change of the angle from each frame to the next that is no rotation of the bone; one less than frames.
    pub(super) transport: &'a [f64],
    /// The neutral angle of each frame.
    pub(super) neutral: &'a [f64],
    /// The weight of the neutral angle.
    pub(super) neutral_weight: f64,
    /// The largest distance from the neutral angle without a penalty.
    pub(super) reach: f64,
    /// Seconds per frame.
    pub(super) dt: f64,
    /// Noise of the points, metres.
    pub(super) noise: f64,
}

/// Angles of the grid: 4 degrees, less than the error of a measured angle; Newton refines them.
const GRID: usize = 90;
/// From one angle of the grid to the next.
const SPACING: f64 = TAU / GRID as f64;
/// Cost at which a measured angle is no longer believed: that at 90 degrees. Half or double of it changes means by
/// less than 1.3 degrees.
const CAP: f64 = 1.0;
/// Penalty of the square of the distance beyond reach, rad^-2: soft against the weight 205 of a measured angle.
const BEYOND_REACH: f64 = 20.0;
/// Usual change of the angle, rad per root of a second; half or double of it changes means by less than 1.3 degrees.
const WALK: f64 = 2.5;
/// Usual change of the speed of the angle without noise, rad/s per root of a second.
const SPEED_WALK: f64 = 60.0;
/// Noise at which half of that is allowed, metres; it falls with the square. What the filter leaves of noise is slow, and nearly straight limbs
/// would follow it: with 10 mm the arms of captured takes jumped in 3.4 of 1,000 frames; with this and `GAIN` of the limbs in 0.01, and
/// their errors are smaller. At twice it 0.07 of 1,000 jump.
const SPEED_NOISE: f64 = 0.005;
/// Share of the penalty of first differences that remains in the refinement: second differences do the rest.
const FIRST_DIFFERENCES: f64 = 0.25;
/// Newton steps; after six the angles change by less than 0.01 degrees.
const STEPS: usize = 6;
/// Weight that keeps the equations definite in frames without evidence, rad^-2.
const TINY: f64 = 1e-6;

/// The angle within -pi to pi.
#[inline(always)]
fn wrapped(angle: f64) -> f64 {
    angle - TAU * ((angle + PI) / TAU).floor()
}

/// `sin(x) / x`.
fn sinc(x: f64) -> f64 {
    if x.abs() < 1e-6 { 1.0 } else { libm::sin(x) / x }
}

/// Lanes of a block of sums that stay in registers.
const BLOCK: usize = 16;
/// The grid in whole blocks; the lanes behind it are not used.
const LANES: usize = GRID.next_multiple_of(BLOCK);

/// The least cost of each angle of the grid: that of an angle `before`, and that of the change by each number of steps. Sums of one block
/// stay in registers: without that this is half of the time of a fit.
#[inline(always)]
fn least_costs(before: &[f64; GRID], change: &[f64; GRID]) -> [f64; LANES] {
    // The circle unrolled, so that it needs no remainder.
    let mut unrolled = [0.0; GRID + LANES];
    unrolled[..GRID].copy_from_slice(before);
    unrolled[GRID..2 * GRID].copy_from_slice(before);
    let mut costs = [f64::INFINITY; LANES];
    for (block, least) in costs.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        for (shift, change) in change.iter().enumerate() {
            let from = GRID - shift + block * BLOCK;
            for (least, before) in least.iter_mut().zip(&unrolled[from..from + BLOCK]) {
                let cost = before + change;
                *least = if cost < *least { cost } else { *least };
            }
        }
    }
    costs
}

impl TwistProblem<'_> {
    /// The angle of each frame, of continuous value: it may leave -pi to pi.
    pub(super) fn solve(&self) -> Vec<f64> {
        let coarse = in_wide_registers(
            #[inline(always)]
            || self.on_the_grid(),
        );
        let mut angles = Vec::with_capacity(coarse.len());
        for (frame, angle) in coarse.iter().enumerate() {
            let next = match frame.checked_sub(1) {
                None => *angle,
                Some(k) => angles[k] + self.transport[k] + wrapped(angle - coarse[k] - self.transport[k]),
            };
            angles.push(next);
        }
        self.refine(&mut angles);
        angles
    }

    /// The cost of every angle of the grid in a frame.
    #[inline(always)]
    fn costs(&self, frame: usize, grid: &[(f64, f64, f64); GRID]) -> [f64; GRID] {
        let mut costs = [0.0; GRID];
        for evidence in self.evidence {
            let weight = evidence.weights[frame];
            if weight > 0.0 {
                let (sin, cos) = libm::sincos(evidence.angles[frame]);
                for (cost, (_, s, c)) in costs.iter_mut().zip(grid) {
                    *cost += weight * (1.0 - (c * cos + s * sin)).min(CAP);
                }
            }
        }
        let (sin, cos) = libm::sincos(self.neutral[frame]);
        for (cost, (angle, s, c)) in costs.iter_mut().zip(grid) {
            let beyond = (wrapped(angle - self.neutral[frame]).abs() - self.reach).max(0.0);
            *cost += self.neutral_weight * (1.0 - (c * cos + s * sin)) + BEYOND_REACH * beyond * beyond;
        }
        costs
    }

    /// The cost of the change into a frame by each number of steps of the grid.
    #[inline(always)]
    fn costs_of_change(&self, frame: usize) -> [f64; GRID] {
        let scale = 1.0 / (2.0 * WALK * WALK * self.dt);
        let mut costs = [0.0; GRID];
        for (shift, cost) in costs.iter_mut().enumerate() {
            let d = wrapped(shift as f64 * SPACING - self.transport[frame - 1]);
            *cost = d * d * scale;
        }
        costs
    }

    /// The cheapest sequence of angles of the grid.
    #[inline(always)]
    fn on_the_grid(&self) -> Vec<f64> {
        let grid: [(f64, f64, f64); GRID] = std::array::from_fn(|k| {
            let angle = k as f64 * SPACING - PI;
            let (sin, cos) = libm::sincos(angle);
            (angle, sin, cos)
        });
        let frames = self.neutral.len();
        // The cost of the cheapest sequence that ends at each angle of the grid.
        let mut best = vec![self.costs(0, &grid)];
        for frame in 1..frames {
            let least = least_costs(&best[frame - 1], &self.costs_of_change(frame));
            let mut costs = self.costs(frame, &grid);
            costs.iter_mut().zip(&least).for_each(|(cost, least)| *cost += least);
            best.push(costs);
        }
        let cheapest =
            |costs: &[f64; GRID]| (0..GRID).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        let mut at = cheapest(&best[frames - 1]);
        let mut angles = vec![0.0; frames];
        for frame in (1..frames).rev() {
            angles[frame] = grid[at].0;
            let (before, change) = (&best[frame - 1], self.costs_of_change(frame));
            let shift =
                cheapest(&std::array::from_fn(|shift| before[(at + GRID - shift) % GRID] + change[shift]));
            at = (at + GRID - shift) % GRID;
        }
        angles[0] = grid[at].0;
        angles
    }

    /// Newton steps on the unwrapped angles.
    fn refine(&self, angles: &mut [f64]) {
        let frames = angles.len();
        let mut transported = vec![0.0; frames];
        for frame in 1..frames {
            transported[frame] = transported[frame - 1] + self.transport[frame - 1];
        }
        let noise = self.noise / SPEED_NOISE;
        let speed = SPEED_WALK / (1.0 + noise * noise) * self.dt * self.dt.sqrt();
        let first = FIRST_DIFFERENCES / (WALK * WALK * self.dt);
        for _ in 0..STEPS {
            let (mut weights, mut sides) = (vec![TINY; frames], vec![[0.0]; frames]);
            for frame in 0..frames {
                let x = angles[frame];
                let mut add = |weight: f64, target: f64| {
                    weights[frame] += weight;
                    sides[frame][0] += weight * target;
                };
                for evidence in self.evidence {
                    let r = wrapped(evidence.angles[frame] - x);
                    if 1.0 - libm::cos(r) < CAP {
                        add(evidence.weights[frame] * sinc(r), x + r);
                    }
                }
                let r = wrapped(self.neutral[frame] - x);
                add(self.neutral_weight * sinc(r), x + r);
                if r.abs() > self.reach {
                    add(2.0 * BEYOND_REACH, x + r - self.reach.copysign(r));
                }
                sides[frame][0] -= weights[frame] * transported[frame];
            }
            let mut bands = Bands::<3>::diagonal(weights);
            for frame in 0..frames.saturating_sub(1) {
                bands.add(frame as isize, [1.0, -1.0], first);
            }
            for frame in 0..frames.saturating_sub(2) {
                bands.add(frame as isize, BEND, 1.0 / (speed * speed));
            }
            bands.factored().solve(&mut sides);
            angles.iter_mut().zip(sides.iter().zip(&transported)).for_each(|(x, ([y], c))| *x = y + c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::chance::Chance;
    use super::*;

    const DT: f64 = 1.0 / 30.0;

    /// The neutral angle, 0, has hardly any weight.
    fn solved(angles: &[f64], weights: &[f64], transport: f64) -> Vec<f64> {
        solved_near(1e-6, angles, weights, transport)
    }

    fn solved_near(neutral_weight: f64, angles: &[f64], weights: &[f64], transport: f64) -> Vec<f64> {
        let frames = angles.len();
        TwistProblem {
            evidence: &[TwistEvidence { angles: angles.to_vec(), weights: weights.to_vec() }],
            transport: &vec![transport; frames - 1],
            neutral: &vec![0.0; frames],
            neutral_weight,
            reach: PI,
            dt: DT,
            noise: 0.0,
        }
        .solve()
    }

    #[test]
    fn least_costs_are_those_of_every_angle_before() {
        let mut chance = Chance(7);
        let [before, change]: [[f64; GRID]; 2] =
            std::array::from_fn(|_| std::array::from_fn(|_| chance.uniform()));
        let found = least_costs(&before, &change);
        for (at, found) in found[..GRID].iter().enumerate() {
            let reached = (0..GRID).map(|shift| before[(at + GRID - shift) % GRID] + change[shift]);
            assert_eq!(*found, reached.fold(f64::INFINITY, f64::min), "{at}");
        }
    }

    #[test]
    fn measured_angles_are_met_and_the_circle_has_no_seam() {
        // Twice around the circle in ten seconds: no jump at pi.
        let angles: Vec<f64> = (0..300).map(|f| f as f64 * (2.0 * TAU / 300.0)).collect();
        let found = solved(&angles.iter().map(|a| wrapped(*a)).collect::<Vec<_>>(), &[200.0; 300], 0.0);
        let turns = ((found[0] - angles[0]) / TAU).round() * TAU;
        assert!(found.iter().zip(&angles).all(|(x, a)| (x - a - turns).abs() < 0.02));
    }

    #[test]
    fn a_second_on_the_false_side_does_not_flip() {
        let (mut angles, mut weights) = (vec![0.3; 150], vec![100.0; 150]);
        angles[60..90].fill(0.3 - PI);
        // The weight of an elbow that bends by 5 degrees, less than that of the neutral angle of an arm; at 30 degrees the false side
        // would be believed.
        weights[60..90].fill(1.0);
        let found = solved_near(1.5, &angles, &weights, 0.0);
        assert!(found.iter().all(|x| (x - 0.3).abs() < 0.35), "{found:?}");
        assert!(found[..50].iter().all(|x| (x - 0.3).abs() < 0.05), "{found:?}");
        // Without the neutral angle nothing speaks against the false side.
        let alone = solved(&angles, &weights, 0.0);
        assert!((alone[75] - 0.3).abs() > 2.0, "{alone:?}");
    }

    #[test]
    fn without_evidence_the_angle_follows_its_transport() {
        let mut weights = vec![0.0; 60];
        weights[0] = 200.0;
        let found = solved(&[0.5; 60], &weights, 0.02);
        assert!((found[59] - found[0] - 59.0 * 0.02).abs() < 0.15, "{found:?}");
        assert_eq!(solved(&[0.5], &[200.0], 0.0).len(), 1);
        assert!((solved(&[0.5], &[200.0], 0.0)[0] - 0.5).abs() < 1e-3);
    }
}
