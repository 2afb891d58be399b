//! Intervals of consecutive frames that satisfy a condition.

use std::ops::Range;

/// The maximal intervals within `frames` in which `holds` is true, ascending.
pub fn spans(frames: Range<usize>, holds: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for f in frames.filter(|f| holds(*f)) {
        match found.last_mut() {
            Some(last) if last.end == f => last.end = f + 1,
            _ => found.push(f..f + 1),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_the_labelled_frames() {
        let labels = [true, false, false, true, true, false, true];
        assert_eq!(spans(0..7, |f| labels[f]), [0..1, 3..5, 6..7]);
        assert!(spans(0..0, |_| true).is_empty());
        assert!(spans(0..3, |_| false).is_empty());
    }

    #[test]
    fn spans_lie_within_their_frames() {
        assert_eq!(spans(2..9, |f| f != 5), [2..5, 6..9]);
        assert!(spans(3..3, |_| true).is_empty());
    }
}
