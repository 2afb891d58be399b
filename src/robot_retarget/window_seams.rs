//! Joins the windows of a take, and solves again where two of them do not meet.

use super::robot_goals::Goals;
use super::robot_settings::LAST_ROUND;
use super::robot_state::{RobotState, Unknowns};
use super::solve::{is_too_fast, solve};
use crate::math::smoothstep;
use crate::parallel;
use std::ops::Range;

/// Two windows that differ by more than this at the frame where one follows the other do not meet: radians of a hinge or of the base,
/// and lengths of the leg. Slow hinges are late by more than windows overlap: they differ by up to
/// 0.3 there, and the step at the seam is up to 12 times as sudden as 99 % of the others.
const APART: f64 = 0.01;
/// Time on either side of such a seam that is solved again, seconds: a hinge of 2 rad/s makes up for 1.6 rad in it.
const AROUND: f64 = 0.8;
/// Frames that stay at the ends of what is solved again: each frame is coupled to so many before it.
pub(super) const COUPLED: usize = 2;

/// Frames that are solved together, and those of them that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameSpan {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) first: usize,
    pub(super) end: usize,
}

impl FrameSpan {
    /// The state of a frame of the take, from those of the window.
    fn state<'a>(&self, solved: &'a [RobotState], frame: usize) -> &'a RobotState {
        &solved[frame - self.from]
    }
}

/// The states of all frames, from those of each window. Windows that do not meet are solved again there if this is the `last` solve.
pub(super) fn joined(
    unknowns: &Unknowns,
    goals: &Goals,
    windows: &[FrameSpan],
    solved: Vec<Vec<RobotState>>,
    last: bool,
) -> Vec<RobotState> {
    let blended = blended(goals, windows, &solved);
    let apart = if last { spans_apart(unknowns, goals, windows, &solved, &blended) } else { Vec::new() };
    let kept = windows.iter().zip(solved).flat_map(|(window, states)| {
        states.into_iter().skip(window.first - window.from).take(window.end - window.first)
    });
    let mut joined: Vec<RobotState> = kept.collect();
    for (frames, states) in blended {
        joined[frames].clone_from_slice(&states);
    }
    for spans in apart {
        let again = parallel::map_each(&spans, 1, |span| solved_again(unknowns, goals, span, &joined));
        for (span, states) in spans.into_iter().zip(again) {
            joined[span].clone_from_slice(&states);
        }
    }
    joined
}

/// The frames that two windows share, with states that go from those of the first to those of the second. Planted feet of two windows
/// are a few millimetres apart, since only their speed is held.
fn blended(
    goals: &Goals,
    windows: &[FrameSpan],
    solved: &[Vec<RobotState>],
) -> Vec<(Range<usize>, Vec<RobotState>)> {
    let pairs = windows.windows(2).zip(solved.windows(2)).filter(|(pair, _)| !goals.cut[pair[1].first]);
    let blend = |(pair, solved): (&[FrameSpan], &[Vec<RobotState>])| {
        let shared = pair[1].from..pair[0].to;
        let state = |frame: usize| {
            let share = (frame - shared.start + 1) as f64 / (shared.len() + 1) as f64;
            let [a, b] = [0, 1].map(|k| pair[k].state(&solved[k], frame));
            // It begins and ends at rest.
            a.towards(b, smoothstep(share))
        };
        (shared.clone(), shared.clone().map(state).collect())
    };
    pairs.map(blend).collect()
}

/// The frames around the seams at which windows do not meet, or what is blended between them is too fast. Those of a group have no frame
/// in common; those that share frames with the seam before are in the group after its.
fn spans_apart(
    unknowns: &Unknowns,
    goals: &Goals,
    windows: &[FrameSpan],
    solved: &[Vec<RobotState>],
    blended: &[(Range<usize>, Vec<RobotState>)],
) -> Vec<Vec<Range<usize>>> {
    let mut groups: Vec<Vec<Range<usize>>> = Vec::new();
    let (mut group, mut end) = (0, 0);
    let seams = windows.windows(2).zip(solved.windows(2)).filter(|(pair, _)| !goals.cut[pair[1].first]);
    for ((pair, solved), (shared, states)) in seams.zip(blended) {
        let seam = pair[1].first;
        let [before, after] = [0, 1].map(|k| pair[k].state(&solved[k], seam));
        let apart = distance(unknowns, before, after) > APART;
        if apart || is_too_fast(unknowns, &goals.part(shared.clone()), states) {
            let span = around(goals, seam);
            group = if span.start < end { group + 1 } else { 0 };
            end = span.end;
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(span);
        }
    }
    groups
}

/// The frames around a seam, not across a cut.
fn around(goals: &Goals, seam: usize) -> Range<usize> {
    let frames = (goals.rate * AROUND) as usize;
    let first = (seam.saturating_sub(frames)..=seam).rev().find(|&frame| goals.cut[frame]);
    let end = (seam + frames).min(goals.cut.len());
    let last = (seam + 1..end).find(|&frame| goals.cut[frame]);
    first.unwrap_or(seam.saturating_sub(frames))..last.unwrap_or(end)
}

/// The states of a span solved again; those at its ends stay, unless the take begins, ends or is cut there.
fn solved_again(
    unknowns: &Unknowns,
    goals: &Goals,
    span: &Range<usize>,
    states: &[RobotState],
) -> Vec<RobotState> {
    let Range { start, end } = *span;
    let is_end = [start == 0 || goals.cut[start], end == states.len() || goals.cut[end]];
    let kept = is_end.map(|is_end| if is_end { 0 } else { COUPLED });
    solve(unknowns, &goals.part(span.clone()), states[span.clone()].to_vec(), &[LAST_ROUND], kept, true)
}

/// The largest difference of two states.
fn distance(unknowns: &Unknowns, a: &RobotState, b: &RobotState) -> f64 {
    let place = (b.base.translation - a.base.translation).norm() / unknowns.body.leg_length;
    let values = a.values.iter().zip(&b.values).map(|(a, b)| (b - a).abs());
    values.fold(place.max(a.base.rotation.angle_to(&b.base.rotation)), f64::max)
}
