//! Pushes arms out of the body, and measures self-intersection.
//!
//! A hand or forearm that is inside another part (`SelfContact`) moves out by the depth and [`MARGIN`] more; the push grows
//! smoothly from zero as the surfaces meet. Intersections of other parts (thighs through each other) are only counted.
//! Space: model space. Units: metres.

use super::move_palms::{Arms, MovedHands};
use crate::body::{BodyPart, CharacterBody, Overlap, SelfContact};
use crate::kinematics::map_frames;
use crate::math::Vec3;
use crate::model::{Motion, Side};

/// How much farther out than the surface a part is pushed, metres.
const MARGIN: f64 = 0.005;
/// The depth over which the push grows to its full size, metres.
const RAMP: f64 = 0.01;
/// The most rounds of pushing: the first push may end in another part.
const ROUNDS: usize = 3;
/// The nearer to the elbow a forearm is touched, the more its wrist must move; never more than by this share's inverse.
const LEVER: f64 = 0.4;

/// The push, ready.
#[derive(Clone, Debug)]
pub struct PushOut {
    body: SelfContact,
    arms: Option<Arms>,
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
        PushOut { body: SelfContact::new(body), arms: Arms::of(body) }
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
    pub fn apply(&self, mut motion: Motion) -> (Motion, MovedHands) {
        let mut all = MovedHands::default();
        let Some(arms) = &self.arms else { return (motion, all) };
        for _ in 0..ROUNDS {
            let offsets = self.each(&motion, pushes);
            let (moved, placed) = arms.moved(motion, &offsets);
            motion = moved;
            if placed.frames == 0 {
                break;
            }
            let frames = all.frames.max(placed.frames);
            all = MovedHands { frames, largest: all.largest.max(placed.largest), missed: placed.missed };
        }
        (motion, all)
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

/// How the palms of the left and of the right arm shall move, after all overlaps of a frame.
fn pushes(overlaps: &[Overlap]) -> [Vec3; 2] {
    let mut sums = [Vec3::zeros(); 2];
    let mut weights = [0.0; 2];
    let mut push = |part: BodyPart, along: f64, out: Vec3, overlap: &Overlap| {
        let (side, lever) = match part {
            BodyPart::Hand(side) => (side, 1.0),
            BodyPart::LowerArm(side) => (side, along.max(LEVER)),
            _ => return,
        };
        let k = usize::from(side == Side::Right);
        let ramp = (overlap.depth / RAMP).min(1.0);
        let far = (overlap.depth + MARGIN * ramp * ramp * (3.0 - 2.0 * ramp)) / lever;
        // Several parts at once: a mean in which the deepest counts most.
        sums[k] += out * (far * overlap.depth);
        weights[k] += overlap.depth;
    };
    for overlap in overlaps {
        let [light, heavy] = overlap.parts;
        let arm = |part| matches!(part, BodyPart::Hand(_) | BodyPart::LowerArm(_));
        // Two arms share the displacement.
        let share = if arm(light) && arm(heavy) { 0.5 } else { 1.0 };
        push(light, overlap.along, overlap.out * share, overlap);
        push(heavy, 1.0, -overlap.out * share, overlap);
    }
    [0, 1].map(|k| if weights[k] > 0.0 { sums[k] / weights[k] } else { Vec3::zeros() })
}
