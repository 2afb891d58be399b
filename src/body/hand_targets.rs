//! Target positions of hands on another body: contacts with the body and distances near it are kept.
//!
//! After Ho, Komura and Tai (Spatial relationship preserving character motion adaptation, 2010) in intent, with capsules in
//! place of an interaction mesh.
//!
//! The relation is that of the middle of the palm `y` to a capsule: the nearest point of its segment (how far along it),
//! the direction from there `n`, and the distance between the surfaces `d = |y - q| - r - r_hand`. On the other body,
//! with `s` the ratio of arm lengths, `p` the palm as it is there, `q'` and `n'` the same of `p` there:
//!
//! ```text
//! touching:  w_k = exp(-(e / 0.035 H)^2)    e = max(d - 2 cm, 0); H of the body that it comes from, 2 cm at 1.75 m
//! place_k  = a' + (b' - a') along + n  (r' + r_hand' + s d)    the same place on the part
//! free_k   = q'                   + n' max(|p - q'|, r' + r_hand' + min(s d, 0))    no deeper in it than there
//! near_k = free_k + w_k (q' + n' (r' + r_hand' + s d) - free_k)    as far from it as there, where it touches
//! y_k      = near_k + w_k (place_k - near_k)
//! y        = sum v_k y_k / sum v_k,  w = sum v_k w_k / sum v_k,  v_k = w_k / (max(d, 0) + 1 cm)^2
//! y*       = p + w (y - p)
//! ```
//!
//! so a contact keeps its position on the part, a hand nearby does not enter the body, and a hand in free air is left
//! alone: arms that hang down keep hanging, whatever its build. A position out of the arm's reach slides along the surface
//! until the arm reaches it. Two hands that touch keep their distance about the middle between them. World directions are
//! used as they are, since retargeting gives every bone of the target the world rotation of the source's.
//!
//! The error of a result against the direct transfer: over frames and hands,
//! `sum w |(p_result - c_result) - (y* - c_direct)| / (H sum w)` with `H` the height of the target, `c` the position of its
//! chest, and `y*` and `w` those of the direct transfer; the direct transfer's own is `sum w |y* - p_direct| / (H sum w)`.
//!
//! Space: model space; both bodies facing the same direction. Units: metres.

use super::arms::ArmMeasures;
use super::body_part::BodyPart;
use super::capsules::Capsule;
use super::character_body::CharacterBody;
use super::height::COMMON_HEIGHT;
use crate::math::{Vec3, nearest_on_segment, nearest_point_on_segment, smoothstep};
use crate::model::{JointId, ModelPose, Side};

/// A hand within this distance touches, metres on a body of the common height.
const TOUCH: f64 = 0.02;
/// Width of the falloff of touching, over the height. At more than twice this a hanging arm counts as a hand on the thigh.
const TOUCHING: f64 = 0.035;
/// The reach of an arm over its length.
const STRETCHED: f64 = 0.97;
/// Added to distances in the weights of parts, metres: limits how much more the nearest part counts.
const BLEND: f64 = 0.01;
/// A part with less weight than this is skipped.
const FAR: f64 = 1e-4;

/// The relation of the hands of a source to its body, and their target positions on another body.
#[derive(Clone, Debug)]
pub struct HandTargets {
    parts: Vec<[Capsule; 2]>,
    hands: [Option<Hand>; 2],
    chest: JointId,
    scale: f64,
    source_height: f64,
    height: f64,
    /// The distance of surfaces on the source above which they do not relate, metres.
    far: f64,
}

/// The target of one hand in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandTarget {
    /// From the middle of the palm to its target, weighted by `nearness`, metres.
    pub offset: Vec3,
    /// From 0, in free air, to 1, touching.
    pub nearness: f64,
    /// The distance between the hand and the part nearest on the source, surface to surface, on the source (scaled to this
    /// body) and on this body, metres.
    pub gap: Option<[f64; 2]>,
}

impl HandTarget {
    const FREE: HandTarget = HandTarget { offset: Vec3::new(0.0, 0.0, 0.0), nearness: 0.0, gap: None };
}

/// A hand on both bodies, and the arm that it ends on the target.
#[derive(Clone, Copy, Debug)]
struct Hand {
    source: Capsule,
    target: Capsule,
    shoulder: JointId,
    length: f64,
}

/// What hands relate to: the capsules of a body with arms, and the lengths that distances scale with.
struct UpperBody<'a> {
    capsules: &'a [Capsule],
    arms: &'a ArmMeasures,
    height: f64,
}

