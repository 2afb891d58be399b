//! Writes solved legs and body displacements back into the local transforms of a clip.
//!
//! Every moved joint gets its model-space transform, from which and its parent's the local transform follows; joints below
//! follow their parents. Space: model space in, local space out. Units: metres.

use super::leg::{Leg, Step};
use crate::kinematics::Towards;
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::model::{Clip, JointId, Motion, Rig, Role};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;

/// The new transforms of legs and body.
pub struct Placed<'a, S> {
    /// The legs.
    pub legs: &'a [&'a Leg],
    /// Their new transforms, by leg and frame.
    pub steps: &'a [Vec<Step>],
    /// The displacement of the body and the delta rotation of the pelvis in every frame, which does not rotate trunk and
    /// legs; empty if the body does not move.
    pub body: &'a [(Vec3, Quat)],
    /// Whether nothing moves in a frame: such frames keep every bit.
    pub still: S,
}

/// The topmost joints of a body: the hips, and every part that is not a descendant of the hips (feet under a root bone, rigs
/// exported in pieces), which are joints with a role at or below them or with a translation channel. Ancestors of the hips and
/// descendants of another topmost joint are left out.
fn tops(rig: &Rig, clip: &Clip) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let Some(hips) = rig.joint(Role::Hips) else { return vec![JointId::new(0)] };
    let mut body = vec![false; skeleton.len()];
    for id in skeleton.ids().rev() {
        body[id.index()] |= rig.role(id).is_some() || clip.translated().binary_search(&id).is_ok();
        if let Some(parent) = skeleton.parent(id).filter(|_| body[id.index()]) {
            body[parent.index()] = true;
        }
    }
    let above = |id: JointId| id != hips && skeleton.is_ancestor(id, hips);
    let top = |id: &JointId| {
        let hangs = skeleton.parent(*id).is_none_or(above);
        *id == hips || (body[id.index()] && hangs && !above(*id))
    };
    skeleton.ids().filter(top).collect()
}

/// The motion with the new transforms.
pub fn write<S: Fn(usize) -> bool + Sync>(motion: Motion, places: &Placed<'_, S>) -> Motion {
    let mut motion = placed(motion, places);
    fix_hemispheres(&mut motion.clip);
    motion
}

