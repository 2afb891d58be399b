//! A motion under repair, with cached rotation steps of all joints and the path of the root.
//!
//! Space: model space, Y up. Units: metres of a body whose thigh and shin have a total length of 0.86 m, seconds,
//! degrees. The step (edge) with index `e` is between frames `e` and `e + 1`.

use super::root_path::RootPath;
use crate::anatomy::on_four_legs;
use crate::body::CharacterBody;
use crate::kinematics::{cuts, size, turning};
use crate::legs::LimbChain;
use crate::math::{Quat, Transform, Vec3, rotation_between, same_hemisphere};
use crate::model::{JointId, Motion, Side};
use crate::parallel;
use crate::signal::{SquaredDifferences, fix_hemispheres};
use std::ops::Range;

/// Total length of thigh and shin of the reference body, metres: all limits of this module and of `settle` are in its
/// units. Other modules have reference legs of their own, e.g. from hip to sole.
pub const LEG: f64 = 0.86;
/// Degrees per frame below which a joint repeats its rotation: a hundredth of the noise of captures.
pub const STILL: f64 = 1e-3;
/// Least frames: shorter takes have too few neighbours to compare a frame with.
const SHORTEST: usize = 9;

/// Least joints that rotate: with fewer it is a prop, a camera or a test, no recording of a body.
const FEWEST: usize = 6;

/// The bounds of no steps.
const NO_STEPS: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

/// Steps per parallel task where each is little work.
pub(super) const EDGES_PER_TASK: usize = 256;

/// Joints whose rotations are read together: those of a frame are next to each other, and two fill a line of the cache.
const TOGETHER: usize = 4;
/// Frames that are read together: those of so many joints fit the first-level cache.
const FRAMES_TOGETHER: usize = 128;

/// A motion under repair.
#[derive(Clone, Debug)]
pub(super) struct WorkingTake {
    pub motion: Motion,
    /// Seconds per frame.
    pub dt: f64,
    /// Converts lengths of this body to those of the reference body.
    pub scale: f64,
    /// The joints that rotate at all.
    pub rotating: Vec<usize>,
    /// The two legs of a biped.
    pub legs: Option<[LimbChain; 2]>,
    path: RootPath,
    /// Rotation angle of every rotating joint over every step, step-major.
    steps: Vec<f64>,
    /// No step of a rotating joint is smaller or larger than these two.
    bounds: Vec<[f64; 2]>,
}

impl WorkingTake {
    /// Prepares a motion.
    ///
    /// # Errors
    /// The motion itself, if it is too short to be tested or is not that of a body.
    pub fn of(mut motion: Motion) -> Result<Self, Box<Motion>> {
        let frames = motion.clip.frames();
        if frames < SHORTEST {
            return Err(motion.into());
        }
        let rotating = turning(&motion.clip);
        if rotating.len() < FEWEST {
            return Err(motion.into());
        }
        let character = &motion.character;
        let rest = character.reference_pose();
        let body = CharacterBody::new(character);
        let legs = Side::BOTH.map(|side| LimbChain::of(&body, side));
        let legs = match legs {
            [Some(left), Some(right)] if !on_four_legs(&character.rig, &rest) => Some([left, right]),
            _ => None,
        };
        let leg = match &legs {
            Some([left, right]) => 0.5 * (left.length() + right.length()),
            None => size(&rest),
        };
        let path = RootPath::of(&mut motion);
        let (dt, scale) = (motion.clip.sample_rate.recip(), LEG / leg.max(1e-9));
        let steps = vec![0.0; rotating.len() * (frames - 1)];
        let bounds = vec![NO_STEPS; rotating.len()];
        let mut take = Self { motion, dt, scale, rotating, legs, path, steps, bounds };
        take.measure(0..frames);
        Ok(take)
    }

    /// The motion; exactly the input if nothing was fixed.
    pub fn into_motion(self, changed: bool) -> Motion {
        if changed { self.motion } else { self.path.applied_to(self.motion) }
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.motion.clip.frames()
    }

    /// The number of steps between frames.
    pub fn edges(&self) -> usize {
        self.frames() - 1
    }

