//! Finds rows that a file leaves out, by their times or the numbers of their frames, so that gaps are not closed up.
//!
//! Tables, tables of markers, motions of Acclaim and tables of robots share the rule: missing rows are interpolated at the usual step
//! and reported; more missing rows than there are rows, or rows in another order, are refused.

use crate::math::median;

/// The rows that are missing between others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MissingRows {
    /// The usual step from row to row, in the unit of the times.
    pub(super) usual: f64,
    /// The largest step.
    pub(super) largest: f64,
    /// The rows with those that are missing.
    pub(super) count: usize,
}

/// Why missing rows cannot be filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowFault {
    /// The time of this row is not after that of the row before.
    Order(usize),
    /// More rows are missing than there are: this many there should be.
    Sparse(usize),
}

/// Deviation of a step from the usual one, relative to it, beyond which rows are missing or doubled: times are written with all digits.
const UNEVEN: f64 = 0.1;

impl MissingRows {
    /// The rows that are missing between rows at these times; `None` if the steps are even, or no times are stated. Times that fall
    /// from row to row are those of a take that would play backwards.
    ///
    /// # Errors
    /// A [`RowFault`].
    pub(super) fn of(times: &[f64]) -> Result<Option<Self>, RowFault> {
        let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let usual = median(steps.clone());
        if usual < 0.0 && steps[0] < 0.0 {
            return Err(RowFault::Order(1));
        }
        if steps.is_empty() || steps.iter().all(|step| (step - usual).abs() <= UNEVEN * usual.abs()) {
            return Ok(None);
        }
        if let Some(k) = steps.iter().position(|step| *step <= 0.0 || !step.is_finite()) {
            return Err(RowFault::Order(k + 1));
        }
        let count = (((times[times.len() - 1] - times[0]) / usual).round() as usize).saturating_add(1);
        if count > 2 * times.len() {
            return Err(RowFault::Sparse(count));
        }
        Ok(Some(Self { usual, largest: steps.into_iter().fold(0.0, f64::max), count }))
    }

    /// For every row at the usual step: the row at or before it, and the share of the path from there to the next row.
    pub(super) fn rows(self, times: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        let mut before = 0;
        (0..self.count).map(move |k| {
            let time = times[0] + self.usual * k as f64;
            while before + 2 < times.len() && times[before + 1] <= time {
                before += 1;
            }
            (before, ((time - times[before]) / (times[before + 1] - times[before])).clamp(0.0, 1.0))
        })
    }

    /// What a warning says of rows with numbers of frames.
    pub(super) fn said(&self, rows: usize) -> String {
        let (largest, usual) = (self.largest, self.usual);
        format!(
            "frames are missing: their numbers step by up to {largest}, usually by {usual}; {} frames were interpolated",
            self.count.saturating_sub(rows)
        )
    }
}

impl RowFault {
    /// The row at which it is seen, of so many.
    pub(super) fn row(self, rows: usize) -> usize {
        if let Self::Order(row) = self { row } else { rows.saturating_sub(1) }
    }

    /// What is wrong with rows that have these numbers.
    pub(super) fn said(self, times: &[f64]) -> String {
        match self {
            Self::Order(row) => format!("the frame {} is not after the frame {}", times[row], times[row - 1]),
            Self::Sparse(count) => {
                format!("more frames are missing than there are: {} of {count}", times.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_filled_at_the_usual_step_and_even_rows_stay() {
        for even in [&[0.0, 1.0, 2.0][..], &[4.0, 6.0, 8.0, 10.0], &[0.0; 5], &[7.0], &[]] {
            assert_eq!(MissingRows::of(even), Ok(None), "{even:?}");
        }
        let times = [2.0, 4.0, 6.0, 12.0, 14.0];
        let found = MissingRows::of(&times).unwrap().unwrap();
        assert_eq!((found.usual, found.largest, found.count), (2.0, 6.0, 7));
        let at: Vec<f64> = found
            .rows(&times)
            .map(|(row, share)| times[row] + share * (times[row + 1] - times[row]))
            .collect();
        let expected = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0];
        assert!(at.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{at:?}");
        assert!(found.said(times.len()).ends_with("; 2 frames were interpolated"));
    }

    #[test]
    fn rows_out_of_order_and_more_missing_rows_than_rows_are_refused() {
        assert_eq!(MissingRows::of(&[1.0, 2.0, 3.0, 1.0]), Err(RowFault::Order(3)));
        assert_eq!(MissingRows::of(&[1.0, 2.0, 2.0, 3.0]), Err(RowFault::Order(2)));
        assert_eq!(MissingRows::of(&[5.0, 4.0, 3.0, 2.0]), Err(RowFault::Order(1)), "backwards");
        let beyond = MissingRows::of(&[-1e308, 0.0, 0.1, 0.2]);
        assert_eq!(beyond, Err(RowFault::Sparse(usize::MAX)), "more than can be counted");
        let far = MissingRows::of(&[1.0, 2.0, 3.0, 100.0]).unwrap_err();
        assert_eq!(far.said(&[1.0, 2.0, 3.0, 100.0]), "more frames are missing than there are: 4 of 100");
    }
}
