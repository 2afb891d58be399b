//! One or two frames in which a joint leaps away and back become frames on the shortest way between their neighbours.
//!
//! The idea of a value that is far from what lies around it by its deviation is Hampel's (1974). Units: degrees, seconds.

use super::ledger::{Ledger, all};
use super::robust::median_around;
use super::take::Take;
use crate::math::{rotation_between, slerp};

/// A joint leaps out and back by at least this, degrees: at half of it real glitches of toes and thumbs are changed...
const LEAST: f64 = 20.0;
/// ... and faster than this, degrees a second: fingers flick and toes strike by 30 degrees between two frames of 30 a
/// second in clips that were made by hand.
const FASTEST: f64 = 1200.0;
/// And by so many times its steps around.
const TIMES: f64 = 6.0;
/// While the frames on either side differ by no more than this share of it.
const BACK: f64 = 0.35;
/// Steps within so many seconds count as around; and at least so many edges.
const AROUND: (f64, usize) = (0.15, 4);
/// The most frames of one spike.
const LONGEST: usize = 2;

/// Takes spikes out, joint by joint.
pub(super) fn spikes(take: &mut Take, ledger: &mut Ledger) {
    let (edges, reach) = (take.edges(), take.frames_in(AROUND.0, AROUND.1));
    let before = ledger.mended.len();
    let least = LEAST.max(FASTEST * take.dt);
    ledger.near("spike", 0.0);
    // Half a limit is worth telling; few joints come near it.
    for (k, _) in take.leaps(LONGEST).into_iter().enumerate().filter(|(_, leap)| *leap >= 0.5 * least) {
        let arrived: Vec<f64> = (0..edges).map(|e| take.steps(e)[k]).collect();
        let j = take.turning[k];
        for length in 1..=LONGEST {
            for f in 1..take.frames() - length {
                let [out, back] = [f - 1, f + length - 1];
                let leap = take.steps(out)[k].min(take.steps(back)[k]);
                if leap < 0.5 * least {
                    continue;
                }
                let around = [out, back].map(|e| median_around(|k| arrived[k], edges, e, reach));
                let apart = rotation_between(take.rotation(f - 1, j), take.rotation(f + length, j));
                let returns = BACK * leap / apart.to_degrees().max(1e-9);
                let times = leap / (TIMES * around[0].max(around[1])).max(1e-9);
                if !ledger.near("spike", all(&[leap / least, times, returns])) {
                    continue;
                }
                let (from, to) = (*take.rotation(f - 1, j), *take.rotation(f + length, j));
                for i in 0..length {
                    take.turn(f + i, j, slerp(&from, &to, (i + 1) as f64 / (length + 1) as f64));
                }
                take.measure(f..f + length);
                let after = take.steps(out)[k].max(take.steps(back)[k]);
                ledger.mend("spike", Some(take.name(j)), f..f + length, "deg", [leap, after]);
            }
        }
    }
    if ledger.mended.len() > before {
        take.settle();
    }
}
