//! A clip in normal form becomes node tracks: what the file's own nodes have to play, scale un-folded.
//!
//! For every frame the nodes are walked down from the scene as they will be played, rounding to `f32` included.
//! With `A_p` the affine place of the parent as played, `R_p` its rotation, and `p`, `R` where the joint shall
//! be: `translation = A_p^-1 * p` and `rotation = R_p^T * R`; a parent whose scale is uneven turns what hangs
//! below it, so there the rotation is corrected until the played frame is the wanted one. Node scale stays. Where no
//! scale is uneven and nodes hang as joints do, the same comes out in local space, without the walk.
//!
//! Space: wanted poses in the file's own world, tracks local to the parent node. Units: metres, seconds.

use super::gltf_local::{self, Played, Rotations};
use crate::gltf_document::{LocalTransform, NodeTree, WorldTransform};
use crate::kinematics::figure_size;
use crate::math::{Quat, RawQuat, Transform, Vec3, same_hemisphere};
use crate::model::{Clip, ModelPose, Skeleton};

/// A joint that leaves its rest translation by less, relative to the size of the figure, rests,
pub(super) const STILL: f64 = 1e-7;
/// unless that changes its bone's length by more than this part of it.
pub(super) const STRETCH: f64 = 3e-7;
/// A quaternion this close to that of the rest pose, in each number, is the rest pose.
pub(super) const UNTURNED: f64 = 1e-7;
/// Where the correction for uneven scale stops, in radians, and after how many rounds at the latest.
const ALIGNED: f64 = 1e-8;
const ROUNDS: usize = 12;

/// What one property of a node plays: one value for each frame, or one for all of them.
pub(super) struct NodeTrack<'a> {
    pub(super) node: usize,
    pub(super) rotation: bool,
    pub(super) values: Values<'a>,
    pub(super) constant: bool,
}

/// Numbers for the file.
pub(super) enum Values<'a> {
    /// Three or four for each value.
    Ready(Vec<f32>),
    /// Rotations that are made when they are written.
    Local(Rotations<'a>),
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
pub(super) fn tracks<'a>(
    tree: &NodeTree,
    nodes: &[Option<usize>],
    skeleton: &Skeleton,
    clip: &'a Clip,
    file_from_model: Quat,
) -> Vec<NodeTrack<'a>> {
    let size = figure_size(skeleton);
    let joint_of = joint_of(tree, nodes);
    if let Some(played) = gltf_local::played(tree, &joint_of, skeleton, clip, file_from_model, size) {
        return collect(played.into_iter().map(Ends::from).collect());
    }
    walked(tree, nodes, skeleton, clip, file_from_model, size)
}

/// As [`tracks`], for any nodes.
fn walked<'a>(
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
    // Above the joints nothing moves.
    let mut fixed = vec![false; steps.len()];
    for (k, step) in steps.iter().enumerate() {
        fixed[k] = step.joint.is_none() && step.parent.is_none_or(|p| fixed[p]);
        worlds[k] =
            step.parent.map_or(WorldTransform::identity(), |p| worlds[p]).child(&tree.node(step.node).local);
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
            let parent = step.parent.map_or(WorldTransform::identity(), |p| worlds[p]);
            let mut local = tree.node(step.node).local;
            if let Some(joint) = step.joint {
                local = play(step, &parent, local, &(turn * model.joints()[joint]), still);
            }
            worlds[k] = parent.child(&local);
        }
    }
    collect(steps.into_iter().filter(|s| s.joint.is_some()).map(Ends::from).collect())
}

