//! Capsules of a body: a segment with a radius for every part, fitted to the skin where there is one, else to the bones.
//!
//! A limb's capsule runs along its bone, its axis in the middle of the skin around it and its radius the 80th
//! percentile of the skin's distance from that axis. The trunk is wider than deep: four capsules lie across it, one above
//! the other, as wide and as deep as the middle 90 % of the skin at their height. Without skin the girths of an adult
//! are used: ANSUR II (Gordon et al. 2014, male medians; circumferences over 2 pi) on the body's own bone lengths; segment
//! lengths after Winter, Biomechanics (2009), table 4.1.
//!
//! Measured in the reference pose (bind pose, else rest pose). Space: model space in, joint space out. Units: metres.

use super::body_part::BodyPart;
use super::surface_samples::{SkinSample, around, flat, range, samples, spread};
use crate::anatomy::Figure;
use crate::math::Vec3;
use crate::model::{Character, Finger, JointId, ModelPose, Rig, Role, Side};
use std::collections::{BTreeMap, BTreeSet};

/// All points within `radius` of a segment that moves with a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// The part of the body.
    pub part: BodyPart,
    /// The joint that moves it.
    pub joint: JointId,
    /// One end of the segment, in joint space, metres: nearer to the hips, or on the body's right for the trunk.
    pub from: Vec3,
    /// The other end.
    pub to: Vec3,
    /// The radius, metres.
    pub radius: f64,
}

impl Capsule {
    /// The ends of the segment in model space.
    pub fn ends(&self, pose: &ModelPose) -> [Vec3; 2] {
        let joint = pose.joint(self.joint);
        [joint.point(&self.from), joint.point(&self.to)]
    }
}

/// Height of the hip joint above the sole over the stature (Winter 2009, fig. 4.1).
pub(super) const LEG_OF_STATURE: f64 = 0.53;
/// Length of the hand over that of the forearm (Winter 2009, fig. 4.1).
const HAND_OF_FOREARM: f64 = 0.108 / 0.146;
/// The share of the hand's length, from the wrist, that its capsule covers: fingers may be curled.
const PALM: f64 = 0.7;
/// Radius over bone length of upper arm, forearm, thigh and shin, from circumferences.
const RADIUS_OF_LENGTH: [f64; 4] = [0.17, 0.15, 0.19, 0.13];
/// Radius of the hand over its length: the mean of half its breadth and half its thickness.
const HAND_RADIUS: f64 = 0.11;
/// Radius of the neck over the stature.
const NECK: f64 = 0.034;
/// Radius of the head over the stature.
const HEAD: f64 = 0.05;
/// Radius of the foot over the stature.
const FOOT: f64 = 0.022;
/// Sections of the trunk: where each lies between the hip joints and the base of the neck, the slab of skin that it
/// stands for, and half its width and depth over the stature.
const TRUNK: [(BodyPart, f64, [f64; 2], [f64; 2]); 4] = [
    (BodyPart::Pelvis, 0.05, [-0.2, 0.2], [0.098, 0.068]),
    (BodyPart::Waist, 0.32, [0.2, 0.45], [0.088, 0.062]),
    (BodyPart::Ribs, 0.57, [0.45, 0.7], [0.09, 0.066]),
    (BodyPart::Chest, 0.82, [0.7, 0.95], [0.095, 0.068]),
];
/// The share of the distance to the shoulder joints, sideways, that is trunk.
const SHOULDER: f64 = 0.95;
/// The span of a bone around which the limb's girth is measured: beyond it lies the girth of its neighbours.
const MIDDLE: [f64; 2] = [0.25, 0.95];
/// The ratio of radii of the two sides above which the thicker limb holds something.
const UNEVEN: f64 = 1.5;

/// The capsules of `character` in the order of [`BodyPart`], at most one for each part; none for a body without legs.
pub fn capsules(character: &Character, rig: &Rig) -> Vec<Capsule> {
    let reference_pose = character.reference_pose();
    Figure::of(rig, &reference_pose)
        .map_or_else(Vec::new, |figure| capsules_in(character, rig, &reference_pose, figure))
}

