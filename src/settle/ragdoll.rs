//! Ragdoll of a rig: one rigid body for each part with mass, and conversion between poses and body states.
//!
//! Twist joints, fingers and other joints between or below the parts move with the part above them and keep their local
//! rotations of the clip. A body has the axes of its joint and lies at the centre of mass of its part. The pose of body
//! states takes the rotations of the bodies and the position of the root, so bones keep their lengths, and converting a
//! pose back and forth returns the same pose. Where a file parents a foot to something else than its leg, its body hangs on
//! the leg all the same, and its position is taken too. Space: model space of the skeleton, Y up. Units: SI.

use crate::body::{COMMON_MASS, segment_of};
use crate::dynamics::{Articulation, Body, BodyState, Constraint, ConstraintKind};
use crate::kinematics::GRAVITY;
use crate::math::{Mat3, Transform, Vec3, any_perpendicular};
use crate::model::{Character, JointId, ModelPose, Pose, Rig, Role, Side, Skeleton};

/// One body of a ragdoll.
#[derive(Clone, Debug, PartialEq)]
pub struct RagdollPart {
    /// The role of the part.
    pub role: Role,
    /// The joint whose axes the body has.
    pub joint: JointId,
    /// The parent part; `None` for the first.
    pub parent: Option<usize>,
    /// Whether its joint is no descendant of its parent's in the skeleton, so that its position is independent.
    pub apart: bool,
    /// The centre of mass, joint space, metres.
    pub centre: Vec3,
    /// From the joint to the end of the part, joint space, metres.
    pub bone: Vec3,
    /// The radius of a capsule of its mass, metres.
    pub radius: f64,
    /// Mass, kilograms.
    pub mass: f64,
    /// Mass of the part and all parts below it, kilograms.
    pub supported_mass: f64,
    inertia: Mat3<f64>,
}

/// The bodies of a character, and what links them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ragdoll {
    /// The bodies, parents first; the first is the pelvis.
    pub parts: Vec<RagdollPart>,
    /// The height of the body in metres.
    pub height: f64,
    /// The mass of the whole body, kilograms.
    pub mass: f64,
    /// The part that moves each joint.
    part_of_joint: Vec<Option<usize>>,
}

/// The most bodies of the trunk: more do not change what is visible.
const TRUNK: usize = 3;

/// Density of the body, kg/m^3: about that of water.
const DENSITY: f64 = 1000.0;

/// Every `n`th of a long chain, the first one always.
fn thinned(chain: &[JointId], most: usize) -> Vec<usize> {
    let n = chain.len();
    let keep = n.min(most);
    (0..keep).map(|k| k * n / keep).collect()
}

/// The joints that become bodies, with their roles.
fn chosen(rig: &Rig) -> Vec<(Role, JointId)> {
    let mut roles = vec![Role::Hips];
    let trunk = |role: fn(u8) -> Role, most: usize| {
        let chain = rig.chain(role);
        thinned(&chain, most).into_iter().map(move |k| role(k as u8)).collect::<Vec<_>>()
    };
    roles.extend(trunk(Role::Spine, TRUNK));
    roles.extend(trunk(Role::Neck, 1));
    roles.push(Role::Head);
    for side in Side::BOTH {
        roles.extend([Role::Clavicle(side), Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)]);
        roles.extend([Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side), Role::Toes(side)]);
    }
    let found = |role: Role| Some((role, rig.joint(role)?));
    let mut all: Vec<(Role, JointId)> = roles.into_iter().filter_map(found).collect();
    all.sort_by_key(|&(role, joint)| (role != Role::Hips, joint));
    all
}

/// The parent roles of a limb's part, whatever the skeleton has.
pub(super) fn limb_above(role: Role) -> Option<[Role; 2]> {
    Some(match role {
        Role::LowerArm(s) => [Role::UpperArm(s); 2],
        Role::Hand(s) => [Role::LowerArm(s), Role::UpperArm(s)],
        Role::LowerLeg(s) => [Role::UpperLeg(s); 2],
        Role::Foot(s) => [Role::LowerLeg(s), Role::UpperLeg(s)],
        Role::Toes(s) => [Role::Foot(s); 2],
        _ => return None,
    })
}

