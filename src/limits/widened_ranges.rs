//! The ranges of motion of joints, in angles followed over time, widened in every frame by what the performer did.
//!
//! Space: local rotations. Units: radians.

use crate::ik::{Limit, Mechanism, SwingTwist};
use crate::math::{DEGREE, Quat, same_hemisphere, slerp};
use crate::model::{Clip, JointId, Motion};
use crate::signal::corrections;
use std::f64::consts::TAU;

/// A joint counts as outside its range above this angle, radians.
pub(super) const OUTSIDE: f64 = 1e-9;
/// The twist of a bone that swings further than this off its axis is not defined, radians.
const TELLING: f64 = 170.0 * DEGREE;
/// A joint further outside its range than this does not have that range, radians: a robot's neck that goes round.
const FOREIGN: f64 = 60.0 * DEGREE;

/// How limits are enforced.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitOptions {
    /// Cutoff frequency of the changes, hertz.
    pub cutoff: f64,
    /// The share of the correction that is applied, 0 to 1.
    pub strength: f64,
}

impl Default for LimitOptions {
    fn default() -> Self {
        Self { cutoff: 3.0, strength: 1.0 }
    }
}

/// The ranges of motion of a body, widened in every frame by what the performer of the take did.
#[derive(Debug)]
pub struct Ranges<'a> {
    pub mechanism: &'a Mechanism,
    /// The take on the same skeleton.
    pub(super) direct: Option<&'a Clip>,
    pub options: &'a LimitOptions,
}

impl Ranges<'_> {
    /// The rotations of a joint in the take, if they widen its range: an override is a fact about this body, a published range
    /// one about people.
    pub fn direct_rotations(&self, motion: &Motion, id: JointId) -> Option<Vec<Quat>> {
        let clip = self.direct.filter(|_| !overridden(motion, id))?;
        Some((0..clip.frames()).map(|f| clip.rotations(f)[id.index()]).collect())
    }

    /// By how much a joint is outside its range in every frame, radians.
    pub(super) fn excess(&self, motion: &Motion, id: JointId) -> Vec<f64> {
        let skeleton = self.mechanism.skeleton();
        let excess = |f: usize| self.mechanism.excess(id, &motion.clip.local(skeleton, f, id));
        let mut excess: Vec<f64> = (0..motion.clip.frames()).map(excess).collect();
        let outside = excess.iter().any(|excess| *excess > OUTSIDE);
        if let (true, Some(range)) = (outside && self.direct.is_some(), self.of_joint(motion, id)) {
            // The distance in angles bounds the rotation between the two from above.
            for (f, excess) in excess.iter_mut().enumerate() {
                let nearest = range.nearest(f, range.angles[f]);
                let apart = (0..3).map(|k| (nearest[k] - range.angles[f][k]).powi(2)).sum::<f64>().sqrt();
                *excess = excess.min(apart);
            }
        }
        excess
    }

    fn of_joint(&self, motion: &Motion, id: JointId) -> Option<JointRange<'_>> {
        let Some(Limit::SwingTwist(limit)) = self.mechanism.limit(id) else { return None };
        let own = |f: usize| motion.clip.rotations(f)[id.index()];
        let angles = followed(limit, &(0..motion.clip.frames()).map(own).collect::<Vec<_>>());
        let beyond = self.direct_rotations(motion, id).map(|rotations| {
            let beyond = |direct: [f64; 3]| {
                let nearest = limit.nearest(direct);
                std::array::from_fn(|k| direct[k] - nearest[k])
            };
            followed(limit, &rotations).into_iter().map(beyond).collect()
        });
        Some(JointRange { limit, angles, beyond })
    }

    /// The rotations of one joint inside its range; `None` where they are not defined.
    pub(super) fn brought_inside(&self, motion: &Motion, id: JointId) -> Option<Vec<Quat>> {
        let frames = motion.clip.frames();
        let mut rotations: Vec<Quat> = (0..frames).map(|f| motion.clip.rotations(f)[id.index()]).collect();
        let Some(range) = self.of_joint(motion, id) else { return Some(rotations) };
        let angles = &range.angles;
        let needed: Vec<usize> = (0..frames).filter(|&f| range.nearest(f, angles[f]) != angles[f]).collect();
        if needed.is_empty() {
            return Some(rotations);
        }
        let excess = self.excess(motion, id);
        let foreign = |f: usize| !overridden(motion, id) && excess[f] > FOREIGN;
        if needed.iter().any(|&f| libm::hypot(angles[f][0], angles[f][1]) > TELLING || foreign(f)) {
            return None;
        }
        let nearest = |f: usize, change: [f64; 3]| {
            let from = angles[f];
            let nearest = range.nearest(f, std::array::from_fn(|k| from[k] + change[k]));
            std::array::from_fn(|k| nearest[k] - from[k])
        };
        let LimitOptions { cutoff, strength } = *self.options;
        for (f, change) in corrections(&needed, frames, cutoff, motion.clip.sample_rate, nearest) {
            let inside = range.limit.rotation(std::array::from_fn(|k| angles[f][k] + change[k]));
            rotations[f] = slerp(&rotations[f], &same_hemisphere(inside, &rotations[f]), strength);
        }
        Some(rotations)
    }
}

