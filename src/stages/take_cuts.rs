//! The warning of stages that keep the cuts of a take.

use crate::model::Motion;
use crate::report::Report;

/// Warns of the frames that follow a cut, ascending.
pub(super) fn warn_of_cuts(motion: &Motion, cuts: &[usize], report: &mut Report) {
    let [first, rest @ ..] = cuts else { return };
    let others = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let message = format!(
        "the take has a cut at frame {first}{others}: filters do not average across it, and the body jumps there; `--trim` or the stage `trim` keeps a part of the take"
    );
    report.warnings.add("take-cut", message, motion.clip.name.clone());
}
