//! Stage `filter`: zero-phase low-pass or polynomial smoothing of every joint.
//!
//! Rotations are smoothed in the logarithm around a slowly varying base, positions directly. Hands and feet move faster
//! than the body and have a higher cutoff. Units: hertz, frames.

use super::stage::idle;
use super::{Setting, Stage, StageConfig, StageError};
use crate::kinematics::shots;
use crate::math::{Quat, Vec3};
use crate::model::{Clip, Motion, Rig, Role, Skeleton};
use crate::parallel;
use crate::report::Report;
use crate::signal::{Butterworth, SavitzkyGolay, fix_hemispheres, smooth_positions, smooth_rotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The kind of filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterKind {
    /// Zero-phase Butterworth low-pass, by cutoff.
    #[default]
    Butterworth,
    /// Polynomials over a sliding window, by window and degree.
    SavitzkyGolay,
}

/// Smooths the motion without delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FilterConfig {
    /// `butterworth` (a low-pass, by cutoff) or `savitzky_golay` (polynomials, by window and degree).
    pub kind: FilterKind,
    /// For `butterworth`: cutoff frequency of the body, in hertz; faster movement is removed. At half the sample rate and
    /// above, nothing is removed.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cutoff_hz: f64,
    /// The same for hands, feet and the joints below them.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub extremity_cutoff_hz: f64,
    /// For `savitzky_golay`: length of the window, an odd number of frames. Longer windows smooth more.
    #[schemars(range(min = 3, max = LONGEST_WINDOW))]
    pub window_frames: usize,
    /// For `savitzky_golay`: degree of the polynomials, less than `window_frames` - 1. Higher degrees keep sharper peaks.
    #[schemars(range(max = HIGHEST_DEGREE))]
    pub degree: usize,
}

impl Default for FilterConfig {
    fn default() -> Self {
        let kind = FilterKind::default();
        Self { kind, cutoff_hz: 6.0, extremity_cutoff_hz: 12.0, window_frames: 9, degree: 3 }
    }
}

/// Longest allowed window, frames: three seconds at the highest usual rate, 240 Hz. Longer ones cost time without a use.
const LONGEST_WINDOW: usize = 721;
/// Highest allowed degree: higher powers lose their digits in the fit.
const HIGHEST_DEGREE: usize = 9;

impl StageConfig for FilterConfig {
    const NAME: &'static str = "filter";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        let mut faults = Vec::new();
        for (key, hz) in [("cutoff_hz", self.cutoff_hz), ("extremity_cutoff_hz", self.extremity_cutoff_hz)] {
            if !(hz > 0.0 && hz.is_finite()) {
                faults.push(StageError::key(key, format!("a cutoff of {hz} Hz is not above 0 Hz")));
            }
        }
        let (window, degree) = (self.window_frames, self.degree);
        if window > LONGEST_WINDOW {
            let text = format!("a window of {window} frames is longer than {LONGEST_WINDOW}");
            faults.push(StageError::key("window_frames", text));
        } else if degree > HIGHEST_DEGREE {
            faults.push(StageError::key(
                "degree",
                format!("`degree` is {degree}, allowed is 0 to {HIGHEST_DEGREE}"),
            ));
        } else if let Err(fault) = SavitzkyGolay::new(window, degree) {
            faults.push(StageError::key("window_frames", fault.to_string()));
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn resolve(&self, setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let fit = SavitzkyGolay::new(self.window_frames, self.degree)
            .map_err(|fault| StageError::key("window_frames", fault.to_string()))?;
        let extremities = extremities(&setting.arriving.rig);
        Ok(Box::new(Filter { config: self.clone(), fit, extremities }))
    }
}

/// Whether each joint is a hand or a foot, or is below one.
fn extremities(rig: &Rig) -> Vec<bool> {
    let skeleton: &Skeleton = rig.skeleton();
    let mut found = vec![false; skeleton.len()];
    for id in skeleton.ids() {
        let own = matches!(rig.role(id), Some(Role::Hand(_) | Role::Foot(_)));
        found[id.index()] = own || skeleton.parent(id).is_some_and(|p| found[p.index()]);
    }
    found
}

/// An in-place filter of a scalar time series.
type ScalarFilter<'a> = Box<dyn Fn(&mut [f64]) + 'a>;

#[derive(Debug)]
struct Filter {
    config: FilterConfig,
    fit: SavitzkyGolay,
    extremities: Vec<bool>,
}

impl Filter {
    /// The scalar filter of one joint; `None` if its cutoff is at half the sample rate or above.
    fn channel(&self, joint: usize, rate: f64) -> Option<ScalarFilter<'_>> {
        let config = &self.config;
        match config.kind {
            FilterKind::SavitzkyGolay => Some(Box::new(|x: &mut [f64]| self.fit.apply(x))),
            FilterKind::Butterworth => {
                let extremity = self.extremities[joint];
                let cutoff = if extremity { config.extremity_cutoff_hz } else { config.cutoff_hz };
                let filter = Butterworth::new(cutoff, rate)?;
                Some(Box::new(move |x: &mut [f64]| filter.apply(x)))
            }
        }
    }

