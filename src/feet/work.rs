//! What planting did to the feet and the pelvis of a motion, for reports.
//!
//! Units: metres, radians, frames.

use super::leg::Step;
use super::lock::Held;
use super::pelvis::Moved;
use crate::math::log;
use crate::model::{JointId, Side};

/// What was done to one foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootWork {
    /// Which.
    pub side: Side,
    /// The joint at the ankle.
    pub joint: JointId,
    /// The largest way of the ankle in metres, and its frame.
    pub shift: (f64, usize),
    /// The mean way over all frames.
    pub mean_shift: f64,
    /// The largest turn of the foot in radians, and its frame.
    pub turn: (f64, usize),
    /// Frames in which the foot rests and falls short of its lock by more than a millimetre, and the first of them.
    pub unreached: (usize, usize),
    /// The most that it falls short.
    pub short: f64,
    /// Frames in which heel or ball gave way to the range of a joint and no longer rest, and the first of them.
    pub gave_way: (usize, usize),
}

/// What was done to a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// To the feet.
    pub feet: Vec<FootWork>,
    /// The largest way of the pelvis in metres, and its frame.
    pub pelvis: (f64, usize),
    /// The mean way of the pelvis.
    pub mean_pelvis: f64,
}

/// What was done to a foot.
pub fn foot_work(moved: &Moved<'_>, closed: &[(Step, f64)]) -> FootWork {
    let ways =
        || moved.steps.iter().zip(closed).map(|(a, (b, _))| (b.foot.translation - a.foot.translation).norm());
    let turns = moved
        .steps
        .iter()
        .zip(closed)
        .map(|(a, (b, _))| log(&(b.foot.rotation * a.foot.rotation.inverse())).norm());
    let short = |f: &usize| moved.held[*f] != Held::Free && closed[*f].1 > 1e-3;
    let unreached: Vec<usize> = (0..closed.len()).filter(short).collect();
    FootWork {
        side: moved.leg.side,
        joint: moved.leg.foot,
        shift: largest(ways()),
        mean_shift: mean(ways()),
        turn: largest(turns),
        unreached: (unreached.len(), unreached.first().copied().unwrap_or(0)),
        short: unreached.iter().map(|&f| closed[f].1).fold(0.0, f64::max),
        gave_way: (0, 0),
    }
}

/// The largest value and where it is.
pub fn largest(values: impl Iterator<Item = f64>) -> (f64, usize) {
    values.enumerate().fold((0.0, 0), |best, (f, x)| if x > best.0 { (x, f) } else { best })
}

/// The mean; 0 of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, n), x| (sum + x, n + 1));
    sum / count.max(1) as f64
}
