//! The solve of one window: damped Gauss-Newton steps (Levenberg 1944) with bounds by projection (Bertsekas 1982).

use super::normal_equations::NormalEquations;
use super::robot_equations::RobotEquations;
use super::robot_goals::Goals;
use super::robot_settings::{LAST_ROUND, Round, SLOWER, SolveSettings};
use super::robot_state::{Placed, RobotState, Unknowns};
use crate::parallel;

/// The least damping after a failure, as a share of the diagonal without the rows that couple frames.
const DAMPING: f64 = 0.1;
/// Least damping: below it nothing changes.
const LEAST_DAMPING: f64 = 1e-3;
/// A success that gains more than this share of what the equations foretell is one of them being right.
const GOOD: f64 = 0.75;
/// Such a success divides the damping by this.
const SUCCESS: f64 = 4.0;
/// A failure multiplies the damping by this.
const FAILURE: f64 = 8.0;
/// Dampings that are tried before a round ends.
const TRIES: usize = 7;
/// How often a step that fails is halved before the damping rises: parts that touch bend the path within it, and half of a step costs
/// no new factors. Without it boxing takes a tenth longer. It is halved where it fails: parts touch in few frames, and half of a step in
/// all of a window takes up to a fifth more evaluations.
const HALVINGS: usize = 2;
/// Time over which a step is halved less and less before and after where it fails, seconds: the period of the last cutoff, in which
/// half of a step is no jerk.
const HALVED: f64 = 0.25;
/// Frames that a thread moves at least.
const MOVED: usize = 32;
/// A hinge this near to its limit is at it, and one that a step moves no farther beyond it is not pushed, radians.
const AT_LIMIT: f64 = 1e-3;

/// The states that solve the goals, by these rounds from a first guess. `kept` are numbers of frames at the beginning and at the end
/// that stay as they are. Hinges that are too fast are slowed down if these rounds are the `last` ones.
pub(super) fn solve(
    unknowns: &Unknowns,
    goals: &Goals,
    states: Vec<RobotState>,
    rounds: &[Round],
    kept: [usize; 2],
    last: bool,
) -> Vec<RobotState> {
    let mut search = WindowSolve::of(unknowns, states, kept);
    for round in rounds {
        let settings = SolveSettings::FINAL.softened(round.softness);
        let equations = RobotEquations { unknowns, goals, settings, cutoff: round.cutoff };
        search.round(&equations, round);
    }
    for speed in SLOWER {
        if !last || !is_too_fast(unknowns, goals, &search.states) {
            break;
        }
        let settings = SolveSettings { speed, ..SolveSettings::FINAL };
        let equations = RobotEquations { unknowns, goals, settings, cutoff: LAST_ROUND.cutoff };
        search.round(&equations, &LAST_ROUND);
    }
    search.states
}

/// Whether a hinge is faster than the robot's file allows.
pub(super) fn is_too_fast(unknowns: &Unknowns, goals: &Goals, states: &[RobotState]) -> bool {
    (1..states.len()).filter(|&frame| !goals.cut[frame]).any(|frame| {
        let (before, now) = (&states[frame - 1].values, &states[frame].values);
        let speed = |k: usize| (now[k] - before[k]).abs() * goals.rate;
        unknowns.hinges.iter().any(|&k| unknowns.stated[k] && speed(k) > unknowns.fastest[k])
    })
}

/// The states of a window, the equations about them, and the room to try others.
struct WindowSolve {
    states: Vec<RobotState>,
    placed: Vec<Placed>,
    moved: Vec<RobotState>,
    placed_moved: Vec<Placed>,
    system: NormalEquations,
    damping: f64,
    kept: [usize; 2],
}

impl WindowSolve {
    fn of(unknowns: &Unknowns, states: Vec<RobotState>, kept: [usize; 2]) -> Self {
        let mut placed = vec![Placed::default(); states.len()];
        states.iter().zip(&mut placed).for_each(|(state, placed)| unknowns.place(state, placed));
        Self {
            system: NormalEquations::new(states.len(), unknowns.count),
            moved: states.clone(),
            placed_moved: placed.clone(),
            damping: f64::INFINITY,
            kept,
            states,
            placed,
        }
    }

    /// Sets the equations about the states.
    fn set(&mut self, equations: &RobotEquations) {
        equations.set(&self.states, &self.placed, &mut self.system);
    }

    /// Takes the steps of a round.
    fn round(&mut self, equations: &RobotEquations, round: &Round) {
        self.damping = self.damping.min(round.damping);
        self.set(equations);
        for step in 0..round.steps {
            let cost = self.system.cost();
            let found =
                self.step(equations, round.enough, if step == 0 { round.longest } else { f64::INFINITY });
            if !found || cost - self.system.cost() < round.enough * cost {
                break;
            }
        }
    }

