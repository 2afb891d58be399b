//! Stage `resample`: changes the frame rate. Units: hertz.

use super::{Setting, Stage, StageConfig, StageError};
use crate::kinematics::{cuts, is_loop};
use crate::model::Motion;
use crate::report::Report;
use crate::signal::{Rate, Resampling, RotationInterpolation, resample};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interpolation between two rotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RotationsBetween {
    /// A curve with continuous angular velocity.
    #[default]
    Smooth,
    /// The shortest arc at constant speed, as most players show a clip.
    Linear,
}

/// Changes the frame rate; the duration changes by less than one frame. A loop, whose last frame repeats the first, stays one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ResampleConfig {
    /// The new rate in frames per second; 23.976, 29.97, 59.94 and 119.88 mean 1000/1001 of 24, 30, 60 and 120.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = HIGHEST_RATE))]
    pub rate_hz: f64,
    /// Interpolation of rotations: `smooth` (continuous angular velocity) or `linear` (as most players interpolate).
    pub rotations: RotationsBetween,
    /// Whether positions are low-pass filtered before the rate is lowered, against aliasing. Without it every new frame that
    /// coincides with an old one keeps its positions exactly.
    pub band_limit: bool,
}

impl Default for ResampleConfig {
    fn default() -> Self {
        Self { rate_hz: 30.0, rotations: RotationsBetween::default(), band_limit: true }
    }
}

/// Highest allowed rate, hertz: higher ones are mistakes, and a clip of a minute would exhaust the memory.
const HIGHEST_RATE: f64 = 1000.0;
/// Most frames a clip may have; more would exhaust the memory.
const MOST_FRAMES: usize = 10_000_000;

impl ResampleConfig {
    fn rate(&self) -> Result<Rate, StageError> {
        let fits = self.rate_hz <= HIGHEST_RATE;
        Rate::from_hz(self.rate_hz).filter(|_| fits).ok_or_else(|| {
            let hz = self.rate_hz;
            StageError::key("rate_hz", format!("{hz} Hz is not above 0 Hz and at most {HIGHEST_RATE} Hz"))
        })
    }
}

impl StageConfig for ResampleConfig {
    const NAME: &'static str = "resample";

    fn validate(&self) -> Result<(), Vec<StageError>> {
        self.rate().map(|_| ()).map_err(|fault| vec![fault])
    }

    fn resolve(&self, _setting: &Setting) -> Result<Box<dyn Stage>, StageError> {
        let rotations = match self.rotations {
            RotationsBetween::Smooth => RotationInterpolation::Smooth,
            RotationsBetween::Linear => RotationInterpolation::Linear,
        };
        Ok(Box::new(Resample {
            rate: self.rate()?,
            how: Resampling { rotations, band_limit: self.band_limit, closes: false },
        }))
    }
}

#[derive(Debug)]
struct Resample {
    rate: Rate,
    how: Resampling,
}

impl Stage for Resample {
    fn apply_to_direct_transfer(&self, direct: Motion) -> Option<Motion> {
        self.apply(direct, &mut Report::default()).ok()
    }

    fn apply(&self, motion: Motion, _report: &mut Report) -> Result<Motion, StageError> {
        let hz = motion.clip.sample_rate;
        let from = Rate::of_clip(hz)
            .ok_or_else(|| StageError::new(format!("a clip of {hz} Hz cannot be resampled")))?;
        let cuts = cuts(&motion);
        let how = Resampling { closes: cuts.is_empty() && is_loop(&motion), ..self.how };
        let frames = how.count(motion.clip.frames(), from, self.rate);
        if frames > MOST_FRAMES {
            return Err(StageError::key(
                "rate_hz",
                format!("the clip would have {frames} frames, more than the {MOST_FRAMES} allowed"),
            ));
        }
        let clip = resample(&motion.clip, self.rate, how, &cuts);
        // A contact covers the new frames within the time of its old ones, which extends halfway to the next frame.
        let scale = match how.closes {
            true => (frames - 1) as f64 / (motion.clip.frames() - 1) as f64,
            false => self.rate.hz() / from.hz(),
        };
        let frame = |f: usize| ((f as f64 - 0.5) * scale).ceil().clamp(0.0, frames as f64) as usize;
        let contacts = motion.contacts.map(|c| c.changed(frame, |height| height));
        Ok(Motion { clip, contacts, ..motion })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::scenes::{run, walker};
    use super::*;

    #[test]
    fn the_own_rate_changes_nothing() {
        for frames in [0, 1, 30] {
            let motion = walker(frames);
            assert_eq!(run(&ResampleConfig::default(), motion.clone()).unwrap(), motion);
        }
    }

    #[test]
    fn another_rate_keeps_span_and_start() {
        let motion = walker(31);
        for (rate_hz, frames) in [(60.0, 61), (10.0, 11), (29.97, 30)] {
            let config = ResampleConfig { rate_hz, ..ResampleConfig::default() };
            let new = run(&config, motion.clone()).unwrap().clip;
            assert_eq!((new.frames(), new.start), (frames, motion.clip.start));
            assert!(new.duration() <= motion.clip.duration() + 1e-12);
        }
    }

    #[test]
    fn a_loop_stays_one_at_rates_that_do_not_divide_it() {
        // A period of 24 intervals at 30 Hz, 0.8 seconds; the walker swings and returns.
        let mut motion = walker(25);
        for f in 0..25 {
            let swing = libm::sin(std::f64::consts::TAU * f as f64 / 24.0);
            let turn = crate::math::exp(&(crate::math::Vec3::x() * swing));
            motion.clip.rotations_mut(f).fill(turn);
            motion.clip.translations_mut(f).fill(crate::math::Vec3::y());
        }
        for (rate_hz, frames) in [(24.0, 20), (25.0, 21), (60.0, 49), (29.97, 25)] {
            let config = ResampleConfig { rate_hz, ..ResampleConfig::default() };
            let new = run(&config, motion.clone()).unwrap();
            assert_eq!(new.clip.frames(), frames, "{rate_hz}");
            assert!(is_loop(&new), "{rate_hz}");
            assert!((new.clip.duration() - 0.8).abs() <= 0.5 / rate_hz, "{rate_hz}: {}", new.clip.duration());
        }
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        for rate_hz in [0.0, -30.0, f64::NAN, 5000.0] {
            let faults = ResampleConfig { rate_hz, ..ResampleConfig::default() }.validate().unwrap_err();
            assert_eq!(faults[0].key, Some("rate_hz"));
        }
        let zero = ResampleConfig { rate_hz: 0.0, ..ResampleConfig::default() }.validate().unwrap_err();
        assert_eq!(zero[0].to_string(), "0 Hz is not above 0 Hz and at most 1000 Hz");
    }
}
