//! A clip becomes node tracks without leaving local space, where the nodes hang as the joints do.
//!
//! That is the common case: below each other only joints move, and no scale above a joint is uneven. With the fixed
//! similarity `S` from the node's parent to the parent joint, a joint at `(R, t)` in its parent joint is played by
//! `translation = S^-1 t` and `rotation = R_S^-1 R`, frame by frame and joint by joint in any order. Rotations are
//! then rounded into the very bytes of the file.
//!
//! Space: joints in their parent joint, tracks in the parent node. Units: metres, seconds.

use super::gltf_nodes::{STILL, STRETCH, UNTURNED};
use crate::gltf_document::{LocalTransform, NodeTree, WorldTransform};
use crate::math::{Quat, Vec3, same_hemisphere};
use crate::model::{Clip, JointId, Skeleton};
use rayon::prelude::*;

/// Joints and frames that are worked on together: their quaternions take a quarter of a core's first cache. With four times
/// as many, all of it, writing takes a tenth longer.
pub(super) const GROUP: usize = 16;
const BLOCK: usize = 16;

/// How the node of a joint hangs.
struct Hang {
    /// The place of the parent node in the parent joint.
    parent: WorldTransform,
    /// What turns a joint's rotation into that of its node; `None` where they are one.
    turn: Option<Quat>,
    /// What turns a joint's translation before it is placed; for roots only.
    turned: Quat,
    rest: LocalTransform,
}

/// What the node of one joint plays.
pub(super) struct Played<'a> {
    pub(super) node: usize,
    /// The translations of all frames, where some differ from the rest pose.
    pub(super) translations: Option<Vec<f32>>,
    pub(super) rotations: Rotations<'a>,
    /// Whether some rotation differs from the rest pose, and whether all are the same.
    pub(super) turned: bool,
    pub(super) constant: bool,
}

/// What every node of a joint plays, in tree order; `None` where nodes hang otherwise than joints.
pub(super) fn played<'a>(
    tree: &NodeTree,
    joint_of: &[Option<usize>],
    skeleton: &Skeleton,
    clip: &'a Clip,
    file_from_model: Quat,
    size: f64,
) -> Option<Vec<Played<'a>>> {
    let mut scales = vec![None; skeleton.len()];
    let mut all = Vec::new();
    for &node in tree.order() {
        let Some(joint) = joint_of[node] else { continue };
        let hang = hang(tree, node, joint_of, skeleton.parents()[joint], &scales, file_from_model)?;
        scales[joint] = hang.parent.child(&hang.rest).uniform_scale();
        let rotations = Rotations { clip, joint, turn: hang.turn, rest: hang.rest.rotation };
        let translations = translations(&hang, skeleton, clip, JointId::new(joint), size);
        all.push(Played { node, translations, rotations, turned: false, constant: true });
    }
    all.par_chunks_mut(GROUP).for_each(survey);
    Some(all)
}

/// Finds out which joints of a group turn, and which are the same in all frames; frame by frame, since a frame's joints
/// lie side by side.
fn survey(group: &mut [Played]) {
    let mut open: Vec<_> = group.iter_mut().map(|played| (played.rotations.first(), None, played)).collect();
    let frames = open.first().map_or(0, |(_, _, played)| played.rotations.clip.frames());
    for frame in 0..frames {
        open.retain_mut(|(previous, first, played)| {
            let (next, off) = played.rotations.next(frame, previous);
            *previous = next;
            let value = next.written();
            played.turned |= off;
            played.constant &= *first.get_or_insert(value) == value;
            !played.turned || played.constant
        });
        if open.is_empty() {
            break;
        }
    }
}

fn hang(
    tree: &NodeTree,
    node: usize,
    joint_of: &[Option<usize>],
    parent: Option<JointId>,
    scales: &[Option<f64>],
    file_from_model: Quat,
) -> Option<Hang> {
    let above: Vec<usize> = tree.path_to_top(node).skip(1).take_while(|&n| joint_of[n].is_none()).collect();
    let holder = tree.node(above.last().copied().unwrap_or(node)).parent.and_then(|n| joint_of[n]);
    if holder != parent.map(JointId::index) {
        return None;
    }
    let turned = if holder.is_some() { Quat::identity() } else { file_from_model };
    let scale = holder.map_or(Some(1.0), |joint| scales[joint])?;
    let mut place = WorldTransform::scaled(scale);
    for &n in above.iter().rev() {
        place = place.child(&tree.node(n).local);
    }
    place.uniform_scale()?;
    let turn = place.rigid().0.rotation.inverse() * turned;
    let turn = (turn != Quat::identity()).then_some(turn);
    // A matrix cannot be animated: a joint is played as translation, rotation and scale.
    Some(Hang { parent: place, turn, turned, rest: LocalTransform { matrix: None, ..tree.node(node).local } })
}

