//! Moments in which a foot is far below the floor: errors of capture, as of a knee that froze, which say nothing about the floor.
//!
//! A low percentile of the heights of feet would take such a moment for the floor, and the body would hover for the rest of the take.
//! Units: those of the heights, hertz, frames.

use crate::signal::spans;
use std::ops::Range;

/// Width of the interval of heights in which the lowest foot is most often, leg lengths: the floor.
const WIDE: f64 = 0.02;
/// Depth below it from which a foot is in the floor, leg lengths. Four captures have steps 0.03 to 0.05 below it; with them
/// walk01 floats on Casual_man in 18 % of the frames, without them in none. What is less deep, the height of the clip evens out.
const DEEP: f64 = 0.03;
/// Largest depth, leg lengths: what is deeper is a step or a pit.
const DEEPEST: f64 = 0.2;
/// Longest time in the floor, seconds: less than a body takes to step down and up again.
const LONGEST: f64 = 0.6;
/// Time before and after it within which the foot is on the floor, seconds.
const AROUND: f64 = 0.25;
/// For every frame in the floor the fewest on it: else what is lower may be the floor.
const OUTNUMBERED: usize = 3;

/// In which frames the height of the lowest foot is for a moment far below where it is most of the time between two cuts;
/// `leg_length` is the length of the legs.
pub fn short_dips(lowest: &[f64], shots: &[Range<usize>], leg_length: f64, rate: f64) -> Vec<bool> {
    let mut dips = vec![false; lowest.len()];
    for shot in shots {
        let heights = lowest.get(shot.clone()).unwrap_or_default();
        let Some(floor) = most_frequent(heights, WIDE * leg_length) else { continue };
        let on_floor = |f: usize| (heights[f] - floor).abs() < WIDE * leg_length;
        let around = (AROUND * rate).ceil() as usize;
        let is_dip = |span: &Range<usize>| {
            let [before, after] = [
                span.start.saturating_sub(around)..span.start,
                span.end..(span.end + around).min(heights.len()),
            ];
            span.len() as f64 <= LONGEST * rate
                && span.clone().all(|f| floor - heights[f] < DEEPEST * leg_length)
                && before.into_iter().any(on_floor)
                && after.into_iter().any(on_floor)
        };
        let found: Vec<Range<usize>> = spans(0..heights.len(), |f| floor - heights[f] > DEEP * leg_length)
            .into_iter()
            .filter(is_dip)
            .collect();
        let inside: usize = found.iter().map(ExactSizeIterator::len).sum();
        if OUTNUMBERED * inside <= (0..heights.len()).filter(|f| on_floor(*f)).count() {
            found.into_iter().flatten().for_each(|f| dips[shot.start + f] = true);
        }
    }
    dips
}

/// The middle of the interval of this width in which most values are; `None` without values.
fn most_frequent(values: &[f64], width: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut start = 0;
    let inside = |end: usize| {
        while sorted[end] - sorted[start] > width {
            start += 1;
        }
        (end - start, start)
    };
    let (count, first) = (0..sorted.len()).map(inside).max_by_key(|(count, _)| *count)?;
    Some(sorted[first + count / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dips in four seconds of steps at 60 Hz on a floor at 0.1 m, lowered from one second on for so long.
    fn found(seconds: f64, depth: f64) -> usize {
        let height = |f: usize| {
            let lowered = f >= 60 && (f as f64) < 60.0 + 60.0 * seconds;
            0.1 + 0.01 * (0.2 * f as f64).sin() - if lowered { depth } else { 0.0 }
        };
        let lowest: Vec<f64> = (0..240).map(height).collect();
        short_dips(&lowest, std::slice::from_ref(&(0..240)), 0.9, 60.0).iter().filter(|dip| **dip).count()
    }

    #[test]
    fn a_moment_far_below_the_floor_is_no_floor() {
        assert_eq!(found(0.4, 0.06), 24);
        assert_eq!(found(0.1, 0.12), 6);
    }

    #[test]
    fn heels_that_rise_pits_and_lower_floors_are_no_dips() {
        assert_eq!(found(0.4, 0.01), 0, "as much as heels rise");
        assert_eq!(found(0.4, 0.3), 0, "a pit");
        assert_eq!(found(1.0, 0.06), 0, "for as long as one stands");
        assert_eq!(found(3.0, 0.06), 0, "until the end");
    }

    #[test]
    fn without_frames_there_are_none() {
        assert!(short_dips(&[], &[], 0.9, 60.0).is_empty());
    }
}
