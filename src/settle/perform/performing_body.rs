//! The body that performs a clip: every joint from the hips to head, hands and toes that rotates is a ball.
//!
//! Joints that never rotate are rigid with the part above them where nobody would miss their motion: toes, joints without a
//! role, and joints of a trunk or neck of which others rotate. Fingers, twist joints beside the bones and the like have no mass
//! and move with their part. Where a file parents a foot to something else than its leg, its body hangs on the leg all the
//! same. Space: model space, Y up. Units: as `perform`.

use super::contact_forces::Pyramid;
use super::part_inertia::{PartMass, link};
use super::part_kind::{PartJoint, PartKind};
use super::part_masses::{contradictions, mass_shares};
use crate::body::COMMON_MASS;
use crate::dynamics::{BallTree, JointState, JointVector};
use crate::kinematics::GRAVITY;
use crate::kinematics::map_frames_towards;
use crate::math::{Transform, Vec3, exp};
use crate::model::{Character, Clip, JointId, MassShares, ModelPose, Pose, Rig, Role, Side, Skeleton};
use crate::settle::ragdoll::limb_above;
use crate::settle::whole_body_dynamics::leg;

/// Length of thigh and shin of the performing body, metres.
pub const LEG: f64 = 0.86;

/// A joint that rotates by less than this over a whole clip does not rotate, radians.
const STILL: f64 = 1e-4;

/// The body of a character for one clip.
#[derive(Clone, Debug)]
pub struct PerformingBody {
    /// The bodies.
    pub tree: BallTree,
    /// The joints with mass; several may form one body.
    pub parts: Vec<PartJoint>,
    /// The part whose joint is the ball of each body.
    pub tops: Vec<usize>,
    /// Metres of the performing body for one of the character.
    pub scale: f64,
    /// Its mass, kilograms.
    pub mass: f64,
    /// The friction of its contacts.
    pub pyramid: Pyramid,
}

impl PerformingBody {
    /// The body of `character` for `clip`, and the clip in its coordinates, frame by frame; `None` without hips, two legs or
    /// frames.
    pub fn of(character: &Character, clip: &Clip) -> Option<(Self, Vec<JointState>)> {
        let (rig, skeleton) = (&character.rig, character.skeleton());
        let reference_pose = character.reference_pose();
        let scale = LEG / leg(rig, &reference_pose)?;
        let mut parts = part_joints(rig)?;
        let wanted = parts.iter().map(|part| part.joint);
        let of_frame = |model: &ModelPose| -> Vec<Transform> {
            let scaled = |part: &PartJoint| {
                let at = model.joint(part.joint);
                Transform::new(at.rotation, at.translation * scale)
            };
            parts.iter().map(scaled).collect()
        };
        let frames = map_frames_towards(skeleton, clip, wanted, of_frame);
        let first = frames.first()?;
        let mut tops: Vec<usize> = Vec::new();
        for k in 0..parts.len() {
            (parts[k].body, parts[k].body_from_part) = match parts[k].parent {
                Some(p) if is_rigid(&parts, k, &frames) => {
                    let part_from_own = first[p].inverse() * first[k];
                    (parts[p].body, parts[p].body_from_part * part_from_own)
                }
                _ => {
                    tops.push(k);
                    (tops.len() - 1, Transform::identity())
                }
            };
        }
        for k in 0..parts.len() {
            parts[k].bone = bone(skeleton, &reference_pose, &parts, k, scale);
            let (length, kind) = (parts[k].bone.norm(), PartKind::of(parts[k].kind));
            if length < 0.3 * kind.length {
                parts[k].bone = direction(&reference_pose, &parts, k) * kind.length;
            }
        }
        let mass = character.mass.kilograms.unwrap_or(COMMON_MASS);
        let segments = PartMass::of_parts(&parts, &mass_shares(character, &parts, scale), mass);
        let offsets: Vec<Vec3> = (0..tops.len()).map(|b| offset(&parts, &tops, b, &frames)).collect();
        let links = (0..tops.len()).map(|b| {
            let own: Vec<(PartMass, Transform)> = (parts.iter().zip(&segments))
                .filter(|(part, _)| part.body == b)
                .map(|(part, segment)| (segment.clone(), part.body_from_part))
                .collect();
            let top = &parts[tops[b]];
            let parent = top.parent.map(|p| parts[p].body);
            link(skeleton.joint(top.joint).name.clone(), parent, offsets[b], &own)
        });
        let hip =
            |side| Some(first[parts.iter().position(|p| p.role == Some(Role::UpperLeg(side)))?].translation);
        let across = hip(Side::Left).zip(hip(Side::Right)).map_or_else(Vec3::x, |(left, right)| left - right);
        let pyramid = Pyramid::towards(&across);
        let tree = BallTree::new(links.collect()).ok()?;
        let body = Self { tree, parts, tops, scale, mass, pyramid };
        let states = frames.iter().map(|frame| body.state(frame)).collect();
        Some((body, states))
    }

