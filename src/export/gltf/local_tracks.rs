//! Computes node tracks in local space, for documents whose node hierarchy matches the joint hierarchy.
//!
//! This is the common case: only joints move, and no scale above a joint is non-uniform. `S` is the fixed similarity from the
//! parent node to the parent joint, `R_S` its rotation. A joint with rotation `R` and translation `t` gets the tracks
//! `translation = S^-1 F t` and `rotation = R_S^-1 F R`; `F` is the rotation from model space to the file's world for roots,
//! and the identity for other joints. Rotations are rounded directly into the bytes of the file.
//!
//! Space: joints in their parent joint, tracks in the parent node. Units: metres, seconds.

use super::rest_thresholds::{STILL, STRETCH, UNROTATED};
use crate::gltf_document::{LocalTransform, NodeTree, WorldTransform};
use crate::math::{Quat, Vec3, same_hemisphere};
use crate::model::{Clip, JointId, Skeleton};
use crate::parallel;

/// Joints that are processed together. With [`BLOCK`] frames their quaternions use a quarter of a core's first-level cache;
/// with four times as many, all of it, writing takes 10 % longer.
pub(super) const GROUP: usize = 16;
/// Frames that are processed together.
const BLOCK: usize = 16;

/// Relation of the node of a joint to the joint.
struct NodeFrame {
    /// Parent joint from parent node.
    parent: WorldTransform,
    /// Node rotation = this * joint rotation; `None` for the identity.
    node_from_joint: Option<Quat>,
    /// Rotation of a joint's translation from model space to the file's world; not the identity for roots only.
    file_from_model: Quat,
    /// The local transform of the node at rest.
    rest: LocalTransform,
}

/// The animation of the node of one joint.
pub(super) struct NodePlayback<'a> {
    pub(super) node: usize,
    /// The translations of all frames; `None` if all are those of the rest pose.
    pub(super) translations: Option<Vec<f32>>,
    pub(super) rotations: Rotations<'a>,
    /// Whether any rotation differs from the rest pose.
    pub(super) rotated: bool,
    /// Whether all rotations are equal.
    pub(super) constant: bool,
}

/// The animation of the node of every joint, in tree order; `None` if the hierarchies do not match.
pub(super) fn playback<'a>(
    tree: &NodeTree,
    joint_of: &[Option<usize>],
    skeleton: &Skeleton,
    clip: &'a Clip,
    file_from_model: Quat,
    size: f64,
) -> Option<Vec<NodePlayback<'a>>> {
    let mut scales = vec![None; skeleton.len()];
    let mut all = Vec::new();
    for &node in tree.order() {
        let Some(joint) = joint_of[node] else { continue };
        let frame = node_frame(tree, node, joint_of, skeleton.parents()[joint], &scales, file_from_model)?;
        scales[joint] = frame.parent.child(&frame.rest).uniform_scale();
        let rotations =
            Rotations { clip, joint, node_from_joint: frame.node_from_joint, rest: frame.rest.rotation };
        let translations = translations(&frame, skeleton, clip, JointId::new(joint), size);
        all.push(NodePlayback { node, translations, rotations, rotated: false, constant: true });
    }
    parallel::for_blocks(&mut all, GROUP, |_, group| find_rotated(group));
    Some(all)
}

/// Determines which joints of a group rotate, and which have equal rotations in all frames. Frame by frame, because the joints
/// of a frame are adjacent in memory.
fn find_rotated(group: &mut [NodePlayback]) {
    let mut open: Vec<_> = group.iter_mut().map(|node| (node.rotations.first(), None, node)).collect();
    let frames = open.first().map_or(0, |(_, _, node)| node.rotations.clip.frames());
    for frame in 0..frames {
        open.retain_mut(|(previous, first, node)| {
            let (next, off) = node.rotations.next(frame, previous);
            *previous = next;
            let value = next.written();
            node.rotated |= off;
            node.constant &= *first.get_or_insert(value) == value;
            !node.rotated || node.constant
        });
        if open.is_empty() {
            break;
        }
    }
}

/// The relation of a node to its joint; `None` if its parent joint is another one, or a scale is non-uniform.
fn node_frame(
    tree: &NodeTree,
    node: usize,
    joint_of: &[Option<usize>],
    parent: Option<JointId>,
    scales: &[Option<f64>],
    file_from_model: Quat,
) -> Option<NodeFrame> {
    let above: Vec<usize> = tree.path_to_top(node).skip(1).take_while(|&n| joint_of[n].is_none()).collect();
    let parent_joint = tree.node(above.last().copied().unwrap_or(node)).parent.and_then(|n| joint_of[n]);
    if parent_joint != parent.map(JointId::index) {
        return None;
    }
    let file_from_model = if parent_joint.is_some() { Quat::identity() } else { file_from_model };
    let scale = parent_joint.map_or(Some(1.0), |joint| scales[joint])?;
    let mut parent = WorldTransform::scaled(scale);
    for &n in above.iter().rev() {
        parent = parent.child(&tree.node(n).local);
    }
    parent.uniform_scale()?;
    let node_from_joint = parent.rigid().0.rotation.inverse() * file_from_model;
    let node_from_joint = (node_from_joint != Quat::identity()).then_some(node_from_joint);
    // A matrix cannot be animated: joints get translation, rotation and scale.
    let rest = LocalTransform { matrix: None, ..tree.node(node).local };
    Some(NodeFrame { parent, node_from_joint, file_from_model, rest })
}

