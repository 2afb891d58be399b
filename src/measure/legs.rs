//! How closely legs and trunk follow those of the source: limb directions, knees, planted feet, smoothness, lean.
//!
//! The source is scaled by the ratio of thigh and shin and compared as it is: no contact labels take part, so a stage that
//! edits labels cannot change a result. Planted feet are found on the scaled source by the thresholds of HuMoR (Rempe et
//! al. 2021), and by nothing that retargeting itself uses: a rule shared with `legs` would not see what `legs` overlooks.
//! Units: metres of the common height, radians, seconds.

use super::arm_contacts::ArmContacts;
use super::limb_comparison::{LimbComparison, MetricsAndSeries, both_sides, with_copy};
use super::limb_frame::LimbFrame;
use super::limb_steps::{foot_orientation, pops};
use super::metric_context::MetricContext;
use super::statistics::{mean, rms};
use crate::kinematics::is_cycle;
use crate::math::{Vec3, angle_between, arc, percentile, percentile_in_place};
use crate::model::{Contacts, Motion};
use crate::report::Metric;

/// An ankle or toe joint slower than this is static, m/s: 0.5 cm a frame at 30 Hz (HuMoR, contact labels).
const STATIC_SPEED: f64 = 0.15;
/// A static joint is planted up to this height above its level, metres: the height of toes in contact (HuMoR).
const PLANTED_HEIGHT: f64 = 0.04;
/// The level of a joint is this quantile of its heights in static frames: HuMoR takes the lowest cluster of static toes.
/// The joint's own level stands for the floor, since ankles and toe joints of rigs differ in height.
const LEVEL_QUANTILE: f64 = 0.1;
/// So far from the ends of a stance a foot still lands or takes off, seconds: two bodies do so within a frame of 30 Hz of each other.
const LANDING: f64 = 0.03;
/// A knee bent by less is straight, radians.
const STRAIGHT: f64 = 10.0 * std::f64::consts::PI / 180.0;
/// The fewest values that a percentile is taken of.
const FEWEST: usize = 5;
/// Index of the knee among the joints of a leg in [`LimbFrame::legs`].
const KNEE: usize = 1;
/// Index of the ankle in [`LimbFrame::legs`].
const ANKLE: usize = 2;
/// Index of the toes in [`LimbFrame::legs`].
const TOES: usize = 3;

/// How closely `motion`, which plays on the character of `context`, follows `source` with legs and trunk, with the values of
/// `copy`, the direct transfer of `source`, and time series by limb; empty of bodies without two whole legs, or where
/// the three differ in rate.
///
/// # Panics
/// Where the motion belongs to another character.
pub fn legs(
    context: &MetricContext,
    (take_context, source): (&MetricContext, &Motion),
    copy: &Motion,
    motion: &Motion,
    contacts: Option<&Contacts>,
) -> MetricsAndSeries {
    let Some(limbs) = LimbComparison::of(source, copy, motion) else { return Default::default() };
    let arms = ArmContacts::of(context, (take_context, source), copy, motion).with_labels(contacts);
    let (mut metrics, mut series) = limbs.directions_and_knees(&arms);
    metrics.extend(arms.lost());
    let feet = foot_orientation(&limbs, contacts);
    for (values, over_time) in [limbs.planted_feet(context.scale), limbs.jerk(), pops(&limbs), feet] {
        metrics.extend(values);
        series.extend(over_time);
    }
    metrics.extend(loop_seam(source, copy, motion));
    metrics.extend(limbs.trunk_error(source, copy));
    (metrics, series)
}

