//! Continues an open clip beyond its ends by frames of its own, so that legs are solved at an end as further inside.
//!
//! If the pelvis travels less than the planted feet require, it falls behind during a stance and catches up in the next. At the end
//! of a clip there is no next stance, so the pelvis would follow the last one, up to 0.2 leg lengths away. The equations therefore
//! continue the clip with the frames that followed a similar pose with similar velocities, as in motion graphs (Kovar, Gleicher and
//! Pighin 2002). An end is continued only if such a frame is nearly the extrapolated one, or if both ends lead to each other (a
//! cycle without its last frame). The added frames are a part of the equations only, never of the result.
//! Space: model space, Y up; the source scaled to the target's legs. Units: metres, seconds, radians, frames.

use super::equations::{Equations, FrameSolution, LegTerms};
use super::limb_pose::LimbPositions;
use super::settings::Settings;
use super::timeline::Timeline;
use crate::math::{Vec3, exp};
use crate::parallel;
use std::ops::Range;

/// Duration of the continuation of each end, seconds: the pelvis has forgotten what is further away. With half of it one in ten
/// ends is 0.12 leg lengths from where it is inside of the take instead of 0.09, without a continuation 0.18 (111 windows of nine
/// takes on two characters); with double 0.1.
const CONTINUATION_TIME: f64 = 1.0;
/// Shortest time between an end and the frame that continues it, seconds: half a stride of a runner. The frames just before an
/// end resemble it most.
const LEAST_TIME_TO_FOLLOWER: f64 = 0.3;
/// Time with which differences of velocities count as differences of positions, seconds. With 0.02 and 0.1 nothing changes.
const VELOCITY_TIME: f64 = 0.05;
/// Root mean square distance of the joints, leg lengths, below which a frame is nearly the one that an end leads to: 0.006 in a made
/// walk, 0.05 to 0.2 in captures of one stride, where knees at ends were up to 7 degrees off.
const SAME_POSE_DISTANCE: f64 = 0.03;
/// Largest distance of both followers from the extrapolated poses, in multiples of the distance that the joints travel in
/// [`VELOCITY_WINDOW`]: 3 at most in strides at 30 frames a second without their last frame. A body that sits down is further from the pose
/// in which it stood.
const CYCLE_TOLERANCE: f64 = 4.0;
/// Relative difference of distances that is rounding.
const EQUAL: f64 = 1e-6;
/// Root mean square speed of the joints, leg lengths per second, below which an end stands: nothing drifts there.
const LEAST_SPEED: f64 = 0.15;
/// Time over which velocities are measured, seconds: captures are noisy.
const VELOCITY_WINDOW: f64 = 1.0 / 30.0;
/// Time over which a curve that continues from elsewhere returns to its own values, seconds. A quarter and double give the same.
const BLEND_TIME: f64 = 0.2;

/// A frame of the continued clip.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Repeated {
    /// The frame of the clip.
    frame: usize,
    /// The edge of the clip whose speeds the edge to the next frame has.
    edge: usize,
    /// The angle about the vertical by which it is rotated.
    heading: f64,
}

/// The frames that are added at one end.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Added {
    /// The first of the continued clip beyond the end.
    first: usize,
    /// Whether they precede the clip.
    before: bool,
    /// Their number, and after how many of them the clip's own begin again.
    count: usize,
    period: usize,
}

impl Added {
    /// The position in the continued clip of the frame `ahead` frames beyond the first; of frames of the clip below 0.
    fn at(&self, ahead: isize) -> usize {
        self.first.saturating_add_signed(if self.before { -ahead } else { ahead })
    }
}

/// An open clip, continued at its ends and around its cuts.
#[derive(Debug)]
pub struct Continuation {
    /// The timeline of the continued clip.
    time: Timeline,
    frames: Vec<Repeated>,
    added: Vec<Added>,
    /// The position of every frame of the clip in the continued one.
    own: Vec<usize>,
}

impl Continuation {
    /// The continuation of a clip with these legs of the source, scaled to legs of length `leg_length`; of a cycle, or a body
    /// with one leg, nothing is added.
    pub fn of(time: &Timeline, legs: &[Vec<LimbPositions>], leg_length: f64) -> Continuation {
        let mut found =
            Continuation { time: time.clone(), frames: Vec::new(), added: Vec::new(), own: Vec::new() };
        let [left, right] = legs else { return found };
        if time.cycle {
            return found;
        }
        found.time.is_cut.clear();
        time.shots().into_iter().for_each(|shot| found.add_shot(time, shot, (left, right), leg_length));
        found.time.frames = found.frames.len();
        found
    }

