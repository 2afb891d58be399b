//! Reads weights from JSON: a list of names and a row for each frame, or an object of weights for each frame.
//!
//! Layouts: `{"fps": 60, "names": [...], "frames": [[...], ...]}`, as Audio2Face (NVIDIA) writes with `exportFps`, `facsNames` and
//! `weightMat`; and `{"fps": 60, "frames": [{"time": 0.0, "weights": {"jawOpen": 0.1}}, ...]}`, or this list alone. A weight that an
//! object does not name is 0.

use super::face_error::FaceError;
use super::face_weights::FaceWeights;
use super::known_shapes::{is_rotation, key};
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::report::shortened;
use serde_json::{Map, Value};
use std::collections::HashMap;

const NAMES: &[&str] = &["names", "facsNames", "blendShapes", "blendShapeNames", "blendshapes"];
const FRAMES: &[&str] = &["frames", "weightMat", "weights"];
const RATE: &[&str] = &["fps", "exportFps", "rate", "frameRate"];
const TIME: &[&str] = &["time", "timestamp", "t"];

/// Whether the first bytes of a file are those of such a document.
pub(super) fn is_document(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let has = |keys: &[&str]| keys.iter().any(|key| text.contains(&format!("\"{key}\"")));
    let known = || {
        super::known_shapes::are_of_a_face(
            text.split('"').map(key).collect::<Vec<_>>().iter().map(String::as_str),
        )
    };
    text.trim_start().starts_with(['{', '[']) && (has(NAMES) && has(FRAMES) || known())
}

/// The weights of a document.
pub(super) fn read(text: &str, budget: &MemoryBudget) -> Result<FaceWeights, ImportError> {
    budget.reserve_json(text.as_bytes())?;
    let json: Value = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let empty = Map::new();
    let top = json.as_object().unwrap_or(&empty);
    let list = |keys: &[&str]| keys.iter().find_map(|key| top.get(*key)?.as_array());
    let frames = json.as_array().or_else(|| list(FRAMES));
    let frames = frames.ok_or_else(|| wrong(format!("none of the keys {} is a list", FRAMES.join(", "))))?;
    let mut made = match list(NAMES) {
        Some(names) => of_rows(names, frames, budget)?,
        None => of_objects(frames, budget)?,
    };
    made.rate = RATE.iter().find_map(|key| top.get(*key)?.as_f64());
    Ok(made)
}

fn wrong(reason: String) -> FaceError {
    FaceError::Json { reason }
}

fn number(value: Option<&Value>, place: impl FnOnce() -> String) -> Result<f64, FaceError> {
    value.and_then(Value::as_f64).ok_or_else(|| {
        let text = shortened(&value.map_or_else(String::new, Value::to_string));
        FaceError::Number { place: place(), text, expected: "a number" }
    })
}

fn of_rows(names: &[Value], frames: &[Value], budget: &MemoryBudget) -> Result<FaceWeights, ImportError> {
    let mut made = FaceWeights::default();
    let named = names.iter().map(|name| name.as_str().unwrap_or_default().to_owned());
    let kept = made.name(named);
    if made.names.is_empty() || made.names.iter().any(String::is_empty) {
        return Err(wrong("a name is missing".to_owned()).into());
    }
    budget.reserve_list::<f32>(frames.len() as u64 * kept.len() as u64, || "the weights".to_owned())?;
    for (frame, row) in frames.iter().enumerate() {
        let row = row.as_array().filter(|row| row.len() == names.len());
        let row =
            row.ok_or_else(|| wrong(format!("frame {frame} is not a list of {} weights", names.len())))?;
        for &k in &kept {
            made.values.push(number(row.get(k), || format!("frame {frame}"))? as f32);
        }
    }
    Ok(made)
}

fn of_objects(frames: &[Value], budget: &MemoryBudget) -> Result<FaceWeights, ImportError> {
    let objects = || {
        frames.iter().enumerate().map(|(frame, entry)| {
            let entry = entry.as_object().ok_or_else(|| wrong(format!("frame {frame} is not an object")))?;
            let inner = NAMES.iter().chain(FRAMES).find_map(|key| entry.get(*key)?.as_object());
            Ok::<_, FaceError>((frame, entry, inner.unwrap_or(entry)))
        })
    };
    let is_weight = |name: &str| !(TIME.contains(&name) || name == "frame" || is_rotation(&key(name)));
    let mut column: HashMap<String, usize> = HashMap::new();
    let mut made = FaceWeights::default();
    for entry in objects() {
        for name in entry?.2.keys().filter(|name| is_weight(name)) {
            column.entry(key(name)).or_insert_with(|| {
                made.names.push(name.clone());
                made.names.len() - 1
            });
        }
    }
    let width = made.names.len();
    budget.reserve_list::<f32>(frames.len() as u64 * width as u64, || "the weights".to_owned())?;
    made.values = vec![0.0; frames.len() * width];
    for entry in objects() {
        let (frame, entry, weights) = entry?;
        for (name, value) in weights.iter().filter(|(name, _)| is_weight(name)) {
            let value = number(Some(value), || format!("frame {frame}, `{}`", shortened(name)))?;
            made.values[frame * width + column[&key(name)]] = value as f32;
        }
        if let Some(time) = TIME.iter().find_map(|key| entry.get(*key)) {
            made.times.push(number(Some(time), || format!("frame {frame}, its time"))?);
        }
    }
    if made.times.len() != frames.len() {
        made.times.clear();
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Result<FaceWeights, ImportError> {
        read(text, &MemoryBudget::new(text.len() as u64, None))
    }

    #[test]
    fn both_layouts_have_the_same_weights() {
        let rows = r#"{"exportFps":30,"facsNames":["jawOpen","JawOpen","cheekPuff"],"weightMat":[[0.5,9,0.25],[1,9,0]]}"#;
        let objects = r#"[{"time":0,"weights":{"jawOpen":0.5,"cheekPuff":0.25}},{"time":0.0333333,"weights":{"jawOpen":1}}]"#;
        let (a, b) = (document(rows).unwrap(), document(objects).unwrap());
        assert_eq!((&a.names, &a.values), (&b.names, &b.values));
        assert_eq!((a.rate, a.times.len(), b.rate, b.times.len()), (Some(30.0), 0, None, 2));
        assert!(is_document(rows.as_bytes()) && !is_document(br#"{"asset":{},"weights":[]}"#));
    }

    #[test]
    fn faults_name_the_frame() {
        for (text, said) in [
            (r#"{"names":["a"],"frames":[[1],[1,2]]}"#, "frame 1 is not a list of 1 weights"),
            (r#"{"names":["a"],"frames":[["x"]]}"#, "frame 0: `\"x\"` is not a number"),
            (r#"{"frames":[{"weights":{"a":null}}]}"#, "frame 0, `a`: `null` is not a number"),
            (r#"{"frames":[3]}"#, "frame 0 is not an object"),
            (r#"{"names":[""],"frames":[]}"#, "a name is missing"),
            ("{}", "none of the keys frames, weightMat, weights is a list"),
            ("{", "EOF while parsing"),
        ] {
            let error = document(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
