//! Support points of a skin: the few vertices that can be its lowest, for any orientation.
//!
//! A sampled convex hull of each joint's vertices (those that this joint moves most): the vertices that lie furthest in one
//! of a set of directions. Feet use 61 directions of the lower half space, as the body stands: a sole of 30 cm is missed
//! by less than a millimetre between two of them. Trunk, thighs and hands use 122 directions all around. Joints that lead
//! to no role (capes, tails, weapons) are left out, since they may be in the floor, and so is [`hanging_cloth`]; so are heads,
//! because a large head would lift a lying body off the floor. Space: joint space out. Units: metres.

use super::contact_points::skin_of_feet;
use super::hanging_cloth::hanging_cloth;
use crate::anatomy::{JointNames, NamedPart, Vocabulary, on_four_legs};
use crate::math::{Quat, Vec3, exp};
use crate::model::{Character, ContactPoint, JointId, Mesh, ModelPose, Rig, Role, Side};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// The number of directions around the vertical.
const AROUND: usize = 20;
/// The number of slopes from the horizontal down to, but without, the vertical.
const DOWN: usize = 3;
/// A foot with fewer vertices than this counts as one without skin.
const FEWEST: usize = 8;

/// The support points of each foot, left and right: of the skin, else its contact points.
pub fn foot_support(
    character: &Character,
    rig: &Rig,
    stand: &ModelPose,
    points: &[ContactPoint],
) -> [Vec<(JointId, Vec3)>; 2] {
    let [left, right] = skin_of_feet(character, rig, stand);
    [(Side::Left, left), (Side::Right, right)].map(|(side, skin)| {
        let Some(foot) = rig.joint(Role::Foot(side)) else { return Vec::new() };
        if skin.len() < FEWEST {
            let own = points.iter().filter(|p| p.part.of_foot() && p.part.side() == Some(side));
            return own.map(|p| (p.joint, p.at)).collect();
        }
        hull_of_foot(rig, stand, [Some(foot), rig.joint(Role::Toes(side))], &skin)
    })
}

/// The support points of a foot and its toes, of skin in model space.
fn hull_of_foot(
    rig: &Rig,
    stand: &ModelPose,
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
        let within = stand.joint(joint).inverse();
        let hull = furthest(&own, directions()).into_iter();
        found.extend(hull.map(|k| (joint, within.point(&own[k]))));
    }
    found
}

/// The support points of trunk, thighs and hands, in the spaces of their joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SupportPoints {
    /// Of trunk and thighs, and of the front legs of a quadruped.
    pub trunk: Vec<(JointId, Vec3)>,
    /// Of the left and of the right hand.
    pub hands: [Vec<(JointId, Vec3)>; 2],
}

impl SupportPoints {
    /// Those of `character` with the roles of `rig` and the reference pose `stand`; empty of a body without skin.
    pub fn of(character: &Character, rig: &Rig, stand: &ModelPose) -> SupportPoints {
        let skeleton = rig.skeleton();
        let parts = parts_of_joints(rig);
        let skin = skin_by_joint(character, rig, stand, &parts);
        let mut found = SupportPoints::default();
        let four_legs = on_four_legs(rig, stand);
        for id in skeleton.ids() {
            let points = &skin[id.index()];
            let part = match parts[id.index()] {
                // The front legs carry the body: it is raised for them, as for its trunk, and they do not bend.
                Some(Role::LowerArm(_) | Role::Hand(_) | Role::Finger(..)) if four_legs => &mut found.trunk,
                Some(Role::Hand(side) | Role::Finger(side, ..)) => {
                    &mut found.hands[usize::from(side == Side::Right)]
                }
                Some(Role::Hips | Role::Spine(_) | Role::UpperLeg(_)) => &mut found.trunk,
                _ => continue,
            };
            let around = directions().flat_map(|d| [d, -d]);
            part.extend(furthest(points, around).into_iter().map(|k| (id, points[k])));
        }
        found
    }

    /// The height of the lowest of trunk and thighs; infinite of a body without skin.
    pub fn lowest(&self, pose: &ModelPose) -> f64 {
        lowest(&self.trunk, pose)
    }

    /// The height of the lowest of the left and of the right hand; infinite without skin.
    pub fn lowest_of_hands(&self, pose: &ModelPose) -> [f64; 2] {
        [0, 1].map(|k| lowest(&self.hands[k], pose))
    }
}

