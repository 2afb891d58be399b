//! Reads positions of points from the JSON of trackers.
//!
//! A list of frames, or an object with `frames`. A frame is a list of points, or an object with `worldLandmarks`,
//! `pose_world_landmarks`, `landmarks` or `keypoints3D`, of one person or a list of people. A point is
//! `[x, y, z]`, `[x, y, z, confidence]` or an object with `x`, `y`, `z` and `visibility` or `score`. An empty frame is a gap. Beside
//! `frames` the object may state its rate, as `fps`, and each frame its number or time: frames that are left out are gaps, and the times
//! give the rate where none is stated. Units: those of the file.

use super::frame_times::{frame_numbers, rate_doubt, rate_of, with_gaps};
use super::markers::plausible_rate;
use super::point_array::{CONFIDENT, PointArray};
use super::points_error::PointsError;
use super::several_people::{chosen_person, followed};
use crate::import::import_error::ImportError;
use crate::import::missing_rows::MissingRows;
use crate::math::{Vec3, median};
use crate::memory_budget::MemoryBudget;
use crate::report::Warnings;
use serde_json::Value;

/// Names of a frame's list of points, in the order in which they are looked for.
const LISTS: [&str; 6] =
    ["worldLandmarks", "pose_world_landmarks", "poseWorldLandmarks", "keypoints3D", "landmarks", "keypoints"];
/// Names of a point's confidence.
const CONFIDENCE: [&str; 4] = ["visibility", "score", "confidence", "presence"];
/// Names of the rate, frames per second, in the order in which they are looked for.
const RATES: [&str; 5] = ["fps", "framerate", "frame_rate", "frameRate", "rate"];

/// Names of a frame's number.
const NUMBERS: [&str; 7] =
    ["frame", "frame_id", "frameId", "frame_index", "frameIndex", "frame_idx", "frame_number"];
/// Names of a frame's time.
const TIMES: [&str; 6] = ["timestamp", "timestamp_ms", "timestampMs", "time", "time_ms", "t"];
/// Units of times: the step from frame to frame below which it is this unit, the seconds in it, and its name. A step of 1 is that of
/// numbers of frames.
const TIME_UNITS: [(f64, f64, &str); 4] = [
    (1.0, 1.0, "seconds"),
    (1e3, 1e-3, "milliseconds"),
    (1e6, 1e-6, "microseconds"),
    (1e9, 1e-9, "nanoseconds"),
];
/// The location that warnings name.
const PLACE: &str = "the frames";

/// The points of each person of a frame; of a person that is not seen, none.
pub(super) type FramePeople = Vec<Vec<Vec3>>;

/// The content of a file.
#[derive(Debug)]
pub(super) struct JsonPoints {
    pub(super) array: PointArray,
    /// Frames per second, if stated.
    pub(super) rate: Option<f64>,
    /// Frames per second by the times of the frames.
    pub(super) rate_of_times: Option<f64>,
    pub(super) warnings: Warnings,
}

/// The positions in a text, and its rate: of the `person`, if there are several. People are told apart by their place in the list of each
/// frame; where that changes, the nearest person is followed.
///
/// # Errors
/// Text that is no JSON, JSON that is no list of frames, positions that exceed the memory limit, and several people without a choice.
pub(super) fn read(
    bytes: &[u8],
    person: Option<usize>,
    budget: &MemoryBudget,
) -> Result<JsonPoints, ImportError> {
    let fault = |reason: String| PointsError::Json { reason };
    budget.reserve_json(bytes)?;
    let whole: Value = serde_json::from_slice(bytes).map_err(|error| {
        // Python writes what JSON has no word for.
        let hint = if bytes.windows(3).any(|word| word == b"NaN") {
            "\n  hint: write null instead of NaN"
        } else {
            ""
        };
        fault(format!("{error}{hint}"))
    })?;
    let frames = match &whole {
        Value::Object(object) => object.get("frames").and_then(Value::as_array),
        other => other.as_array(),
    };
    let frames = frames.ok_or_else(|| {
        fault(
            "it is no list of frames, and has no list `frames`\n  hint: save `[[[x, y, z], ...], ...]`"
                .into(),
        )
    })?;
    let mut people: Vec<FramePeople> = (frames.iter().enumerate())
        .map(|(k, frame)| {
            row(frame).ok_or_else(|| fault(format!("frame {k} has no list of points with x, y and z")))
        })
        .collect::<Result<_, _>>()?;
    let count = people.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let has_points = |frame: &&FramePeople, k: usize| frame.get(k).is_some_and(|points| !points.is_empty());
    let seen: Vec<usize> =
        (0..count).map(|k| people.iter().filter(|frame| has_points(frame, k)).count()).collect();
    let chosen = chosen_person(&seen, people.len(), person)?;
    let mut warnings = Warnings::new();
    let places = followed(&people, chosen, PLACE, &mut warnings);
    let of_person = |(frame, place): (&mut FramePeople, usize)| {
        frame.get_mut(place).map(std::mem::take).unwrap_or_default()
    };
    let rows: Vec<Vec<Vec3>> = people.iter_mut().zip(places).map(of_person).collect();
    let points = rows.iter().map(Vec::len).max().unwrap_or(0);
    if points == 0 {
        return Err(fault("no frame has points".into()).into());
    }
    // Empty frames are gaps of all points.
    budget.reserve_list::<Vec3>((rows.len() as u64).saturating_mul(points as u64), || {
        "the positions".to_owned()
    })?;
    let mut positions = Vec::with_capacity(rows.len() * points);
    for (k, row) in rows.iter().enumerate() {
        match row.len() {
            0 => positions.extend(std::iter::repeat_n(Vec3::repeat(f64::NAN), points)),
            n if n == points => positions.extend(row),
            n => return Err(fault(format!("frame {k} has {n} points, others have {points}")).into()),
        }
    }
    let rate = RATES.iter().find_map(|name| whole.get(*name)?.as_f64()).and_then(plausible_rate);
    let array = PointArray { points, positions };
    let (array, rate_of_times) = timed(array, frames, rate, budget, &mut warnings)?;
    Ok(JsonPoints { array: array.checked()?, rate, rate_of_times, warnings })
}

