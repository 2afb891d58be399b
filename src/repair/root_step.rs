//! Detects jumps of the root position between two frames without a matching motion of the joints, and removes them.
//!
//! [`root_spikes`] first handles jumps that return within two frames, which would otherwise be two interfering steps.
//! Units: metres of 0.86 m legs, degrees, seconds.

use super::fault_log::{FaultLog, all, own};
use super::robust_statistics::{geometric_median, median_around, neighbours};
use super::working_take::{EDGES_PER_TASK, WorkingTake};
use crate::kinematics::GRAVITY;
use crate::math::{Vec3, percentile};
use crate::parallel;
use std::ops::Range;
use std::sync::OnceLock;

/// Least length of a step, metres...
const LEAST: f64 = 0.025;
/// ... and as a multiple of what free fall gains between two frames: foot strikes at 30 frames per second reach 3.
const FALLS: f64 = 5.0;
/// ... and as a multiple of the median around it.
const TIMES: f64 = 7.0;
/// Least difference from every displacement around it, as a share of its length: the first frame of a leap is
/// followed by similar ones.
const ALONE: f64 = 0.7;
/// Window of the median in seconds, and at least so many steps.
const AROUND: (f64, usize) = (0.1, 4);
/// Joints rotate by at most this multiple of their median, in the mean over them, and three quarters of them each: where an arm
/// jitters the mean shows nothing. Steps of 13 takes reach 2.1, frames that are missing from 3 on 3.8...
const ROTATES: f64 = 3.0;
/// ... which is taken as at least this, degrees.
const QUIET: f64 = 0.1;
/// Most frames of a spike of the root...
const LONGEST: usize = 2;
/// ... and how near it returns, as a share of its length.
const BACK: f64 = 0.35;

/// Displacement of the root per step, compared with the steps around.
struct Jumps {
    displacements: Vec<Vec3>,
    /// The jump of each step, once it was asked for: neighbours ask for the same ones.
    jumps: Vec<OnceLock<Vec3>>,
    /// The least length of a jump, metres.
    least: f64,
    reach: usize,
}

impl Jumps {
    fn of(take: &WorkingTake, positions: &[Vec3]) -> Self {
        let displacements: Vec<Vec3> = positions.windows(2).map(|w| w[1] - w[0]).collect();
        let least = LEAST.max(FALLS * GRAVITY * take.dt * take.dt);
        let jumps = displacements.iter().map(|_| OnceLock::new()).collect();
        Self { displacements, jumps, least, reach: take.frames_in(AROUND.0, AROUND.1) }
    }

    fn around(&self, edge: usize) -> impl Iterator<Item = Vec3> {
        neighbours(self.displacements.len(), edge, 2).map(|k| self.displacements[k])
    }

    fn jump(&self, edge: usize) -> Vec3 {
        let alone = || self.displacements[edge] - geometric_median(&self.around(edge).collect::<Vec<_>>());
        *self.jumps[edge].get_or_init(alone)
    }

    fn size(&self, edge: usize) -> f64 {
        self.jump(edge).norm()
    }

    /// Steps whose jump may exceed half of the limit: no jump exceeds the greatest difference to a displacement
    /// around.
    fn candidates(&self) -> Vec<bool> {
        let is_candidate =
            |edge| self.around(edge).any(|w| (self.displacements[edge] - w).norm() > 0.5 * self.least);
        parallel::map(self.displacements.len(), EDGES_PER_TASK, is_candidate)
    }

    /// The length above which a step is unusual.
    fn usual(&self, edge: usize) -> f64 {
        (TIMES * median_around(|k| self.size(k), self.displacements.len(), edge, self.reach)).max(1e-9)
    }

    /// The least difference to a displacement around, relative to the jump.
    fn alone(&self, edge: usize) -> f64 {
        let nearest =
            self.around(edge).map(|w| (self.displacements[edge] - w).norm()).fold(f64::INFINITY, f64::min);
        nearest / self.size(edge).max(1e-9)
    }
}

