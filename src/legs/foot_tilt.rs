//! Reduced tilt for feet much longer than the source's, so that an ankle rises over the planted ball as much as the source's,
//! scaled.
//!
//! The tilt `phi` of a foot from flat is changed to `phi - (1 - f) w phi s(phi)`; `f` is the ratio of forefoot lengths over that
//! of leg lengths, `s` falls from 1 at 45 degrees to 0 at 100, so that feet of bodies that lie or kneel keep their tilt. The
//! weight `w` is 1 while the source's sole touches the ground, 0 while it does not, and changes smoothly before it leaves: in
//! the air a foot has the rotation of the rotation copy. Cycles stay cycles. Space: model space, Y up. Units: radians, seconds.

use super::envelope::envelope;
use super::leg_pair::LegPair;
use super::limb_chain::{LimbPose, LimbPositions};
use super::settings::Settings;
use super::soles::SourceFeet;
use super::timeline::Timeline;
use crate::math::{Quat, Vec3, angle_between, exp, smoothstep};
use rayon::prelude::*;

/// Tilts, radians, up to which a foot stands or rolls off and from which it lies: toes that point down have 100 degrees. In a
/// narrower interval the foot would rotate at more than twice the source's speed.
const LIES: [f64; 2] = [45.0 * std::f64::consts::PI / 180.0, 100.0 * std::f64::consts::PI / 180.0];

/// Lengths of the source's forefoot relative to the target's below which a foot tilts less in full, and from which it keeps
/// its tilt. Feet up to a third longer can afford it: the largest knee errors are 3.5 degrees instead of 3.3 (median). Those
/// three times as long would hop.
const LONG: [f64; 2] = [0.5, 0.75];
/// Time over which a long foot takes back its tilt before it leaves the ground, seconds. Without it feet twice as long as the
/// source's rotate by up to 6.6 degrees a frame more than those instead of 1.8; with double they tilt as the copy's do almost
/// everywhere.
const LIFT_TIME: f64 = 0.05;

/// The delta rotations of feet that are longer than the source's, by leg and frame; empty for other feet. They are the
/// identity where the source's sole does not touch the ground.
pub fn foot_deltas(
    feet: &SourceFeet,
    time: &Timeline,
    scaled: &[Vec<LimbPositions>],
    copied: &[Vec<LimbPose>],
    pairs: &[LegPair],
    (ratio, leg): (f64, f64),
    settings: &Settings,
) -> Vec<Vec<Quat>> {
    let of_leg = |(k, pair): (usize, &LegPair)| {
        let LegPair { source, target, .. } = pair;
        let share = ratio * source.forefoot / target.forefoot.max(1e-9);
        let share = share + (1.0 - share) * smoothstep((share - LONG[0]) / (LONG[1] - LONG[0]));
        let Some(up) = feet.up(k, &copied[k]).filter(|_| source.forefoot > 0.0 && share < 1.0) else {
            return Vec::new();
        };
        let (source, copy) = ((&scaled[k][..], source), (&copied[k][..], target));
        let mut away = feet.touching(k, time, source, copy, (ratio, leg), settings);
        away.truncate(time.unknowns());
        away.iter_mut().for_each(|touching| *touching = 1.0 - *touching);
        let away = envelope(&away, &time.cut, time.cycle, time.reach(LIFT_TIME));
        let delta = |(f, pose): (usize, &LimbPose)| {
            let share = share + (1.0 - share) * away[time.unknown(f)].min(1.0);
            foot_tilt(&(pose.foot_rotation() * up), share)
        };
        copied[k].par_iter().with_min_len(64).enumerate().map(delta).collect()
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
