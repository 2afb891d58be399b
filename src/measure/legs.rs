//! How closely legs and trunk follow those of the source: limb directions, knees, planted feet, smoothness, lean.
//!
//! The source is scaled by the ratio of thigh and shin and compared as it is: no contact labels take part, so a stage that
//! edits labels cannot change a result. Units: metres of the common height, radians, seconds.

use super::arm_contacts::ArmContacts;
use super::limb_comparison::{FEWEST, LimbComparison, MetricsAndSeries, both_sides, with_direct};
use super::limb_frame::{ANKLE, KNEE, LimbFrame};
use super::limb_steps::{foot_orientation, hand_orientation, pops, sole_tilt};
use super::metric_context::MetricContext;
use super::statistics::{mean, rms, rounding, rounding_of_thirds};
use crate::kinematics::is_cycle;
use crate::math::{DEGREE, Vec3, angle_between, arc, percentile_in_place};
use crate::model::{Contacts, Motion};
use crate::report::Metric;

/// Third differences that a still body may have, metres of the common height: single precision keeps a joint at the end of ten
/// others within 1e-6 m, of which third differences are four times as much. A hundredth of a millimetre cannot be seen.
pub const LEAST_STEP: f64 = 1e-5;

/// A knee flexed by less is straight, radians.
const STRAIGHT: f64 = 10.0 * DEGREE;

/// How closely `motion`, which plays on the character of `context`, follows `source` with legs and trunk, with the values of
/// `direct`, the direct transfer of `source`, and time series by limb; empty for bodies without two whole legs, or where
/// the three differ in rate.
///
/// # Panics
/// Where the motion belongs to another character.
pub fn legs(
    context: &MetricContext,
    (take_context, source): (&MetricContext, &Motion),
    direct: &Motion,
    motion: &Motion,
    contacts: Option<&Contacts>,
) -> MetricsAndSeries {
    let Some(limbs) = LimbComparison::of(source, direct, motion) else { return Default::default() };
    let arms = ArmContacts::of(context, (take_context, source), direct, motion).with_labels(contacts);
    let (mut metrics, mut series) = limbs.directions_and_knees(&arms);
    metrics.extend(arms.lost());
    let (feet, hands) = (foot_orientation(&limbs, contacts), hand_orientation(&limbs, &arms));
    let soles = sole_tilt(&limbs, &motion.character, contacts);
    for (values, over_time) in
        [limbs.planted_feet(context.scale), limbs.jerk(), pops(&limbs), feet, soles, hands]
    {
        metrics.extend(values);
        series.extend(over_time);
    }
    metrics.extend(loop_seam(source, direct, motion));
    match motion.character.robot {
        Some(_) => metrics.extend(limbs.of_robot(&motion.character)),
        None => metrics.extend(limbs.trunk_error(source, direct)),
    }
    (metrics, series)
}

impl LimbComparison {
    /// Directions of limbs and bends of knees against those of the direct transfer, which are the source's. An arm that holds a contact
    /// and a leg that kneels go where that is: their directions are left out.
    fn directions_and_knees(&self, arms: &ArmContacts) -> MetricsAndSeries {
        let frames = self.frames;
        let mut errors: Vec<f64> = Vec::with_capacity(8 * frames);
        let (mut knees, mut straight) =
            ([Vec::with_capacity(frames), Vec::with_capacity(frames)], Vec::new());
        let mut limbs = knees.clone();
        for (f, (result, direct)) in self.result.iter().zip(&self.direct).take(frames).enumerate() {
            let pairs = result.limbs().into_iter().zip(direct.limbs()).enumerate();
            let placed = |k: usize| if k < 4 { arms.kneels(k / 2, f) } else { arms.holds(k / 2 - 2, f) };
            let counts = |k: usize, b: &Vec3| b.norm() > 0.0 && !placed(k);
            let apart =
                pairs.map(|(k, (a, b))| counts(k, &b).then(|| angle_between(&a, &b))).collect::<Vec<_>>();
            errors.extend(apart.iter().flatten());
            for side in 0..2 {
                let of_side =
                    [2 * side, 2 * side + 1, 2 * side + 4, 2 * side + 5].map(|k| apart[k].unwrap_or(0.0));
                limbs[side].push(of_side.into_iter().fold(0.0, f64::max));
                let (bend, before) = (result.bend(side), direct.bend(side));
                knees[side].push((bend - before).abs());
                if before < STRAIGHT {
                    straight.push(bend - before);
                }
            }
        }
        let mut metrics = vec![
            with_direct("limb_error_p95", percentile_in_place(&mut errors, 0.95), 0.0),
            with_direct("knee_error_max", knees.iter().flatten().copied().fold(0.0, f64::max), 0.0),
        ];
        if straight.len() >= FEWEST {
            metrics.push(with_direct("straight_leg_bend_p90", percentile_in_place(&mut straight, 0.9), 0.0));
        }
        let series = [both_sides("limb_error", "rad", limbs), both_sides("knee_error", "rad", knees)];
        (metrics, series.concat())
    }

