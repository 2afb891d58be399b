//! Support points of a skin: the few vertices that can be its lowest, for any orientation.
//!
//! A sampled convex hull of each joint's vertices (those that this joint moves most): the vertices furthest in 122 directions.
//! These cover the whole sphere because crawling feet lie on their insteps; the error for a sole of 30 cm is under a millimetre.
//! Joints that lead to no role (capes, tails, weapons) are left out, since they may be in the
//! floor, and so are [`hanging_cloth`] and hair below the neck. Space: joint space out. Units: metres.

use super::contact_points::skin_of_feet;
use super::hanging_cloth::hanging_cloth;
use super::head_support::HeadSupport;
use super::lowest_point::lowest;
use crate::anatomy::{Figure, JointNames, NamedPart, Vocabulary, on_four_legs};
use crate::math::{Quat, Vec3, exp};
use crate::model::{Character, ContactPoint, JointId, Mesh, ModelPose, Rig, Role, Side};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// The number of directions around the vertical.
const AROUND: usize = 20;
/// The number of slopes from the horizontal down to, but without, the vertical.
const DOWN: usize = 3;
/// A foot with fewer vertices than this counts as one without skin.
const FEWEST: usize = 8;
/// How far a hand reaches from its wrist at most, forearms: twice the three quarters of one in people (Winter 2009, table 4.1), for toys.
const HAND: f64 = 1.5;

/// The support points of each foot, left and right: of the skin, else its contact points.
pub fn foot_support(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    points: &[ContactPoint],
) -> [Vec<(JointId, Vec3)>; 2] {
    let [left, right] = skin_of_feet(character, rig, reference_pose);
    [(Side::Left, left), (Side::Right, right)].map(|(side, skin)| {
        let Some(foot) = rig.joint(Role::Foot(side)) else { return Vec::new() };
        if skin.len() < FEWEST {
            let own = points.iter().filter(|p| p.part.of_foot() && p.part.side() == Some(side));
            return own.map(|p| (p.joint, p.at)).collect();
        }
        hull_of_foot(rig, reference_pose, [Some(foot), rig.joint(Role::Toes(side))], &skin)
    })
}

/// The support points of a foot and its toes, of skin in model space.
fn hull_of_foot(
    rig: &Rig,
    reference_pose: &ModelPose,
    [foot, toes]: [Option<JointId>; 2],
    skin: &[(JointId, Vec3)],
) -> Vec<(JointId, Vec3)> {
    let skeleton = rig.skeleton();
    let moved_by = |joint: JointId| match toes {
        Some(t) if joint == t || skeleton.is_ancestor(t, joint) => toes,
        _ => foot,
    };
    let mut found = Vec::new();
    for joint in [foot, toes].into_iter().flatten() {
        let own: Vec<Vec3> =
            skin.iter().filter(|(of, _)| moved_by(*of) == Some(joint)).map(|(_, p)| *p).collect();
        let within = reference_pose.joint(joint).inverse();
        let hull = furthest(&own, all_around()).into_iter();
        found.extend(hull.map(|k| (joint, within.point(&own[k]))));
    }
    found
}

/// The support points of trunk, head, legs and hands, in the spaces of their joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SupportPoints {
    /// Of trunk and thighs, and of the front legs of a quadruped without paws, joint by joint; joints without a role between them
    /// included.
    pub trunk: Vec<(JointId, Vec3)>,
    /// The distance of the furthest point of each joint in `trunk` from it.
    reach: Vec<f64>,
    /// The same of the joints of each hand.
    hand_reach: [Vec<f64>; 2],
    /// Of neck and head. Heads of animals, which graze, are left out.
    pub head: Option<HeadSupport>,
    /// Of the lower halves of the left and of the right shin, in the space of the knee joint: what the foot moves.
    pub shins: [Vec<Vec3>; 2],
    /// Of the left and of the right hand.
    pub hands: [Vec<(JointId, Vec3)>; 2],
}

