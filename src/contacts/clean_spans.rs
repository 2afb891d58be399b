//! Cleans contact spans: joins those too near each other and drops those too short.

use std::ops::Range;

/// Fills gaps of fewer than `shortest` frames, then drops spans of fewer. A span at an end of the clip of `frames`
/// frames stays: its full length is unknown.
pub(super) fn cleaned(spans: Vec<Range<usize>>, shortest: usize, frames: usize) -> Vec<Range<usize>> {
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
    fn short_gaps_close_and_short_spans_go_but_not_at_the_ends() {
        assert_eq!(cleaned(vec![0..1, 4..6, 10..14, 15..19, 29..30], 3, 30), [0..1, 10..19, 29..30]);
        assert_eq!(cleaned(vec![4..6, 7..9, 20..24], 3, 30), [4..9, 20..24], "gaps first");
    }
}
