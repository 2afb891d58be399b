//! A body that stands elsewhere from one frame to the next, while nothing else of it does, goes on where it was.
//!
//! [`root_spikes`] first sees to bodies that come back at once, which else would be two steps in each other's way.
//! Units: metres of 0.86 m legs, degrees, seconds.

use super::ledger::{Ledger, all, own};
use super::robust::{median_around, middle, neighbours};
use super::take::{TOGETHER, Take};
use crate::math::Vec3;
use crate::measure::GRAVITY;
use rayon::prelude::*;
use std::ops::Range;

/// A step is at least this long, metres...
const LEAST: f64 = 0.025;
/// ... and so many times what a fall gains between two frames: foot strikes at 30 frames a second reach 3.
const FALLS: f64 = 5.0;
/// ... and so many times what is usual.
const TIMES: f64 = 7.0;
/// ... and differs from every way around by this share of it: the first edge of a leap goes on with the next.
const ALONE: f64 = 0.7;
/// Edges within so many seconds tell what is usual; and at least so many.
const AROUND: (f64, usize) = (0.1, 4);
/// Joints turn by no more than so many times what they do around...
const TURNS: f64 = 3.0;
/// ... which counts at least this much, degrees.
const QUIET: f64 = 0.1;
/// A body that comes back within so many frames was never away...
const LONGEST: usize = 2;
/// ... if it comes back to within this share of the way.
const BACK: f64 = 0.35;

/// By how much the body goes further over an edge than over those around.
struct Jumps {
    ways: Vec<Vec3>,
    /// The shortest step, metres.
    least: f64,
    reach: usize,
}

impl Jumps {
    fn of(take: &Take, places: &[Vec3]) -> Self {
        let ways: Vec<Vec3> = places.windows(2).map(|w| w[1] - w[0]).collect();
        let least = LEAST.max(FALLS * GRAVITY * take.dt * take.dt);
        Self { ways, least, reach: take.frames_in(AROUND.0, AROUND.1) }
    }

    fn around(&self, edge: usize) -> impl Iterator<Item = Vec3> {
        neighbours(self.ways.len(), edge, 2).map(|k| self.ways[k])
    }

    fn jump(&self, edge: usize) -> Vec3 {
        self.ways[edge] - middle(&self.around(edge).collect::<Vec<_>>())
    }

    fn size(&self, edge: usize) -> f64 {
        self.jump(edge).norm()
    }

    /// Of which edges the jump may be half a step: none is longer than the greatest difference to a way around.
    fn worth_a_look(&self) -> Vec<bool> {
        let worth = |edge| self.around(edge).any(|w| (self.ways[edge] - w).norm() > 0.5 * self.least);
        (0..self.ways.len()).into_par_iter().with_min_len(TOGETHER).map(worth).collect()
    }

    /// The size over which an edge is more than usual.
    fn usual(&self, edge: usize) -> f64 {
        (TIMES * median_around(|k| self.size(k), self.ways.len(), edge, self.reach)).max(1e-9)
    }

    /// The least difference to a way around, over the size.
    fn alone(&self, edge: usize) -> f64 {
        let nearest = self.around(edge).map(|w| (self.ways[edge] - w).norm()).fold(f64::INFINITY, f64::min);
        nearest / self.size(edge).max(1e-9)
    }
}

/// Puts the body between its neighbours where it is elsewhere for one or two frames.
pub(super) fn root_spikes(take: &mut Take, ledger: &mut Ledger) {
    let places = take.places();
    let jumps = Jumps::of(take, &places);
    let worth = jumps.worth_a_look();
    ledger.near("root_spike", 0.0);
    let mut f = 1;
    while f + LONGEST < take.frames() {
        let worth = |length: &usize| worth[f - 1] && worth[f + length - 1];
        let mut lengths = (1..=LONGEST).filter(worth);
        f += lengths.find(|length| returns(take, &places, &jumps, f..f + length, ledger)).unwrap_or(1);
    }
}

/// Whether the body is elsewhere in these frames; then it is put between its neighbours.
fn returns(
    take: &mut Take,
    places: &[Vec3],
    jumps: &Jumps,
    frames: Range<usize>,
    ledger: &mut Ledger,
) -> bool {
    let [out, back] = [frames.start - 1, frames.end - 1];
    let leap = jumps.size(out).min(jumps.size(back));
    let apart = (jumps.jump(out) + jumps.jump(back)).norm();
    let usual = jumps.usual(out).max(jumps.usual(back));
    let alone = jumps.alone(out).min(jumps.alone(back)) / ALONE;
    let share = all(&[leap / jumps.least, leap / usual, alone, BACK * leap / apart.max(1e-9)]);
    if !ledger.near("root_spike", share) {
        return false;
    }
    let (from, to) = (places[out], places[frames.end]);
    for f in frames.clone() {
        let u = (f - out) as f64 / (frames.end - out) as f64;
        take.shift(f, &(from + (to - from) * u - places[f]));
    }
    ledger.mend("root_spike", None, frames, "m", [own(take, leap), 0.0]);
    true
}

/// Takes the steps away from all later frames.
pub(super) fn root_steps(take: &mut Take, ledger: &mut Ledger) {
    let places = take.places();
    let jumps = Jumps::of(take, &places);
    let edges = take.edges();
    ledger.near("root_step", 0.0);
    let mut found = Vec::new();
    let worth = jumps.worth_a_look();
    for e in (0..edges).filter(|e| worth[*e]) {
        let size = jumps.size(e);
        let mut near = e.saturating_sub(2)..(e + 3).min(edges);
        if near.any(|k| jumps.size(k) > size) {
            continue;
        }
        let turns = TURNS * median_around(|k| take.mean_step(k), edges, e, 3).max(QUIET);
        let share = all(&[
            size / jumps.least,
            size / jumps.usual(e),
            jumps.alone(e) / ALONE,
            turns / take.mean_step(e).max(1e-9),
        ]);
        if ledger.near("root_step", share) {
            found.push(e);
        }
    }
    let mut behind = Vec3::zeros();
    let mut steps = found.iter().peekable();
    for f in 1..take.frames() {
        while let Some(e) = steps.next_if(|e| **e + 1 == f) {
            behind += jumps.jump(*e);
            let size = own(take, jumps.size(*e));
            ledger.mend("root_step", None, f..f + 1, "m", [size, 0.0]);
        }
        if behind != Vec3::zeros() {
            take.shift(f, &-behind);
        }
    }
}
