//! Computes the keys of each bone, its motion beyond that of its parent and of the bone that it copies, from the transforms of all.

use crate::math::{Transform, Vec3};
use crate::mmd_document::MmdBone;

/// The bones of a model, prepared for [`OwnMotion::of`].
pub(super) struct OwnMotion {
    pub(super) bones: Vec<MmdBone>,
    /// The bones by layer, those that copy others last: what is copied may come later in the file.
    order: Vec<usize>,
    /// The lower body, on which the imported skeleton hangs, and the bones above it in the model, up to the bone that moves the model.
    lower_body: Option<(usize, Vec<usize>)>,
    shares: Vec<Transform>,
}

/// A displacement below this is none, metres: a thousandth of a unit of 32-bit numbers at 100 m.
const STILL: f64 = 1e-8;

impl OwnMotion {
    pub(super) fn new(bones: Vec<MmdBone>) -> Self {
        let mut order: Vec<usize> = (0..bones.len()).collect();
        order.sort_by_key(|&k| (bones[k].append.is_some(), bones[k].order));
        let find = |name: &str| bones.iter().position(|bone| bone.name == name);
        let lower_body = find("下半身").zip(find("センター")).and_then(|(lower, centre)| {
            // A document may have been damaged: parents in a circle end after all bones.
            let above = std::iter::successors(bones[lower].parent, |b| bones[*b].parent).take(bones.len());
            let above: Vec<usize> = above.collect();
            let end = above.iter().position(|b| *b == centre)?;
            Some((lower, above[..=end].to_vec()))
        });
        let shares = vec![Transform::identity(); bones.len()];
        Self { bones, order, lower_body, shares }
    }

    /// The own motion of the bones that are at `placed` in model space, which is changed.
    pub(super) fn of(&mut self, placed: &mut [Transform]) -> Vec<Transform> {
        let bones = &self.bones;
        let local = |placed: &[Transform], k: usize| {
            bones[k].parent.map_or(placed[k], |p| placed[p].inverse() * placed[k])
        };
        if let Some((lower, above)) = &self.lower_body {
            let parent = bones[*lower].parent.map_or_else(Transform::identity, |p| placed[p]);
            let moved: Vec3 = local(placed, *lower).translation - bones[*lower].offset(bones);
            let moved = parent.vector(&moved);
            if moved.norm() > STILL {
                above.iter().for_each(|&k| placed[k].translation += moved);
            }
        }
        let mut own = vec![Transform::identity(); bones.len()];
        self.shares.fill(Transform::identity());
        for &k in &self.order {
            if let Some(append) = &bones[k].append {
                let copied = match bones[append.source].append {
                    Some(_) => &self.shares[append.source],
                    None => &own[append.source],
                };
                self.shares[k] = append.of(copied);
            }
            own[k] = bones[k].own(bones, &local(placed, k), &self.shares[k]);
            if own[k].translation.norm() < STILL {
                own[k].translation = Vec3::zeros();
            }
        }
        own
    }
}