impl LimbComparison {
    /// Directions of limbs and bends of knees against those of the copy, which are the source's. An arm that holds a contact
    /// goes where that is, and is left out.
    fn directions_and_knees(&self, arms: &ArmContacts) -> MetricsAndSeries {
        let frames = self.frames;
        let mut errors: Vec<f64> = Vec::with_capacity(8 * frames);
        let (mut knees, mut straight) =
            ([Vec::with_capacity(frames), Vec::with_capacity(frames)], Vec::new());
        let mut limbs = knees.clone();
        for (f, (own, plain)) in self.own.iter().zip(&self.copy).take(frames).enumerate() {
            let pairs = own.limbs().into_iter().zip(plain.limbs()).enumerate();
            let counts = |k: usize, b: &Vec3| b.norm() > 0.0 && (k < 4 || !arms.holds(k / 2 - 2, f));
            let apart =
                pairs.map(|(k, (a, b))| counts(k, &b).then(|| angle_between(&a, &b))).collect::<Vec<_>>();
            errors.extend(apart.iter().flatten());
            for side in 0..2 {
                let of_side =
                    [2 * side, 2 * side + 1, 2 * side + 4, 2 * side + 5].map(|k| apart[k].unwrap_or(0.0));
                limbs[side].push(of_side.into_iter().fold(0.0, f64::max));
                let (bend, before) = (own.bend(side), plain.bend(side));
                knees[side].push((bend - before).abs());
                if before < STRAIGHT {
                    straight.push(bend - before);
                }
            }
        }
        let mut metrics = vec![
            with_copy("limb_error_p95", percentile_in_place(&mut errors, 0.95), 0.0),
            with_copy("knee_error_max", knees.iter().flatten().copied().fold(0.0, f64::max), 0.0),
        ];
        if straight.len() >= FEWEST {
            metrics.push(with_copy("straight_leg_bend_p90", percentile_in_place(&mut straight, 0.9), 0.0));
        }
        let series = [both_sides("limb_error", "rad", limbs), both_sides("knee_error", "rad", knees)];
        (metrics, series.concat())
    }

    /// By frame, the joint of a foot (ankle or toes) that is planted in the scaled source, the slower one of two; `None`
    /// where none is. `scale` leads to metres of the common height.
    fn planted(&self, side: usize, scale: f64) -> Vec<Option<usize>> {
        let source = &self.source;
        let at = |p: usize, f: usize| source[f].legs[side][p] * scale;
        let speeds = |p: usize| -> Vec<f64> {
            (0..self.frames).map(|f| (at(p, f) - at(p, f.saturating_sub(1))).norm() * self.rate).collect()
        };
        // Only where both bodies have toe joints do those compare.
        let toes = source.iter().zip(&self.own).all(|(source, own)| source.toes[side] && own.toes[side]);
        let joints = if toes { &[ANKLE, TOES][..] } else { &[ANKLE] };
        let tracks: Vec<(usize, Vec<f64>, f64)> = joints
            .iter()
            .map(|&p| {
                let speeds = speeds(p);
                let mut heights: Vec<f64> =
                    (1..self.frames).filter(|f| speeds[*f] < STATIC_SPEED).map(|f| at(p, f).y).collect();
                (p, speeds, percentile_in_place(&mut heights, LEVEL_QUANTILE))
            })
            .collect();
        let planted = |f: usize| {
            let still = tracks.iter().filter(|(p, speeds, level)| {
                f > 0 && speeds[f] < STATIC_SPEED && at(*p, f).y - level < PLANTED_HEIGHT
            });
            still.min_by(|a, b| a.1[f].total_cmp(&b.1[f])).map(|(p, ..)| *p)
        };
        (0..self.frames).map(planted).collect()
    }

