//! Hinges at the ends of their ranges.

use super::*;
use crate::robot_retarget::solve::hold_pushed;

#[test]
fn hinges_at_a_limit_are_held_if_a_step_pushes_them_beyond_it() {
    let unknowns = unknowns();
    let mut state = RobotState { base: Transform::identity(), values: unknowns.neutral.clone() };
    let [low, high, inside] = [0, 1, 2].map(|k| unknowns.hinges[k]);
    state.values[low] = unknowns.low[low];
    state.values[high] = unknowns.high[high];
    state.values[inside] = (unknowns.low[inside] + unknowns.high[inside]) / 2.0;
    let pushed = |step: f64| {
        let mut change = vec![step; unknowns.count];
        change[..6].fill(1.0);
        let mut held = vec![false; unknowns.count];
        let any = hold_pushed(&unknowns, std::slice::from_ref(&state), &change, &mut held);
        assert_eq!(any, held.contains(&true));
        [6, 7, 8].map(|unknown| held[unknown])
    };
    assert_eq!(pushed(0.1), [false, true, false]);
    assert_eq!(pushed(-0.1), [true, false, false]);
    assert_eq!(pushed(1e-4), [false; 3]);
}
