//! Decides for each joint of an animation how its local transform is computed, and which nodes are evaluated for it.

use super::interpolation::KeyTrack;
use super::node_joints::Joints;
use crate::gltf_document::{LocalTransform, NodeTree, WorldTransform};
use crate::math::Transform;
use crate::model::JointId;

/// A node on the path from the scene to a joint.
#[derive(Clone)]
pub(super) struct AnimatedNode {
    pub(super) local: LocalTransform,
    pub(super) parent: Option<usize>,
    /// The tracks of translation, rotation and scale.
    pub(super) tracks: [Option<usize>; 3],
    pub(super) joint: Option<JointId>,
}

/// The joints' nodes and their ancestors, parents first, and the index of each node in that list.
pub(super) fn steps(tree: &NodeTree, joints: &Joints) -> (Vec<AnimatedNode>, Vec<Option<usize>>) {
    let mut needed = vec![false; tree.nodes().len()];
    for node in joints.nodes.iter().flatten() {
        for n in tree.path_to_top(*node) {
            if std::mem::replace(&mut needed[n], true) {
                break;
            }
        }
    }
    let mut step_of = vec![None; needed.len()];
    let mut steps = Vec::new();
    for &n in tree.order().iter().filter(|&&n| needed[n]) {
        let node = tree.node(n);
        step_of[n] = Some(steps.len());
        steps.push(AnimatedNode {
            local: node.local,
            parent: node.parent.and_then(|p| step_of[p]),
            tracks: [None; 3],
            joint: joints.of_node[n],
        });
    }
    (steps, step_of)
}

/// Where a joint's local transform comes from.
pub(super) enum JointMotion {
    /// Its own node: the index of the step, and the scale of its ancestors, in metres per unit of its translation.
    Node(usize, f64),
    /// It does not move relative to its parent.
    Fixed(Transform),
    /// The world transforms of its node and its parent's.
    World,
}

/// How each joint is sampled, and the nodes that have to be evaluated.
pub(super) struct SamplingPlan<'a> {
    pub(super) steps: &'a [AnimatedNode],
    pub(super) tracks: &'a [KeyTrack<'a>],
    pub(super) joints: &'a Joints,
    pub(super) sources: Vec<JointMotion>,
    /// The joints that are computed from world transforms.
    pub(super) from_world: Vec<JointId>,
    /// The steps whose world transforms change and are needed, parents first.
    pub(super) evaluated: Vec<usize>,
    /// The world transforms of all steps at rest.
    pub(super) worlds: Vec<WorldTransform>,
}

impl<'a> SamplingPlan<'a> {
    pub(super) fn new(steps: &'a [AnimatedNode], tracks: &'a [KeyTrack<'a>], joints: &'a Joints) -> Self {
        let skeleton = &joints.skeleton;
        let mut worlds = Vec::with_capacity(steps.len());
        let (mut moves, mut scaled) = (vec![false; steps.len()], vec![false; steps.len()]);
        for (k, step) in steps.iter().enumerate() {
            moves[k] = step.tracks != [None; 3] || step.parent.is_some_and(|p| moves[p]);
            scaled[k] = step.tracks[2].is_some() || step.parent.is_some_and(|p| scaled[p]);
            worlds.push(
                step.parent.map_or(WorldTransform::identity(), |p: usize| worlds[p]).child(&step.local),
            );
        }
        let mut step_of = vec![None; skeleton.len()];
        for (k, step) in steps.iter().enumerate() {
            step.joint.into_iter().for_each(|joint| step_of[joint.index()] = Some(k));
        }
        let source = |joint: JointId| -> Option<JointMotion> {
            let s = step_of[joint.index()]?;
            let above = steps[s].parent?;
            let same_parent = steps[above].joint.is_some() && steps[above].joint == skeleton.parent(joint);
            let plain = !scaled[s] && steps[s].local.matrix.is_none() && steps[s].local.scale.min() > 0.0;
            let scale = worlds[above].uniform_scale()?;
            let source = match steps[s].tracks {
                [None, None, _] => {
                    JointMotion::Fixed(worlds[above].rigid().0.inverse() * worlds[s].rigid().0)
                }
                _ => JointMotion::Node(s, scale),
            };
            (same_parent && plain).then_some(source)
        };
        let sources: Vec<JointMotion> =
            skeleton.ids().map(|joint| source(joint).unwrap_or(JointMotion::World)).collect();
        let mut needed_steps = vec![false; steps.len()];
        let uses_world = |joint: &JointId| matches!(sources[joint.index()], JointMotion::World);
        let from_world: Vec<JointId> = skeleton.ids().filter(uses_world).collect();
        for joint in &from_world {
            for id in [Some(*joint), skeleton.parent(*joint)].into_iter().flatten() {
                step_of[id.index()].into_iter().for_each(|s: usize| needed_steps[s] = true);
            }
        }
        for k in (0..steps.len()).rev() {
            if let Some(above) = steps[k].parent.filter(|_| needed_steps[k]) {
                needed_steps[above] = true;
            }
        }
        let evaluated = (0..steps.len()).filter(|k| needed_steps[*k] && moves[*k]).collect();
        Self { steps, tracks, joints, sources, from_world, evaluated, worlds }
    }
}
