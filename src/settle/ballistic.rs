//! A body that does not fly as it should goes the way of least jerk whose flights are parabolas.
//!
//! The shift `d` of the centre of mass `c` minimises `sum |D3 d|^2 + (2 pi f / rate)^6 sum |d|^2` over all frames and
//! `W sum |D2 (c + d) - g / rate^2|^2` over frames in the air (`D2`, `D3`: second and third differences): a body that
//! must take off faster crouches before, and no flight begins with a kink. Space: model space. Units: metres, hertz.

use super::flight::Flight;
use super::ragdoll::GRAVITY;
use crate::math::Vec3;
use crate::signal::Bands;

/// The shift leaves the clip alone below this frequency, hertz.
const STAYS: f64 = 3.5;

/// How much more gravity matters in flight than a smooth way.
const FALLS: f64 = 1e6;

/// The second difference.
const CURVE: [f64; 3] = [1.0, -2.0, 1.0];

/// The shift of every frame of a body whose centre of mass is at these places.
pub fn ballistic(centers: &[Vec3], flights: &[Flight], rate: f64) -> Vec<Vec3> {
    let n = centers.len();
    let stays = (std::f64::consts::TAU * STAYS / rate).powi(6);
    let mut matrix = Bands::<4>::diagonal(std::iter::repeat_n(stays, n));
    for first in 0..n.saturating_sub(3) {
        matrix.add(first as isize, [-1.0, 3.0, -3.0, 1.0], 1.0);
    }
    let mut shifts = vec![[0.0; 3]; n];
    let falls = Vec3::y() * (-GRAVITY / (rate * rate));
    for f in flights.iter().flat_map(|flight| flight.frames.clone()) {
        let bend = centers[f + 1] - centers[f] * 2.0 + centers[f - 1];
        matrix.add(f as isize - 1, CURVE, FALLS);
        for (shift, a) in shifts[f - 1..].iter_mut().zip(CURVE) {
            *shift = (Vec3::from(*shift) + (falls - bend) * (FALLS * a)).into();
        }
    }
    matrix.factored().solve(&mut shifts);
    shifts.into_iter().map(Vec3::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_are_parabolas_and_begin_without_a_kink() {
        let rate = 60.0;
        // On a moon whose gravity is half of ours.
        let flight = Flight { frames: 41..71 };
        let t = |f: usize| (f.clamp(40, 71) - 40) as f64 / rate;
        let height = |f: usize| 1.0 + 0.25 * GRAVITY * t(f) * (31.0 / rate - t(f));
        let centers: Vec<Vec3> = (0..120).map(|f| Vec3::y() * height(f)).collect();
        let shifts = ballistic(&centers, std::slice::from_ref(&flight), rate);
        let moved: Vec<f64> = centers.iter().zip(&shifts).map(|(c, d)| c.y + d.y).collect();
        for f in flight.frames {
            let acceleration = (moved[f + 1] - 2.0 * moved[f] + moved[f - 1]) * rate * rate;
            assert!((acceleration + GRAVITY).abs() < 0.02 * GRAVITY, "{f}: {acceleration}");
        }
        let kink = |f: usize| (shifts[f + 1] - shifts[f] * 2.0 + shifts[f - 1]).norm() * rate * rate;
        assert!((1..119).all(|f| kink(f) < 4.0 * GRAVITY));
        assert!(shifts[0].norm() < 0.01 && shifts[119].norm() < 0.01);
    }

    #[test]
    fn without_a_flight_nothing_moves() {
        let centers: Vec<Vec3> = (0..9).map(|f| Vec3::x() * f64::from(f * f)).collect();
        assert!(ballistic(&centers, &[], 30.0).iter().all(|d| d.norm() == 0.0));
    }
}
