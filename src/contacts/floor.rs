//! Height of the floor, and of stairs and boxes, from the paths of the soles.
//!
//! The floor is a low percentile of the lowest sole point while it is slow; stairs and boxes are plateaus of a foot
//! well above it. Space: model space, Y up. Units: metres at a leg of 0.9 m, metres per second, seconds.

use super::clean_spans::cleaned;
use super::footing::Footing;
use super::point_track::PointTrack;
use super::short_dips::{heel_is_up, short_dips};
use crate::kinematics::sunk_shots;
use crate::math::{Vec3, nearest_rank};
use crate::model::{ContactPart, Side};
use crate::signal::spans;
use std::ops::Range;

/// The leg length that lengths and speeds are given for, metres.
pub(super) const LEG: f64 = 0.9;

/// A point slower than this may be in contact, and the floor is measured on such soles, m/s: 0.5 cm a frame at 30 Hz, as HuMoR labels
/// contacts.
pub(super) const SLOW: f64 = 0.15;
/// The fewest frames with slow soles (and at least a fiftieth of the clip) that the floor is measured on: one or two may be outliers. Half
/// and double label the takes with hand labels the same.
const SLOW_FRAMES: usize = 3;
/// The quantile of the heights of slow soles that is the floor: lower ones are noise. The F1 score of hand labels changes by less than
/// 0.003 within half and double.
const LOW_OF_SLOW: f64 = 0.05;
/// The same of all soles where too few are slow. Half and double label the takes with hand labels the same.
const LOW_OF_ALL: f64 = 0.02;
/// The least height of a plateau above the floor, metres. With half the F1 score of hand labels is 0.003 lower, with double the same.
const RAISED: f64 = 0.08;
/// The shortest plateau, seconds. Half and double label the takes with hand labels the same.
const PLATEAU_S: f64 = 0.15;
/// The largest deviation of heights within a plateau, metres. Half and double label the takes with hand labels the same.
const LEVEL: f64 = 0.04;
/// A plateau bears weight if the other foot is in the air for at least this long meanwhile, seconds. Half and double
/// label the takes with hand labels the same.
const BEARS_S: f64 = 0.1;
/// A plateau is extended by this time before and after it, seconds. Half and double label the takes with hand labels the same.
const AROUND_S: f64 = 0.1;
/// The least height of the hips above a foot that bears weight, metres: a third of the leg. Half and double label the takes with
/// hand labels the same.
const HIPS_ABOVE: f64 = 0.3;

/// The floor under a clip.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    /// The height of the plane.
    pub height: f64,
    /// Plateaus that bear weight, of the left and of the right foot: frames and height.
    raised: [Vec<(Range<usize>, f64)>; 2],
}

impl Floor {
    /// The plane at this height.
    pub fn plane(height: f64) -> Self {
        Self { height, raised: [vec![], vec![]] }
    }

    /// The same plateaus over a plane at this height.
    pub fn with_height(self, height: f64) -> Self {
        Self { height, ..self }
    }

    /// The height of the ground under a part in a frame.
    pub fn under(&self, part: ContactPart, frame: usize) -> f64 {
        let Some(side) = part.side().filter(|_| part.of_foot()) else { return self.height };
        let raised = &self.raised[side.index()];
        // Plateaus begin and end in order: noise may have thousands of them.
        let first = raised.partition_point(|(frames, _)| frames.end <= frame);
        raised.get(first).filter(|(frames, _)| frames.contains(&frame)).map_or(self.height, |r| r.1)
    }

    /// Whether a sole is ever lower than the least height of a plateau.
    pub fn is_reached(&self, tracks: &[PointTrack], scale: f64) -> bool {
        let soles = tracks.iter().filter(|t| t.part.of_foot());
        soles.flat_map(|t| &t.at).any(|at| at.y - self.height < RAISED * scale)
    }

    /// Adds the plateaus of both feet; `rate` in hertz.
    pub fn with_plateaus(
        mut self,
        tracks: &[PointTrack],
        pelvis: Option<&PointTrack>,
        scale: f64,
        rate: f64,
    ) -> Self {
        let feet = Side::BOTH
            .map(|side| SoleSamples::of(tracks, |part| part.of_foot() && part.side() == Some(side)));
        let frames = feet[0].at.len().min(feet[1].at.len());
        let long = |s: f64| (s * rate).round().max(1.0) as usize;
        let high = |at: &Vec3| at.y - self.height > RAISED * scale;
        let mut raised = [vec![], vec![]];
        for (k, raised) in raised.iter_mut().enumerate() {
            let (own, other) = (&feet[k], &feet[1 - k]);
            let still = |f: usize| high(&own.at[f]) && own.speed[f] < SLOW * scale;
            for span in cleaned(spans(0..frames, still), long(PLATEAU_S) / 2, frames) {
                let mut heights: Vec<f64> = own.at[span.clone()].iter().map(|p| p.y).collect();
                let Some(middle) = nearest_rank(&mut heights, 0.5) else { continue };
                let level = heights.iter().all(|y| (y - middle).abs() < LEVEL * scale);
                // Whoever stands on one leg has the other foot on the floor all the time.
                let off_floor = |f: &usize| other.at[*f].y > self.height + 0.5 * RAISED * scale;
                let bears = span.clone().filter(off_floor).count() >= long(BEARS_S);
                let upright =
                    pelvis.is_none_or(|p| span.clone().all(|f| p.at[f].y - middle > HIPS_ABOVE * scale));
                if span.len() >= long(PLATEAU_S) && level && bears && upright {
                    let around = long(AROUND_S);
                    raised.push((span.start.saturating_sub(around)..span.end + around, middle));
                }
            }
        }
        self.raised = raised;
        self
    }
}

