//! Reports single frames of a joint that stand off the smooth path of the frames around them, in joints that move too fast for a leap
//! to show.
//!
//! A glitch leaves a trace in the difference of every frame from the cubic through its four neighbours: its own size, and -2/3 and 1/6
//! of it in the frames next to it. A strike or a flick has another trace. Nothing is changed: the evidence is one frame long. Units:
//! degrees.

use super::fault_log::FaultLog;
use super::working_take::WorkingTake;
use crate::parallel;

/// Least size that is reported, degrees.
const LEAST: f64 = 6.0;
/// Least multiple of the joint's next larger deviation: with the trace none of 119 pieces of clean takes at 24 to 120 Hz reaches it.
const TIMES: f64 = 5.0;
/// Deviations below this are those of any capture, degrees.
const QUIET: f64 = 1.0;
/// The most glitches of one joint: with more they are compared with each other.
const MOST: usize = 2;
/// The trace: shares of the glitch in the frames next to it and in those after these ...
const TRACE: [f64; 2] = [-2.0 / 3.0, 1.0 / 6.0];
/// ... and their largest difference from it, as a share of the glitch: made ones have up to 0.1, fast strikes 0.23 and more.
const UNLIKE: f64 = 0.15;
/// Least frames: in shorter clips too few deviations remain to compare with, and hand-made ones of 26 frames have kinks.
const SHORTEST: usize = 60;
/// Frames on either side that a cubic reaches.
const REACH: usize = 2;

/// Reports glitches that no other test has reported.
pub(super) fn glitches(take: &WorkingTake, cut: &[bool], log: &mut FaultLog) {
    if take.frames() < SHORTEST {
        return;
    }
    let fast = take.joints_with(|_, largest| largest > 0.5 * LEAST);
    let joints: Vec<usize> = fast.into_iter().map(|k| take.rotating[k]).collect();
    let of_joint = |j: &usize| of_joint(take, cut, *j);
    let mut found: Vec<(usize, usize, f64)> =
        parallel::map_each(&joints, 1, of_joint).into_iter().flatten().collect();
    // By time: the order of joints differs between a body and its mirror image.
    found.sort_by_key(|glitch| glitch.0);
    for (frame, joint, size) in found {
        let name = take.name(joint);
        let known = log.left.iter().any(|f| {
            f.joint.as_ref() == Some(&name) && f.frames[0] <= frame + REACH && frame <= f.frames[1] + REACH
        });
        if !known {
            let why = "one frame is off the path of the frames around it: a glitch, the joint moves too fast to be sure";
            log.record_doubtful("spike", name, frame..frame + 1, "deg", size, why);
        }
    }
}

/// The glitches of a joint: frame, joint, degrees.
fn of_joint(take: &WorkingTake, cut: &[bool], joint: usize) -> Vec<(usize, usize, f64)> {
    let frames = take.frames();
    let whole = |f: usize| f >= REACH && f + REACH < frames && !cut[f - REACH..f + REACH].contains(&true);
    let rotations = take.rotations(&(0..frames), joint);
    let off_path = |f: usize| -> [f64; 4] {
        let q = |g: usize, i: usize| rotations[g][i];
        if !whole(f) {
            return [0.0; 4];
        }
        [0, 1, 2, 3].map(|i| q(f, i) - ((q(f - 1, i) + q(f + 1, i)) * 4.0 - q(f - 2, i) - q(f + 2, i)) / 6.0)
    };
    let off: Vec<[f64; 4]> = (0..frames).map(off_path).collect();
    let length = |v: &[f64; 4]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    // An angle is twice that between quaternions.
    let mut sizes: Vec<f64> = off.iter().map(|v| (2.0 * length(v)).to_degrees()).collect();
    if sizes.iter().all(|size| *size < LEAST) {
        return Vec::new();
    }
    let mut largest = Vec::new();
    for _ in 0..=MOST {
        let Some((f, size)) = sizes.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        largest.push((f, size));
        sizes[f.saturating_sub(2 * REACH)..(f + 2 * REACH + 1).min(frames)].fill(0.0);
    }
    let usual = largest.get(MOST).map_or(0.0, |l| l.1).max(QUIET);
    let has_trace = |f: usize| {
        (1..=REACH).all(|d| {
            [f.wrapping_sub(d), f + d].into_iter().all(|g| {
                let alike = |g: usize| {
                    let rest = [0, 1, 2, 3].map(|i| off[g][i] - TRACE[d - 1] * off[f][i]);
                    length(&rest) <= UNLIKE * length(&off[f])
                };
                g < frames && whole(g) && alike(g)
            })
        })
    };
    let glitch = |(f, size): &(usize, f64)| *size >= LEAST && *size >= TIMES * usual && has_trace(*f);
    largest.into_iter().take(MOST).filter(glitch).map(|(f, size)| (f, joint, size)).collect()
}
