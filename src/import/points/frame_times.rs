//! Times of frames of points: frames that a file leaves out become frames without points, and rates are checked.

use crate::import::import_error::ImportError;
use crate::import::missing_rows::MissingRows;
use crate::math::{Vec3, median};
use crate::memory_budget::MemoryBudget;

/// Farther than this from either frame, in steps, a frame is neither of them: numbers are whole.
const SAME: f64 = 0.1;
/// Deviation of the rate of the times from the stated one, relative to it, that is no rounding.
const OTHER_RATE: f64 = 0.1;

/// The numbers of the frames. Where they are even and the times are not, frames are counted by the times, which are rounded.
pub(super) fn frame_numbers(numbers: Vec<f64>, times: &[f64]) -> Vec<f64> {
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let middle = median(steps.clone());
    let single = |step: &&f64| **step > 0.5 * middle && **step < 1.5 * middle;
    let (sum, count) =
        steps.iter().filter(single).fold((0.0, 0), |(sum, count), step| (sum + step, count + 1));
    if times.len() != numbers.len() || MissingRows::of(&numbers) != Ok(None) {
        return numbers;
    }
    if middle < 0.0 {
        // Rows in reverse, numbered again.
        return times.to_vec();
    }
    if count == 0 {
        return numbers;
    }
    let usual = sum / f64::from(count);
    let mut number = 0.0;
    let next = |step: &f64| {
        number += (step / usual).round().max(1.0);
        number
    };
    std::iter::once(0.0).chain(steps.iter().map(next)).collect()
}

/// The rate of the times of so many frames, those that are left out included, per unit of the times; `None` where times repeat, which
/// are rounded too coarsely.
pub(super) fn rate_of(times: &[f64], frames: usize) -> Option<f64> {
    let duration = times.last()? - times.first()?;
    let rises = times.windows(2).all(|pair| pair[1] > pair[0]);
    (rises && duration > 0.0 && duration.is_finite()).then(|| (frames - 1) as f64 / duration)
}

/// What to report of a rate stated by `place` that the times contradict, which have another one.
pub(super) fn rate_doubt(place: &str, stated: f64, by_times: f64) -> Option<String> {
    ((by_times / stated - 1.0).abs() > OTHER_RATE).then(|| {
        format!(
            "{place} states {stated} frames per second, which are read; the times of the rows are those of {by_times:.2}"
        )
    })
}

/// The positions with a frame in which no point is seen for each that is missing.
///
/// # Errors
/// The memory limit of the file.
pub(super) fn with_gaps(
    missing: Option<MissingRows>,
    numbers: &[f64],
    positions: Vec<Vec3>,
    points: usize,
    budget: &MemoryBudget,
) -> Result<Vec<Vec3>, ImportError> {
    let Some(missing) = missing else { return Ok(positions) };
    budget.reserve_list::<Vec3>((missing.count * points) as u64, || "the missing frames".to_owned())?;
    let mut filled = Vec::with_capacity(missing.count * points);
    for (before, share) in missing.rows(numbers) {
        // The share is that of a path over the whole gap.
        let path = (numbers[before + 1] - numbers[before]) / missing.usual;
        let frame = match (share * path, (1.0 - share) * path) {
            (a, _) if a < SAME => Some(before),
            (_, b) if b < SAME => Some(before + 1),
            _ => None,
        };
        match frame {
            Some(frame) => filled.extend(&positions[frame * points..][..points]),
            None => filled.extend(std::iter::repeat_n(Vec3::repeat(f64::NAN), points)),
        }
    }
    Ok(filled)
}
