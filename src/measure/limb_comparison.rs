//! The limbs of a take, of its direct transfer and of a result, frame by frame, with what their measures share.
//!
//! Units: metres of the common height, radians, seconds.

use super::catalogue::metric;
use super::limb_frame::{LimbFrame, limb_frames};
use crate::kinematics::cuts;
use crate::model::{Motion, UnevenGround};
use crate::report::{Metric, Series};

/// The fewest values that a percentile is taken of.
pub(super) const FEWEST: usize = 5;

/// Measures and time series.
pub(super) type MetricsAndSeries = (Vec<Metric>, Vec<Series>);

/// A measure with its value on the direct transfer.
pub(super) fn with_direct(name: &str, value: f64, direct: f64) -> Metric {
    Metric { direct: Some(direct), ..metric(name, value) }
}

/// The time series of the left and of the right side; none for a side without a finite value.
pub(super) fn both_sides(name: &str, unit: &'static str, values: [Vec<f64>; 2]) -> Vec<Series> {
    let of = move |(side, values): (&str, Vec<f64>)| {
        let name = format!("{side}_{name}");
        values.iter().any(|x| x.is_finite()).then(|| Series { name, unit, values, resting: Vec::new() })
    };
    ["left", "right"].into_iter().zip(values).filter_map(of).collect()
}

/// The joints of three motions that play at the same rate.
pub(super) struct LimbComparison {
    /// Of the source, scaled to the direct transfer's legs.
    pub(super) source: Vec<LimbFrame>,
    /// The ground of the source where it is not level, scaled alike.
    pub(super) ground: Option<UnevenGround>,
    /// Of the direct transfer.
    pub(super) direct: Vec<LimbFrame>,
    /// Of the motion that is measured.
    pub(super) result: Vec<LimbFrame>,
    /// The frames that follow a cut of the source.
    pub(super) cuts: Vec<usize>,
    /// The number of frames that all three have.
    pub(super) frames: usize,
    /// Frames a second.
    pub(super) rate: f64,
    /// The length of the direct transfer's legs, metres.
    pub(super) leg_length: f64,
}

impl LimbComparison {
    /// The comparison, `None` if a limb is missing or the three differ in rate.
    pub(super) fn of(source: &Motion, direct: &Motion, motion: &Motion) -> Option<LimbComparison> {
        let rate = motion.clip.sample_rate;
        let cuts = cuts(source);
        let step = [source, direct].iter().all(|m| (m.clip.sample_rate - rate).abs() < 1e-6);
        let uneven = source.contacts.as_ref().and_then(|contacts| contacts.uneven());
        let tracks = [source, direct, motion].map(|m| limb_frames(m).filter(|_| step));
        let [Some(source), Some(direct), Some(result)] = tracks else { return None };
        let frames = source.len().min(direct.len()).min(result.len());
        let (first, to) = (source.first()?, direct.first()?);
        let (k, leg_length) = (to.leg_length() / first.leg_length().max(1e-9), to.leg_length());
        let source = source.into_iter().map(|i| i.scaled(k)).collect();
        let ground = uneven.map(|ground| ground.changed(|frame| frame, k));
        Some(LimbComparison { source, ground, direct, result, cuts, frames, rate, leg_length })
    }
}