    /// Seconds in whole frames, rounded down, at least `least`: what is shorter than a time has no more frames.
    pub fn frames_in(&self, seconds: f64, least: usize) -> usize {
        ((seconds / self.dt) as usize).max(least)
    }

    /// The time of a frame since the first.
    pub fn time(&self, frame: usize) -> f64 {
        frame as f64 * self.dt
    }

    /// The name of a joint.
    pub fn name(&self, joint: usize) -> String {
        self.motion.character.skeleton().joint(JointId::new(joint)).name.clone()
    }

    /// Whether every other joint that rotates is below this one.
    pub fn moves_all(&self, joint: usize) -> bool {
        let skeleton = self.motion.character.skeleton();
        let below = |other: &usize| skeleton.is_ancestor(JointId::new(joint), JointId::new(*other));
        self.rotating.iter().filter(|other| **other != joint).all(below)
    }

    /// The local rotation of a joint.
    pub fn rotation(&self, frame: usize, joint: usize) -> Quat {
        self.motion.clip.rotations(frame)[joint]
    }

    /// The components of a joint's local rotation over some frames.
    pub fn rotations(&self, frames: &Range<usize>, joint: usize) -> Vec<[f64; 4]> {
        frames.clone().map(|f| self.rotation(f, joint).coords.into()).collect()
    }

    /// A value for each rotating joint, of the differences of its rotations over some frames.
    pub fn map_differences<T: Send + Clone>(
        &self,
        frames: &Range<usize>,
        of: impl Fn(&mut SquaredDifferences<4>) -> T + Sync,
    ) -> Vec<T> {
        let groups: Vec<&[usize]> = self.rotating.chunks(TOGETHER).collect();
        let memory = || [const { SquaredDifferences::<4>::new() }; TOGETHER];
        let of_group = |all: &mut [SquaredDifferences<4>; TOGETHER], k: usize| -> Vec<T> {
            let all = &mut all[..groups[k].len()];
            for differences in all.iter_mut() {
                differences.clear();
                differences.reserve(frames.len());
            }
            let mut columns = [[[0.0; 4]; FRAMES_TOGETHER]; TOGETHER];
            for first in frames.clone().step_by(FRAMES_TOGETHER) {
                let count = FRAMES_TOGETHER.min(frames.end - first);
                for f in 0..count {
                    let row = self.motion.clip.rotations(first + f);
                    for (column, j) in columns.iter_mut().zip(groups[k]) {
                        column[f] = row[*j].coords.into();
                    }
                }
                all.iter_mut().zip(&columns).for_each(|(of_joint, column)| of_joint.extend(&column[..count]));
            }
            all.iter_mut().map(&of).collect()
        };
        parallel::map_with(groups.len(), 1, memory, of_group).concat()
    }

    /// The local rotation of a joint in the reference pose.
    pub fn rest(&self, joint: usize) -> Quat {
        let character = &self.motion.character;
        let pose = character.reference_pose();
        let own = pose.joint(JointId::new(joint)).rotation;
        let parent = character.skeleton().parent(JointId::new(joint));
        parent.map_or(own, |parent| pose.joint(parent).rotation.inverse() * own)
    }

    /// Replaces the local rotation of a joint; call [`WorkingTake::measure`] afterwards.
    pub fn set_rotation(&mut self, frame: usize, joint: usize, rotation: Quat) {
        let own = &mut self.motion.clip.rotations_mut(frame)[joint];
        *own = same_hemisphere(rotation, own);
    }

