//! Pushes arms out of the body, and measures self-intersection.
//!
//! Arms move out of the character's own skin for the whole clip at once ([`ArmPlacement`]), as far as they are deeper in it than
//! touching; arms of a character without skin are not moved. Intersections of all parts are counted by capsules
//! (`SelfContact`). Space: model space. Units: metres.

use super::arm_placement::ArmPlacement;
use super::write_arms::MovedHands;
use crate::body::{BodyPart, CharacterBody, Overlap, SelfContact};
use crate::kinematics::map_frames;
use crate::model::Motion;

/// The push, ready.
#[derive(Clone, Debug)]
pub struct PushOut {
    body: SelfContact,
    arms: Option<ArmPlacement>,
}

/// How far a motion is inside itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inside {
    /// The depth of the deepest overlap of every frame, metres.
    pub depths: Vec<f64>,
    /// Every pair of parts that overlaps in some frame, with the depth of the deepest overlap, deepest first.
    pub pairs: Vec<([BodyPart; 2], f64)>,
}

impl Inside {
    /// The frames with an overlap.
    pub fn frames(&self) -> usize {
        self.depths.iter().filter(|d| **d > 0.0).count()
    }

    /// The deepest overlap, metres.
    pub fn deepest(&self) -> f64 {
        self.depths.iter().copied().fold(0.0, f64::max)
    }
}

impl PushOut {
    /// The push for one character.
    pub fn new(body: &CharacterBody) -> PushOut {
        PushOut { body: SelfContact::new(body), arms: ArmPlacement::alone(body) }
    }

    /// How far the motion is inside itself.
    pub fn inside(&self, motion: &Motion) -> Inside {
        let frames = self.each(motion, |overlaps| overlaps.to_vec());
        let depths = frames.iter().map(|all| all.iter().map(|o| o.depth).fold(0.0, f64::max)).collect();
        let mut pairs: Vec<([BodyPart; 2], f64)> = Vec::new();
        for overlap in frames.iter().flatten() {
            match pairs.iter_mut().find(|p| p.0 == overlap.parts) {
                Some(pair) => pair.1 = pair.1.max(overlap.depth),
                None => pairs.push((overlap.parts, overlap.depth)),
            }
        }
        pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Inside { depths, pairs }
    }

    /// The motion with its arms outside its body.
    pub fn apply(&self, motion: Motion) -> (Motion, MovedHands) {
        match &self.arms {
            Some(arms) => arms.push_out(motion),
            None => (motion, MovedHands::default()),
        }
    }

    /// Something of the overlaps of every frame.
    fn each<T: Send>(&self, motion: &Motion, of: impl Fn(&[Overlap]) -> T + Sync) -> Vec<T> {
        map_frames(motion.character.skeleton(), &motion.clip, |model| {
            // Most frames have none, and nothing is allocated for them.
            let mut found = Vec::new();
            self.body.overlaps(model, &mut found);
            of(&found)
        })
    }
}