/// As [`write`], with quaternion signs that may flip between frames.
pub fn placed<S: Fn(usize) -> bool + Sync>(motion: Motion, placed: &Placed<'_, S>) -> Motion {
    let Motion { character, mut clip, contacts } = motion;
    let rig = &character.rig;
    let skeleton = rig.skeleton();
    let moves = !placed.body.is_empty();
    let tops = if moves { tops(rig, &clip) } else { Vec::new() };
    let hips = rig.joint(Role::Hips);
    // Children of the hips other than the legs keep their orientation when the pelvis rotates.
    let leads = |id: JointId| placed.legs.iter().any(|l| id == l.upper || skeleton.is_ancestor(id, l.upper));
    let trunk: Vec<bool> =
        skeleton.ids().map(|id| hips.is_some() && skeleton.parent(id) == hips && !leads(id)).collect();
    // Only joints that move, and their ancestors, are processed.
    let ends = tops.iter().copied().chain(hips).chain(placed.legs.iter().flat_map(|leg| leg.joints()));
    let held = skeleton.ids().filter(|id| moves && trunk[id.index()]);
    let touched = Towards::new(skeleton, ends.chain(held));
    // A joint whose parent joint does not move it needs a translation channel.
    let mut translated = clip.translated().to_vec();
    translated.extend(&tops);
    for leg in placed.legs {
        let chain: Vec<JointId> = hips.into_iter().chain(leg.joints()).collect();
        let loose = chain.windows(2).filter(|pair| !skeleton.is_ancestor(pair[0], pair[1]));
        translated.extend(loose.map(|pair| pair[1]));
    }
    translated.sort();
    translated.dedup();
    let (joints, frames) = (clip.joints(), clip.frames());
    // Rows of at least one translation, so that blocks of rotations and translations can be zipped.
    let (width, row_width) = (translated.len(), translated.len().max(1));
    let (rotations, arriving, places) = clip.rotations_beside();
    let mut translations = vec![Vec3::zeros(); frames * row_width];
    const BLOCK: usize = 64;
    rotations
        .par_chunks_mut(BLOCK * joints)
        .zip(translations.par_chunks_mut(BLOCK * row_width))
        .enumerate()
        .for_each(|(block, (rotations, translations))| {
            let mut pose = skeleton.rest_pose();
            let mut model = skeleton.rest_model_pose();
            let mut new = vec![Transform::identity(); joints];
            let mut wanted: Vec<Option<Transform>> = vec![None; joints];
            for (n, row) in rotations.chunks_mut(joints).enumerate() {
                let f = block * BLOCK + n;
                pose.local_mut().iter_mut().zip(row.iter()).for_each(|(t, q)| t.rotation = *q);
                for (id, v) in arriving.iter().zip(&places[f * arriving.len()..]) {
                    pose.local_mut()[id.index()].translation = *v;
                }
                if !(placed.still)(f) {
                    touched.set(&pose, &mut model);
                    let turn = placed.body.get(f).map_or(Quat::identity(), |(_, turn)| *turn);
                    let turns = turn != Quat::identity();
                    for &id in &tops {
                        let at = model.joint(id);
                        let turned = if Some(id) == hips { turn * at.rotation } else { at.rotation };
                        wanted[id.index()] = Some(Transform::new(turned, at.translation + placed.body[f].0));
                    }
                    if let (true, Some(hips)) = (turns, hips) {
                        // The pelvis rotates about the middle of the hip joints, which moves with the body.
                        let middle = placed.legs.iter().map(|l| model.position(l.upper)).sum::<Vec3>()
                            / placed.legs.len() as f64;
                        let at = model.joint(hips);
                        let place = middle + turn * (at.translation - middle) + placed.body[f].0;
                        wanted[hips.index()] = Some(Transform::new(turn * at.rotation, place));
                    }
                    for (leg, steps) in placed.legs.iter().zip(placed.steps) {
                        let step = &steps[f];
                        let at = [step.upper, step.lower, step.foot, step.toes];
                        leg.joints().zip(at).for_each(|(id, t)| wanted[id.index()] = Some(t));
                    }
                    for &id in touched.joints() {
                        let parent = skeleton.parent(id).map(|p| new[p.index()]);
                        let local = *pose.joint(id);
                        let at = match wanted[id.index()] {
                            Some(at) => Some(at),
                            None if turns && trunk[id.index()] => parent.map(|p| {
                                Transform::new(model.joint(id).rotation, p.point(&local.translation))
                            }),
                            None => None,
                        };
                        new[id.index()] = match at {
                            Some(at) => {
                                let local = parent.map_or(at, |p| p.inverse() * at);
                                pose.local_mut()[id.index()] = local;
                                row[id.index()] = same_hemisphere(local.rotation, &row[id.index()]);
                                at
                            }
                            None => parent.map_or(local, |p| p * local),
                        };
                    }
                }
                for (v, id) in translations[n * row_width..][..width].iter_mut().zip(&translated) {
                    *v = pose.joint(*id).translation;
                }
                // The next frame starts from the rest translations: joints without a translation channel keep them.
                if !(placed.still)(f) {
                    for &id in touched.joints() {
                        pose.local_mut()[id.index()].translation = skeleton.joint(id).rest.translation;
                    }
                }
            }
        });
    if width == 0 {
        translations.clear();
    }
    let clip = clip.translating(translated, translations);
    Motion { character, clip, contacts }
}

/// The motion with its whole body displaced, by frame; frames with displacement zero keep every bit.
#[cfg(feature = "physics")]
pub fn shifted(motion: Motion, ways: &[Vec3]) -> Motion {
    let body: Vec<(Vec3, Quat)> = ways.iter().map(|way| (*way, Quat::identity())).collect();
    let still = |f: usize| ways[f] == Vec3::zeros();
    write(motion, &Placed { legs: &[], steps: &[], body: &body, still })
}
