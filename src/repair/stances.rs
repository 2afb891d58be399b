//! Detects stances of ankles and balls of the feet: low relative to their own minimum, and slow.
//!
//! These contact labels are internal to the repair: they are detected again whenever the path of the body has
//! changed, and are not those of the stage `contacts`. Units: metres of 0.86 m legs, seconds.

use super::robust_statistics::sliding_quantile;
use super::working_take::WorkingTake;
use crate::kinematics::map_frames_towards;
use crate::math::Vec3;
use crate::model::{ContactPart, ModelPose, Side};
use crate::parallel;
use crate::signal::spans;
use std::ops::Range;

/// Largest height of a planted point above the local minimum of its kind, metres...
const LOW: f64 = 0.06;
/// ... which is a low quantile within so many seconds on either side...
const AROUND: f64 = 1.0;
/// ... namely this one, so that single glitches do not define it.
const LOWEST: f64 = 0.05;
/// Largest speed of a planted point, metres per second...
pub(super) const SLOW: f64 = 0.30;
/// ... measured over so many seconds on either side.
const WINDOW: f64 = 0.025;
/// Least duration of a stance, seconds.
const SHORTEST: f64 = 0.1;

/// Most points: ankle and ball of two feet.
const MOST: usize = 4;

/// A point of a foot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointKind {
    /// The ankle joint.
    Ankle,
    /// The toe joint, else the end of the foot.
    Ball,
}

/// The trajectory of a point of a foot.
#[derive(Clone, Debug)]
pub(super) struct FootPoint {
    pub side: Side,
    pub kind: PointKind,
    pub at: Vec<Vec3>,
    speed: Vec<f64>,
    /// Height above the local minimum of its kind.
    height: Vec<f64>,
}

/// The trajectories of both feet.
#[derive(Clone, Debug)]
pub(super) struct FootTrajectories {
    pub points: Vec<FootPoint>,
    cut: Vec<bool>,
    dt: f64,
}

/// The frames of a stance of a foot point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stance {
    /// Index into [`FootTrajectories::points`].
    pub point: usize,
    pub frames: Range<usize>,
}

impl FootTrajectories {
    /// The trajectories of a take; `None` for a body without two legs to walk on. `cut` marks the steps that are
    /// cuts.
    pub fn of(take: &WorkingTake, cut: &[bool]) -> Option<Self> {
        let legs = take.legs.as_ref()?;
        let character = &take.motion.character;
        let skeleton = character.skeleton();
        let mut points = Vec::new();
        for leg in legs {
            points.push((leg.side, PointKind::Ankle, leg.foot, Vec3::zeros()));
            let end = skeleton.joint(leg.foot).tip.map(|tip| (leg.foot, tip));
            let sole = leg.soles.iter().find(|s| s.0 == ContactPart::Ball(leg.side)).map(|s| (s.1, s.2));
            let ball = leg.toes.map(|id| (id, Vec3::zeros())).or(end).or(sole);
            points.extend(ball.map(|(joint, at)| (leg.side, PointKind::Ball, joint, at)));
        }
        let of = |model: &ModelPose| -> [Vec3; MOST] {
            let mut positions = [Vec3::zeros(); MOST];
            for (position, p) in positions.iter_mut().zip(&points) {
                *position = model.joint(p.2).point(&p.3) * take.scale;
            }
            positions
        };
        let wanted = points.iter().map(|p| p.2);
        let positions = map_frames_towards(skeleton, &take.motion.clip, wanted, of);
        let reach = take.frames_in(AROUND, 3);
        let floor = |&kind: &PointKind| {
            let own: Vec<usize> = (0..points.len()).filter(|k| points[*k].1 == kind).collect();
            let height = |p: &[Vec3; MOST]| own.iter().map(|k| p[*k].y).fold(f64::INFINITY, f64::min);
            let heights: Vec<f64> = positions.iter().map(height).collect();
            (kind, sliding_quantile(&heights, reach, LOWEST))
        };
        let floors: Vec<(PointKind, Vec<f64>)> =
            parallel::map_each(&[PointKind::Ankle, PointKind::Ball], 1, floor);
        let window = ((WINDOW / take.dt).round() as usize).max(1);
        let path = |k: usize| {
            let point = &points[k];
            let at: Vec<Vec3> = positions.iter().map(|p| p[k]).collect();
            let floor = floors.iter().find(|f| f.0 == point.1).map_or(&[][..], |f| &f.1);
            let height = at.iter().zip(floor).map(|(p, floor)| p.y - floor).collect();
            FootPoint { side: point.0, kind: point.1, speed: speeds(&at, take.dt, window), at, height }
        };
        let paths = parallel::map(points.len(), 1, path);
        Some(Self { points: paths, cut: cut.to_vec(), dt: take.dt })
    }

    /// All stances with speeds below `slow`.
    pub fn stances(&self, slow: f64) -> Vec<Stance> {
        self.rests(|point, f| point.height[f] < LOW && point.speed[f] < slow)
    }

    /// All stances with speeds below `slow`, whatever their heights: on a steep floor few are low within a second.
    pub fn stances_at_any_height(&self, slow: f64) -> Vec<Stance> {
        self.rests(|point, f| point.speed[f] < slow)
    }

    /// The stances in whose frames this holds.
    fn rests(&self, planted: impl Fn(&FootPoint, usize) -> bool) -> Vec<Stance> {
        let mut found = Vec::new();
        for (k, point) in self.points.iter().enumerate() {
            for span in spans(0..point.at.len(), |f| planted(point, f)) {
                let mut start = span.start;
                for f in span.clone() {
                    let ends = f + 1 == span.end || self.cut[f];
                    if ends && (f + 1 - start) as f64 * self.dt >= SHORTEST {
                        found.push(Stance { point: k, frames: start..f + 1 });
                    }
                    start = if ends { f + 1 } else { start };
                }
            }
        }
        found
    }

    /// Whether any point is planted, per frame.
    pub fn planted(&self, stances: &[Stance]) -> Vec<bool> {
        let mut on = vec![false; self.points.first().map_or(0, |point| point.at.len())];
        stances.iter().for_each(|s| on[s.frames.clone()].fill(true));
        on
    }

    /// The steps that are cuts.
    pub fn cuts(&self) -> &[bool] {
        &self.cut
    }

    /// The positions of the planted point.
    pub fn at(&self, stance: &Stance) -> &[Vec3] {
        &self.points[stance.point].at[stance.frames.clone()]
    }
}

/// The speed in every frame over `window` frames on either side.
fn speeds(at: &[Vec3], dt: f64, window: usize) -> Vec<f64> {
    let speed = |f: usize| {
        let (a, b) = (f.saturating_sub(window), (f + window).min(at.len() - 1));
        (at[b] - at[a]).norm() / ((b - a) as f64 * dt)
    };
    (0..at.len()).map(speed).collect()
}
