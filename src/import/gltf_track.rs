//! One channel of a glTF animation becomes a value at any time.
//!
//! Source: glTF 2.0 specification, section 3.11 and appendix C (step, linear, spherical linear and cubic
//! spline interpolation). Units: seconds, metres; rotations of unit length.

use crate::math::{Quat, RawQuat, Vec3, slerp};

/// The highest rate of evenly spaced keys that is taken for a frame rate.
const MAX_EVEN_RATE: f64 = 1000.0;

/// How values between two keys come about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Interpolation {
    Step,
    Linear,
    CubicSpline,
}

/// What can stand in a key.
pub(super) trait Key: Copy {
    /// A value of four (rotation) or three numbers.
    fn read(numbers: &[f32]) -> Self;
    fn mix(a: Self, b: Self, t: f64) -> Self;
    /// `m0 * a + m1 * u + m2 * b + m3 * v`, `u` and `v` tangents as the file has them.
    fn spline(m: [f64; 4], values: [&[f32]; 4]) -> Self;
}

impl Key for Vec3 {
    fn read(n: &[f32]) -> Self {
        Vec3::new(n[0].into(), n[1].into(), n[2].into())
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        a.lerp(&b, t)
    }

    fn spline(m: [f64; 4], values: [&[f32]; 4]) -> Self {
        (0..4).map(|i| Self::read(values[i]) * m[i]).sum()
    }
}

fn raw(n: &[f32]) -> RawQuat {
    RawQuat::new(n[3].into(), n[0].into(), n[1].into(), n[2].into())
}

fn unit(q: RawQuat) -> Quat {
    if q.norm_squared() > 1e-18 { Quat::new_normalize(q) } else { Quat::identity() }
}

impl Key for Quat {
    fn read(n: &[f32]) -> Self {
        unit(raw(n))
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        slerp(&a, &b, t)
    }

    fn spline(m: [f64; 4], values: [&[f32]; 4]) -> Self {
        unit((0..4).fold(raw(&[0.0; 4]), |sum, i| sum + raw(values[i]) * m[i]))
    }
}

/// The keys of one property of one node, with a hand on the key last used.
#[derive(Clone)]
pub(super) struct Track<'a> {
    times: &'a [f64],
    values: &'a [f32],
    width: usize,
    interpolation: Interpolation,
    at: usize,
}

impl<'a> Track<'a> {
    /// A track of these ascending key times; `None` where the number of values does not fit, or is 0.
    pub(super) fn new(
        times: &'a [f64],
        values: &'a [f32],
        width: usize,
        interpolation: Interpolation,
    ) -> Option<Self> {
        let per_key = if interpolation == Interpolation::CubicSpline { 3 * width } else { width };
        (!times.is_empty() && values.len() == times.len() * per_key).then_some(Self {
            times,
            values,
            width,
            interpolation,
            at: 0,
        })
    }

    /// The same track with its hand where `time` is.
    pub(super) fn at(&self, time: f64, snap: f64) -> Self {
        let at = self.times.partition_point(|t| *t <= time + snap).saturating_sub(1);
        Self { at, ..self.clone() }
    }

    /// Whether every key has the same value, and no tangents lead away from it.
    pub(super) fn is_constant(&self) -> bool {
        let first = &self.values[..self.width];
        self.interpolation != Interpolation::CubicSpline
            && self.values.chunks_exact(self.width).all(|value| value == first)
    }

    fn value(&self, key: usize) -> &'a [f32] {
        // A cubic key is: in-tangent, value, out-tangent.
        let slot = if self.interpolation == Interpolation::CubicSpline { 3 * key + 1 } else { key };
        &self.values[slot * self.width..][..self.width]
    }

    /// The key at or before `time`, and whether its value holds there; a key less than `snap` seconds away is hit exactly.
    fn seek(&mut self, time: f64, snap: f64) -> (usize, bool) {
        let last = self.times.len() - 1;
        if self.times[self.at] > time {
            self.at = 0;
        }
        while self.at < last && self.times[self.at + 1] <= time + snap {
            self.at += 1;
        }
        let k = self.at;
        (k, k == last || time <= self.times[k] + snap || self.interpolation == Interpolation::Step)
    }

    /// The numbers at `time`, each for itself, behind those of `out`; keys are hit as by [`Track::sample`].
    pub(super) fn sample_numbers(&mut self, time: f64, snap: f64, out: &mut Vec<f32>) {
        let (k, held) = self.seek(time, snap);
        if held {
            return out.extend_from_slice(self.value(k));
        }
        let length = self.times[k + 1] - self.times[k];
        let t = (time - self.times[k]) / length;
        let (a, b) = (self.value(k), self.value(k + 1));
        if self.interpolation != Interpolation::CubicSpline {
            let mix = |(a, b): (&f32, &f32)| (f64::from(*a) * (1.0 - t) + f64::from(*b) * t) as f32;
            return out.extend(a.iter().zip(b).map(mix));
        }
        let m = hermite(t, length);
        let tangent = |slot: usize| &self.values[slot * self.width..][..self.width];
        let (u, v) = (tangent(3 * k + 2), tangent(3 * (k + 1)));
        let mix = |i: usize| {
            [a[i], u[i], b[i], v[i]].iter().zip(m).map(|(x, m)| f64::from(*x) * m).sum::<f64>() as f32
        };
        out.extend((0..self.width).map(mix));
    }

    /// The value at `time`; a key less than `snap` seconds away is hit exactly.
    pub(super) fn sample<K: Key>(&mut self, time: f64, snap: f64) -> K {
        let (k, held) = self.seek(time, snap);
        if held {
            return K::read(self.value(k));
        }
        let start = self.times[k];
        let length = self.times[k + 1] - start;
        let t = (time - start) / length;
        match self.interpolation {
            Interpolation::CubicSpline => {
                let tangent = |slot: usize| &self.values[slot * self.width..][..self.width];
                let m = hermite(t, length);
                K::spline(m, [self.value(k), tangent(3 * k + 2), self.value(k + 1), tangent(3 * (k + 1))])
            }
            _ => K::mix(K::read(self.value(k)), K::read(self.value(k + 1)), t),
        }
    }
}

