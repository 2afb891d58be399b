//! The solve from few frames to all. A motion that is smooth below 4 Hz is known from 24 frames per second, and what is interpolated
//! between them is so near to the result that two or three steps are left (multigrid, Brandt 1977).

use super::between_states::interpolated;
use super::robot_goals::Goals;
use super::robot_settings::{COARSE_ROUND, EARLY_ROUNDS, LAST_ROUND, Round};
use super::robot_state::{RobotState, Unknowns};
use super::solve::solve;
use super::window_seams::{COUPLED, FrameSpan, joined};
use crate::parallel;

/// Least frames per second of the first guess, and of the first solve with hard contacts: with 24 to 33 the widths were found.
const COARSE_RATE: f64 = 24.0;
/// The same for the early rounds, in which motion is free up to 3 Hz only.
const EARLY_RATE: f64 = 12.0;
/// Frames of a window: the smallest at which seams are rare and threads have work in takes of half a minute.
const WINDOW: usize = 256;
/// Frames on either side of a window that are solved as well: over them it is blended with the next. Without that, planted feet step by 3
/// to 7 mm in one frame, half a second of 30 Hz makes it 0.4; more overlap changes nothing. Windows that differ are solved again there.
const OVERLAP: usize = 16;

/// Some frames of a take: every so many, from the first one of each shot.
#[derive(Debug)]
pub(super) struct TimeLevel {
    every: usize,
    frames: Vec<usize>,
}

impl TimeLevel {
    fn of(cut: &[bool], every: usize) -> Self {
        let mut first = 0;
        let taken = (0..cut.len()).filter(|&frame| {
            first = if cut[frame] { frame } else { first };
            (frame - first) % every == 0
        });
        Self { every, frames: taken.collect() }
    }

    /// The frames of the first guess.
    pub(super) fn coarse(goals: &Goals) -> Self {
        Self::of(&goals.cut, ((goals.rate / COARSE_RATE) as usize).max(1))
    }

    /// Those of them for the early rounds.
    fn early(&self, goals: &Goals) -> Self {
        let every = (goals.rate / EARLY_RATE) as usize / self.every;
        Self::of(&goals.cut, self.every * every.max(1))
    }

    /// The goals of these frames.
    pub(super) fn goals(&self, goals: &Goals) -> Goals {
        goals.picked(&self.frames, goals.rate / self.every as f64)
    }
}

/// The states of all frames, from a first guess of the coarse ones.
pub(super) fn solved(
    unknowns: &Unknowns,
    goals: &Goals,
    coarse: &TimeLevel,
    guess: &[RobotState],
) -> Vec<RobotState> {
    let (early, all) = (coarse.early(goals), TimeLevel::of(&goals.cut, 1));
    let own = early.frames.iter().map(|frame| coarse.frames.partition_point(|other| other < frame));
    let mut states: Vec<RobotState> = own.map(|k| guess[k].clone()).collect();
    let last = [if coarse.every == 1 { LAST_ROUND } else { COARSE_ROUND }];
    let mut levels = vec![(&early, &EARLY_ROUNDS[..]), (coarse, &last)];
    if coarse.every > 1 {
        levels.push((&all, &[LAST_ROUND]));
    }
    let mut before = &early.frames;
    for (k, (level, rounds)) in levels.iter().enumerate() {
        states = interpolated(unknowns, &goals.cut, [before, &level.frames], states);
        let own = level.goals(goals);
        states = solved_in_windows(unknowns, &own, &states, rounds, [k > 0, k + 1 == levels.len()]);
        before = &level.frames;
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
    let mut windows = Vec::new();
    let mut start = 0;
    while start < cut.len() {
        let end = (start + 1..cut.len()).find(|&frame| cut[frame]).unwrap_or(cut.len());
        let count = (end - start).div_ceil(WINDOW);
        for k in 0..count {
            let first = start + (end - start) * k / count;
            let last = start + (end - start) * (k + 1) / count;
            let from = first.saturating_sub(OVERLAP).max(start);
            windows.push(FrameSpan { from, to: (last + OVERLAP).min(end), first, end: last });
        }
        start = end;
    }
    windows
}
