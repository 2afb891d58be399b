//! A motion becomes the same motion with its faults mended, and what was found: the one judge of takes.
//!
//! Every fault has a test on the take's own statistics; where none fires, the motion comes back bit for bit. A take is
//! looked at until nothing fires any more, so a second call changes nothing.

use super::held::held;
use super::ledger::Ledger;
use super::level::level;
use super::noise::noise;
use super::root_step::{root_spikes, root_steps};
use super::slide::slides;
use super::spike::spikes;
use super::stances::{Feet, SLOW};
use super::swap::swaps;
use super::take::Take;
use super::tilt::tilt;
use super::travel::travel;
use super::vertical_drift::{telling, vertical_drift};
use crate::model::Motion;
use crate::report::{Finding, Metric};

/// A take is looked at so many times at most; damaged ones need two or three.
const ROUNDS: usize = 4;
/// With fewer frames with a contact, as a share, the floor is not known: without this a clean take of hops was lowered by
/// 7 cm.
const KNOWN: f64 = 0.2;

/// Which faults are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Those of single frames and of the signal: held frames, swapped sides, spikes, steps, noise.
    pub signal: bool,
    /// Those of the floor and the path: vertical drift, tilt, level, scale, drift.
    pub floor: bool,
    /// Single stances that slide.
    pub legs: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Self { signal: true, floor: true, legs: true }
    }
}

/// What became of a take.
#[derive(Clone, Debug)]
pub struct Mended {
    /// The take; bit for bit the given one where nothing was mended.
    pub motion: Motion,
    /// What was mended and, behind it, what was seen and left.
    pub findings: Vec<Finding>,
    /// How near the result comes to the limit of every test that was made (`repair_<fault>`): at most 1.
    pub nearest: Vec<Metric>,
}

/// Mends the faults of a take.
pub fn mend(motion: Motion, faults: &Faults) -> Mended {
    let mut take = match Take::of(motion) {
        Ok(take) => take,
        Err(motion) => return Mended { motion: *motion, findings: Vec::new(), nearest: Vec::new() },
    };
    let mut findings = Vec::new();
    let mut last = Ledger::default();
    for _ in 0..ROUNDS {
        last = Ledger::default();
        look(&mut take, faults, &mut last);
        if last.mended.is_empty() {
            break;
        }
        findings.append(&mut last.mended);
    }
    let motion = take.given_back(!findings.is_empty());
    findings.append(&mut last.left);
    Mended { motion, findings, nearest: last.metrics() }
}

/// Looks once for every fault, each in what the one before left.
fn look(take: &mut Take, faults: &Faults, ledger: &mut Ledger) {
    if faults.signal {
        held(take, ledger);
        swaps(take, ledger);
        spikes(take, ledger);
        root_spikes(take, ledger);
        root_steps(take, ledger);
    }
    let cut = take.cut();
    if faults.signal {
        for e in (0..cut.len()).filter(|e| cut[*e]) {
            let why = "a cut: frames that are missing here cannot be filled, the take would grow longer";
            ledger.leave("cut", e + 1..e + 2, "deg", take.mean_step(e), why);
        }
        noise(take, &cut, ledger);
    }
    if faults.floor || faults.legs {
        floor_and_path(take, &cut, faults, ledger);
    }
}

fn floor_and_path(take: &mut Take, cut: &[bool], faults: &Faults, ledger: &mut Ledger) {
    let frames = 0..take.frames();
    let Some(mut feet) = Feet::of(take, cut) else {
        ledger.leave(
            "floor",
            frames,
            "1",
            0.0,
            "floor and path are not known: there are no two legs to stand on",
        );
        return;
    };
    let on = feet.resting(&feet.stances(SLOW));
    let known = on.iter().filter(|on| **on).count() as f64 / on.len() as f64;
    if known < KNOWN {
        let why = format!(
            "floor and path are not known: a foot rests in {:.0} % of the frames only",
            100.0 * known
        );
        ledger.leave("floor", frames, "1", known, why);
        return;
    }
    // Every change of the path shows other feet.
    let anew = |take: &Take, feet: Feet| Feet::of(take, cut).unwrap_or(feet);
    let stances = telling(take, &feet);
    let rise = if faults.floor { vertical_drift(take, &feet, &stances, ledger) } else { None };
    if let Some(rise) = rise {
        if rise.mended {
            feet = anew(take, feet);
        }
        let stances = telling(take, &feet);
        if tilt(take, &feet, &stances, &rise, ledger) {
            feet = anew(take, feet);
        }
        if level(take, &feet, ledger) {
            feet = anew(take, feet);
        }
        if travel(take, &feet, ledger) {
            feet = anew(take, feet);
        }
    }
    if faults.legs {
        slides(take, &feet, ledger);
    }
}