/// What a key, its out-tangent, the next key and its in-tangent weigh between the two. Appendix C.5 of the specification.
fn hermite(t: f64, length: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [2.0 * t3 - 3.0 * t2 + 1.0, length * (t3 - 2.0 * t2 + t), -2.0 * t3 + 3.0 * t2, length * (t3 - t2)]
}

/// The rate in hertz that puts every key time on a frame, if there is one.
///
/// `times` ascend and are not empty. The smallest whole rate from 1 to 240 wins, then the broadcast rates, then
/// the rate of keys that are evenly spaced whatever their distance.
pub(super) fn fitting_rate(times: &[f64]) -> Option<f64> {
    let start = times[0];
    let fits = |rate: &f64| {
        times.iter().all(|t| {
            let frame = (t - start) * rate;
            // Key times are `f32`: half a unit in the last place of the time itself is no misfit.
            let rounding = t.abs().max(start.abs()) * f64::from(f32::EPSILON) * rate;
            (frame - frame.round()).abs() < (1e-3 + rounding).min(0.1)
        })
    };
    let broadcast = [24000.0 / 1001.0, 30000.0 / 1001.0, 60000.0 / 1001.0, 120000.0 / 1001.0];
    let distinct = 1 + times.windows(2).filter(|w| w[1] - w[0] > 1e-6).count();
    let even = (distinct - 1) as f64 / (times[times.len() - 1] - start);
    let even = Some(even).filter(|r| *r >= 1.0 && *r <= MAX_EVEN_RATE);
    (1..=240).map(f64::from).chain(broadcast).chain(even).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_found_from_key_times() {
        let at = |rate: f64, frames: &[u32]| {
            let times: Vec<f64> =
                frames.iter().map(|&f| f64::from((0.25 + f64::from(f) / rate) as f32)).collect();
            fitting_rate(&times)
        };
        assert_eq!(at(30.0, &[0, 1, 2, 3, 900]), Some(30.0));
        assert_eq!(at(30.0, &[0, 15, 30]), Some(2.0));
        assert_eq!(at(24000.0 / 1001.0, &(0..500).collect::<Vec<_>>()), Some(24000.0 / 1001.0));
        assert_eq!(
            at(1.0 / 0.0083333, &(0..3000).collect::<Vec<_>>()).map(|r| (r - 120.0005).abs() < 1e-3),
            Some(true)
        );
        assert_eq!(fitting_rate(&[0.0, 0.0317, 0.0711]), None);
        assert_eq!(fitting_rate(&[2.0, 2.0]), Some(1.0));
    }

    #[test]
    fn a_cubic_track_reproduces_a_cubic() {
        // f(t) = t^3 - 2t with f'(t) = 3t^2 - 2 is its own Hermite interpolant.
        let times = [1.0, 3.0];
        let f = |t: f64| (t * t * t - 2.0 * t) as f32;
        let d = |t: f64| (3.0 * t * t - 2.0) as f32;
        let values: Vec<f32> =
            times.iter().flat_map(|&t| [[d(t); 3], [f(t); 3], [d(t); 3]]).flatten().collect();
        let mut track = Track::new(&times, &values, 3, Interpolation::CubicSpline).unwrap();
        for time in [0.0, 1.0, 1.7, 2.9, 3.0, 9.0, 1.2] {
            let v: Vec3 = track.sample(time, 0.0);
            assert!((v.x - f64::from(f(time.clamp(1.0, 3.0)))).abs() < 1e-5, "{time}");
        }
    }

    #[test]
    fn steps_hold_and_lines_turn_the_short_way() {
        let times = [0.0, 1.0];
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let values = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -half, -half];
        let mut step = Track::new(&times, &values, 4, Interpolation::Step).unwrap();
        assert_eq!(step.sample::<Quat>(0.999, 1e-4), Quat::identity());
        let mut line = Track::new(&times, &values, 4, Interpolation::Linear).unwrap();
        let middle: Quat = line.sample(0.5, 1e-4);
        assert!((middle.angle() - std::f64::consts::FRAC_PI_4).abs() < 1e-7);
        assert!(Track::new(&times, &values[..4], 4, Interpolation::Linear).is_none());
    }
}
