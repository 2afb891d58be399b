//! Reads tables of weights: a row of names, then a row for each frame, as Live Link Face (Epic Games) writes them.
//!
//! Columns: `Timecode` (`HH:MM:SS:FF.sss`), `time` (seconds) or `frame` for the times, `BlendshapeCount` and the rotations of
//! head and eyes, which are not read, and one for each morph target. Cells are separated by commas, semicolons or tabs.

use super::face_error::FaceError;
use super::face_weights::{FaceWeights, USUAL_RATE};
use super::known_shapes::{are_of_a_face, is_rotation, key};
use crate::import::import_options::ImportOptions;
use crate::report::{Warnings, shortened};

/// Frame rates of timecodes, hertz: the lowest above the highest frame number of a take is its rate.
const TIMECODE_RATES: [f64; 7] = [24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 120.0];
/// Seconds of a day, after which timecodes begin again.
const DAY: f64 = 86_400.0;

/// What a column holds.
#[derive(Clone, Copy, PartialEq)]
enum FaceColumn {
    Timecode,
    Seconds,
    Frame,
    Weight,
    Other,
}

fn column(key: &str) -> FaceColumn {
    match key {
        "timecode" => FaceColumn::Timecode,
        "time" | "times" | "seconds" | "timestamp" => FaceColumn::Seconds,
        "frame" | "frames" => FaceColumn::Frame,
        "blendshapecount" | "" => FaceColumn::Other,
        rotation if is_rotation(rotation) => FaceColumn::Other,
        _ => FaceColumn::Weight,
    }
}

/// The separator of the cells of a row.
fn separator(row: &str) -> char {
    [',', ';', '\t'].into_iter().max_by_key(|c| (row.matches(*c).count(), *c == ',')).unwrap_or(',')
}

fn cells(row: &str, separator: char) -> impl Iterator<Item = &str> {
    row.split(separator).map(|cell| cell.trim().trim_matches('"'))
}

/// Whether the first bytes of a file are those of such a table.
pub(super) fn is_table(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let row = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    let keys: Vec<String> = cells(row, separator(row)).map(key).collect();
    keys.iter().any(|key| key == "blendshapecount") || are_of_a_face(keys.iter().map(String::as_str))
}

/// The weights of a table.
pub(super) fn read(
    text: &str,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<FaceWeights, FaceError> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let head = lines.next().map_or("", |line| line.1);
    let separator = separator(head);
    let names: Vec<&str> = cells(head, separator).collect();
    let keys: Vec<String> = names.iter().map(|name| key(name)).collect();
    let columns: Vec<FaceColumn> = keys.iter().map(|key| column(key)).collect();
    let of_weights: Vec<usize> = (0..names.len()).filter(|&k| columns[k] == FaceColumn::Weight).collect();
    let counted = keys.iter().any(|key| key == "blendshapecount");
    if of_weights.is_empty() || !(counted || are_of_a_face(keys.iter().map(String::as_str))) {
        return Err(FaceError::NoNames);
    }
    let mut weights = FaceWeights::default();
    let kept = weights.name(of_weights.iter().map(|&k| names[k].to_owned()));
    let of_weights: Vec<usize> = kept.into_iter().map(|k| of_weights[k]).collect();
    let time = [FaceColumn::Timecode, FaceColumn::Seconds, FaceColumn::Frame]
        .into_iter()
        .find_map(|wanted| Some((wanted, columns.iter().position(|c| *c == wanted)?)));
    // Seconds and frames apart, until the rate is known.
    let mut times: Vec<[f64; 2]> = Vec::new();
    let mut lost = 0;
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let line_number = number + 1;
        let row: Vec<&str> = cells(line, separator).collect();
        let wrong = |text: &str, expected| {
            let place = format!("line {line_number}");
            FaceError::Number { place, text: shortened(text), expected }
        };
        // The phone writes a row without weights where it sees no face.
        if of_weights.iter().all(|&k| row.get(k).is_none_or(|cell| cell.is_empty())) {
            lost += 1;
            continue;
        }
        if row.len() != names.len() {
            return Err(FaceError::Cells { line: line_number, expected: names.len(), found: row.len() });
        }
        for &k in &of_weights {
            let value: Option<f32> = row[k].parse().ok().filter(|x: &f32| x.is_finite());
            weights.values.push(value.ok_or_else(|| wrong(row[k], "a finite number"))?);
        }
        if let Some((kind, k)) = time {
            let read = match kind {
                FaceColumn::Timecode => timecode(row[k]),
                FaceColumn::Seconds => row[k].parse().ok().map(|seconds| [seconds, 0.0]),
                _ => row[k].parse().ok().map(|frame| [0.0, frame]),
            };
            let read = read.filter(|read| read.iter().all(|x: &f64| x.is_finite()));
            times.push(read.ok_or_else(|| wrong(row[k], "a time"))?);
        }
    }
    if lost > 0 {
        let said = format!("{lost} rows without weights were left out, where no face was seen");
        warnings.add("face-lost", said, "the rows");
    }
    let rate = match time {
        Some((FaceColumn::Timecode, _)) => options.rate.or_else(|| rate_of_timecodes(&times, warnings)),
        // Numbers of frames have no times without a rate.
        Some((FaceColumn::Frame, _)) => options.rate,
        _ => None,
    };
    weights.times = match (time, rate) {
        (Some((FaceColumn::Seconds, _)), _) => times.iter().map(|t| t[0]).collect(),
        (Some((FaceColumn::Timecode, _)), Some(rate)) => {
            over_midnight(times.iter().map(|t| t[0] + t[1] / rate).collect())
        }
        (Some((FaceColumn::Frame, _)), Some(rate)) => times.iter().map(|t| t[1] / rate).collect(),
        _ => Vec::new(),
    };
    Ok(weights)
}