/// The height of the floor under these paths of sole points, without what is far below the rest between two cuts or for a moment, and
/// without frames in which no foot can stand; of a take in which none ever does, that of [`Footing::floor`]; `None` without a frame.
/// `rate` in hertz.
pub(super) fn height(
    tracks: &[PointTrack],
    footing: &Footing,
    shots: &[Range<usize>],
    scale: f64,
    rate: f64,
) -> Option<f64> {
    if footing.floor().is_some() {
        return footing.floor();
    }
    let mut sole = SoleSamples::of(tracks, ContactPart::of_foot);
    let lowest = |shot: &Range<usize>| {
        let heights = sole.at.get(shot.clone()).unwrap_or_default().iter().map(|p| p.y);
        nearest_rank(&mut heights.collect::<Vec<f64>>(), LOW_OF_ALL).unwrap_or(0.0)
    };
    let sunk = sunk_shots(shots, lowest, LEG * scale);
    let heights: Vec<f64> = sole.at.iter().map(|p| p.y).collect();
    let dips = short_dips(&heights, &heels_up(tracks, scale), shots, LEG * scale, rate);
    let counts =
        |f: &usize| !footing.in_air(*f) && !dips[*f] && !sunk.iter().any(|(shot, _)| shot.contains(f));
    let counted: Vec<usize> = (0..sole.at.len()).filter(counts).collect();
    sole.at = counted.iter().map(|f| sole.at[*f]).collect();
    sole.speed = counted.iter().map(|f| sole.speed[*f]).collect();
    let slow = sole.at.iter().zip(&sole.speed).filter(|(_, s)| **s < SLOW * scale);
    let mut slow: Vec<f64> = slow.map(|(p, _)| p.y).collect();
    if slow.len() >= SLOW_FRAMES.max(sole.at.len() / 50) {
        return nearest_rank(&mut slow, LOW_OF_SLOW);
    }
    nearest_rank(&mut sole.at.iter().map(|p| p.y).collect::<Vec<_>>(), LOW_OF_ALL)
}

/// Whether the heel of the foot with the lowest sole point is up, for each frame.
fn heels_up(tracks: &[PointTrack], scale: f64) -> Vec<bool> {
    let frames = tracks.first().map_or(0, |t| t.at.len());
    let feet = Side::BOTH.map(|side| {
        let path = |part: ContactPart| tracks.iter().find(|t| t.part == part);
        let heights = |track: &PointTrack| track.at.iter().map(|at| at.y).collect::<Vec<f64>>();
        let soles = SoleSamples::of(tracks, |part| part.of_foot() && part.side() == Some(side));
        let up = match (path(ContactPart::Heel(side)), path(ContactPart::Ball(side))) {
            (Some(heel), Some(ball)) => heel_is_up(&heights(heel), &heights(ball), LEG * scale),
            _ => vec![false; frames],
        };
        (up, soles.at)
    });
    let [(left_up, left), (right_up, right)] = &feet;
    let height = |at: &[Vec3], f: usize| at.get(f).map_or(f64::INFINITY, |at| at.y);
    (0..frames).map(|f| if height(left, f) <= height(right, f) { left_up[f] } else { right_up[f] }).collect()
}

/// The lowest sole point of every frame, with its speed.
struct SoleSamples {
    at: Vec<Vec3>,
    speed: Vec<f64>,
}