/// As [`capsules`], with the reference pose and the figure of the character known.
pub(super) fn capsules_in(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    figure: Figure,
) -> Vec<Capsule> {
    let parts = parts_of_joints(rig, reference_pose);
    let kinds: BTreeSet<BodyPart> = parts.iter().flatten().copied().collect();
    let list = |part: &Option<BodyPart>| kinds.iter().position(|kind| Some(*kind) == *part);
    let lists: Vec<Option<usize>> = parts.iter().map(list).collect();
    let skin = kinds
        .iter()
        .copied()
        .zip(samples(character, reference_pose, 0.03 * figure.leg_to_sole, &lists, &[]))
        .collect();
    let body = CapsuleFit { rig, reference_pose, figure, skin };
    let mut found = body.trunk();
    found.extend(body.neck());
    found.extend(body.head());
    for side in Side::BOTH {
        found.extend(body.limb(BodyPart::UpperArm(side), RADIUS_OF_LENGTH[0]));
        found.extend(body.limb(BodyPart::LowerArm(side), RADIUS_OF_LENGTH[1]));
        found.extend(body.hand(side));
        found.extend(body.limb(BodyPart::UpperLeg(side), RADIUS_OF_LENGTH[2]));
        found.extend(body.limb(BodyPart::LowerLeg(side), RADIUS_OF_LENGTH[3]));
        found.extend(body.foot(side));
    }
    found.sort_by_key(|c| c.part);
    even(&mut found);
    found
}

/// Takes the thinner of both sides where they differ much: a shield or a sword is on one side only.
fn even(capsules: &mut [Capsule]) {
    let radius = |part: BodyPart, all: &[Capsule]| all.iter().find(|c| c.part == part).map(|c| c.radius);
    let pairs: [fn(Side) -> BodyPart; 6] = [
        BodyPart::UpperArm,
        BodyPart::LowerArm,
        BodyPart::Hand,
        BodyPart::UpperLeg,
        BodyPart::LowerLeg,
        BodyPart::Foot,
    ];
    for pair in pairs {
        let both = Side::BOTH.map(|s| radius(pair(s), capsules));
        let [Some(a), Some(b)] = both else { continue };
        if a.max(b) > UNEVEN * a.min(b) {
            let thick = capsules.iter_mut().filter(|c| c.part.side().is_some_and(|s| c.part == pair(s)));
            thick.for_each(|c| c.radius = a.min(b));
        }
    }
}

/// The part whose skin each joint moves; `None` for tails and what hangs off the body.
fn parts_of_joints(rig: &Rig, reference_pose: &ModelPose) -> Vec<Option<BodyPart>> {
    let skeleton = rig.skeleton();
    let mut parts: Vec<Option<BodyPart>> = vec![None; skeleton.len()];
    let mut inner = vec![false; skeleton.len()];
    for id in skeleton.ids().rev() {
        inner[id.index()] |= rig.role(id).is_some();
        if let Some(parent) = skeleton.parent(id).filter(|_| inner[id.index()]) {
            inner[parent.index()] = true;
        }
    }
    for id in skeleton.ids() {
        let parent = skeleton.parent(id);
        let above = parent.and_then(|p| parts[p.index()]);
        parts[id.index()] = match rig.role(id) {
            Some(role) => part_of(role),
            // In line with the body, or on the head, where only faces and hair are.
            None if inner[id.index()] || above == Some(BodyPart::Head) => above,
            // Near a limb: twist joints lie on its bone, straps and pouches off it.
            None => above.filter(|&part| on_bone(rig, reference_pose, part, id)),
        };
    }
    parts
}

fn part_of(role: Role) -> Option<BodyPart> {
    Some(match role {
        // The sections of the trunk share their skin by height.
        Role::Hips | Role::Spine(_) | Role::Clavicle(_) => BodyPart::Pelvis,
        Role::Neck(_) => BodyPart::Neck,
        Role::Head => BodyPart::Head,
        Role::UpperArm(s) => BodyPart::UpperArm(s),
        Role::LowerArm(s) => BodyPart::LowerArm(s),
        Role::Hand(s) | Role::Finger(s, _, _) => BodyPart::Hand(s),
        Role::UpperLeg(s) => BodyPart::UpperLeg(s),
        Role::LowerLeg(s) => BodyPart::LowerLeg(s),
        Role::Foot(s) | Role::Toes(s) => BodyPart::Foot(s),
        Role::Tail(_) => return None,
    })
}