    /// Adds the frames between two cuts, continued at both ends.
    fn add_shot(
        &mut self,
        time: &Timeline,
        shot: Range<usize>,
        (left, right): (&[LimbPositions], &[LimbPositions]),
        leg_length: f64,
    ) {
        let frames = shot.len();
        let of_clip = |before: bool, k: usize| if before { shot.end - 1 - k } else { shot.start + k };
        let heading = |f: usize| heading(&left[f], &right[f]);
        let found = [false, true].map(|before| {
            let pose = |k: usize| leg_pose(&left[of_clip(before, k)], &right[of_clip(before, k)]);
            follower(time, frames, pose, leg_length)
        });
        let cycle = match &found {
            [Some(a), Some(b)] => {
                let close = a.distance + b.distance
                    < CYCLE_TOLERANCE * (a.speed + b.speed) * VELOCITY_WINDOW.max(time.dt);
                // Each end must lead to the very frame at the other one. A clip that ends where it began, but is no cycle,
                // leads to the frame after that.
                close && a.frame == 0 && b.frame == 0
            }
            _ => false,
        };
        let continues = |end: &&Follower| cycle || end.distance < SAME_POSE_DISTANCE;
        let continued = |before: bool| -> (Vec<Repeated>, usize) {
            let follower = found[usize::from(before)].as_ref().filter(continues);
            let Some(similar) = follower.map(|follower| follower.frame) else { return (Vec::new(), 1) };
            let (mut heading_change, mut last) = (0.0, of_clip(before, frames - 1));
            let repeat = |i: usize| {
                let k = similar + i % (frames - similar);
                let frame = of_clip(before, k);
                if k == similar {
                    heading_change += heading(last) - heading(frame);
                }
                last = frame;
                // The edge that leads to the frame from the side of the clip; there is none before the first.
                let towards = of_clip(before, k.max(1) - 1).min(of_clip(before, k.max(1)));
                Repeated { frame, edge: towards, heading: heading_change }
            };
            ((0..time.reach(CONTINUATION_TIME)).map(repeat).collect(), frames - similar)
        };
        let (after_end, before_start) = (continued(false), continued(true));
        let start = self.frames.len();
        let first_own = start + before_start.0.len();
        let mut all: Vec<Repeated> = before_start.0.into_iter().rev().collect();
        all.extend(shot.clone().map(|frame| Repeated { frame, edge: frame, heading: 0.0 }));
        // Each edge is known to the frame that it leads to where frames follow the clip.
        let last = all.len() - 1;
        all.extend(after_end.0);
        for k in last..all.len() - 1 {
            all[k].edge = all[k + 1].edge;
        }
        let end = start + all.len();
        if first_own > start {
            self.added.push(Added {
                first: first_own - 1,
                before: true,
                count: first_own - start,
                period: before_start.1,
            });
        }
        if end > first_own + frames {
            let count = end - first_own - frames;
            self.added.push(Added { first: first_own + frames, before: false, count, period: after_end.1 });
        }
        self.own.extend(first_own..first_own + frames);
        self.frames.extend(all);
        let cuts = self.frames.len() - 1 - self.time.is_cut.len();
        self.time.is_cut.extend((0..cuts).map(|k| start > 0 && k == 0));
    }

    /// Continues the terms of the legs.
    fn extend(&self, terms: &mut [LegTerms]) {
        if self.added.is_empty() {
            return;
        }
        for leg in terms {
            self.vectors(&mut leg.direct_offset);
            self.join(&mut leg.direct_offset);
            self.vectors(&mut leg.stiffness);
            self.numbers(&mut leg.weight);
            for point in &mut leg.points {
                self.vectors(&mut point.misfit);
                self.join(&mut point.misfit);
                let edges = &self.frames[..self.frames.len() - 1];
                // The edge behind the last frame before a cut is never used.
                let speed = |at: &Repeated| point.speed.get(at.edge).copied().unwrap_or_default();
                point.speed = edges.iter().map(speed).collect();
                self.numbers(&mut point.nearness);
            }
        }
    }

