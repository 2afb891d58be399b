//! Computes the animation tracks of the file's own nodes from a clip of joints; node scale is taken into account.
//!
//! For every frame the node tree is traversed from the scene down with the transforms as they will be played, including the
//! rounding to `f32`. With `A_p` the affine map of the parent as played, `R_p` its rotation, and `p`, `R` the wanted position
//! and rotation of the joint: `translation = A_p^-1 * p` and `rotation = R_p^T * R`. Non-uniform scale of a parent rotates its
//! children, so there the rotation is corrected iteratively until the played frame is the wanted one. Node scale is kept.
//! If no scale is non-uniform and the node hierarchy matches the joints, `local_tracks` computes the same in local space,
//! without the traversal.
//!
//! Space: wanted poses in the file's own world, tracks local to the parent node. Units: metres, seconds.

use super::local_tracks::{self, NodePlayback, Rotations};
use super::rest_thresholds::{STILL, STRETCH, UNROTATED};
use crate::gltf_document::{LocalTransform, NodeTree, WorldTransform};
use crate::kinematics::figure_size;
use crate::math::{Quat, RawQuat, Transform, Vec3, same_hemisphere};
use crate::model::{Clip, ModelPose, Skeleton};
use crate::parallel;
use std::ops::Range;

/// The rotation error at which the correction for non-uniform scale stops, radians.
const ALIGNED: f64 = 1e-8;
/// Frames that one thread traverses: enough that starting costs nothing, few enough that short clips use all threads.
const BLOCK: usize = 128;
/// The maximum number of corrections.
const MAX_CORRECTIONS: usize = 12;

/// Animation of one property of a node: a value for each frame.
pub(super) struct NodeTrack<'a> {
    pub(super) node: usize,
    /// Whether the property is the rotation, else the translation.
    pub(super) rotation: bool,
    pub(super) values: TrackValues<'a>,
    /// Whether all values are equal.
    pub(super) constant: bool,
}

/// The numbers of a track.
pub(super) enum TrackValues<'a> {
    /// Three or four numbers for each value.
    Ready(Vec<f32>),
    /// Rotations that are computed when they are written.
    Local(Rotations<'a>),
}

impl TrackValues<'_> {
    /// The numbers of every frame.
    pub(super) fn into_numbers(self, frames: usize) -> Vec<f32> {
        match self {
            Self::Ready(values) => values,
            Self::Local(rotations) => {
                let mut bytes = vec![0; 16 * frames];
                local_tracks::write(&mut [(rotations, &mut bytes)]);
                bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
            }
        }
    }
}

/// A node of the traversal, with its tracks.
#[derive(Clone)]
struct NodeStep {
    node: usize,
    parent: Option<usize>,
    joint: Option<usize>,
    translations: Vec<f32>,
    rotations: Vec<f32>,
    moved: bool,
    rotated: bool,
}

impl NodeStep {
    /// Appends the tracks of the next frames. The sign of a rotation follows that of the frame before.
    fn append(&mut self, next: NodeStep) {
        let ends = (self.rotations.last_chunk::<4>(), next.rotations.first_chunk::<4>());
        let opposite = matches!(ends, (Some(last), Some(first))
            if last.iter().zip(first).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() < 0.0);
        self.rotations.extend(next.rotations.iter().map(|x| if opposite { -x } else { *x }));
        self.translations.extend(next.translations);
        self.moved |= next.moved;
        self.rotated |= next.rotated;
    }
}

fn rounded(v: &Vec3) -> Vec3 {
    v.map(|x| f64::from(x as f32))
}

fn rounded_quat(q: &Quat) -> [f32; 4] {
    // Normalised again after rounding, so that the stored numbers are as close to unit length as `f32` allows.
    let c = [q.i as f32, q.j as f32, q.k as f32, q.w as f32];
    let norm = c.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    c.map(|x| (f64::from(x) / norm) as f32)
}

fn widened(c: [f32; 4]) -> Quat {
    let [x, y, z, w] = c.map(f64::from);
    Quat::new_normalize(RawQuat::new(w, x, y, z))
}

