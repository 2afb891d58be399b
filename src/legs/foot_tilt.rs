//! Reduced tilt for feet much longer than the source's, so that an ankle rises over the planted ball as much as the source's,
//! scaled.
//!
//! The tilt `phi` of a foot from flat is changed to `phi - (1 - f) phi s(phi)`; `f` is the ratio of forefoot lengths over that of
//! leg lengths, 1 for feet up to a third longer; `s` falls from 1 at 45 degrees to 0 at 100, so that feet of bodies that lie or
//! kneel keep their tilt. The change depends on the frame alone: cycles stay cycles. Space: model space, Y up. Units: radians.

use super::leg_pair::LegPair;
use super::limb_chain::LimbPose;
use super::soles::SourceFeet;
use crate::math::{Quat, Vec3, angle_between, exp, smoothstep};
use rayon::prelude::*;

/// Tilts, radians, up to which a foot stands or rolls off and from which it lies: toes that point down have 100 degrees. In a
/// narrower interval the foot would rotate at more than twice the source's speed.
const LIES: [f64; 2] = [45.0 * std::f64::consts::PI / 180.0, 100.0 * std::f64::consts::PI / 180.0];

/// Lengths of the source's forefoot relative to the target's below which a foot tilts less in full, and from which it keeps
/// its tilt. Feet up to a third longer can afford it: the largest knee errors are 3.5 degrees instead of 3.3 (median). Feet
/// twice as long that take back their tilt in the air, or before they leave the ground, cost knees: of 18 takes on two
/// long-footed characters the largest knee errors are 8.0 to 10.6 degrees instead of 7.0 (mean), the jerk of their feet 1.5
/// to 1.8 times the take's instead of 1.4.
const LONG: [f64; 2] = [0.5, 0.75];

/// The delta rotations of feet that are much longer than the source's, by leg and frame; empty for other feet, which keep the
/// rotation of the rotation copy. `ratio` is that of leg lengths.
pub fn foot_deltas(
    feet: &SourceFeet,
    copied: &[Vec<LimbPose>],
    pairs: &[LegPair],
    ratio: f64,
) -> Vec<Vec<Quat>> {
    let of_leg = |(k, pair): (usize, &LegPair)| {
        let LegPair { source, target, .. } = pair;
        let share = ratio * source.forefoot / target.forefoot.max(1e-9);
        let share = share + (1.0 - share) * smoothstep((share - LONG[0]) / (LONG[1] - LONG[0]));
        let Some(up) = feet.up(k, &copied[k]).filter(|_| source.forefoot > 0.0 && share < 1.0) else {
            return Vec::new();
        };
        let delta = |pose: &LimbPose| foot_tilt(&(pose.foot_rotation() * up), share);
        copied[k].par_iter().with_min_len(64).map(delta).collect()
    };
    pairs.iter().enumerate().map(of_leg).collect()
}

/// The delta rotation of a foot about its ankle. `up` is the direction of the foot that is vertical while it is flat; `share`
/// is the length of the source's forefoot relative to the target's. The identity for 1 and more.
fn foot_tilt(up: &Vec3, share: f64) -> Quat {
    let tilt = angle_between(up, &Vec3::y());
    let Some(axis) = up.cross(&Vec3::y()).try_normalize(1e-9) else { return Quat::identity() };
    let stands = 1.0 - smoothstep((tilt - LIES[0]) / (LIES[1] - LIES[0]));
    exp(&(axis * ((1.0 - share).max(0.0) * tilt * stands)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sole_twice_as_long_tilts_half_as_much() {
        let up = |degrees: f64| exp(&(Vec3::new(0.6, 0.0, 0.8) * degrees.to_radians())) * Vec3::y();
        for degrees in [0.0, 5.0, 20.0, 44.0] {
            let left = angle_between(&(foot_tilt(&up(degrees), 0.5) * up(degrees)), &Vec3::y());
            assert!((left.to_degrees() - 0.5 * degrees).abs() < 1e-6, "{degrees}");
            assert_eq!(foot_tilt(&up(degrees), 1.1), Quat::identity());
        }
        assert_eq!(foot_tilt(&up(120.0), 0.5), Quat::identity(), "a foot that lies stays");
        let tilts: Vec<f64> = (0..180)
            .map(|d| angle_between(&(foot_tilt(&up(d.into()), 0.3) * up(d.into())), &Vec3::y()))
            .collect();
        assert!(tilts.windows(2).all(|w| w[0] <= w[1]), "what tilts more is left with more");
    }
}