impl SupportPoints {
    /// Those of `character` with the roles of `rig` and the reference pose `reference_pose`; empty for a body without skin.
    pub fn of(character: &Character, rig: &Rig, reference_pose: &ModelPose) -> SupportPoints {
        let skeleton = rig.skeleton();
        let four_legs = on_four_legs(rig, reference_pose);
        let parts = parts_of_joints(rig, four_legs);
        let skin = skin_by_joint(character, rig, reference_pose, &parts);
        let mut found = SupportPoints::default();
        let up = Figure::of(rig, reference_pose).map_or(Vec3::y(), |figure| figure.up);
        let height = |p: &Vec3| p.dot(&up);
        // A head ends where the neck begins: what is lower is hair or a beard.
        let neck = rig.chain(Role::Neck).first().copied().or(rig.joint(Role::Head));
        let nape = neck.map_or(f64::NEG_INFINITY, |id| height(&reference_pose.position(id)));
        let mut of_head = Vec::new();
        for id in skeleton.ids() {
            let at = reference_pose.joint(id);
            let mut points: Vec<Vec3> = skin[id.index()].clone();
            let joined = |points: Vec<Vec3>| points.into_iter().map(move |p| (id, p));
            match parts[id.index()] {
                // Front legs without a paw bear the body: it is raised for them, as for its trunk, and they do not bend.
                Some(Role::LowerArm(side)) if four_legs && rig.joint(Role::Hand(side)).is_none() => {
                    found.trunk.extend(joined(outermost(&points)));
                }
                Some(Role::Hand(side) | Role::Finger(side, ..)) => {
                    let within = reach_of_hand(rig, reference_pose, side);
                    points.retain(|p| within(&at.point(p)));
                    found.hands[side.index()].extend(joined(outermost(&points)));
                }
                Some(Role::Hips | Role::Spine(_) | Role::UpperLeg(_)) => {
                    found.trunk.extend(joined(outermost(&points)));
                }
                Some(Role::Neck(_) | Role::Head) if !four_legs => {
                    points.retain(|p| height(&at.point(p)) > nape);
                    of_head.extend(joined(outermost(&points)));
                }
                Some(Role::LowerLeg(side)) => {
                    let ends = [Role::LowerLeg(side), Role::Foot(side)].map(|role| rig.joint(role));
                    let [Some(knee), Some(ankle)] = ends else { continue };
                    let ends = [knee, ankle].map(|joint| reference_pose.position(joint));
                    let along = |p: &Vec3| (at.point(p) - ends[0]).dot(&(ends[1] - ends[0]));
                    let length = (ends[1] - ends[0]).norm_squared();
                    // The pelvis is not raised for a knee: its height depends on how the leg is solved. The ends of trousers,
                    // beyond the ankle, would lift feet that walk by up to 3 cm.
                    points.retain(|p| along(p) > 0.5 * length && along(p) < length);
                    let in_knee = reference_pose.joint(knee).inverse() * *at;
                    let shin = &mut found.shins[side.index()];
                    shin.extend(outermost(&points).iter().map(|p| in_knee.point(p)));
                }
                _ => {}
            }
        }
        let of_joint = |points: &[(JointId, Vec3)]| points.iter().map(|(_, p)| p.norm()).fold(0.0, f64::max);
        let by_joint = |points: &[(JointId, Vec3)]| -> Vec<f64> {
            points.chunk_by(|a, b| a.0 == b.0).map(of_joint).collect()
        };
        found.reach = by_joint(&found.trunk);
        found.hand_reach = found.hands.each_ref().map(|points| by_joint(points));
        let pivot = neck.filter(|_| !of_head.is_empty());
        found.head = pivot.map(|pivot| HeadSupport::of(skeleton, pivot, of_head));
        found
    }

    /// The height of the lowest of what the pelvis has to be raised for: of a head what bending the neck does not raise.
    pub fn lowest_of_body(&self, pose: &ModelPose) -> f64 {
        let low = lowest_below(f64::INFINITY, &self.trunk, &self.reach, pose);
        let Some(head) = &self.head else { return low };
        if head.is_above(pose, low) { low } else { low.min(head.highest_lift(pose).1) }
    }

    /// The joints whose positions [`SupportPoints::lowest_of_body`] takes.
    pub fn joints_of_body(&self) -> impl Iterator<Item = JointId> {
        let head = self.head.iter().flat_map(|head| head.joints());
        self.trunk.iter().map(|(joint, _)| *joint).chain(head)
    }

