//! Continuous quaternion signs from frame to frame.
//!
//! `q` and `-q` are the same rotation; interpolation between opposite signs takes the long arc.

use crate::math::{Quat, same_hemisphere};
use crate::model::{Clip, Motion, Pose};
use crate::parallel;

/// Frames per block that is processed in parallel with others.
const BLOCK: usize = 256;

/// Gives every rotation the sign nearest to the previous frame's; the first frame is unchanged.
///
/// No rotation changes; continuous signs remain unchanged, bit for bit. After a rotation by 180 degrees, where neither
/// sign is nearer, the sign is kept.
pub fn fix_hemispheres(clip: &mut Clip) {
    let frames = clip.frames();
    let changes = parallel::map(frames.div_ceil(BLOCK), 1, |block| sign_changes(clip, block));
    let mut negated = vec![false; clip.joints()];
    for (block, changes) in changes.into_iter().enumerate() {
        if changes.is_empty() && !negated.contains(&true) {
            continue;
        }
        let mut changes = changes.into_iter().peekable();
        for frame in block * BLOCK..frames.min((block + 1) * BLOCK) {
            while let Some((_, joint, nearness)) = changes.next_if(|(of, ..)| *of == frame) {
                negated[joint] = nearness < 0.0 && !negated[joint];
            }
            let row = clip.rotations_mut(frame).iter_mut().zip(&negated);
            row.filter(|(_, negated)| **negated).for_each(|(q, _)| *q = Quat::new_unchecked(-q.into_inner()));
        }
    }
}

/// The frames and joints of a block whose sign is not the nearest to that of the frame before, in order, with the scalar product of both.
fn sign_changes(clip: &Clip, block: usize) -> Vec<(usize, usize, f64)> {
    let mut found = Vec::new();
    for frame in (block * BLOCK).max(1)..clip.frames().min((block + 1) * BLOCK) {
        let (before, row) = (clip.rotations(frame - 1), clip.rotations(frame));
        let nearness = before.iter().zip(row.iter()).map(|(a, b)| a.coords.dot(&b.coords));
        // Not a number is no side either.
        found.extend(nearness.enumerate().filter(|(_, d)| *d <= 0.0).map(|(joint, d)| (frame, joint, d)));
    }
    found
}

/// The motion with its poses replaced, with continuous signs.
pub fn with_poses(motion: &Motion, poses: &[Pose]) -> Motion {
    let like = &motion.clip;
    let mut clip = Clip::from_poses(like.name.clone(), like.sample_rate, motion.character.skeleton(), poses);
    (clip.start, clip.tolerance) = (like.start, like.tolerance);
    clip.property_tracks = like.property_tracks_in(0..poses.len());
    fix_hemispheres(&mut clip);
    Motion { clip, ..motion.clone() }
}

/// As `fix_hemispheres`, for the rotations of one joint.
pub fn fix_sequence(rotations: &mut [Quat]) {
    for k in 1..rotations.len() {
        rotations[k] = same_hemisphere(rotations[k], &rotations[k - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{RawQuat, Vec3, exp};

    #[test]
    fn blocks_join_as_one_frame_after_the_other_does() {
        // Three joints: one flips at random, one also makes half turns, one stays.
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let half_turns = [Quat::identity(), Quat::new_unchecked(RawQuat::new(0.0, 1.0, 0.0, 0.0))];
        for frames in [1, 2, BLOCK, BLOCK + 1, 3 * BLOCK + 7] {
            let mut rotations = Vec::new();
            for f in 0..frames {
                let mut signed =
                    |q: Quat| if random() % 2 == 0 { Quat::new_unchecked(-q.into_inner()) } else { q };
                rotations.push(signed(exp(&Vec3::new(0.02 * f as f64, 0.1, 0.0))));
                let half_turn = half_turns[f / 100 % 2];
                rotations.push(signed(half_turn));
                rotations.push(Quat::identity());
            }
            let mut expected = rotations.clone();
            for k in 3..expected.len() {
                expected[k] = same_hemisphere(expected[k], &expected[k - 3]);
            }
            let mut clip = Clip::new("", 30.0, 3, rotations, vec![], vec![]);
            fix_hemispheres(&mut clip);
            assert_eq!(clip.all_rotations(), expected, "{frames} frames");
        }
    }

    #[test]
    fn flipped_signs_become_continuous_and_no_rotation_changes() {
        let turning: Vec<Quat> = (0..40).map(|k| exp(&Vec3::new(0.3 * k as f64, 0.1, 0.0))).collect();
        let flip =
            |(k, q): (usize, &Quat)| if k % 3 == 1 { Quat::new_unchecked(-q.into_inner()) } else { *q };
        let flipped: Vec<Quat> = turning.iter().enumerate().map(flip).collect();
        let mut clip = Clip::new("", 30.0, 2, flipped, vec![], vec![]);
        fix_hemispheres(&mut clip);
        for frame in 1..clip.frames() {
            for (a, b) in clip.rotations(frame).iter().zip(clip.rotations(frame - 1).iter()) {
                assert!(a.coords.dot(&b.coords) >= 0.0);
            }
        }
        assert!(clip.all_rotations().iter().zip(&turning).all(|(a, b)| a.angle_to(b) < 1e-12));
        let mut again = clip.clone();
        fix_hemispheres(&mut again);
        assert_eq!(again, clip);
    }
}