/// The tracks with which the nodes of `tree` play `clip`, in node order, translations first.
///
/// `nodes` are the nodes of the joints; `file_from_model` undoes the rotation of the importer. A clip that never leaves the
/// rest pose still gets one rotation track, because an animation needs one.
pub(super) fn tracks<'a>(
    tree: &NodeTree,
    nodes: &[Option<usize>],
    skeleton: &Skeleton,
    clip: &'a Clip,
    file_from_model: Quat,
) -> Vec<NodeTrack<'a>> {
    let size = figure_size(skeleton);
    let joint_of = joint_of(tree, nodes);
    if let Some(nodes) = local_tracks::playback(tree, &joint_of, skeleton, clip, file_from_model, size) {
        return collect(nodes.into_iter().map(NodeEnds::from).collect());
    }
    traversed(tree, nodes, skeleton, clip, file_from_model, size)
}

/// As [`tracks`], for any node hierarchy.
fn traversed<'a>(
    tree: &NodeTree,
    nodes: &[Option<usize>],
    skeleton: &Skeleton,
    clip: &Clip,
    file_from_model: Quat,
    size: f64,
) -> Vec<NodeTrack<'a>> {
    let still = STILL * size;
    let mut steps = steps(tree, nodes, clip.frames());
    let mut worlds = vec![WorldTransform::identity(); steps.len()];
    // Nodes above all joints do not move.
    let mut fixed = vec![false; steps.len()];
    for (k, step) in steps.iter().enumerate() {
        fixed[k] = step.joint.is_none() && step.parent.is_none_or(|p| fixed[p]);
        worlds[k] =
            step.parent.map_or(WorldTransform::identity(), |p| worlds[p]).child(&tree.node(step.node).local);
    }
    let world_from_model = Transform::from_rotation(file_from_model);
    // Without tracks.
    let empty = steps.clone();
    let block = |frames: Range<usize>| {
        let (mut steps, mut worlds) = (empty.clone(), worlds.clone());
        let mut pose = skeleton.rest_pose();
        let mut model = ModelPose::new(Vec::with_capacity(skeleton.len()));
        for frame in frames {
            clip.read_pose(frame, &mut pose);
            model.set(skeleton, &pose);
            for k in (0..steps.len()).filter(|k| !fixed[*k]) {
                let step = &mut steps[k];
                let parent = step.parent.map_or(WorldTransform::identity(), |p| worlds[p]);
                let mut local = tree.node(step.node).local;
                if let Some(joint) = step.joint {
                    local = play(step, &parent, local, &(world_from_model * model.joints()[joint]), still);
                }
                worlds[k] = parent.child(&local);
            }
        }
        steps
    };
    // A block for each thread at a time bounds the memory.
    let starts: Vec<usize> = (0..clip.frames()).step_by(BLOCK).collect();
    for starts in starts.chunks(crate::parallel::threads()) {
        let frames = |&start: &usize| block(start..(start + BLOCK).min(clip.frames()));
        for block in parallel::map_each(starts, 1, frames) {
            steps.iter_mut().zip(block).for_each(|(step, next)| step.append(next));
        }
    }
    collect(steps.into_iter().filter(|s| s.joint.is_some()).map(NodeEnds::from).collect())
}

/// The local transform that the node plays in this frame, recorded in its step.
fn play(
    step: &mut NodeStep,
    parent: &WorldTransform,
    rest: LocalTransform,
    wanted: &Transform,
    still: f64,
) -> LocalTransform {
    // A matrix cannot be animated: joints get translation, rotation and scale.
    let mut local = LocalTransform { matrix: None, ..rest };
    if let Some(translation) = parent.inverse_point(&wanted.translation) {
        let off = parent.vector(&(translation - rest.translation)).norm();
        if off > still.min(STRETCH * parent.vector(&rest.translation).norm()).max(1e-2 * still) {
            local.translation = rounded(&translation);
            step.moved = true;
        }
    }
    let mut rotation = parent.rigid().0.rotation.inverse() * wanted.rotation;
    for _ in 0..MAX_CORRECTIONS {
        local.rotation = rotation;
        let played = parent.child(&local);
        if !played.is_non_uniform() {
            break;
        }
        let error = played.rigid().0.rotation.inverse() * wanted.rotation;
        if error.angle() < ALIGNED {
            break;
        }
        rotation *= error;
    }
    let previous = match step.rotations.last_chunk::<4>() {
        Some(last) => widened(*last),
        None => rest.rotation,
    };
    let rotation = same_hemisphere(rotation, &previous);
    let near_rest = same_hemisphere(rotation, &rest.rotation);
    let values = if (near_rest.coords - rest.rotation.coords).amax() < UNROTATED {
        local.rotation = rest.rotation;
        rounded_quat(&same_hemisphere(rest.rotation, &previous))
    } else {
        step.rotated = true;
        let values = rounded_quat(&rotation);
        local.rotation = widened(values);
        values
    };
    step.rotations.extend(values);
    step.translations.extend(local.translation.iter().map(|x| *x as f32));
    local
}

