//! Trajectories of the bodies of a ragdoll along a clip: states with velocities at every time step.
//!
//! A step is a whole part of a frame, so that frames are steps. Between frames positions follow cubics and rotations
//! squads ([`crate::signal::resample`]); velocities are central differences. Space: model space. Units: SI.

use super::ragdoll::Ragdoll;
use crate::dynamics::BodyState;
use crate::kinematics::forward;
use crate::math::log;
use crate::model::{Clip, ModelPose, Skeleton};
use crate::signal::{Rate, Resampling, resample};

/// The clip at the rate of the steps.
#[derive(Clone, Debug)]
pub struct BodyTrajectory {
    fine: Clip,
    /// Steps in a frame.
    pub steps: usize,
    /// Seconds in a step.
    pub h: f64,
}

impl BodyTrajectory {
    /// The trajectory of a clip with steps of about `step` seconds.
    pub fn new(clip: &Clip, step: f64) -> Self {
        let steps = (1.0 / (clip.sample_rate * step) - 1e-6).ceil().max(1.0) as usize;
        // Counted in frames of one hertz, whatever the rate: every frame is then exactly a step.
        let mut by_frame = clip.clone();
        by_frame.sample_rate = 1.0;
        let fine = match Rate::from_hz(steps as f64) {
            Some(rate) if steps > 1 => resample(&by_frame, rate, Resampling::default(), &[]),
            _ => by_frame,
        };
        Self { fine, steps, h: 1.0 / (clip.sample_rate * steps as f64) }
    }

    /// The joints at an instant.
    pub fn model(&self, skeleton: &Skeleton, instant: usize) -> ModelPose {
        ModelPose::of(skeleton, &self.fine.pose(skeleton, instant))
    }

    /// The bodies from instant `from` to instant `to`, both included, with their velocities.
    pub fn states(
        &self,
        ragdoll: &Ragdoll,
        skeleton: &Skeleton,
        from: usize,
        to: usize,
    ) -> Vec<Vec<BodyState>> {
        // At both ends the slope is one-sided: the clip may jump beyond.
        let (before, behind) = (from, to.min(self.fine.frames() - 1));
        let (mut pose, mut model) = (skeleton.rest_pose(), ModelPose::new(Vec::new()));
        let mut at = |k: usize| {
            forward(skeleton, &self.fine, k, &mut pose, &mut model);
            ragdoll.states(&model)
        };
        let all: Vec<Vec<BodyState>> = (before..=behind).map(&mut at).collect();
        let timed = |k: usize| {
            let (a, b) = (k.saturating_sub(1).max(before), (k + 1).min(behind));
            let time = (b - a) as f64 * self.h;
            let mut states = all[k - before].clone();
            for (i, state) in states.iter_mut().enumerate() {
                let (x, y) = (&all[a - before][i], &all[b - before][i]);
                if time > 0.0 {
                    state.velocity = (y.position - x.position) / time;
                    let spin = log(&(y.orientation * x.orientation.inverse())) / time;
                    state.angular_velocity = state.orientation.inverse_transform_vector(&spin);
                }
            }
            states
        };
        (before..=behind).map(timed).collect()
    }
}