/// Parts in an order with parents first: role, joint, parent.
fn tree(rig: &Rig) -> Vec<(Role, JointId, Option<usize>)> {
    let all = chosen(rig);
    let skeleton = rig.skeleton();
    let place = |role: Role| all.iter().position(|p| p.0 == role);
    let parent = |&(role, joint): &(Role, JointId)| {
        if role == Role::Hips {
            return None;
        }
        let by_role = limb_above(role).and_then(|above| above.into_iter().find_map(place));
        let mut up = skeleton.path_to_root(joint).skip(1);
        let by_tree = || up.find_map(|id| all.iter().position(|p| p.1 == id));
        Some(by_role.or_else(by_tree).unwrap_or(0))
    };
    let parents: Vec<Option<usize>> = all.iter().map(parent).collect();
    // Parents first: some files hang the feet before the legs.
    let mut order: Vec<usize> = Vec::new();
    while order.len() < all.len() {
        let ready = |k: &usize| !order.contains(k) && parents[*k].is_none_or(|p| order.contains(&p));
        let Some(next) = (0..all.len()).find(ready) else { break };
        order.push(next);
    }
    let new = |old: usize| order.iter().position(|&k| k == old);
    order.iter().map(|&k| (all[k].0, all[k].1, parents[k].and_then(new))).collect()
}

impl Ragdoll {
    /// The ragdoll of a character; `None` where it has no hips or fewer than three parts.
    pub fn of(character: &Character) -> Option<Ragdoll> {
        let rig = &character.rig;
        let skeleton = rig.skeleton();
        let rest = character.reference_pose();
        let tree = tree(rig);
        if tree.len() < 3 || tree[0].0 != Role::Hips {
            return None;
        }
        let height = height_of(skeleton, &rest);
        let mass = character.mass.kilograms.unwrap_or(COMMON_MASS);
        let mut part_of_joint: Vec<Option<usize>> = vec![None; skeleton.len()];
        for id in skeleton.ids() {
            let own = tree.iter().position(|p| p.1 == id);
            part_of_joint[id.index()] =
                own.or_else(|| skeleton.parent(id).and_then(|p| part_of_joint[p.index()]));
        }
        let bones: Vec<Vec3> = (0..tree.len()).map(|k| bone_of(skeleton, &rest, &tree, k, height)).collect();
        let masses = masses(&tree, &bones, mass);
        let mut parts: Vec<RagdollPart> = Vec::with_capacity(tree.len());
        for (k, &(role, joint, parent)) in tree.iter().enumerate() {
            let apart = parent.is_some_and(|p| !skeleton.is_ancestor(tree[p].1, joint));
            parts.push(part(role, joint, parent, apart, bones[k], masses[k]));
        }
        for k in (0..parts.len()).rev() {
            parts[k].supported_mass += parts[k].mass;
            if let Some(p) = parts[k].parent {
                parts[p].supported_mass += parts[k].supported_mass;
            }
        }
        Some(Ragdoll { parts, height, mass, part_of_joint })
    }

    /// The part that moves a joint; `None` above the hips.
    pub fn part_of(&self, joint: JointId) -> Option<usize> {
        self.part_of_joint[joint.index()]
    }

    /// The part of a role.
    pub fn find(&self, role: Role) -> Option<usize> {
        self.parts.iter().position(|p| p.role == role)
    }

    /// The bodies in a pose, at rest.
    pub fn states(&self, model: &ModelPose) -> Vec<BodyState> {
        let state = |part: &RagdollPart| {
            let joint = model.joint(part.joint);
            BodyState::at_rest(joint.point(&part.centre), joint.rotation)
        };
        self.parts.iter().map(state).collect()
    }

    /// The pose in which the bodies are in these states; joints that are no part rotate as in `like`.
    pub fn pose(&self, skeleton: &Skeleton, states: &[BodyState], like: &Pose) -> Pose {
        let mut pose = like.clone();
        let mut model: Vec<Transform> = Vec::with_capacity(skeleton.len());
        for id in skeleton.ids() {
            let above = skeleton.parent(id).map_or(Transform::identity(), |p| model[p.index()]);
            let mut joint = above * *like.joint(id);
            let own = self.part_of(id).filter(|&k| self.parts[k].joint == id);
            if let Some(k) = own {
                let (part, state) = (&self.parts[k], &states[k]);
                joint.rotation = state.orientation;
                if part.parent.is_none() || part.apart {
                    joint.translation = state.position - state.orientation * part.centre;
                }
                pose.local_mut()[id.index()] = above.inverse() * joint;
                if part.parent.is_some() && !part.apart {
                    pose.local_mut()[id.index()].translation = like.joint(id).translation;
                }
            }
            model.push(joint);
        }
        pose
    }

