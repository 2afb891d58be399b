//! A leg that is too short for its foot's lock rises over the ball, as people do, before anything slips.
//!
//! The foot turns about its ball until the ankle is near enough to the hip: with `v` from ball to ankle and `h` from ball
//! to hip, `|v(t) - h| <= most` where `v(t) . h = v_a h_a + |v_p| |h_p| cos(p - t)`, `a` along the axis of the turn, `p`
//! across it, `p` the angle from `v_p` to `h_p`. Space: model space, Y up. Units: metres, radians.

use super::closure::STRAIGHT;
use super::foot::{axis, pitch, toes_out_of_floor};
use super::leg::{Change, Leg, Step, level};
use super::lock::Held;
use super::pelvis::{length, stretched};
use super::ramp::envelope;
use crate::math::Vec3;

/// The most that a heel rises for this, radians.
const MOST: f64 = 0.7;

/// Lets heels rise in frames in which the ball rests and the ankle is out of reach of a hip that moves by `offset`.
pub fn rise(
    leg: &Leg,
    steps: &[Step],
    held: &[Held],
    floor: &[f64],
    offset: &[f64],
    changes: &mut [Change],
    reach: f64,
) {
    let needed: Vec<f64> = (0..steps.len())
        .map(|f| match held[f] {
            Held::Ball(_) | Held::Flat(..) => needed(leg, &steps[f], &changes[f], offset[f]),
            Held::Free | Held::Heel(_) => 0.0,
        })
        .collect();
    let angles = envelope(&needed, |f| matches!(held[f], Held::Heel(_)), reach as usize);
    for (f, step) in steps.iter().enumerate().filter(|(f, _)| angles[*f] > 0.0) {
        let change = &mut changes[f];
        let before = leg.sole(&leg.changed(step, change))[1];
        pitch(leg, step, change, angles[f]);
        toes_out_of_floor(leg, step, before.y - floor[f], change);
        change.shift += before - leg.sole(&leg.changed(step, change))[1];
    }
}

/// The angle by which the heel must rise.
fn needed(leg: &Leg, step: &Step, change: &Change, offset: f64) -> f64 {
    let moved = leg.changed(step, change);
    let hip = step.upper.translation + Vec3::y() * offset;
    let ankle = moved.foot.translation;
    let most = stretched(length(step), (step.foot.translation - step.upper.translation).norm());
    let most = most.max(STRAIGHT * length(step));
    if (ankle - hip).norm() <= most {
        return 0.0;
    }
    let (ball, axis) = (leg.sole(&moved)[1], axis(leg, &moved));
    let (v, h) = (ankle - ball, hip - ball);
    let (across_v, across_h) = (level(&v, &axis), level(&h, &axis));
    let product = across_v.norm() * across_h.norm();
    let angle = across_v.cross(&across_h).dot(&axis).atan2(across_v.dot(&across_h));
    let wanted = 0.5 * (v.norm_squared() + h.norm_squared() - most * most) - v.dot(&axis) * h.dot(&axis);
    let rest = (wanted / product.max(1e-12)).clamp(-1.0, 1.0).acos();
    (angle - rest).clamp(0.0, MOST)
}
