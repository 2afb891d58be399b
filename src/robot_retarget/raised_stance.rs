//! Finds where a take stands above the floor on what a robot lacks: the tips of its toes, or the edges of its feet.
//!
//! Space: the robot's world, floor at height 0. Units: metres, seconds.

use super::robot_goals::speed;
use super::robot_settings::{NEAR, SLOW};
use crate::math::{Vec3, smoothstep};
use crate::signal::{gaussian, monotone};
use std::ops::Range;

/// A take that stands is lower than this, in lengths of the leg: a foot on the tips of its toes. What is higher stands on something.
const HIGHEST: f64 = 0.1;
/// A take stands above the floor for longer than this, seconds: a hop is as slow at its top, for a tenth of a second, and a foot that
/// pushes off rests on its ball for about a quarter.
const SHORTEST: f64 = 0.4;
/// Width over which heights are smoothed, seconds: heels rise within half a second.
const SMOOTH: f64 = 0.1;

/// How high a take stands above the floor at each frame of its `shots`. `soles` are the paths of heel and ball of both feet, 0 where the
/// foot is flat. Feet that are rolled to their edges where they are lowest seem to be above the floor where they are flat.
pub(super) fn raised_stance(
    soles: &[[Vec<Vec3>; 2]; 2],
    shots: &[Range<usize>],
    leg_length: f64,
    rate: f64,
) -> Vec<f64> {
    let in_shot = |shot: &Range<usize>| {
        let mut seen: Vec<Option<f64>> =
            shot.clone().map(|f| stance(soles, shot, f, leg_length, rate)).collect();
        for run in seen.chunk_by_mut(|a, b| is_raised(a) == is_raised(b)) {
            if is_raised(&run[0]) && (run.len() as f64) < SHORTEST * rate {
                run.fill(None);
            }
        }
        if !seen.iter().any(is_raised) {
            return vec![0.0; seen.len()];
        }
        let keys: Vec<(f64, [f64; 1])> =
            (0..).zip(&seen).filter_map(|(f, height)| Some((f64::from(f), [(*height)?]))).collect();
        let between: Vec<f64> =
            (0..seen.len()).map(|f| monotone(&keys, f as f64).map_or(0.0, |[height]| height)).collect();
        gaussian(&between, SMOOTH * rate)
    };
    shots.iter().flat_map(in_shot).collect()
}

fn is_raised(height: &Option<f64>) -> bool {
    height.is_some_and(|height| height > 0.0)
}

/// The height at which the take stands at a frame; `None` in the air.
fn stance(
    soles: &[[Vec<Vec3>; 2]; 2],
    shot: &Range<usize>,
    frame: usize,
    leg_length: f64,
    rate: f64,
) -> Option<f64> {
    let path = soles.iter().flatten().min_by(|a, b| a[frame].z.total_cmp(&b[frame].z))?;
    let (height, near) = (path[frame].z, NEAR * leg_length);
    // Below that the goal of resting points reaches the floor by itself.
    let share = smoothstep(2.0 * height / near - 1.0);
    let stands = height < HIGHEST * leg_length && speed(path, shot, frame, rate) < SLOW * leg_length;
    (share == 0.0 || stands).then_some(height * share)
}
