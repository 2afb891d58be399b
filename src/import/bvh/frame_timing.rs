//! Reads the frame count and the frame time between the hierarchy and the rows of a BVH file.

use super::bvh_error::BvhError;
use super::lexer::{Lexer, clip, starts_with};

/// Frame time in seconds if the file has no usable one: 30 frames per second.
pub const DEFAULT_FRAME_TIME: f64 = 1.0 / 30.0;

/// Plausible frame times in seconds: a microsecond to a quarter of an hour.
const FRAME_TIMES: std::ops::RangeInclusive<f64> = 1e-6..=1e3;

/// Frame times that are milliseconds instead of seconds: as milliseconds they are 500 to 10 Hz, the rates of all captures; as
/// seconds they would be one pose every two seconds or fewer, which is no motion. One second is plausible: lists of poses have
/// it. With half of the lower end such lists would be read as captures; with twice of it captures of 250 to 500 Hz would last
/// for hours.
const MILLISECONDS: std::ops::RangeInclusive<f64> = 2.0..=100.0;

/// Values that are frame rates in hertz, written in the place of the frame time: as milliseconds they would be 42, 33, 17 Hz and
/// below, which nobody records.
const RATES: [f64; 7] = [24.0, 30.0, 60.0, 90.0, 120.0, 144.0, 240.0];

/// Reads `Frames:` and `Frame Time:`, in any order, each once or not at all.
///
/// # Errors
/// [`BvhError`] for a line that starts with `Frame` and is neither.
pub(super) fn frame_timing(lexer: &mut Lexer) -> Result<(Option<u64>, f64), BvhError> {
    let (mut frames, mut frame_time) = (None, None);
    let (mut frames_seen, mut time_seen) = (false, false);
    loop {
        let start = lexer.next_at();
        let rest = &lexer.text[start..];
        if !time_seen && starts_with(rest, "Frame") && !starts_with(rest, "Frames") {
            lexer.at = start + "Frame".len();
            lexer.skip_space();
            if !starts_with(&lexer.text[lexer.at..], "Time") {
                return Err(lexer.unexpected(
                    start,
                    "`Frame Time:`",
                    "the line reads `Frame Time: 0.033333`",
                ));
            }
            lexer.at += "Time".len();
            frame_time = usable_frame_time(lexer);
            time_seen = true;
        } else if !frames_seen && starts_with(rest, "Frames") {
            lexer.at = start + "Frames".len();
            let (word, at) = lexer.header_value();
            let text = String::from_utf8_lossy(word);
            frames = text.parse().ok();
            if frames.is_none() {
                let message = format!("`Frames: {}` is not a number: the rows were counted", clip(&text));
                lexer.warn("bvh-frames", &message, at);
            }
            frames_seen = true;
        } else {
            break;
        }
    }
    if !frames_seen {
        lexer.warn("bvh-frames", "without `Frames:` the rows were counted", lexer.at);
    }
    if !time_seen {
        let message = "without `Frame Time:` 30 frames per second were assumed";
        lexer.warn("bvh-frame-time", message, lexer.at);
    }
    Ok((frames, frame_time.unwrap_or(DEFAULT_FRAME_TIME)))
}

/// The number after `Frame Time:`, if it is usable.
fn usable_frame_time(lexer: &mut Lexer) -> Option<f64> {
    let (word, at) = lexer.header_value();
    let value = lexer.value(word, at).filter(|t| FRAME_TIMES.contains(t));
    if value.is_none() {
        let word = String::from_utf8_lossy(word);
        let message =
            format!("frame time `{}` is not usable: 30 frames per second were assumed", clip(&word));
        lexer.warn("bvh-frame-time", &message, at);
    }
    if let Some(rate) = value.filter(|t| RATES.contains(t)) {
        let message = format!("frame time {rate} was read as a rate: {rate} frames per second");
        lexer.warn("bvh-frame-time", &message, at);
        return Some(1.0 / rate);
    }
    if let Some(ms) = value.filter(|t| MILLISECONDS.contains(t)) {
        let message = format!("frame time {ms} was read as milliseconds: {:.3} frames per second", 1e3 / ms);
        lexer.warn("bvh-milliseconds", &message, at);
        return Some(ms / 1e3);
    }
    value
}
