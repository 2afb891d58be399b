//! A motion becomes a take that is looked at and mended: turns of joints from frame to frame, the way of the body.
//!
//! Space: model space, Y up. Units: metres of a body whose thigh and shin are 0.86 m long together, seconds, degrees.

use super::path::Path;
use crate::anatomy::on_four_legs;
use crate::body::CharacterBody;
use crate::kinematics::{cuts, size, turning};
use crate::legs::Leg;
use crate::math::{Quat, Transform, Vec3, rotation_between, same_hemisphere};
use crate::model::{JointId, Motion, Side};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;
use std::ops::Range;

/// Thigh and shin of the body in whose metres all limits are given, here and in `settle`.
pub const LEG: f64 = 0.86;
/// Shorter takes have no neighbourhood to compare a frame with.
const SHORTEST: usize = 9;

/// What has fewer joints that turn is no recording of a body: a prop, a camera, a test.
const FEWEST: usize = 6;

/// Edges that a thread takes at once where each is little work.
pub(super) const TOGETHER: usize = 256;

/// A motion that is being mended.
#[derive(Clone, Debug)]
pub(super) struct Take {
    pub motion: Motion,
    /// The time of a frame.
    pub dt: f64,
    /// The body's own metres times this are metres of the body with legs of 0.86 m.
    pub scale: f64,
    /// The joints that turn at all.
    pub turning: Vec<usize>,
    /// The two legs of a body that walks upright.
    pub legs: Option<[Leg; 2]>,
    path: Path,
    /// The turn of every joint that turns over every edge, edge by edge.
    steps: Vec<f64>,
}

impl Take {
    /// The take of a motion.
    ///
    /// # Errors
    /// The motion itself, where it is too short to be judged or moves no body.
    pub fn of(mut motion: Motion) -> Result<Self, Box<Motion>> {
        let frames = motion.clip.frames();
        if frames < SHORTEST {
            return Err(motion.into());
        }
        let turning = turning(&motion.clip);
        if turning.len() < FEWEST {
            return Err(motion.into());
        }
        let character = &motion.character;
        let rest = character.calibration_pose();
        let body = CharacterBody::new(character);
        let legs = Side::BOTH.map(|side| Leg::of(&body, side));
        let legs = match legs {
            [Some(left), Some(right)] if !on_four_legs(&character.rig, &rest) => Some([left, right]),
            _ => None,
        };
        let leg = match &legs {
            Some([left, right]) => 0.5 * (left.length() + right.length()),
            None => size(&rest),
        };
        let path = Path::of(&mut motion);
        let (dt, scale) = (motion.clip.sample_rate.recip(), LEG / leg.max(1e-9));
        let mut take = Self { motion, dt, scale, turning, legs, path, steps: Vec::new() };
        take.steps = vec![0.0; take.turning.len() * take.edges()];
        take.measure(0..frames);
        Ok(take)
    }

    /// The motion, as it was given where nothing of it was mended.
    pub fn given_back(self, mended: bool) -> Motion {
        if mended { self.motion } else { self.path.given_back(self.motion) }
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.motion.clip.frames()
    }

    /// How many edges between frames.
    pub fn edges(&self) -> usize {
        self.frames() - 1
    }

    /// So many seconds in frames, at least `least`.
    pub fn frames_in(&self, seconds: f64, least: usize) -> usize {
        ((seconds / self.dt) as usize).max(least)
    }

    /// The time of every frame from the first on.
    pub fn time(&self, frame: usize) -> f64 {
        frame as f64 * self.dt
    }

    /// The name of a joint.
    pub fn name(&self, joint: usize) -> String {
        self.motion.character.skeleton().joint(JointId::new(joint)).name.clone()
    }

    /// The local rotation of a joint.
    pub fn rotation(&self, frame: usize, joint: usize) -> &Quat {
        &self.motion.clip.rotations(frame)[joint]
    }

    /// Replaces the local rotation of a joint; [`Take::measure`] is to follow.
    pub fn turn(&mut self, frame: usize, joint: usize, rotation: Quat) {
        let own = &mut self.motion.clip.rotations_mut(frame)[joint];
        *own = same_hemisphere(rotation, own);
    }

    /// Looks anew at the edges that touch these frames.
    pub fn measure(&mut self, frames: Range<usize>) {
        let (width, clip, turning) = (self.turning.len(), &self.motion.clip, &self.turning);
        let edges = frames.start.saturating_sub(1)..frames.end.min(clip.frames() - 1);
        let steps = &mut self.steps[edges.start * width..edges.end * width];
        steps.par_chunks_mut(width).with_min_len(64).zip(edges).for_each(|(steps, edge)| {
            let (from, to) = (clip.rotations(edge), clip.rotations(edge + 1));
            for (step, j) in steps.iter_mut().zip(turning) {
                *step = rotation_between(&from[*j], &to[*j]).to_degrees();
            }
        });
    }

    /// Signs are continuous again after rotations were replaced.
    pub fn settle(&mut self) {
        fix_hemispheres(&mut self.motion.clip);
    }

    /// The turns of all joints that turn, over an edge.
    pub fn steps(&self, edge: usize) -> &[f64] {
        &self.steps[edge * self.turning.len()..][..self.turning.len()]
    }

    /// The greatest turn of every joint that one of the `longest` edges after it repeats.
    pub fn leaps(&self, longest: usize) -> Vec<f64> {
        let none = || vec![0.0_f64; self.turning.len()];
        let greater = |mut most: Vec<f64>, edge: usize| {
            for other in (edge + 1..=edge + longest).take_while(|other| *other < self.edges()) {
                let pairs = self.steps(edge).iter().zip(self.steps(other));
                most.iter_mut().zip(pairs).for_each(|(most, (a, b))| *most = most.max(a.min(*b)));
            }
            most
        };
        let edges = (0..self.edges()).into_par_iter().with_min_len(TOGETHER).fold(none, greater);
        edges.reduce(none, |a, b| a.iter().zip(b).map(|(a, b)| a.max(b)).collect())
    }

    /// The mean of the turns of all joints that turn, over an edge.
    pub fn mean_step(&self, edge: usize) -> f64 {
        self.steps(edge).iter().fold(0.0, |sum, step| sum + step) / self.turning.len().max(1) as f64
    }

    /// The take with another clip of the same body; joints may have got translations.
    pub fn replace(&mut self, motion: Motion) {
        self.motion = motion;
        self.path = Path::of(&mut self.motion);
        self.measure(0..self.frames());
    }

    /// The places of the joint that carries the body.
    pub fn places(&self) -> Vec<Vec3> {
        self.path.places(&self.motion).into_iter().map(|p| p * self.scale).collect()
    }

    /// Moves the body of one frame.
    pub fn shift(&mut self, frame: usize, way: &Vec3) {
        self.path.shift(&mut self.motion, frame, &(way / self.scale));
    }

    /// Turns the bodies of all frames by one rotation about one place.
    pub fn carry(&mut self, turn: &Quat, about: &Vec3) {
        let about = about / self.scale;
        let by = Transform::new(*turn, about - turn * about);
        (0..self.frames()).for_each(|f| self.path.carry(&mut self.motion, f, &by));
        self.settle();
        self.measure(0..self.frames());
    }

    /// Whether a cut lies on every edge.
    pub fn cut(&self) -> Vec<bool> {
        let mut cut = vec![false; self.edges()];
        cuts(&self.motion).into_iter().for_each(|f| cut[f - 1] = true);
        cut
    }
}
