//! A clip in normal form becomes node tracks: what the file's own nodes have to play, scale un-folded.
//!
//! For every frame the nodes are walked down from the scene as they will be played, rounding to `f32` included.
//! With `A_p` the affine place of the parent as played, `R_p` its rotation, and `p`, `R` where the joint shall
//! be: `translation = A_p^-1 * p` and `rotation = R_p^T * R`; a parent whose scale is uneven turns what hangs
//! below it, so there the rotation is corrected until the played frame is the wanted one. Node scale stays.
//!
//! Space: wanted poses in the file's own world, tracks local to the parent node. Units: metres, seconds.

use crate::math::{Quat, RawQuat, Transform, Vec3, same_hemisphere};
use crate::model::{Clip, ModelPose, Skeleton};
use crate::scene::{Local, NodeTree, World, figure_size};

/// A joint that leaves its rest translation by less, relative to the size of the figure, rests,
const STILL: f64 = 1e-7;
/// unless that changes its bone's length by more than this part of it.
const STRETCH: f64 = 3e-7;
/// A quaternion this close to that of the rest pose, in each number, is the rest pose.
const UNTURNED: f64 = 1e-7;
/// Where the correction for uneven scale stops, in radians, and after how many rounds at the latest.
const ALIGNED: f64 = 1e-8;
const ROUNDS: usize = 12;

/// What one property of a node plays: one value for each frame, or one for all of them.
pub(super) struct NodeTrack {
    pub(super) node: usize,
    pub(super) rotation: bool,
    /// Three or four numbers for each value.
    pub(super) values: Vec<f32>,
    pub(super) constant: bool,
}

struct Step {
    node: usize,
    parent: Option<usize>,
    joint: Option<usize>,
    translations: Vec<f32>,
    rotations: Vec<f32>,
    moved: bool,
    turned: bool,
}

fn rounded(v: &Vec3) -> Vec3 {
    v.map(|x| f64::from(x as f32))
}

fn rounded_quat(q: &Quat) -> [f32; 4] {
    // Normalised once more in `f32`, so that the stored numbers are as close to unit length as they can be.
    let c = [q.i as f32, q.j as f32, q.k as f32, q.w as f32];
    let norm = c.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    c.map(|x| (f64::from(x) / norm) as f32)
}

fn widened(c: [f32; 4]) -> Quat {
    let [x, y, z, w] = c.map(f64::from);
    Quat::new_normalize(RawQuat::new(w, x, y, z))
}

/// The tracks that make the nodes of `tree` play `clip`, in node order, translations first.
///
/// `nodes` are the nodes of the joints and `file_from_model` undoes the turn of the import. A clip that never
/// leaves the rest pose still gets one rotation track, because an animation needs one.
pub(super) fn tracks(
    tree: &NodeTree,
    nodes: &[Option<usize>],
    skeleton: &Skeleton,
    clip: &Clip,
    file_from_model: Quat,
) -> Vec<NodeTrack> {
    let still = STILL * figure_size(skeleton);
    let mut steps = steps(tree, nodes, clip.frames());
    let mut worlds = vec![World::identity(); steps.len()];
    // Above the joints nothing moves.
    let mut fixed = vec![false; steps.len()];
    for (k, step) in steps.iter().enumerate() {
        fixed[k] = step.joint.is_none() && step.parent.is_none_or(|p| fixed[p]);
        worlds[k] = step.parent.map_or(World::identity(), |p| worlds[p]).child(&tree.node(step.node).local);
    }
    let turn = Transform::from_rotation(file_from_model);
    let mut pose = skeleton.rest_pose();
    let mut model = ModelPose::new(Vec::with_capacity(skeleton.len()));
    for frame in 0..clip.frames() {
        clip.read_pose(frame, &mut pose);
        model.set(skeleton, &pose);
        for k in 0..steps.len() {
            if fixed[k] {
                continue;
            }
            let step = &mut steps[k];
            let parent = step.parent.map_or(World::identity(), |p| worlds[p]);
            let mut local = tree.node(step.node).local;
            if let Some(joint) = step.joint {
                local = play(step, &parent, local, &(turn * model.joints()[joint]), still);
            }
            worlds[k] = parent.child(&local);
        }
    }
    collect(steps)
}

