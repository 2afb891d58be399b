//! Limbs whose ends are in the floor become limbs that reach to it.
//!
//! Space: model space, Y up. Units: metres.

use super::closure::{close, knee_side};
use super::leg::{Leg, Step, steps};
use super::settings::Settings;
use super::write::{Placed, write};
use crate::math::Vec3;
use crate::model::Motion;

/// The motion with the end of every limb as much higher as is told, by frame; hips and shoulders stay.
pub fn raise(motion: &Motion, limbs: &[(&Leg, Vec<f64>)], settings: &Settings) -> Motion {
    let still = |f: usize| limbs.iter().all(|(_, rise)| rise[f] <= 0.0);
    if (0..motion.clip.frames()).all(still) {
        return motion.clone();
    }
    let legs: Vec<&Leg> = limbs.iter().map(|(leg, _)| *leg).collect();
    let raised = |(arriving, (leg, rise)): (Vec<Step>, &(&Leg, Vec<f64>))| -> Vec<Step> {
        let side = knee_side(&arriving);
        let of = |(step, rise): (&Step, &f64)| {
            let [hip, _, ankle] = step.places();
            let limits = [leg.length(), std::f64::consts::PI];
            close(step, &hip, &(ankle + Vec3::y() * *rise), &side, limits, settings)
        };
        arriving.iter().zip(rise).map(of).collect()
    };
    let closed: Vec<Vec<Step>> = steps(motion, &legs).into_iter().zip(limbs).map(raised).collect();
    let clip = write(motion, &Placed { legs: &legs, steps: &closed, body: &[], still });
    Motion { clip, ..motion.clone() }
}