    /// The height of the lowest of both hands; infinite without their skin.
    pub fn lowest_of_hands(&self, pose: &ModelPose) -> f64 {
        let low = [0, 1].map(|k| lowest_below(f64::INFINITY, &self.hands[k], &self.hand_reach[k], pose));
        low[0].min(low[1])
    }

    /// The height of the lowest of the left and of the right hand where it is below 0, else 0.
    pub fn hands_below_floor(&self, pose: &ModelPose) -> [f64; 2] {
        [0, 1].map(|k| lowest_below(0.0, &self.hands[k], &self.hand_reach[k], pose))
    }
}

/// Whether a point in model space is near enough to the wrist to be the hand's: what it holds may be skinned to its joint.
fn reach_of_hand(rig: &Rig, reference_pose: &ModelPose, side: Side) -> impl Fn(&Vec3) -> bool {
    let at = |role: Role| rig.joint(role).map(|id| reference_pose.position(id));
    let forearm = at(Role::Hand(side)).zip(at(Role::LowerArm(side)));
    move |p| forearm.is_none_or(|(wrist, elbow)| (p - wrist).norm() <= HAND * (wrist - elbow).norm())
}

/// The height of the lowest of these points if it is below `height`, else `height`; `reach` is the distance of the furthest point of
/// each of their joints from it.
fn lowest_below(height: f64, points: &[(JointId, Vec3)], reach: &[f64], pose: &ModelPose) -> f64 {
    let mut low = height;
    for (points, reach) in points.chunk_by(|a, b| a.0 == b.0).zip(reach) {
        if pose.position(points[0].0).y - reach < low {
            low = low.min(lowest(points, pose));
        }
    }
    low
}

/// For each joint the vertices that it moves most, in its space, without hanging cloth; `parts` are the roles of the joints'
/// body parts.
fn skin_by_joint(
    character: &Character,
    rig: &Rig,
    reference_pose: &ModelPose,
    parts: &[Option<Role>],
) -> Vec<Vec<Vec3>> {
    // Vertices without a joint, and those that nothing draws, stay in the lists, so that all keep their numbers.
    let bound = |mesh: &Mesh| -> Vec<Option<(JointId, Vec3)>> {
        let mut all = vec![None; mesh.positions.len()];
        mesh.drawn_vertices().for_each(|vertex| all[vertex] = mesh.in_heaviest_joint(vertex));
        all
    };
    let bound: Vec<Vec<Option<(JointId, Vec3)>>> = character.meshes.iter().map(bound).collect();
    fn each<T>(
        bound: &[Vec<Option<(JointId, Vec3)>>],
        of: impl Fn(Option<(JointId, Vec3)>) -> T,
    ) -> Vec<Vec<T>> {
        bound.iter().map(|mesh| mesh.iter().map(|vertex| of(*vertex)).collect()).collect()
    }
    let positions = each(&bound, |vertex| {
        vertex.map_or(Vec3::zeros(), |(joint, p)| reference_pose.joint(joint).point(&p))
    });
    let part_of = each(&bound, |vertex| vertex.and_then(|(joint, _)| parts[joint.index()]));
    let cloth = hanging_cloth(&character.meshes, rig, reference_pose, &positions, &part_of);
    let mut skin: Vec<Vec<Vec3>> = vec![Vec::new(); rig.skeleton().len()];
    for (k, mesh) in bound.iter().enumerate() {
        for (v, vertex) in mesh.iter().enumerate() {
            if let (Some((joint, p)), false) = (vertex, cloth.as_ref().is_some_and(|cloth| cloth[k][v])) {
                skin[joint.index()].push(*p);
            }
        }
    }
    skin
}

