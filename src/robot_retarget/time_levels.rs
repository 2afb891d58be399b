//! The solve from few frames to all. A motion that is smooth below 4 Hz is known from 30 frames per second, and what is interpolated
//! between them is so near to the result that two or three steps are left (multigrid, Brandt 1977).

use super::between_states::interpolated;
use super::robot_goals::{Goals, shots};
use super::robot_settings::{EARLY_ROUNDS, LAST_ROUND, RATE, Round};
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
/// How a clip is divided, seconds: lengths of windows, and of what is solved on either side of them as well, over which a window is
/// blended with the next; without that planted feet step by 3 to 7 mm in one frame. Windows meet at the same times at any rate: with 256
/// frames at every rate a kneel at 50 Hz is 5.4 instead of 0.6 mm from the one at 120 Hz (95th percentile).
#[derive(Clone, Copy)]
struct Division {
    window: f64,
    overlap: f64,
}

/// Windows in which the path is found. With 4 s instead of 8 planted feet of a kneel, whose stances last longer, move by 2.1 instead of
/// 1.7 cm/s (95th percentile), and a dance at 50 Hz is 3.3 instead of 1.1 mm from the one at 120 Hz.
const FINDING: Division = Division { window: 8.0, overlap: 0.5 };
/// Windows in which all frames follow a path that is found. With half of the overlap a jump that lands where two of them meet is 4.2
/// instead of 2.2 mm off at 50 Hz.
const REFINING: Division = Division { window: 2.0, overlap: 0.25 };
/// The fewest frames of a window and of what is solved beside it, for takes of few frames per second: a tenth of such a window is solved
/// twice.
const FEWEST: [usize; 2] = [64, 4];

impl Division {
    /// The same in frames.
    fn frames(self, rate: f64) -> [usize; 2] {
        let frames = |seconds: f64, fewest: usize| ((seconds * rate).round() as usize).max(fewest);
        [frames(self.window, FEWEST[0]), frames(self.overlap, FEWEST[1])]
    }
}

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
    let mut levels = vec![(&early, &EARLY_ROUNDS[..], FINDING), (coarse, &[LAST_ROUND], FINDING)];
    if !is_all {
        levels.push((&all, &[LAST_ROUND], REFINING));
    }
    let mut before = &early.times;
    for (k, (level, rounds, division)) in levels.iter().enumerate() {
        states = interpolated(unknowns, &goals.cut, [before, &level.times], states);
        let own = level.goals(goals);
        let windows = windows(&own.cut, division.frames(own.rate));
        states = solved_in_windows(unknowns, &own, &states, &windows, rounds, [k > 0, k + 1 == levels.len()]);
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
    windows: &[FrameSpan],
    rounds: &[Round],
    [near, last]: [bool; 2],
) -> Vec<RobotState> {
    let solved: Vec<Vec<RobotState>> = parallel::map_each(windows, 1, |window| {
        let FrameSpan { from, to, first, end } = *window;
        let kept = [first > from, to > end].map(|inside| if near && inside { COUPLED } else { 0 });
        solve(unknowns, &goals.part(from..to), states[from..to].to_vec(), rounds, kept, last)
    });
    joined(unknowns, goals, windows, solved, last)
}

/// Windows of at most so many frames, with so many on either side, which do not reach across cuts.
fn windows(cut: &[bool], [window, overlap]: [usize; 2]) -> Vec<FrameSpan> {
    let in_shot = |shot: Range<usize>| {
        let (start, end, frames) = (shot.start, shot.end, shot.len());
        let count = frames.div_ceil(window);
        (0..count).map(move |k| {
            let (first, last) = (start + frames * k / count, start + frames * (k + 1) / count);
            let from = first.saturating_sub(overlap).max(start);
            FrameSpan { from, to: (last + overlap).min(end), first, end: last }
        })
    };
    shots(cut).into_iter().flat_map(in_shot).collect()
}
