//! Aligns the target's rest pose with the source's, joint by joint.
//!
//! Space: model space, Y up. For every driven joint `i` the result `A_i` rotates the target's reference rotation:
//! `A_i R_i` is the orientation of the joint while the source is in its reference pose.
//!
//! * Hips, trunk and head: rotated about Y only, so that the lines through the hip joints agree (a figure that lies in its rest
//!   pose, or is tilted with its legs and trunk in line, is first stood up). Their joint centres differ between rigs (marker sets
//!   have them in front of or behind the spine), so directions between them are undefined; upright is upright on both.
//!   The slope of the trunk of a quadruped follows from the lengths of its legs: [`trunk_slope`].
//! * Collar bones: as the trunk, unless they are raised in one of the rest poses; then as the limbs. Shoulder blades of
//!   quadrupeds as the trunk: their joints are anywhere along the chest.
//! * Upper arm, forearm, thigh, shin, fingers: by the smallest rotation that aligns the segment's direction with the source's,
//!   after the alignment of the joint above. This handles T, A and other rest poses.
//! * Hands: by direction of the hand and palm if both have knuckles, else as the forearm, with palms that a reference pose turns by a
//!   quarter turned back. Front paws of quadrupeds: as the whole body.
//! * Feet: flat on flat, with the toes in the same direction over the ground. The slope from ankle to toes depends on the
//!   height of the ankle and is not changed.

use super::body_plan::outward;
use super::joint_map::JointMap;
use crate::anatomy::{Figure, foot_roll, on_four_legs, parent_joint, tilt};
use crate::body::CharacterBody;
use crate::math::{Quat, Vec3, arc, exp, from_columns, horizontal};
use crate::model::{Finger, JointId, ModelPose, Rig, Role, Side};
use std::f64::consts::FRAC_PI_2;

/// A character in its reference pose.
#[derive(Clone, Copy)]
pub struct ReferenceBody<'a> {
    /// The measured character.
    pub body: &'a CharacterBody,
    /// Its roles, including those assigned in a map file.
    pub rig: &'a Rig,
    /// The reference pose.
    pub reference_pose: &'a ModelPose,
    /// The reference pose as the joint tree can take it, in which segment directions are compared.
    pub tree_pose: &'a ModelPose,
    /// Its measures; `None` without legs.
    pub figure: Option<Figure>,
    /// Whether the other body has the same bones in the same pose: nothing is aligned then.
    pub twin: bool,
}

impl<'a> ReferenceBody<'a> {
    /// `body` in its reference pose and in the one in which segment directions are compared.
    pub fn of(body: &'a CharacterBody, tree_pose: &'a ModelPose) -> Self {
        let figure = body.figure().copied();
        Self { body, rig: body.rig(), reference_pose: body.reference_pose(), tree_pose, figure, twin: false }
    }

    /// `body` in a pose in which the other body's joints are at the same places.
    pub fn twin(body: &'a CharacterBody, tree_pose: &'a ModelPose) -> Self {
        let figure = Figure::of(body.rig(), tree_pose);
        Self { body, rig: body.rig(), reference_pose: tree_pose, tree_pose, figure, twin: true }
    }

    /// The position of the joint with this role.
    pub fn position(&self, role: Role) -> Option<Vec3> {
        self.rig.joint(role).map(|id| self.tree_pose.position(id))
    }

    /// Whether it goes on four legs.
    pub fn on_four_legs(&self) -> bool {
        on_four_legs(self.rig, self.tree_pose)
    }

    /// The tip of a leaf in model space, if the file has it.
    fn tip(&self, joint: JointId) -> Option<Vec3> {
        let tip = self.rig.skeleton().joint(joint).tip?;
        Some(self.tree_pose.joint(joint).point(&tip)).filter(|_| tip.norm() > 1e-9)
    }

    /// The direction of the segment from `role` to `to`.
    fn segment(&self, role: Role, to: Role) -> Option<Vec3> {
        let v = self.position(to)? - self.position(role)?;
        v.try_normalize(1e-9)
    }

    /// The horizontal direction from the ankle to the toes, or to the tip of the foot.
    fn heading(&self, side: Side) -> Option<Vec3> {
        let ankle = self.rig.joint(Role::Foot(side))?;
        let end = self.position(Role::Toes(side)).or_else(|| self.tip(ankle))?;
        let mut v = end - self.tree_pose.position(ankle);
        let length = v.norm();
        v.y = 0.0;
        v.try_normalize(0.3 * length)
    }

