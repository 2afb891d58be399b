//! Leg and pelvis trajectories over a clip, and their application to the directly transferred clip.

use super::forelegs::{ForelegTrajectories, solve_forelegs};
use super::leg_pair::LegPair;
use super::limb_chain::LimbChain;
use super::limb_pose::{
    FootDelta, LimbPose, LimbPositions, each, limb_poses, rotate_foot, tilt_hips, translate,
};
use super::settings::Settings;
use super::soft_knee::{MAX_BEND, solve_limbs};
use super::timeline::Timeline;
use super::toe_rest::rest_toes;
use super::write_clip::{SolvedFrames, write_flipping};
use crate::math::{Quat, Vec3, percentile_in_place};
use crate::model::Motion;
use std::ops::Range;

/// Change of the height by which a body is raised up to which it stays where it is, metres: it cannot be seen.
const LEVEL: f64 = 0.001;
/// Median difference of ankle heights up to which a body without the frames in which it is still stands as high as with them, metres:
/// less than a hover that can be seen.
const AS_HIGH: f64 = 0.005;

/// The trajectories of a target's legs and body over a clip.
#[derive(Clone, Debug)]
pub struct LegTrajectories {
    pub(super) settings: Settings,
    /// The direction of the knee of each leg: see [`super::soft_knee::knee_direction`].
    pub(super) knee_directions: Vec<Vec3>,
    /// Displacement of the body before the solve.
    pub(super) base: Vec<Vec3>,
    /// Delta rotation of the pelvis before the solve.
    pub(super) tilts: Vec<Quat>,
    /// The rotation of the toes of each leg in their own space: see [`super::toe_rest`].
    pub(super) toe_rests: Vec<Option<Quat>>,
    /// The delta rotations of each foot that is longer than the source's; empty for other feet.
    pub(super) feet: Vec<Vec<FootDelta>>,
    /// The further delta rotations of the toes of each foot; empty for toes that do not change.
    pub(super) toes: Vec<Vec<Quat>>,
    /// Displacement of the hips that the solve adds.
    pub(super) further: Vec<Vec3>,
    /// The part of it that raises the body out of the floor.
    pub(super) raise: Vec<f64>,
    /// Positions of the ankles, by leg and frame.
    pub(super) ankles: Vec<Vec<Vec3>>,
    /// The front legs of a quadruped.
    pub(super) forelegs: Option<ForelegTrajectories>,
}

impl LegTrajectories {
    /// Solves for the front legs of a quadruped as well: see [`solve_forelegs`].
    pub fn with_forelegs(
        mut self,
        time: &Timeline,
        source: Vec<Vec<LimbPositions>>,
        direct_poses: Vec<Vec<LimbPose>>,
        pairs: &[LegPair],
        ratio: f64,
    ) -> LegTrajectories {
        if !pairs.is_empty() {
            let moved: Vec<Vec3> = self.base.iter().zip(&self.further).map(|(a, b)| a + b).collect();
            let solved = solve_forelegs(time, (source, direct_poses), (pairs, ratio), &moved, &self.settings);
            self.further.iter_mut().for_each(|at| at.y += solved.lift);
            self.forelegs = Some(solved);
        }
        self
    }

    /// Whether the body is neither raised nor lowered in the frames before and after these.
    pub fn level_outside(&self, frames: &Range<usize>) -> bool {
        let level = |held: &[f64], at: f64| held.iter().all(|raise| (raise - at).abs() < LEVEL);
        level(&self.raise[..frames.start], self.raise[frames.start])
            && level(&self.raise[frames.end..], self.raise[frames.end - 1])
    }

    /// Whether the ankles are as high as in those of the whole clip, of which these are the frames from `start` on.
    pub fn is_as_high_as(&self, whole: &LegTrajectories, start: usize) -> bool {
        let both = self.ankles.iter().zip(&whole.ankles).flat_map(|(own, all)| own.iter().zip(&all[start..]));
        let mut apart: Vec<f64> = both.map(|(own, all)| (own.y - all.y).abs()).collect();
        percentile_in_place(&mut apart, 0.5) < AS_HIGH
    }

    /// The trajectories of a clip that holds its first and its last frame for so many more.
    pub fn with_repeated_ends(mut self, held: [usize; 2]) -> LegTrajectories {
        hold(&mut self.base, held);
        hold(&mut self.tilts, held);
        hold(&mut self.further, held);
        hold(&mut self.raise, held);
        self.feet.iter_mut().for_each(|deltas| hold(deltas, held));
        self.toes.iter_mut().for_each(|deltas| hold(deltas, held));
        let paws = self.forelegs.iter_mut().flat_map(|forelegs| &mut forelegs.paws);
        self.ankles.iter_mut().chain(paws).for_each(|at| hold(at, held));
        self
    }

    /// Applies the trajectories to a part of the direct transfer that starts at frame `first`; `pairs` must be those of the
    /// solve. Quaternion signs may flip between frames.
    pub fn apply(&self, part: Motion, first: usize, pairs: &[LegPair]) -> Motion {
        let frames = first..first + part.clip.frames();
        let (base, tilts) = (&self.base[frames.clone()], &self.tilts[frames.clone()]);
        let further = &self.further[frames.clone()];
        let legs: Vec<&LimbChain> = pairs.iter().map(|p| &p.target).collect();
        let mut poses = limb_poses(&part, &legs);
        tilt_hips(&mut poses, tilts);
        rest_toes(&mut poses, &self.toe_rests);
        for (poses, deltas) in poses.iter_mut().zip(&self.feet).filter(|(_, deltas)| !deltas.is_empty()) {
            rotate_foot(poses, &deltas[frames.clone()]);
        }
        for (poses, deltas) in poses.iter_mut().zip(&self.toes).filter(|(_, deltas)| !deltas.is_empty()) {
            each(poses, &deltas[frames.clone()], |pose, delta| *pose = pose.with_toes_rotated(delta));
        }
        poses.iter_mut().for_each(|poses| translate(poses, base));
        let ends = |k: usize, f: usize, pose: &LimbPose| {
            Some([pose.upper.translation + further[f], self.ankles[k][first + f]])
        };
        solve_limbs(&legs, &mut poses, &self.knee_directions, MAX_BEND, &self.settings, ends);
        let body: Vec<(Vec3, Quat)> =
            base.iter().zip(further).zip(tilts).map(|((base, more), tilt)| (base + more, *tilt)).collect();
        let moved = write_flipping(
            part,
            &SolvedFrames { legs: &legs, poses: &poses, body: &body, still: &|_| false },
        );
        match &self.forelegs {
            Some(forelegs) => forelegs.apply(moved, first, &self.settings),
            None => moved,
        }
    }
}

/// Repeats the first value `before` times and the last `after` times; empty stays empty.
fn hold<T: Copy>(values: &mut Vec<T>, [before, after]: [usize; 2]) {
    if let (Some(first), Some(last)) = (values.first().copied(), values.last().copied()) {
        values.extend(std::iter::repeat_n(last, after));
        values.splice(..0, std::iter::repeat_n(first, before));
    }
}
