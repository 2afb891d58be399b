//! Toes that bend up out of the floor do so before they must, and come down slowly.
//!
//! What a free foot bends its toes by sets in when their tip meets the floor, within a frame or two. The bend is
//! replaced by a smooth curve that is nowhere below it ([`envelope`]). Units: radians, seconds.

use crate::feet::{Leg, envelope};
use crate::ik::Mechanism;
use crate::math::{Transform, exp, log};
use crate::model::{ContactPart, Motion, Pose};
use crate::signal::with_poses;

/// How far a bend reaches into neighbouring frames, seconds.
const REACH: f64 = 0.12;

/// Parts of a bend that are tried where all of it is outside the limit.
const STEPS: u32 = 16;

/// The motion whose toes bend up smoothly from what they do in `like`.
pub fn bend_early(mechanism: &Mechanism, like: &Motion, motion: &Motion) -> Motion {
    let reach = (REACH * motion.clip.sample_rate).round().max(1.0) as usize;
    let (before, mut poses) = (like.poses(), motion.poses());
    for leg in Leg::of(&motion.character) {
        let Some(toes) = leg.toes else { continue };
        let up = -leg.across[1];
        let bend = |(a, b): (&Pose, &Pose)| {
            let turn = log(&(a.joint(toes).rotation.inverse() * b.joint(toes).rotation));
            turn.dot(&up).max(0.0)
        };
        let bends: Vec<f64> = before.iter().zip(&poses).map(bend).collect();
        let rests =
            |f: usize| motion.contacts.as_ref().is_some_and(|c| c.rests(ContactPart::Ball(leg.side), f));
        for ((pose, curve), bend) in poses.iter_mut().zip(envelope(&bends, rests, reach)).zip(&bends) {
            // Only within the limit.
            let joint = *pose.joint(toes);
            let bent = |share: f64| Transform {
                rotation: joint.rotation * exp(&(up * (share * (curve - bend)))),
                ..joint
            };
            let excess = mechanism.excess(toes, &joint) + 1e-9;
            let shares = (0..=STEPS).rev().map(|k| f64::from(k) / f64::from(STEPS));
            let most = shares.map(bent).find(|bent| mechanism.excess(toes, bent) <= excess);
            pose.local_mut()[toes.index()] = most.unwrap_or(joint);
        }
    }
    with_poses(motion, &poses)
}
