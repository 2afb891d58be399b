//! Operations on three `f32` coordinates for per-pixel code.

pub(super) use crate::math::{cross, difference as sub, dot, scaled as scale, sum as add};

/// A point, direction or linear colour.
pub(super) type V3 = [f32; 3];

/// `a` normalised; straight up if its length is zero.
pub(super) fn unit(a: V3) -> V3 {
    let length = dot(a, a).sqrt();
    if length > 1e-20 { scale(a, 1.0 / length) } else { [0.0, 1.0, 0.0] }
}

pub(super) fn mix(a: V3, b: V3, t: f32) -> V3 {
    add(scale(a, 1.0 - t), scale(b, t))
}

/// From 0 at `low` to 1 at `high`, smooth at both ends.
#[inline(always)]
pub(super) fn smooth(low: f32, high: f32, x: f32) -> f32 {
    // A product, so that constant bounds cost no division.
    let t = ((x - low) * (1.0 / (high - low))).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
