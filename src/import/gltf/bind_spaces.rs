//! The spaces in which a skin may have been bound, and which of them the body stands in.
//!
//! Space: the file's own world. Units: metres, radians.

use super::node_joints::Joints;
use crate::anatomy::detect_roles;
use crate::gltf_document::{Affine, NodeTree, WorldTransform};
use crate::math::{Quat, Vec3, angle_between, nearest_rotation};
use crate::model::{JointId, ModelPose, Role, Side};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_4;

/// The largest angle between up and the legs in a bind pose that stands: of spaces a quarter circle apart, one at most has less.
pub(super) const STANDS: f64 = FRAC_PI_4;

/// Angle by which one pose has to face the front more than another, radians: bodies are asymmetric by a degree.
const CLEARLY: f64 = 0.05;

/// A joint of a skin, its node, and its bind pose in the space of the skin.
pub(super) type BoundJoint = (JointId, usize, Affine);

/// The spaces in which a skin may have been bound: those of the nodes with skinned meshes, and of their ancestors.
pub(super) struct BindSpaces<'a> {
    pub(super) worlds: &'a [WorldTransform],
    /// These nodes, each once, with a node with a skinned mesh at or below it.
    pub(super) mesh_nodes: Vec<(usize, usize)>,
    rotations: Vec<Option<Quat>>,
    /// The joints of the legs, once they are needed.
    legs: OnceCell<Option<Legs>>,
}

/// The thighs and the feet.
type Legs = [[JointId; 2]; 2];

impl<'a> BindSpaces<'a> {
    pub(super) fn of(tree: &NodeTree, worlds: &'a [WorldTransform]) -> Self {
        let mut seen = vec![false; worlds.len()];
        let mut mesh_nodes = Vec::new();
        for (i, node) in tree.nodes().iter().enumerate() {
            if node.skin.is_some() && node.mesh.is_some() {
                let new = tree.path_to_top(i).take_while(|&n| !std::mem::replace(&mut seen[n], true));
                mesh_nodes.extend(new.map(|n| (n, i)));
            }
        }
        let rotations = worlds.iter().map(|w| Some(nearest_rotation(&w.linear())?.0)).collect();
        Self { worlds, mesh_nodes, rotations, legs: OnceCell::new() }
    }

    /// The direction of the legs from the feet up in the space of a skin; `None` for a skin without two legs.
    pub(super) fn legs_up(&self, attached: &[BoundJoint], joints: &Joints, rest: &ModelPose) -> Option<Vec3> {
        let find = || {
            let humanoid = joints.humanoid.as_ref().map_or(&[][..], |h| h.bones.as_slice());
            let rig = detect_roles(joints.skeleton.clone(), rest, humanoid);
            let both =
                |role: fn(Side) -> Role| Some([rig.joint(role(Side::Left))?, rig.joint(role(Side::Right))?]);
            Some([both(Role::UpperLeg)?, both(Role::Foot)?])
        };
        self.legs.get_or_init(find);
        self.legs_at(|id| attached.iter().find(|a| a.0 == id).map(|a| a.2.translation))
    }

    /// The direction of the legs from the feet up, by the places of joints.
    fn legs_at(&self, at: impl Fn(JointId) -> Option<Vec3>) -> Option<Vec3> {
        let [thighs, feet] = self.legs.get().copied().flatten()?;
        let middle = |[l, r]: [JointId; 2]| Some((at(l)? + at(r)?) * 0.5);
        (middle(thighs)? - middle(feet)?).try_normalize(1e-12)
    }

    /// Whether the body stands and faces +Z at rest, and more so by [`CLEARLY`] than as its skin was bound.
    pub(super) fn front_is_nearer_at_rest(
        &self,
        attached: &[BoundJoint],
        joints: &Joints,
        rest: &ModelPose,
        (rotation, side): &(Quat, f64),
    ) -> bool {
        let Some(up) = self.legs_up(attached, joints, rest) else { return false };
        let Some([[left, right], _]) = self.legs.get().copied().flatten() else { return false };
        let bound = |id: JointId| attached.iter().find(|a| a.0 == id).map(|a| a.2.translation);
        let Some(across) = bound(left).zip(bound(right)).map(|(left, right)| left - right) else {
            return false;
        };
        let off = |across: Vec3, up: Vec3| {
            angle_between(&across.cross(&up), &Vec3::z()).max(angle_between(&up, &Vec3::y()))
        };
        let legs = self.legs_at(|id| Some(rest.position(id)));
        let at_rest = legs.map(|up| off(rest.position(left) - rest.position(right), up));
        let as_bound = off(rotation * across * *side, rotation * up * *side);
        at_rest.is_some_and(|at_rest| at_rest < STANDS && at_rest + CLEARLY < as_bound)
    }

    /// World space, the spaces of the ancestors of `top`, and those of `mesh_nodes` except for meshes on `joints`.
    pub(super) fn candidates(&self, top: usize, joints: &[usize], tree: &NodeTree) -> Vec<(Affine, Quat)> {
        let joints: BTreeSet<usize> = joints.iter().copied().collect();
        let mesh_nodes = self.mesh_nodes.iter().filter(|(_, by)| !joints.contains(by)).map(|(n, _)| *n);
        let space = |n: usize| Some((self.worlds[n].affine(), self.rotations[n]?));
        let own = std::iter::once((WorldTransform::identity().affine(), Quat::identity()));
        own.chain(tree.path_to_top(top).skip(1).chain(mesh_nodes).filter_map(space)).collect()
    }
}
