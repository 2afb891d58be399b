//! Quaternion signs become continuous from frame to frame.
//!
//! `q` and `-q` are the same rotation; between two of opposite signs an interpolation takes the long way round.

use crate::math::{Quat, same_hemisphere};
use crate::model::{Clip, Motion, Pose};

/// Gives every rotation the sign that lies nearest to the one before it; the first frame stays.
///
/// No rotation changes, and where the signs were continuous, no bit.
pub fn fix_hemispheres(clip: &mut Clip) {
    let joints = clip.joints();
    let rotations = clip.all_rotations_mut();
    for k in joints..rotations.len() {
        rotations[k] = same_hemisphere(rotations[k], &rotations[k - joints]);
    }
}

/// The motion with these poses in place of its own, frame by frame, their signs continuous.
pub fn with_poses(motion: &Motion, poses: &[Pose]) -> Motion {
    let like = &motion.clip;
    let mut clip = Clip::from_poses(like.name.clone(), like.sample_rate, motion.character.skeleton(), poses);
    (clip.start, clip.tolerance) = (like.start, like.tolerance);
    clip.carried = like.carried_in(0..poses.len());
    fix_hemispheres(&mut clip);
    Motion { clip, ..motion.clone() }
}

/// As [`fix_hemispheres`], for the rotations of one joint.
pub fn fix_sequence(rotations: &mut [Quat]) {
    for k in 1..rotations.len() {
        rotations[k] = same_hemisphere(rotations[k], &rotations[k - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Vec3, exp};

    #[test]
    fn flipped_signs_become_continuous_and_no_rotation_changes() {
        let turning: Vec<Quat> = (0..40).map(|k| exp(&Vec3::new(0.3 * k as f64, 0.1, 0.0))).collect();
        let flip =
            |(k, q): (usize, &Quat)| if k % 3 == 1 { Quat::new_unchecked(-q.into_inner()) } else { *q };
        let flipped: Vec<Quat> = turning.iter().enumerate().map(flip).collect();
        let mut clip = Clip::new("", 30.0, 2, flipped, vec![], vec![]);
        fix_hemispheres(&mut clip);
        for frame in 1..clip.frames() {
            for (a, b) in clip.rotations(frame).iter().zip(clip.rotations(frame - 1)) {
                assert!(a.coords.dot(&b.coords) >= 0.0);
            }
        }
        assert!(clip.all_rotations().iter().zip(&turning).all(|(a, b)| a.angle_to(b) < 1e-12));
        let mut again = clip.clone();
        fix_hemispheres(&mut again);
        assert_eq!(again, clip);
    }
}
