//! Smooth transition from 0 to 1.

/// `3 t^2 - 2 t^3`, clamped: 0 up to `t = 0`, 1 from `t = 1` on, with zero slope at both ends.
#[inline]
pub fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
