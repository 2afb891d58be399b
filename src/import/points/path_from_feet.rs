//! Finds the path of arrays in which the pelvis is the origin of every frame.
//!
//! In each frame one point of the feet is the pivot that stands still. Which one: low points, and no jump of the body's
//! speed, by dynamic programming (Bellman 1957). Heights put the lowest point on the ground in each frame. A soft mean of the
//! feet instead loses 40 percent of the path. Units: metres, seconds, hertz.

use super::noise_filter::{filtered, smoothed};
use super::point_tracks::PointTracks;
use crate::math::{Vec3, percentile};
use crate::signal::{Difference, whittaker_penalty};

const FEET: [&str; 5] = ["ankle", "toe", "heel", "foot_tip", "big_toe"];
/// Largest extent of the pelvis of an array without a path, and its largest distance from the origin, metres.
const STILL: f64 = 0.005;
/// Shortest take that has a path, seconds: half a second is a step.
const STEP: f64 = 0.5;
/// Height over its lowest position at which a point is hardly the pivot, metres.
const HEIGHT: f64 = 0.025;
/// Frames per second at which costs of height and of jumps were balanced.
const BALANCED: f64 = 30.0;
/// Usual change of the body's speed, m/s per root of a second.
const JUMP: f64 = 1.0;
/// The largest cost of a jump, in usual changes: a kick or a cut.
const MOST: f64 = 6.0;
/// Share of the frames in which a point is on the ground.
const LOW: f64 = 0.1;
/// Cutoff of the body's speed, Hz: steps are at 2 Hz. The second number: its largest share of the sample rate.
const CUTOFF: (f64, f64) = (3.0, 0.4);
/// Fewest frames whose speed is filtered.
const FEWEST: usize = 9;

/// The speed of a track by central differences, one-sided at the ends.
pub(super) fn velocities(track: &[Vec3], dt: f64) -> Vec<Vec3> {
    let last = track.len() - 1;
    let one = |f: usize| {
        let (a, b) = (f.saturating_sub(1), (f + 1).min(last));
        if a == b { Vec3::zeros() } else { (track[b] - track[a]) / ((b - a) as f64 * dt) }
    };
    (0..track.len()).map(one).collect()
}

/// Whether the pelvis is the origin of every frame: at rest, and horizontally at zero.
pub(super) fn is_missing(points: &PointTracks, dt: f64) -> bool {
    let at_origin = |track: &[Vec3]| {
        let low = track.iter().fold(Vec3::repeat(f64::INFINITY), |a, p| a.inf(p));
        let high = track.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, p| a.sup(p));
        // Elsewhere a pelvis at rest is that of somebody who sits.
        (high - low).max() < STILL && low.xz().amax().max(high.xz().amax()) < STILL
    };
    let pelvis = points.middle("pelvis").is_some_and(at_origin);
    points.frames as f64 * dt >= STEP && (pelvis || at_origin(&points.mid_hips()))
}

/// The displacement of all points in each frame.
pub(super) fn displacements(points: &PointTracks, dt: f64) -> Vec<Vec3> {
    let (points, _) = filtered(points.clone(), dt, false);
    let feet: Vec<&[Vec3]> = (points.tracks.iter())
        .filter(|(point, _)| FEET.contains(&point.part))
        .map(|(_, track)| &track[..])
        .collect();
    let frames = points.frames;
    let lowest = |f: usize| feet.iter().map(|t| t[f].y).fold(f64::INFINITY, f64::min);
    let over = |track: &[Vec3]| (0..frames).map(|f| track[f].y - lowest(f)).collect::<Vec<_>>();
    let down: Vec<f64> = feet.iter().map(|track| percentile(&over(track), LOW)).collect();
    let least = |f: usize| feet.iter().zip(&down).map(|(t, d)| t[f].y - d).fold(f64::INFINITY, f64::min);
    let height = |i: usize, f: usize| (feet[i][f].y - down[i] - least(f)) / HEIGHT;
    let speeds: Vec<Vec<Vec3>> = (feet.iter())
        .map(|track| velocities(track, dt).iter().map(|v| Vec3::new(-v.x, 0.0, -v.z)).collect())
        .collect();
    let mut cost: Vec<f64> = (0..feet.len()).map(|i| height(i, 0).powi(2)).collect();
    let mut from = vec![vec![0; feet.len()]; frames];
    for f in 1..frames {
        let to = |i: usize| {
            let jump = |j: usize| {
                let change = (speeds[i][f] - speeds[j][f - 1]).norm() / (JUMP * dt.sqrt());
                cost[j] + change.min(MOST).powi(2)
            };
            let best = (0..feet.len()).min_by(|&a, &b| jump(a).total_cmp(&jump(b))).unwrap_or(0);
            (jump(best) + height(i, f).powi(2) * dt * BALANCED, best)
        };
        (cost, from[f]) = (0..feet.len()).map(to).unzip();
    }
    let mut pivot = (0..feet.len()).min_by(|&a, &b| cost[a].total_cmp(&cost[b])).unwrap_or(0);
    let mut speed = vec![Vec3::zeros(); frames];
    for f in (0..frames).rev() {
        speed[f] = speeds[pivot][f];
        pivot = from[f][pivot];
    }
    if frames >= FEWEST {
        let cutoff = CUTOFF.0.min(CUTOFF.1 / dt);
        let penalty = whittaker_penalty(Difference::Third, cutoff, 1.0 / dt);
        speed = smoothed(&speed, &vec![1.0; frames], penalty, &[]);
    }
    let ground = down.iter().copied().fold(f64::INFINITY, f64::min);
    let mut at = Vec3::zeros();
    let step = |f: usize| {
        if f > 0 {
            at += (speed[f] + speed[f - 1]) * (0.5 * dt);
        }
        Vec3::new(at.x, -(least(f) + ground), at.z)
    };
    (0..frames).map(step).collect()
}
