//! Reads positions of points from the JSON of trackers.
//!
//! A list of frames, or an object with `frames`. A frame is a list of points, or an object with `worldLandmarks`,
//! `pose_world_landmarks`, `landmarks` or `keypoints3D`, of one person or a list of people. A point is
//! `[x, y, z]`, `[x, y, z, confidence]` or an object with `x`, `y`, `z` and `visibility` or `score`. An empty frame is a gap. Beside
//! `frames` the object may state its rate, as `fps`. Units: those of the file.

use super::markers::plausible_rate;
use super::point_array::{CONFIDENT, PointArray};
use super::points_error::PointsError;
use super::several_people::chosen_person;
use crate::import::import_error::ImportError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;
use serde_json::Value;

/// Names of a frame's list of points, in the order in which they are looked for.
const LISTS: [&str; 6] =
    ["worldLandmarks", "pose_world_landmarks", "poseWorldLandmarks", "keypoints3D", "landmarks", "keypoints"];
/// Names of a point's confidence.
const CONFIDENCE: [&str; 4] = ["visibility", "score", "confidence", "presence"];
/// Names of the rate, frames per second, in the order in which they are looked for.
const RATES: [&str; 5] = ["fps", "framerate", "frame_rate", "frameRate", "rate"];

/// The points of each person of a frame; of a person that is not seen, none.
type FramePeople = Vec<Vec<Vec3>>;

/// The positions in a text and the rate that it states: of the `person`, if there are several. People are told apart by their place in
/// the list of each frame.
///
/// # Errors
/// Text that is no JSON, JSON that is no list of frames, positions that exceed the memory limit, and several people without a choice.
pub(super) fn read(
    bytes: &[u8],
    person: Option<usize>,
    budget: &MemoryBudget,
) -> Result<(PointArray, Option<f64>), ImportError> {
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
    let of_person = |frame: &mut FramePeople| frame.get_mut(chosen).map(std::mem::take).unwrap_or_default();
    let rows: Vec<Vec<Vec3>> = people.iter_mut().map(of_person).collect();
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
    Ok((PointArray { points, positions }.checked()?, rate))
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
        super::read(bytes, None, &MemoryBudget::new(bytes.len() as u64, None)).map(|(array, _)| array)
    }

    #[test]
    fn people_are_told_apart_by_their_place() {
        let text = b"[[[[1,2,3],[4,5,6]],[[7,8,9],[1,1,1]]],[],[[[1,2,4],[4,5,7]]]]";
        let of = |person| super::read(text, person, &MemoryBudget::new(text.len() as u64, None));
        let said = of(None).unwrap_err().to_string();
        assert!(said.contains("0 in 2 of 3 frames, 1 in 1 of 3 frames"), "{said}");
        assert_eq!(of(Some(0)).unwrap().0.positions[4], Vec3::new(1.0, 2.0, 4.0));
        let second = of(Some(1)).unwrap().0;
        assert_eq!(second.positions[0], Vec3::new(7.0, 8.0, 9.0));
        assert!(second.positions[2..].iter().all(|p| p.x.is_nan()));
        assert!(of(Some(2)).is_err());
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
