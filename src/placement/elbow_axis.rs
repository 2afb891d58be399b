//! The axis of each elbow over a clip, known where the arm bends and interpolated over time where it is straight.
//!
//! A straight arm has no axis of its own. Smoothing the axis in the upper arm's space, weighted by the bend, takes it from the
//! frames before and after, so an arm that passes through straight does not change the side of its elbow. Where the elbow does change
//! its side the axis is shorter than a unit vector.
//! Space: joint space of the upper arm.

use crate::math::Vec3;
use crate::signal::Bands;
use std::ops::Range;

/// The time over which a flexed elbow defines the axis of its neighbours, seconds.
const NEAR: f64 = 0.25;
/// The weight of smoothness over that of an arm flexed to a right angle.
const SMOOTH: f64 = 2e-4;
/// Smoothed axes longer than this are normalised; shorter ones are kept shorter. The length is 1 where the frames around agree and 0
/// where an elbow changes its side: there a bend does nothing, and its axis changes sides without a jump.
const KNOWN: f64 = 0.5;
/// The weight of the axis of the reference pose: it only counts in clips whose arm is never flexed.
const PRIOR: f64 = 1e-9;

/// The axes for frames in which the cross products of the unit directions of upper arm and forearm are these; `rest` is the
/// axis in the reference pose. Smoothing stops at cuts and continues over the seam of a `cycle`.
pub fn elbow_axes(
    crosses: &[Vec3],
    rest: &Vec3,
    rate: f64,
    shots: &[Range<usize>],
    cycle: bool,
) -> Vec<Vec3> {
    let weight = SMOOTH * (NEAR * rate) * (NEAR * rate);
    let mut axes = Vec::with_capacity(crosses.len());
    for shot in shots {
        let shot = &crosses[shot.clone()];
        if !cycle {
            axes.extend(smoothed(shot.iter(), shot.len(), rest, weight));
            continue;
        }
        // Three rounds, of which the middle one has frames on both sides of the seam; the last frame repeats the first.
        let period = shot.len() - 1;
        let rounds = smoothed(shot[..period].iter().cycle().take(3 * period), 3 * period, rest, weight);
        axes.extend_from_slice(&rounds[period..=2 * period]);
        let first = axes.len() - shot.len();
        axes[first + period] = axes[first];
    }
    axes
}

fn smoothed<'a>(
    crosses: impl Iterator<Item = &'a Vec3> + Clone,
    frames: usize,
    rest: &Vec3,
    weight: f64,
) -> Vec<Vec3> {
    let square = |cross: &Vec3| cross.norm_squared();
    let mut matrix = Bands::<2>::diagonal(crosses.clone().map(|c| square(c) * square(c) + PRIOR));
    (1..frames).for_each(|f| matrix.add(f as isize - 1, [1.0, -1.0], weight));
    let right_hand_side =
        |c: &Vec3| -> [f64; 3] { (c * (square(c) * square(c).sqrt()) + rest * PRIOR).into() };
    let mut axes: Vec<[f64; 3]> = crosses.map(right_hand_side).collect();
    matrix.factored().solve(&mut axes);
    axes.into_iter().map(|axis| Vec3::from(axis) / Vec3::from(axis).norm().max(KNOWN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_arm_has_the_axis_of_before_and_after_and_does_not_flip() {
        // Bends to 40 degrees, is straight for a second with noise to the other side, bends again.
        let bend = |f: usize| match f {
            0..60 => 0.7 * (1.0 - f as f64 / 60.0),
            60..120 => -0.001,
            _ => 0.7 * (f as f64 - 120.0) / 60.0,
        };
        let crosses: Vec<Vec3> = (0..180).map(|f| Vec3::z() * libm::sin(bend(f))).collect();
        let axes = elbow_axes(&crosses, &Vec3::x(), 60.0, std::slice::from_ref(&(0..180)), false);
        assert!(axes.iter().all(|axis| (axis - Vec3::z()).norm() < 1e-3));
        let never =
            elbow_axes(&vec![Vec3::zeros(); 9], &Vec3::x(), 60.0, std::slice::from_ref(&(0..9)), false);
        assert!(never.iter().all(|axis| *axis == Vec3::x()));
    }

    #[test]
    fn an_elbow_that_changes_its_side_turns_its_axis_over_without_a_jump() {
        // From 20 degrees on one side to 20 on the other in four seconds, and noise.
        let bend = |f: usize| 0.35 - 0.7 * f as f64 / 240.0 + 0.01 * libm::sin(f as f64);
        let crosses: Vec<Vec3> = (0..=240).map(|f| Vec3::z() * libm::sin(bend(f))).collect();
        let axes = elbow_axes(&crosses, &Vec3::x(), 60.0, std::slice::from_ref(&(0..241)), false);
        assert!(axes[0].z > 0.99 && axes[240].z < -0.99);
        let steps = axes.windows(2).map(|pair| (pair[1] - pair[0]).norm());
        assert!(steps.fold(0.0, f64::max) < 0.1);
    }

    #[test]
    fn a_cut_separates_axes_and_a_cycle_closes() {
        let crosses: Vec<Vec3> = (0..20).map(|f| if f < 10 { Vec3::x() } else { Vec3::y() } * 0.5).collect();
        let axes = elbow_axes(&crosses, &Vec3::z(), 30.0, &[0..10, 10..20], false);
        assert!((axes[9] - Vec3::x()).norm() < 1e-6 && (axes[10] - Vec3::y()).norm() < 1e-6);
        let turning = |f: usize| {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * f as f64 / 20.0);
            Vec3::new(cos, sin, 2.0) * 0.2
        };
        let cycle: Vec<Vec3> = (0..=20).map(turning).collect();
        let later: Vec<Vec3> = (0..=20).map(|f| turning(f + 7)).collect();
        let (a, b) = (
            elbow_axes(&cycle, &Vec3::x(), 30.0, std::slice::from_ref(&(0..21)), true),
            elbow_axes(&later, &Vec3::x(), 30.0, std::slice::from_ref(&(0..21)), true),
        );
        assert_eq!(a[0], a[20]);
        assert!((0..14).all(|f| (a[f + 7] - b[f]).norm() < 1e-6));
    }
}
