//! The warning of stages that keep the cuts of a take.

use crate::kinematics::shots_between;
use crate::model::{Motion, RobotMotion};
use crate::report::Report;

/// Warns of the frames that follow a cut, ascending.
pub(super) fn warn_of_cuts(motion: &Motion, cuts: &[usize], report: &mut Report) {
    let Some(found) = found(cuts) else { return };
    let message = format!(
        "{found}: filters do not average across it, and the body jumps there; `--trim` or the stage `trim` keeps a part of the take"
    );
    report.warnings.add("take-cut", message, motion.clip.name.clone());
}

/// Warns that a robot's hinges jump at the frames that follow a cut, ascending, and says which part is the longest without one.
pub(super) fn warn_of_jumps(motion: &Motion, robot: &RobotMotion, cuts: &[usize], report: &mut Report) {
    let Some(found) = found(cuts) else { return };
    let speed = |&frame: &usize| {
        let hinges = robot.values(frame - 1).iter().zip(robot.values(frame));
        hinges.map(|(before, now)| (now - before).abs() * robot.rate).fold(0.0, f64::max)
    };
    let fastest = cuts.iter().filter(|cut| **cut < robot.frames()).map(speed).fold(0.0, f64::max);
    let seconds = |frame: usize| (frame as f64 / robot.rate * DIGITS).round() / DIGITS;
    let shots = shots_between(cuts.iter().copied(), robot.frames());
    // The first of several that are as long.
    let longest = shots.iter().rev().max_by_key(|shot| shot.len()).cloned().unwrap_or_default();
    let start = if longest.start == 0 { String::new() } else { seconds(longest.start).to_string() };
    let end =
        if longest.end == robot.frames() { String::new() } else { seconds(longest.end - 1).to_string() };
    let message = format!(
        "{found}: the file has it too, and hinges jump there by {fastest:.0} rad/s, which no robot follows; `--trim {start}..{end}` or the stage `trim` keeps the longest part without a cut"
    );
    report.warnings.add("take-cut", message, motion.clip.name.clone());
}

/// Steps per second of times in messages: a tenth of a millisecond is a hundredth of a frame of 120 Hz.
const DIGITS: f64 = 1e4;

/// What is said of cuts; `None` without any.
fn found(cuts: &[usize]) -> Option<String> {
    let [first, rest @ ..] = cuts else { return None };
    let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!("the take has a cut at frame {first}{others}"))
}