    /// The weight, newton.
    pub fn weight(&self) -> f64 {
        self.mass * GRAVITY
    }

    /// What is doubtful about the masses of the parts, in words: the skin contradicts the table, or is not closed where it is asked
    /// for.
    pub fn doubtful_masses(&self, character: &Character) -> Option<String> {
        match (character.mass.shares, contradictions(character, &self.parts, self.scale)) {
            (MassShares::Skin, None) => Some(
                "the skin is not closed: the masses are those of people, not of its volume (`input.mass_shares`)"
                    .to_owned(),
            ),
            (MassShares::Table, Some(found)) if !found.is_empty() => {
                let of = |(segment, [table, skin]): &(&str, [f64; 2])| {
                    format!("{segment} {:.0} % by volume, {:.0} % in people", 100.0 * skin, 100.0 * table)
                };
                let list: Vec<String> = found.iter().map(of).collect();
                Some(format!(
                    "the masses are those of people, and the body is built otherwise: {}\n  hint: try `--set input.mass_shares=skin`",
                    list.join("; ")
                ))
            }
            _ => None,
        }
    }

    /// The coordinates of a frame, of the joints of all parts in model space.
    fn state(&self, frame: &[Transform]) -> JointState {
        let rotation = |&top: &usize| match self.parts[top].parent {
            None => frame[top].rotation,
            Some(p) => frame[self.tops[self.parts[p].body]].rotation.inverse() * frame[top].rotation,
        };
        JointState {
            position: frame[self.tops[0]].translation,
            rotations: self.tops.iter().map(rotation).collect(),
        }
    }

    /// The part of a role, of one of the fingers its hand.
    pub fn part(&self, role: Role) -> Option<&PartJoint> {
        self.parts.iter().find(|part| part.role == Some(role))
    }

    /// The part that a joint moves with.
    pub fn part_of(&self, skeleton: &Skeleton, joint: JointId) -> Option<&PartJoint> {
        skeleton.path_to_root(joint).find_map(|id| self.parts.iter().find(|part| part.joint == id))
    }

    /// A point of a part (joint axes, metres of the performing body) in the axes of its body.
    pub fn in_body(&self, part: &PartJoint, at: &Vec3) -> (usize, Vec3) {
        (part.body, part.body_from_part.point(at))
    }

    /// The kind of each body.
    pub fn kind(&self, body: usize) -> PartKind {
        PartKind::of(self.parts[self.tops[body]].kind)
    }

    /// The joints whose local translations a deviation changes: the hips, and those that hang elsewhere.
    pub fn displaced(&self) -> impl Iterator<Item = JointId> {
        let tops = self.tops.iter().map(|&top| &self.parts[top]);
        tops.filter(|top| top.parent.is_none() || top.apart).map(|top| top.joint)
    }

