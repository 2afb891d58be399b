//! Detects rotation spikes of one or two frames and interpolates them.
//!
//! The criterion of a value far from its neighbours in units of their deviation is Hampel's (1974). Units: degrees,
//! seconds.

use super::fault_log::{FaultLog, all};
use super::robust_statistics::median_around;
use super::working_take::WorkingTake;
use crate::math::{rotation_between, slerp};

/// Least rotation out and back, degrees: at half of it real motions of toes and thumbs are changed...
const LEAST: f64 = 20.0;
/// ... and the least speed, degrees per second: fingers flick and toes strike by 30 degrees between two frames at 30
/// per second in hand-made clips.
const FASTEST: f64 = 1200.0;
/// Least multiple of the median step around.
const TIMES: f64 = 6.0;
/// Largest rotation between the frames on either side, as a share of the spike.
const BACK: f64 = 0.35;
/// Window of the median in seconds, and at least so many steps.
const AROUND: (f64, usize) = (0.15, 4);
/// The most frames of one spike.
const LONGEST: usize = 2;

/// Removes spikes, joint by joint.
pub(super) fn spikes(take: &mut WorkingTake, log: &mut FaultLog) {
    let (edges, reach) = (take.edges(), take.frames_in(AROUND.0, AROUND.1));
    let before = log.fixed.len();
    let least = LEAST.max(FASTEST * take.dt);
    log.test("spike", 0.0);
    // Shares from half of the limit are reported; few joints come near it.
    for (k, _) in take.leaps(LONGEST).into_iter().enumerate().filter(|(_, leap)| *leap >= 0.5 * least) {
        let steps: Vec<f64> = (0..edges).map(|e| take.steps(e)[k]).collect();
        let j = take.rotating[k];
        for length in 1..=LONGEST {
            for f in 1..take.frames() - length {
                let [out, back] = [f - 1, f + length - 1];
                let leap = take.steps(out)[k].min(take.steps(back)[k]);
                if leap < 0.5 * least {
                    continue;
                }
                let around = [out, back].map(|e| median_around(|k| steps[k], edges, e, reach));
                let apart = rotation_between(take.rotation(f - 1, j), take.rotation(f + length, j));
                let returns = BACK * leap / apart.to_degrees().max(1e-9);
                let times = leap / (TIMES * around[0].max(around[1])).max(1e-9);
                if !log.test("spike", all(&[leap / least, times, returns])) {
                    continue;
                }
                let (from, to) = (*take.rotation(f - 1, j), *take.rotation(f + length, j));
                for i in 0..length {
                    take.set_rotation(f + i, j, slerp(&from, &to, (i + 1) as f64 / (length + 1) as f64));
                }
                take.measure(f..f + length);
                let after = take.steps(out)[k].max(take.steps(back)[k]);
                log.record_fixed("spike", Some(take.name(j)), f..f + length, "deg", [leap, after]);
            }
        }
    }
    if log.fixed.len() > before {
        take.fix_signs();
    }
}
