//! What the tests of a take say becomes findings, and how near each test came to its limit.

use super::take::Take;
use crate::report::{Finding, Metric};
use std::ops::Range;

/// The words of the faults that are looked for, in the order in which they are; findings also say `floor` where floor and
/// path are not known.
pub const FAULTS: [&str; 13] = [
    "held",
    "swap",
    "spike",
    "root_spike",
    "root_step",
    "cut",
    "noise",
    "vertical_drift",
    "tilt",
    "level",
    "path_scale",
    "drift",
    "slide",
];

/// What was found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// What was mended.
    pub mended: Vec<Finding>,
    /// What was seen and left.
    pub left: Vec<Finding>,
    nearest: Vec<(&'static str, f64)>,
}

impl Ledger {
    /// A fault was mended: joint, frames, and its size before and after.
    pub fn mend(
        &mut self,
        fault: &'static str,
        joint: Option<String>,
        frames: Range<usize>,
        unit: &'static str,
        [before, after]: [f64; 2],
    ) {
        let frames = [frames.start, frames.end];
        self.mended.push(Finding { fault, joint, frames, unit, before, after, left: None });
    }

    /// A fault of this size was seen and left, with the reason.
    pub fn leave(
        &mut self,
        fault: &'static str,
        frames: Range<usize>,
        unit: &'static str,
        size: f64,
        why: impl Into<String>,
    ) {
        let frames = [frames.start, frames.end];
        let (before, after, left) = (size, size, Some(why.into()));
        self.left.push(Finding { fault, joint: None, frames, unit, before, after, left });
    }

    /// The test for a fault came to this share of its limit, 1 where it fires; whether it does.
    pub fn near(&mut self, fault: &'static str, share: f64) -> bool {
        let share = if share.is_finite() { share.max(0.0) + 0.0 } else { 0.0 };
        match self.nearest.iter_mut().find(|n| n.0 == fault) {
            Some(known) => known.1 = known.1.max(share),
            None => self.nearest.push((fault, share)),
        }
        share > 1.0
    }

    /// How near each test came to its limit, in the order of `FAULTS`; nothing of those that were not made.
    pub fn metrics(&self) -> Vec<Metric> {
        let metric = |fault: &&'static str| {
            let value = self.nearest.iter().find(|n| n.0 == *fault)?.1;
            let name = format!("repair_{fault}");
            Some(Metric { name, value, unit: "1", copy: None, take: None, at_most: Some(1.0) })
        };
        FAULTS.iter().filter_map(metric).collect()
    }
}

/// The smallest of some shares: a test of several conditions fires where all do.
pub(super) fn all(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A length of the body of 0.86 m legs in the take's own metres.
pub(super) fn own(take: &Take, length: f64) -> f64 {
    length / take.scale
}
