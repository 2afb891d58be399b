//! The weights of a face take as written, and at a uniform rate. Units: seconds, hertz; weights without a unit, usually 0 to 1.

use super::face_error::FaceError;
use super::known_shapes::key;
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::memory_budget::MemoryBudget;
use crate::report::Warnings;

/// Frames per second of takes that state neither a rate nor times: that of face capture on phones.
pub(super) const USUAL_RATE: f64 = 60.0;
/// Valid frame rates, hertz: others are damaged times.
const RATES: std::ops::RangeInclusive<f64> = 1.0..=1000.0;
/// A median step that is within this share of a whole number of frames per second has that rate: clocks of phones are off by less.
const NEAR_WHOLE: f64 = 0.02;
/// Frames whose times are within this part of a frame from a uniform rate are taken as they stand; the rounding of times to
/// milliseconds at 60 Hz is 0.03.
const UNIFORM: f64 = 0.1;

/// The weights of a face take.
#[derive(Debug, Default)]
pub(super) struct FaceWeights {
    /// The morph targets.
    pub names: Vec<String>,
    /// The time of each frame, seconds; empty if the file states none.
    pub times: Vec<f64>,
    /// Frames per second, if the file states them.
    pub rate: Option<f64>,
    /// `frames x names`, frame-major.
    pub values: Vec<f32>,
}

impl FaceWeights {
    /// Keeps the first of targets whose names differ in case and separators only: characters have one of them. Returns the kept
    /// indices of `names`.
    pub(super) fn name(&mut self, names: impl Iterator<Item = String>) -> Vec<usize> {
        let mut known = std::collections::BTreeSet::new();
        let mut kept = Vec::new();
        for (k, name) in names.enumerate() {
            if known.insert(key(&name)) {
                self.names.push(name);
                kept.push(k);
            }
        }
        kept
    }

    /// The same weights at a uniform rate, which is returned: at the frames of the file if these are uniform, else interpolated
    /// linearly between them.
    ///
    /// # Errors
    /// A take without frames, and times that span more frames than the memory limit allows.
    pub(super) fn uniform(
        mut self,
        options: &ImportOptions,
        budget: &MemoryBudget,
        warnings: &mut Warnings,
    ) -> Result<(Self, f64), ImportError> {
        if self.values.is_empty() {
            return Err(FaceError::Empty.into());
        }
        if let Some([first, second]) = falling(&self.times) {
            return Err(FaceError::Backwards { first, second }.into());
        }
        self.drop_repeated(warnings);
        let stated = options.rate.or(self.rate).filter(|rate| RATES.contains(rate));
        let mut steps: Vec<f64> = self.times.windows(2).map(|t| t[1] - t[0]).collect();
        steps.sort_by(f64::total_cmp);
        let measured = steps.get(steps.len() / 2).map(|step| 1.0 / step).filter(|rate| RATES.contains(rate));
        let measured = measured.map(|rate| match (rate - rate.round()).abs() < NEAR_WHOLE * rate {
            true => rate.round(),
            false => rate,
        });
        let Some(rate) = stated.or(measured) else {
            let said = format!(
                "the file states neither times nor a rate: {USUAL_RATE} frames per second were assumed (`input.rate` sets it)"
            );
            warnings.add("face-rate", said, "the file");
            return Ok((self, USUAL_RATE));
        };
        let (Some(&first), Some(&last)) = (self.times.first(), self.times.last()) else {
            return Ok((self, rate));
        };
        let off = |(k, t): (usize, &f64)| ((t - first) * rate - k as f64).abs();
        if self.times.iter().enumerate().map(off).fold(0.0, f64::max) <= UNIFORM {
            return Ok((self, rate));
        }
        // The last frame counts although its time may be rounded down.
        let frames = (((last - first) * rate + UNIFORM) as u64).saturating_add(1);
        let width = self.names.len();
        budget.reserve_list::<f32>(frames.saturating_mul(width as u64), || {
            format!("{frames} frames of weights")
        })?;
        warnings.add(
            "face-resampled",
            format!("frames at uneven times were resampled to {rate} Hz"),
            "the times",
        );
        let mut values = Vec::with_capacity(frames as usize * width);
        let mut next = 1;
        for frame in 0..frames {
            let time = first + frame as f64 / rate;
            while next + 1 < self.times.len() && self.times[next] < time {
                next += 1;
            }
            let (a, b) = (next - 1, next);
            let part = ((time - self.times[a]) / (self.times[b] - self.times[a])).clamp(0.0, 1.0) as f32;
            let of = |frame: usize| &self.values[frame * width..][..width];
            values.extend(of(a).iter().zip(of(b)).map(|(x, y)| x * (1.0 - part) + y * part));
        }
        Ok((Self { values, times: Vec::new(), ..self }, rate))
    }

    /// Drops frames that are not after the one before them.
    fn drop_repeated(&mut self, warnings: &mut Warnings) {
        let width = self.names.len();
        let mut kept: Vec<usize> = Vec::with_capacity(self.times.len());
        for (k, time) in self.times.iter().enumerate() {
            if kept.last().is_none_or(|&last| *time > self.times[last]) {
                kept.push(k);
            }
        }
        let dropped = self.times.len() - kept.len();
        if dropped == 0 {
            return;
        }
        let said = format!("{dropped} frames that are not later than the frame before them were left out");
        warnings.add("face-times", said, "the times");
        self.values = kept.iter().flat_map(|&k| self.values[k * width..][..width].to_vec()).collect();
        self.times = kept.iter().map(|&k| self.times[k]).collect();
    }
}

/// The first two times that fall, if most frames are before the frame in front of them: the take would play backwards.
fn falling(times: &[f64]) -> Option<[f64; 2]> {
    let mut pairs = times.windows(2).filter(|pair| pair[1] < pair[0]);
    let first = pairs.next()?;
    (2 * (1 + pairs.count()) > times.len() - 1).then(|| [first[0], first[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_in_reverse_are_refused() {
        let weights = |times: Vec<f64>| FaceWeights {
            names: vec!["jawOpen".to_owned()],
            values: vec![0.0; times.len()],
            times,
            rate: None,
        };
        let read = |times: Vec<f64>| {
            let budget = MemoryBudget::new(0, None);
            weights(times).uniform(&ImportOptions::default(), &budget, &mut Warnings::new())
        };
        let error = read((0..30).rev().map(|k| f64::from(k) / 30.0).collect()).unwrap_err().to_string();
        assert!(error.contains("backwards"), "{error}");
        assert!(read((0..30).map(|k| f64::from(k) / 30.0).collect()).is_ok());
    }

    #[test]
    fn times_far_apart_are_refused() {
        let weights = FaceWeights {
            names: vec!["jawOpen".to_owned()],
            times: vec![0.0, 1e300],
            rate: Some(60.0),
            values: vec![0.0, 1.0],
        };
        let budget = MemoryBudget::new(0, None);
        let uniform = weights.uniform(&ImportOptions::default(), &budget, &mut Warnings::new());
        assert!(matches!(uniform, Err(ImportError::Memory(_))));
    }
}