    /// The smoothed rotations and translations of one joint, each of the `shots` by itself; empty where they do not
    /// change.
    fn joint(&self, clip: &Clip, joint: usize, shots: &[Range<usize>]) -> (Vec<Quat>, Vec<Vec3>) {
        let Some(filter) = self.channel(joint, clip.sample_rate) else { return Default::default() };
        let mut rotations = clip.rotations_of(joint);
        for shot in shots {
            let part = &mut rotations[shot.clone()];
            if part.windows(2).any(|pair| pair[0] != pair[1]) {
                smooth_rotations(part, clip.sample_rate, &filter);
            }
        }
        let track = clip.translated().iter().position(|id| id.index() == joint);
        let translations = track.map(|track| {
            let all = clip.all_translations().iter();
            let mut one: Vec<Vec3> = all.skip(track).step_by(clip.translated().len()).copied().collect();
            for shot in shots {
                smooth_positions(&mut one[shot.clone()], &filter);
            }
            one
        });
        (rotations, translations.unwrap_or_default())
    }
}

impl Stage for Filter {
    fn apply(&self, mut motion: Motion, report: &mut Report) -> Result<Motion, StageError> {
        let (rate, joints) = (motion.clip.sample_rate, motion.clip.joints());
        if (0..joints).all(|joint| self.channel(joint, rate).is_none()) {
            let message = format!(
                "`filter` removes nothing: `cutoff_hz` and `extremity_cutoff_hz` are at half the sample rate ({rate} Hz) or above"
            );
            idle(report, &motion, message);
        }
        // A filter must not average across a cut.
        let shots = shots(&motion);
        let clip = &mut motion.clip;
        if clip.frames() < 2 {
            return Ok(motion);
        }
        let smoothed: Vec<_> = parallel::map(joints, 1, |joint| self.joint(clip, joint, &shots));
        let translated = clip.translated().to_vec();
        for frame in 0..clip.frames() {
            let row = clip.rotations_mut(frame).iter_mut().zip(&smoothed);
            row.for_each(|(to, (rotations, _))| *to = rotations.get(frame).copied().unwrap_or(*to));
        }
        for (joint, (_, translations)) in smoothed.into_iter().enumerate() {
            if let Some(track) = translated.iter().position(|id| id.index() == joint) {
                let own = clip.all_translations_mut().iter_mut().skip(track).step_by(translated.len());
                own.zip(translations).for_each(|(to, from)| *to = from);
            }
        }
        fix_hemispheres(clip);
        Ok(motion)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walker};
    use super::*;
    use crate::math::exp;
    use crate::model::Side;