/// The joints between which a limb's bone runs.
fn bone(rig: &Rig, part: BodyPart) -> Option<[JointId; 2]> {
    let (from, to): (Role, &[Role]) = match part {
        BodyPart::UpperArm(s) => (Role::UpperArm(s), &[Role::LowerArm(s), Role::Hand(s)]),
        BodyPart::LowerArm(s) => (Role::LowerArm(s), &[Role::Hand(s)]),
        BodyPart::UpperLeg(s) => (Role::UpperLeg(s), &[Role::LowerLeg(s), Role::Foot(s)]),
        BodyPart::LowerLeg(s) => (Role::LowerLeg(s), &[Role::Foot(s)]),
        _ => return None,
    };
    Some([rig.joint(from)?, to.iter().find_map(|&role| rig.joint(role))?])
}

/// Whether a joint lies on the bone of a limb.
fn on_bone(rig: &Rig, reference_pose: &ModelPose, part: BodyPart, id: JointId) -> bool {
    let Some([from, to]) = bone(rig, part) else { return false };
    let (a, b) = (reference_pose.position(from), reference_pose.position(to));
    let offset = reference_pose.position(id) - a;
    let t = offset.dot(&(b - a)) / (b - a).norm_squared();
    (-0.05..1.05).contains(&t) && (offset - (b - a) * t).norm() < 0.15 * (b - a).norm()
}

/// What the capsules of one body are fitted to.
struct CapsuleFit<'a> {
    rig: &'a Rig,
    reference_pose: &'a ModelPose,
    figure: Figure,
    skin: BTreeMap<BodyPart, Vec<SkinSample>>,
}