/// `HH:MM:SS:FF` as seconds and frames, each with a fraction.
fn timecode(text: &str) -> Option<[f64; 2]> {
    let mut parts = text.split([':', ';']).map(|part| part.trim().parse::<f64>().ok());
    let mut next = || parts.next().flatten();
    let seconds = next()? * 3600.0 + next()? * 60.0 + next()?;
    Some([seconds, next().unwrap_or(0.0)])
}

/// The rate of timecodes, as seconds and frames, by the highest number of a frame.
fn rate_of_timecodes(times: &[[f64; 2]], warnings: &mut Warnings) -> Option<f64> {
    let highest = times.iter().map(|t| t[1]).fold(0.0, f64::max);
    // The numbers of frames begin anew with each second; of a part of one, nobody knows how many would follow.
    let begins_anew = times.windows(2).any(|pair| pair[0][0] != pair[1][0]);
    if !begins_anew && highest < USUAL_RATE {
        let said = format!(
            "the timecodes are of one second, which does not tell their rate: {USUAL_RATE} frames per second were assumed (`input.rate` sets it)"
        );
        warnings.guess("face-rate", said, "the timecodes");
        return Some(USUAL_RATE);
    }
    TIMECODE_RATES.into_iter().find(|rate| highest < *rate)
}

/// Times that go on rising after midnight.
fn over_midnight(mut times: Vec<f64>) -> Vec<f64> {
    let first = times.first().copied().unwrap_or(0.0);
    times.iter_mut().filter(|t| **t < first - DAY / 2.0).for_each(|t| *t += DAY);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<FaceWeights, FaceError> {
        read(text, &ImportOptions::default(), &mut Warnings::new())
    }

    #[test]
    fn a_table_of_live_link_face_has_its_weights_at_its_timecodes() {
        let text = "Timecode,BlendshapeCount,EyeBlinkLeft,JawOpen,HeadYaw\n\
                    23:59:59:58.500,61,0.25,0.5,0.1\n23:59:59:59.500,61,0.5,0.75,0.1\n\n00:00:00:00.500,0,,,\n\
                    00:00:00:01.500,61,1.0,0,0.1\n";
        let read = table(text).unwrap();
        assert_eq!(read.names, ["EyeBlinkLeft", "JawOpen"]);
        assert_eq!(read.values, [0.25, 0.5, 0.5, 0.75, 1.0, 0.0]);
        let steps: Vec<f64> = read.times.windows(2).map(|t| (t[1] - t[0]) * 60.0).collect();
        assert!((steps[0] - 1.0).abs() < 1e-6 && (steps[1] - 2.0).abs() < 1e-6, "{steps:?}");
        assert!(is_table(text.as_bytes()));
    }

    #[test]
    fn timecodes_of_a_part_of_a_second_do_not_tell_a_rate() {
        let head = "Timecode,BlendshapeCount,EyeBlinkLeft,JawOpen,MouthClose\n";
        let row = |second: usize, frame: usize| format!("10:00:{second:02}:{frame:02}.000,61,0.25,0.5,0.1\n");
        let read = |rows: String| {
            let mut warnings = Warnings::new();
            let read =
                super::read(&(head.to_owned() + &rows), &ImportOptions::default(), &mut warnings).unwrap();
            let last = read.times.last().unwrap() - read.times[0];
            (last, warnings.has("face-rate"))
        };
        let (short, told) = read((0..20).map(|frame| row(3, frame)).collect());
        assert!((short - 19.0 / 60.0).abs() < 1e-9 && told, "{short}");
        let (whole, told) = read((0..40).map(|k| row(3 + k / 30, k % 30)).collect());
        assert!((whole - 39.0 / 30.0).abs() < 1e-9 && !told, "{whole}");
    }

    #[test]
    fn a_fault_of_a_table_is_told_with_its_line() {
        let head = "time;jawOpen;mouthClose;cheekPuff\n";
        assert_eq!(table("a,b\n1,2\n").unwrap_err(), FaceError::NoNames);
        let short = table(&format!("{head}0;1;2\n")).unwrap_err();
        assert_eq!(short, FaceError::Cells { line: 2, expected: 4, found: 3 });
        for (row, place) in
            [("0;1;x;3", "line 3: `x` is not a finite number"), ("y;1;2;3", "line 3: `y` is not a time")]
        {
            let error = table(&format!("{head}0;0;0;0\n{row}\n")).unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
        assert!(
            table(&format!("{head}0;inf;0;0\n")).is_err() && table(&format!("{head}nan;0;0;0\n")).is_err()
        );
        assert!(!is_table(b"frame,left_heel,neutral,happy\n") && is_table(head.as_bytes()));
    }
}
