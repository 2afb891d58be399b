//! Detects a tilted floor from the heights of stances, as opposed to a slope or a drift, and levels it; what may be either is reported.

use super::fault_log::{FaultLog, all};
use super::robust_statistics::fit;
use super::stances::{FootTrajectories, PointKind, Stance};
use super::vertical_drift::Rise;
use super::working_take::WorkingTake;
use crate::math::{Vec3, arc, median};

/// Smallest and largest tilt that is corrected, degrees: smaller ones are invisible, larger ones are slopes.
const TILT: (f64, f64) = (1.2, 6.0);
/// Least extent of the stances along the slope, metres.
const REACH: f64 = 1.0;
/// Largest residual of the plane, as a share of that of a level floor.
const EXPLAINS: f64 = 0.5;
/// Least stances that define a plane.
const FEWEST: usize = 6;

/// Levels the floor; true if it was tilted.
pub(super) fn tilt(
    take: &mut WorkingTake,
    feet: &FootTrajectories,
    stances: &[Stance],
    rise: &Rise,
    log: &mut FaultLog,
) -> bool {
    let (mut points, mut weights): (Vec<Vec3>, Vec<f64>) = (Vec::new(), Vec::new());
    for kind in [PointKind::Ankle, PointKind::Ball] {
        let of_kind = stances.iter().filter(|s| feet.points[s.point].kind == kind);
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
    let not_a_drift = if rise.fixed || rise.plane { f64::INFINITY } else { 0.0 };
    let inclined = all(&[
        degrees / TILT.0,
        TILT.1 / degrees.max(1e-9),
        (high - low) / REACH,
        EXPLAINS * before / after.max(1e-9),
    ]);
    if !log.test("tilt", inclined.min(not_a_drift)) {
        if inclined > 1.0 && log.left.iter().all(|f| f.fault != "vertical_drift") {
            let why = "the stances lie on an inclined plane: a tilt, a slope or a drift, the data do not show which";
            log.record_unfixed("tilt", 0..take.frames(), "deg", degrees, why);
        }
        return false;
    }
    let normal = Vec3::new(-a, 1.0, -b);
    let positions = take.root_positions();
    let middle = positions.iter().sum::<Vec3>() / positions.len() as f64;
    take.rotate(&arc(&normal, &Vec3::y(), &Vec3::x()), &Vec3::new(middle.x, 0.0, middle.z));
    log.record_fixed("tilt", None, 0..take.frames(), "deg", [degrees, 0.0]);
    true
}