impl SoleSamples {
    fn of(tracks: &[PointTrack], wanted: impl Fn(ContactPart) -> bool) -> Self {
        let tracks: Vec<&PointTrack> = tracks.iter().filter(|t| wanted(t.part)).collect();
        let frames = tracks.first().map_or(0, |t| t.at.len());
        let lowest = |f: usize| tracks.iter().min_by(|a, b| a.at[f].y.total_cmp(&b.at[f].y));
        let lowest: Vec<_> = (0..frames).filter_map(|f| Some((lowest(f)?, f))).collect();
        Self {
            at: lowest.iter().map(|(t, f)| t.at[*f]).collect(),
            speed: lowest.iter().map(|(t, f)| t.speed[*f]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::smoothstep;

    const RATE: f64 = 60.0;

    /// The path of a ball whose height and progress are given at whole half seconds, by smooth steps.
    fn path(part: ContactPart, keys: &[(f64, f64)]) -> PointTrack {
        let at = |f: usize| {
            let t = f as f64 / (0.5 * RATE);
            let (a, b) = (keys[t as usize], keys[(t as usize + 1).min(keys.len() - 1)]);
            let s = smoothstep(t.fract());
            Vec3::new(0.0, a.0 + (b.0 - a.0) * s, a.1 + (b.1 - a.1) * s)
        };
        let frames = ((keys.len() - 1) as f64 * 0.5 * RATE) as usize;
        let at: Vec<Vec3> = (0..frames).map(at).collect();
        let before = |f: usize| at[f.saturating_sub(1)];
        let speed =
            (0..frames).map(|f| (at[(f + 1).min(frames - 1)] - before(f)).norm() * RATE / 2.0).collect();
        PointTrack { part, at, speed }
    }

    fn feet(left: &[(f64, f64)], right: &[(f64, f64)]) -> [PointTrack; 2] {
        [path(ContactPart::Ball(Side::Left), left), path(ContactPart::Ball(Side::Right), right)]
    }

    #[test]
    fn every_step_of_a_stair_carries() {
        let left = [(0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.4, 0.6), (0.4, 0.6), (0.8, 1.2), (0.8, 1.2)];
        let right = [(0.0, 0.0), (0.2, 0.3), (0.2, 0.3), (0.2, 0.3), (0.6, 0.9), (0.6, 0.9), (0.6, 0.9)];
        let feet = feet(&left, &right);
        let height = height(&feet, &Footing::default(), &[], 1.0, RATE).unwrap();
        assert!(height.abs() < 0.01);
        let floor = Floor::plane(height).with_plateaus(&feet, None, 1.0, RATE);
        let under = |side, seconds: f64| floor.under(ContactPart::Ball(side), (seconds * RATE) as usize);
        let found = [
            under(Side::Right, 0.7),
            under(Side::Left, 1.7),
            under(Side::Right, 2.3),
            under(Side::Left, 2.7),
        ];
        for (found, step) in found.into_iter().zip([0.2, 0.4, 0.6, 0.8]) {
            assert!((found - step).abs() < 0.02, "{found} for {step}");
        }
        assert_eq!(under(Side::Left, 0.5), height);
    }

    #[test]
    fn the_raised_foot_of_one_who_stands_on_one_leg_carries_nothing() {
        let raised = [(0.0, 0.3), (0.4, 0.3), (0.4, 0.3), (0.4, 0.3), (0.0, 0.3), (0.0, 0.3)];
        let feet = feet(&[(0.0, 0.0); 6], &raised);
        let floor = Floor::plane(0.0).with_plateaus(&feet, None, 1.0, RATE);
        assert!((0..150).all(|f| floor.under(ContactPart::Ball(Side::Right), f) == 0.0));
    }

    #[test]
    fn a_body_that_hovers_does_not_reach_the_floor() {
        let reached =
            |height| Floor::plane(0.0).is_reached(&feet(&[(height, 0.0); 3], &[(0.3, 0.0); 3]), 1.0);
        assert_eq!([0.12, 0.02, -0.05].map(reached), [false, true, true]);
    }

    #[test]
    fn feet_that_are_never_slow_have_a_floor_below_them() {
        let hop = |k: usize| (0.1 + 0.1 * (k % 2) as f64, 2.0 * k as f64);
        let keys: Vec<_> = (0..8).map(hop).collect();
        let found = height(&feet(&keys, &keys), &Footing::default(), &[], 1.0, RATE).unwrap();
        assert!((found - 0.1).abs() < 0.01, "{found}");
        assert_eq!(height(&[], &Footing::default(), &[], 1.0, RATE), None);
    }

    #[test]
    fn a_zero_pose_before_a_take_has_no_floor() {
        // One second a leg below the floor, then a walk with cut between.
        let keys: Vec<_> = (0..8).map(|k| (if k < 2 { -0.9 } else { 0.0 }, 0.1 * k as f64)).collect();
        let [mut left, mut right] = feet(&keys, &keys);
        let cut = 60;
        for track in [&mut left, &mut right] {
            track.at[..cut].iter_mut().for_each(|p| *p = Vec3::y() * -0.9);
            track.at[cut..].iter_mut().for_each(|p| p.y = 0.0);
            track.speed.fill(0.0);
        }
        let frames = left.at.len();
        let feet = [left, right];
        assert_eq!(height(&feet, &Footing::default(), &[0..cut, cut..frames], 1.0, RATE), Some(0.0));
        // Without a cut it is the way down into a pit.
        assert_eq!(
            height(&feet, &Footing::default(), std::slice::from_ref(&(0..frames)), 1.0, RATE),
            Some(-0.9)
        );
    }
}
