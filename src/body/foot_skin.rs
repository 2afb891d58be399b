//! The skin of a foot becomes the few points of it that can be its lowest, whichever way the foot is turned.
//!
//! Of every joint of the foot those vertices are kept that lie furthest in one of 61 directions of the lower half
//! space, as the body stands: between two directions a sole of 30 cm is missed by less than a millimetre. Space: joint
//! space out. Units: metres.

use super::contact_points::{contact_points, skin_of_feet};
use crate::math::{Quat, Vec3, exp};
use crate::model::{Character, JointId, Rig, Role, Side};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Directions around and from the horizontal down to the vertical.
const AROUND: usize = 20;
const DOWN: usize = 3;
/// A skin of fewer vertices is none.
const FEWEST: usize = 8;

/// The lowest points of the foot of one side, in the spaces of its joints: of the skin, else heel, ball and tip.
pub fn foot_skin(character: &Character, rig: &Rig, side: Side) -> Vec<(JointId, Vec3)> {
    let stand = character.calibration_pose();
    let (foot, toes) = (rig.joint(Role::Foot(side)), rig.joint(Role::Toes(side)));
    let Some(foot) = foot else { return Vec::new() };
    let [left, right] = skin_of_feet(character, rig, &stand);
    let skin = if side == Side::Left { left } else { right };
    if skin.len() < FEWEST {
        let points = contact_points(character, rig);
        let own = points.iter().filter(|p| p.part.of_foot() && p.part.side() == Some(side));
        return own.map(|p| (p.joint, p.at)).collect();
    }
    let skeleton = character.skeleton();
    let carrier = |joint: JointId| match toes {
        Some(t) if joint == t || skeleton.is_ancestor(t, joint) => t,
        _ => foot,
    };
    let mut found = Vec::new();
    for joint in [Some(foot), toes].into_iter().flatten() {
        let own: Vec<Vec3> = skin.iter().filter(|(of, _)| carrier(*of) == joint).map(|(_, p)| *p).collect();
        let mut furthest: Vec<usize> = directions().filter_map(|d| support(&own, &d)).collect();
        furthest.sort_unstable();
        furthest.dedup();
        let within = stand.joint(joint).inverse();
        found.extend(furthest.into_iter().map(|k| (joint, within.point(&own[k]))));
    }
    found
}

/// Straight down, and around at several slopes.
pub(super) fn directions() -> impl Iterator<Item = Vec3> {
    let slanted = (0..DOWN).flat_map(|i| {
        let slope = -FRAC_PI_2 * i as f64 / DOWN as f64;
        (0..AROUND).map(move |k| {
            let heading: Quat = exp(&(Vec3::y() * (TAU * k as f64 / AROUND as f64 - PI)));
            heading * Vec3::new(0.0, libm::sin(slope), libm::cos(slope))
        })
    });
    slanted.chain([-Vec3::y()])
}

/// The number of the point that lies furthest in a direction, the first of several.
pub(super) fn support(points: &[Vec3], direction: &Vec3) -> Option<usize> {
    let mut best = None;
    for (k, p) in points.iter().enumerate() {
        let far = p.dot(direction);
        if best.is_none_or(|(_, most)| far > most) {
            best = Some((k, far));
        }
    }
    best.map(|(k, _)| k)
}
