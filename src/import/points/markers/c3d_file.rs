//! Reads C3D files: labelled points as integers or floats of Intel, DEC and MIPS processors. Analog samples are skipped.
//!
//! Source: The C3D File Format User Guide (Motion Lab Systems 2008). Units: those of the file.

use super::c3d_parameters::{BLOCK, C3dParameters, SectionFault};
use super::c3d_words::Processor;
use super::marker_recording::{MarkerRecording, plausible_rate};
use crate::import::import_error::ImportError;
use crate::import::import_options::UpAxis;
use crate::import::points::point_array::PointArray;
use crate::import::points::points_error::PointsError;
use crate::math::Vec3;
use crate::memory_budget::MemoryBudget;

/// The second byte of every C3D file.
const KEY: u8 = 0x50;
/// The numbers that a word can state.
const WORDS: usize = 65_536;

/// Whether the first bytes are those of a C3D file.
pub(super) fn is_one(head: &[u8]) -> bool {
    // The parameters begin in one of the first blocks, usually the second.
    matches!(head, [2..=9, KEY, ..]) && head.len() >= BLOCK
}

/// Where the frames are, and how they are written.
struct C3dFrames {
    points: usize,
    count: usize,
    start: usize,
    /// Bytes of a frame, with its analog samples.
    stride: usize,
    floats: bool,
    scale: f64,
    /// What to report of numbers of frames that contradict each other.
    doubt: Option<String>,
}

/// The points of a C3D file.
///
/// # Errors
/// [`PointsError::C3d`] with the damaged part, and recordings that exceed the memory limit.
pub(super) fn read(bytes: &[u8], budget: &MemoryBudget) -> Result<MarkerRecording, ImportError> {
    let fault = |reason: String| ImportError::from(PointsError::C3d { reason });
    let header = bytes.get(..BLOCK).filter(|head| head[1] == KEY && head[0] > 0);
    let header = header.ok_or_else(|| fault("its first block is no header of a C3D file".into()))?;
    let start = (usize::from(header[0]) - 1) * BLOCK;
    let parameters = C3dParameters::read(bytes, start, budget).map_err(|error| match error {
        SectionFault::Damaged(reason) => fault(reason.to_owned()),
        SectionFault::Memory(over) => over.into(),
    })?;
    let frames = frames(bytes, header, &parameters).map_err(fault)?;
    let samples = frames.points as u64 * frames.count as u64;
    budget
        .reserve_list::<Vec3>(samples, || format!("{} frames of {} points", frames.count, frames.points))?;
    let array =
        PointArray { points: frames.points, positions: positions(bytes, &frames, parameters.processor) };
    let mut labels = parameters.long_texts("POINT:LABELS");
    labels.resize(frames.points, String::new());
    let header_rate = parameters.processor.float([header[20], header[21], header[22], header[23]]);
    let rate =
        parameters.number("POINT:RATE").and_then(plausible_rate).or_else(|| plausible_rate(header_rate));
    let first =
        |name: &str| parameters.texts(name).and_then(|texts| texts.into_iter().next()).unwrap_or_default();
    let up = match first("POINT:Y_SCREEN").as_str() {
        "+Z" => Some(UpAxis::Z),
        "+Y" => Some(UpAxis::Y),
        _ => None,
    };
    let measures = parameters.of_group("PROCESSING");
    let (array, unit) = (array.checked()?, first("POINT:UNITS"));
    Ok(MarkerRecording {
        labels,
        array,
        rate,
        unit,
        up,
        usual_up: UpAxis::Z,
        missing: None,
        count_doubt: frames.doubt,
        rate_doubt: None,
        measures,
    })
}