/// The role of the part that each joint belongs to; `None` for what hangs off the body.
fn parts_of_joints(rig: &Rig, four_legs: bool) -> Vec<Option<Role>> {
    let skeleton = rig.skeleton();
    let names = JointNames::of(skeleton, Vocabulary::built_in());
    // A joint without a role above one with a role (a twist joint) belongs to the part above it.
    let mut leads = vec![false; skeleton.len()];
    for id in skeleton.ids().rev() {
        leads[id.index()] |= rig.role(id).is_some();
        if let Some(parent) = skeleton.parent(id) {
            leads[parent.index()] |= leads[id.index()];
        }
    }
    let part_of = |id: JointId| {
        let role = std::iter::successors(Some(id), |&k| skeleton.parent(k)).find_map(|k| rig.role(k))?;
        // A hand may be a child of its wrist or several palms side by side: only names show it. Other children of a hand
        // may be weapons; a child of a finger is its tip.
        let named = names.finger(id).is_some() || names.weight(id, NamedPart::Hand) > 0.0;
        match role {
            Role::LowerArm(side) | Role::Hand(side) if named => Some(Role::Hand(side)),
            // Paws hold nothing.
            Role::Hand(side) if four_legs => Some(Role::Hand(side)),
            role => (leads[id.index()] || matches!(role, Role::Finger(..))).then_some(role),
        }
    };
    skeleton.ids().map(part_of).collect()
}

/// The support points of any points, in their order.
pub(crate) fn outermost(points: &[Vec3]) -> Vec<Vec3> {
    furthest(points, all_around()).into_iter().map(|k| points[k]).collect()
}

/// Straight down and up, and around at several slopes.
pub(super) fn all_around() -> impl Iterator<Item = Vec3> {
    let slanted = (0..DOWN).flat_map(|i| {
        let slope = -FRAC_PI_2 * i as f64 / DOWN as f64;
        (0..AROUND).map(move |k| {
            let heading: Quat = exp(&(Vec3::y() * (TAU * k as f64 / AROUND as f64 - PI)));
            heading * Vec3::new(0.0, libm::sin(slope), libm::cos(slope))
        })
    });
    slanted.chain([-Vec3::y()]).flat_map(|d| [d, -d])
}

/// The indices of the points that lie furthest in one of these directions, each once and in order.
fn furthest(points: &[Vec3], directions: impl Iterator<Item = Vec3>) -> Vec<usize> {
    let mut found: Vec<usize> = directions.filter_map(|d| support(points, &d)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The index of the point that lies furthest in a direction, the first of several.
fn support(points: &[Vec3], direction: &Vec3) -> Option<usize> {
    let mut best = None;
    for (k, p) in points.iter().enumerate() {
        let far = p.dot(direction);
        if best.is_none_or(|(_, most)| far > most) {
            best = Some((k, far));
        }
    }
    best.map(|(k, _)| k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat4, Transform};
    use crate::model::{Assignment, Binding, Joint, Skeleton};

    #[test]
    fn a_hand_may_be_a_child_of_its_wrist_or_several_palms_and_weapons_are_left_out() {
        let tree = [
            ("lowerarm.l", None),
            ("wrist.l", Some(0)),
            ("hand.l", Some(1)),
            ("handslot.l", Some(1)),
            ("Palm3.L", Some(0)),
            ("Ring1.L", Some(4)),
            ("sword", Some(1)),
        ];
        let joint = |(name, parent): &(&str, Option<usize>)| {
            Joint::new(*name, parent.map(JointId::new), Transform::identity())
        };
        let skeleton = Skeleton::new(tree.iter().map(joint).collect()).unwrap();
        let role = |role, joint| (role, Assignment::new(JointId::new(joint), 1.0, "given"));
        let rig = Rig::new(skeleton, [role(Role::LowerArm(Side::Left), 0), role(Role::Hand(Side::Left), 1)]);
        let mut character = Character::new("one arm", rig);
        // A vertex a joint, moved by it alone.
        character.meshes.push(Mesh {
            positions: vec![[0.0; 3]; tree.len()],
            joints: (0..tree.len()).map(|k| [k as u16, 0, 0, 0]).collect(),
            weights: vec![[1.0, 0.0, 0.0, 0.0]; tree.len()],
            bindings: (0..tree.len())
                .map(|k| Binding { joint: JointId::new(k), joint_from_mesh: Mat4::identity() })
                .collect(),
            ..Mesh::default()
        });
        let reference_pose = character.reference_pose();
        let skin = SupportPoints::of(&character, &character.rig, &reference_pose);
        let left: Vec<usize> = skin.hands[0].iter().map(|(joint, _)| joint.index()).collect();
        assert_eq!(left, [1, 2, 4, 5]);
        assert!(skin.hands[1].is_empty() && skin.trunk.is_empty());
    }
}
