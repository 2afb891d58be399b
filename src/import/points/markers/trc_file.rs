//! Reads TRC files: tables of labelled points, as Motion Analysis and OpenSim write them. Units: those of the file.

use super::marker_recording::{MarkerRecording, plausible_rate};
use crate::import::import_error::ImportError;
use crate::import::import_options::UpAxis;
use crate::import::missing_rows::MissingRows;
use crate::import::points::frame_times::{frame_numbers, rate_doubt, rate_of, with_gaps};
use crate::import::points::point_array::PointArray;
use crate::import::points::points_error::PointsError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;

/// The first word of every file.
pub(super) const START: &[u8] = b"PathFileType";

/// What separates the cells of a line so that empty ones are seen, since those are gaps: tabs, else commas (tables saved as CSV).
fn separator(line: &str) -> Option<char> {
    ['\t', ','].into_iter().find(|sign| line.contains(*sign))
}

/// The cells of a line; by spaces where there is no separator.
fn cells(line: &str) -> Vec<&str> {
    match separator(line) {
        Some(sign) => line.split(sign).map(str::trim).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// The points of a TRC file.
///
/// # Errors
/// [`PointsError::Trc`] with the line, and recordings that exceed the memory limit.
pub(super) fn read(bytes: &[u8], budget: &MemoryBudget) -> Result<MarkerRecording, ImportError> {
    let fault = |line: usize, reason: String| ImportError::from(PointsError::Trc { line: line + 1, reason });
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().enumerate();
    let mut head = |what: &str| lines.next().ok_or_else(|| fault(0, format!("the file ends before {what}")));
    let (_, first) = head("its header")?;
    if !first.trim_start().as_bytes().starts_with(START) {
        return Err(fault(0, "it does not begin with `PathFileType`".into()));
    }
    let (names, values) =
        (cells(head("the names of its header")?.1), cells(head("the values of its header")?.1));
    let stated = |name: &str| {
        names.iter().position(|n| n.eq_ignore_ascii_case(name)).and_then(|k| values.get(k).copied())
    };
    let (label_line, labels) = head("its labels")?;
    let labels: Vec<String> =
        cells(labels).into_iter().skip(2).filter(|l| !l.is_empty()).map(str::to_owned).collect();
    if labels.is_empty() {
        return Err(fault(
            label_line,
            "no labels follow `Frame#` and `Time` (tabs or commas separate them)".into(),
        ));
    }
    let (points, mut positions) = (labels.len(), Vec::new());
    let (mut numbers, mut times, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (number, line) in lines {
        let row = cells(line);
        // The second line of labels, X1 Y1 Z1, and empty lines.
        if row.first().is_none_or(|frame| frame.parse::<f64>().is_err()) {
            if positions.is_empty() || row.iter().all(|cell| cell.is_empty()) {
                continue;
            }
            return Err(fault(number, "it does not begin with the number of a frame".into()));
        }
        // Markers that are missing at the end of a row may be left out.
        let given = row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last.max(1) - 1);
        let by_spaces = separator(line).is_none();
        if given % 3 != 0 || (by_spaces && given != 3 * points) {
            let reason =
                format!("{given} numbers follow frame and time, where {points} markers have {}", 3 * points);
            return Err(fault(number, reason));
        }
        budget.reserve_list::<Vec3>(points as u64, || format!("line {}", number + 1))?;
        let coordinate = |k: usize| {
            coordinate(row.get(k).copied().unwrap_or_default()).map_err(|reason| fault(number, reason))
        };
        for point in 0..points {
            let [x, y, z] = [2, 3, 4].map(|k| coordinate(3 * point + k));
            positions.push(Vec3::new(x?, y?, z?));
        }
        let [frame, time] = [0, 1].map(|k| row.get(k).and_then(|cell| cell.parse::<f64>().ok()));
        numbers.push(frame.unwrap_or_default());
        times.extend(time);
        rows.push(number);
    }
    let expected = stated("NumFrames").and_then(|n| n.parse::<f64>().ok()).unwrap_or(1.0).max(1.0);
    if (rows.len() as f64) < expected {
        return Err(fault(2, format!("the header states {expected} frames, the table has {}", rows.len())));
    }
    let numbers = frame_numbers(numbers, &times);
    let missing = MissingRows::of(&numbers);
    let missing = missing.map_err(|wrong| fault(rows[wrong.row(rows.len())], wrong.said(&numbers)))?;
    let positions = with_gaps(missing, &numbers, positions, points, budget)?;
    let rate = stated("DataRate").and_then(|rate| rate.parse().ok()).and_then(plausible_rate);
    let array = PointArray { points, positions }.checked()?;
    let rate_doubt = header_doubt(rate, &times, rows.len(), array.frames());
    // OpenSim's tables have Y up.
    Ok(MarkerRecording {
        labels,
        array,
        rate,
        unit: stated("Units").unwrap_or_default().to_owned(),
        up: None,
        usual_up: UpAxis::Y,
        missing: missing.map(|missing| missing.said(rows.len())),
        count_doubt: None,
        rate_doubt,
        measures: Vec::new(),
    })
}

/// What to report of a rate of the header that the times of so many rows contradict, which stand for so many frames.
fn header_doubt(stated: Option<f64>, times: &[f64], rows: usize, frames: usize) -> Option<String> {
    let by_times = rate_of(times, frames).filter(|_| times.len() == rows)?;
    rate_doubt("the header", stated?, by_times)
}

/// A coordinate; NaN for an empty cell, a gap.
fn coordinate(cell: &str) -> Result<f64, String> {
    let wrong = |_| format!("`{}` is no number", crate::report::shortened(cell));
    if cell.is_empty() { Ok(f64::NAN) } else { cell.parse().map_err(wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A marker that moves by 1 a frame, in these frames, with times of so many digits.
    fn recording(frames: &[usize], numbered: bool, digits: usize) -> Result<MarkerRecording, ImportError> {
        let mut text = format!(
            "PathFileType\t4\t(X/Y/Z)\ta.trc\nDataRate\tNumFrames\tUnits\n240\t{}\tmm\nFrame#\tTime\tA\n\t\tX1\tY1\tZ1\n",
            frames.len()
        );
        for (row, frame) in frames.iter().enumerate() {
            let (number, time) = (if numbered { *frame } else { row + 1 }, *frame as f64 / 240.0);
            text += &format!("{number}\t{time:.digits$}\t{frame}\t0\t0\n");
        }
        read(text.as_bytes(), &MemoryBudget::new(0, None))
    }

    #[test]
    fn frames_that_the_numbers_or_the_times_leave_out_are_frames_without_markers() {
        let gap: Vec<usize> = (1..400).filter(|k| !(100..130).contains(k)).collect();
        for (numbered, digits) in [(true, 5), (false, 5), (true, 3)] {
            let found = recording(&gap, numbered, digits).unwrap();
            assert!(
                found.missing.as_ref().is_some_and(|said| said.contains("30 frames")),
                "{:?}",
                found.missing
            );
            let x: Vec<f64> = found.array.positions.iter().map(|p| p.x).collect();
            assert_eq!(x.len(), 399);
            for (k, x) in x.iter().enumerate() {
                assert!(if (99..129).contains(&k) { x.is_nan() } else { *x == (k + 1) as f64 }, "{k}: {x}");
            }
        }
        let whole: Vec<usize> = (1..400).collect();
        for (numbered, digits) in [(true, 5), (false, 5), (true, 3), (false, 3), (true, 0)] {
            let found = recording(&whole, numbered, digits).unwrap();
            assert_eq!((found.missing, found.array.frames()), (None, 399), "{numbered} {digits}");
        }
        let refused = recording(&[1, 2, 3, 1], true, 5).unwrap_err().to_string();
        assert!(refused.contains("the frame 1 is not after the frame 3"), "{refused}");
        assert!(recording(&whole, true, 5).unwrap().rate_doubt.is_none());
        let slow: Vec<usize> = (1..400).map(|k| 2 * k).collect();
        let doubt = recording(&slow, true, 5).unwrap().rate_doubt.unwrap();
        assert!(doubt.contains("240 frames per second") && doubt.contains("120.00"), "{doubt}");
        let backwards: Vec<usize> = (1..40).rev().collect();
        for numbered in [true, false] {
            let refused = recording(&backwards, numbered, 5).unwrap_err().to_string();
            assert!(refused.contains("line 7") && refused.contains("is not after"), "{refused}");
        }
    }
}