fn frames(bytes: &[u8], header: &[u8], parameters: &C3dParameters) -> Result<C3dFrames, String> {
    let word = |k: usize| parameters.processor.word([header[2 * k - 2], header[2 * k - 1]]);
    // A word of the parameters that is there and not zero counts more than that of the header.
    let stated = |name: &str, in_header: usize| match parameters.number(name) {
        Some(value) if value >= 1.0 => value as usize,
        _ => usize::from(word(in_header)),
    };
    let points = stated("POINT:USED", 2);
    if points == 0 {
        return Err("it has no points, only analog samples or nothing".into());
    }
    if points > usize::from(u16::MAX) {
        return Err(format!("it states {points} points, allowed are 65535 (`POINT:USED`)"));
    }
    let header_scale = parameters.processor.float([header[12], header[13], header[14], header[15]]);
    let scale = parameters.number("POINT:SCALE").filter(|s| *s != 0.0).unwrap_or(header_scale);
    if scale == 0.0 || !scale.is_finite() {
        return Err(format!("the scale of its points is {scale} (`POINT:SCALE`)"));
    }
    let floats = scale < 0.0;
    let width = if floats { 4 } else { 2 };
    let stride = (4 * points + usize::from(word(3))) * width;
    let block = stated("POINT:DATA_START", 9);
    let start = block.saturating_sub(1).saturating_mul(BLOCK);
    if block < 2 || start >= bytes.len() {
        return Err(format!("its points begin in block {block}, outside of the file (`POINT:DATA_START`)"));
    }
    let room = (bytes.len() - start) / stride;
    let counts = frame_counts(usize::from(word(4)), usize::from(word(5)), parameters);
    match counts.iter().find(|count| **count <= room) {
        Some(stated) => {
            let long = [parameters.number("POINT:LONG_FRAMES"), parameters.number("POINT:FRAMES")];
            let long = long.into_iter().flatten().map(|n| n as usize).filter(|n| n <= &room).max();
            let (count, by) = match long.filter(|long| long > stated) {
                Some(long) => (long, "as `POINT:FRAMES` states"),
                None => {
                    (frames_of_data(&bytes[start..], stride, *stated), "since a word counts to 65,535 only")
                }
            };
            let doubt = (count > *stated).then(|| {
                format!("the header states {stated} frames, the data have {count}, which are read, {by}")
            });
            Ok(C3dFrames { points, count, start, stride, floats, scale, doubt })
        }
        None => Err(match counts.first() {
            None => "it has no frames: the last one is before the first one".into(),
            Some(count) => {
                format!("it states {count} frames of {points} points, and holds {room}: it ends too early")
            }
        }),
    }
}

/// The numbers of frames that the file states, the most credible one first: a word of the header ends at 65,535.
fn frame_counts(first: usize, last: usize, parameters: &C3dParameters) -> Vec<usize> {
    let long = |name: &str| match parameters.numbers(name)?[..] {
        [low, high, ..] => Some(low + 65_536.0 * high),
        [one] => Some(one),
        _ => None,
    };
    let trial = || Some(long("TRIAL:ACTUAL_END_FIELD")? - long("TRIAL:ACTUAL_START_FIELD")? + 1.0);
    let header = (last >= first).then(|| last - first + 1);
    let others = [trial(), parameters.number("POINT:LONG_FRAMES"), parameters.number("POINT:FRAMES")];
    let mut counts: Vec<usize> =
        others.into_iter().flatten().filter(|n| *n >= 1.0).map(|n| n as usize).collect();
    match last {
        // The header counts only so far.
        65_535 => counts.extend(header),
        _ => counts.splice(..0, header).for_each(drop),
    }
    counts
}

/// The frames of data that are longer than a word counts, and of which a word states so many: it wraps round, or ends at 65,535. The
/// last block is filled with zeros.
fn frames_of_data(data: &[u8], stride: usize, stated: usize) -> usize {
    let room = data.len() / stride;
    let filled = |count: usize| data.len() - count * stride < BLOCK;
    let beyond = room.saturating_sub(stated);
    match stated + beyond - beyond % WORDS {
        wrapped if wrapped > stated && filled(wrapped) => wrapped,
        _ if stated + 1 == WORDS => {
            let empty = |count: &usize| data[(count - 1) * stride..count * stride].iter().all(|b| *b == 0);
            let counts = (stated + 1..=room).rev();
            counts.take_while(|count| filled(*count)).find(|count| !empty(count)).unwrap_or(stated)
        }
        _ => stated,
    }
}

fn positions(bytes: &[u8], frames: &C3dFrames, processor: Processor) -> Vec<Vec3> {
    let width = if frames.floats { 4 } else { 2 };
    let number = |at: usize| match frames.floats {
        true => processor.float([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]),
        false => f64::from(processor.word([bytes[at], bytes[at + 1]]) as i16),
    };
    let scale = if frames.floats { 1.0 } else { frames.scale };
    let point = |at: usize| {
        let [x, y, z, residual] = [0, 1, 2, 3].map(|k| number(at + k * width));
        // A residual below zero says that the point was not seen; -0 is one of a file of floats.
        if residual < 0.0 { Vec3::repeat(f64::NAN) } else { Vec3::new(x, y, z) * scale }
    };
    let places = (0..frames.count)
        .flat_map(|f| (0..frames.points).map(move |p| frames.start + f * frames.stride + p * 4 * width));
    places.map(point).collect()
}
