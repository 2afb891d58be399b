//! A floor that leans becomes a level one, where the stances tell it from a slope and from a drift.
//!
//! Units: metres of 0.86 m legs, degrees.

use super::ledger::{Ledger, all};
use super::robust::fit;
use super::stances::{Feet, Kind, Stance};
use super::take::Take;
use super::vertical_drift::Rise;
use crate::math::{Vec3, arc, median};

/// Smaller tilts nobody sees, larger ones are slopes, degrees.
const TILT: (f64, f64) = (1.2, 6.0);
/// Stances reach so far along the slope, metres.
const REACH: f64 = 1.0;
/// The plane leaves less than this share of what a level leaves.
const EXPLAINS: f64 = 0.5;
/// Fewer stances tell no plane.
const FEWEST: usize = 6;

/// Levels the floor, and says whether it leaned.
pub(super) fn tilt(
    take: &mut Take,
    feet: &Feet,
    stances: &[Stance],
    rise: &Rise,
    ledger: &mut Ledger,
) -> bool {
    let (mut points, mut weights): (Vec<Vec3>, Vec<f64>) = (Vec::new(), Vec::new());
    for kind in [Kind::Ankle, Kind::Ball] {
        let of_kind = stances.iter().filter(|s| feet.tracks[s.track].kind == kind);
        let own: Vec<(Vec3, f64)> =
            of_kind.map(|s| (feet.at(s)[s.frames.len() / 2], s.frames.len() as f64)).collect();
        let level = median(own.iter().map(|p| p.0.y).collect());
        points.extend(own.iter().map(|(p, _)| p - Vec3::y() * level));
        weights.extend(own.iter().map(|p| p.1));
    }
    if points.len() < FEWEST {
        return false;
    }
    let mean = points.iter().sum::<Vec3>() / points.len() as f64;
    let rows: Vec<Vec<f64>> = points.iter().map(|p| vec![p.x - mean.x, p.z - mean.z, 1.0]).collect();
    let heights: Vec<f64> = points.iter().map(|p| p.y).collect();
    let plane = fit(&rows, &heights, &weights);
    let [a, b, c] = plane.coefficients[..] else { return false };
    let steep = libm::hypot(a, b);
    let along = |row: &Vec<f64>| (row[0] * a + row[1] * b) / steep.max(1e-9);
    let (low, high) =
        rows.iter().map(along).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    let off = |(row, z): (&Vec<f64>, &f64)| (z - row[0] * a - row[1] * b - c).abs();
    let usual = median(heights.clone());
    let before = median(heights.iter().map(|z| (z - usual).abs()).collect());
    let after = median(rows.iter().zip(&heights).map(off).collect());
    let degrees = libm::atan(steep).to_degrees();
    let told_apart = if rise.mended || rise.plane { f64::INFINITY } else { 0.0 };
    let share = all(&[
        degrees / TILT.0,
        TILT.1 / degrees.max(1e-9),
        (high - low) / REACH,
        EXPLAINS * before / after.max(1e-9),
        told_apart,
    ]);
    if !ledger.near("tilt", share) {
        return false;
    }
    let normal = Vec3::new(-a, 1.0, -b);
    let places = take.places();
    let middle = places.iter().sum::<Vec3>() / places.len() as f64;
    take.carry(&arc(&normal, &Vec3::y(), &Vec3::x()), &Vec3::new(middle.x, 0.0, middle.z));
    ledger.mend("tilt", None, 0..take.frames(), "deg", [degrees, 0.0]);
    true
}