    /// The pose with a deviation: what is no ball keeps its local transform.
    pub fn deviated(&self, skeleton: &Skeleton, pose: &Pose, deviation: &JointVector) -> Pose {
        let model = ModelPose::of(skeleton, pose);
        let mut changed = pose.clone();
        let mut moved: Vec<Transform> = vec![Transform::identity(); skeleton.len()];
        // Feet that hang elsewhere may come before their legs in the skeleton: they are placed last.
        let mut apart = Vec::new();
        for id in skeleton.ids() {
            let above = skeleton.parent(id).map_or(Transform::identity(), |p| moved[p.index()]);
            if let Some(body) = self.tops.iter().position(|&top| self.parts[top].joint == id) {
                let rotation = exp(&deviation.angular[body]);
                if body == 0 {
                    let at = model.joint(id);
                    let new = Transform::new(
                        at.rotation * rotation,
                        at.translation + deviation.linear / self.scale,
                    );
                    changed.local_mut()[id.index()] = above.inverse() * new;
                } else if self.parts[self.tops[body]].apart {
                    apart.push((id, body));
                } else {
                    let local = &mut changed.local_mut()[id.index()].rotation;
                    *local *= rotation;
                }
            }
            moved[id.index()] = above * *changed.joint(id);
        }
        for (id, body) in apart {
            let now = ModelPose::of(skeleton, &changed);
            let Some(parent) = self.parts[self.tops[body]].parent else { continue };
            let parent = self.parts[self.tops[self.parts[parent].body]].joint;
            let within = model.joint(parent).inverse() * *model.joint(id);
            let mut new = *now.joint(parent) * within;
            new.rotation *= exp(&deviation.angular[body]);
            let above = skeleton.parent(id).map_or(Transform::identity(), |p| *now.joint(p));
            changed.local_mut()[id.index()] = above.inverse() * new;
        }
        changed
    }
}

/// The joints with mass, parents first; `None` without hips.
fn part_joints(rig: &Rig) -> Option<Vec<PartJoint>> {
    let skeleton = rig.skeleton();
    let hips = rig.joint(Role::Hips)?;
    let chains = rig.chain(Role::Spine).len() + rig.chain(Role::Neck).len();
    let mut roles: Vec<Role> = (0..chains as u8).flat_map(|n| [Role::Spine(n), Role::Neck(n)]).collect();
    roles.push(Role::Head);
    for side in Side::BOTH {
        roles.extend([Role::Clavicle(side), Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)]);
        roles.extend([Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side), Role::Toes(side)]);
    }
    // Joint, and the parent where it is not the next joint with mass above.
    let mut found: Vec<(JointId, Option<JointId>)> = vec![(hips, None)];
    let mut add = |id: JointId, apart: Option<JointId>| {
        if !found.iter().any(|f| f.0 == id) {
            found.push((id, apart));
        }
    };
    for role in roles {
        let Some(joint) = rig.joint(role).filter(|id| *id != hips) else { continue };
        let limb = limb_above(role).and_then(|above| above.into_iter().find_map(|r| rig.joint(r)));
        match limb.unwrap_or(hips) {
            above if !skeleton.is_ancestor(above, joint) => add(joint, Some(above)),
            _ if !skeleton.is_ancestor(hips, joint) => add(joint, None),
            _ => skeleton.path_to_root(joint).take_while(|id| *id != hips).for_each(|id| add(id, None)),
        }
    }
    let parent = |(id, apart): &(JointId, Option<JointId>)| {
        let of_tree = || skeleton.path_to_root(*id).skip(1).find(|up| found.iter().any(|f| f.0 == *up));
        apart.or_else(of_tree).or((*id != hips).then_some(hips))
    };
    let parents: Vec<Option<JointId>> = found.iter().map(parent).collect();
    let mut parts: Vec<PartJoint> = Vec::with_capacity(found.len());
    // Parents first: some files hang the feet before the legs.
    while parts.len() < found.len() {
        let place = |id: Option<JointId>| parts.iter().position(|part| Some(part.joint) == id);
        let ready = |k: &usize| {
            place(Some(found[*k].0)).is_none() && (parents[*k].is_none() || place(parents[*k]).is_some())
        };
        let k = (0..found.len()).find(ready)?;
        let (joint, parent) = (found[k].0, place(parents[k]));
        let role = rig.role(joint);
        parts.push(PartJoint {
            joint,
            role,
            kind: role.or(parent.map(|p| parts[p].kind)).unwrap_or(Role::Hips),
            parent,
            apart: parents[k].is_some_and(|p| !skeleton.is_ancestor(p, joint)),
            body: 0,
            body_from_part: Transform::identity(),
            bone: Vec3::zeros(),
        });
    }
    Some(parts)
}

