//! Closed intervals of angles and lengths.

use std::f64::consts::TAU;

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Range {
    /// The interval from `low` to `high`; if `low > high`, their mean as a single point.
    pub fn new(low: f64, high: f64) -> Self {
        if low <= high {
            Self { low, high }
        } else {
            Self { low: 0.5 * (low + high), high: 0.5 * (low + high) }
        }
    }

    /// The nearest value inside; `low` for NaN.
    pub fn clamp(&self, x: f64) -> f64 {
        if x >= self.low { x.min(self.high) } else { self.low }
    }
}

/// The angle inside the range that is nearest to `angle` on the circle.
pub(super) fn nearest_angle(range: &Range, angle: f64) -> f64 {
    // A range may extend beyond 180 degrees, where an angle and the same angle plus or minus 360 degrees are both valid.
    if [angle, angle + TAU, angle - TAU].iter().any(|a| range.low <= *a && *a <= range.high) {
        return angle;
    }
    let away = |bound: f64| {
        let d = (angle - bound).abs() % TAU;
        d.min(TAU - d)
    };
    if away(range.low) < away(range.high) { range.low } else { range.high }
}