/// The joint of each node.
pub(super) fn joint_of(tree: &NodeTree, nodes: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut joint_of = vec![None; tree.nodes().len()];
    for (joint, node) in nodes.iter().enumerate() {
        if let Some(node) = node.filter(|n| *n < joint_of.len()) {
            joint_of[node] = Some(joint);
        }
    }
    joint_of
}

fn steps(tree: &NodeTree, nodes: &[Option<usize>], frames: usize) -> Vec<NodeStep> {
    let joint_of = joint_of(tree, nodes);
    let mut needed = vec![false; tree.nodes().len()];
    for node in nodes.iter().flatten().copied().filter(|n| *n < joint_of.len()) {
        for n in tree.path_to_top(node) {
            if std::mem::replace(&mut needed[n], true) {
                break;
            }
        }
    }
    let mut step_of = vec![None; needed.len()];
    let mut steps: Vec<NodeStep> = Vec::new();
    for &node in tree.order().iter().filter(|&&n| needed[n]) {
        step_of[node] = Some(steps.len());
        let keys = if joint_of[node].is_some() { frames } else { 0 };
        steps.push(NodeStep {
            node,
            parent: tree.node(node).parent.and_then(|p| step_of[p]),
            joint: joint_of[node],
            translations: Vec::with_capacity(3 * keys),
            rotations: Vec::with_capacity(4 * keys),
            moved: false,
            rotated: false,
        });
    }
    steps
}

/// Result of either method for one joint: values, and whether they are all equal; `None` for a joint at rest.
struct NodeEnds<'a> {
    node: usize,
    translations: Option<(Vec<f32>, bool)>,
    rotations: (TrackValues<'a>, bool),
    rotated: bool,
}

/// Whether all values, each of `width` numbers, are equal.
fn holds(values: &[f32], width: usize) -> bool {
    values.chunks_exact(width).all(|v| *v == values[..width])
}

impl From<NodeStep> for NodeEnds<'_> {
    fn from(step: NodeStep) -> Self {
        let NodeStep { node, translations, rotations, moved, rotated, .. } = step;
        let constant = holds(&rotations, 4);
        Self {
            node,
            translations: moved.then(|| (holds(&translations, 3), translations)).map(|(h, t)| (t, h)),
            rotations: (TrackValues::Ready(rotations), constant),
            rotated,
        }
    }
}

impl<'a> From<NodePlayback<'a>> for NodeEnds<'a> {
    fn from(playback: NodePlayback<'a>) -> Self {
        let NodePlayback { node, translations, rotations, rotated, constant } = playback;
        let translations = translations.map(|t| (holds(&t, 3), t)).map(|(h, t)| (t, h));
        Self { node, translations, rotations: (TrackValues::Local(rotations), constant), rotated }
    }
}