/// Interpolates the root position where it is displaced for one or two frames.
pub(super) fn root_spikes(take: &mut WorkingTake, log: &mut FaultLog) {
    let positions = take.root_positions();
    let jumps = Jumps::of(take, &positions);
    let candidates = jumps.candidates();
    log.test("root_spike", 0.0);
    let mut f = 1;
    while f + LONGEST < take.frames() {
        let is_candidate = |length: &usize| candidates[f - 1] && candidates[f + length - 1];
        let mut lengths = (1..=LONGEST).filter(is_candidate);
        f += lengths.find(|length| fix_spike(take, &positions, &jumps, f..f + length, log)).unwrap_or(1);
    }
}

/// Tests whether the root is displaced in these frames, and interpolates it there.
fn fix_spike(
    take: &mut WorkingTake,
    positions: &[Vec3],
    jumps: &Jumps,
    frames: Range<usize>,
    log: &mut FaultLog,
) -> bool {
    let [out, back] = [frames.start - 1, frames.end - 1];
    let leap = jumps.size(out).min(jumps.size(back));
    let apart = (jumps.jump(out) + jumps.jump(back)).norm();
    let usual = jumps.usual(out).max(jumps.usual(back));
    let alone = jumps.alone(out).min(jumps.alone(back)) / ALONE;
    let share = all(&[leap / jumps.least, leap / usual, alone, BACK * leap / apart.max(1e-9)]);
    if !log.test("root_spike", share) {
        return false;
    }
    let (from, to) = (positions[out], positions[frames.end]);
    for f in frames.clone() {
        let u = (f - out) as f64 / (frames.end - out) as f64;
        take.shift(f, &(from + (to - from) * u - positions[f]));
    }
    log.record_fixed("root_spike", None, frames, "m", [own(take, leap), 0.0]);
    true
}

/// How much three quarters of the joints rotate in a step at most, as a multiple of the steps around.
fn rotation_of_most(take: &WorkingTake, edge: usize) -> f64 {
    let around = |joint: usize| median_around(|e| take.steps(e)[joint], take.edges(), edge, 3).max(QUIET);
    let ratios: Vec<f64> =
        take.steps(edge).iter().enumerate().map(|(joint, step)| step / around(joint)).collect();
    percentile(&ratios, 0.75)
}

/// Removes the steps from all later frames.
pub(super) fn root_steps(take: &mut WorkingTake, log: &mut FaultLog) {
    let positions = take.root_positions();
    let jumps = Jumps::of(take, &positions);
    let edges = take.edges();
    log.test("root_step", 0.0);
    let mut found = Vec::new();
    let candidates = jumps.candidates();
    for e in (0..edges).filter(|e| candidates[*e]) {
        let size = jumps.size(e);
        let mut near = e.saturating_sub(2)..(e + 3).min(edges);
        if near.any(|k| jumps.size(k) > size) {
            continue;
        }
        let rotation_limit = ROTATES * median_around(|k| take.mean_step(k), edges, e, 3).max(QUIET);
        let share = all(&[
            size / jumps.least,
            size / jumps.usual(e),
            jumps.alone(e) / ALONE,
            rotation_limit / take.mean_step(e).max(1e-9),
            ROTATES / rotation_of_most(take, e).max(1e-9),
        ]);
        if log.test("root_step", share) {
            found.push(e);
        }
    }
    let mut offset = Vec3::zeros();
    let mut steps = found.iter().peekable();
    for f in 1..take.frames() {
        while let Some(e) = steps.next_if(|e| **e + 1 == f) {
            offset += jumps.jump(*e);
            let size = own(take, jumps.size(*e));
            log.record_fixed("root_step", None, f..f + 1, "m", [size, 0.0]);
        }
        if offset != Vec3::zeros() {
            take.shift(f, &-offset);
        }
    }
}