/// Whether a part never rotates against the part above and nobody would miss it.
fn is_rigid(parts: &[PartJoint], k: usize, frames: &[Vec<Transform>]) -> bool {
    let still = |k: usize| {
        let Some(p) = parts[k].parent else { return false };
        let relative = |frame: &Vec<Transform>| frame[p].rotation.inverse() * frame[k].rotation;
        let first = relative(&frames[0]);
        frames.iter().all(|frame| first.angle_to(&relative(frame)) < STILL)
    };
    let others_turn = |same: fn(Role) -> bool| {
        (0..parts.len()).any(|o| o != k && parts[o].role.is_some_and(same) && !still(o))
    };
    match parts[k].role {
        None | Some(Role::Toes(_)) => still(k),
        Some(Role::Spine(_)) => still(k) && others_turn(|role| matches!(role, Role::Spine(_))),
        Some(Role::Neck(_)) => still(k) && others_turn(|role| matches!(role, Role::Neck(_))),
        Some(_) => false,
    }
}

/// The ball of a body in the axes of its parent, the mean over the clip.
fn offset(parts: &[PartJoint], tops: &[usize], body: usize, frames: &[Vec<Transform>]) -> Vec3 {
    let Some(parent) = parts[tops[body]].parent else { return Vec3::zeros() };
    let parent = tops[parts[parent].body];
    let within = |frame: &Vec<Transform>| frame[parent].inverse().point(&frame[tops[body]].translation);
    frames.iter().map(within).sum::<Vec3>() / frames.len() as f64
}

/// From the joint of a part to its end in the reference pose, joint axes, times `scale`: metres of the performing body.
fn bone(skeleton: &Skeleton, reference_pose: &ModelPose, parts: &[PartJoint], k: usize, scale: f64) -> Vec3 {
    let part = &parts[k];
    let at = reference_pose.joint(part.joint);
    let trunk = |p: &&PartJoint| matches!(p.role, Some(Role::Spine(_) | Role::Neck(_) | Role::Head));
    let below: Vec<&PartJoint> = parts.iter().filter(|p| p.parent == Some(k)).collect();
    let far = |points: &mut dyn Iterator<Item = Vec3>| points.max_by(|a, b| a.norm().total_cmp(&b.norm()));
    let within = |p: &PartJoint| at.inverse().point(&reference_pose.position(p.joint));
    let of_trunk = matches!(part.kind, Role::Hips | Role::Spine(_));
    let end = far(&mut below.iter().filter(|p| of_trunk && trunk(p)).map(|p| within(p)));
    if let Some(end) = end.or_else(|| far(&mut below.iter().map(|p| within(p)))) {
        return end * scale;
    }
    let tip = skeleton.joint(part.joint).tip;
    let hanging = skeleton.ids().filter(|&id| id != part.joint && skeleton.is_ancestor(part.joint, id));
    let mut ends = hanging.map(|id| at.inverse().point(&reference_pose.position(id)));
    let end = tip.or_else(|| far(&mut ends)).unwrap_or_default() * scale;
    // Hair and tools are no longer parts of the body.
    let longest = 2.0 * PartKind::of(part.kind).length;
    if end.norm() > longest { end * (longest / end.norm()) } else { end }
}

/// The direction in which a part of unknown length continues the one above, joint axes.
fn direction(reference_pose: &ModelPose, parts: &[PartJoint], k: usize) -> Vec3 {
    let at = reference_pose.joint(parts[k].joint);
    let above =
        parts[k].parent.map_or(Vec3::y(), |p| at.translation - reference_pose.position(parts[p].joint));
    at.rotation.inverse() * above.try_normalize(1e-9).unwrap_or_else(Vec3::y)
}