impl CapsuleFit<'_> {
    fn skin_of(&self, part: BodyPart) -> impl Iterator<Item = &SkinSample> {
        self.skin.get(&part).into_iter().flatten()
    }

    fn stature(&self) -> f64 {
        self.figure.leg_to_sole / LEG_OF_STATURE
    }

    fn at(&self, role: Role) -> Option<Vec3> {
        self.rig.joint(role).map(|id| self.reference_pose.position(id))
    }

    fn capsule(&self, part: BodyPart, joint: JointId, from: Vec3, to: Vec3, radius: f64) -> Capsule {
        let inside = self.reference_pose.joint(joint).inverse();
        Capsule { part, joint, from: inside.point(&from), to: inside.point(&to), radius }
    }

    /// Four sections from the hip joints to the base of the neck, each on the joint at its height.
    fn trunk(&self) -> Vec<Capsule> {
        let (Some(hips), base) = (self.rig.joint(Role::Hips), self.figure.pelvis) else { return Vec::new() };
        let spine = self.rig.chain(Role::Spine);
        let shoulders =
            || Some((self.at(Role::UpperArm(Side::Left))? + self.at(Role::UpperArm(Side::Right))?) * 0.5);
        let top = self.at(Role::Neck(0)).or_else(shoulders).or_else(|| self.at(Role::Head));
        let top = top.or_else(|| spine.last().map(|&id| self.reference_pose.position(id)));
        let Some((axis, length)) = top.map(|t| t - base).map(|v| (v.try_normalize(1e-9), v.norm())) else {
            return Vec::new();
        };
        let Some(up) = axis else { return Vec::new() };
        let left = self.figure.left - up * self.figure.left.dot(&up);
        let Some(left) = left.try_normalize(1e-6) else { return Vec::new() };
        let fore = left.cross(&up);
        let along = |p: &Vec3| (p - base).dot(&up) / length;
        // Collar bones move skin of the chest and of the shoulders, which belong to the arms.
        let shoulder =
            |side| self.at(Role::UpperArm(side)).map_or(f64::INFINITY, |p| (p - base).dot(&left).abs());
        let reach = SHOULDER * Side::BOTH.map(shoulder).into_iter().fold(f64::INFINITY, f64::min);
        let inside = |s: &&SkinSample| (s.at - base).dot(&left).abs() < reach;
        let skin: Vec<&SkinSample> = self.skin_of(BodyPart::Pelvis).filter(inside).collect();
        let joint_at = |t: f64| {
            let below = spine.iter().rev().find(|&&id| along(&self.reference_pose.position(id)) <= t);
            below.copied().filter(|_| t > TRUNK[0].1).unwrap_or(hips)
        };
        let section = |(part, t, [low, high], default): (BodyPart, f64, [f64; 2], [f64; 2])| {
            let slab: Vec<&SkinSample> =
                skin.iter().copied().filter(|s| (low..high).contains(&along(&s.at))).collect();
            let mut at = base + up * (t * length);
            let [mut wide, mut deep] = default.map(|x| x * self.stature());
            let measured = (spread(&slab, &at, &left), spread(&slab, &at, &fore));
            if let (Some((across, w)), Some((ahead, d))) = measured {
                // Arms and legs split the sides unevenly only where the skin is uneven itself.
                at += fore * ahead + left * (across * f64::from(u8::from(across.abs() > 0.2 * w)));
                (wide, deep) = (w, d);
            }
            let radius = deep.min(wide).clamp(0.05 * length, 0.6 * length);
            let half = left * (wide - radius).max(0.0);
            self.capsule(part, joint_at(t), at - half, at + half, radius)
        };
        TRUNK.map(section).to_vec()
    }

    fn neck(&self) -> Option<Capsule> {
        let joint = self.rig.joint(Role::Neck(0))?;
        let (a, b) = (self.reference_pose.position(joint), self.at(Role::Head)?);
        Some(self.round(BodyPart::Neck, joint, a, b, NECK * self.stature()))
    }

    fn limb(&self, part: BodyPart, girth: f64) -> Option<Capsule> {
        let [from, to] = bone(self.rig, part)?;
        let (a, b) = (self.reference_pose.position(from), self.reference_pose.position(to));
        Some(self.round(part, from, a, b, girth * (b - a).norm()))
    }

    /// A capsule along a bone, with the skin around it.
    fn round(&self, part: BodyPart, joint: JointId, mut a: Vec3, mut b: Vec3, default: f64) -> Capsule {
        let length = (b - a).norm();
        let mut radius = default;
        if let Some(axis) = (b - a).try_normalize(1e-9) {
            let within = |s: &&SkinSample| (MIDDLE[0]..MIDDLE[1]).contains(&((s.at - a).dot(&axis) / length));
            let skin: Vec<&SkinSample> = self.skin_of(part).filter(within).collect();
            if let Some((shift, found)) = around(&skin, &a, &axis) {
                radius = found.clamp(0.05 * length, 0.6 * length.max(2.0 * default));
                let shift = shift * (0.5 * radius / shift.norm().max(1e-12)).min(1.0);
                (a, b) = (a + shift, b + shift);
            }
        }
        self.capsule(part, joint, a, b, radius)
    }

    /// The skull: upright on people, along the muzzle of animals.
    fn head(&self) -> Option<Capsule> {
        let joint = self.rig.joint(Role::Head)?;
        let at = self.reference_pose.position(joint);
        let skin: Vec<&SkinSample> = self.skin_of(BodyPart::Head).collect();
        let frame = [self.figure.up, self.figure.left, self.figure.front()];
        let extents = frame.map(|axis| range(&skin, &at, &axis));
        if let [Some(x), Some(y), Some(z)] = extents {
            let sizes = [x, y, z].map(|[low, high]| high - low);
            let k = (0..3).max_by(|&i, &j| sizes[i].total_cmp(&sizes[j]))?;
            let middle = |[low, high]: [f64; 2]| 0.5 * (low + high);
            let centre = at + frame[0] * middle(x) + frame[1] * middle(y) + frame[2] * middle(z);
            let (_, radius) = around(&skin, &centre, &frame[k])?;
            let radius = radius.min(0.5 * sizes[k]);
            let half = frame[k] * (0.5 * sizes[k] - radius);
            return Some(self.capsule(BodyPart::Head, joint, centre - half, centre + half, radius));
        }
        let radius = HEAD * self.stature();
        let tip = self.rig.skeleton().joint(joint).tip.map(|t| self.reference_pose.joint(joint).point(&t));
        let neck = self.rig.chain(Role::Neck).last().map(|&id| self.reference_pose.position(id));
        let top = tip.filter(|t| (t - at).norm() > radius);
        let ahead = top.or(neck.map(|n| at + (at - n))).map_or(self.figure.up, |t| t - at);
        let ahead = ahead.try_normalize(1e-9).unwrap_or(self.figure.up);
        let reach = top.map_or(2.0 * radius, |t| (t - at).norm());
        Some(self.capsule(
            BodyPart::Head,
            joint,
            at + ahead * (0.3 * radius),
            at + ahead * (reach - radius),
            radius,
        ))
    }

    fn hand(&self, side: Side) -> Option<Capsule> {
        let joint = self.rig.joint(Role::Hand(side))?;
        let part = BodyPart::Hand(side);
        let wrist = self.reference_pose.position(joint);
        let elbow = self.at(Role::LowerArm(side)).or_else(|| self.at(Role::UpperArm(side)));
        let tip = self.rig.skeleton().joint(joint).tip.map(|t| self.reference_pose.joint(joint).point(&t));
        let knuckle = [Finger::Middle, Finger::Index, Finger::Ring]
            .into_iter()
            .find_map(|f| self.at(Role::Finger(side, f, 0)));
        let ahead = knuckle.or(tip).map(|p| p - wrist).and_then(|v| v.try_normalize(1e-6));
        let axis = ahead.or_else(|| (wrist - elbow?).try_normalize(1e-6))?;
        let skin: Vec<&SkinSample> = self.skin_of(part).filter(|s| (s.at - wrist).dot(&axis) > 0.0).collect();
        if let (Some([_, length]), Some((shift, radius))) =
            (range(&skin, &wrist, &axis), flat(&skin, &wrist, &axis))
        {
            let radius = radius.min(0.4 * length);
            let shift = shift * (radius / shift.norm().max(1e-12)).min(1.0);
            let (from, to) = (wrist + shift, wrist + shift + axis * (PALM * length - radius).max(0.0));
            return Some(self.capsule(part, joint, from, to, radius));
        }
        let length = HAND_OF_FOREARM * (wrist - elbow?).norm();
        let radius = HAND_RADIUS * length;
        Some(self.capsule(part, joint, wrist, wrist + axis * (PALM * length - radius), radius))
    }

    /// From heel to toe tip along the ground, on the sole.
    fn foot(&self, side: Side) -> Option<Capsule> {
        let joint = self.rig.joint(Role::Foot(side))?;
        let part = BodyPart::Foot(side);
        let skeleton = self.rig.skeleton();
        let ankle = self.reference_pose.position(joint);
        let up = self.figure.up;
        let toes = self.rig.joint(Role::Toes(side));
        let tip = |id: JointId| skeleton.joint(id).tip.map(|t| self.reference_pose.joint(id).point(&t));
        let end = toes
            .and_then(tip)
            .or_else(|| toes.map(|t| self.reference_pose.position(t)))
            .or_else(|| tip(joint));
        let level = |v: Vec3| v - up * v.dot(&up);
        let front = end.and_then(|p| level(p - ankle).try_normalize(1e-6));
        let front = front.unwrap_or_else(|| self.figure.front());
        // The shaft of a boot is no foot.
        let low_enough = |s: &&SkinSample| (s.at - ankle).dot(&up) < 0.02 * self.figure.leg_to_sole;
        let skin: Vec<&SkinSample> = self.skin_of(part).filter(low_enough).collect();
        let measured = (range(&skin, &ankle, &front), range(&skin, &ankle, &up), flat(&skin, &ankle, &front));
        if let (Some([back, tip]), Some([low, _]), Some((shift, radius))) = measured {
            let radius = radius.min(0.5 * (tip - back));
            let at = ankle + (shift - up * shift.dot(&up)) + up * (low + radius);
            let (from, to) = (at + front * (back + radius), at + front * (tip - radius));
            return Some(self.capsule(part, joint, from, to, radius));
        }
        let radius = FOOT * self.stature();
        let length = end.map_or(0.11 * self.stature(), |p| level(p - ankle).norm());
        let at = ankle + up * (self.figure.sole - ankle.dot(&up) + radius);
        let (from, to) = (at + front * (radius - 0.25 * length), at + front * (length - radius).max(0.0));
        Some(self.capsule(part, joint, from, to, radius))
    }
}
