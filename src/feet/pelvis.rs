//! Where the ankles go becomes where the pelvis goes, before any knee bends.
//!
//! Minimises `sum_f [sum_legs w (e . (s - D))^2 + rho D^2] + lambda sum D'''^2` over the height `D` of the pelvis:
//! `s` is the way of an ankle, `e` the direction of its leg, so that `e . (s - D)` is by how much the leg would have to
//! become longer or shorter; `w` falls from 1 to 0 outside the time of rest, times the square of how much the knee turns
//! for a change of length, `d / (l1 l2 sin)`, which is greatest for straight legs. The last term
//! is the low-pass without delay ([`whittaker`]). Where a leg would be out of reach, reaching is asked for as well,
//! with a greater weight, and the whole solved again. Space: model space, Y up. Units: metres.

use super::leg::{Change, Leg, Step};
use super::lock::Held;
use super::ramp::fall;
use crate::math::Vec3;
use crate::signal::{Difference, whittaker, whittaker_penalty};

/// A leg and what shall become of its foot.
#[derive(Clone, Debug)]
pub struct Moved<'a> {
    /// The leg.
    pub leg: &'a Leg,
    /// How it arrives.
    pub steps: &'a [Step],
    /// What changes.
    pub changes: &'a [Change],
    /// What rests.
    pub held: &'a [Held],
    /// The length below which its knee would leave its range, metres; 0 where it has none.
    pub shortest: f64,
}

/// The pelvis follows nothing faster than this, hertz.
const CUTOFF: f64 = 2.0;

/// The weight of leaving the pelvis where it arrives, near the times of rest and far from them.
const STAY: [f64; 2] = [1e-3, 1.0];

/// Near is what lies within so many transitions of a foot at rest, far what lies beyond three times as many.
const NEAR: f64 = 3.0;

/// The weight of a leg that cannot reach, against one whose knee would turn.
const REACH: f64 = 300.0;

/// Rounds in which legs that cannot reach weigh more and more.
const ROUNDS: usize = 8;

/// The part of its length up to which a leg may be stretched, if it does not arrive straighter.
pub const STRETCH: f64 = 0.99;

/// The length up to which a leg that arrives at `arriving` metres may be stretched.
pub fn stretched(length: f64, arriving: f64) -> f64 {
    arriving.clamp(STRETCH * length, 0.9995 * length)
}

