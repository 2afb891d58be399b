//! Reports a foot whose heading drifts at a constant rate over the whole take, as from a drifting sensor on a shoe.
//!
//! Two conditions: a line in time explains the rotation of the foot about its shin, since a performer rotates a foot out and back
//! again; and the other foot has no such line. Nothing is changed: which frame is right is not known. Units: degrees, seconds.

use super::fault_log::FaultLog;
use super::working_take::WorkingTake;
use crate::legs::LimbChain;
use crate::math::{Quat, median};
use std::f64::consts::TAU;

/// Least duration of a take, seconds: in a shorter one a single step turns a foot as much.
const LONGEST_STEP: f64 = 3.0;
/// Pieces of the take of which the medians are compared.
const PIECES: usize = 16;
/// Least rotation over the take, degrees: feet of 13 clean takes of 4 s and more have up to 15, without a line.
const TURNS: f64 = 12.0;
/// Largest part of the deviations from the median that may be left by the line: clean takes have 0.84 and more.
const LEFT: f64 = 0.7;
/// Largest rotation of the other foot, as a share.
const OTHER: f64 = 0.35;

/// Reports such a foot.
pub(super) fn drifting_feet(take: &WorkingTake, log: &mut FaultLog) {
    let Some(legs) = &take.legs else { return };
    if take.time(take.edges()) < LONGEST_STEP {
        return;
    }
    let [Some(left), Some(right)] = legs.each_ref().map(|leg| rotation_over_take(take, leg)) else { return };
    for (leg, (own, remains), (other, _)) in [(&legs[0], left, right), (&legs[1], right, left)] {
        if own.abs() >= TURNS && remains <= LEFT && other.abs() <= OTHER * own.abs() {
            let why = "the foot turns about its shin at a constant rate, the other one does not: which direction is right is not known";
            log.record_doubtful("drift", take.name(leg.foot.index()), 0..take.frames(), "deg", own, why);
        }
    }
}

/// How far a line in time turns the foot about the shin over the take, degrees, and the part of the deviations from the median that
/// it leaves; `None` where the shin has no direction.
fn rotation_over_take(take: &WorkingTake, leg: &LimbChain) -> Option<(f64, f64)> {
    let skeleton = take.motion.character.skeleton();
    let rest = skeleton.rest_model_pose();
    let along = rest.joint(leg.lower).inverse().point(&rest.position(leg.foot)).try_normalize(1e-9)?;
    let between: Vec<usize> =
        skeleton.path_to_root(leg.foot).take_while(|id| *id != leg.lower).map(|id| id.index()).collect();
    let rotation = |f: usize| between.iter().fold(Quat::identity(), |q, j| take.rotation(f, *j) * q);
    let first = rotation(0).inverse();
    let mut last = 0.0;
    let angles: Vec<f64> = (0..take.frames())
        .map(|f| {
            let q = rotation(f) * first;
            let twist = 2.0 * libm::atan2(q.imag().dot(&along), q.w);
            last = twist - TAU * ((twist - last) / TAU).round();
            last
        })
        .collect();
    let piece = |k: usize| k * angles.len() / PIECES..(k + 1) * angles.len() / PIECES;
    let middles: Vec<f64> = (0..PIECES).map(|k| median(angles[piece(k)].to_vec())).collect();
    // Theil and Sen: the median of the slopes between all pairs.
    let slopes = (0..PIECES).flat_map(|b| (0..b).map(move |a| (a, b)));
    let slope = median(slopes.map(|(a, b)| (middles[b] - middles[a]) / (b - a) as f64).collect());
    let spread = |values: Vec<f64>| -> f64 {
        let middle = median(values.clone());
        values.iter().map(|v| (v - middle).abs()).sum()
    };
    let off_line = middles.iter().enumerate().map(|(k, v)| v - slope * k as f64).collect();
    let (left, all) = (spread(off_line), spread(middles));
    Some(((slope * PIECES as f64).to_degrees(), left / all.max(1e-12)))
}
