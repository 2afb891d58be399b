//! The solve of one window: damped Gauss-Newton steps (Levenberg 1944) with bounds by projection (Bertsekas 1982).

use super::equations::{Equations, Scratch};
use super::normal_equations::NormalEquations;
use super::robot_goals::Goals;
use super::robot_settings::{ROUNDS, Settings};
use super::robot_state::{Placed, RobotState, Unknowns};

/// First damping, as a share of the diagonal, and the least after a failure.
const DAMPING: f64 = 1e-3;
/// Least damping: below it nothing changes.
const LEAST_DAMPING: f64 = 1e-6;
/// A success that gains more than this share of what the equations foretell is one of them being right.
const GOOD: f64 = 0.75;
/// Such a success divides the damping by this.
const SUCCESS: f64 = 4.0;
/// A failure multiplies the damping by this.
const FAILURE: f64 = 8.0;
/// Dampings that are tried before a round ends.
const TRIES: usize = 7;
/// A hinge this near to its limit, radians, whose gradient points outwards is held.
const AT_LIMIT: f64 = 1e-3;
/// The first step rotates nothing farther than this, radians.
const FIRST_STEP: f64 = 0.7;

/// The states that solve the goals, from a first guess.
pub(super) fn solve(unknowns: &Unknowns, goals: &Goals, mut states: Vec<RobotState>) -> Vec<RobotState> {
    let mut scratch = Scratch::default();
    let mut system = NormalEquations::new(states.len(), unknowns.count);
    let mut damping = DAMPING;
    let mut moved = states.clone();
    let mut placed = vec![Placed::default(); states.len()];
    let mut placed_moved = placed.clone();
    let place = |states: &[RobotState], placed: &mut [Placed]| {
        states.iter().zip(placed).for_each(|(state, placed)| unknowns.place(state, placed));
    };
    place(&states, &mut placed);
    for (number, round) in ROUNDS.iter().enumerate() {
        let settings = Settings::FINAL.softened(round.softness);
        let equations = Equations { unknowns, goals, settings, cutoff: round.cutoff };
        damping = damping.min(DAMPING);
        for step in 0..round.steps {
            equations.set(&states, &placed, true, &mut scratch, &mut system);
            let cost = system.cost;
            let held = held(unknowns, &states, &system.gradient);
            let mut lower = None;
            for attempt in 0..TRIES {
                system.solve(&held, damping);
                if attempt > 0 && system.forecast() < round.enough * cost {
                    break;
                }
                if number == 0 && step == 0 {
                    shorten(&mut system.change, unknowns.count);
                }
                let changes = system.change.chunks_exact(unknowns.count);
                for ((state, change), moved) in states.iter().zip(changes).zip(&mut moved) {
                    unknowns.step(state, change, moved);
                }
                place(&moved, &mut placed_moved);
                equations.set(&moved, &placed_moved, false, &mut scratch, &mut system);
                if system.cost < cost {
                    let gain = (cost - system.cost) / system.forecast();
                    if gain > GOOD {
                        damping = (damping / SUCCESS).max(LEAST_DAMPING);
                    }
                    lower = Some(system.cost);
                    break;
                }
                damping = (damping * FAILURE).max(DAMPING);
            }
            let Some(lower) = lower else { break };
            std::mem::swap(&mut states, &mut moved);
            std::mem::swap(&mut placed, &mut placed_moved);
            if (cost - lower) / cost < round.enough {
                break;
            }
        }
    }
    states
}

/// The unknowns that a step leaves: hinges at their limit whose gradient points outwards.
fn held(unknowns: &Unknowns, states: &[RobotState], gradient: &[f64]) -> Vec<bool> {
    let mut held = vec![false; gradient.len()];
    for (frame, state) in states.iter().enumerate() {
        for (k, &hinge) in unknowns.hinges.iter().enumerate() {
            let at = frame * unknowns.count + 6 + k;
            let (value, slope) = (state.values[hinge], gradient[at]);
            held[at] = value <= unknowns.low[hinge] + AT_LIMIT && slope > 0.0
                || value >= unknowns.high[hinge] - AT_LIMIT && slope < 0.0;
        }
    }
    held
}

/// Shortens a step that rotates something too far.
fn shorten(step: &mut [f64], per_frame: usize) {
    let angles = step.chunks(per_frame).flat_map(|frame| &frame[3..]);
    let largest = angles.fold(0.0f64, |most, x| most.max(x.abs()));
    if largest > FIRST_STEP {
        step.iter_mut().for_each(|x| *x *= FIRST_STEP / largest);
    }
}
