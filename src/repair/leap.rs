//! Distinguishes a jump into a wrong pose from motion. Units: degrees, metres of 0.86 m legs.

use super::fault_log::all;
use super::working_take::{STILL, WorkingTake};
use crate::math::{Vec3, median};

/// Least mean rotation of the joints in a leap, degrees, and its least multiple of the steps around: of 542 holds of 1 frame to 1 s in
/// 13 takes none has more than 2.8 before it, of 456 spans of zeros none less than 3.04.
const ROTATION: (f64, f64) = (2.0, 3.0);
/// Least displacement of the root in a leap, metres, and its least multiple of the steps around: 3.8 before holds in a jump, 23 and more
/// where a walk is back at its first pose.
const DISTANCE: (f64, f64) = (0.03, 6.0);
/// Steps on either side that count as those around; those that repeat a pose are left out.
const AROUND: usize = 4;

/// Share of its limits that a step reaches as a leap, compared with the steps before step `into` and after step `out`; zero where most of
/// those repeat a pose, as in an animation in steps.
pub(super) fn leap(take: &WorkingTake, positions: &[Vec3], step: usize, [into, out]: [usize; 2]) -> f64 {
    let around = (into.saturating_sub(AROUND)..into).chain(out + 1..(out + 1 + AROUND).min(take.edges()));
    let around: Vec<usize> = around.filter(|e| take.mean_step(*e) >= STILL).collect();
    if around.len() < AROUND {
        return 0.0;
    }
    let distance = |e: usize| (positions[e + 1] - positions[e]).norm();
    let share = |size: f64, (least, times): (f64, f64), around: Vec<f64>| {
        all(&[size / least, size / (times * median(around)).max(1e-9)])
    };
    let rotation = share(take.mean_step(step), ROTATION, around.iter().map(|e| take.mean_step(*e)).collect());
    rotation.max(share(distance(step), DISTANCE, around.iter().map(|e| distance(*e)).collect()))
}
