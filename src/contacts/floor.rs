//! The ways of the soles become the height of the floor, and the raised places that a foot stands on.
//!
//! The floor is a low percentile of the lowest sole point while it is slow; stairs and boxes are plateaus of a foot
//! well above it. Space: model space, Y up. Units: metres at a leg of 0.9 m, metres per second, seconds.

use super::spans::{mended, spans};
use super::track::Track;
use crate::math::Vec3;
use crate::model::{ContactPart, Side};

/// A sole slower than this shows where the floor is.
const SLOW: f64 = 0.15;
/// The fewest frames, and share of the clip, that slow soles must have to be believed.
const SLOW_FRAMES: usize = 3;
/// The percentile of slow soles that is the floor, and of all soles where none is slow.
const LOW_OF_SLOW: f64 = 0.05;
const LOW_OF_ALL: f64 = 0.02;
/// A plateau lies at least this far above the floor.
const RAISED: f64 = 0.08;
/// A plateau lasts at least this long, and rises or falls by at most so much within.
const PLATEAU_S: f64 = 0.15;
const LEVEL: f64 = 0.04;
/// A plateau carries if the other foot is in the air for at least this long meanwhile.
const CARRIES_S: f64 = 0.1;
/// A plateau counts this long before and after itself.
const AROUND_S: f64 = 0.1;
/// The hips are at least this far above a foot that carries, in leg lengths.
const HIPS_ABOVE: f64 = 0.35;

/// The value below which a share of the values lies; `None` of none.
pub(super) fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let k = ((values.len().checked_sub(1)?) as f64 * share).round() as usize;
    Some(*values.select_nth_unstable_by(k, f64::total_cmp).1)
}

/// The floor under a clip.
#[derive(Clone, Debug)]
pub(super) struct Floor {
    /// The height of the plane.
    pub height: f64,
    /// For the left and the right foot: plateaus that carry, as frames and height.
    raised: [Vec<(std::ops::Range<usize>, f64)>; 2],
}

impl Floor {
    /// The plane at this height.
    pub fn plane(height: f64) -> Self {
        Self { height, raised: [vec![], vec![]] }
    }

    /// The height of what a part would rest on in a frame.
    pub fn under(&self, part: ContactPart, frame: usize) -> f64 {
        let Some(side) = part.side().filter(|_| part.of_foot()) else { return self.height };
        let raised = &self.raised[usize::from(side == Side::Right)];
        raised.iter().find(|(frames, _)| frames.contains(&frame)).map_or(self.height, |r| r.1)
    }

    /// Adds the plateaus of both feet, each half a second of which is `rate / 2` frames long.
    pub fn with_plateaus(mut self, tracks: &[Track], pelvis: Option<&Track>, scale: f64, rate: f64) -> Self {
        let feet =
            Side::BOTH.map(|side| Sole::of(tracks, |part| part.of_foot() && part.side() == Some(side)));
        let frames = feet[0].at.len().min(feet[1].at.len());
        let long = |s: f64| (s * rate).round().max(1.0) as usize;
        let high = |at: &Vec3| at.y - self.height > RAISED * scale;
        let mut raised = [vec![], vec![]];
        for (k, raised) in raised.iter_mut().enumerate() {
            let (own, other) = (&feet[k], &feet[1 - k]);
            let still = (0..frames).map(|f| high(&own.at[f]) && own.speed[f] < SLOW * scale);
            for span in mended(spans(still), long(PLATEAU_S) / 2, frames) {
                let mut heights: Vec<f64> = own.at[span.clone()].iter().map(|p| p.y).collect();
                let Some(middle) = quantile(&mut heights, 0.5) else { continue };
                let level = heights.iter().all(|y| (y - middle).abs() < LEVEL * scale);
                let in_air =
                    |f: &usize| other.speed[*f] > SLOW * scale || other.at[*f].y > middle + RAISED * scale;
                let or_raised = |f: &usize| (other.at[*f].y - middle).abs() < LEVEL * scale;
                let carries = span.clone().filter(|f| in_air(f) || or_raised(f)).count() >= long(CARRIES_S);
                let upright = pelvis
                    .is_none_or(|p| span.clone().all(|f| p.at[f].y - middle > HIPS_ABOVE * 0.9 * scale));
                if span.len() >= long(PLATEAU_S) && level && carries && upright {
                    let around = long(AROUND_S);
                    raised.push((span.start.saturating_sub(around)..span.end + around, middle));
                }
            }
        }
        self.raised = raised;
        self
    }
}

/// The height of the floor under these ways of sole points; `None` without a frame.
pub(super) fn height(tracks: &[Track], scale: f64) -> Option<f64> {
    let sole = Sole::of(tracks, ContactPart::of_foot);
    let slow = sole.at.iter().zip(&sole.speed).filter(|(_, s)| **s < SLOW * scale);
    let mut slow: Vec<f64> = slow.map(|(p, _)| p.y).collect();
    if slow.len() >= SLOW_FRAMES.max(sole.at.len() / 50) {
        return quantile(&mut slow, LOW_OF_SLOW);
    }
    quantile(&mut sole.at.iter().map(|p| p.y).collect::<Vec<_>>(), LOW_OF_ALL)
}

/// The lowest sole point of every frame, with its speed.
struct Sole {
    at: Vec<Vec3>,
    speed: Vec<f64>,
}

impl Sole {
    fn of(tracks: &[Track], wanted: impl Fn(ContactPart) -> bool) -> Self {
        let tracks: Vec<&Track> = tracks.iter().filter(|t| wanted(t.part)).collect();
        let frames = tracks.first().map_or(0, |t| t.at.len());
        let lowest = |f: usize| tracks.iter().min_by(|a, b| a.at[f].y.total_cmp(&b.at[f].y));
        let lowest: Vec<_> = (0..frames).filter_map(|f| Some((lowest(f)?, f))).collect();
        Self {
            at: lowest.iter().map(|(t, f)| t.at[*f]).collect(),
            speed: lowest.iter().map(|(t, f)| t.speed[*f]).collect(),
        }
    }
}