/// The local transform that the node plays in this frame, recorded in its step.
fn play(
    step: &mut Step,
    parent: &WorldTransform,
    rest: LocalTransform,
    wanted: &Transform,
    still: f64,
) -> LocalTransform {
    // A matrix cannot be animated: a joint is played as translation, rotation and scale.
    let mut local = LocalTransform { matrix: None, ..rest };
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

/// The joint of each node.
fn joint_of(tree: &NodeTree, nodes: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut joint_of = vec![None; tree.nodes().len()];
    for (joint, node) in nodes.iter().enumerate() {
        if let Some(node) = node.filter(|n| *n < joint_of.len()) {
            joint_of[node] = Some(joint);
        }
    }
    joint_of
}

fn steps(tree: &NodeTree, nodes: &[Option<usize>], frames: usize) -> Vec<Step> {
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

/// What comes out of either way for one joint: tracks with their width and whether they hold one value; `None` for
/// what rests.
struct Ends<'a> {
    node: usize,
    translations: Option<(Vec<f32>, bool)>,
    rotations: (Values<'a>, bool),
    turned: bool,
}

fn holds(values: &[f32], width: usize) -> bool {
    values.chunks_exact(width).all(|v| *v == values[..width])
}

impl From<Step> for Ends<'_> {
    fn from(step: Step) -> Self {
        let Step { node, translations, rotations, moved, turned, .. } = step;
        let constant = holds(&rotations, 4);
        Self {
            node,
            translations: moved.then(|| (holds(&translations, 3), translations)).map(|(h, t)| (t, h)),
            rotations: (Values::Ready(rotations), constant),
            turned,
        }
    }
}

impl<'a> From<Played<'a>> for Ends<'a> {
    fn from(played: Played<'a>) -> Self {
        let Played { node, translations, rotations, turned, constant } = played;
        let translations = translations.map(|t| (holds(&t, 3), t)).map(|(h, t)| (t, h));
        Self { node, translations, rotations: (Values::Local(rotations), constant), turned }
    }
}

fn collect(mut ends: Vec<Ends>) -> Vec<NodeTrack> {
    let rests = !ends.iter().any(|e| e.turned || e.translations.is_some());
    if rests {
        let first = ends.drain(..).take(1);
        let track = |Ends { node, rotations: (values, _), .. }| NodeTrack {
            node,
            rotation: true,
            values,
            constant: false,
        };
        return first.map(track).collect();
    }
    ends.sort_by_key(|e| e.node);
    let mut tracks = Vec::new();
    for Ends { node, translations, rotations, turned } in ends {
        if let Some((values, constant)) = translations {
            tracks.push(NodeTrack { node, rotation: false, values: Values::Ready(values), constant });
        }
        if turned {
            let (values, constant) = rotations;
            tracks.push(NodeTrack { node, rotation: true, values, constant });
        }
    }
    if tracks.iter().all(|t| t.constant) {
        // One full track keeps the frames of a clip that holds a pose.
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
        (node, rotation, constant, crate::export::gltf_thin::numbers(track.values, FRAMES))
    }

    const FRAMES: usize = 200;

    #[test]
    fn both_ways_play_the_same() {
        // A turned and scaled node above the root, another between two joints, and a scaled joint.
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
        // The first joint turns and travels, the second turns late, the third turns and stretches, the last rests.
        let turn = |f: usize, k: usize| match k {
            3 => Quat::identity(),
            1 if f < 150 => Quat::identity(),
            _ => exp(&Vec3::new(0.01 * f as f64, 0.3 * k as f64, (0.02 * f as f64).sin())),
        };
        let rests: Vec<Transform> = skeleton.joints().iter().map(|j| j.rest).collect();
        let rotations = (0..FRAMES * 4).map(|i| rests[i % 4].rotation * turn(i / 4, i % 4)).collect();
        let place = |f: usize, k: usize| rests[k].translation + Vec3::new(0.0, (0.1 * f as f64).sin(), 0.0);
        let translations = (0..FRAMES).flat_map(|f| [place(f, 0), place(f, 2)]).collect();
        let translated = vec![JointId::new(0), JointId::new(2)];
        let clip = Clip::new("", 60.0, 4, rotations, translated, translations);

        let local = tracks(&tree, &nodes, &skeleton, &clip, file_from_model);
        assert!(local.iter().any(|t| matches!(t.values, Values::Local(_))));
        let size = figure_size(&skeleton);
        let walk = walked(&tree, &nodes, &skeleton, &clip, file_from_model, size);
        let (local, walk): (Vec<_>, Vec<_>) =
            (local.into_iter().map(numbers).collect(), walk.into_iter().map(numbers).collect());
        // The walk makes up for the rounding of the joints above, the local way has none to make up for.
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