    /// Third differences of knees and ankles over those of the scaled source.
    fn jerk(&self) -> MetricsAndSeries {
        let thirds = |track: &[LimbFrame], p: usize, side: usize| {
            let third = |w: &[LimbFrame]| {
                let at = |n: usize| w[n].legs[side][p];
                (at(3) - at(2) * 3.0 + at(1) * 3.0 - at(0)).norm()
            };
            track[..self.frames].windows(4).map(third).collect::<Vec<f64>>()
        };
        let jerk = |track: &[LimbFrame], p: usize| {
            let both = [0, 1].map(|side| thirds(track, p, side));
            rms(both.iter().flatten().map(|x| x * x))
        };
        let (mut metrics, mut series) = (Vec::new(), Vec::new());
        for (name, p) in [("knee_jerk", KNEE), ("foot_jerk", ANKLE)] {
            let of_source = jerk(&self.source, p);
            // Next to a still leg there is no ratio, nor next to one that moves less than positions are rounded.
            let steps = self.result.iter().flat_map(|result| result.legs.map(|leg| rounding(&leg[p])));
            let rounded = rounding_of_thirds(steps.fold(0.0, f64::max));
            if self.frames > FEWEST && of_source > rounded.max(LEAST_STEP * self.leg_length) {
                let (result, direct) = (jerk(&self.result, p) / of_source, jerk(&self.direct, p) / of_source);
                metrics.push(with_direct(&format!("{name}_ratio"), result, direct));
                // What the motion adds to the source's, over the RMS of the source's.
                let added = |side: usize| {
                    let both = thirds(&self.result, p, side).into_iter().zip(thirds(&self.source, p, side));
                    let parts = both.map(|(result, source)| ((result - source) / of_source).max(0.0));
                    [f64::NAN].into_iter().chain(parts).chain([f64::NAN; 2]).collect()
                };
                series.extend(both_sides(name, "1", [0, 1].map(added)));
            }
        }
        (metrics, series)
    }

    /// The angle of the line from hips to shoulders to where the direct transfer's would be if it leaned as the source's does;
    /// `None` for bodies without both shoulders.
    fn trunk_error(&self, source: &Motion, direct: &Motion) -> Option<Metric> {
        let lean = |m: &Motion| {
            let reference_pose = m.character.reference_pose();
            let frame = LimbFrame::read(&m.character.rig, &reference_pose)?;
            Some((frame.trunk()?, frame.hips))
        };
        let ((u0, s0), (v0, t0)) = (lean(source)?, lean(direct)?);
        // The target faces as its hips in the direct transfer do.
        let error = |track: &[LimbFrame], f: usize| {
            let away = self.source[f].hips * s0.inverse();
            let facing = self.direct[f].hips * t0.inverse();
            let wanted = arc(&(away * u0), &self.source[f].trunk()?, &Vec3::x()) * facing * v0;
            Some(angle_between(&wanted, &track[f].trunk()?))
        };
        self.mean_error("trunk_error", error)
    }

    /// The mean of an error over all frames, of the result and of the direct transfer.
    pub(super) fn mean_error(
        &self,
        name: &str,
        error: impl Fn(&[LimbFrame], usize) -> Option<f64>,
    ) -> Option<Metric> {
        let of = |track: &[LimbFrame]| {
            let errors: Option<Vec<f64>> = (0..self.frames).map(|f| error(track, f)).collect();
            errors.map(|errors| mean(&errors))
        };
        Some(with_direct(name, of(&self.result)?, of(&self.direct)?))
    }
}

/// The angle between first and last frame of a source that is a cycle, less that of the source itself.
fn loop_seam(source: &Motion, direct: &Motion, motion: &Motion) -> Option<Metric> {
    let seam = |m: &Motion| {
        let last = m.clip.frames() - 1;
        let [first, last] = [0, last].map(|frame| m.clip.rotations(frame));
        let pairs = first.iter().zip(last.iter());
        pairs.map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max)
    };
    (is_cycle(source) && motion.clip.frames() == source.clip.frames()).then(|| {
        let of_source = seam(source);
        with_direct("loop_seam", (seam(motion) - of_source).max(0.0), (seam(direct) - of_source).max(0.0))
    })
}