fn collect(mut ends: Vec<NodeEnds>) -> Vec<NodeTrack> {
    let rests = !ends.iter().any(|e| e.rotated || e.translations.is_some());
    if rests {
        let first = ends.drain(..).take(1);
        let track = |NodeEnds { node, rotations: (values, _), .. }| NodeTrack {
            node,
            rotation: true,
            values,
            constant: false,
        };
        return first.map(track).collect();
    }
    ends.sort_by_key(|e| e.node);
    let mut tracks = Vec::new();
    for NodeEnds { node, translations, rotations, rotated } in ends {
        if let Some((values, constant)) = translations {
            tracks.push(NodeTrack { node, rotation: false, values: TrackValues::Ready(values), constant });
        }
        if rotated {
            let (values, constant) = rotations;
            tracks.push(NodeTrack { node, rotation: true, values, constant });
        }
    }
    if tracks.iter().all(|t| t.constant) {
        // One track with all frames preserves the frame count of a clip that holds a pose.
        tracks.iter_mut().take(1).for_each(|t| t.constant = false);
    }
    tracks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gltf_document::Json;
    use crate::math::exp;
    use crate::model::{Joint, JointId};
    use crate::report::Warnings;

    fn numbers(track: NodeTrack) -> (usize, bool, bool, Vec<f32>) {
        let (node, rotation, constant) = (track.node, track.rotation, track.constant);
        (node, rotation, constant, track.values.into_numbers(FRAMES))
    }

    const FRAMES: usize = 200;

    #[test]
    fn both_methods_play_the_same() {
        // A rotated and scaled node above the root, another between two joints, and a scaled joint.
        let text = r#"{"nodes":[
            {"children":[1],"translation":[1,2,3],"rotation":[0,0.6,0,0.8],"scale":[2,2,2]},
            {"children":[2,5]}, {"children":[3],"translation":[0,0.5,0],"scale":[0.5,0.5,0.5]},
            {"children":[4],"translation":[0.1,0.2,0],"rotation":[0.6,0,0,0.8],"scale":[3,3,3]},
            {"translation":[0,0.25,0]}, {"translation":[0.5,0,0],"scale":[1,2,3]}]}"#;
        let tree = NodeTree::read(&Json::parse(text, 0).unwrap(), &mut Warnings::new()).unwrap();
        let nodes = [Some(1), Some(2), Some(4), Some(5)];
        let worlds = tree.worlds();
        let file_from_model = exp(&Vec3::new(0.0, -1.2, 0.0));
        let mut joints: Vec<Joint> = Vec::new();
        let mut frames: Vec<Transform> = Vec::new();
        for (k, parent) in [None, Some(0), Some(1), Some(0)].into_iter().enumerate() {
            let model =
                Transform::from_rotation(file_from_model.inverse()) * worlds[nodes[k].unwrap()].rigid().0;
            let rest = parent.map_or(model, |p: usize| frames[p].inverse() * model);
            frames.push(model);
            joints.push(Joint::new(format!("j{k}"), parent.map(JointId::new), rest));
        }
        let skeleton = Skeleton::new(joints).unwrap();
        // The first joint rotates over more than half a turn and travels, the second rotates late, the third rotates and stretches,
        // the last is at rest.
        let rotation = |f: usize, k: usize| match k {
            3 => Quat::identity(),
            1 if f < 150 => Quat::identity(),
            _ => exp(&Vec3::new(0.03 * f as f64, 0.3 * k as f64, (0.02 * f as f64).sin())),
        };
        let rests: Vec<Transform> = skeleton.joints().iter().map(|j| j.rest).collect();
        let rotations = (0..FRAMES * 4).map(|i| rests[i % 4].rotation * rotation(i / 4, i % 4)).collect();
        let position =
            |f: usize, k: usize| rests[k].translation + Vec3::new(0.0, (0.1 * f as f64).sin(), 0.0);
        let translations = (0..FRAMES).flat_map(|f| [position(f, 0), position(f, 2)]).collect();
        let translated = vec![JointId::new(0), JointId::new(2)];
        let clip = Clip::new("", 60.0, 4, rotations, translated, translations);

        let local = tracks(&tree, &nodes, &skeleton, &clip, file_from_model);
        assert!(local.iter().any(|t| matches!(t.values, TrackValues::Local(_))));
        let size = figure_size(&skeleton);
        let walk = traversed(&tree, &nodes, &skeleton, &clip, file_from_model, size);
        let (local, walk): (Vec<_>, Vec<_>) =
            (local.into_iter().map(numbers).collect(), walk.into_iter().map(numbers).collect());
        // The traversal compensates for the rounding of the joints above; in local space there is none to compensate.
        let same = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2e-6);
        for track in &local {
            let other = walk.iter().find(|w| w.0 == track.0 && w.1 == track.1).unwrap();
            assert_eq!((track.2, track.3.len()), (other.2, other.3.len()));
            assert!(same(&track.3, &other.3), "node {} rotation {}", track.0, track.1);
        }
        let listed: Vec<_> = local.iter().map(|t| (t.0, t.1)).collect();
        assert_eq!(listed, [(1, false), (1, true), (2, true), (4, false), (4, true)]);
    }
}
