//! Limbs that were closed and a body that was moved become a clip again.
//!
//! Every joint that moved is put where it shall be in model space, and its local transform follows from its parent's;
//! joints below follow their parents. Space: model space in, local space out. Units: metres.

use super::leg::{Leg, Step};
use super::tops::tops;
use crate::math::{Transform, Vec3, same_hemisphere};
use crate::model::{Clip, Motion};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;

/// The clip with the joints of the legs where they are `closed` and the pelvis moved up by `offset`.
pub fn write(
    motion: &Motion,
    legs: &[Leg],
    closed: &[Vec<(Step, f64)>],
    offset: &[f64],
    still: impl Fn(usize) -> bool + Sync,
) -> Clip {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let moves = offset.iter().any(|d| d.abs() >= 1e-12);
    let tops = tops(&motion.character.rig, clip);
    // A joint that its tree parent does not carry needs a translation of its own.
    let mut translated = clip.translated().to_vec();
    if moves {
        translated.extend(&tops);
    }
    for leg in legs {
        let chain = [Some(leg.upper), Some(leg.lower), Some(leg.foot), leg.toes];
        for pair in chain.windows(2) {
            if let [Some(above), Some(joint)] = *pair
                && !skeleton.is_ancestor(above, joint)
            {
                translated.push(joint);
            }
        }
    }
    translated.sort();
    translated.dedup();
    let (joints, frames) = (clip.joints(), clip.frames());
    // Blocks of rotations and of translations go together, even where no joint is translated.
    let (width, row_width) = (translated.len(), translated.len().max(1));
    let mut rotations = clip.all_rotations().to_vec();
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
                clip.read_pose(f, &mut pose);
                if !still(f) {
                    model.set(skeleton, &pose);
                    let up = Transform::from_translation(Vec3::y() * offset[f]);
                    tops.iter().for_each(|&id| wanted[id.index()] = Some(up * *model.joint(id)));
                    for (leg, closed) in legs.iter().zip(closed) {
                        let step = &closed[f].0;
                        let placed =
                            [(leg.upper, step.upper), (leg.lower, step.lower), (leg.foot, step.foot)];
                        let toes = leg.toes.map(|t| (t, step.toes));
                        placed.into_iter().chain(toes).for_each(|(id, t)| wanted[id.index()] = Some(t));
                    }
                    for id in skeleton.ids() {
                        let parent = skeleton.parent(id).map(|p| new[p.index()]);
                        let local = pose.joint(id);
                        new[id.index()] = match wanted[id.index()] {
                            Some(model) => {
                                let local = parent.map_or(model, |p| p.inverse() * model);
                                pose.local_mut()[id.index()] = local;
                                row[id.index()] = same_hemisphere(local.rotation, &row[id.index()]);
                                model
                            }
                            None => parent.map_or(*local, |p| p * *local),
                        };
                    }
                }
                for (v, id) in translations[n * row_width..][..width].iter_mut().zip(&translated) {
                    *v = pose.joint(*id).translation;
                }
                // The next frame starts from the rest again: a joint without a channel has kept its own.
                if !still(f) {
                    for id in skeleton.ids() {
                        pose.local_mut()[id.index()].translation = skeleton.joint(id).rest.translation;
                    }
                }
            }
        });
    if width == 0 {
        translations.clear();
    }
    let mut result =
        Clip::new(clip.name.clone(), clip.sample_rate, joints, rotations, translated, translations);
    (result.start, result.tolerance) = (clip.start, clip.tolerance);
    fix_hemispheres(&mut result);
    result
}
