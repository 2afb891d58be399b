//! Solver rows that keep the parts of a ragdoll out of each other.
//!
//! The parts are the capsules of the body ([`SelfContact`]), each on the rigid body that moves it. A row lets the gap
//! between two parts shrink no faster than it is there, along the line between their nearest points, without friction. Parts
//! that are inside each other at the release may stay as deep, until they have been farther apart. Space: model space.
//! Units: metres.

use super::ragdoll::Ragdoll;
use crate::body::{CharacterBody, SelfContact};
use crate::dynamics::{BodyState, Pull};
use crate::math::{Vec3, nearest_of_segments};
use crate::model::ModelPose;

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
    /// The depth that they may have.
    allowed: f64,
}

/// The nearest points of two capsules.
struct Gap {
    /// Between the two surfaces; negative where they overlap.
    width: f64,
    /// From the second capsule to the first, unit length.
    out: Vec3,
    /// Midway between the two nearest points of the segments.
    middle: Vec3,
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
        let contact = SelfContact::new(body);
        let mut on_body = vec![None; contact.capsules().len()];
        let mut capsules = Vec::new();
        for (k, capsule) in contact.capsules().iter().enumerate() {
            let Some(part) = ragdoll.part_of(capsule.joint) else { continue };
            let state = &states[part];
            let local = |end: Vec3| state.orientation.inverse_transform_vector(&(end - state.position));
            on_body[k] = Some(capsules.len());
            capsules.push(CapsuleOnBody {
                body: part,
                ends: capsule.ends(model).map(local),
                radius: capsule.radius,
            });
        }
        let linked = |a: usize, b: usize| a == b || ragdoll.parts[a].parent == Some(b);
        let pair = |&[a, b]: &[usize; 2]| {
            let pair = [on_body[a]?, on_body[b]?];
            let [a, b] = pair.map(|k| capsules[k].body);
            (!linked(a, b) && !linked(b, a)).then_some(CapsulePair { capsules: pair, allowed: f64::INFINITY })
        };
        let pairs = contact.pairs().iter().filter_map(pair).collect();
        Self { capsules, pairs, first_id }
    }

    /// Lets no pair be deeper than it is now; returns the largest depth beyond what was allowed.
    pub fn look(&mut self, states: &[BodyState]) -> f64 {
        let ends = self.ends(states);
        let mut deepest: f64 = 0.0;
        for pair in &mut self.pairs {
            let depth = gap(&self.capsules, &ends, pair.capsules).map_or(0.0, |gap| (-gap.width).max(0.0));
            pair.allowed = pair.allowed.min(depth);
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
            let speed = |body: usize| {
                let state = &states[body];
                let arm = gap.middle - state.position;
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
                point: gap.middle,
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

/// The gap between two capsules; `None` where their axes cross, so that no direction leads out.
fn gap(capsules: &[CapsuleOnBody], ends: &[[Vec3; 2]], [a, b]: [usize; 2]) -> Option<Gap> {
    let [s, t] = nearest_of_segments(&ends[a], &ends[b]);
    let (p, q) = (ends[a][0].lerp(&ends[a][1], s), ends[b][0].lerp(&ends[b][1], t));
    let (away, distance) = (p - q, (p - q).norm());
    // A micrometre: no direction is left.
    (distance > 1e-6).then(|| Gap {
        width: distance - capsules[a].radius - capsules[b].radius,
        out: away / distance,
        middle: (p + q) * 0.5,
    })
}
