//! States between those of a few frames.

use super::robot_state::{RobotState, Unknowns};
use crate::math::{Vec3, exp, log};
use crate::parallel;

/// States of more frames, by a cubic through those of four (Catmull and Rom 1974). Both lists are ascending and have the first frame of
/// each shot; after its last frame of `from` a shot goes on as before it.
pub(super) fn interpolated(
    unknowns: &Unknowns,
    cut: &[bool],
    [from, to]: [&[usize]; 2],
    states: Vec<RobotState>,
) -> Vec<RobotState> {
    if from == to {
        return states;
    }
    parallel::map_each(to, 1, |&frame| {
        let k = from.partition_point(|&other| other <= frame) - 1;
        if from[k] == frame {
            states[k].clone()
        } else {
            mixed(unknowns, &states, k, &parts(cut, from, k, frame))
        }
    })
}

/// The states that make up the one at `frame`, which follows that of `from[k]`, and how much of each.
fn parts(cut: &[bool], from: &[usize], k: usize, frame: usize) -> Vec<(usize, f64)> {
    let begins = |at: usize| from.get(at).is_none_or(|&first| first == 0 || cut[first]);
    let since = (frame - from[k]) as f64;
    match [begins(k), begins(k + 1), begins(k + 2)] {
        [true, true, _] => vec![(k, 1.0)],
        [false, true, _] => {
            let t = since / (from[k] - from[k - 1]) as f64;
            vec![(k - 1, -t), (k, 1.0 + t)]
        }
        [first, _, last] => {
            let t = since / (from[k + 1] - from[k]) as f64;
            let (square, cube) = (t * t, t * t * t);
            let a = (2.0 * square - t - cube) / 2.0;
            let d = (cube - square) / 2.0;
            let mut parts =
                vec![(k, 1.0 - 2.5 * square + 1.5 * cube), (k + 1, 0.5 * t + 2.0 * square - 1.5 * cube)];
            // A straight line goes on where there is no state.
            for (is_missing, at, part, [near, far]) in
                [(first, k.wrapping_sub(1), a, [0, 1]), (last, k + 2, d, [1, 0])]
            {
                if is_missing {
                    parts[near].1 += 2.0 * part;
                    parts[far].1 -= part;
                } else {
                    parts.push((at, part));
                }
            }
            parts
        }
    }
}

/// The sum of some states, seen from one of them, inside the limits.
fn mixed(unknowns: &Unknowns, states: &[RobotState], own: usize, parts: &[(usize, f64)]) -> RobotState {
    let mut sum = states[own].clone();
    let own = sum.base.rotation.inverse();
    let mut turn = Vec3::zeros();
    sum.base.translation = Vec3::zeros();
    sum.values.fill(0.0);
    for &(k, part) in parts {
        let state = &states[k];
        turn += log(&(state.base.rotation * own)) * part;
        sum.base.translation += state.base.translation * part;
        sum.values.iter_mut().zip(&state.values).for_each(|(sum, value)| *sum += value * part);
    }
    sum.base.rotation = exp(&turn) * sum.base.rotation;
    for (hinge, value) in sum.values.iter_mut().enumerate() {
        *value = value.clamp(unknowns.low[hinge], unknowns.high[hinge]);
    }
    unknowns.couple(&mut sum.values);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{ImportOptions, load};
    use crate::made_walk::shipped;
    use crate::math::Transform;
    use crate::robot_body::RobotBody;
    use std::sync::Arc;

    /// A motion of constant speed is met between its states, at the ends of shots and after the last state; none is mixed across a cut.
    #[test]
    fn a_steady_motion_goes_on_between_states() {
        let robot = load(shipped("humanoid.xml"), &ImportOptions::default()).unwrap().character.robot.clone();
        let unknowns = Unknowns::of(&Arc::new(RobotBody::of(&robot.unwrap()).unwrap()));
        let steady = |frame: usize| {
            let (shot, t) = (frame / 14, frame as f64);
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
        let (from, to) = ([0, 4, 8, 12, 14, 18, 22, 26], (0..27).collect::<Vec<_>>());
        let states = from.iter().map(|&frame| steady(frame)).collect();
        for (frame, state) in interpolated(&unknowns, &cut, [&from, &to], states).iter().enumerate() {
            let wanted = steady(frame);
            assert!((state.base.translation - wanted.base.translation).norm() < 1e-12, "{frame}");
            assert!(state.base.rotation.angle_to(&wanted.base.rotation) < 1e-12, "{frame}");
            assert!((state.values[0] - wanted.values[0]).abs() < 1e-12, "{frame}");
        }
    }
}
