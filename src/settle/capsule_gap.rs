//! Gap between two capsules.

use crate::math::{Vec3, nearest_of_segments};

/// The nearest points of two capsules.
#[derive(Debug)]
pub struct CapsuleGap {
    /// Between the two surfaces; negative where they overlap.
    pub width: f64,
    /// From the second capsule to the first, unit length.
    pub out: Vec3,
    /// The nearest points of the two segments.
    pub at: [Vec3; 2],
}

impl CapsuleGap {
    /// Between two segments of these radii; `None` where their axes cross, so that no direction leads out.
    pub fn between([a, b]: [&[Vec3; 2]; 2], radii: [f64; 2]) -> Option<Self> {
        let [s, t] = nearest_of_segments(a, b);
        let at = [a[0].lerp(&a[1], s), b[0].lerp(&b[1], t)];
        let away = at[0] - at[1];
        let distance = away.norm();
        // A micrometre: no direction is left.
        (distance > 1e-6).then(|| Self { width: distance - radii[0] - radii[1], out: away / distance, at })
    }
}
