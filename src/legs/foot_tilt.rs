//! Feet longer than the source's tilt less, so that both ankles rise as much over a ball on the ground as the source's scaled.
//!
//! The tilt `phi` of a foot away from flat becomes `phi - (1 - f) phi s(phi)`, `f` the ratio of soles over that of legs, `s`
//! falling from 1 at 45 degrees to 0 at 100, so that feet of bodies that lie and kneel keep theirs. A function of the
//! frame alone: cycles stay cycles. Space: model space, Y up. Units: radians.

use crate::math::{Quat, Vec3, angle_between, exp, smoothstep};

/// Up to the first a tilt is that of a foot which stands or rolls off, from the second on of one that lies, radians: toes
/// that point down lie at 100. A narrower span turns the foot by more than twice the source's speed within it.
const LIES: [f64; 2] = [45.0 * std::f64::consts::PI / 180.0, 100.0 * std::f64::consts::PI / 180.0];

/// The turn of a foot about its ankle whose upward direction, level where it is flat, is `up`, where the source's sole is
/// `share` as long; nothing where it is longer.
pub fn foot_tilt(up: &Vec3, share: f64) -> Quat {
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