    /// Updates the steps that touch these frames.
    pub fn measure(&mut self, frames: Range<usize>) {
        let (width, clip, rotating) = (self.rotating.len(), &self.motion.clip, &self.rotating);
        let edges = frames.start.saturating_sub(1)..frames.end.min(clip.frames() - 1);
        let steps = &mut self.steps[edges.start * width..edges.end * width];
        let mut blocks: Vec<&mut [f64]> = steps.chunks_mut(EDGES_PER_TASK * width).collect();
        let bounds_of = |block: usize, steps: &mut &mut [f64]| -> Vec<[f64; 2]> {
            let mut bounds = vec![NO_STEPS; width];
            for (row, edge) in steps.chunks_mut(width).zip(edges.start + block * EDGES_PER_TASK..) {
                let (from, to) = (clip.rotations(edge), clip.rotations(edge + 1));
                for ((step, j), bounds) in row.iter_mut().zip(rotating).zip(&mut bounds) {
                    *step = rotation_between(&from[*j], &to[*j]).to_degrees();
                    widen(bounds, *step);
                }
            }
            bounds
        };
        for of_block in parallel::map_mut(&mut blocks, 1, bounds_of) {
            let both = self.bounds.iter_mut().zip(of_block);
            both.for_each(|(bounds, of_block)| of_block.into_iter().for_each(|step| widen(bounds, step)));
        }
    }

    /// The columns of the joints whose smallest and largest step may be like this.
    pub fn joints_with(&self, like: impl Fn(f64, f64) -> bool) -> Vec<usize> {
        (0..self.bounds.len()).filter(|k| like(self.bounds[*k][0], self.bounds[*k][1])).collect()
    }

    /// Makes quaternion signs continuous after rotations were replaced.
    pub fn fix_signs(&mut self) {
        fix_hemispheres(&mut self.motion.clip);
    }

    /// Rotation angles of all rotating joints over a step.
    pub fn steps(&self, edge: usize) -> &[f64] {
        &self.steps[edge * self.rotating.len()..][..self.rotating.len()]
    }

    /// Whether all joints repeat their rotations over a step.
    pub fn repeats_pose(&self, edge: usize) -> bool {
        self.steps(edge).iter().all(|step| *step < STILL)
    }

    /// The columns of the joints that rotate by at least `least` degrees in a step and again in one of the `longest` steps after
    /// it.
    pub fn leaps(&self, longest: usize, least: f64) -> Vec<usize> {
        let edges = self.edges();
        let leaps = |k: &usize| {
            let far = |edge: usize| self.steps(edge)[*k] >= least;
            (0..edges).any(|edge| far(edge) && (edge + 1..edges.min(edge + 1 + longest)).any(far))
        };
        self.joints_with(|_, largest| largest >= least).into_iter().filter(leaps).collect()
    }

    /// The mean rotation angle of all rotating joints over a step.
    pub fn mean_step(&self, edge: usize) -> f64 {
        self.steps(edge).iter().fold(0.0, |sum, step| sum + step) / self.rotating.len().max(1) as f64
    }

    /// Replaces the clip by another one of the same body, which may have further translation tracks.
    pub fn replace(&mut self, motion: Motion) {
        self.motion = motion;
        self.path = RootPath::of(&mut self.motion);
        self.measure(0..self.frames());
    }

    /// The positions of the root joint ([`RootPath`]).
    pub fn root_positions(&self) -> Vec<Vec3> {
        self.path.positions(&self.motion).into_iter().map(|p| p * self.scale).collect()
    }

    /// Displaces the body in one frame.
    pub fn shift(&mut self, frame: usize, displacement: &Vec3) {
        self.path.shift(&mut self.motion, frame, &(displacement / self.scale));
    }

    /// Rotates the body in all frames about one point.
    pub fn rotate(&mut self, rotation: &Quat, about: &Vec3) {
        let about = about / self.scale;
        let by = Transform::new(*rotation, about - rotation * about);
        (0..self.frames()).for_each(|f| self.path.transform(&mut self.motion, f, &by));
        self.fix_signs();
        self.measure(0..self.frames());
    }

    /// Whether a step is a cut, for all steps.
    pub fn cut(&self) -> Vec<bool> {
        let mut cut = vec![false; self.edges()];
        cuts(&self.motion).into_iter().for_each(|f| cut[f - 1] = true);
        cut
    }
}

/// Widens the bounds of a joint's steps to this one.
fn widen([least, most]: &mut [f64; 2], step: f64) {
    if step < *least {
        *least = step;
    }
    if step > *most {
        *most = step;
    }
}
