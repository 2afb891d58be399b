//! Moments in which a foot is far below the floor: errors of capture, as of a knee that froze, which say nothing about the floor.
//! So do toes that are in the floor for as long as the heel is up, as those of a body that kneels: captures rarely bend toes.
//!
//! A low percentile of the heights of feet would take such a moment for the floor, and the body would hover for the rest of the take.
//! Units: those of the heights, hertz, frames.

use crate::math::percentile;
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

/// Height of the heel above the ball over its median in the clip from which the heel is up, leg lengths: 5 cm for a person.
const HEEL_UP: f64 = 0.06;
/// Share of a time in the floor in which the heel is up: it comes up as the toes go down.
const MOSTLY: f64 = 0.6;
/// Depth at which a time in the floor with the heel up begins and ends, leg lengths: 1 cm for a person, more than noise.
const RIM: f64 = 0.01;

/// In which frames the heel is up, from the heights of heel and ball (or ankle and toes) of one foot; `leg_length` is the length of the
/// legs.
pub fn heel_is_up(heel: &[f64], ball: &[f64], leg_length: f64) -> Vec<bool> {
    let above: Vec<f64> = heel.iter().zip(ball).map(|(heel, ball)| heel - ball).collect();
    let usual = percentile(&above, 0.5);
    above.into_iter().map(|above| above - usual > HEEL_UP * leg_length).collect()
}

/// In which frames the lowest ankle, and in which the lowest toes of several feet are in the floor, from the heights of ankle and
/// toes of each foot.
pub fn dips_of_feet(
    feet: &[[Vec<f64>; 2]],
    shots: &[Range<usize>],
    leg_length: f64,
    rate: f64,
) -> [Vec<bool>; 2] {
    let up: Vec<Vec<bool>> = feet.iter().map(|[ankle, toes]| heel_is_up(ankle, toes, leg_length)).collect();
    let frames = feet.first().map_or(0, |[ankle, _]| ankle.len());
    [0, 1].map(|joint| {
        let lowest = |f: usize| {
            let foot = (0..feet.len()).min_by(|a, b| feet[*a][joint][f].total_cmp(&feet[*b][joint][f]));
            foot.map_or((0.0, false), |foot| (feet[foot][joint][f], up[foot][f]))
        };
        let (heights, heel_up): (Vec<f64>, Vec<bool>) = (0..frames).map(lowest).unzip();
        short_dips(&heights, &heel_up, shots, leg_length, rate)
    })
}

/// In which frames the height of the lowest foot is far below where it is most of the time between two cuts: for a moment, or for as
/// long as the heel of that foot is up (`heel_up`); `leg_length` is the length of the legs.
pub fn short_dips(
    lowest: &[f64],
    heel_up: &[bool],
    shots: &[Range<usize>],
    leg_length: f64,
    rate: f64,
) -> Vec<bool> {
    let mut dips = vec![false; lowest.len()];
    for shot in shots {
        let heights = lowest.get(shot.clone()).unwrap_or_default();
        let Some(floor) = most_frequent(heights, WIDE * leg_length) else { continue };
        let on_floor = |f: usize| (heights[f] - floor).abs() < WIDE * leg_length;
        let around = (AROUND * rate).ceil() as usize;
        let is_short = |span: &Range<usize>| {
            let [before, after] = [
                span.start.saturating_sub(around)..span.start,
                span.end..(span.end + around).min(heights.len()),
            ];
            span.len() as f64 <= LONGEST * rate
                && before.into_iter().any(on_floor)
                && after.into_iter().any(on_floor)
        };
        let on_toes = |span: &Range<usize>| {
            let up = span.clone().filter(|f| heel_up[shot.start + f]).count();
            up as f64 >= MOSTLY * span.len() as f64
        };
        let depth = |f: usize| (floor - heights[f]) / leg_length;
        let deepest = |span: &Range<usize>| span.clone().map(depth).fold(0.0, f64::max);
        let deeper_than = |least: f64| {
            let spans = spans(0..heights.len(), |f| depth(f) > least);
            spans.into_iter().filter(|span| (DEEP..DEEPEST).contains(&deepest(span)))
        };
        let short: Vec<Range<usize>> = deeper_than(DEEP).filter(is_short).collect();
        let inside: usize = short.iter().map(ExactSizeIterator::len).sum();
        let few = OUTNUMBERED * inside <= (0..heights.len()).filter(|f| on_floor(*f)).count();
        let found = deeper_than(RIM).filter(on_toes).chain(short.into_iter().filter(|_| few));
        found.flatten().for_each(|f| dips[shot.start + f] = true);
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
        dips(&lowest, &[false; 240])
    }

    fn dips(lowest: &[f64], heel_up: &[bool]) -> usize {
        let all = std::slice::from_ref(&(0..240));
        short_dips(lowest, heel_up, all, 0.9, 60.0).iter().filter(|dip| **dip).count()
    }

    #[test]
    fn toes_of_a_body_that_kneels_are_no_floor_for_as_long_as_the_heel_is_up() {
        let kneels = |f: usize| (60..160).contains(&f);
        let lowest: Vec<f64> = (0..240).map(|f| if kneels(f) { 0.05 } else { 0.1 }).collect();
        let heel: Vec<f64> = (0..240).map(|f| if kneels(f) { 0.25 } else { 0.18 }).collect();
        assert_eq!(dips(&lowest, &heel_is_up(&heel, &lowest, 0.9)), 100);
        // A step down, on which the foot is flat.
        let flat: Vec<f64> = lowest.iter().map(|height| height + 0.08).collect();
        assert_eq!(dips(&lowest, &heel_is_up(&flat, &lowest, 0.9)), 0);
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
        assert!(short_dips(&[], &[], &[], 0.9, 60.0).is_empty());
    }
}
