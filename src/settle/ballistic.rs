//! A body that does not fly as it should goes the way of least jerk on which its flights bend as they should.
//!
//! The change `d` minimises `sum |D3 d|^2 + (2 pi f / rate)^6 sum |d|^2` over all frames and `firm sum |D2 d - b|^2` over
//! frames whose neighbours are in the air as well (`D2`, `D3`: second and third differences, `b`: the bend that is
//! missing): a body that must take off faster crouches before, and no flight begins with a kink. Units: hertz; the change
//! in any unit.

use crate::math::Vec3;
use crate::signal::{BEND, Bands, JERK};

/// The change leaves the clip alone below this frequency, hertz.
const STAYS: f64 = 3.5;

/// The change of every frame for which second differences around some frames change by these `bends`, which matter `firm`
/// times as much as a smooth way.
pub fn least_jerk(frames: usize, bends: &[(usize, Vec3)], firm: f64, rate: f64) -> Vec<Vec3> {
    let stays = (std::f64::consts::TAU * STAYS / rate).powi(6);
    let mut matrix = Bands::<4>::diagonal(vec![stays; frames]);
    for first in 0..frames.saturating_sub(3) {
        matrix.add(first as isize, JERK, 1.0);
    }
    let mut change = vec![[0.0; 3]; frames];
    for &(f, bend) in bends {
        matrix.add(f as isize - 1, BEND, firm);
        for (change, a) in change[f - 1..].iter_mut().zip(BEND) {
            *change = (Vec3::from(*change) + bend * (firm * a)).into();
        }
    }
    matrix.factored().solve(&mut change);
    change.into_iter().map(Vec3::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAVITY: f64 = 9.81;

    #[test]
    fn flights_are_parabolas_and_begin_without_a_kink() {
        let rate = 60.0;
        // On a moon whose gravity is half of ours.
        let t = |f: usize| (f.clamp(40, 71) - 40) as f64 / rate;
        let height = |f: usize| 1.0 + 0.25 * GRAVITY * t(f) * (31.0 / rate - t(f));
        let missing = Vec3::y() * (-0.5 * GRAVITY / (rate * rate));
        let bends: Vec<(usize, Vec3)> = (42..70).map(|f| (f, missing)).collect();
        let change = least_jerk(120, &bends, 1e3, rate);
        let moved: Vec<f64> = (0..120).map(|f| height(f) + change[f].y).collect();
        for f in 42..70 {
            let acceleration = (moved[f + 1] - 2.0 * moved[f] + moved[f - 1]) * rate * rate;
            assert!((acceleration + GRAVITY).abs() < 0.02 * GRAVITY, "{f}: {acceleration}");
        }
        let kink = |f: usize| (change[f + 1] - change[f] * 2.0 + change[f - 1]).norm() * rate * rate;
        let most = (1..119).map(kink).fold(0.0, f64::max);
        assert!(most < 4.0 * GRAVITY, "{most}");
        assert!(change[0].norm() < 0.01 && change[119].norm() < 0.01);
    }

    #[test]
    fn without_a_flight_nothing_moves() {
        assert!(least_jerk(9, &[], 1e3, 30.0).iter().all(|d| d.norm() == 0.0));
    }
}