    /// The roll of the foot about the forward axis in the reference pose, radians: [`foot_roll`].
    fn foot_roll(&self, side: Side) -> f64 {
        let of = |figure: Figure| foot_roll(self.body.character(), (self.rig, self.tree_pose), &figure, side);
        self.figure.map_or(0.0, of)
    }

    /// The axes of a hand: along the hand, and across the palm from little finger to index.
    fn hand_frame(&self, side: Side, knuckles: &[Finger]) -> Option<(Vec3, Option<Vec3>)> {
        let wrist = self.position(Role::Hand(side))?;
        let at = |f: &Finger| self.position(Role::Finger(side, *f, 0));
        let points: Vec<Vec3> = knuckles.iter().filter_map(at).collect();
        if points.is_empty() {
            return None;
        }
        let middle = points.iter().sum::<Vec3>() / points.len() as f64;
        let along = (middle - wrist).try_normalize(1e-9)?;
        // A single chain that leaves the line of the forearm is what the hand holds.
        let forearm = self.segment(Role::LowerArm(side), Role::Hand(side));
        if points.len() == 1 && forearm.is_some_and(|forearm| forearm.dot(&along) < PROP_COSINE) {
            return None;
        }
        let across = (points.len() >= 2).then(|| points[0] - points[points.len() - 1]);
        let across = across.and_then(|v| (v - along * v.dot(&along)).try_normalize(1e-9));
        Some((along, across))
    }
}

/// The alignment `A_i` of every driven target joint, in joint order; `None` for others.
pub fn align(map: &JointMap, source: &ReferenceBody, target: &ReferenceBody) -> Vec<Option<Quat>> {
    let skeleton = target.rig.skeleton();
    let base = match (source.figure, target.figure) {
        (Some(s), Some(t)) => {
            let frame = |f: Figure| from_columns(&f.left, &f.up, &f.front());
            let [of_s, of_t] =
                [(source, s), (target, t)].map(|(b, figure)| tilt(b.rig, b.tree_pose, &figure));
            of_s * frame(s) * frame(t).inverse() * of_t.inverse()
        }
        _ => Quat::identity(),
    };
    let mut aligned: Vec<Option<Quat>> = vec![None; skeleton.len()];
    if source.twin {
        map.pairs.iter().for_each(|pair| aligned[pair.target.index()] = Some(Quat::identity()));
        return aligned;
    }
    let trunk = trunk_slope(source, target, &base).map(|slope| slope * base);
    // By role, from the hips outwards: in a rig in pieces the order of body parts is not that of the tree.
    let mut ordered: Vec<usize> = (0..map.pairs.len()).collect();
    ordered.sort_by_key(|&k| {
        let role = map.pairs[k].role;
        (role.is_none(), role.map(depth), map.pairs[k].target)
    });
    for k in ordered {
        let pair = &map.pairs[k];
        let above = match pair.role {
            Some(role) => parent_joint(target.rig, role),
            None => skeleton.parent(pair.target),
        };
        let inherited = above
            .and_then(|joint| skeleton.path_to_root(joint).find_map(|j| aligned[j.index()]))
            .unwrap_or(base);
        aligned[pair.target.index()] = Some(match pair.role {
            Some(role) => align_role(role, inherited, (base, trunk), source, target),
            None => inherited,
        });
    }
    aligned
}

/// A number that sorts roles outwards from the hips.
fn depth(role: Role) -> u32 {
    match role {
        Role::Hips => 0,
        Role::Spine(n) | Role::Tail(n) => 1 + u32::from(n),
        Role::Neck(n) => 300 + u32::from(n),
        Role::Head => 600,
        Role::Clavicle(_) => 301,
        Role::UpperArm(_) => 302,
        Role::LowerArm(_) => 303,
        Role::Hand(_) => 304,
        Role::Finger(_, _, n) => 305 + u32::from(n),
        Role::UpperLeg(_) => 1,
        Role::LowerLeg(_) => 2,
        Role::Foot(_) => 3,
        Role::Toes(_) => 4,
    }
}

