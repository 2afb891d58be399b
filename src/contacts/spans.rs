//! A label for every frame becomes spans of frames, and spans that are too short or too near each other are mended.

use std::ops::Range;

/// The spans of frames that are labelled.
pub(super) fn spans(labels: impl IntoIterator<Item = bool>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut inside = false;
    for (frame, label) in labels.into_iter().enumerate() {
        match (inside, label) {
            (false, true) => found.push(frame..frame + 1),
            (true, true) => found.last_mut().expect("a span is open").end = frame + 1,
            (_, false) => {}
        }
        inside = label;
    }
    found
}

/// Fills gaps of fewer than `shortest` frames, then drops spans of fewer. A span at an end of the clip of `frames`
/// frames stays: nobody knows how long it was.
pub(super) fn mended(spans: Vec<Range<usize>>, shortest: usize, frames: usize) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start - last.end < shortest => last.end = span.end,
            _ => joined.push(span),
        }
    }
    joined.retain(|s| s.len() >= shortest || s.start == 0 || s.end == frames);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_the_labelled_frames() {
        let labels = [true, false, false, true, true, false, true];
        assert_eq!(spans(labels), [0..1, 3..5, 6..7]);
        assert_eq!(spans([]), []);
        assert_eq!(spans([false; 3]), []);
    }

    #[test]
    fn short_gaps_close_and_short_spans_go_but_not_at_the_ends() {
        assert_eq!(mended(vec![0..1, 4..6, 10..14, 15..19, 29..30], 3, 30), [0..1, 10..19, 29..30]);
        assert_eq!(mended(vec![4..6, 7..9, 20..24], 3, 30), [4..9, 20..24], "gaps first");
    }
}
