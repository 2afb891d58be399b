//! Raises parts of a take that are far below the floor of the rest onto it ([`sunk_shots`]), and levels that floor.
//!
//! Space: model space, Y up. Units: metres.

use super::floor_tilt::level_floor;
use super::limb_pose::{LimbPositions, distinct_poses};
use super::settings::Settings;
use super::timeline::Timeline;
use crate::contacts::FLOOR_PERCENTILE;
use crate::kinematics::sunk_shots;
use crate::math::percentile;
use std::ops::Range;

/// Raises sunk shots and levels the floor: [`level_floor`]; frames that repeat the one before do not count. Returns the raised
/// frames; floor detection must ignore them.
pub fn onto_one_floor(
    time: &Timeline,
    legs: &mut [Vec<LimbPositions>],
    leg_length: f64,
    settings: &Settings,
) -> Vec<Range<usize>> {
    let distinct = distinct_poses(legs);
    let sunk = raise_shots(time, legs, &distinct, leg_length);
    level_floor(time, legs, &distinct, leg_length, settings);
    sunk
}

/// Raises the legs of every sunk shot by its depth; others do not change. Returns the frames of these shots. `leg_length` is
/// the length of the legs.
fn raise_shots(
    time: &Timeline,
    legs: &mut [Vec<LimbPositions>],
    distinct: &[bool],
    leg_length: f64,
) -> Vec<Range<usize>> {
    let shots = time.shots();
    let sunk = |joint: fn(&LimbPositions) -> f64| {
        let lowest = |shot: &Range<usize>| {
            let frames = || shot.clone().filter(|f| distinct[*f]);
            let heights = legs.iter().flat_map(|poses| frames().map(|f| joint(&poses[f])));
            percentile(&heights.collect::<Vec<f64>>(), FLOOR_PERCENTILE)
        };
        sunk_shots(&shots, lowest, leg_length)
    };
    // Feet that point down stand on their toes.
    let (mut sunk, toes) = (sunk(|pose| pose.ankle.y), sunk(|pose| pose.toes.y));
    for (shot, depth) in &mut sunk {
        *depth = toes.iter().find(|toes| toes.0 == *shot).map_or(*depth, |toes| toes.1.max(*depth));
        legs.iter_mut().flat_map(|poses| &mut poses[shot.clone()]).for_each(|pose| {
            let points = [&mut pose.hip, &mut pose.knee, &mut pose.ankle, &mut pose.toes];
            points.into_iter().for_each(|p| p.y += *depth);
        });
    }
    sunk.into_iter().map(|(shot, _)| shot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    /// Two legs whose ankles are at these heights.
    fn legs(heights: &[f64]) -> Vec<Vec<LimbPositions>> {
        let pose = |height: &f64| {
            let at = |y: f64| Vec3::y() * (height + y);
            LimbPositions { hip: at(0.9), knee: at(0.45), ankle: at(0.0), toes: at(-0.06) }
        };
        vec![heights.iter().map(pose).collect(); 2]
    }

    fn raised(heights: &[f64], cuts: &[usize]) -> Vec<Vec<LimbPositions>> {
        let mut cut = vec![false; heights.len() - 1];
        cuts.iter().for_each(|f| cut[f - 1] = true);
        let time = Timeline { frames: heights.len(), cycle: false, is_cut: cut, dt: 1.0 / 30.0 };
        let mut legs = legs(heights);
        let shots = raise_shots(&time, &mut legs, &vec![true; heights.len()], 0.9);
        assert_eq!(shots.is_empty(), legs == self::legs(heights));
        legs
    }

    #[test]
    fn a_zero_pose_before_a_take_stands_on_its_floor() {
        let heights: Vec<f64> = (0..130).map(|f| if f < 30 { -0.82 } else { 0.08 }).collect();
        let levelled = raised(&heights, &[30]);
        assert!(levelled.iter().flatten().all(|pose| (pose.ankle.y - 0.08).abs() < 1e-12));
        assert!(levelled.iter().flatten().all(|pose| (pose.hip.y - 0.98).abs() < 1e-12));
    }

    #[test]
    fn all_else_stays_bit_for_bit() {
        let heights = |low: f64| -> Vec<f64> { (0..130).map(|f| if f < 30 { low } else { 0.08 }).collect() };
        for (low, cuts) in [(-0.82, vec![]), (-0.2, vec![30]), (0.7, vec![30]), (0.08, vec![30, 70])] {
            assert_eq!(raised(&heights(low), &cuts), legs(&heights(low)), "{low} {cuts:?}");
        }
    }
}
