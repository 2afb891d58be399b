//! Feet that were moved with their body go back to where they were; the knees follow.
//!
//! Space: model space. Units: metres, radians.

use super::closure::{close, knee_direction};
use super::leg::{Change, Leg, Step, read};
use super::write::write;
use crate::math::{Vec3, log};
use crate::model::Motion;
use rayon::prelude::*;

/// The motion with its feet where `like` has them, in every frame by this `share` of the way: 1 is all of it.
pub fn put_feet_back(motion: &Motion, like: &Motion, share: &[f64]) -> Motion {
    let legs = Leg::of(&motion.character);
    let mut closed: Vec<Vec<(Step, f64)>> = Vec::new();
    for ((leg, steps), wanted) in legs.iter().zip(read(motion, &legs)).zip(read(like, &legs)) {
        let ahead = knee_direction(leg, &steps);
        let one = |(f, step): (usize, &Step)| {
            let foot = &wanted[f].foot;
            let change = Change {
                turn: log(&(foot.rotation * step.foot.rotation.inverse())) * share[f],
                toes: Vec3::zeros(),
                shift: (foot.translation - step.foot.translation) * share[f],
            };
            close(leg, step, &change, &Vec3::zeros(), &ahead, share[f])
        };
        closed.push(steps.par_iter().enumerate().map(one).collect());
    }
    let clip = write(motion, &legs, &closed, &vec![0.0; share.len()], |f| share[f] == 0.0);
    Motion { clip, ..motion.clone() }
}
