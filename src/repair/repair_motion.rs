//! Runs all fault tests of a take and returns the repaired motion with the findings.
//!
//! Every fault is tested on the take's own statistics; if none is detected, the motion is returned bit for bit. The
//! tests are repeated until none fires, so a second call changes nothing.

use super::fault_log::FaultLog;
use super::floor_level::level;
use super::floor_tilt::{steep_tilt, tilt};
use super::foot_direction::drifting_feet;
use super::foot_slide::slides;
use super::frozen_joint::frozen;
use super::glitch::glitches;
use super::held_frames::held;
use super::joint_flip::flips;
use super::joint_shake::shakes;
use super::noise::noise;
use super::noise_burst::bursts;
use super::path_drift::{partial_drift, path_drift};
use super::pose_gap::gaps;
use super::root_step::{root_spikes, root_steps};
use super::side_swap::swaps;
use super::spike::{pops, spikes, wraps};
use super::stances::{FootTrajectories, SLOW};
use super::vertical_drift::{long_stances, vertical_drift};
use super::working_take::WorkingTake;
use crate::model::Motion;
use crate::report::{Finding, Metric};

/// Most rounds of tests; damaged takes need two or three.
const ROUNDS: usize = 4;
/// Share of frames with a contact from which the floor is known: without this limit a clean take of hops was lowered
/// by 7 cm.
const KNOWN: f64 = 0.2;

/// Which faults are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Faults of single frames and of the signal: held frames, exchanged sides, spikes, flips, steps, noise.
    pub signal: bool,
    /// Faults of floor and path: vertical drift, tilt, level, scale, drift.
    pub floor: bool,
    /// Single sliding stances.
    pub legs: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Self { signal: true, floor: true, legs: true }
    }
}

/// The result of a repair.
#[derive(Clone, Debug)]
pub struct RepairedMotion {
    /// The motion; bit for bit the input where nothing was fixed.
    pub motion: Motion,
    /// What was fixed, followed by what was detected but not fixed.
    pub findings: Vec<Finding>,
    /// Share of the limit that each test reaches on the result (`repair_<fault>`): at most 1.
    pub nearest: Vec<Metric>,
}

/// Detects and fixes the faults of a motion.
pub fn repair_motion(motion: Motion, faults: &Faults) -> RepairedMotion {
    let mut take = match WorkingTake::of(motion) {
        Ok(take) => take,
        Err(motion) => return RepairedMotion { motion: *motion, findings: Vec::new(), nearest: Vec::new() },
    };
    let mut findings = Vec::new();
    let mut last = FaultLog::default();
    for _ in 0..ROUNDS {
        last = FaultLog::default();
        test_all(&mut take, faults, &mut last);
        if last.fixed.is_empty() {
            break;
        }
        findings.append(&mut last.fixed);
    }
    let motion = take.into_motion(!findings.is_empty());
    findings.append(&mut last.left);
    RepairedMotion { motion, findings, nearest: last.metrics() }
}

/// Tests once for every fault, each on the result of the previous one.
fn test_all(take: &mut WorkingTake, faults: &Faults, log: &mut FaultLog) {
    if faults.signal {
        if !held(take, log) {
            return;
        }
        gaps(take, log);
        swaps(take, log);
        wraps(take, log);
        spikes(take, log);
        frozen(take, log);
        flips(take, log);
        root_spikes(take, log);
        root_steps(take, log);
    }
    let cut = take.cut();
    if faults.signal {
        for e in (0..cut.len()).filter(|e| cut[*e]) {
            let why = "a cut: missing frames cannot be filled in without making the take longer";
            log.record_unfixed("cut", e + 1..e + 2, "deg", take.mean_step(e), why);
        }
        let trembling = noise(take, &cut, log);
        pops(take, log);
        glitches(take, &cut, log);
        bursts(take, &cut, trembling, log);
        shakes(take, &cut, log);
    }
    if faults.floor || faults.legs {
        floor_and_path(take, &cut, faults, log);
    }
}

fn floor_and_path(take: &mut WorkingTake, cut: &[bool], faults: &Faults, log: &mut FaultLog) {
    let frames = 0..take.frames();
    let Some(mut feet) = FootTrajectories::of(take, cut) else {
        log.record_unfixed(
            "floor",
            frames,
            "1",
            0.0,
            "floor and path are unknown: the body has no two legs to stand on",
        );
        return;
    };
    let mut legs = take.legs.iter().flatten().flat_map(|leg| [leg.upper, leg.lower, leg.foot]);
    if !legs.any(|id| take.rotating.contains(&id.index())) {
        let why = "floor and path are unknown: the legs never move";
        log.record_unfixed("floor", frames, "1", 0.0, why);
        return;
    }
    // Every change of the path changes the foot trajectories.
    let feet_again =
        |take: &WorkingTake, feet: FootTrajectories| FootTrajectories::of(take, cut).unwrap_or(feet);
    // Few feet are low within a second on a steep floor.
    if faults.floor && steep_tilt(take, &feet, log) {
        feet = feet_again(take, feet);
    }
    let on = feet.planted(&feet.stances(SLOW));
    let known = on.iter().filter(|on| **on).count() as f64 / on.len() as f64;
    if known < KNOWN {
        let why = format!(
            "floor and path are unknown: only {:.0} % of the frames have a foot contact",
            100.0 * known
        );
        log.record_unfixed("floor", frames, "1", known, why);
        return;
    }
    let mut drifts = false;
    let stances = long_stances(take, &feet);
    let drift = if faults.floor { vertical_drift(take, &feet, &stances, log) } else { None };
    if let Some(fixed) = drift {
        if fixed {
            feet = feet_again(take, feet);
        }
        let stances = long_stances(take, &feet);
        if tilt(take, &feet, &stances, log) {
            feet = feet_again(take, feet);
        }
        if level(take, &feet, log) {
            feet = feet_again(take, feet);
        }
        if path_drift(take, &feet, log) {
            feet = feet_again(take, feet);
        } else {
            drifts = partial_drift(take, &feet, log);
        }
        drifting_feet(take, log);
    }
    // Stances that drift are not pinned: the body drifts, not the foot.
    if faults.legs && !drifts {
        slides(take, &feet, log);
    }
}
