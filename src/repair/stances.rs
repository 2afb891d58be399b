//! A take becomes the times at which its ankles and the balls of its feet rest: low over their own lows, and slow.
//!
//! The labels are those of repair: they are found anew whenever the way of the body has changed, by the take alone, and
//! are not the labels of the stage `contacts`. Units: metres of 0.86 m legs, seconds.

use super::robust::sliding_quantile;
use super::take::Take;
use crate::body::CharacterBody;
use crate::kinematics::map_frames_towards;
use crate::math::Vec3;
use crate::model::{ContactPart, JointId, ModelPose, Role, Side};
use crate::signal::spans;
use rayon::prelude::*;
use std::ops::Range;

/// A resting point is no higher than this above what is low for its kind, metres...
const LOW: f64 = 0.06;
/// ... which is the lowest twentieth within so many seconds to either side...
const AROUND: f64 = 1.0;
const LOWEST: f64 = 0.05;
/// ... and no faster than this, metres a second...
pub(super) const SLOW: f64 = 0.30;
/// ... over so many seconds to either side...
const WINDOW: f64 = 0.025;
/// ... for at least so many seconds.
const SHORTEST: f64 = 0.1;

/// The most points: ankle and ball of two feet.
const MOST: usize = 4;

/// A point of a foot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The joint at the ankle.
    Ankle,
    /// The toe joint, else the end of the foot.
    Ball,
}

/// The way of a point of a foot.
#[derive(Clone, Debug)]
pub(super) struct Track {
    pub side: Side,
    pub kind: Kind,
    pub at: Vec<Vec3>,
    speed: Vec<f64>,
    /// How high it is over what is low for its kind.
    height: Vec<f64>,
}

/// The ways of both feet, and the height of the lowest point of the body.
#[derive(Clone, Debug)]
pub(super) struct Feet {
    pub tracks: Vec<Track>,
    pub lowest: Vec<f64>,
    /// The same in the rest pose.
    pub lowest_at_rest: f64,
    cut: Vec<bool>,
    dt: f64,
}

/// A time at which a point rests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stance {
    /// Which of [`Feet::tracks`].
    pub track: usize,
    pub frames: Range<usize>,
}

impl Feet {
    /// Those of a take; `None` without two legs to walk on. `cut` says which edges are cuts.
    pub fn of(take: &Take, cut: &[bool]) -> Option<Self> {
        let legs = take.legs.as_ref()?;
        let character = &take.motion.character;
        let skeleton = character.skeleton();
        let mut points = Vec::new();
        for leg in legs {
            points.push((leg.side, Kind::Ankle, leg.foot, Vec3::zeros()));
            let end = skeleton.joint(leg.foot).tip.map(|tip| (leg.foot, tip));
            let sole = leg.soles.iter().find(|s| s.0 == ContactPart::Ball(leg.side)).map(|s| (s.1, s.2));
            let ball = leg.toes.map(|id| (id, Vec3::zeros())).or(end).or(sole);
            points.extend(ball.map(|(joint, at)| (leg.side, Kind::Ball, joint, at)));
        }
        let low = lowest_points(take);
        let lowest = |model: &ModelPose| {
            let height = |(joint, at): &(JointId, Vec3)| model.joint(*joint).point(at).y;
            low.iter().map(height).fold(f64::INFINITY, f64::min) * take.scale
        };
        let of = |model: &ModelPose| -> ([Vec3; MOST], f64) {
            let mut places = [Vec3::zeros(); MOST];
            for (place, p) in places.iter_mut().zip(&points) {
                *place = model.joint(p.2).point(&p.3) * take.scale;
            }
            (places, lowest(model))
        };
        let lowest_at_rest = lowest(&skeleton.rest_model_pose());
        let wanted = points.iter().map(|p| p.2).chain(low.iter().map(|l| l.0));
        let (places, heights): (Vec<_>, Vec<_>) =
            map_frames_towards(skeleton, &take.motion.clip, wanted, of).into_iter().unzip();
        let reach = take.frames_in(AROUND, 3);
        let floor = |kind: Kind| {
            let own: Vec<usize> = (0..points.len()).filter(|k| points[*k].1 == kind).collect();
            let height = |p: &[Vec3; MOST]| own.iter().map(|k| p[*k].y).fold(f64::INFINITY, f64::min);
            let heights: Vec<f64> = places.iter().map(height).collect();
            (kind, sliding_quantile(&heights, reach, LOWEST))
        };
        let floors: Vec<(Kind, Vec<f64>)> =
            [Kind::Ankle, Kind::Ball].into_par_iter().with_max_len(1).map(floor).collect();
        let window = ((WINDOW / take.dt).round() as usize).max(1);
        let track = |(k, point): (usize, &(Side, Kind, JointId, Vec3))| {
            let at: Vec<Vec3> = places.iter().map(|p| p[k]).collect();
            let floor = floors.iter().find(|f| f.0 == point.1).map_or(&[][..], |f| &f.1);
            let height = at.iter().zip(floor).map(|(p, floor)| p.y - floor).collect();
            Track { side: point.0, kind: point.1, speed: speeds(&at, take.dt, window), at, height }
        };
        let tracks = points.par_iter().with_max_len(1).enumerate().map(track).collect();
        Some(Self { tracks, lowest: heights, lowest_at_rest, cut: cut.to_vec(), dt: take.dt })
    }

