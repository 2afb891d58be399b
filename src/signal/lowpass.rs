//! Zero-phase Butterworth low-pass filter.
//!
//! Second-order section by the bilinear transform with `K = tan(pi fc / fs) / C`, run forwards and backwards.
//! `C = (2^(1/n) - 1)^(1/4)` with `n = 2` passes makes the total gain at `fc` exactly `1 / sqrt 2`
//! (Winter, Biomechanics and Motor Control, 4th ed., sec. 3.4.4.2; Robertson and Dowling 2003). The ends are
//! continued by odd reflection and the section starts in its steady state, so constants and end values are preserved.
//! Units: hertz; the channel in any unit.

/// The zero-phase low-pass for one cutoff and one sample rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Butterworth {
    b: [f64; 3],
    a: [f64; 2],
    padding: usize,
}

impl Butterworth {
    /// The filter whose two passes together halve the power at `cutoff` (hertz) of channels at `sample_rate` (hertz).
    ///
    /// `None` if the cutoff is not positive (everything would be removed) or not below half the sample rate (nothing would).
    pub fn new(cutoff: f64, sample_rate: f64) -> Option<Self> {
        if !(cutoff > 0.0 && cutoff < 0.5 * sample_rate && sample_rate.is_finite()) {
            return None;
        }
        let passes = 2.0;
        let c = libm::pow(libm::pow(2f64, 1.0 / passes) - 1.0, 0.25);
        let k = libm::tan(std::f64::consts::PI * cutoff / sample_rate) / c;
        let norm = 1.0 + std::f64::consts::SQRT_2 * k + k * k;
        let b0 = k * k / norm;
        let a = [2.0 * (k * k - 1.0) / norm, (1.0 - std::f64::consts::SQRT_2 * k + k * k) / norm];
        // Three periods of the cutoff; near half the rate the poles approach the unit circle, and the padding lasts until
        // their radius `sqrt a2` has damped the initial transient to a millionth.
        let forgotten = libm::log(1e-6f64) / (0.5 * libm::log(a[1]));
        let padding = (3.0 * sample_rate / cutoff).max(forgotten).ceil() as usize;
        Some(Self { b: [b0, 2.0 * b0, b0], a, padding })
    }

    /// Filters `channel` in place.
    pub fn apply(&self, channel: &mut [f64]) {
        let n = channel.len();
        if n < 2 {
            return;
        }
        let padding = self.padding.min(n - 1);
        let mut x = odd_reflection(channel, padding);
        self.pass(&mut x);
        x.reverse();
        self.pass(&mut x);
        x.reverse();
        channel.copy_from_slice(&x[padding..padding + n]);
    }

    /// One forward pass in transposed direct form, started in the steady state of the first sample.
    fn pass(&self, x: &mut [f64]) {
        let ([b0, b1, b2], [a1, a2]) = (self.b, self.a);
        // For a constant input c the output is c: s2 = (b2 - a2) c, s1 = (b1 - a1) c + s2.
        let c = x[0];
        let mut s2 = (b2 - a2) * c;
        let mut s1 = (b1 - a1) * c + s2;
        for x in x {
            let y = b0 * *x + s1;
            s1 = b1 * *x - a1 * y + s2;
            s2 = b2 * *x - a2 * y;
            *x = y;
        }
    }
}

/// The values with `padding` more at either end, fewer than there are: their point reflection about the end, which continues a line.
pub fn odd_reflection(values: &[f64], padding: usize) -> Vec<f64> {
    let n = values.len();
    let (first, last) = (values[0], values[n - 1]);
    let mut extended = Vec::with_capacity(n + 2 * padding);
    extended.extend((1..=padding).rev().map(|k| 2.0 * first - values[k]));
    extended.extend_from_slice(values);
    extended.extend((1..=padding).map(|k| 2.0 * last - values[n - 1 - k]));
    extended
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::TAU;

    /// Amplitude and delay-sensitive error of a filtered sine, away from the ends.
    fn gain(cutoff: f64, rate: f64, frequency: f64) -> (f64, f64) {
        let n = 8000;
        let wave = |k: usize| (TAU * frequency * k as f64 / rate).sin();
        let mut x: Vec<f64> = (0..n).map(wave).collect();
        Butterworth::new(cutoff, rate).unwrap().apply(&mut x);
        let inner = 2000..6000;
        let along: f64 = inner.clone().map(|k| x[k] * wave(k)).sum();
        let across: f64 = inner.clone().map(|k| x[k] * (TAU * frequency * k as f64 / rate).cos()).sum();
        let power: f64 = inner.map(|k| wave(k) * wave(k)).sum();
        (along / power, across / power)
    }

    #[test]
    fn the_gain_at_the_cutoff_is_one_over_root_two_without_delay() {
        for (cutoff, rate) in [(6.0, 120.0), (12.0, 60.0), (1.5, 30.0)] {
            let (along, across) = gain(cutoff, rate, cutoff);
            assert!((along - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-6, "{along}");
            assert!(across.abs() < 1e-6, "{across}");
            assert!((gain(cutoff, rate, cutoff / 20.0).0 - 1.0).abs() < 1e-3);
            assert!(gain(cutoff, rate, 2.0 * cutoff).0 < 0.14);
        }
    }

    #[test]
    fn nothing_to_remove_is_no_filter() {
        assert_eq!(Butterworth::new(15.0, 30.0), None);
        assert_eq!(Butterworth::new(0.0, 30.0), None);
        assert_eq!(Butterworth::new(f64::NAN, 30.0), None);
    }

    proptest! {
        #[test]
        fn straight_lines_stay(n in 0..300usize, a in -9.0..9.0f64, b in -1.0..1.0f64, cutoff in 1.0..14.0f64) {
            let line: Vec<f64> = (0..n).map(|k| a + b * k as f64).collect();
            let mut x = vec![a; n];
            let filter = Butterworth::new(cutoff, 30.0).unwrap();
            filter.apply(&mut x);
            prop_assert!(x.iter().all(|v| (v - a).abs() < 1e-12 * (1.0 + a.abs())));
            // An odd reflection continues a line, and a zero-phase filter delays it by nothing.
            let mut x = line.clone();
            filter.apply(&mut x);
            let inner = n / 3..n - n / 3;
            prop_assert!(n < 200 || inner.into_iter().all(|k| (x[k] - line[k]).abs() < 1e-6));
        }

        #[test]
        fn running_backwards_gives_the_same_but_at_the_ends(x in proptest::collection::vec(-1.0..1.0f64, 400)) {
            let filter = Butterworth::new(6.0, 60.0).unwrap();
            let (mut there, mut back) = (x.clone(), x);
            filter.apply(&mut there);
            back.reverse();
            filter.apply(&mut back);
            back.reverse();
            prop_assert!((150..250).all(|k| (there[k] - back[k]).abs() < 1e-9));
        }
    }
}
