//! Raises hands and feet out of the floor by IK of their limbs.
//!
//! Space: model space, Y up. Units: metres.

use super::closure::{FOLDED, close_all, knee_sides};
use super::leg::{Leg, Step, steps};
use super::settings::Settings;
use super::write::{Placed, write};
use crate::math::Vec3;
use crate::model::Motion;

/// The motion with the end of every limb raised by the given height, by frame; hips and shoulders do not move.
pub fn raise(motion: Motion, limbs: &[(&Leg, Vec<f64>)], settings: &Settings) -> Motion {
    let still = |f: usize| limbs.iter().all(|(_, rise)| rise[f] <= 0.0);
    if (0..motion.clip.frames()).all(still) {
        return motion;
    }
    let legs: Vec<&Leg> = limbs.iter().map(|(leg, _)| *leg).collect();
    let mut steps = steps(&motion, &legs);
    let ends = |k: usize, f: usize, step: &Step| {
        let [hip, _, ankle] = step.places();
        Some([hip, ankle + Vec3::y() * limbs[k].1[f]])
    };
    let sides = knee_sides(&steps);
    close_all(&legs, &mut steps, &sides, FOLDED, settings, ends);
    write(motion, &Placed { legs: &legs, steps: &steps, body: &[], still })
}
