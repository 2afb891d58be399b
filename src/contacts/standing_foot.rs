//! Finds when the feet of a take stand and where: what tells the ground under it.
//!
//! A foot stands while its ankle or its toes rest and the body is upright above it, also well above the floor. Space: model space,
//! Y up. Units: metres, seconds; lengths and speeds in leg lengths.

use super::clean_spans::cleaned;
use super::footing::{FOOT_REST_SPEED, FootingFrame, LEAST_HEIGHT_IN_AIR, LEAST_UPRIGHT_HEIGHT};
use crate::math::{Vec3, median, median_of};
use crate::model::Side;
use crate::signal::spans;
use std::ops::Range;

/// Half the time over which a speed is measured, seconds: the noise of a capture is less.
const HALF_WINDOW_S: f64 = 1.0 / 30.0;
/// Time for which a foot stands, seconds: at the top of a jump it is slower for 0.06 s.
const SHORTEST_S: f64 = 0.1;
/// Distance over the ground within which a foot stands in the same place: one that rolls rests twice.
const SAME_PLACE: f64 = 0.1;
/// A resting foot that is this much higher than the other, standing foot is held up.
const HELD_UP: f64 = 0.05;
/// Least upward part of the direction away from a sole: of one that stands on its edge the slope says nothing.
const LEAST_UP: f64 = 0.1;

/// A foot that stands.
#[derive(Clone, Debug)]
pub(super) struct StandingFoot {
    pub side: Side,
    pub frames: Range<usize>,
    /// Its toe joint (the ankle, if there is none).
    pub at: Vec3,
    /// The slope of its sole along X and Z.
    pub slope: [f64; 2],
}

/// The path of a leg between two cuts.
#[derive(Clone, Copy)]
pub(super) struct LegPath<'a> {
    pub side: Side,
    /// Its index in these frames.
    pub leg_index: usize,
    pub frames: &'a [FootingFrame],
    /// Height of the foot above the lowest of hands, head and pelvis, by frame.
    pub above_support: &'a [f64],
    pub shot: &'a Range<usize>,
    pub sample_rate: f64,
    /// Length of the legs.
    pub leg_length: f64,
}

impl LegPath<'_> {
    /// When and where the foot stands, ascending; without slopes.
    pub fn stands(&self) -> Vec<StandingFoot> {
        let stands = |f: usize| self.bears_weight(f) && (self.rests(1, f) || self.rests(2, f));
        let shortest = (SHORTEST_S * self.sample_rate).round().max(1.0) as usize;
        let mut found: Vec<StandingFoot> = Vec::new();
        for frames in cleaned(spans(self.shot.clone(), stands), shortest, self.frames.len()) {
            let resting = self.resting(2, &frames);
            let at = median_of(resting.into_iter().map(|f| self.frames[f].0[self.leg_index][2]));
            match found.last_mut() {
                Some(last) if (at - last.at).xz().norm() < SAME_PLACE * self.leg_length => {
                    last.frames.end = frames.end;
                    last.at = if at.y < last.at.y { at } else { last.at };
                }
                _ => found.push(StandingFoot { side: self.side, frames, at, slope: [0.0; 2] }),
            }
        }
        found
    }

    /// The slope of a foot that stands; `up` is the direction away from its sole in a frame.
    pub fn slope(&self, foot: &StandingFoot, up: impl Fn(usize) -> Vec3) -> [f64; 2] {
        let flat = self.resting(1, &foot.frames);
        [0, 2].map(|axis| {
            median(flat.iter().map(|f| up(*f)).map(|up| -up[axis] / up.y.max(LEAST_UP)).collect())
        })
    }

    /// The frames in which a joint rests; all, if there are none.
    fn resting(&self, joint: usize, frames: &Range<usize>) -> Vec<usize> {
        let resting: Vec<usize> = frames.clone().filter(|f| self.rests(joint, *f)).collect();
        if resting.is_empty() { frames.clone().collect() } else { resting }
    }

    /// Whether the body is upright above the foot.
    fn bears_weight(&self, f: usize) -> bool {
        let [hip, ankle, _] = self.frames[f].0[self.leg_index];
        self.above_support[f] < LEAST_HEIGHT_IN_AIR
            && hip.y - ankle.y > LEAST_UPRIGHT_HEIGHT * self.leg_length
    }

    fn rests(&self, joint: usize, f: usize) -> bool {
        let half = ((HALF_WINDOW_S * self.sample_rate).round() as usize).max(1);
        let ends = [f.saturating_sub(half).max(self.shot.start), (f + half).min(self.shot.end - 1)];
        let [from, to] = ends.map(|f| self.frames[f].0[self.leg_index][joint]);
        (to - from).norm() * self.sample_rate < FOOT_REST_SPEED * self.leg_length * (ends[1] - ends[0]) as f64
    }
}

/// The feet that stand and are not held up beside the other one, in the order of time.
pub(super) fn without_held_up(mut feet: Vec<StandingFoot>, leg_length: f64) -> Vec<StandingFoot> {
    let held_up = |own: &StandingFoot| {
        feet.iter().any(|other| {
            other.side != own.side
                && other.frames.start <= own.frames.start
                && other.frames.end >= own.frames.end
                && own.at.y - other.at.y > HELD_UP * leg_length
        })
    };
    let held: Vec<bool> = feet.iter().map(held_up).collect();
    let mut held = held.into_iter();
    feet.retain(|_| held.next() == Some(false));
    feet.sort_by_key(|foot| foot.frames.start);
    feet
}