    /// Slip and height of feet against those of the scaled source, where it plants them; `scale` leads to metres of the
    /// common height.
    fn planted_feet(&self, scale: f64) -> MetricsAndSeries {
        let (source, frames) = (&self.source, self.frames);
        // Of the motion and of the copy.
        let (mut slips, mut heights) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        // Time series by side: NaN where the foot is not planted.
        let nowhere = || [vec![f64::NAN; frames], vec![f64::NAN; frames]];
        let (mut slipping, mut clearing) = (nowhere(), nowhere());
        for side in 0..2 {
            let planted = within(&self.planted(side, scale), (LANDING * self.rate).round() as usize);
            for p in [ANKLE, TOES] {
                let frames: Vec<usize> = (0..frames).filter(|f| planted[*f] == Some(p)).collect();
                for (n, track) in [&self.own, &self.copy].into_iter().enumerate() {
                    let step =
                        |track: &[LimbFrame], f: usize| track[f].legs[side][p] - track[f - 1].legs[side][p];
                    let slip = |f: &usize| (step(track, *f) - step(source, *f)).norm() * (scale * self.rate);
                    let away = |f: &usize| (track[*f].legs[side][p].y - source[*f].legs[side][p].y) * scale;
                    let away: Vec<f64> = frames.iter().map(away).collect();
                    let middle = percentile(&away, 0.5);
                    for (f, away) in frames.iter().zip(away) {
                        slips[n].push(slip(f));
                        heights[n].push((away - middle).abs());
                        if n == 0 {
                            (slipping[side][*f], clearing[side][*f]) = (slip(f), (away - middle).abs());
                        }
                    }
                }
            }
        }
        let mut metrics = Vec::new();
        if slips[0].len() >= FEWEST {
            let [own, plain] = slips.each_mut().map(|s| percentile_in_place(s, 0.95));
            metrics.push(with_copy("rest_slip_p95", own, plain));
            let [own, plain] = heights.each_mut().map(|h| percentile_in_place(h, 0.95));
            metrics.push(with_copy("clearance_error_p95", own, plain));
        }
        let series = [both_sides("rest_slip", "m/s", slipping), both_sides("clearance_error", "m", clearing)];
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
            if self.frames > FEWEST && of_source > 1e-9 * self.leg {
                let (own, plain) = (jerk(&self.own, p) / of_source, jerk(&self.copy, p) / of_source);
                metrics.push(with_copy(&format!("{name}_ratio"), own, plain));
                // What the motion adds to the source's, over the RMS of the source's.
                let added = |side: usize| {
                    let both = thirds(&self.own, p, side).into_iter().zip(thirds(&self.source, p, side));
                    let parts = both.map(|(own, source)| ((own - source) / of_source).max(0.0));
                    [f64::NAN].into_iter().chain(parts).chain([f64::NAN; 2]).collect()
                };
                series.extend(both_sides(name, "1", [0, 1].map(added)));
            }
        }
        (metrics, series)
    }

    /// The angle of the line from hips to shoulders to where the copy's would be if it leaned as the source's does;
    /// `None` of bodies without shoulders.
    fn trunk_error(&self, source: &Motion, copy: &Motion) -> Option<Metric> {
        let lean = |m: &Motion| {
            let rest = m.character.calibration_pose();
            LimbFrame::read(&m.character.rig, &rest).map(|i| (i.trunk(), i.hips))
        };
        let ((u0, s0), (v0, t0)) = (lean(source)?, lean(copy)?);
        if !(u0.norm() > 0.0 && v0.norm() > 0.0) {
            return None;
        }
        // The target faces as its hips in the copy do.
        let error = |track: &[LimbFrame], f: usize| {
            let away = self.source[f].hips * s0.inverse();
            let facing = self.copy[f].hips * t0.inverse();
            let wanted = arc(&(away * u0), &self.source[f].trunk(), &Vec3::x()) * facing * v0;
            angle_between(&wanted, &track[f].trunk())
        };
        let of = |track: &[LimbFrame]| mean(&(0..self.frames).map(|f| error(track, f)).collect::<Vec<_>>());
        Some(with_copy("trunk_error", of(&self.own), of(&self.copy)))
    }
}

/// The stances without so many frames at both ends; the ends of the clip are none.
fn within(planted: &[Option<usize>], margin: usize) -> Vec<Option<usize>> {
    let near = |f: usize| f.saturating_sub(margin).max(1)..planted.len().min(f + margin + 1);
    (0..planted.len()).map(|f| planted[f].filter(|_| near(f).all(|g| planted[g].is_some()))).collect()
}