    /// Moves the states, and sets the equations about them; returns whether the cost is lower. If not, nothing has changed.
    ///
    /// Every try sets all of the equations, with derivatives: one in five fails, and the next step needs them.
    fn step(&mut self, equations: &RobotEquations, enough: f64, longest: f64) -> bool {
        let (unknowns, cost) = (equations.unknowns, self.system.cost());
        let costs = self.system.costs.clone();
        let mut held = held(unknowns, &self.states, &self.system.gradient, self.kept);
        for _ in 0..TRIES {
            self.system.solve(&held, self.damping);
            if hold_pushed(unknowns, &self.states, &self.system.change, &mut held) {
                self.system.solve(&held, self.damping);
            }
            shorten(&mut self.system.change, unknowns.count, longest);
            let forecast = self.system.forecast();
            if forecast < enough * cost {
                return false;
            }
            for halving in 0..=HALVINGS {
                let changes: Vec<&[f64]> = self.system.change.chunks_exact(unknowns.count).collect();
                let mut moved: Vec<_> = self.moved.iter_mut().zip(&mut self.placed_moved).collect();
                parallel::for_each(&mut moved, MOVED, |frame, (moved, placed)| {
                    unknowns.step(&self.states[frame], changes[frame], moved);
                    unknowns.place(moved, placed);
                });
                equations.set(&self.moved, &self.placed_moved, &mut self.system);
                let gain = cost - self.system.cost();
                if gain > 0.0 {
                    if halving > 0 {
                        self.damping = (self.damping * FAILURE).max(DAMPING);
                    } else if gain > GOOD * forecast {
                        self.damping = (self.damping / SUCCESS).max(LEAST_DAMPING);
                    }
                    std::mem::swap(&mut self.states, &mut self.moved);
                    std::mem::swap(&mut self.placed, &mut self.placed_moved);
                    return true;
                }
                let worse: Vec<bool> =
                    self.system.costs.iter().zip(&costs).map(|(new, old)| new > old).collect();
                halve_around(&mut self.system.change, &worse, equations.goals.rate);
            }
            self.set(equations);
            self.damping = (self.damping * FAILURE).max(DAMPING);
        }
        false
    }
}

/// The unknowns that a step leaves: hinges at their limit whose gradient points outwards, and frames that are kept.
fn held(
    unknowns: &Unknowns,
    states: &[RobotState],
    gradient: &[f64],
    [first, last]: [usize; 2],
) -> Vec<bool> {
    let mut held = vec![false; gradient.len()];
    let count = held.len();
    held[..first * unknowns.count].fill(true);
    held[count - last * unknowns.count..].fill(true);
    at_limit(unknowns, states, |unknown, outwards| held[unknown] |= gradient[unknown] * outwards < 0.0);
    held
}

/// Holds the hinges at their limit that a step would move beyond it; returns whether there are any. Where they were only stopped at the
/// limit, the others would move as if they had gone on: resting feet would slide under ankles that cannot roll. With it a window of a
/// dance takes 8 instead of 15 evaluations.
pub(super) fn hold_pushed(
    unknowns: &Unknowns,
    states: &[RobotState],
    change: &[f64],
    held: &mut [bool],
) -> bool {
    let mut any = false;
    at_limit(unknowns, states, |unknown, outwards| {
        if change[unknown] * outwards > AT_LIMIT {
            held[unknown] = true;
            any = true;
        }
    });
    any
}

/// Tells the unknowns of hinges at their limit, and where it is crossed: 1 upwards, -1 downwards.
fn at_limit(unknowns: &Unknowns, states: &[RobotState], mut tell: impl FnMut(usize, f64)) {
    for (frame, state) in states.iter().enumerate() {
        for (k, &hinge) in unknowns.hinges.iter().enumerate() {
            let (unknown, value) = (frame * unknowns.count + 6 + k, state.values[hinge]);
            if value <= unknowns.low[hinge] + AT_LIMIT {
                tell(unknown, -1.0);
            }
            if value >= unknowns.high[hinge] - AT_LIMIT {
                tell(unknown, 1.0);
            }
        }
    }
}

/// Halves a step at frames that it makes worse, and less around them.
fn halve_around(step: &mut [f64], worse: &[bool], rate: f64) {
    let per_frame = step.len() / worse.len();
    let reach = (rate * HALVED) as usize;
    for (frame, change) in step.chunks_exact_mut(per_frame).enumerate() {
        let around = frame.saturating_sub(reach)..(frame + reach + 1).min(worse.len());
        let nearest = around.filter(|&other| worse[other]).map(|other| other.abs_diff(frame)).min();
        if let Some(far) = nearest {
            let far = far as f64 / (reach + 1) as f64;
            let near = (1.0 - far * far) * (1.0 - far * far);
            change.iter_mut().for_each(|x| *x *= 1.0 - near / 2.0);
        }
    }
}

/// Shortens a step that rotates something farther than `longest`.
fn shorten(step: &mut [f64], per_frame: usize, longest: f64) {
    let angles = step.chunks(per_frame).flat_map(|frame| &frame[3..]);
    let largest = angles.fold(0.0f64, |most, x| most.max(x.abs()));
    if largest > longest {
        step.iter_mut().for_each(|x| *x *= longest / largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_halved_where_it_fails_and_whole_elsewhere() {
        let (mut step, mut worse) = (vec![1.0; 2 * 40], vec![false; 40]);
        worse[10] = true;
        halve_around(&mut step, &worse, 16.0);
        let shares: Vec<f64> = step.chunks(2).map(|frame| frame[0]).collect();
        assert_eq!([shares[10], shares[5], shares[15]], [0.5, 1.0, 1.0]);
        assert!(shares[10..16].windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            (6..15)
                .all(|frame| shares[frame] == shares[20 - frame] && step[2 * frame] == step[2 * frame + 1])
        );
    }
}
