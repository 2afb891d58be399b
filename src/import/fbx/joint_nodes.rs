//! Selects the nodes of a scene that are joints.
//!
//! With skins: the nodes of clusters, the parents of rigid meshes, and the bones above them; without: every bone. Control
//! rigs, effectors, cameras and nulls without a mesh are not part of the figure. Nodes between two joints also become joints
//! on import.

use ufbx::{Node, Scene, Transform};

/// The joints of a scene, by node.
pub(super) struct JointNodes {
    /// Whether each node is a joint.
    pub(super) is: Vec<bool>,
    /// Whether skins say so.
    pub(super) skinned: bool,
}

impl JointNodes {
    /// The joints in node order.
    pub(super) fn list(&self) -> Vec<usize> {
        (0..self.is.len()).filter(|n| self.is[*n]).collect()
    }
}

/// The local rest transform of every node.
pub(super) type RestPose = Vec<Transform>;

/// The index of a node in the scene.
pub(super) fn index(node: &Node) -> usize {
    node.element.typed_id as usize
}

/// The node and its ancestors.
fn path_to_top<'a>(scene: &'a Scene, node: usize) -> impl Iterator<Item = usize> + 'a {
    std::iter::successors(Some(node), |n| scene.nodes.get(*n)?.parent.as_ref().map(|p| index(p)))
}

/// The joints of the scene.
pub(super) fn joints(scene: &Scene) -> JointNodes {
    // The reader moves a bone's attributes to its scale helper node, if there is one.
    let helper = |n: usize| scene.nodes[n].scale_helper.as_ref();
    let is_bone = |n: usize| scene.nodes[n].bone.is_some() || helper(n).is_some_and(|h| h.bone.is_some());
    let mut is = vec![false; scene.nodes.len()];
    let clustered = scene.skin_clusters.iter().filter_map(|c| c.bone_node.as_ref().map(|b| index(b)));
    let clustered: Vec<usize> = clustered.collect();
    let skinned = !clustered.is_empty();
    if skinned {
        let rigid = |n: &&ufbx::Ref<Node>| n.mesh.as_ref().is_some_and(|m| m.skin_deformers.is_empty());
        let rigid_parents = scene.nodes.iter().filter(rigid).filter_map(|n| {
            let above = path_to_top(scene, index(n)).skip(1);
            above.take_while(|n| *n != 0).find(|n| is_bone(*n))
        });
        let mut seen = vec![false; scene.nodes.len()];
        for node in clustered.iter().copied().chain(rigid_parents) {
            is[node] = true;
            let new = path_to_top(scene, node).take_while(|n| !std::mem::replace(&mut seen[*n], true));
            new.filter(|n| is_bone(*n)).for_each(|n| is[n] = true);
        }
        return JointNodes { is, skinned };
    }
    is.iter_mut().enumerate().for_each(|(n, is)| *is = is_bone(n));
    if !is.iter().any(|is| *is) {
        // Bones may be nulls: all nodes below the scene that are not a mesh, light or camera.
        for (n, node) in scene.nodes.iter().enumerate() {
            is[n] = !node.is_root && node.mesh.is_none() && node.light.is_none() && node.camera.is_none();
        }
    }
    if !is.iter().any(|is| *is) {
        is.fill(true);
    }
    JointNodes { is, skinned }
}