/// Whether the range of a joint was set for this character.
fn overridden(motion: &Motion, id: JointId) -> bool {
    let rig = &motion.character.rig;
    rig.role(id).is_some_and(|role| rig.mobility_override(role).is_some())
}

/// Bisection steps for the share of the performer's excess: to 1e-9 of it.
const BISECTIONS: usize = 30;

/// The range of one joint in every frame of a motion.
#[derive(Debug)]
struct JointRange<'a> {
    limit: &'a SwingTwist,
    /// The angles of the motion.
    angles: Vec<[f64; 3]>,
    /// By how much the performer exceeded the limit.
    beyond: Option<Vec<[f64; 3]>>,
}

impl JointRange<'_> {
    /// The nearest angles to `at` inside the range of a frame: the limit, moved by any share of what the performer exceeded
    /// it by. Such a range is convex.
    fn nearest(&self, f: usize, at: [f64; 3]) -> [f64; 3] {
        let nearest = self.limit.nearest(at);
        let Some(beyond) = self.beyond.as_ref().map(|beyond| beyond[f]).filter(|b| *b != [0.0; 3]) else {
            return nearest;
        };
        if nearest == at {
            return at;
        }
        let moved = |share: f64| -> [f64; 3] { std::array::from_fn(|k| at[k] - share * beyond[k]) };
        // Whether a greater share brings the limit nearer still.
        let nearer = |share: f64| {
            let at = moved(share);
            let inside = self.limit.nearest(at);
            (0..3).map(|k| beyond[k] * (at[k] - inside[k])).sum::<f64>() > 0.0
        };
        let (mut low, mut high) = (0.0, 1.0);
        if nearer(1.0) {
            low = 1.0;
        } else {
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (low + high);
                if nearer(middle) { low = middle } else { high = middle }
            }
        }
        let share = if low == 1.0 { 1.0 } else { high };
        let inside = self.limit.nearest(moved(share));
        let nearest: [f64; 3] = std::array::from_fn(|k| inside[k] + share * beyond[k]);
        let same = nearest.iter().zip(&at).all(|(a, b)| (a - b).abs() < OUTSIDE);
        if same { at } else { nearest }
    }
}

/// The angles of every frame, the twist without jumps of a whole circle.
pub(super) fn followed(limit: &SwingTwist, rotations: &[Quat]) -> Vec<[f64; 3]> {
    let mut near = 0.5 * (limit.twist.low + limit.twist.high);
    let follow = |q: &Quat| {
        let [first, second, twist] = limit.angles(q);
        near = twist + ((near - twist) / TAU).round() * TAU;
        [first, second, near]
    };
    rotations.iter().map(follow).collect()
}
