//! States between those of a few frames.

use super::unknowns;
use crate::math::{Transform, Vec3, exp};
use crate::robot_retarget::between_states::interpolated;
use crate::robot_retarget::robot_state::RobotState;

/// A motion of constant speed is met between its states, at the ends of shots and after the last state; none is mixed across a cut.
#[test]
fn a_steady_motion_goes_on_between_states() {
    let unknowns = unknowns();
    let steady = |t: f64| {
        let shot = (t / 14.0) as usize;
        let mut values = unknowns.neutral.clone();
        values[0] = 0.01 * t;
        unknowns.couple(&mut values);
        let turn =
            if shot == 0 { Vec3::new(0.0, 0.03 * t, 0.0) } else { Vec3::new(1.0 + 0.02 * t, 0.0, 0.0) };
        let place = Vec3::new(0.1 * t, 5.0 * shot as f64, 1.0);
        RobotState { base: Transform::new(exp(&turn), place), values }
    };
    let mut cut = vec![false; 27];
    [14, 26].into_iter().for_each(|frame| cut[frame] = true);
    let from = [0.0, 3.5, 7.0, 10.5, 14.0, 17.5, 21.0, 24.5, 26.0];
    let to: Vec<f64> = (0..27).map(f64::from).collect();
    let states = from.iter().map(|&time| steady(time)).collect();
    for (frame, state) in interpolated(&unknowns, &cut, [&from, &to], states).iter().enumerate() {
        let wanted = steady(frame as f64);
        assert!((state.base.translation - wanted.base.translation).norm() < 1e-12, "{frame}");
        assert!(state.base.rotation.angle_to(&wanted.base.rotation) < 1e-12, "{frame}");
        assert!((state.values[0] - wanted.values[0]).abs() < 1e-12, "{frame}");
    }
}