fn translations(hang: &Hang, skeleton: &Skeleton, clip: &Clip, id: JointId, size: f64) -> Option<Vec<f32>> {
    let rest = hang.rest.translation;
    let still = STILL * size;
    let near = still.min(STRETCH * hang.parent.vector(&rest).norm()).max(1e-2 * still);
    let mut moved = false;
    let mut place = |t: Vec3| {
        let place = hang.parent.inverse_point(&(hang.turned * t)).unwrap_or(rest);
        let off = hang.parent.vector(&(place - rest)).norm() > near;
        moved |= off;
        let place = if off { place } else { rest };
        [place.x as f32, place.y as f32, place.z as f32]
    };
    let frames = clip.frames();
    let Ok(k) = clip.translated().binary_search(&id) else {
        let value = place(skeleton.joint(id).rest.translation);
        return moved.then(|| value.repeat(frames));
    };
    let mut values = Vec::with_capacity(3 * frames);
    (0..frames).for_each(|f| values.extend(place(clip.translations(f)[k])));
    moved.then_some(values)
}

/// The rotations of one node, made when they are written.
pub(super) struct Rotations<'a> {
    clip: &'a Clip,
    joint: usize,
    turn: Option<Quat>,
    rest: Quat,
}

/// The rotation of the frame before: rounded, and the sign with which it was written. The two stand apart so that one
/// frame waits for the sign of the one before only, not for its root and its division.
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
    /// The rotation of a frame, in the hemisphere of the one before, and whether it is not that of the rest pose.
    #[inline(always)]
    fn next(&self, frame: usize, previous: &Previous) -> (Previous, bool) {
        let q = self.clip.rotations(frame)[self.joint];
        let q = match self.turn {
            Some(turn) => turn * q,
            None => q,
        };
        let (mut c, rest) = (q.coords, self.rest.coords);
        let mut off = true;
        // Only quaternions whose product is next to one can be next to each other.
        if c.dot(&rest).abs() > 1.0 - 1e-9 {
            let near = same_hemisphere(q, &self.rest);
            if (near.coords - rest).amax() < UNTURNED {
                (c, off) = (rest, false);
            }
        }
        let p = previous.rounded;
        let side = c.x * p[0] + c.y * p[1] + c.z * p[2] + c.w * p[3];
        let sign = if side * previous.sign < 0.0 { -1.0 } else { 1.0 };
        (Previous { rounded: rounded(c.as_slice()), sign }, off)
    }

    /// The sign of the first frame is that of the rest pose.
    fn first(&self) -> Previous {
        let c = self.rest.coords;
        Previous { rounded: [c.x, c.y, c.z, c.w], sign: 1.0 }
    }
}

/// Normalised once more in `f32`, so that the stored numbers are as close to unit length as they can be.
#[inline(always)]
fn rounded(c: &[f64]) -> [f64; 4] {
    let c = [c[0] as f32, c[1] as f32, c[2] as f32, c[3] as f32].map(f64::from);
    let scale = 1.0 / (c[0] * c[0] + c[1] * c[1] + c[2] * c[2] + c[3] * c[3]).sqrt();
    c.map(|x| f64::from((x * scale) as f32))
}

/// Writes rotations as the file has them, each into its own bytes; as many frames as those have room for.
pub(super) fn write(group: &mut [(&Rotations, &mut [u8])]) {
    let mut previous: Vec<Previous> = group.iter().map(|(r, _)| r.first()).collect();
    let frames = group.iter().map(|(_, bytes)| bytes.len() / 16).max().unwrap_or(0);
    for begin in (0..frames).step_by(BLOCK) {
        for ((rotations, bytes), previous) in group.iter_mut().zip(&mut previous) {
            let there = bytes.len() / 16;
            let (begin, end) = (begin.min(there), (begin + BLOCK).min(there));
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
