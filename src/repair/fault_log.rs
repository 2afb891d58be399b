//! Collects the findings of the fault tests, and how near each test came to its limit.

use super::working_take::WorkingTake;
use crate::report::{Finding, Metric};
use std::ops::Range;

/// The names of all faults, in test order. `held` are frozen frames; `cut` is reported and never fixed. A finding named `floor`
/// means that the floor could not be estimated, so that the tests of floor and path were skipped.
pub const FAULTS: [&str; 17] = [
    "held",
    "gap",
    "swap",
    "wrap",
    "spike",
    "frozen",
    "flip",
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

/// The findings so far.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultLog {
    /// Faults that were fixed.
    pub fixed: Vec<Finding>,
    /// Faults that were detected but not fixed.
    pub left: Vec<Finding>,
    nearest: Vec<(&'static str, f64)>,
}

impl FaultLog {
    /// Records a fixed fault: joint, frames, and its size before and after.
    pub fn record_fixed(
        &mut self,
        fault: &'static str,
        joint: Option<String>,
        frames: Range<usize>,
        unit: &'static str,
        [before, after]: [f64; 2],
    ) {
        let frames = [frames.start, frames.end];
        self.fixed.push(Finding { fault, joint, frames, unit, before, after, left: None });
    }

    /// Records a fault of this size that is not fixed, with the reason.
    pub fn record_unfixed(
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

    /// Records a fault of one joint of this size that is not fixed, with the reason.
    pub fn record_doubtful(
        &mut self,
        fault: &'static str,
        joint: String,
        frames: Range<usize>,
        unit: &'static str,
        size: f64,
        why: impl Into<String>,
    ) {
        self.record_unfixed(fault, frames, unit, size, why);
        if let Some(last) = self.left.last_mut() {
            last.joint = Some(joint);
        }
    }

    /// Records that a test reached this share of its limit; true where it exceeds 1, so that the fault is present.
    pub fn test(&mut self, fault: &'static str, share: f64) -> bool {
        let share = if share.is_finite() { share.max(0.0) + 0.0 } else { 0.0 };
        match self.nearest.iter_mut().find(|n| n.0 == fault) {
            Some(known) => known.1 = known.1.max(share),
            None => self.nearest.push((fault, share)),
        }
        share > 1.0
    }

    /// Notes that a second witness speaks against a fault whose test fired.
    pub fn refute(&mut self, fault: &'static str) {
        self.nearest.iter_mut().filter(|n| n.0 == fault).for_each(|n| n.1 = n.1.min(1.0));
    }

    /// The highest share of its limit per test, in the order of `FAULTS`; tests that did not run are omitted.
    pub fn metrics(&self) -> Vec<Metric> {
        let metric = |fault: &&'static str| {
            let value = self.nearest.iter().find(|n| n.0 == *fault)?.1;
            let name = format!("repair_{fault}");
            Some(Metric { name, value, unit: "1", at_most: Some(1.0), ..Metric::default() })
        };
        FAULTS.iter().filter_map(metric).collect()
    }
}

/// The smallest of the shares: a test with several conditions fires if all of them hold.
pub(super) fn all(shares: &[f64]) -> f64 {
    shares.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Converts a length from metres of a body with 0.86 m legs to the take's own metres.
pub(super) fn own(take: &WorkingTake, length: f64) -> f64 {
    length / take.scale
}
