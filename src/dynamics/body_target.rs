//! Makes a body follow a joint of a recorded clip, with bounded force and torque.
//!
//! The body is where the scene places it at the start, and from there moves as the joint does: the displacement of the joint
//! since the first frame, and its rotation. The pull is the velocity that reaches the target at the end of the step, so
//! that contacts and constraints oppose it, and win where the force does not suffice. Space: world of the scene. Units: SI.

use super::drive::Pull;
use super::rigid_body::BodyState;
use crate::math::{Quat, Transform, Vec3, exp, log, slerp};
use std::f64::consts::FRAC_PI_2;

/// A body that follows a joint of a clip.
#[derive(Clone, Debug)]
pub struct BodyTarget {
    /// The index of the body.
    pub body: usize,
    /// The file with the clip, as the scene names it.
    pub motion: String,
    /// The name of the clip; the file's own choice if `None`.
    pub clip: Option<String>,
    /// The joint, by name or role.
    pub joint: String,
    /// The largest force, newtons.
    pub force: f64,
    /// The largest torque, N m.
    pub torque: f64,
    /// Scene from clip: clips have Y up.
    scene_from_clip: Quat,
    start: BodyState,
    track: Vec<Transform>,
    rate: f64,
}

/// The pulls of one target, three along and three about the axes; their identifiers are consecutive.
const PULLS_OF_A_TARGET: usize = 6;

impl BodyTarget {
    /// A target without a clip: it keeps the body where it starts. `up` is the upward direction of the scene.
    pub(super) fn new(
        body: usize,
        (motion, clip, joint): (String, Option<String>, String),
        (force, torque): (f64, f64),
        up: &Vec3,
        start: BodyState,
    ) -> Self {
        let tilt = if *up == Vec3::z() { FRAC_PI_2 } else { 0.0 };
        let scene_from_clip = exp(&(Vec3::x() * tilt));
        Self {
            body,
            motion,
            clip,
            joint,
            force,
            torque,
            scene_from_clip,
            start,
            track: Vec::new(),
            rate: 1.0,
        }
    }

    /// Sets the transforms of the joint in the axes of its clip (metres, Y up) and their rate, frames per second.
    pub fn set_track(&mut self, track: Vec<Transform>, rate: f64) {
        (self.track, self.rate) = (track, rate);
    }

    /// World from body at a time, seconds; after the last frame the target stays.
    fn at(&self, time: f64) -> (Vec3, Quat) {
        let (Some(first), Some(last)) = (self.track.first(), self.track.len().checked_sub(1)) else {
            return (self.start.position, self.start.orientation);
        };
        let at = (time * self.rate).clamp(0.0, last as f64);
        let (frame, share) = (at.floor() as usize, at.fract());
        let (a, b) = (&self.track[frame], &self.track[(frame + 1).min(last)]);
        let position = a.translation + (b.translation - a.translation) * share;
        let rotation = slerp(&a.rotation, &b.rotation, share) * first.rotation.inverse();
        let rotation = self.scene_from_clip * rotation * self.scene_from_clip.inverse();
        let moved = self.scene_from_clip * (position - first.translation);
        (self.start.position + moved, rotation * self.start.orientation)
    }

    /// The pulls of the step of `h` seconds that ends at `time`; `index` is that of the target in the scene.
    pub(super) fn pulls(
        &self,
        index: usize,
        state: &BodyState,
        time: f64,
        h: f64,
        compliance: f64,
    ) -> [Pull; 6] {
        let (position, orientation) = self.at(time);
        let along = (position - state.position) / h;
        let about = log(&(orientation * state.orientation.inverse())) / h;
        std::array::from_fn(|k| {
            let axis = Vec3::ith(k % 3, 1.0);
            let linear = k < 3;
            let most = if linear { self.force } else { self.torque };
            Pull {
                id: PULLS_OF_A_TARGET * index + k,
                body: self.body,
                against: None,
                point: state.position,
                along: if linear { axis } else { Vec3::zeros() },
                about: if linear { Vec3::zeros() } else { axis },
                speed: if linear { along[k] } else { about[k % 3] },
                compliance,
                low: -most,
                high: most,
            }
        })
    }
}
