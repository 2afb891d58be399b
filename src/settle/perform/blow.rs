//! Hits: half sines of force on a part of the body.
//!
//! Units: as `perform`; impulses and masses are for the mass of the performing body.

use crate::math::Vec3;
use std::f64::consts::PI;

/// What hits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Blow {
    /// An impulse, newton seconds, model space.
    Impulse(Vec3),
    /// A mass in kilograms that arrives with a velocity, m/s, and stays (no bounce).
    Thrown {
        /// Kilograms.
        mass: f64,
        /// Metres per second, model space.
        velocity: Vec3,
    },
}

/// One hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// When it begins, seconds from the first frame.
    pub time: f64,
    /// The name of the part, for reports.
    pub part: String,
    /// The body that is hit, and where, in its axes.
    pub body: usize,
    /// See above, metres.
    pub at: Vec3,
    /// What hits.
    pub blow: Blow,
    /// How long it acts, seconds.
    pub duration: f64,
}

/// The impulse of a blow of `whole` newton seconds between two times from its begin: a half sine of force, in full.
pub fn part_of_blow(whole: &Vec3, duration: f64, from: f64, to: f64) -> Vec3 {
    let done = |t: f64| 0.5 * (1.0 - libm::cos(PI * (t / duration).clamp(0.0, 1.0)));
    whole * (done(to) - done(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_blow_are_the_whole_for_any_step() {
        let whole = Vec3::new(1.0, -20.0, 50.0);
        for (duration, h) in [(0.03, 1.0 / 240.0), (0.2, 1.0 / 240.0), (0.001, 1.0 / 240.0), (0.03, 0.01)] {
            let parts =
                (0..100).map(|k| part_of_blow(&whole, duration, f64::from(k) * h, f64::from(k + 1) * h));
            assert!((parts.sum::<Vec3>() - whole).norm() < 1e-12);
        }
    }
}
