//! Sample rates as ratios of whole numbers, so that times do not drift in long clips.

/// A sample rate as a ratio of whole numbers, in hertz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Frames.
    pub frames: u64,
    /// In this many seconds.
    pub seconds: u64,
}

/// Upper bound of numerators and denominators, so that a frame number times two of them fits 128 bits.
const LARGEST: u64 = 1 << 32;
/// The share of a frame by which a clip may be short of it through rounding: frame times of six digits are off by this in ten
/// minutes at 60 Hz.
const ROUNDED: f64 = 0.01;
/// Largest error of a frame time with five decimals, seconds, and of a rate, relative: half of what separates 29.97 from 30 Hz. With
/// half of the first `.03333` would not be 30 Hz, with twice of it 119.88 Hz would be 120.
const WRITTEN: (f64, f64) = (5e-6, 5e-4);

impl Rate {
    /// The ratio nearest to `hz`; the television rates 23.976, 29.97, 59.94 and 119.88 are `n * 1000 / 1001`.
    ///
    /// `None` where `hz` is not a positive number between 2^-20 and 2^20.
    pub fn from_hz(hz: f64) -> Option<Self> {
        if !(hz > 2f64.powi(-20) && hz < 2f64.powi(20)) {
            return None;
        }
        for whole in [24u64, 30, 60, 120] {
            let exact = whole as f64 * 1000.0 / 1001.0;
            // Rounded rates such as `29.97` differ by 1.0e-6 from the exact ones.
            if (hz / exact - 1.0).abs() < 1.1e-6 {
                return Some(Self { frames: whole * 1000, seconds: 1001 });
            }
        }
        // Continued fraction: the last convergent within the bound, or the first within rounding of `hz`.
        let (mut before, mut now) = ((0u64, 1u64), (1u64, 0u64));
        let mut rest = hz;
        for _ in 0..64 {
            let digit = rest.floor();
            let next =
                |a: u64, b: u64| (digit as u64).checked_mul(b)?.checked_add(a).filter(|&x| x < LARGEST);
            let (Some(frames), Some(seconds)) = (next(before.0, now.0), next(before.1, now.1)) else { break };
            (before, now) = (now, (frames, seconds));
            if (frames as f64 / seconds as f64 / hz - 1.0).abs() < 1e-14 || rest == digit {
                break;
            }
            rest = 1.0 / (rest - digit);
        }
        Some(Self { frames: now.0.max(1), seconds: now.1.max(1) })
    }

    /// The rate of a clip with frames at `hz`: as [`Rate::from_hz`], but a whole number of hertz if its frame time agrees with that
    /// one's in five decimals, as `.03333` does with 30 Hz.
    pub fn of_clip(hz: f64) -> Option<Self> {
        let whole = hz.round();
        let rounded = (1.0 / hz - 1.0 / whole).abs() < WRITTEN.0 && (hz / whole - 1.0).abs() < WRITTEN.1;
        Self::from_hz(if rounded { whole } else { hz })
    }

    /// The rate in hertz.
    pub fn hz(self) -> f64 {
        self.frames as f64 / self.seconds as f64
    }

    /// The position of frame `k` of this rate among the frames of `other`: the preceding frame and the fraction to the next
    /// one, from 0 to below 1. Computed in whole numbers: 0 is exact.
    pub fn locate(self, k: usize, other: Rate) -> (usize, f64) {
        let above = k as u128 * u128::from(self.seconds) * u128::from(other.frames);
        let below = u128::from(self.frames) * u128::from(other.seconds);
        ((above / below) as usize, (above % below) as f64 / below as f64)
    }

    /// The number of frames of this rate within `frames` frames of `other`, both ends included. A frame that is less than
    /// a hundredth of its duration beyond the last one is there: with frame times of a few digits, 120 Hz is read as 120.00005 Hz,
    /// and a clip of a second would end a frame early at 20 Hz.
    pub fn count(self, frames: usize, other: Rate) -> usize {
        let Some(last) = frames.checked_sub(1) else { return 0 };
        let (whole, part) = other.locate(last, self);
        whole + 1 + usize::from(part > 1.0 - ROUNDED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_clip_that_is_short_by_rounding_keeps_its_last_frame() {
        let [read, film] = [120.000048, 20.0].map(|hz| Rate::from_hz(hz).unwrap());
        assert_eq!(film.count(121, read), 21);
        assert_eq!(film.count(120, read), 20);
    }

    #[test]
    fn a_frame_time_of_five_decimals_means_a_whole_rate_and_no_television_rate() {
        for whole in [15u64, 24, 25, 30, 48, 50, 60, 90, 100, 120, 240] {
            let written = (1e5 / whole as f64).round() / 1e5;
            let near = Rate { frames: whole, seconds: 1 };
            // Five decimals of 240 Hz are a thousandth off, as television rates are.
            assert_eq!(Rate::of_clip(1.0 / written) == Some(near), whole != 240, "{written}");
            let television = whole as f64 * 1000.0 / 1001.0;
            assert_eq!(Rate::of_clip(television), Rate::from_hz(television), "{whole}");
        }
        for hz in [29.99, 12.5, 0.3, 0.0, f64::NAN] {
            assert_eq!(Rate::of_clip(hz), Rate::from_hz(hz), "{hz}");
        }
    }

    #[test]
    fn television_rates_are_exact() {
        for (hz, frames) in [(29.97, 30_000), (23.976, 24_000), (59.94, 60_000), (119.88, 120_000)] {
            assert_eq!(Rate::from_hz(hz), Some(Rate { frames, seconds: 1001 }));
            assert_eq!(Rate::from_hz(frames as f64 / 1001.0), Some(Rate { frames, seconds: 1001 }));
        }
        assert_eq!(Rate::from_hz(30.0), Some(Rate { frames: 30, seconds: 1 }));
        assert_eq!(Rate::from_hz(12.5), Some(Rate { frames: 25, seconds: 2 }));
        assert_eq!(Rate::from_hz(1.0 / 3.0), Some(Rate { frames: 1, seconds: 3 }));
        assert!([0.0, -1.0, f64::NAN, f64::INFINITY, 1e9].iter().all(|&hz| Rate::from_hz(hz).is_none()));
    }

    #[test]
    fn an_hour_does_not_drift() {
        let (television, film) = (Rate::from_hz(29.97).unwrap(), Rate::from_hz(24.0).unwrap());
        // 1001 seconds are 30000 frames of one and 24024 of the other.
        assert_eq!(film.locate(24_024 * 36, television), (30_000 * 36, 0.0));
        assert_eq!(television.count(24_024 * 36 + 1, film), 30_000 * 36 + 1);
    }

    proptest! {
        #[test]
        fn every_rate_is_met_closely(hz in 0.01..1000.0f64) {
            prop_assert!((Rate::from_hz(hz).unwrap().hz() / hz - 1.0).abs() < 1.1e-6);
        }

        #[test]
        fn the_last_frame_lies_within(frames in 1..5000usize, a in 1.0..240.0f64, b in 1.0..240.0f64) {
            let (a, b) = (Rate::from_hz(a).unwrap(), Rate::from_hz(b).unwrap());
            let (at, part) = b.locate(b.count(frames, a) - 1, a);
            let beyond = (at as f64 + part - (frames - 1) as f64) * b.hz() / a.hz();
            prop_assert!(beyond < ROUNDED + 1e-9, "{beyond} of a frame beyond the end");
        }
    }
}