impl UpperBody<'_> {
    fn of(body: &CharacterBody) -> Option<UpperBody<'_>> {
        Some(UpperBody { capsules: body.capsules(), arms: body.arms()?, height: body.height() })
    }

    fn capsule(&self, part: BodyPart) -> Option<Capsule> {
        self.capsules.iter().find(|c| c.part == part).copied()
    }
}

/// The relation of a point to one part.
struct PartRelation {
    place: Vec3,
    near_surface: Vec3,
    weight: f64,
    share: f64,
    distance: f64,
    gap: f64,
}

/// What the parts near one hand come to.
#[derive(Clone, Copy)]
struct Sum {
    near_surface: Vec3,
    place: Vec3,
    share: f64,
    weight: f64,
    nearest: f64,
    gap: Option<[f64; 2]>,
}

impl Sum {
    const EMPTY: Sum = Sum {
        near_surface: Vec3::new(0.0, 0.0, 0.0),
        place: Vec3::new(0.0, 0.0, 0.0),
        share: 0.0,
        weight: 0.0,
        nearest: f64::INFINITY,
        gap: None,
    };

    fn add(&mut self, near: &PartRelation, scale: f64) {
        self.near_surface += near.near_surface * near.share;
        self.place += near.place * near.share;
        self.share += near.share;
        self.weight += near.share * near.weight;
        if near.distance < self.nearest {
            self.nearest = near.distance;
            self.gap = Some([scale * near.distance, near.gap]);
        }
    }

    /// Where `hand`, whose palm is `target_palm`, belongs.
    fn place(&self, hand: &Hand, target_palm: &Vec3, to: &ModelPose) -> HandTarget {
        if self.share <= 0.0 {
            return HandTarget { gap: self.gap, ..HandTarget::FREE };
        }
        let [near_surface, on] = [self.near_surface, self.place].map(|sum| sum / self.share);
        let nearness = self.weight / self.share;
        // The wrist reaches; the palm lies ahead of it as it does now.
        let wrist = to.position(hand.target.joint) - target_palm - to.position(hand.shoulder);
        let [short, far] = [near_surface, on].map(|palm| (palm + wrist).norm() - STRETCHED * hand.length);
        let slide = if far > 0.0 { (far / (far - short).max(1e-9)).clamp(0.0, 1.0) } else { 0.0 };
        HandTarget {
            offset: (on.lerp(&near_surface, slide) - target_palm) * nearness,
            nearness,
            gap: self.gap,
        }
    }
}

impl HandTargets {
    /// The targets of the hands of `target` after those of `source`; `None` where one of them has no arms or walks on them,
    /// or the target has no chest.
    pub fn new(source: &CharacterBody, target: &CharacterBody) -> Option<HandTargets> {
        HandTargets::between(&UpperBody::of(source)?, &UpperBody::of(target)?)
    }

    fn between(source: &UpperBody, target: &UpperBody) -> Option<HandTargets> {
        let pair = |part: BodyPart| Some([source.capsule(part)?, target.capsule(part)?]);
        let hands = Side::BOTH.map(|side| {
            let [target_capsule, source_capsule] =
                [target, source].map(|body| body.capsule(BodyPart::Hand(side)));
            let shoulder = target.arms.shoulders[side.index()]?;
            Some(Hand {
                source: source_capsule?,
                target: target_capsule?,
                shoulder,
                length: target.arms.length,
            })
        });
        let apart = |part: &BodyPart| !matches!(part, BodyPart::Hand(_) | BodyPart::Foot(_));
        let parts = source.capsules.iter().map(|c| c.part).filter(apart).filter_map(pair).collect();
        // The distance at which `fall` reaches FAR, and a little more.
        let far = 1.001 * source.height * (TOUCH / COMMON_HEIGHT + TOUCHING * (-libm::log(FAR)).sqrt());
        Some(HandTargets {
            parts,
            hands,
            chest: target.capsule(BodyPart::Chest)?.joint,
            scale: target.arms.length / source.arms.length,
            source_height: source.height,
            height: target.height,
            far,
        })
    }

    /// The height of the target, from the sole to the top of the head, metres.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// The joints of source and target whose transforms in model space are read.
    pub fn joints(&self) -> [Vec<JointId>; 2] {
        let of = |k: usize| self.parts.iter().map(move |pair| pair[k].joint);
        let hands = || self.hands.iter().flatten();
        let from = of(0).chain(hands().map(|hand| hand.source.joint)).collect();
        let ends = hands().flat_map(|hand| [hand.target.joint, hand.shoulder]);
        [from, of(1).chain(ends).chain([self.chest]).collect()]
    }