fn align_role(
    role: Role,
    inherited: Quat,
    (base, trunk): (Quat, Option<Quat>),
    source: &ReferenceBody,
    target: &ReferenceBody,
) -> Quat {
    match role {
        Role::Hips | Role::Spine(_) | Role::Clavicle(_) if trunk.is_some() => trunk.unwrap_or(base),
        Role::Hand(_) if trunk.is_some() => base,
        Role::Hips | Role::Spine(_) | Role::Neck(_) | Role::Head => base,
        Role::Clavicle(side) => {
            let segment = |s: &ReferenceBody| s.segment(role, Role::UpperArm(side));
            match (segment(source), segment(target)) {
                (Some(s), Some(t)) if (base * t).angle(&s) > SHRUGGED => {
                    arc(&(base * t), &s, &Vec3::z()) * base
                }
                _ => base,
            }
        }
        Role::UpperLeg(side) | Role::LowerLeg(side) if is_stub(target, side) => inherited,
        Role::UpperArm(_) | Role::LowerArm(_) | Role::UpperLeg(_) | Role::LowerLeg(_) => {
            let to = outward(role).iter().map(|next| next(role.side().unwrap_or(Side::Left)));
            let directions = to.map(|to| (source.segment(role, to), target.segment(role, to)));
            match directions.into_iter().find_map(|(s, t)| Some((s?, t?))) {
                Some((s, t)) => arc(&(inherited * t), &s, &Vec3::z()) * inherited,
                None => inherited,
            }
        }
        Role::Hand(side) => align_hand(side, inherited, source, target),
        Role::Foot(side) => {
            let unroll = |body: &ReferenceBody| Quat::from_axis_angle(&Vec3::z_axis(), body.foot_roll(side));
            let (roll_s, roll_t) = (unroll(source), unroll(target));
            let toes = (source.heading(side), target.heading(side));
            let yaw = match toes {
                (Some(s), Some(t)) => {
                    let (s, t) = (
                        horizontal_direction(&(roll_s.inverse() * s)),
                        horizontal_direction(&(base * (roll_t.inverse() * t))),
                    );
                    let yaw = arc(&t, &s, &Vec3::y());
                    if yaw.angle() < TOE_OUT { yaw } else { Quat::identity() }
                }
                _ => Quat::identity(),
            };
            roll_s * yaw * base * roll_t.inverse()
        }
        Role::Toes(_) => inherited,
        Role::Finger(..) | Role::Tail(_) => {
            let segment = |body: &ReferenceBody| body.segment(role, role.next()?);
            match (segment(source), segment(target)) {
                (Some(s), Some(t)) => arc(&(inherited * t), &s, &Vec3::y()) * inherited,
                _ => inherited,
            }
        }
    }
}

/// Whether a leg without a foot has a thigh that points more sideways than down: that of a toy, whose body is its legs. Rotating it
/// down, as for a person, would lift the body off its legs.
pub fn is_stub(body: &ReferenceBody, side: Side) -> bool {
    let thigh = body.segment(Role::UpperLeg(side), Role::LowerLeg(side));
    let sideways = thigh
        .zip(body.figure)
        .is_some_and(|(thigh, figure)| thigh.dot(&figure.left).abs() > -thigh.dot(&figure.up));
    sideways && body.rig.joint(Role::Foot(side)).is_none()
}

/// A single chain of fingers at more than 60 degrees to the forearm is a prop in the hand, not a finger (cosine).
const PROP_COSINE: f64 = 0.5;

/// Angle between collar bones at rest, radians (60 degrees), above which they are raised in one of the poses (a rest pose with
/// raised arms: 88 degrees) and aligned like limbs. Marker sets and skins with good rest poses, which only differ in the
/// joint positions, differ by 40 to 50 degrees.
const SHRUGGED: f64 = 1.05;

/// Angle between toe directions at rest, radians (60 degrees), above which they are not aligned.
const TOE_OUT: f64 = 1.05;

/// The normalised horizontal part of a direction; the part itself if it is nearly zero.
fn horizontal_direction(v: &Vec3) -> Vec3 {
    let flat = horizontal(v);
    flat.try_normalize(1e-9).unwrap_or(flat)
}

/// Aligns a hand by its direction and palm, as far as both rigs have them.
fn align_hand(side: Side, inherited: Quat, source: &ReferenceBody, target: &ReferenceBody) -> Quat {
    let has = |body: &ReferenceBody, f: Finger| body.rig.joint(Role::Finger(side, f, 0)).is_some();
    let shared = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little]
        .into_iter()
        .filter(|&f| has(source, f) && has(target, f))
        .collect::<Vec<_>>();
    let frames = (source.hand_frame(side, &shared), target.hand_frame(side, &shared));
    if let (Some((s_along, Some(s))), Some((t_along, Some(t)))) = frames {
        let frame = |along: Vec3, across: Vec3| from_columns(&along, &across, &along.cross(&across));
        return frame(s_along, s) * frame(t_along, t).inverse();
    }
    // The palm of a body without knuckles is as palms mostly are in reference poses.
    let inherited = match [source, target].map(|body| turned_palm(body, side)) {
        [None, None] => inherited,
        [s, t] => s.unwrap_or_default() * inherited * t.unwrap_or_default().inverse(),
    };
    match frames {
        (Some((s_along, _)), Some((t_along, _))) => {
            arc(&(inherited * t_along), &s_along, &Vec3::y()) * inherited
        }
        _ => inherited,
    }
}

