//! States between those of a few frames.

use super::robot_goals::is_cut;
use super::robot_state::{RobotState, Unknowns};
use crate::math::{Vec3, exp, log};
use crate::parallel;

/// States at more times, by a cubic through those of four (Catmull and Rom 1974). Both lists are ascending, in frames, and have the first
/// frame of each shot; after its last time of `from` a shot goes on as before it.
pub(super) fn interpolated(
    unknowns: &Unknowns,
    cut: &[bool],
    [from, to]: [&[f64]; 2],
    states: Vec<RobotState>,
) -> Vec<RobotState> {
    if from == to {
        return states;
    }
    parallel::map_each(to, 1, |&time| {
        let k = from.partition_point(|&other| other <= time) - 1;
        if from[k] == time {
            states[k].clone()
        } else {
            mixed(unknowns, &states, k, &parts(cut, from, k, time))
        }
    })
}

/// The states that make up the one at `time`, which follows that of `from[k]`, and how much of each.
fn parts(cut: &[bool], from: &[f64], k: usize, time: f64) -> Vec<(usize, f64)> {
    let begins = |at: usize| from.get(at).is_none_or(|&first| first == 0.0 || is_cut(cut, first));
    let since = time - from[k];
    match [begins(k), begins(k + 1), begins(k + 2)] {
        [true, true, _] => vec![(k, 1.0)],
        [false, true, _] => {
            let t = since / (from[k] - from[k - 1]);
            vec![(k - 1, -t), (k, 1.0 + t)]
        }
        [first, _, last] => {
            let t = since / (from[k + 1] - from[k]);
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