    /// The hands, left and right, of the target in `to` when the source is in `from`.
    pub fn at(&self, from: &ModelPose, to: &ModelPose) -> [HandTarget; 2] {
        let mut targets = self.on_body(from, to);
        let [Some(left), Some(right)] = self.hands else { return targets };
        // Both hands: about the middle between where each belongs by itself.
        let [source_left, source_right] = [left, right].map(|hand| middle(&hand.source, from));
        let [target_left, target_right] = [left, right].map(|hand| middle(&hand.target, to));
        let radii = [left.source.radius + right.source.radius, left.target.radius + right.target.radius];
        let apart = source_left - source_right;
        let Some(direction) = apart.try_normalize(1e-9) else { return targets };
        let gap = apart.norm() - radii[0];
        let weight = self.fall(gap) * direction_weight(apart.norm(), radii[0]);
        if weight < FAR {
            return targets;
        }
        let wanted = direction * (radii[1] + self.scale * gap);
        let own = [target_left + targets[0].offset, target_right + targets[1].offset];
        let centre = (own[0] + own[1]) * 0.5;
        let now = (target_left - target_right).norm() - radii[1];
        for (k, sign) in [0.5, -0.5].into_iter().enumerate() {
            targets[k].offset += (centre + wanted * sign - own[k]) * weight;
            targets[k].nearness = 1.0 - (1.0 - targets[k].nearness) * (1.0 - weight);
            if targets[k].gap.is_none_or(|g| self.scale * gap < g[0]) {
                targets[k].gap = Some([self.scale * gap, now]);
            }
        }
        targets
    }

    /// Each hand in relation to the rest of the body, the other arm included, the other hand not.
    fn on_body(&self, from: &ModelPose, to: &ModelPose) -> [HandTarget; 2] {
        let palms = self.hands.map(|hand| hand.map(|h| [middle(&h.source, from), middle(&h.target, to)]));
        let mut sums = [Sum::EMPTY; 2];
        for pair in &self.parts {
            let segment = pair[0].ends(from);
            for (k, side) in Side::BOTH.into_iter().enumerate() {
                let own = matches!(pair[0].part, BodyPart::UpperArm(s) | BodyPart::LowerArm(s) if s == side);
                let (Some(hand), Some(palm), false) = (&self.hands[k], &palms[k], own) else { continue };
                if let Some(near) = self.near(hand, palm, &segment, pair, to) {
                    sums[k].add(&near, self.scale);
                }
            }
        }
        [0, 1].map(|k| match (&self.hands[k], &palms[k]) {
            (Some(hand), Some([_, target_palm])) => sums[k].place(hand, target_palm, to),
            _ => HandTarget::FREE,
        })
    }

    /// The relation of a palm, there and here, to one part of both, whose segment on the source is this one.
    fn near(
        &self,
        hand: &Hand,
        [source_palm, target_palm]: &[Vec3; 2],
        segment: &[Vec3; 2],
        [source, target]: &[Capsule; 2],
        to: &ModelPose,
    ) -> Option<PartRelation> {
        let along = nearest_on_segment(segment, source_palm);
        let off = source_palm - (segment[0] + (segment[1] - segment[0]) * along);
        let source_thickness = source.radius + hand.source.radius;
        // Most parts are far from a hand.
        if off.norm_squared() > (source_thickness + self.far) * (source_thickness + self.far) {
            return None;
        }
        let reach = off.norm();
        let distance = reach - source_thickness;
        let touching = self.fall(distance);
        let weight = touching * direction_weight(reach, source_thickness);
        if weight < FAR {
            return None;
        }
        let direction = off / reach;
        let [a, b] = target.ends(to);
        let target_thickness = target.radius + hand.target.radius;
        let wanted = target_thickness + self.scale * distance;
        let place = a + (b - a) * along + direction * wanted;
        let nearest_point = nearest_point_on_segment(&[a, b], target_palm);
        let away = (target_palm - nearest_point).norm();
        // Deep inside the part the direction out is that of the source.
        let out = direction.lerp(
            &((target_palm - nearest_point) / away.max(1e-9)),
            direction_weight(away, target_thickness),
        );
        let free = away.max(target_thickness + self.scale * distance.min(0.0));
        let far = free + touching * (wanted - free);
        let near_surface = nearest_point + out.try_normalize(1e-6).unwrap_or(direction) * far;
        let blend = distance.max(0.0) + BLEND * self.source_height / COMMON_HEIGHT;
        Some(PartRelation {
            place: near_surface.lerp(&place, touching),
            near_surface,
            weight,
            share: weight / (blend * blend),
            distance,
            gap: away - target_thickness,
        })
    }