    /// The equations of the continued clip, to be solved with goals that are `raised` as in [`Equations::solve`]; the solution is that of
    /// the clip's own frames.
    pub fn equations<'a>(
        &'a self,
        terms: &'a mut [LegTerms],
        leg_length: f64,
        settings: &Settings,
    ) -> impl Fn(Option<&[Vec<f64>]>) -> Vec<FrameSolution> + 'a {
        self.extend(terms);
        let equations = Equations::new(&self.time, terms, leg_length, settings);
        move |raised| {
            if self.added.is_empty() {
                return equations.solve(raised);
            }
            let mut raised = raised.map(<[_]>::to_vec);
            raised.iter_mut().flatten().for_each(|raised| self.numbers(raised));
            let solution = equations.solve(raised.as_deref());
            self.own.iter().map(|at| solution[*at]).collect()
        }
    }

    fn numbers(&self, values: &mut Vec<f64>) {
        *values = self.frames.iter().map(|at| values[at.frame]).collect();
    }

    fn vectors(&self, values: &mut Vec<Vec3>) {
        let rotated = |at: &Repeated| match at.heading {
            0.0 => values[at.frame],
            heading => exp(&(Vec3::y() * heading)) * values[at.frame],
        };
        *values = self.frames.iter().map(rotated).collect();
    }

    /// Lets a curve start where the one before it leads, wherever it continues from elsewhere, and return to its own values.
    fn join(&self, values: &mut [Vec3]) {
        let blend_frames = self.time.reach(BLEND_TIME) as f64;
        for added in &self.added {
            let (mut gap, mut since) = (Vec3::zeros(), 0.0);
            for k in 0..added.count {
                let at = |k: isize| added.at(k);
                let k_signed = k as isize;
                if k % added.period == 0 {
                    let extrapolated = values[at(k_signed - 1)] * 2.0 - values[at(k_signed - 2)];
                    (gap, since) = (extrapolated - values[at(k_signed)], 0.0);
                }
                let weight_left =
                    0.5 + 0.5 * libm::cos(std::f64::consts::PI * f64::min(since / blend_frames, 1.0));
                values[at(k_signed)] += gap * weight_left;
                since += 1.0;
            }
        }
    }
}

/// The frame that continues the last one of a clip best.
struct Follower {
    frame: usize,
    /// How far it is from what the last frame leads to, leg lengths.
    distance: f64,
    /// The speed of the legs in the last frame, leg lengths per second: more than [`LEAST_SPEED`].
    speed: f64,
}

/// The frame of a clip of `frames` that continues its last one best: pose and velocities are those to which the last pose leads.
/// `None` for a clip that is too short, or that stands in its last frame.
fn follower(
    time: &Timeline,
    frames: usize,
    pose: impl Fn(usize) -> LegPose + Sync,
    leg_length: f64,
) -> Option<Follower> {
    let slope = time.reach(VELOCITY_WINDOW);
    let candidates = frames.checked_sub(time.reach(LEAST_TIME_TO_FOLLOWER).max(slope + 1))?;
    // Pose and velocities of a frame.
    let state = |f: usize| -> (LegPose, LegPose) {
        let from = f.saturating_sub(slope);
        let (own, a) = (pose(f), pose(from));
        let b = if f == from + slope { own } else { pose(from + slope) };
        (own, std::array::from_fn(|j| (b[j] - a[j]) / (slope as f64 * time.dt)))
    };
    let (end, speed) = state(frames - 1);
    let mean = |sum: f64| (sum / speed.len() as f64).sqrt() / leg_length;
    let end_speed = mean(speed.iter().map(Vec3::norm_squared).sum());
    if end_speed <= LEAST_SPEED {
        return None;
    }
    let distance = |f: usize| -> f64 {
        let (own, velocity) = state(f);
        let of = |j: usize| {
            let extrapolated = end[j] + speed[j] * time.dt;
            (own[j] - extrapolated).norm_squared()
                + (velocity[j] - speed[j]).norm_squared() * VELOCITY_TIME.powi(2)
        };
        (0..own.len()).map(of).sum()
    };
    let all: Vec<f64> = parallel::map(candidates, 64, distance);
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    // Of candidates that are equal up to rounding, the one furthest from the end.
    let frame =
        all.iter().position(|distance| *distance <= least * (1.0 + EQUAL) + (EQUAL * leg_length).powi(2))?;
    Some(Follower { frame, distance: mean(all[frame]), speed: end_speed })
}

/// Both legs in a frame: hips, knees, ankles and toes relative to the middle of the hips, facing a common direction.
type LegPose = [Vec3; 8];

/// The pose of both legs in a frame.
fn leg_pose(left: &LimbPositions, right: &LimbPositions) -> LegPose {
    let across = left.hip - right.hip;
    let level = (across.x * across.x + across.z * across.z).sqrt();
    let [x, z] = if level > 0.0 { [across.x / level, across.z / level] } else { [1.0, 0.0] };
    let middle = (left.hip + right.hip) * 0.5;
    let [left, right] = [left, right].map(|leg| {
        [leg.hip, leg.knee, leg.ankle, leg.toes].map(|at| {
            let at = at - middle;
            Vec3::new(at.x * x + at.z * z, at.y, at.z * x - at.x * z)
        })
    });
    std::array::from_fn(|k| if k < 4 { left[k] } else { right[k - 4] })
}

/// The direction of the hips about the vertical, radians.
fn heading(left: &LimbPositions, right: &LimbPositions) -> f64 {
    let across = left.hip - right.hip;
    libm::atan2(-across.z, across.x)
}
