//! The skin of trunk, thighs and hands becomes the few points of it that can be its lowest, whichever way they turn.
//!
//! Of every joint of such a part those vertices are kept that lie furthest in one of 122 directions all around, moved
//! by the joint that moves them most. What leads to no role (capes, tails, weapons) is left out: it may be in the
//! floor; and so are heads, of which large ones would carry a body that lies through the air. Space: joint space out.
//! Units: metres.

use super::contact_points::contact_points;
use super::foot_skin::{directions, support};
use crate::anatomy::{NamedPart, Names, Vocabulary};
use crate::math::Vec3;
use crate::model::{Character, JointId, ModelPose, Rig, Role, Side};

/// The points of a skin that can be the lowest, in the spaces of their joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BodySkin {
    /// Of trunk and thighs.
    pub body: Vec<(JointId, Vec3)>,
    /// Of the left and of the right hand.
    pub hands: [Vec<(JointId, Vec3)>; 2],
    /// How far trunk and thighs reach below the soles as the body stands: a long coat.
    pub below: f64,
}

impl BodySkin {
    /// That of `character`, the roles of `rig`; nothing of a body without skin.
    pub fn of(character: &Character, rig: &Rig) -> BodySkin {
        let skeleton = rig.skeleton();
        let names = Names::of(skeleton, Vocabulary::built_in());
        let mut own: Vec<Vec<Vec3>> = vec![Vec::new(); skeleton.len()];
        for mesh in &character.meshes {
            for ((p, joints), weights) in mesh.positions.iter().zip(&mesh.joints).zip(&mesh.weights) {
                let heaviest = (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
                let Some(binding) = mesh.bindings.get(usize::from(joints[heaviest])) else { continue };
                let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
                own[binding.joint.index()].push(binding.joint_from_mesh.transform_point(&p.into()).coords);
            }
        }
        // A joint without a role that carries one (a twist joint) belongs to the part above it.
        let mut carries = vec![false; skeleton.len()];
        for id in skeleton.ids().rev() {
            carries[id.index()] |= rig.role(id).is_some();
            if let Some(parent) = skeleton.parent(id) {
                carries[parent.index()] |= carries[id.index()];
            }
        }
        let part_of = |id: JointId| {
            let role = std::iter::successors(Some(id), |&k| skeleton.parent(k)).find_map(|k| rig.role(k))?;
            // A hand may lie beneath its wrist or be several palms beside each other: names tell. What else a hand carries
            // may be a weapon; what a finger carries is its tip.
            let named = names.finger(id).is_some() || names.weight(id, NamedPart::Hand) > 0.0;
            match role {
                Role::LowerArm(side) | Role::Hand(side) if named => Some(Role::Hand(side)),
                role => (carries[id.index()] || matches!(role, Role::Finger(..))).then_some(role),
            }
        };
        let mut skin = BodySkin::default();
        for id in skeleton.ids() {
            let points = &own[id.index()];
            let part = match part_of(id) {
                Some(Role::Hand(side) | Role::Finger(side, ..)) => {
                    &mut skin.hands[usize::from(side == Side::Right)]
                }
                Some(Role::Hips | Role::Spine(_) | Role::UpperLeg(_)) => &mut skin.body,
                _ => continue,
            };
            let around = directions().flat_map(|d| [d, -d]);
            let mut furthest: Vec<usize> = around.filter_map(|d| support(points, &d)).collect();
            furthest.sort_unstable();
            furthest.dedup();
            part.extend(furthest.into_iter().map(|k| (id, points[k])));
        }
        let stand = character.calibration_pose();
        let feet = contact_points(character, rig).into_iter().filter(|p| p.part.of_foot());
        let sole = feet.map(|p| stand.joint(p.joint).point(&p.at).y).min_by(f64::total_cmp);
        let low = lowest(&skin.body, &stand);
        skin.below = sole.filter(|_| low.is_finite()).map_or(0.0, |sole| (sole - low).max(0.0));
        skin
    }

    /// The height of the lowest of trunk and thighs, what they reach below the soles at rest taken off; infinite of a
    /// body without skin.
    pub fn lowest(&self, pose: &ModelPose) -> f64 {
        lowest(&self.body, pose) + self.below
    }

    /// The height of the lowest of the left and of the right hand, likewise.
    pub fn lowest_of_hands(&self, pose: &ModelPose) -> [f64; 2] {
        [0, 1].map(|k| lowest(&self.hands[k], pose))
    }
}

fn lowest(points: &[(JointId, Vec3)], pose: &ModelPose) -> f64 {
    let of_joint = |points: &[(JointId, Vec3)]| {
        let joint = pose.joint(points[0].0);
        let up = joint.rotation.inverse() * Vec3::y();
        // Not `f64::min`, which looks for what is no number at every point.
        let lower = |low: f64, at: f64| if at < low { at } else { low };
        joint.translation.y + points.iter().map(|(_, at)| up.dot(at)).fold(f64::INFINITY, lower)
    };
    points.chunk_by(|a, b| a.0 == b.0).map(of_joint).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat4, Transform, exp};
    use crate::model::{Assignment, Binding, Joint, Mesh, Skeleton};

    #[test]
    fn the_lowest_point_is_the_lowest_of_all_where_their_joints_take_them() {
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
    fn a_hand_may_hang_beneath_its_wrist_or_be_several_palms_and_weapons_are_none() {
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
        let role = |role, joint| (role, Assignment::new(JointId::new(joint), 1.0, "told"));
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
        let skin = BodySkin::of(&character, &character.rig);
        let left: Vec<usize> = skin.hands[0].iter().map(|(joint, _)| joint.index()).collect();
        assert_eq!(left, [1, 2, 4, 5]);
        assert!(skin.hands[1].is_empty() && skin.body.is_empty());
    }
}