/// Largest angle to a quarter turn, radians (30 degrees), up to which a palm counts as turned by it: palms of reference poses deviate
/// from the neutral pose by up to 30 degrees, and between the two nothing is known.
const NEAR_QUARTER: f64 = 0.52;
/// The least part of the direction ahead that is across a forearm, for which the neutral pose is known: not of arms that point ahead.
const ACROSS_FOREARM: f64 = 0.5;

/// The quarter turns about the forearm by which a reference pose turns the palm from the neutral pose, in which its thumb is ahead: palms
/// down with raised arms, towards the body with hanging ones. `None` of a neutral palm, and without knuckles or if the thumb is not
/// on the side of the index finger.
fn turned_palm(body: &ReferenceBody, side: Side) -> Option<Quat> {
    const KNUCKLES: [Finger; 4] = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
    let has = |f: &Finger| body.rig.joint(Role::Finger(side, *f, 0)).is_some();
    let knuckles: Vec<Finger> = KNUCKLES.into_iter().filter(has).collect();
    let across = body.hand_frame(side, &knuckles)?.1?;
    let axis = body.segment(Role::LowerArm(side), Role::Hand(side))?;
    let wrist = body.position(Role::Hand(side))?;
    if body.position(Role::Finger(side, Finger::Thumb, 0)).is_some_and(|at| (at - wrist).dot(&across) <= 0.0)
    {
        return None;
    }
    let ahead = body.figure?.front();
    let neutral = (ahead - axis * axis.dot(&ahead)).try_normalize(ACROSS_FOREARM)?;
    let angle = libm::atan2(axis.dot(&neutral.cross(&across)), neutral.dot(&across));
    let turned = (angle / FRAC_PI_2).round() * FRAC_PI_2;
    let known = turned != 0.0 && (angle - turned).abs() < NEAR_QUARTER;
    known.then(|| exp(&(axis * turned)))
}

/// Largest change of the slope, radians (15 degrees); the rest is taken up by the bend of both pairs of legs.
const STEEPEST: f64 = 0.26;

/// Legs have the directions of the source's, and their lengths are the target's own: where its front legs are longer or shorter,
/// relative to the hind legs, than the source's, its shoulders are higher or lower. The trunk then slopes more or less by a
/// constant of the two bodies, so that neither pair of legs bends for it.
///
/// The rotation of the target's trunk about its lateral axis, in the space of the source's reference pose; `base` aligns the
/// target's body with it. `None` unless both are quadrupeds with whole legs.
fn trunk_slope(source: &ReferenceBody, target: &ReferenceBody, base: &Quat) -> Option<Quat> {
    if !(source.on_four_legs() && target.on_four_legs()) {
        return None;
    }
    let middle = |body: &ReferenceBody, role: fn(Side) -> Role| {
        let [left, right] = Side::BOTH.map(|side| body.position(role(side)));
        Some((left? + right?) * 0.5)
    };
    let hind = height_above(source, target, [Role::UpperLeg, Role::LowerLeg, Role::Foot])?;
    let front = height_above(source, target, [Role::UpperArm, Role::LowerArm, Role::Hand])?;
    let trunk = base * (middle(target, Role::UpperArm)? - middle(target, Role::UpperLeg)?);
    let length = trunk.norm();
    let slope = |rise: f64| libm::asin((rise / length).clamp(-1.0, 1.0));
    let more = (slope(front - hind) - slope(trunk.y)).clamp(-STEEPEST, STEEPEST);
    Some(exp(&(source.figure?.left * -more)))
}

/// The height of the joint above a pair of the target's legs, with the directions of the source's, above the ground; `chain` are the
/// roles of their joints.
fn height_above(source: &ReferenceBody, target: &ReferenceBody, chain: [fn(Side) -> Role; 3]) -> Option<f64> {
    let of_side = |side: Side| {
        let joints = |body: &ReferenceBody| {
            let [a, b, c] = chain.map(|role| body.position(role(side)));
            Some([a?, b?, c?])
        };
        let (from, to) = (joints(source)?, joints(target)?);
        let part = |k: usize| {
            let (along, length) = (from[k] - from[k + 1], (to[k] - to[k + 1]).norm());
            Some(along.try_normalize(1e-9)?.y * length)
        };
        Some(part(0)? + part(1)? + to[2].y)
    };
    let [left, right] = Side::BOTH.map(of_side);
    Some(0.5 * (left? + right?))
}
