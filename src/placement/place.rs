//! A motion and the one that it was carried over from become a motion whose hands are where they belong on the body.
//!
//! Per frame, where each palm is and where it belongs ([`HandPlaces`]) give an offset; the arms are bent by the offsets.
//! Space: model space. Units: metres.

use super::arms::{Arms, BLOCK, Placed};
use crate::anatomy::HandPlaces;
use crate::math::Vec3;
use crate::model::{Character, ModelPose, Motion, Rig};
use rayon::prelude::*;

/// The placement of hands, ready: a pure function of two motions in step.
#[derive(Clone, Debug)]
pub struct Placement {
    places: HandPlaces,
    arms: Arms,
}

impl Placement {
    /// The placement for motions that came from `source` to `target`; `None` where one of them has no arms, or walks on
    /// them.
    pub fn new(source: (&Character, &Rig), target: (&Character, &Rig)) -> Option<Placement> {
        Some(Placement { places: HandPlaces::new(source, target)?, arms: Arms::of(target.0, target.1)? })
    }

    /// `motion` with its hands placed on the body as those of `source` are, frame for frame.
    ///
    /// # Panics
    /// Where the two have different numbers of frames or other skeletons than this was made for.
    pub fn apply(&self, source: &Motion, motion: Motion) -> (Motion, Placed) {
        assert_eq!(source.clip.frames(), motion.clip.frames(), "the motions are in step");
        let offsets = self.offsets(source, &motion);
        self.arms.moved(motion, &offsets)
    }

    /// From where each palm is to where it belongs, in every frame.
    fn offsets(&self, source: &Motion, motion: &Motion) -> Vec<[Vec3; 2]> {
        let both = [source, motion].map(|m| (m.character.skeleton(), &m.clip));
        let mut offsets = vec![[Vec3::zeros(); 2]; motion.clip.frames()];
        offsets.par_chunks_mut(BLOCK).enumerate().for_each(|(block, offsets)| {
            let mut poses = both.map(|(skeleton, _)| skeleton.rest_pose());
            let mut models = [0, 1].map(|k| ModelPose::of(both[k].0, &poses[k]));
            for (n, offset) in offsets.iter_mut().enumerate() {
                for (k, (skeleton, clip)) in both.iter().enumerate() {
                    clip.read_pose(block * BLOCK + n, &mut poses[k]);
                    models[k].set(skeleton, &poses[k]);
                }
                *offset = self.places.at(&models[0], &models[1]).map(|place| place.offset);
            }
        });
        offsets
    }
}