/// The local transform that the node plays in this frame, recorded in its step.
fn play(step: &mut Step, parent: &World, rest: Local, wanted: &Transform, still: f64) -> Local {
    // A matrix cannot be animated: a joint is played as translation, rotation and scale.
    let mut local = Local { matrix: None, ..rest };
    if let Some(translation) = parent.inverse_point(&wanted.translation) {
        let off = parent.vector(&(translation - rest.translation)).norm();
        if off > still.min(STRETCH * parent.vector(&rest.translation).norm()).max(1e-2 * still) {
            local.translation = rounded(&translation);
            step.moved = true;
        }
    }
    let mut rotation = parent.rigid().0.rotation.inverse() * wanted.rotation;
    for _ in 0..ROUNDS {
        local.rotation = rotation;
        let played = parent.child(&local);
        if !played.is_uneven() {
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
    let values = if (near_rest.coords - rest.rotation.coords).amax() < UNTURNED {
        local.rotation = rest.rotation;
        rounded_quat(&same_hemisphere(rest.rotation, &previous))
    } else {
        step.turned = true;
        let values = rounded_quat(&rotation);
        local.rotation = widened(values);
        values
    };
    step.rotations.extend(values);
    step.translations.extend(local.translation.iter().map(|x| *x as f32));
    local
}

fn steps(tree: &NodeTree, nodes: &[Option<usize>], frames: usize) -> Vec<Step> {
    let mut joint_of = vec![None; tree.nodes().len()];
    let mut needed = vec![false; tree.nodes().len()];
    for (joint, node) in nodes.iter().enumerate() {
        let Some(node) = node.filter(|n| *n < needed.len()) else { continue };
        joint_of[node] = Some(joint);
        for n in tree.path_to_top(node) {
            if std::mem::replace(&mut needed[n], true) {
                break;
            }
        }
    }
    let mut step_of = vec![None; needed.len()];
    let mut steps: Vec<Step> = Vec::new();
    for &node in tree.order().iter().filter(|&&n| needed[n]) {
        step_of[node] = Some(steps.len());
        let keys = if joint_of[node].is_some() { frames } else { 0 };
        steps.push(Step {
            node,
            parent: tree.node(node).parent.and_then(|p| step_of[p]),
            joint: joint_of[node],
            translations: Vec::with_capacity(3 * keys),
            rotations: Vec::with_capacity(4 * keys),
            moved: false,
            turned: false,
        });
    }
    steps
}

fn collect(mut steps: Vec<Step>) -> Vec<NodeTrack> {
    let first = steps.iter().position(|s| s.joint.is_some());
    if let Some(first) = first.filter(|_| !steps.iter().any(|s| s.moved || s.turned)) {
        let node = steps[first].node;
        let values = std::mem::take(&mut steps[first].rotations);
        return vec![NodeTrack { node, rotation: true, values, constant: false }];
    }
    steps.sort_by_key(|s| s.node);
    let mut tracks = Vec::new();
    for step in steps {
        for (used, rotation, values) in
            [(step.moved, false, step.translations), (step.turned, true, step.rotations)]
        {
            if used {
                let width = if rotation { 4 } else { 3 };
                let constant = values.chunks_exact(width).all(|v| *v == values[..width]);
                tracks.push(NodeTrack { node: step.node, rotation, values, constant });
            }
        }
    }
    if tracks.iter().all(|t| t.constant) {
        // One full track keeps the frames of a clip that holds a pose.
        tracks.iter_mut().take(1).for_each(|t| t.constant = false);
    }
    tracks
}