/// The angle between first and last frame of a source that is a cycle, less that of the source itself.
fn loop_seam(source: &Motion, copy: &Motion, motion: &Motion) -> Option<Metric> {
    let seam = |m: &Motion| {
        let last = m.clip.frames() - 1;
        let pairs = m.clip.rotations(0).iter().zip(m.clip.rotations(last));
        pairs.map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max)
    };
    (is_cycle(source) && motion.clip.frames() == source.clip.frames()).then(|| {
        let of_source = seam(source);
        with_copy("loop_seam", (seam(motion) - of_source).max(0.0), (seam(copy) - of_source).max(0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    /// A still body with straight legs of 0.9 m, whose left foot is at this position.
    fn frame(foot: Vec3) -> LimbFrame {
        let leg = |x: f64, foot: Vec3| {
            [Vec3::new(x, 0.95, 0.0), Vec3::new(x, 0.5, 0.02), foot, foot + Vec3::new(0.0, -0.05, 0.12)]
        };
        LimbFrame {
            legs: [leg(0.1, foot), leg(-0.1, Vec3::new(-0.1, 0.08, 0.0))],
            arms: Default::default(),
            hips: Quat::identity(),
            feet: [Quat::identity(); 2],
            toes: [true; 2],
        }
    }

    #[test]
    fn a_slip_is_measured_where_the_rule_of_retargeting_sees_no_contact() {
        // The foot stands on a step 3.5 cm high after a fifth of the clip on the ground: above 0.03
        // leg lengths the rule of `legs` takes it for a foot in the air.
        let level = |f: usize| if f < 24 { 0.08 } else { 0.115 };
        let slide = |f: usize| 0.3 * f.saturating_sub(40) as f64 / 60.0;
        let source: Vec<_> = (0..120).map(|f| frame(Vec3::new(0.1, level(f), 0.0))).collect();
        let own = (0..120).map(|f| frame(Vec3::new(0.1, level(f), slide(f)))).collect();
        let limbs = LimbComparison { copy: source.clone(), source, own, frames: 120, rate: 60.0, leg: 0.9 };
        assert!(0.035 > 0.03 * limbs.leg, "the rule of `legs` sees no contact here");
        let (metrics, _) = limbs.planted_feet(1.0);
        let slip = metrics.iter().find(|m| m.name == "rest_slip_p95").unwrap();
        assert!((slip.value - 0.3).abs() < 1e-9 && slip.copy == Some(0.0), "{slip:?}");
    }

    #[test]
    fn a_foot_that_takes_off_a_frame_early_does_not_slip() {
        // Steps of six frames of rest and four of 10 cm each, at 30 Hz; the result is a frame ahead.
        let along = |f: usize| 0.1 * (4 * (f / 10) + (f % 10).saturating_sub(6)) as f64;
        let at = |f: usize| frame(Vec3::new(0.1, 0.08, along(f)));
        let source: Vec<_> = (0..120).map(at).collect();
        let slip = |own: Vec<LimbFrame>| {
            let (copy, source) = (source.clone(), source.clone());
            let limbs = LimbComparison { copy, source, own, frames: 120, rate: 30.0, leg: 0.9 };
            let (metrics, _) = limbs.planted_feet(1.0);
            metrics.iter().find(|m| m.name == "rest_slip_p95").unwrap().value
        };
        assert!(slip((1..121).map(at).collect()) < 1e-9);
        // One that glides within its stances does.
        let glides = |f: usize| frame(Vec3::new(0.1, 0.08, along(f) + 0.01 * f as f64));
        assert!((slip((0..120).map(glides).collect()) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn feet_that_move_or_are_raised_are_not_planted() {
        let at = |f: usize| match f {
            // Planted, then moving, then still in the air.
            0..40 => Vec3::new(0.1, 0.08, 0.0),
            40..80 => Vec3::new(0.1, 0.08, 0.02 * (f - 39) as f64),
            _ => Vec3::new(0.1, 0.3, 0.8),
        };
        let source: Vec<_> = (0..120).map(|f| frame(at(f))).collect();
        let limbs = LimbComparison {
            copy: source.clone(),
            own: source.clone(),
            source,
            frames: 120,
            rate: 60.0,
            leg: 0.9,
        };
        let planted = limbs.planted(0, 1.0);
        assert!((0..120).all(|f| planted[f].is_some() == (1..40).contains(&f)), "{planted:?}");
    }
}