/// The height of the pelvis over where it arrives, for every frame.
///
/// `longest` says how long each leg may be at most in every frame, whatever it arrives with; `others` in which frames other
/// parts of the body rest, which are not to be pushed; `most` is how far the pelvis may move in metres, `reach` the
/// length of a transition in frames.
pub fn pelvis(
    legs: &[Moved<'_>],
    longest: Option<&[Vec<f64>]>,
    others: &[bool],
    rate: f64,
    [most, reach]: [f64; 2],
) -> Vec<f64> {
    let n = others.len();
    let penalty = whittaker_penalty(Difference::Third, CUTOFF, rate);
    let (mut weights, mut values) = (vec![0.0; n], vec![0.0; n]);
    for (weight, _) in weights.iter_mut().zip(others).filter(|(_, rests)| **rests) {
        *weight += 1.0;
    }
    let shares: Vec<Vec<f64>> = legs.iter().map(|leg| share(leg.held, 0.0, reach)).collect();
    let near: Vec<Vec<f64>> =
        legs.iter().map(|leg| share(leg.held, NEAR * reach, 2.0 * NEAR * reach)).collect();
    for (f, weight) in weights.iter_mut().enumerate() {
        let near = near.iter().map(|n| n[f]).fold(0.0, f64::max);
        *weight += STAY[1] + (STAY[0] - STAY[1]) * near;
    }
    for (leg, share) in legs.iter().zip(&shares) {
        for f in 0..n {
            let (step, shift) = (&leg.steps[f], leg.changes[f].shift);
            let line = step.foot.translation + shift - step.upper.translation;
            let Some(e) = line.try_normalize(1e-9).filter(|_| share[f] > 0.0) else { continue };
            // (e . s - e_y D)^2 = e_y^2 (D - e . s / e_y)^2
            let weight = share[f] * e.y * knee_weight(step);
            weights[f] += weight * e.y;
            values[f] += weight * e.dot(&shift);
        }
    }
    let solve = |weights: &[f64], values: &[f64]| {
        let wanted: Vec<f64> = weights.iter().zip(values).map(|(w, v)| v / w).collect();
        let mut found = whittaker(Difference::Third, weights, &wanted, penalty);
        found.iter_mut().for_each(|d| *d = bounded(*d, most));
        found
    };
    let mut offset = solve(&weights, &values);
    for _ in 0..ROUNDS {
        let mut short = false;
        for (k, (leg, share)) in legs.iter().zip(&shares).enumerate() {
            for f in 0..n {
                let step = &leg.steps[f];
                if share[f] <= 0.0 {
                    continue;
                }
                let hip = step.upper.translation;
                let line = step.foot.translation + leg.changes[f].shift - hip - Vec3::y() * offset[f];
                let arriving = (step.foot.translation - hip).norm();
                let bound = longest.map_or(f64::INFINITY, |longest| longest[k][f]);
                let excess = line.norm() - stretched(length(step), arriving).min(bound);
                let deficit = leg.shortest.min(arriving) - line.norm();
                // At most one of the two is above 0: the shortest leg is shorter than the longest.
                let longer = deficit.max(0.0) - excess.max(0.0);
                if longer.abs() > 1e-4 {
                    let down = (-line.y / line.norm()).max(0.3);
                    let weight = REACH * share[f];
                    weights[f] += weight;
                    values[f] += weight * (offset[f] + longer / down);
                    short = true;
                }
            }
        }
        if !short {
            break;
        }
        offset = solve(&weights, &values);
    }
    offset
}

/// The square of how much a knee turns for a change of the leg's length, 1 for a knee bent by 24 degrees.
fn knee_weight(step: &Step) -> f64 {
    let [hip, knee, ankle] = [step.upper, step.lower, step.foot].map(|t| t.translation);
    let (thigh, shin) = (knee - hip, ankle - knee);
    let sine = thigh.cross(&shin).norm() / (thigh.norm() * shin.norm()).max(1e-12);
    (0.4 / sine.max(0.15)).powi(2)
}

/// Thigh and shin in a step.
pub fn length(step: &Step) -> f64 {
    let [hip, knee, ankle] = [step.upper, step.lower, step.foot].map(|t| t.translation);
    (knee - hip).norm() + (ankle - knee).norm()
}

/// From hip to ankle in a step whose knee were bent by this angle.
pub fn length_bent(step: &Step, bend: f64) -> f64 {
    let [hip, knee, ankle] = [step.upper, step.lower, step.foot].map(|t| t.translation);
    let (thigh, shin) = ((knee - hip).norm(), (ankle - knee).norm());
    (thigh * thigh + shin * shin + 2.0 * thigh * shin * bend.cos()).max(0.0).sqrt()
}

/// 1 while a foot rests and for `stay` frames beside, falling to 0 over the next `reach`.
pub fn share(held: &[Held], stay: f64, reach: f64) -> Vec<f64> {
    let n = held.len();
    let mut share = vec![0.0_f64; n];
    let mut distance = usize::MAX;
    for f in (0..n).chain((0..n).rev()) {
        distance = if held[f] == Held::Free { distance.saturating_add(1) } else { 0 };
        share[f] = share[f].max(fall(distance as f64 - stay, reach));
    }
    share
}

/// `x` up to most of the bound, then ever less, never beyond it.
fn bounded(x: f64, bound: f64) -> f64 {
    let from = 0.8 * bound;
    if x.abs() <= from {
        return x;
    }
    let room = (bound - from).max(1e-12);
    x.signum() * (from + room * (1.0 - (-(x.abs() - from) / room).exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ways_pass_and_great_ones_stay_in_bounds() {
        assert_eq!(bounded(-0.04, 0.1), -0.04);
        assert!(bounded(5.0, 0.1) <= 0.1 && bounded(5.0, 0.1) > 0.099);
        assert!((bounded(0.0801, 0.1) - 0.0801).abs() < 1e-6);
    }
}
