//! Reads TRC files: tables of labelled points, as Motion Analysis and OpenSim write them. Units: those of the file.

use super::marker_recording::{MarkerRecording, plausible_rate};
use crate::import::import_error::ImportError;
use crate::import::import_options::UpAxis;
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
    let points = labels.len();
    let mut positions = Vec::new();
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
        let coordinate = |k: usize| match row.get(k).copied().unwrap_or_default() {
            "" => Ok(f64::NAN),
            cell => cell
                .parse::<f64>()
                .map_err(|_| fault(number, format!("`{}` is no number", crate::report::shortened(cell)))),
        };
        for point in 0..points {
            let [x, y, z] = [2, 3, 4].map(|k| coordinate(3 * point + k));
            positions.push(Vec3::new(x?, y?, z?));
        }
    }
    let frames = positions.len() / points;
    let expected = stated("NumFrames").and_then(|n| n.parse::<f64>().ok()).unwrap_or(1.0).max(1.0);
    if (frames as f64) < expected {
        return Err(fault(2, format!("the header states {expected} frames, the table has {frames}")));
    }
    let rate = stated("DataRate").and_then(|rate| rate.parse().ok()).and_then(plausible_rate);
    let array = PointArray { points, positions }.checked()?;
    let unit = stated("Units").unwrap_or_default().to_owned();
    // OpenSim's tables have Y up.
    Ok(MarkerRecording { labels, array, rate, unit, up: None, usual_up: UpAxis::Y, measures: Vec::new() })
}
