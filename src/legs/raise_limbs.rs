//! Raises hands and feet out of the floor by IK of their limbs.
//!
//! Space: model space, Y up. Units: metres.

use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, limb_poses};
use super::settings::Settings;
use super::soft_knee::{MAX_BEND, knee_directions, solve_limbs};
use super::write_clip::{SolvedFrames, write};
use crate::math::Vec3;
use crate::model::Motion;

/// The motion with the end of every limb raised by the given height, by frame; hips and shoulders do not move.
pub fn raise_limbs(motion: Motion, limbs: &[(&LimbChain, Vec<f64>)], settings: &Settings) -> Motion {
    let still = |f: usize| limbs.iter().all(|(_, rise)| rise[f] <= 0.0);
    if (0..motion.clip.frames()).all(still) {
        return motion;
    }
    let legs: Vec<&LimbChain> = limbs.iter().map(|(chain, _)| *chain).collect();
    let mut poses = limb_poses(&motion, &legs);
    let ends = |k: usize, f: usize, pose: &LimbPose| {
        let [hip, _, ankle] = pose.hip_knee_ankle();
        Some([hip, ankle + Vec3::y() * limbs[k].1[f]])
    };
    let knee_directions = knee_directions(&poses);
    // Only heights are wrong here.
    let settings = &Settings { slip_weight: 1.0, ..*settings };
    solve_limbs(&legs, &mut poses, &knee_directions, MAX_BEND, settings, ends);
    write(motion, &SolvedFrames { legs: &legs, poses: &poses, body: &[], still: &still })
}
