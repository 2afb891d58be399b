//! Removes a constant pitch of the toes during stance, which is an error of the capture's calibration, not motion.
//!
//! Some captures have toes whose rotations are not zero while they lie on the floor. On a body whose toes have skin the whole
//! foot would stand on the back of raised toes. Such a pitch is taken out by a constant in the space of the toes.
//! Units: radians.

use super::leg_pair::LegPair;
use super::limb_pose::LimbPose;
use super::soles::SourceFeet;
use crate::math::{Quat, Vec3, angle_between, exp, percentile, smoothstep};

/// Mean pitch of toes while the foot is flat, from where they lie, up to which it stays and from which it is taken out (12 and 20
/// degrees): in 10 of 11 takes toes are less than 12 degrees off, in one 24.
const TOE_PITCH_BLEND: [f64; 2] = [0.21, 0.35];
/// Pitch from which it is that of the foot: of a body that lies on its back or its front (45 degrees).
const FOOT_TILTS: f64 = 0.79;
/// Largest share of that pitch by which nine tenths of these frames deviate from the mean: toes that move in stance are motion.
const SPREAD: f64 = 0.5;
/// Fewest frames with a flat foot that show a constant.
const FEWEST: usize = 5;

/// Lets toes lie on the floor while the foot is flat: the rotation of the toes of each leg in their own space; `None` for toes that do so
/// in the direct transfer.
pub fn lie_toes(
    feet: &SourceFeet,
    direct_poses: &mut [Vec<LimbPose>],
    pairs: &[LegPair],
) -> Vec<Option<Quat>> {
    let of_leg = |(k, pair): (usize, &LegPair)| {
        let poses = direct_poses[k].iter().zip(&feet.flat[k]).filter(|(_, flat)| **flat);
        let ups: Vec<Vec3> = poses.map(|(pose, _)| pose.toes.rotation.inverse() * Vec3::y()).collect();
        toe_rest(pair.lying_toes?, &ups)
    };
    let rests: Vec<Option<Quat>> = pairs.iter().enumerate().map(of_leg).collect();
    rest_toes(direct_poses, &rests);
    rests
}

/// The same of toes that lie where these directions of theirs are up and forwards, with these up directions while the foot is flat.
fn toe_rest([up, ahead]: [Vec3; 2], ups: &[Vec3]) -> Option<Quat> {
    let mean = ups.iter().sum::<Vec3>().try_normalize(1e-9).filter(|_| ups.len() >= FEWEST)?;
    let pitch = libm::atan2(mean.dot(&ahead), mean.dot(&up));
    let share = smoothstep((pitch.abs() - TOE_PITCH_BLEND[0]) / (TOE_PITCH_BLEND[1] - TOE_PITCH_BLEND[0]));
    let deviations: Vec<f64> = ups.iter().map(|up| angle_between(up, &mean)).collect();
    let is_steady = percentile(&deviations, 0.9) < SPREAD * pitch.abs();
    let is_constant = share > 0.0 && pitch.abs() < FOOT_TILTS && is_steady;
    is_constant.then(|| exp(&(up.cross(&ahead) * (pitch * share))))
}

/// Rotates the toes of each leg in their own space.
pub fn rest_toes(poses: &mut [Vec<LimbPose>], rests: &[Option<Quat>]) {
    for (poses, rest) in poses.iter_mut().zip(rests).filter_map(|(poses, rest)| Some((poses, rest.as_ref()?)))
    {
        poses.iter_mut().for_each(|pose| pose.toes.rotation *= rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIE: [Vec3; 2] = [Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];

    /// The rotation of toes that point up by `degrees`.
    fn raised(degrees: f64) -> Quat {
        exp(&(Vec3::x() * -degrees.to_radians()))
    }

    /// Up directions in the space of toes that point up by 25 degrees and by these further ones in each frame.
    fn held(more: impl Fn(usize) -> f64) -> Vec<Vec3> {
        (0..40).map(|f| raised(25.0 + more(f)).inverse() * Vec3::y()).collect()
    }

    #[test]
    fn toes_held_up_throughout_lie_on_the_floor() {
        let steady = |f: usize| if f.is_multiple_of(2) { 2.0 } else { -2.0 };
        let rest = toe_rest(LIE, &held(steady)).unwrap();
        assert!(angle_between(&(raised(25.0) * rest * Vec3::y()), &Vec3::y()) < 1e-6);
        // Also where toes are at another angle in their own space.
        let tilted = exp(&Vec3::new(0.3, 0.1, 0.2)).inverse();
        let ups: Vec<Vec3> = held(steady).iter().map(|up| tilted * up).collect();
        let other = toe_rest(LIE.map(|v| tilted * v), &ups).unwrap();
        assert!((tilted * rest * tilted.inverse()).angle_to(&other) < 1e-6);
    }

    #[test]
    fn toes_that_lie_roll_or_move_stay() {
        assert_eq!(toe_rest(LIE, &held(|_| -15.0)), None, "as well as they are known");
        assert_eq!(toe_rest(LIE, &held(|_| 65.0)), None, "a body that lies on its back");
        assert_eq!(toe_rest(LIE, &held(|f| 1.3 * (f as f64 - 20.0))), None, "they move");
        assert_eq!(toe_rest(LIE, &held(|_| 0.0)[..3]), None, "three frames");
        let rolled = exp(&(Vec3::z() * 0.4)).inverse() * Vec3::y();
        assert_eq!(toe_rest(LIE, &[rolled; 40]), None, "a foot on its edge");
    }
}