/// The positions with the frames that their numbers or times leave out, as gaps, and the rate of the times.
///
/// # Errors
/// Frames in another order, more missing frames than frames, and positions that exceed the memory limit.
fn timed(
    array: PointArray,
    frames: &[Value],
    stated: Option<f64>,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<(PointArray, Option<f64>), ImportError> {
    let column = |names: &[&str]| -> Option<Vec<f64>> {
        let of = |frame: &Value| names.iter().find_map(|name| frame.get(*name)?.as_f64());
        frames.iter().map(of).collect()
    };
    let times = column(&TIMES).unwrap_or_default();
    let numbers = column(&NUMBERS).unwrap_or_else(|| (0..frames.len()).map(|k| k as f64).collect());
    let numbers = frame_numbers(numbers, &times);
    let missing =
        MissingRows::of(&numbers).map_err(|wrong| PointsError::Json { reason: wrong.said(&numbers) })?;
    let PointArray { points, positions } = array;
    let positions = with_gaps(missing, &numbers, positions, points, budget)?;
    let array = PointArray { points, positions };
    if let Some(missing) = missing {
        warnings.add("points-missing-frames", missing.said(frames.len()), PLACE);
    }
    let step = median(times.windows(2).map(|pair| pair[1] - pair[0]).collect());
    let unit = TIME_UNITS.iter().find(|(largest, ..)| step < *largest).filter(|_| step > 0.0 && step != 1.0);
    let by_times = unit.and_then(|(_, seconds, unit)| {
        let rate = plausible_rate(rate_of(&times, array.frames())? / seconds)?;
        // Times are printed with all digits; their differences are off by the last ones.
        Some(((rate * 1e6).round() / 1e6, unit))
    });
    match (stated, by_times) {
        (Some(stated), Some((rate, _))) => {
            let doubt = rate_doubt("the file", stated, rate);
            doubt.into_iter().for_each(|said| warnings.add("points-rate", said, PLACE));
        }
        (None, Some((rate, unit))) => {
            let said = format!("{rate:.2} frames per second by the times of the frames, which are {unit}");
            warnings.guess("points-rate", said, PLACE);
        }
        _ => {}
    }
    Ok((array, by_times.map(|(rate, _)| rate)))
}

/// The people of a frame; none if it is empty.
fn row(frame: &Value) -> Option<FramePeople> {
    let list = match frame {
        Value::Null => return Some(Vec::new()),
        Value::Object(object) => match LISTS.iter().find_map(|name| object.get(*name)) {
            Some(Value::Null) => return Some(Vec::new()),
            list => list?.as_array()?,
        },
        other => other.as_array()?,
    };
    // A list of people has points one level deeper.
    let is_person = |value: &Value| {
        value.as_array().is_some_and(|points| points.iter().all(|p| p.is_array() || p.is_object()))
    };
    let points = |list: &Vec<Value>| list.iter().map(point).collect::<Option<Vec<Vec3>>>();
    match list.iter().all(is_person) {
        true => list.iter().map(|person| points(person.as_array()?)).collect(),
        false => Some(vec![points(list)?]),
    }
}

/// A position; NaN where the tracker is not confident, or has none.
fn point(value: &Value) -> Option<Vec3> {
    let missing = Vec3::repeat(f64::NAN);
    let number = |value: Option<&Value>| match value? {
        Value::Null => Some(f64::NAN),
        other => other.as_f64(),
    };
    match value {
        Value::Null => Some(missing),
        Value::Array(list) if list.len() == 3 || list.len() == 4 => {
            let confident = list.get(3).and_then(Value::as_f64).is_none_or(|c| c >= CONFIDENT);
            let p = Vec3::new(number(list.first())?, number(list.get(1))?, number(list.get(2))?);
            Some(if confident { p } else { missing })
        }
        Value::Object(object) => {
            let confidence = CONFIDENCE.iter().find_map(|name| object.get(*name)?.as_f64());
            let p = [object.get("x"), object.get("y"), object.get("z")].map(number);
            let [Some(x), Some(y), Some(z)] = p else { return None };
            Some(if confidence.is_none_or(|c| c >= CONFIDENT) { Vec3::new(x, y, z) } else { missing })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<PointArray, ImportError> {
        super::read(bytes, None, &MemoryBudget::new(bytes.len() as u64, None)).map(|file| file.array)
    }

    #[test]
    fn people_are_told_apart_by_their_place() {
        let text = b"[[[[1,2,3],[4,5,6]],[[7,8,9],[1,1,1]]],[],[[[1,2,4],[4,5,7]]]]";
        let of = |person| super::read(text, person, &MemoryBudget::new(text.len() as u64, None));
        let said = of(None).unwrap_err().to_string();
        assert!(said.contains("0 in 2 of 3 frames, 1 in 1 of 3 frames"), "{said}");
        assert_eq!(of(Some(0)).unwrap().array.positions[4], Vec3::new(1.0, 2.0, 4.0));
        let second = of(Some(1)).unwrap().array;
        assert_eq!(second.positions[0], Vec3::new(7.0, 8.0, 9.0));
        assert!(second.positions[2..].iter().all(|p| p.x.is_nan()));
        assert!(of(Some(2)).is_err());
    }

    /// A file of two points, of which the first moves by 1 a frame, in these frames; each with what `of` writes of it.
    fn numbered(
        frames: &[usize],
        head: &str,
        of: impl Fn(usize) -> String,
    ) -> Result<JsonPoints, ImportError> {
        let row = |k: &usize| format!("{{{},\"landmarks\":[[{k},1,2],[3,4,5]]}}", of(*k));
        let rows: Vec<String> = frames.iter().map(row).collect();
        let text = format!("{{{head}\"frames\":[{}]}}", rows.join(","));
        super::read(text.as_bytes(), None, &MemoryBudget::new(text.len() as u64, None))
    }

    #[test]
    fn frames_that_numbers_or_times_leave_out_are_gaps() {
        let frames: Vec<usize> = (1..60).filter(|k| !(20..25).contains(k)).collect();
        let number = |k: usize| format!("\"frame\":{k}");
        let seconds = |k: usize| format!("\"timestamp\":{}", k as f64 / 25.0);
        let milliseconds = |k: usize| format!("\"timestamp_ms\":{}", (k as f64 * 1e3 / 30.0).round());
        let both = |k: usize| format!("\"frame\":{k},\"time\":{}", k as f64 / 25.0);
        let members: [&dyn Fn(usize) -> String; 4] = [&number, &seconds, &milliseconds, &both];
        let rates = [None, Some(25.0), Some(30.0), Some(25.0)];
        for (of, rate) in members.into_iter().zip(rates) {
            for head in ["", "\"fps\":30,"] {
                let found = numbered(&frames, head, of).unwrap();
                assert!(found.warnings.has("points-missing-frames"), "{}", of(1));
                let x: Vec<f64> = found.array.positions.iter().step_by(2).map(|p| p.x).collect();
                assert_eq!(x.len(), 59, "{}", of(1));
                for (k, x) in x.iter().enumerate() {
                    assert!(
                        if (19..24).contains(&k) { x.is_nan() } else { *x == (k + 1) as f64 },
                        "{k}: {x}"
                    );
                }
                let off = found.rate_of_times.zip(rate).map(|(found, rate)| (found / rate - 1.0).abs());
                assert_eq!(
                    (found.rate_of_times.is_some(), off.is_none_or(|off| off < 1e-3)),
                    (rate.is_some(), true)
                );
                assert_eq!(found.rate.is_some(), !head.is_empty());
                let doubted = found.warnings.iter().any(|w| w.code == "points-rate" && !w.sure);
                assert_eq!(doubted, !head.is_empty() && rate == Some(25.0), "{}", of(1));
            }
        }
        let whole: Vec<usize> = (1..60).collect();
        for (of, rate) in members.into_iter().zip(rates) {
            let found = numbered(&whole, "", of).unwrap();
            assert_eq!((found.array.frames(), found.rate_of_times.is_some()), (59, rate.is_some()));
            assert!(!found.warnings.has("points-missing-frames"), "{}", of(1));
        }
        // Times that count frames have no unit.
        let counted = numbered(&whole, "", |k| format!("\"timestamp\":{k}")).unwrap();
        assert_eq!(counted.rate_of_times, None);
        let said = numbered(&[1, 2, 3, 1], "", number).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("the frame 1 is not after the frame 3"), "{said}");
    }

    #[test]
    fn a_person_whose_place_in_the_list_changes_is_followed() {
        let body = |at: f64| format!("[[{at},0,1],[{at},1,1],[{at},2,1]]");
        // Both walk; from frame 10 their order is another one, and in frame 20 the first is not seen.
        let frame = |k: usize| {
            let (a, b) = (body(0.05 * k as f64), body(3.0 + 0.02 * k as f64));
            match k {
                20 => format!("[{b}]"),
                10..30 => format!("[{b},{a}]"),
                _ => format!("[{a},{b}]"),
            }
        };
        let of = |person, frame: &dyn Fn(usize) -> String| {
            let text = format!("[{}]", (0..40).map(frame).collect::<Vec<_>>().join(","));
            super::read(text.as_bytes(), Some(person), &MemoryBudget::new(text.len() as u64, None)).unwrap()
        };
        let found = of(0, &frame);
        let said = found.warnings.iter().find(|w| w.code == "points-person").map(|w| w.message.clone());
        assert!(said.is_some_and(|said| said.contains("2 times, first in frame 10 from 0 to 1")));
        for (k, p) in found.array.positions.iter().step_by(3).enumerate() {
            assert!(if k == 20 { p.x.is_nan() } else { (p.x - 0.05 * k as f64).abs() < 1e-12 }, "{k}: {p}");
        }
        // In the same order nothing is said, also of a person who leaves and comes back elsewhere.
        let ordered = |k: usize| match k {
            10..20 => format!("[[],{}]", body(3.0)),
            20.. => format!("[{},{}]", body(9.0), body(3.0)),
            _ => format!("[{},{}]", body(0.0), body(3.0)),
        };
        let found = of(0, &ordered);
        assert!(!found.warnings.has("points-person"));
        assert_eq!(found.array.positions[3 * 30].x, 9.0);
    }

    #[test]
    fn trackers_write_frames_in_several_ways() {
        let expected = read(b"[[[1,2,3],[4,5,6]],[[1,2,4],[4,5,7]]]").unwrap();
        assert_eq!((expected.points, expected.frames()), (2, 2));
        let points = "{\"x\":1,\"y\":2,\"z\":3,\"visibility\":0.9},{\"x\":4,\"y\":5,\"z\":6}";
        for text in [
            "{\"frames\":[[[1,2,3],[4,5,6]],[[1,2,4],[4,5,7]]]}".to_owned(),
            format!("[{{\"worldLandmarks\":[[{points}]]}},{{\"landmarks\":[[1,2,4],[4,5,7]]}}]"),
            format!("[[{points}],[[1,2,4,0.5],[4,5,7,1]]]"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text}");
        }
        let gaps = read(b"[[],[[1,2,4],{\"x\":4,\"y\":5,\"z\":7,\"score\":0.1}]]").unwrap();
        let known: Vec<bool> = gaps.positions.iter().map(|p| p.x.is_finite()).collect();
        assert_eq!(known, [false, false, true, false]);
    }

    #[test]
    fn other_json_is_refused_with_its_frame() {
        for text in
            ["", "{", "{}", "3", "[]", "[[]]", "[[1,2,3]]", "[[[1,2]]]", "[[[1,2,3]],[[1,2,3],[1,2,3]]]"]
        {
            assert!(
                matches!(read(text.as_bytes()), Err(ImportError::Points(PointsError::Json { .. }))),
                "{text}"
            );
        }
        let gaps = format!("[[{}[1,2,3]]{}]", "[1,2,3],".repeat(10_000), ",[]".repeat(10_000));
        assert!(matches!(read(gaps.as_bytes()), Err(ImportError::Memory(_))));
        let said = read(b"[[[1,2,3]],[[1,2,\"a\"]]]").unwrap_err().to_string();
        assert!(said.contains("frame 1"), "{said}");
    }
}
