//! The solve from few frames to all. A motion that is smooth below 4 Hz is known from 30 frames per second, and what is interpolated
//! between them is so near to the result that two or three steps are left (multigrid, Brandt 1977).

use super::between_states::interpolated;
use super::robot_goals::{Goals, shots};
use super::robot_settings::{COARSE_ROUND, EARLY_ROUNDS, LAST_ROUND, RATE, Round};
use super::robot_state::{RobotState, Unknowns};
use super::solve::solve;
use super::window_seams::{COUPLED, FrameSpan, joined};
use crate::parallel;
use std::ops::Range;

/// Takes of fewer frames per second have them all in the first guess, and in the first solve with hard contacts; others have those of the
/// rate at which the widths were found, so that at any rate an arm passes a pole on the same side.
const COARSE_BELOW: f64 = 1.5 * RATE;
/// Least frames per second of the early rounds, in which motion is free up to 3 Hz only.
const EARLY_RATE: f64 = 12.0;
/// Frames of a window: the smallest at which seams are rare and threads have work in takes of half a minute.
const WINDOW: usize = 256;
/// Frames on either side of a window that are solved as well: over them it is blended with the next. Without that, planted feet step by 3
/// to 7 mm in one frame, half a second of 30 Hz makes it 0.4; more overlap changes nothing. Windows that differ are solved again there.
const OVERLAP: usize = 16;

/// Times of a take, in its frames: evenly from the first frame of each shot.
#[derive(Debug)]
pub(super) struct TimeLevel {
    rate: f64,
    times: Vec<f64>,
}

impl TimeLevel {
    fn of(goals: &Goals, rate: f64) -> Self {
        let every = goals.rate / rate;
        let in_shot = |shot: Range<usize>| {
            let count = ((shot.len() - 1) as f64 / every) as usize + 1;
            (0..count).map(move |k| shot.start as f64 + k as f64 * every)
        };
        Self { rate, times: shots(&goals.cut).into_iter().flat_map(in_shot).collect() }
    }

    /// The times of the first guess.
    pub(super) fn coarse(goals: &Goals) -> Self {
        Self::of(goals, if goals.rate < COARSE_BELOW { goals.rate } else { RATE })
    }

    /// Those of them for the early rounds.
    fn early(&self, goals: &Goals) -> Self {
        Self::of(goals, if self.rate < 2.0 * EARLY_RATE { self.rate } else { self.rate / 2.0 })
    }

    /// The goals at these times.
    pub(super) fn goals(&self, goals: &Goals) -> Goals {
        goals.at(&self.times, self.rate)
    }
}

/// The states of all frames, from a first guess of the coarse ones.
pub(super) fn solved(
    unknowns: &Unknowns,
    goals: &Goals,
    coarse: &TimeLevel,
    guess: &[RobotState],
) -> Vec<RobotState> {
    let (early, all) = (coarse.early(goals), TimeLevel::of(goals, goals.rate));
    let own = early.times.iter().map(|time| coarse.times.partition_point(|other| other < time));
    let mut states: Vec<RobotState> = own.map(|k| guess[k].clone()).collect();
    let is_all = coarse.rate == goals.rate;
    let last = [if is_all { LAST_ROUND } else { COARSE_ROUND }];
    let mut levels = vec![(&early, &EARLY_ROUNDS[..]), (coarse, &last)];
    if !is_all {
        levels.push((&all, &[LAST_ROUND]));
    }
    let mut before = &early.times;
    for (k, (level, rounds)) in levels.iter().enumerate() {
        states = interpolated(unknowns, &goals.cut, [before, &level.times], states);
        let own = level.goals(goals);
        states = solved_in_windows(unknowns, &own, &states, rounds, [k > 0, k + 1 == levels.len()]);
        before = &level.times;
    }
    states
}

/// The states after some rounds. If they are `near` the result, frames at the ends of windows stay as they are, so that windows meet; if
/// these rounds are the last ones, windows that do not are solved again there.
fn solved_in_windows(
    unknowns: &Unknowns,
    goals: &Goals,
    states: &[RobotState],
    rounds: &[Round],
    [near, last]: [bool; 2],
) -> Vec<RobotState> {
    let windows = windows(&goals.cut);
    let solved: Vec<Vec<RobotState>> = parallel::map_each(&windows, 1, |window| {
        let FrameSpan { from, to, first, end } = *window;
        let kept = [first > from, to > end].map(|inside| if near && inside { COUPLED } else { 0 });
        solve(unknowns, &goals.part(from..to), states[from..to].to_vec(), rounds, kept, last)
    });
    joined(unknowns, goals, &windows, solved, last)
}

/// The windows of a clip, which do not reach across cuts.
fn windows(cut: &[bool]) -> Vec<FrameSpan> {
    let in_shot = |shot: Range<usize>| {
        let (start, end, frames) = (shot.start, shot.end, shot.len());
        let count = frames.div_ceil(WINDOW);
        (0..count).map(move |k| {
            let (first, last) = (start + frames * k / count, start + frames * (k + 1) / count);
            let from = first.saturating_sub(OVERLAP).max(start);
            FrameSpan { from, to: (last + OVERLAP).min(end), first, end: last }
        })
    };
    shots(cut).into_iter().flat_map(in_shot).collect()
}
