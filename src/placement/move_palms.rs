//! Moves both palms of a motion by offsets, with two-bone IK of the arms.
//!
//! Offsets are smoothed over time first, so that only slow changes are added. A frame depends on its own neighbours
//! only: the same bytes for any number of threads. Space: model space. Units: metres.

use super::arm_ik::Arm;
use crate::body::CharacterBody;
use crate::kinematics::{Towards, is_cycle, shots};
use crate::math::{Quat, Vec3};
use crate::model::{ModelPose, Motion, Pose, Side};
use crate::signal::fix_hemispheres;
use rayon::prelude::*;

/// Half the width of the smoothing window of offsets, seconds.
const WINDOW: f64 = 0.25;
/// Offsets below this are ignored, metres.
const NOTHING: f64 = 1e-7;
/// Frames that share scratch poses.
pub(super) const BLOCK: usize = 64;

/// Both arms of a body, left and right, as far as it has them.
#[derive(Clone, Debug)]
pub(super) struct Arms([Option<Arm>; 2]);

/// How far hands were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovedHands {
    /// Frames in which a hand moved by a millimetre or more.
    pub frames: usize,
    /// The largest displacement of a hand, metres.
    pub largest: f64,
    /// The largest distance of a hand from its target because the arm is too short, metres.
    pub missed: f64,
}

impl MovedHands {
    fn and(self, other: MovedHands) -> MovedHands {
        MovedHands {
            frames: self.frames + other.frames,
            largest: self.largest.max(other.largest),
            missed: self.missed.max(other.missed),
        }
    }
}

impl Arms {
    /// The arms of a body with legs.
    pub(super) fn of(body: &CharacterBody) -> Option<Arms> {
        let figure = body.figure()?;
        Some(Arms(Side::BOTH.map(|side| Arm::of(body.rig(), body.pose(), figure, side))))
    }

    /// `motion` with its palms moved by the smoothed `offsets`.
    pub(super) fn moved(&self, mut motion: Motion, offsets: &[[Vec3; 2]]) -> (Motion, MovedHands) {
        let offsets = smoothed(offsets, &motion);
        let skeleton = motion.character.skeleton().clone();
        let joints = skeleton.len();
        let towards = Towards::new(&skeleton, self.0.iter().flatten().flat_map(Arm::joints));
        let (rotations, translated, translations) = motion.clip.rotations_beside();
        let frame = |rotations: &mut [Quat], pose: &mut Pose, model: &mut ModelPose, frame: usize| {
            let mut placed = MovedHands::default();
            let offset = &offsets[frame];
            if offset.iter().all(|o| o.norm() < NOTHING) {
                return placed;
            }
            pose.local_mut().iter_mut().zip(rotations.iter()).for_each(|(t, q)| t.rotation = *q);
            for (id, place) in translated.iter().zip(&translations[frame * translated.len()..]) {
                pose.local_mut()[id.index()].translation = *place;
            }
            towards.set(pose, model);
            for (arm, offset) in self.0.iter().zip(offset) {
                let Some(arm) = arm.filter(|_| offset.norm() >= NOTHING) else { continue };
                let Some(bend) = arm.bend(&skeleton, model, offset) else { continue };
                for (id, q) in bend.rotations {
                    rotations[id.index()] = q;
                }
                placed.missed = placed.missed.max(bend.miss);
                placed.largest = placed.largest.max(offset.norm() - bend.miss);
            }
            placed.frames = usize::from(placed.largest >= 1e-3);
            placed
        };
        let blocks: Vec<MovedHands> = rotations
            .par_chunks_mut(BLOCK * joints)
            .enumerate()
            .map(|(block, rows)| {
                let mut pose = skeleton.rest_pose();
                let mut model = ModelPose::of(&skeleton, &pose);
                let rows = rows.chunks_mut(joints).enumerate();
                let each = rows.map(|(n, row)| frame(row, &mut pose, &mut model, block * BLOCK + n));
                each.fold(MovedHands::default(), MovedHands::and)
            })
            .collect();
        fix_hemispheres(&mut motion.clip);
        (motion, blocks.into_iter().fold(MovedHands::default(), MovedHands::and))
    }
}

/// The offsets under a raised cosine of [`WINDOW`], which goes round a cycle; at cuts and at the ends of a clip, of what
/// there is of it.
fn smoothed(offsets: &[[Vec3; 2]], motion: &Motion) -> Vec<[Vec3; 2]> {
    let rate = motion.clip.sample_rate;
    let (frames, reach) = (offsets.len(), (WINDOW * rate) as usize);
    let raised = |k: usize| 0.5 + 0.5 * libm::cos(std::f64::consts::PI * k as f64 / (WINDOW * rate));
    let window: Vec<f64> = (0..=reach).map(raised).collect();
    let shots = shots(motion);
    let cycle = shots.len() == 1 && is_cycle(motion);
    let at = |frame: usize| {
        let shot = &shots[shots.partition_point(|shot| shot.end <= frame)];
        let (first, end) = (shot.start as isize, shot.end as isize);
        let mut sum = [Vec3::zeros(); 2];
        let mut weights = 0.0;
        let (frame, wide) = (frame as isize, reach as isize);
        for near in frame - wide..=frame + wide {
            // The last frame of a cycle is its first once more.
            let k = if cycle { near.rem_euclid(frames as isize - 1) } else { near };
            if !(first..end).contains(&k) {
                continue;
            }
            let weight = window[near.abs_diff(frame)];
            weights += weight;
            let offset = &offsets[k as usize];
            sum = [sum[0] + offset[0] * weight, sum[1] + offset[1] * weight];
        }
        sum.map(|v| v / weights)
    };
    (0..frames).into_par_iter().map(at).collect()
}
