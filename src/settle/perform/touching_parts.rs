//! Parts of the performing body that touch each other: a deviation may not push them deeper into each other than the clip does.
//!
//! The parts are the capsules of the body. Two of them may be as deep in each other as in the clip at that moment, and as in the
//! reference pose, in which capsules are too thick, and a little deeper: the clip itself satisfies every row. Without friction. Units: as
//! `perform`.

use super::super::capsule_gap::CapsuleGap;
use super::performing_body::PerformingBody;
use crate::body::CharacterBody;
use crate::dynamics::{BallTree, JointVector, Placement};
use crate::math::Vec3;
use crate::model::Character;
use std::sync::Arc;

/// Parts nearer to each other than this may touch within a step, metres: they would have to meet with 7 m/s.
const NEAR: f64 = 0.03;

/// Parts that approach more slowly than they may by less than this do not touch, m/s: other contacts do not accelerate them by more
/// within a step.
const QUICKER: f64 = 0.5;

/// Parts may be this much deeper in each other than in the clip, metres: flesh yields. With a centimetre, arms that are held to the
/// body, as a boxer's, come back a third more slowly after 50 N s; with none, small hits are not linear.
const YIELDS: f64 = 0.02;

/// Parts that are deeper in each other than they may be are parted by at most this, m/s, as a sole in the floor.
const PARTED: f64 = 0.4;

/// Two capsules on different bodies that no joint links.
#[derive(Clone, Debug)]
pub struct CapsulesApart {
    bodies: [usize; 2],
    /// The ends of the segments in the axes of the bodies, and the radii.
    ends: [[Vec3; 2]; 2],
    radii: [f64; 2],
    /// The middles of the segments, and how far apart they are at most where the two are near.
    middles: [Vec3; 2],
    near: f64,
    /// Their depth in each other in the reference pose, metres.
    usual: f64,
}

/// Two parts that may touch in a step.
#[derive(Clone, Debug)]
pub struct PartContact {
    /// The bodies.
    pub bodies: [usize; 2],
    /// The nearest points of the two segments, world.
    pub at: [Vec3; 2],
    /// From the second to the first, unit length.
    pub out: Vec3,
    /// The least velocity of the first against the second along it, m/s.
    pub least: f64,
}

impl CapsulesApart {
    /// All pairs of a body.
    pub fn of(character: &Arc<Character>, body: &PerformingBody) -> Vec<Self> {
        let (measured, skeleton) = (CharacterBody::new(character), character.skeleton());
        let reference_pose = measured.reference_pose();
        let found = measured.capsules().iter().filter_map(|capsule| {
            let part = body.part_of(skeleton, capsule.joint)?;
            let ends = capsule.ends(reference_pose);
            let within = |end: &Vec3| {
                let in_part = reference_pose.joint(part.joint).inverse().point(end);
                body.in_body(part, &(in_part * body.scale)).1
            };
            let scaled = ends.map(|end| end * body.scale);
            Some((part.body, [within(&ends[0]), within(&ends[1])], capsule.radius * body.scale, scaled))
        });
        let found: Vec<_> = found.collect();
        let parent = |b: usize| body.parts[body.tops[b]].parent.map(|p| body.parts[p].body);
        let mut pairs = Vec::new();
        for (k, a) in found.iter().enumerate() {
            for b in &found[..k] {
                if a.0 == b.0 || parent(a.0) == Some(b.0) || parent(b.0) == Some(a.0) {
                    continue;
                }
                let (ends, radii) = ([a.1, b.1], [a.2, b.2]);
                let reach = |k: usize| (ends[k][1] - ends[k][0]).norm() / 2.0 + radii[k];
                pairs.push(Self {
                    bodies: [a.0, b.0],
                    ends,
                    radii,
                    middles: ends.map(|[a, b]| (a + b) / 2.0),
                    near: reach(0) + reach(1) + NEAR,
                    usual: CapsuleGap::between([&a.3, &b.3], radii).map_or(0.0, |gap| (-gap.width).max(0.0)),
                });
            }
        }
        pairs
    }

    /// Whether the two can be near by their lengths alone.
    fn may_be_near(&self, placed: &Placement) -> bool {
        let [a, b] = [0, 1].map(|k| placed.point(self.bodies[k], &self.middles[k]));
        (a - b).norm_squared() <= self.near * self.near
    }

    /// The gap between the two; `None` where their axes cross.
    fn gap(&self, placed: &Placement) -> Option<CapsuleGap> {
        let [a, b] = [0, 1].map(|k| self.ends[k].map(|end| placed.point(self.bodies[k], &end)));
        CapsuleGap::between([&a, &b], self.radii)
    }

    /// How deep the two are in each other beyond the clip and the reference pose, metres.
    #[cfg(test)]
    pub fn excess(&self, placed: &Placement, clip: &Placement) -> f64 {
        let gap = |placed: &Placement| self.gap(placed).map_or(0.0, |gap| gap.width);
        gap(clip).min(-self.usual) - gap(placed)
    }
}

/// The pairs that would touch in a step of `h` seconds, given where the bodies are and how they would move, and the same of the clip.
pub fn touching(
    pairs: &[CapsulesApart],
    tree: &BallTree,
    (placed, rates): (&Placement, &JointVector),
    (clip, clip_rates): (&Placement, &JointVector),
    h: f64,
) -> Vec<PartContact> {
    let near: Vec<(&CapsulesApart, CapsuleGap, CapsuleGap)> = pairs
        .iter()
        .filter(|pair| pair.may_be_near(placed))
        .filter_map(|pair| {
            let now = pair.gap(placed).filter(|now| now.width < NEAR)?;
            Some((pair, now, pair.gap(clip)?))
        })
        .collect();
    // How fast the two part in the nearest points of `of`.
    let parting = |of: &dyn Fn(usize) -> [Vec3; 2], placed: &Placement, rates: &JointVector| -> Vec<Vec3> {
        let points = |k: usize| [0, 1].map(|end| (near[k].0.bodies[end], of(k)[end]));
        let points: Vec<(usize, Vec3)> = (0..near.len()).flat_map(points).collect();
        tree.point_velocities(placed, rates, &points).chunks(2).map(|v| v[0] - v[1]).collect()
    };
    let moves = parting(&|k| near[k].1.at, placed, rates);
    let own_moves = parting(&|k| near[k].2.at, clip, clip_rates);
    let contact = |(k, (pair, now, own)): (usize, &(&CapsulesApart, CapsuleGap, CapsuleGap))| {
        let speed = own.out.dot(&own_moves[k]);
        let allowed = (own.width + h * speed).min(-pair.usual) - YIELDS;
        let least = ((allowed - now.width) / h).min(speed.max(PARTED));
        let touches = now.out.dot(&moves[k]) < least + QUICKER;
        touches.then_some(PartContact { bodies: pair.bodies, at: now.at, out: now.out, least })
    };
    near.iter().enumerate().filter_map(contact).collect()
}
