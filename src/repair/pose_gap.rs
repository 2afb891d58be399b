//! Detects frames without data, in which every joint is at its rest rotation, and interpolates them.
//!
//! Recorders write zeros where they lose a performer. A held T-pose is entered and left slowly, or is at an end of the
//! take. Units: degrees, seconds.

use super::fault_log::{FaultLog, all};
use super::held_frames::bridge;
use super::robust_statistics::median_around;
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
/// Longest time that is filled, seconds.
const LONGEST: f64 = 0.55;
/// Least mean step into and out of the gap, degrees...
const LEAPS: f64 = 2.0;
/// ... and its least multiple of the median step around.
const TIMES: f64 = 4.0;
/// Steps on either side of which the median is taken, the gap left out.
const AROUND: usize = 6;

/// Interpolates gaps.
pub(super) fn gaps(take: &mut WorkingTake, log: &mut FaultLog) {
    log.test("gap", 0.0);
    let skeleton = take.motion.character.skeleton();
    let rest: Vec<_> =
        take.rotating.iter().map(|&j| (j, skeleton.joint(JointId::new(j)).rest.rotation)).collect();
    let near = |f: usize, (j, rest): &(usize, crate::math::Quat)| {
        let own = take.rotation(f, *j);
        own.coords.dot(&rest.coords).abs() > CLEARLY && rotation_between(own, rest).to_degrees() < AT_REST
    };
    let most = ((1.0 - WITHOUT_DATA) * rest.len() as f64) as usize;
    let empty = |f: usize| {
        let mut others = 0;
        rest.iter().all(|joint| {
            others += usize::from(!near(f, joint));
            others <= most
        })
    };
    let frames = take.frames();
    let found = spans(0..frames, empty);
    for gap in found.into_iter().filter(|gap| gap.start > 0 && gap.end < frames) {
        let (into, out) = (gap.start - 1, gap.end - 1);
        let leap = take.mean_step(into).min(take.mean_step(out));
        let outside = |e: usize| if (into..=out).contains(&e) { 0.0 } else { take.mean_step(e) };
        let usual = [into, out].map(|e| median_around(outside, take.edges(), e, AROUND + gap.len()));
        let seconds = gap.len() as f64 * take.dt;
        let shares = [leap / LEAPS, leap / (TIMES * usual[0].max(usual[1])).max(1e-9), LONGEST / seconds];
        if !log.test("gap", all(&shares)) {
            continue;
        }
        bridge(take, gap.start, gap.end);
        let after = (into..=out).map(|e| take.mean_step(e)).fold(0.0, f64::max);
        log.record_fixed("gap", None, gap, "deg", [leap, after]);
    }
}
