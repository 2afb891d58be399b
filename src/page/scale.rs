//! Axis of a plot: maps values to pixels and chooses round values for its ticks.

/// An axis from `low` to `high`, drawn from one pixel to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Scale {
    /// An axis that covers all of `values` with a margin; an empty or constant range is widened.
    pub(super) fn around(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match high - low {
            span if span > 1e-9 => (low - 0.04 * span, high + 0.08 * span),
            span if span >= 0.0 => (low - 0.5, high + 0.5),
            _ => (0.0, 1.0),
        };
        Self { low, high, from, to }
    }

    /// The position of a value, pixels.
    pub(super) fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * (value - self.low) / (self.high - self.low)
    }

    /// Round values inside the axis, about `count` of them: steps of 1, 2 or 5 times a power of ten.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        let step = step((self.high - self.low) / count.max(1) as f64);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last.min(first + 100)).map(|k| k as f64 * step).collect()
    }
}

/// The next of 1, 2 and 5 times a power of ten at or above `least`.
pub(super) fn step(least: f64) -> f64 {
    let power = libm::pow(10f64, libm::log10(least.max(1e-12)).floor());
    [1.0, 2.0, 5.0]
        .map(|k| k * power)
        .into_iter()
        .find(|s| *s >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn marks_are_round_inside_and_not_many(low in -1e4..1e4f64, span in 1e-3..1e4f64, count in 2..8usize) {
            let scale = Scale { low, high: low + span, from: 0.0, to: 100.0 };
            let ticks = scale.ticks(count);
            prop_assert!(!ticks.is_empty() || span < step(span / count as f64));
            prop_assert!(ticks.len() <= count + 1);
            let slack = 1e-9 * (low.abs() + span);
            prop_assert!(ticks.iter().all(|t| *t >= low - slack && *t <= low + span + slack));
        }
    }

    #[test]
    fn flat_and_empty_values_still_have_an_axis() {
        let flat = Scale::around([2.0, 2.0], 0.0, 10.0);
        assert_eq!((flat.at(2.0), flat.low, flat.high), (5.0, 1.5, 2.5));
        assert_eq!(Scale::around([f64::NAN], 0.0, 10.0).low, 0.0);
        assert_eq!((step(0.03), step(0.2), step(7.0)), (0.05, 0.2, 10.0));
    }
}
