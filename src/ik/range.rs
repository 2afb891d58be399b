//! Closed intervals of angles and lengths.

/// A closed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
}

impl Range {
    /// From one number to another; the two in the wrong order are one point between.
    pub fn new(low: f64, high: f64) -> Self {
        if low <= high {
            Self { low, high }
        } else {
            Self { low: 0.5 * (low + high), high: 0.5 * (low + high) }
        }
    }

    /// The nearest value inside; `low` for what is not a number.
    pub fn clamp(&self, x: f64) -> f64 {
        if x >= self.low { x.min(self.high) } else { self.low }
    }
}

/// The angle inside the range that is nearest to `angle` on the circle.
pub(super) fn nearest_angle(range: &Range, angle: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    // A range may run past half a turn; the angle is the same one a turn further.
    if [angle, angle + turn, angle - turn].iter().any(|a| range.low <= *a && *a <= range.high) {
        return angle;
    }
    let away = |bound: f64| {
        let d = (angle - bound).abs() % turn;
        d.min(turn - d)
    };
    if away(range.low) < away(range.high) { range.low } else { range.high }
}
