//! Self-intersections of a body in a pose, found between its capsules.
//!
//! Pairs of parts with at least one part between them, the trunk counting as one part; pairs that already overlap in the
//! reference pose are left out, since there the capsules are too thick.
//! Space: model space. Units: metres.

use super::body_part::BodyPart;
use super::capsules::Capsule;
use super::character_body::CharacterBody;
use crate::math::{Vec3, nearest_of_segments};
use crate::model::ModelPose;

/// The pairs of parts of a body that can intersect.
#[derive(Clone, Debug)]
pub struct SelfContact {
    capsules: Vec<Capsule>,
    pairs: Vec<[usize; 2]>,
}

/// An intersection of two parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// The parts; the first is the one that is lighter to move.
    pub parts: [BodyPart; 2],
    /// How deep, metres.
    pub depth: f64,
    /// The direction in which the first part leaves the second, a unit vector.
    pub out: Vec3,
    /// The position of the nearest point along the first part's segment, 0 to 1.
    pub along: f64,
}

impl SelfContact {
    /// The pairs of parts of `body` that do not overlap in its reference pose.
    pub fn new(body: &CharacterBody) -> SelfContact {
        let (capsules, pose) = (body.capsules().to_vec(), body.reference_pose());
        let mut pairs = Vec::new();
        for (i, a) in capsules.iter().enumerate() {
            for (j, b) in capsules.iter().enumerate().skip(i + 1) {
                // Parts are ordered from the trunk outwards and arms before legs: the outer one yields.
                let (light, heavy) = if weight(a.part) < weight(b.part) { (i, j) } else { (j, i) };
                if between(a.part, b.part) >= 2 && overlap(&capsules[light], &capsules[heavy], pose).is_none()
                {
                    pairs.push([light, heavy]);
                }
            }
        }
        SelfContact { capsules, pairs }
    }

    /// The overlaps in a pose, in a fixed order, written over `found`.
    pub fn overlaps(&self, pose: &ModelPose, found: &mut Vec<Overlap>) {
        found.clear();
        let all = self.pairs.iter();
        found.extend(all.filter_map(|&[a, b]| overlap(&self.capsules[a], &self.capsules[b], pose)));
    }
}

/// How heavy a part is to move: hands least, the trunk most.
fn weight(part: BodyPart) -> u8 {
    match part {
        BodyPart::Hand(_) => 0,
        BodyPart::LowerArm(_) => 1,
        BodyPart::UpperArm(_) => 2,
        BodyPart::Foot(_) => 3,
        BodyPart::LowerLeg(_) => 4,
        BodyPart::Head => 5,
        BodyPart::UpperLeg(_) => 6,
        BodyPart::Neck => 7,
        BodyPart::Pelvis | BodyPart::Waist | BodyPart::Ribs | BodyPart::Chest => 8,
    }
}

/// The part towards the trunk; `None` for the trunk.
fn inward(part: BodyPart) -> Option<BodyPart> {
    Some(match part {
        BodyPart::Pelvis | BodyPart::Waist | BodyPart::Ribs | BodyPart::Chest => return None,
        BodyPart::Neck | BodyPart::UpperArm(_) | BodyPart::UpperLeg(_) => BodyPart::Pelvis,
        BodyPart::Head => BodyPart::Neck,
        BodyPart::LowerArm(s) => BodyPart::UpperArm(s),
        BodyPart::Hand(s) => BodyPart::LowerArm(s),
        BodyPart::LowerLeg(s) => BodyPart::UpperLeg(s),
        BodyPart::Foot(s) => BodyPart::LowerLeg(s),
    })
}

/// Steps from one part to the other over the tree of parts.
fn between(a: BodyPart, b: BodyPart) -> usize {
    let trunk = |part| if inward(part).is_none() { BodyPart::Pelvis } else { part };
    let path = |part| std::iter::successors(Some(trunk(part)), |&p| inward(p)).collect::<Vec<_>>();
    let (a, b) = (path(a), path(b));
    let shared = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    a.len() + b.len() - 2 * shared
}

fn overlap(a: &Capsule, b: &Capsule, pose: &ModelPose) -> Option<Overlap> {
    let (p, q) = (a.ends(pose), b.ends(pose));
    let radii = a.radius + b.radius;
    // Two spheres around the segments: most pairs are far from each other.
    let far = radii + 0.5 * ((p[1] - p[0]).norm() + (q[1] - q[0]).norm());
    if (p[0] + p[1] - q[0] - q[1]).norm_squared() > 4.0 * far * far {
        return None;
    }
    let [s, t] = nearest_of_segments(&p, &q);
    let apart = (p[0] + (p[1] - p[0]) * s) - (q[0] + (q[1] - q[0]) * t);
    let depth = radii - apart.norm();
    let out = apart.try_normalize(1e-9)?;
    (depth > 0.0).then_some(Overlap { parts: [a.part, b.part], depth, out, along: s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JointId, Side};

    #[test]
    fn parts_are_told_apart_by_the_tree_of_the_body() {
        let (left, right) = (Side::Left, Side::Right);
        assert_eq!(between(BodyPart::Pelvis, BodyPart::Chest), 0);
        assert_eq!(between(BodyPart::UpperArm(left), BodyPart::Ribs), 1);
        assert_eq!(between(BodyPart::LowerArm(left), BodyPart::Waist), 2);
        assert_eq!(between(BodyPart::UpperLeg(left), BodyPart::UpperLeg(right)), 2);
        assert_eq!(between(BodyPart::Hand(left), BodyPart::Head), 5);
        assert_eq!(between(BodyPart::Hand(left), BodyPart::Hand(right)), 6);
    }

    #[test]
    fn an_overlap_says_how_deep_and_which_way_out() {
        let pose = ModelPose::new(vec![crate::math::Transform::identity()]);
        let capsule = |part, from: [f64; 3], to: [f64; 3], radius| Capsule {
            part,
            joint: JointId::new(0),
            from: from.into(),
            to: to.into(),
            radius,
        };
        let head = capsule(BodyPart::Head, [0.0, 0.0, 0.0], [0.0, 0.2, 0.0], 0.1);
        let hand = capsule(BodyPart::Hand(Side::Left), [0.3, 0.1, 0.0], [0.11, 0.1, 0.0], 0.03);
        let found = overlap(&hand, &head, &pose).unwrap();
        assert!((found.depth - 0.02).abs() < 1e-12 && (found.out - Vec3::x()).norm() < 1e-12, "{found:?}");
        assert!((found.along - 1.0).abs() < 1e-12);
        let away = capsule(BodyPart::Hand(Side::Left), [0.3, 0.1, 0.0], [0.14, 0.1, 0.0], 0.03);
        assert_eq!(overlap(&away, &head, &pose), None);
    }
}
