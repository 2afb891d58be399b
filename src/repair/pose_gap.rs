//! Detects frames without data, in which every joint is at its rest rotation or repeats one rotation, and interpolates them.
//!
//! Recorders write zeros, or one pose, where they lose a performer: the body leaps into it and out of it. A held T-pose is entered and
//! left slowly, or is at an end of the take. Units: degrees, seconds.

use super::fault_log::FaultLog;
use super::held_frames::bridge;
use super::leap::leap;
use super::working_take::WorkingTake;
use crate::math::rotation_between;
use crate::model::JointId;
use crate::signal::spans;

/// A joint this near to its rest rotation has no data, degrees: what is written as zero is read within rounding.
const AT_REST: f64 = 0.01;
/// A joint with a smaller cosine of half the angle from its rest rotation, 1.6 degrees, is clearly not at rest.
const CLEARLY: f64 = 0.9999;
/// Least share of the rotating joints without data.
const WITHOUT_DATA: f64 = 0.8;
/// Longest time that is filled, seconds: of 608 gaps of up to 1 s in 13 takes none came out farther from the truth; what happened in a longer time
/// is unknown.
const LONGEST: f64 = 1.05;

/// Interpolates gaps.
pub(super) fn gaps(take: &mut WorkingTake, log: &mut FaultLog) {
    log.test("gap", 0.0);
    let skeleton = take.motion.character.skeleton();
    let rest: Vec<_> =
        take.rotating.iter().map(|&j| (j, skeleton.joint(JointId::new(j)).rest.rotation)).collect();
    let near = |f: usize, (j, rest): &(usize, crate::math::Quat)| {
        let own = take.rotation(f, *j);
        own.coords.dot(&rest.coords).abs() > CLEARLY && rotation_between(&own, rest).to_degrees() < AT_REST
    };
    let most = ((1.0 - WITHOUT_DATA) * rest.len() as f64) as usize;
    let empty = |f: usize| {
        let mut others = 0;
        rest.iter().all(|joint| {
            others += usize::from(!near(f, joint));
            others <= most
        })
    };
    let (frames, positions) = (take.frames(), take.root_positions());
    let mut found = spans(0..frames, empty);
    let repeats = spans(0..take.edges(), |e| take.repeats_pose(e)).into_iter();
    found.extend(repeats.map(|edges| edges.start..edges.end + 1).filter(|gap| !empty(gap.start)));
    let mut changed = false;
    for gap in found.into_iter().filter(|gap| gap.start > 0 && gap.end < frames) {
        let (into, out) = (gap.start - 1, gap.end - 1);
        let [share, other] = [into, out].map(|e| leap(take, &positions, e, [into, out]));
        let share = share.min(other);
        let before = take.mean_step(into).min(take.mean_step(out));
        let seconds = gap.len() as f64 * take.dt;
        if seconds > LONGEST && share > 1.0 {
            let why = "the body leaps into one pose and out of it: what it did for so long is not known";
            log.record_unfixed("gap", gap, "deg", before, why);
        } else if log.test("gap", share) {
            bridge(take, gap.start, gap.end);
            changed = true;
            let after = (into..=out).map(|e| take.mean_step(e)).fold(0.0, f64::max);
            log.record_fixed("gap", None, gap, "deg", [before, after]);
        }
    }
    if changed {
        take.fix_signs();
    }
}
