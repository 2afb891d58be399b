//! Slope of the trunk of a quadruped that moves as another one does.
//!
//! Legs have the directions of the source's, and their lengths are the target's own: where its front legs are longer or shorter, relative
//! to the hind legs, than the source's, its shoulders are higher or lower. The trunk then slopes more or less by a constant of
//! the two bodies, so that neither pair of legs bends for it. Space: model space, Y up. Units: those of the bodies; radians.

use super::rest_alignment::CalibratedBody;
use crate::math::{Quat, exp};
use crate::model::{Role, Side};

/// Largest change of the slope, radians (15 degrees): what is left is shared by both pairs of legs.
const MOST: f64 = 0.26;

/// The rotation of the target's trunk about its lateral axis, in the space of the source's reference pose; `base` aligns the
/// target's body with it. `None` unless both are quadrupeds with whole legs.
pub fn trunk_slope(source: &CalibratedBody, target: &CalibratedBody, base: &Quat) -> Option<Quat> {
    if !(source.on_four_legs() && target.on_four_legs()) {
        return None;
    }
    let middle = |body: &CalibratedBody, role: fn(Side) -> Role| {
        let [left, right] = Side::BOTH.map(|side| body.position(role(side)));
        Some((left? + right?) * 0.5)
    };
    let hind = height(source, target, [Role::UpperLeg, Role::LowerLeg, Role::Foot])?;
    let front = height(source, target, [Role::UpperArm, Role::LowerArm, Role::Hand])?;
    let trunk = base * (middle(target, Role::UpperArm)? - middle(target, Role::UpperLeg)?);
    let length = trunk.norm();
    let slope = |rise: f64| libm::asin((rise / length).clamp(-1.0, 1.0));
    let more = (slope(front - hind) - slope(trunk.y)).clamp(-MOST, MOST);
    Some(exp(&(source.figure?.left * -more)))
}

/// The height of the joint above a pair of the target's legs, with the directions of the source's, above the ground; `chain` are the
/// roles of their joints.
fn height(source: &CalibratedBody, target: &CalibratedBody, chain: [fn(Side) -> Role; 3]) -> Option<f64> {
    let of_side = |side: Side| {
        let joints = |body: &CalibratedBody| {
            let [a, b, c] = chain.map(|role| body.position(role(side)));
            Some([a?, b?, c?])
        };
        let (from, to) = (joints(source)?, joints(target)?);
        let part = |k: usize| {
            let (along, length) = (from[k] - from[k + 1], (to[k] - to[k + 1]).norm());
            Some(along.try_normalize(1e-9)?.y * length)
        };
        Some(part(0)? + part(1)? + to[2].y)
    };
    let [left, right] = Side::BOTH.map(of_side);
    Some(0.5 * (left? + right?))
}
