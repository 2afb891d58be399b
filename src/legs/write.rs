//! Legs that were closed and a body that was moved become a clip again.
//!
//! Every joint that moved is put where it shall be in model space, and its local transform follows from its parent's;
//! joints below follow their parents. Space: model space in, local space out. Units: metres.

use super::leg::{Leg, Step};
use crate::kinematics::Towards;
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::model::{Clip, JointId, Motion, Rig, Role};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;

/// Where legs and body go.
pub struct Placed<'a, S> {
    /// The legs.
    pub legs: &'a [&'a Leg],
    /// Where they go, by leg and frame.
    pub steps: &'a [Vec<Step>],
    /// The way of the body in every frame, and the turn of the pelvis, which trunk and legs do not take part in; nothing
    /// where the body stays.
    pub body: &'a [(Vec3, Quat)],
    /// The frames in which nothing goes anywhere: they keep every bit.
    pub still: S,
}

/// The joints that carry a body through the world: the hips, and every part of it that hangs elsewhere than under them
/// (feet under a root bone, rigs exported in pieces): joints with a role below, or that travel by themselves. What stands
/// above the hips is left out, and what another of the list carries.
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

/// The motion with legs and body where they are placed.
pub fn write<S: Fn(usize) -> bool + Sync>(motion: Motion, places: &Placed<'_, S>) -> Motion {
    let mut motion = placed(motion, places);
    fix_hemispheres(&mut motion.clip);
    motion
}

/// As [`write`], with signs that may flip between frames.
pub fn placed<S: Fn(usize) -> bool + Sync>(motion: Motion, placed: &Placed<'_, S>) -> Motion {
    let Motion { character, mut clip, contacts } = motion;
    let rig = &character.rig;
    let skeleton = rig.skeleton();
    let moves = !placed.body.is_empty();
    let tops = if moves { tops(rig, &clip) } else { Vec::new() };
    let hips = rig.joint(Role::Hips);
    // What hangs from a pelvis that turns, but for the legs, keeps its direction.
    let leads = |id: JointId| placed.legs.iter().any(|l| id == l.upper || skeleton.is_ancestor(id, l.upper));
    let trunk: Vec<bool> =
        skeleton.ids().map(|id| hips.is_some() && skeleton.parent(id) == hips && !leads(id)).collect();
    // What goes somewhere, and what lies above: nothing else is looked at.
    let ends = tops.iter().copied().chain(hips).chain(placed.legs.iter().flat_map(|leg| leg.joints()));
    let held = skeleton.ids().filter(|id| moves && trunk[id.index()]);
    let touched = Towards::new(skeleton, ends.chain(held));
    // A joint that its tree parent does not carry needs a translation of its own.
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
    // Blocks of rotations and of translations go together, even where no joint is translated.
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
                        // The pelvis turns about the middle of the hip joints, which stays where the body takes it.
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
                // The next frame starts from the rest again: a joint without a channel has kept its own.
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

/// The motion with its whole body moved by these ways, by frame; frames whose way is zero keep every bit.
#[cfg(feature = "physics")]
pub fn shifted(motion: Motion, ways: &[Vec3]) -> Motion {
    let body: Vec<(Vec3, Quat)> = ways.iter().map(|way| (*way, Quat::identity())).collect();
    let still = |f: usize| ways[f] == Vec3::zeros();
    write(motion, &Placed { legs: &[], steps: &[], body: &body, still })
}
