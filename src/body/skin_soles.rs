//! Finds the soles of a skin, however the legs are posed.
//!
//! The sole rests on its lowest point under the heel and its lowest point under the ball, also where it is rounded, hollow or has a
//! heel. Which points those are depends on which way is down: along the shin at first, then at right angles to the line through both.
//! Space: model space. Units: metres, radians.

use super::contact_points::skin_of_feet;
use crate::math::Vec3;
use crate::model::{Character, ModelPose, Rig, Role, Side};
use std::ops::Range;

/// The heel and the ball as shares of the foot's length from its back.
const HEEL: Range<f64> = 0.0..0.35;
/// See [`HEEL`]. The toes of shoes and people are raised.
const BALL: Range<f64> = 0.5..0.8;
/// Rounds in which the direction of the foot is taken from its skin again: joints of toes may lie to a side.
const TURNS: usize = 2;
/// Rounds until heel and ball stay the same points: three to five on people, toys and robots.
const ROUNDS: usize = 12;
/// The angle between heel and ball after which they stay the same, radians.
const SETTLED: f64 = 1e-3;
/// Skin behind the ankle, over the length of the foot, from which there is a heel: people and toys have 0.09 to 0.31, bones that are
/// drawn as skin none.
const BEHIND: f64 = 0.05;
/// A foot with fewer vertices than this has no sole.
const FEWEST: usize = 12;

/// The directions from heel to ball along the soles of the left and of the right foot in `pose`, by their skin.
pub fn skin_soles(character: &Character, rig: &Rig, pose: &ModelPose) -> [Option<Vec3>; 2] {
    let skin = skin_of_feet(character, rig, pose);
    Side::BOTH.map(|side| {
        let at = |role: Role| rig.joint(role).map(|id| pose.position(id));
        let (knee, ankle) = (at(Role::LowerLeg(side))?, at(Role::Foot(side))?);
        let points: Vec<Vec3> = skin[side.index()].iter().map(|(_, p)| p - ankle).collect();
        let ahead = at(Role::Toes(side)).map_or_else(|| mean(&points), |ball| ball - ankle);
        sole(&points, ahead, (ankle - knee).try_normalize(1e-9)?)
    })
}

fn mean<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Vec3 {
    let (sum, count) = points.into_iter().fold((Vec3::zeros(), 0.0), |(sum, n), p| (sum + p, n + 1.0));
    sum / f64::max(count, 1.0)
}

/// The direction along a sole with this skin around the ankle; `down` along the shin and `ahead` to the toes are first guesses.
fn sole(skin: &[Vec3], mut ahead: Vec3, mut down: Vec3) -> Option<Vec3> {
    if skin.len() < FEWEST {
        return None;
    }
    for round in 0..ROUNDS {
        let front = (ahead - down * ahead.dot(&down)).try_normalize(1e-6)?;
        let along = || skin.iter().map(|p| p.dot(&front));
        let back = along().fold(f64::INFINITY, f64::min);
        let length = along().fold(f64::NEG_INFINITY, f64::max) - back;
        let part = |part: Range<f64>| -> Vec<&Vec3> {
            skin.iter().filter(|p| part.contains(&((p.dot(&front) - back) / length))).collect()
        };
        let (heel, ball) = (part(HEEL), part(BALL));
        let lowest =
            |of: &[&Vec3]| of.iter().copied().max_by(|a, b| a.dot(&down).total_cmp(&b.dot(&down))).copied();
        let line = lowest(&ball)? - lowest(&heel)?;
        let angle = libm::atan2(line.dot(&down), line.dot(&front));
        if round >= TURNS && angle.abs() < SETTLED {
            return (-back > BEHIND * length).then_some(front);
        }
        if round < TURNS {
            ahead = mean(ball) - mean(heel);
        }
        let (sin, cos) = libm::sincos(angle);
        down = (down * cos - front * sin).normalize();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, angle_between, exp};

    /// A shoe of 27 by 9 cm with a heel of this height, its ankle at the origin, rotated about it; without skin behind the ankle if
    /// it is a bone.
    fn shoe(rotation: &Quat, heel: f64, bone: bool) -> Vec<Vec3> {
        let mut skin = Vec::new();
        for k in 0..=9 {
            for x in [-0.045, -0.02, 0.02, 0.045_f64] {
                let z = if bone { 0.03 * f64::from(k) } else { -0.06 + 0.03 * f64::from(k) };
                let hollow = if (2..5).contains(&k) { heel } else { 0.0 };
                let toes = if k > 7 { 0.02 } else { 0.0 };
                // Rounded towards both sides.
                let side = if x.abs() > 0.03 { 0.01 } else { 0.0 };
                let top = 0.03 + (0.07 + heel) * (1.0 - f64::from(k) / 9.0);
                skin.extend([hollow + toes + side, top].map(|y| rotation * Vec3::new(x, y - 0.1 - heel, z)));
            }
        }
        skin
    }

    #[test]
    fn soles_of_posed_shoes_are_found_with_high_heels_too_and_bones_have_none() {
        for heel in [0.0, 0.08] {
            // The pitch of the foot with its shin, and that of the foot alone.
            for (leg, ankle) in [(0.0, 0.0), (0.0, 25.0), (-80.0, 0.0), (60.0, 0.0), (30.0, -30.0_f64)] {
                let q: Quat = exp(&(Vec3::x() * (leg + ankle).to_radians()));
                let shin: Quat = exp(&(Vec3::x() * leg.to_radians()));
                let ahead = q * Vec3::new(0.0, -0.08 - heel, 0.13);
                let found = sole(&shoe(&q, heel, false), ahead, shin * -Vec3::y()).unwrap();
                let off = angle_between(&found, &(q * Vec3::z()));
                assert!(off.to_degrees() < 0.5, "{heel} {leg} {ankle}: {} degrees", off.to_degrees());
                assert_eq!(sole(&shoe(&q, heel, true), ahead, shin * -Vec3::y()), None);
            }
        }
    }
}