    #[test]
    fn two_still_poses_around_a_cut_stay() {
        let mut motion = walker(40);
        let still = motion.clip.rotations(0).to_vec();
        for frame in 0..40 {
            let rotation = if frame < 20 { Quat::identity() } else { exp(&Vec3::new(0.5, 0.0, 0.0)) };
            let row = motion.clip.rotations_mut(frame).iter_mut().zip(&still);
            row.for_each(|(q, still)| *q = rotation * still);
            let tracks = motion.clip.translations_mut(frame);
            tracks.fill(Vec3::new(0.0, 1.0, if frame < 20 { 0.0 } else { 2.0 }));
        }
        fix_hemispheres(&mut motion.clip);
        for kind in [FilterKind::Butterworth, FilterKind::SavitzkyGolay] {
            let calm = run(&FilterConfig { kind, ..FilterConfig::default() }, motion.clone()).unwrap();
            assert!(
                calm.clip
                    .all_rotations()
                    .iter()
                    .zip(&motion.clip.all_rotations())
                    .map(|(a, b)| a.angle_to(b))
                    .fold(0.0, f64::max)
                    < 1e-6
            );
            let pairs = calm.clip.all_translations().iter().zip(motion.clip.all_translations());
            assert!(pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) < 1e-9);
        }
    }

    #[test]
    fn a_cutoff_beyond_half_the_rate_changes_nothing() {
        let config = FilterConfig { cutoff_hz: 15.0, extremity_cutoff_hz: 15.0, ..FilterConfig::default() };
        for frames in [0, 1, 40] {
            let motion = walker(frames);
            assert_eq!(run(&config, motion.clone()).unwrap(), motion);
        }
    }

    #[test]
    fn no_frame_and_one_frame_stay() {
        for kind in [FilterKind::Butterworth, FilterKind::SavitzkyGolay] {
            for frames in [0, 1] {
                let motion = walker(frames);
                let config = FilterConfig { kind, ..FilterConfig::default() };
                assert_eq!(run(&config, motion.clone()).unwrap(), motion);
            }
        }
    }

    #[test]
    fn shaking_goes_and_extremities_keep_more() {
        let calm = walker(90);
        let rig = &calm.character.rig;
        let (head, hand) = (rig.joint(Role::Head).unwrap(), rig.joint(Role::Hand(Side::Left)).unwrap());
        let mut shaken = calm.clone();
        for frame in 0..90 {
            // 10 Hz at 30 frames a second.
            let shake = exp(&Vec3::new(0.1 * (frame as f64 * std::f64::consts::TAU / 3.0).sin(), 0.0, 0.0));
            for id in [head, hand] {
                shaken.clip.rotations_mut(frame)[id.index()] *= shake;
            }
        }
        let shake_left = |config: &FilterConfig, id: crate::model::JointId| {
            let clip = run(config, shaken.clone()).unwrap().clip;
            let reference = run(config, calm.clone()).unwrap().clip;
            let angle = |f| clip.rotations(f)[id.index()].angle_to(&reference.rotations(f)[id.index()]);
            (20..70).map(angle).fold(0.0, f64::max)
        };
        let butterworth = FilterConfig::default();
        assert!(shake_left(&butterworth, head) < 0.01, "{}", shake_left(&butterworth, head));
        assert!(shake_left(&butterworth, hand) > 0.05);
        let polynomial = FilterConfig { kind: FilterKind::SavitzkyGolay, degree: 1, ..butterworth };
        assert!(shake_left(&polynomial, head) < 0.03);
    }

    #[test]
    fn all_faults_are_named_at_once() {
        let config = FilterConfig {
            cutoff_hz: 0.0,
            extremity_cutoff_hz: -1.0,
            window_frames: 4,
            ..FilterConfig::default()
        };
        let texts: Vec<_> = config.validate().unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "a cutoff of 0 Hz is not above 0 Hz",
                "a cutoff of -1 Hz is not above 0 Hz",
                "a window of 4 frames has no middle: use an odd number"
            ]
        );
    }
}
