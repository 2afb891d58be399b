//! Solver rows that keep the parts of a ragdoll out of each other.
//!
//! The parts are the capsules of the body, each on the rigid body that moves it, and limbs that have none. A row lets the gap
//! between two parts shrink no faster than it is there, along the line between their nearest points, without friction. Parts
//! that are inside each other at the release may stay as deep until they have been farther apart, and always as deep as in the
//! reference pose, in which capsules are too thick. Space: model space. Units: metres.

use super::capsule_gap::CapsuleGap;
use super::ragdoll::{Ragdoll, limb_above};
use crate::body::CharacterBody;
use crate::dynamics::{BodyState, Pull};
use crate::math::Vec3;
use crate::model::{ModelPose, Role};

/// A capsule on a rigid body.
#[derive(Clone, Debug)]
struct CapsuleOnBody {
    body: usize,
    /// The ends of its segment, in the axes of the body, from its centre of mass.
    ends: [Vec3; 2],
    radius: f64,
}

/// Two capsules that must not pass through each other.
#[derive(Clone, Debug)]
struct CapsulePair {
    capsules: [usize; 2],
    /// The depth in the reference pose.
    usual: f64,
    /// The depth that they may have.
    allowed: f64,
}

/// The parts of a ragdoll that may touch each other.
#[derive(Clone, Debug)]
pub struct SelfContactRows {
    capsules: Vec<CapsuleOnBody>,
    pairs: Vec<CapsulePair>,
    /// The identifier of the first row: those below are the rows of joint limits.
    first_id: usize,
}

/// Parts that could come nearer to each other than this within a step are kept apart, metres.
const MARGIN: f64 = 1e-3;

/// The share of an overlap that one step corrects, as of a joint beyond its limit.
const RETURN: f64 = 0.05;

impl SelfContactRows {
    /// The capsules of `body` on the bodies of its ragdoll, in the pose `model` of the release with the states of the bodies
    /// there. Pairs on one body, or on two that a joint links, are left out: the joint's limits keep them apart.
    pub fn new(
        body: &CharacterBody,
        ragdoll: &Ragdoll,
        (model, states): (&ModelPose, &[BodyState]),
        first_id: usize,
    ) -> Self {
        let mut capsules: Vec<CapsuleOnBody> = Vec::new();
        let mut usual_ends = Vec::new();
        for capsule in body.capsules() {
            let Some(part) = ragdoll.part_of(capsule.joint) else { continue };
            let state = &states[part];
            let local = |end: Vec3| state.orientation.inverse_transform_vector(&(end - state.position));
            let (ends, radius) = (capsule.ends(model).map(local), capsule.radius);
            capsules.push(CapsuleOnBody { body: part, ends, radius });
            usual_ends.push(capsule.ends(body.reference_pose()));
        }
        // Limbs that end at a knee or an elbow have no capsule of the body: they are as thick as their mass requires.
        for (k, part) in ragdoll.parts.iter().enumerate() {
            let is_limb = limb_above(part.role).is_some() && !matches!(part.role, Role::Toes(_));
            if is_limb && capsules.iter().all(|capsule| capsule.body != k) {
                let ends = [Vec3::zeros(), part.bone];
                let radius = part.radius.min(0.5 * part.bone.norm());
                capsules.push(CapsuleOnBody { body: k, ends: ends.map(|end| end - part.centre), radius });
                usual_ends.push(ends.map(|end| body.reference_pose().joint(part.joint).point(&end)));
            }
        }
        let linked = |a: usize, b: usize| a == b || ragdoll.parts[a].parent == Some(b);
        let mut pairs = Vec::new();
        for a in 0..capsules.len() {
            for b in 0..a {
                let [i, j] = [a, b].map(|k| capsules[k].body);
                if !linked(i, j) && !linked(j, i) {
                    let usual = depth(&capsules, &usual_ends, [a, b]);
                    pairs.push(CapsulePair { capsules: [a, b], usual, allowed: f64::INFINITY });
                }
            }
        }
        Self { capsules, pairs, first_id }
    }

    /// Lets no pair be deeper than it is now; returns the largest depth beyond what was allowed.
    pub fn look(&mut self, states: &[BodyState]) -> f64 {
        let ends = self.ends(states);
        let mut deepest: f64 = 0.0;
        for pair in &mut self.pairs {
            let depth = depth(&self.capsules, &ends, pair.capsules);
            pair.allowed = pair.allowed.min(depth).max(pair.usual);
            deepest = deepest.max(depth - pair.allowed);
        }
        deepest
    }

    /// The rows of one step of `h` seconds.
    pub fn rows(&self, states: &[BodyState], h: f64) -> impl Iterator<Item = Pull> {
        let ends = self.ends(states);
        self.pairs.iter().enumerate().filter_map(move |(k, pair)| {
            let gap = gap(&self.capsules, &ends, pair.capsules)?;
            let [a, b] = pair.capsules.map(|k| self.capsules[k].body);
            let middle = (gap.at[0] + gap.at[1]) * 0.5;
            let speed = |body: usize| {
                let state = &states[body];
                let arm = middle - state.position;
                state.velocity + state.world_angular_velocity().cross(&arm)
            };
            let width = gap.width + pair.allowed;
            if width > MARGIN + h * (speed(a) - speed(b)).norm() {
                return None;
            }
            Some(Pull {
                id: self.first_id + k,
                body: a,
                against: Some(b),
                point: middle,
                along: gap.out,
                about: Vec3::zeros(),
                speed: if width < 0.0 { -width * RETURN / h } else { -width / h },
                compliance: 1e-7,
                low: 0.0,
                high: f64::INFINITY,
            })
        })
    }

    /// The ends of all capsules.
    fn ends(&self, states: &[BodyState]) -> Vec<[Vec3; 2]> {
        self.capsules.iter().map(|capsule| capsule.ends.map(|end| states[capsule.body].point(&end))).collect()
    }
}

/// The gap between two capsules; `None` where their axes cross.
fn gap(capsules: &[CapsuleOnBody], ends: &[[Vec3; 2]], [a, b]: [usize; 2]) -> Option<CapsuleGap> {
    CapsuleGap::between([&ends[a], &ends[b]], [capsules[a].radius, capsules[b].radius])
}

/// How deep two capsules are in each other.
fn depth(capsules: &[CapsuleOnBody], ends: &[[Vec3; 2]], pair: [usize; 2]) -> f64 {
    gap(capsules, ends, pair).map_or(0.0, |gap| (-gap.width).max(0.0))
}