/// The translations of the node in all frames; `None` if all are those of the rest pose.
fn translations(
    frame: &NodeFrame,
    skeleton: &Skeleton,
    clip: &Clip,
    id: JointId,
    size: f64,
) -> Option<Vec<f32>> {
    let rest = frame.rest.translation;
    let still = STILL * size;
    let near = still.min(STRETCH * frame.parent.vector(&rest).norm()).max(1e-2 * still);
    let mut moved = false;
    let mut convert = |t: Vec3| {
        let translation = frame.parent.inverse_point(&(frame.file_from_model * t)).unwrap_or(rest);
        let off = frame.parent.vector(&(translation - rest)).norm() > near;
        moved |= off;
        let translation = if off { translation } else { rest };
        [translation.x as f32, translation.y as f32, translation.z as f32]
    };
    let frames = clip.frames();
    let Ok(k) = clip.translated().binary_search(&id) else {
        let value = convert(skeleton.joint(id).rest.translation);
        return moved.then(|| value.repeat(frames));
    };
    let mut values = Vec::with_capacity(3 * frames);
    (0..frames).for_each(|f| values.extend(convert(clip.translations(f)[k])));
    moved.then_some(values)
}

/// The rotations of one node, computed when they are written.
pub(super) struct Rotations<'a> {
    clip: &'a Clip,
    joint: usize,
    node_from_joint: Option<Quat>,
    rest: Quat,
}

/// The rotation of the frame before: rounded, and the sign with which it was written. They are separate so that a frame depends
/// only on the sign of the one before, not on its square root and division.
#[derive(Clone, Copy)]
struct Previous {
    rounded: [f64; 4],
    sign: f64,
}

impl Previous {
    fn written(&self) -> [f32; 4] {
        self.rounded.map(|x| (x * self.sign) as f32)
    }
}

impl Rotations<'_> {
    /// The rotation of a frame, in the hemisphere of the one before, and whether it differs from the rest pose.
    #[inline(always)]
    fn next(&self, frame: usize, previous: &Previous) -> (Previous, bool) {
        let q = self.clip.rotations(frame)[self.joint];
        let q = match self.node_from_joint {
            Some(node_from_joint) => node_from_joint * q,
            None => q,
        };
        let (mut c, rest) = (q.coords, self.rest.coords);
        let mut off = true;
        // A cheap test first: quaternions can be close only if their dot product is close to 1.
        if c.dot(&rest).abs() > 1.0 - 1e-9 {
            let near = same_hemisphere(q, &self.rest);
            if (near.coords - rest).amax() < UNROTATED {
                (c, off) = (rest, false);
            }
        }
        let p = previous.rounded;
        let side = c.x * p[0] + c.y * p[1] + c.z * p[2] + c.w * p[3];
        let sign = if side * previous.sign < 0.0 { -1.0 } else { 1.0 };
        (Previous { rounded: rounded(c.as_slice()), sign }, off)
    }

    /// The state before the first frame, which gets the hemisphere of the rest pose.
    fn first(&self) -> Previous {
        let c = self.rest.coords;
        Previous { rounded: [c.x, c.y, c.z, c.w], sign: 1.0 }
    }
}

/// Rounds to `f32` and normalises again, so that the stored numbers are as close to unit length as `f32` allows.
#[inline(always)]
fn rounded(c: &[f64]) -> [f64; 4] {
    let c = [c[0] as f32, c[1] as f32, c[2] as f32, c[3] as f32].map(f64::from);
    let scale = 1.0 / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]).sqrt();
    c.map(|x| f64::from((x * scale) as f32))
}

/// Writes rotations in the encoding of the file, each into its own bytes, for as many frames as these hold.
pub(super) fn write(group: &mut [(Rotations<'_>, &mut [u8])]) {
    let mut previous: Vec<Previous> = group.iter().map(|(r, _)| r.first()).collect();
    let frames = group.iter().map(|(_, bytes)| bytes.len() / 16).max().unwrap_or(0);
    for begin in (0..frames).step_by(BLOCK) {
        for ((rotations, bytes), previous) in group.iter_mut().zip(&mut previous) {
            let frames = bytes.len() / 16;
            let (begin, end) = (begin.min(frames), (begin + BLOCK).min(frames));
            let block = bytes[16 * begin..16 * end].chunks_exact_mut(16);
            for (frame, bytes) in (begin..end).zip(block) {
                *previous = rotations.next(frame, previous).0;
                for (bytes, x) in bytes.chunks_exact_mut(4).zip(previous.written()) {
                    bytes.copy_from_slice(&x.to_le_bytes());
                }
            }
        }
    }
}
