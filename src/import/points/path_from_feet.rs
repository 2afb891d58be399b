//! Finds the path of arrays in which the pelvis is the origin of every frame.
//!
//! In each frame one point of the feet is the pivot that stands still. Which one: low points, and no jump of the body's
//! speed, by dynamic programming (Bellman 1957). Heights put the lowest point on the ground in each frame. A soft mean of the
//! feet instead loses 40 percent of the path. Units: metres, seconds, hertz.

use super::free_fall::FallingBody;
use super::noise_filter::{filtered, smoothed};
use super::point_tracks::{PointTracks, velocities};
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

/// The displacement of all points in each frame, and how many flights there are.
pub(super) fn displacements(points: &PointTracks, dt: f64) -> (Vec<Vec3>, usize) {
    let points = filtered(points.clone(), dt, false).points;
    let feet: Vec<&[Vec3]> = (points.tracks.iter())
        .filter(|(point, _)| FEET.contains(&point.part))
        .map(|(_, track)| &track[..])
        .collect();
    let frames = points.frames;
    let lowest = |f: usize| feet.iter().map(|t| t[f].y).fold(f64::INFINITY, f64::min);
    let over = |track: &[Vec3]| (0..frames).map(|f| track[f].y - lowest(f)).collect::<Vec<_>>();
    let down: Vec<f64> = feet.iter().map(|track| percentile(&over(track), LOW)).collect();
    let least = |f: usize| feet.iter().zip(&down).map(|(t, d)| t[f].y - d).fold(f64::INFINITY, f64::min);
    let least: Vec<f64> = (0..frames).map(least).collect();
    let speeds = |track: &&[Vec3]| velocities(track, dt).iter().map(|v| Vec3::new(-v.x, 0.0, -v.z)).collect();
    let pivots = Pivots {
        heights: feet
            .iter()
            .zip(&down)
            .map(|(t, d)| (0..frames).map(|f| t[f].y - d - least[f]).collect())
            .collect(),
        speeds: feet.iter().map(speeds).collect(),
        dt,
    };
    let body = FallingBody::of(&points, &least, dt);
    let ground = down.iter().copied().fold(f64::INFINITY, f64::min);
    let mut speed = vec![Vec3::zeros(); frames];
    let mut height: Vec<f64> = least.iter().map(|least| -(least + ground)).collect();
    let path = pivots.cheapest(&body);
    for (frame, foot) in &path {
        speed[*frame] = pivots.speeds[*foot][*frame];
    }
    let mut flights = 0;
    for ends in path.windows(2).filter(|ends| ends[0].0 + 1 < ends[1].0) {
        let [from, to] = [ends[0].0, ends[1].0].map(|f| (f, speed[f]));
        for f in from.0 + 1..to.0 {
            speed[f] = body.pelvis_velocity(from, to, f);
            height[f] = body.pelvis_height(from.0, to.0, f) - ground;
        }
        flights += 1;
    }
    if frames >= FEWEST {
        let cutoff = CUTOFF.0.min(CUTOFF.1 / dt);
        let penalty = whittaker_penalty(Difference::Third, cutoff, 1.0 / dt);
        speed = smoothed(&speed, &vec![1.0; frames], penalty, &[]);
    }
    let mut at = Vec3::zeros();
    let step = |f: usize| {
        if f > 0 {
            at += (speed[f] + speed[f - 1]) * (0.5 * dt);
        }
        Vec3::new(at.x, height[f], at.z)
    };
    ((0..frames).map(step).collect(), flights)
}

/// The points of the feet on which a body may stand.
struct Pivots {
    /// Height of each point over the lowest in every frame, metres.
    heights: Vec<Vec<f64>>,
    /// Velocity of the pelvis in every frame if the point stands still.
    speeds: Vec<Vec<Vec3>>,
    dt: f64,
}

impl Pivots {
    /// The frames in which the body stands, with its pivot; between two that are no neighbours it is in the air.
    fn cheapest(&self, body: &FallingBody) -> Vec<(usize, usize)> {
        let (points, frames) = (0..self.heights.len(), self.heights[0].len());
        let height = |i: usize, f: usize| (self.heights[i][f] / HEIGHT).powi(2);
        let mut costs: Vec<Vec<f64>> = vec![points.clone().map(|i| height(i, 0)).collect()];
        let mut from = vec![vec![(0, 0); points.len()]];
        for f in 1..frames {
            let flights = body.flights_to(f);
            // The frames that may come before this one, by standing or by a flight, and what a flight costs but for the change of speed.
            let stood = [(f - 1, None)];
            let flew = flights.iter().map(|(start, cost)| (*start, Some(*cost)));
            let ways: Vec<_> = stood.into_iter().chain(flew).collect();
            let to = |i: usize| {
                let speed = self.speeds[i][f];
                let way = |&(start, flight): &(usize, Option<f64>), j: usize| {
                    let before = self.speeds[j][start];
                    let change = match flight {
                        Some(cost) => cost + body.change((start, before), (f, speed)),
                        None => ((speed - before).norm() / (JUMP * self.dt.sqrt())).min(MOST).powi(2),
                    };
                    (costs[start][j] + change, (start, j))
                };
                let all = ways.iter().flat_map(|w| points.clone().map(move |j| way(w, j)));
                let best = all.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, (f - 1, 0)));
                (best.0 + height(i, f) * self.dt * BALANCED, best.1)
            };
            let (cost, before): (Vec<f64>, _) = points.clone().map(to).unzip();
            costs.push(cost);
            from.push(before);
        }
        let last = &costs[frames - 1];
        let pivot = points.min_by(|&a, &b| last[a].total_cmp(&last[b])).unwrap_or(0);
        let mut path = vec![(frames - 1, pivot)];
        while let Some(&(f, pivot)) = path.last().filter(|at| at.0 > 0) {
            path.push(from[f][pivot]);
        }
        path.reverse();
        path
    }
}