    /// The times at which points rest that are slower than `slow`.
    pub fn stances(&self, slow: f64) -> Vec<Stance> {
        let mut found = Vec::new();
        for (k, track) in self.tracks.iter().enumerate() {
            let rests = |f: usize| track.height[f] < LOW && track.speed[f] < slow;
            for span in spans(0..track.at.len(), rests) {
                let mut start = span.start;
                for f in span.clone() {
                    let ends = f + 1 == span.end || self.cut[f];
                    if ends && (f + 1 - start) as f64 * self.dt >= SHORTEST {
                        found.push(Stance { track: k, frames: start..f + 1 });
                    }
                    start = if ends { f + 1 } else { start };
                }
            }
        }
        found
    }

    /// Whether a point rests, in every frame.
    pub fn resting(&self, stances: &[Stance]) -> Vec<bool> {
        let mut on = vec![false; self.lowest.len()];
        stances.iter().for_each(|s| on[s.frames.clone()].fill(true));
        on
    }

    /// Which edges are cuts.
    pub fn cuts(&self) -> &[bool] {
        &self.cut
    }

    /// The way of the point that rests.
    pub fn at(&self, stance: &Stance) -> &[Vec3] {
        &self.tracks[stance.track].at[stance.frames.clone()]
    }
}

/// The speed in every frame over `window` frames to either side.
fn speeds(at: &[Vec3], dt: f64, window: usize) -> Vec<f64> {
    let speed = |f: usize| {
        let (a, b) = (f.saturating_sub(window), (f + window).min(at.len() - 1));
        (at[b] - at[a]).norm() / ((b - a) as f64 * dt)
    };
    (0..at.len()).map(speed).collect()
}

/// The points that may be the lowest of a body: its soles where it has a skin, else joints below the hips and their ends.
fn lowest_points(take: &Take) -> Vec<(JointId, Vec3)> {
    let character = &take.motion.character;
    let rig = &character.rig;
    if !character.meshes.is_empty() {
        return CharacterBody::new(character).sole_points().map(|p| (p.joint, p.at)).collect();
    }
    let skeleton = rig.skeleton();
    let hips = rig.joint(Role::Hips).unwrap_or(JointId::new(0));
    let mut points = Vec::new();
    for id in skeleton.ids().filter(|id| skeleton.is_ancestor(hips, *id)) {
        points.push((id, Vec3::zeros()));
        points.extend(skeleton.joint(id).tip.map(|tip| (id, tip)));
    }
    points
}