    /// The bodies linked by balls as they hang together in `model`, under gravity.
    pub fn articulation(&self, skeleton: &Skeleton, model: &ModelPose) -> Articulation {
        let name = |p: &RagdollPart| skeleton.joint(p.joint).name.clone();
        let body = |p: &RagdollPart| {
            Body::new(name(p), p.mass, p.inertia).expect("a capsule has a possible inertia")
        };
        let states = self.states(model);
        let link = |(k, part): (usize, &RagdollPart)| {
            let parent = part.parent?;
            let at = model.position(part.joint);
            let ends = ((Some(parent), &states[parent]), (Some(k), &states[k]));
            Some(Constraint::in_pose(
                name(part),
                ConstraintKind::Ball,
                ends.0,
                ends.1,
                &at,
                &Vec3::zeros(),
                &Vec3::zeros(),
            ))
        };
        let links = self.parts.iter().enumerate().filter_map(link).collect();
        Articulation::new(self.parts.iter().map(body).collect(), links, Vec3::new(0.0, -GRAVITY, 0.0))
            .expect("parts form a tree")
    }
}

/// From the lowest to the highest joint or tip.
fn height_of(skeleton: &Skeleton, rest: &ModelPose) -> f64 {
    let tip = |id: JointId| skeleton.joint(id).tip.map(|tip| rest.joint(id).point(&tip).y);
    let all = skeleton.ids().flat_map(|id| [Some(rest.position(id).y), tip(id)]).flatten();
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
    (high - low).max(0.05)
}

/// From the joint of a part to its end, joint space.
fn bone_of(
    skeleton: &Skeleton,
    rest: &ModelPose,
    tree: &[(Role, JointId, Option<usize>)],
    k: usize,
    height: f64,
) -> Vec3 {
    let (role, joint, parent) = tree[k];
    let at = rest.position(joint);
    let short = 0.01 * height;
    // The trunk ends where the trunk goes on; a limb where its next part hangs.
    let trunk = |r: &Role| matches!(r, Role::Spine(_) | Role::Neck(_) | Role::Head);
    let next = tree.iter().filter(|p| p.2 == Some(k) && (role != Role::Hips || trunk(&p.0)));
    let next = next.clone().find(|p| trunk(&p.0)).or_else(|| next.clone().next()).map(|p| rest.position(p.1));
    let farthest = || {
        let below = skeleton.ids().filter(|&id| id != joint && skeleton.is_ancestor(joint, id));
        let far =
            below.map(|id| rest.position(id)).max_by(|a, b| (a - at).norm().total_cmp(&(b - at).norm()));
        far.or_else(|| skeleton.joint(joint).tip.map(|tip| rest.joint(joint).point(&tip)))
    };
    let usual = |p: Vec3| (p - at).norm() > short;
    let end = next.filter(|p| usual(*p)).or_else(|| farthest().filter(|p| usual(*p)));
    let end = end.unwrap_or_else(|| {
        // The length of the part is unknown: it continues the one above.
        let above = parent.map_or(Vec3::y(), |p| at - rest.position(tree[p].1));
        at + above.try_normalize(1e-9).unwrap_or_else(Vec3::y) * (0.06 * height)
    });
    rest.joint(joint).inverse().point(&end)
}

/// Mass by part, kilograms; the shares of missing parts go to the others, so that the sum is right.
fn masses(tree: &[(Role, JointId, Option<usize>)], bones: &[Vec3], mass: f64) -> Vec<f64> {
    let length = |k: usize| bones[k].norm();
    let spine: f64 = (0..tree.len()).filter(|&k| matches!(tree[k].0, Role::Spine(_))).map(length).sum();
    let share = |k: usize| {
        let share = segment_of(tree[k].0).map_or(0.003, |s| s.mass);
        if matches!(tree[k].0, Role::Spine(_)) { share * length(k) / spine } else { share }
    };
    let all: f64 = (0..tree.len()).map(share).sum();
    (0..tree.len()).map(|k| mass * share(k) / all).collect()
}

fn part(
    role: Role,
    joint: JointId,
    parent: Option<usize>,
    apart: bool,
    bone: Vec3,
    mass: f64,
) -> RagdollPart {
    let length = bone.norm();
    let segment = segment_of(role);
    let centre = bone * segment.map_or(0.5, |s| s.centre);
    let radius = (mass / (std::f64::consts::PI * length * DENSITY)).sqrt();
    let gyration = segment.map_or(0.3, |s| s.gyration) * length;
    let along = 0.5 * mass * radius * radius;
    // No solid is flatter across its long axis than a disc.
    let across = (mass * gyration * gyration).max(0.5 * along);
    let axis = bone / length;
    let side = any_perpendicular(&axis);
    let other = axis.cross(&side);
    let outer = |v: &Vec3| v * v.transpose();
    let inertia = outer(&axis) * along + (outer(&side) + outer(&other)) * across;
    RagdollPart { role, joint, parent, apart, centre, bone, radius, mass, supported_mass: 0.0, inertia }
}
