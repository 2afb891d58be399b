//! Places the hands of a retargeted motion on the body as they are in the source motion.
//!
//! Per frame, the target of each palm ([`HandTargets`]) gives an offset, by which the arms move it.
//! Space: model space. Units: metres.

use super::move_palms::{Arms, BLOCK, MovedHands};
use crate::body::{CharacterBody, HandTargets};
use crate::kinematics::Towards;
use crate::math::Vec3;
use crate::model::Motion;
use rayon::prelude::*;

/// The placement of hands, ready: a pure function of two motions in step.
#[derive(Clone, Debug)]
pub struct HandPlacement {
    places: HandTargets,
    arms: Arms,
}

impl HandPlacement {
    /// The placement for motions that came from `source` to `target`; `None` where one of them has no arms, or walks on
    /// them.
    pub fn new(source: &CharacterBody, target: &CharacterBody) -> Option<HandPlacement> {
        Some(HandPlacement { places: HandTargets::new(source, target)?, arms: Arms::of(target)? })
    }

    /// `motion` with its hands placed on the body as those of `source` are, frame for frame.
    ///
    /// # Panics
    /// Where the two have different numbers of frames or other skeletons than this was made for.
    pub fn apply(&self, source: &Motion, motion: Motion) -> (Motion, MovedHands) {
        assert_eq!(source.clip.frames(), motion.clip.frames(), "the motions are in step");
        let offsets = self.offsets(source, &motion);
        self.place(motion, &offsets)
    }

    /// `motion` with its palms moved by the offsets that all of its frames have.
    ///
    /// # Panics
    /// Where there are other frames than offsets.
    pub fn place(&self, motion: Motion, offsets: &[[Vec3; 2]]) -> (Motion, MovedHands) {
        assert_eq!(offsets.len(), motion.clip.frames(), "offsets of every frame");
        self.arms.moved(motion, offsets)
    }

    /// From where each palm is to where it belongs, left and right, in every frame of two motions in step, metres.
    ///
    /// # Panics
    /// As [`HandPlacement::apply`].
    pub fn offsets(&self, source: &Motion, motion: &Motion) -> Vec<[Vec3; 2]> {
        let both = [source, motion].map(|m| (m.character.skeleton(), &m.clip));
        let joints = self.places.joints();
        let towards = [0, 1].map(|k| Towards::new(both[k].0, joints[k].iter().copied()));
        let mut offsets = vec![[Vec3::zeros(); 2]; motion.clip.frames()];
        offsets.par_chunks_mut(BLOCK).enumerate().for_each(|(block, offsets)| {
            let mut poses = both.map(|(skeleton, _)| skeleton.rest_pose());
            let mut models = both.map(|(skeleton, _)| skeleton.rest_model_pose());
            for (n, offset) in offsets.iter_mut().enumerate() {
                for (k, (_, clip)) in both.iter().enumerate() {
                    clip.read_pose(block * BLOCK + n, &mut poses[k]);
                    towards[k].set(&poses[k], &mut models[k]);
                }
                *offset = self.places.at(&models[0], &models[1]).map(|place| place.offset);
            }
        });
        offsets
    }
}