/// For each joint the vertices that it moves most, in its space, without hanging cloth; `parts` are the roles of the joints'
/// body parts.
fn skin_by_joint(
    character: &Character,
    rig: &Rig,
    stand: &ModelPose,
    parts: &[Option<Role>],
) -> Vec<Vec<Vec3>> {
    // Vertices without a joint stay in the lists, so that they keep their numbers.
    let bound = |mesh: &Mesh| -> Vec<Option<(JointId, Vec3)>> {
        let of = |((p, joints), weights): ((&[f32; 3], &[u16; 4]), &[f32; 4])| {
            let heaviest = (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
            let binding = mesh.bindings.get(usize::from(joints[heaviest]))?;
            let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
            Some((binding.joint, binding.joint_from_mesh.transform_point(&p.into()).coords))
        };
        mesh.positions.iter().zip(&mesh.joints).zip(&mesh.weights).map(of).collect()
    };
    let bound: Vec<Vec<Option<(JointId, Vec3)>>> = character.meshes.iter().map(bound).collect();
    fn each<T>(
        bound: &[Vec<Option<(JointId, Vec3)>>],
        of: impl Fn(Option<(JointId, Vec3)>) -> T,
    ) -> Vec<Vec<T>> {
        bound.iter().map(|mesh| mesh.iter().map(|vertex| of(*vertex)).collect()).collect()
    }
    let positions =
        each(&bound, |vertex| vertex.map_or(Vec3::zeros(), |(joint, p)| stand.joint(joint).point(&p)));
    let part_of = each(&bound, |vertex| vertex.and_then(|(joint, _)| parts[joint.index()]));
    let cloth = hanging_cloth(&character.meshes, rig, stand, &positions, &part_of);
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
fn parts_of_joints(rig: &Rig) -> Vec<Option<Role>> {
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
            role => (leads[id.index()] || matches!(role, Role::Finger(..))).then_some(role),
        }
    };
    skeleton.ids().map(part_of).collect()
}

/// Straight down, and around at several slopes.
fn directions() -> impl Iterator<Item = Vec3> {
    let slanted = (0..DOWN).flat_map(|i| {
        let slope = -FRAC_PI_2 * i as f64 / DOWN as f64;
        (0..AROUND).map(move |k| {
            let heading: Quat = exp(&(Vec3::y() * (TAU * k as f64 / AROUND as f64 - PI)));
            heading * Vec3::new(0.0, libm::sin(slope), libm::cos(slope))
        })
    });
    slanted.chain([-Vec3::y()])
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

/// The height of the lowest of these points, which are listed joint by joint; infinite of none.
fn lowest(points: &[(JointId, Vec3)], pose: &ModelPose) -> f64 {
    let of_joint = |points: &[(JointId, Vec3)]| {
        let joint = pose.joint(points[0].0);
        let up = joint.rotation.inverse() * Vec3::y();
        // Not `f64::min`, which checks every point for NaN.
        let lower = |low: f64, at: f64| if at < low { at } else { low };
        joint.translation.y + points.iter().map(|(_, at)| up.dot(at)).fold(f64::INFINITY, lower)
    };
    points.chunk_by(|a, b| a.0 == b.0).map(of_joint).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat4, Transform};
    use crate::model::{Assignment, Binding, Joint, Skeleton};

    #[test]
    fn the_lowest_point_is_the_lowest_of_all_in_model_space() {
        let number = |k: usize| (1.7 * k as f64).sin();
        let vector = |k: usize| Vec3::new(number(k), number(3 * k + 1), number(5 * k + 2));
        for case in 0..50 {
            let at =
                |joint: usize| Transform::new(exp(&(vector(7 * case + joint) * 3.0)), vector(case + joint));
            let pose = ModelPose::new((0..3).map(at).collect());
            let points: Vec<(JointId, Vec3)> =
                (0..90).map(|k| (JointId::new(k / 30), vector(11 * case + k))).collect();
            let heights = points.iter().map(|(joint, at)| pose.joint(*joint).point(at).y);
            assert!((lowest(&points, &pose) - heights.fold(f64::INFINITY, f64::min)).abs() < 1e-12);
        }
    }

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
        let stand = character.calibration_pose();
        let skin = SupportPoints::of(&character, &character.rig, &stand);
        let left: Vec<usize> = skin.hands[0].iter().map(|(joint, _)| joint.index()).collect();
        assert_eq!(left, [1, 2, 4, 5]);
        assert!(skin.hands[1].is_empty() && skin.trunk.is_empty());
    }
}