    /// 1 where the source's hand touches, falling off within a few centimetres.
    fn fall(&self, distance: f64) -> f64 {
        let free = (distance - TOUCH * self.source_height / COMMON_HEIGHT).max(0.0);
        let x = free / (TOUCHING * self.source_height);
        libm::exp(-x * x)
    }

    /// How far each hand of the target in `result` is from where it belongs, how far that of the direct transfer is, both in metres, and
    /// how near to the body it is; `direct` is the direct transfer of the source's pose `from`. Positions are relative to the chest,
    /// which later stages may move.
    pub fn errors(&self, from: &ModelPose, direct: &ModelPose, result: &ModelPose) -> [(f64, f64, f64); 2] {
        let targets = self.at(from, direct);
        [0, 1].map(|k| {
            let Some(hand) = self.hands[k] else { return (0.0, 0.0, 0.0) };
            let HandTarget { offset, nearness, .. } = targets[k];
            let palm = |pose: &ModelPose| middle(&hand.target, pose) - pose.position(self.chest);
            ((palm(result) - palm(direct) - offset).norm(), offset.norm(), nearness)
        })
    }
}

fn middle(capsule: &Capsule, pose: &ModelPose) -> Vec3 {
    pose.joint(capsule.joint).point(&((capsule.from + capsule.to) * 0.5))
}

/// 1 outside and near the surface of a part, down to 0 at its axis, where there is no direction to keep.
fn direction_weight(reach: f64, radius: f64) -> f64 {
    smoothstep((reach / radius - 0.15) / 0.35)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Transform, exp};
    use proptest::prelude::*;

    /// A body of a trunk, a head and two hands, each on a joint of its own, and another twice as large.
    fn places() -> HandTargets {
        let capsule = |joint: usize, part, half: f64, radius| {
            let [from, to] = [-half, half].map(|x| Vec3::new(0.0, x, 0.01));
            let one = Capsule { part, joint: JointId::new(joint), from, to, radius };
            [one, Capsule { from: from * 2.0, to: to * 2.0, radius: 2.0 * radius, ..one }]
        };
        let hand = |joint, side| {
            let [source, target] = capsule(joint, BodyPart::Hand(side), 0.04, 0.03);
            Some(Hand { source, target, shoulder: JointId::new(0), length: 1.1 })
        };
        let parts = [
            capsule(0, BodyPart::Chest, 0.1, 0.12),
            capsule(1, BodyPart::Head, 0.05, 0.09),
            capsule(2, BodyPart::LowerArm(Side::Left), 0.12, 0.04),
        ];
        let capsules = [0, 1].map(|k| parts.iter().map(|pair| pair[k]).collect::<Vec<_>>());
        let arms = [0.55, 1.1].map(|length| ArmMeasures { shoulders: [None; 2], length });
        let body = |k: usize| UpperBody { capsules: &capsules[k], arms: &arms[k], height: [1.75, 3.5][k] };
        let hands = [hand(3, Side::Left), hand(4, Side::Right)];
        HandTargets { hands, ..HandTargets::between(&body(0), &body(1)).unwrap() }
    }

    proptest! {
        /// A part that is passed over for its distance is one that says nothing.
        #[test]
        fn nothing_near_is_passed_over(at in proptest::collection::vec(prop::array::uniform6(-0.5..0.5f64), 5)) {
            let joint = |v: &[f64; 6]| {
                Transform::new(exp(&(Vec3::new(v[3], v[4], v[5]) * 6.0)), Vec3::new(v[0], v[1], v[2]))
            };
            let from = ModelPose::new(at.iter().map(joint).collect());
            let to = ModelPose::new(at.iter().map(|v| joint(&[v[0] * 2.0, v[1] * 2.0, v[2] * 2.0, v[5], v[4], v[3]])).collect());
            let places = places();
            let all = HandTargets { far: f64::INFINITY, ..places.clone() };
            prop_assert_eq!(places.at(&from, &to), all.at(&from, &to));
        }
    }
}
