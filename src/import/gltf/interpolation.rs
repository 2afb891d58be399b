//! Interpolates the keys of a glTF animation channel.
//!
//! Source: glTF 2.0 specification, section 3.11 and appendix C (step, linear, spherical linear and cubic spline
//! interpolation). Units: seconds, metres; rotations of unit length.

use crate::math::{Quat, RawQuat, Vec3, slerp};
use crate::model::is_frame_rate;

/// The highest rate of evenly spaced keys that is taken for a frame rate.
const MAX_EVEN_RATE: f64 = 1000.0;
/// Evenly spaced keys are frames from this rate on, Hz; takes are recorded and baked above it, sparser keys are set by hand.
pub(in crate::import) const LEAST_BAKED: f64 = 15.0;
/// Difference of two numbers that is the rounding of an exporter, as a share of the larger of the number and 1.
const SAME: f32 = 1e-6;
/// Keys at equal distances that are frames at any rate: nobody sets ten of them by hand.
const BAKED_KEYS: usize = 10;

/// The interpolation between two keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Interpolation {
    Step,
    Linear,
    CubicSpline,
}

/// The value of a key. Numbers are the bytes of `f32`, as in the file.
pub(super) trait KeyValue: Copy {
    /// A value of four (rotation) or three numbers.
    fn read(numbers: &[u8]) -> Self;
    fn mix(a: Self, b: Self, t: f64) -> Self;
    /// `m0 * a + m1 * u + m2 * b + m3 * v`, `u` and `v` tangents as in the file.
    fn spline(m: [f64; 4], values: [&[u8]; 4]) -> Self;
}

/// The consecutive numbers in `bytes`.
#[inline(always)]
fn numbers(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

#[inline(always)]
fn number(bytes: &[u8]) -> f64 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).into()
}

impl KeyValue for Vec3 {
    #[inline(always)]
    fn read(n: &[u8]) -> Self {
        Vec3::new(number(&n[..4]), number(&n[4..8]), number(&n[8..12]))
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        a.lerp(&b, t)
    }

    fn spline(m: [f64; 4], values: [&[u8]; 4]) -> Self {
        (0..4).map(|i| Self::read(values[i]) * m[i]).sum()
    }
}

#[inline(always)]
fn raw(n: &[u8]) -> RawQuat {
    RawQuat::new(number(&n[12..16]), number(&n[..4]), number(&n[4..8]), number(&n[8..12]))
}

#[inline(always)]
fn unit(q: RawQuat) -> Quat {
    let length = q.norm();
    if length > NO_LENGTH { Quat::new_unchecked(q / length) } else { Quat::identity() }
}

/// Shorter quaternions define no rotation; they are read as the identity.
const NO_LENGTH: f64 = 1e-9;

impl KeyValue for Quat {
    #[inline(always)]
    fn read(n: &[u8]) -> Self {
        unit(raw(n))
    }

    fn mix(a: Self, b: Self, t: f64) -> Self {
        slerp(&a, &b, t)
    }

    fn spline(m: [f64; 4], values: [&[u8]; 4]) -> Self {
        unit((0..4).fold(raw(&[0; 16]), |sum, i| sum + raw(values[i]) * m[i]))
    }
}

/// The position of a time in ascending key times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyPosition {
    /// The key at or before it.
    key: usize,
    /// The fraction of the interval to the next key, 0 to 1, and its length in seconds; `None` if the time is on this key or
    /// after the last.
    between: Option<[f64; 2]>,
}

/// The key times of some tracks, with the index of the key used last.
#[derive(Clone)]
pub(super) struct KeyCursor<'a> {
    times: &'a [f64],
    at: usize,
}

impl<'a> KeyCursor<'a> {
    /// A cursor at the first of `times`, which ascend and are not empty.
    pub(super) fn new(times: &'a [f64]) -> Self {
        Self { times, at: 0 }
    }

    /// The same cursor moved to `time`.
    pub(super) fn at(&self, time: f64, snap: f64) -> Self {
        let at = self.times.partition_point(|t| *t <= time + snap).saturating_sub(1);
        Self { at, ..*self }
    }

    /// The position of `time`; a key less than `snap` seconds away is used exactly.
    pub(super) fn seek(&mut self, time: f64, snap: f64) -> KeyPosition {
        let last = self.times.len() - 1;
        if self.times[self.at] > time {
            self.at = 0;
        }
        while self.at < last && self.times[self.at + 1] <= time + snap {
            self.at += 1;
        }
        let key = self.at;
        let start = self.times[key];
        if key == last || time <= start + snap {
            return KeyPosition { key, between: None };
        }
        let length = self.times[key + 1] - start;
        KeyPosition { key, between: Some([(time - start) / length, length]) }
    }
}

/// The keys of one property of one node.
#[derive(Clone)]
pub(super) struct KeyTrack<'a> {
    /// The index of its list of key times.
    pub(super) times: usize,
    values: &'a [u8],
    width: usize,
    interpolation: Interpolation,
}

impl<'a> KeyTrack<'a> {
    /// A track of `keys` keys at the key times of that index; `None` where the number of values does not fit, or is 0.
    pub(super) fn new(
        times: usize,
        keys: usize,
        values: &'a [u8],
        width: usize,
        interpolation: Interpolation,
    ) -> Option<Self> {
        let per_key = if interpolation == Interpolation::CubicSpline { 3 * width } else { width };
        let fits = keys > 0 && values.len() == 4 * keys * per_key;
        fits.then_some(Self { times, values, width, interpolation })
    }

    /// Whether every key has the same value, and no tangents lead away from it.
    pub(super) fn is_constant(&self) -> bool {
        let first = self.slot(0);
        self.interpolation != Interpolation::CubicSpline
            && self.values.chunks_exact(4 * self.width).all(|value| numbers(value).eq(numbers(first)))
    }

    /// Whether steps lead nowhere: every key has the first one's value, to the rounding of exporters ([`SAME`]).
    pub(super) fn stays(&self) -> bool {
        let first = self.slot(0);
        let near = |(a, b): (f32, f32)| (a - b).abs() <= SAME * b.abs().max(1.0);
        let mut keys = self.values.chunks_exact(4 * self.width);
        self.interpolation == Interpolation::Step
            && keys.all(|key| numbers(key).zip(numbers(first)).all(near))
    }

    /// The least and the greatest number of all keys.
    pub(super) fn range(&self) -> [f64; 2] {
        let spline = self.interpolation == Interpolation::CubicSpline;
        let keys = self.values.len() / (4 * self.width * if spline { 3 } else { 1 });
        let all = (0..keys).flat_map(|key| numbers(self.value(key))).map(f64::from);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| [least.min(x), most.max(x)])
    }

    #[inline(always)]
    fn slot(&self, slot: usize) -> &'a [u8] {
        &self.values[slot * 4 * self.width..][..4 * self.width]
    }

    #[inline(always)]
    fn value(&self, key: usize) -> &'a [u8] {
        // A cubic key is: in-tangent, value, out-tangent.
        self.slot(if self.interpolation == Interpolation::CubicSpline { 3 * key + 1 } else { key })
    }

    /// The tangents that lead away from a key and to the next one.
    fn tangents(&self, key: usize) -> [&'a [u8]; 2] {
        [3 * key + 2, 3 * (key + 1)].map(|slot| self.slot(slot))
    }

    /// Appends the numbers at `key_position`, each interpolated on its own, to `out`.
    pub(super) fn sample_numbers(&self, key_position: KeyPosition, out: &mut Vec<f32>) {
        let a = self.value(key_position.key);
        let Some([t, length]) = key_position.between.filter(|_| self.interpolation != Interpolation::Step)
        else {
            return out.extend(numbers(a));
        };
        let b = self.value(key_position.key + 1);
        if self.interpolation != Interpolation::CubicSpline {
            let mix = |(a, b)| (f64::from(a) * (1.0 - t) + f64::from(b) * t) as f32;
            return out.extend(numbers(a).zip(numbers(b)).map(mix));
        }
        let m = hermite(t, length);
        let [u, v] = self.tangents(key_position.key);
        let both = numbers(a).zip(numbers(u)).zip(numbers(b).zip(numbers(v)));
        out.extend(both.map(|((a, u), (b, v))| {
            [a, u, b, v].into_iter().zip(m).map(|(x, m)| f64::from(x) * m).sum::<f64>() as f32
        }));
    }

    /// The value at `key_position`.
    #[inline(always)]
    pub(super) fn sample<K: KeyValue>(&self, key_position: KeyPosition) -> K {
        match key_position.between {
            Some(between) if self.interpolation != Interpolation::Step => {
                self.mixed(key_position.key, between)
            }
            _ => K::read(self.value(key_position.key)),
        }
    }

    /// The rotations at `key_positions` as arrays of `x, y, z, w`.
    #[inline(always)]
    pub(super) fn rotations<const N: usize>(&self, key_positions: &[KeyPosition; N]) -> [[f64; N]; 4] {
        let mut c = [[0.0; N]; 4];
        if self.interpolation != Interpolation::Step
            && key_positions.iter().any(|key_position| key_position.between.is_some())
        {
            for (n, key_position) in key_positions.iter().enumerate() {
                let q: Quat = self.sample(*key_position);
                [c[0][n], c[1][n], c[2][n], c[3][n]] = [q.i, q.j, q.k, q.w];
            }
            return c;
        }
        let mut set = |n: usize, value: &[u8]| {
            let q = raw(value);
            [c[0][n], c[1][n], c[2][n], c[3][n]] = [q.i, q.j, q.k, q.w];
        };
        // Mostly each frame has a key of its own.
        let first = key_positions[0].key;
        let in_a_row =
            key_positions.iter().enumerate().all(|(n, key_position)| key_position.key == first + n);
        let keys = self.values.as_chunks::<16>().0.get(first..first + N);
        match keys.filter(|_| in_a_row && self.interpolation != Interpolation::CubicSpline) {
            Some(keys) => keys.iter().enumerate().for_each(|(n, key)| set(n, key)),
            None => (0..N).for_each(|n| set(n, self.value(key_positions[n].key))),
        }
        // Square roots and divisions are vectorized.
        let [i, j, k, r] = &mut c;
        for n in 0..N {
            let [x, y, z, w] = [i[n], j[n], k[n], r[n]];
            let length = ((x * x + z * z) + (y * y + w * w)).sqrt();
            let some = length > NO_LENGTH;
            let unit = [x / length, y / length, z / length, w / length];
            i[n] = if some { unit[0] } else { 0.0 };
            j[n] = if some { unit[1] } else { 0.0 };
            k[n] = if some { unit[2] } else { 0.0 };
            r[n] = if some { unit[3] } else { 1.0 };
        }
        c
    }

    /// The value between a key and the next one.
    fn mixed<K: KeyValue>(&self, key: usize, [t, length]: [f64; 2]) -> K {
        let (a, b) = (self.value(key), self.value(key + 1));
        if self.interpolation != Interpolation::CubicSpline {
            return K::mix(K::read(a), K::read(b), t);
        }
        let [u, v] = self.tangents(key);
        K::spline(hermite(t, length), [a, u, b, v])
    }
}

/// The Hermite weights of a key, its out-tangent, the next key and its in-tangent. Appendix C.5 of the specification.
fn hermite(t: f64, length: f64) -> [f64; 4] {
    let (t2, t3) = (t * t, t * t * t);
    [2.0 * t3 - 3.0 * t2 + 1.0, length * (t3 - 2.0 * t2 + t), -2.0 * t3 + 3.0 * t2, length * (t3 - t2)]
}

/// The rate in hertz that puts every key time on a frame, if there is one.
///
/// `times` ascend and are not empty. A `stated` rate wins. Keys that are evenly spaced at [`LEAST_BAKED`] or closer are frames: a take of
/// 0.015 s per frame has 66.667 Hz, not 200; [`BAKED_KEYS`] are at any distance. Otherwise the smallest whole rate from 1 to 240 wins,
/// then the broadcast rates, then the rate of keys that are evenly spaced whatever their distance.
pub(super) fn fitting_rate(times: &[f64], stated: Option<f64>) -> Option<f64> {
    let start = times[0];
    let fits = |rate: &f64| {
        times.iter().all(|t| {
            let frame = (t - start) * rate;
            // Key times are `f32`: half a unit in the last place is a rounding error.
            let rounding = t.abs().max(start.abs()) * f64::from(f32::EPSILON) * rate;
            (frame - frame.round()).abs() < (1e-3 + rounding).min(0.1)
        })
    };
    let broadcast = [24000.0 / 1001.0, 30000.0 / 1001.0, 60000.0 / 1001.0, 120000.0 / 1001.0];
    let distinct = 1 + times.windows(2).filter(|w| w[1] - w[0] > 1e-6).count();
    let even = (distinct - 1) as f64 / (times[times.len() - 1] - start);
    let even = Some(even).filter(|rate| (1.0..=MAX_EVEN_RATE).contains(rate) && fits(rate));
    let is_baked = |rate: &f64| *rate >= LEAST_BAKED || distinct >= BAKED_KEYS;
    let most = even.filter(is_baked).map_or(240, |rate| rate.ceil().min(240.0) as u32);
    let stated = stated.filter(|rate| is_frame_rate(*rate) && fits(rate));
    stated.or_else(|| (1..=most).map(f64::from).chain(broadcast).find(fits).or(even))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_lead_nowhere_are_told_from_others() {
        let stays = |interpolation, second: f32| {
            let values: Vec<u8> =
                [0.1, 0.2, 3.0, 0.1, second, 3.0_f32].iter().flat_map(|x| x.to_le_bytes()).collect();
            KeyTrack::new(0, 2, &values, 3, interpolation).unwrap().stays()
        };
        assert!(stays(Interpolation::Step, 0.2) && stays(Interpolation::Step, 0.200_000_3));
        assert!(!stays(Interpolation::Step, 0.2001) && !stays(Interpolation::Linear, 0.2));
    }

    #[test]
    fn rates_are_found_from_key_times() {
        let at = |rate: f64, frames: &[u32]| {
            let times: Vec<f64> =
                frames.iter().map(|&f| f64::from((0.25 + f64::from(f) / rate) as f32)).collect();
            fitting_rate(&times, None)
        };
        assert_eq!(at(30.0, &[0, 1, 2, 3, 900]), Some(30.0));
        assert_eq!(at(30.0, &[0, 15, 30]), Some(2.0));
        assert_eq!(at(24000.0 / 1001.0, &(0..500).collect::<Vec<_>>()), Some(24000.0 / 1001.0));
        assert_eq!(
            at(1.0 / 0.0083333, &(0..3000).collect::<Vec<_>>()).map(|r| (r - 120.0005).abs() < 1e-3),
            Some(true)
        );
        for rate in [200.0 / 3.0, 100.0 / 3.0, 200.0 / 9.0] {
            let found = at(rate, &(0..500).collect::<Vec<_>>());
            assert!(
                found.is_some_and(|found| (found - rate).abs() < 1e-3),
                "every frame at {rate} Hz: {found:?}"
            );
        }
        assert_eq!(at(200.0 / 3.0, &[0, 1, 2, 7]), Some(200.0), "not evenly spaced");
        assert_eq!(at(2.5, &[0, 1, 2, 3]), Some(5.0), "keys set by hand");
        for rate in [12.5, 7.5, 6.25, 13.3] {
            let found = at(rate, &(0..40).collect::<Vec<_>>());
            assert!(found.is_some_and(|found| (found - rate).abs() < 1e-3), "{rate} Hz: {found:?}");
            assert_eq!(fitting_rate(&[0.0, 2.0 / rate, 7.0 / rate], Some(rate)), Some(rate), "stated");
        }
        assert_eq!(
            fitting_rate(&[0.0, 0.1, 0.2], Some(3.0)),
            Some(10.0),
            "stated, but keys are between its frames"
        );
        assert_eq!(fitting_rate(&[0.0, 0.0317, 0.0711], None), None);
        assert_eq!(fitting_rate(&[2.0, 2.0], None), Some(1.0));
    }

    fn bytes(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn a_cubic_track_reproduces_a_cubic() {
        // f(t) = t^3 - 2t with f'(t) = 3t^2 - 2 is its own Hermite interpolant.
        let times = [1.0, 3.0];
        let f = |t: f64| (t * t * t - 2.0 * t) as f32;
        let d = |t: f64| (3.0 * t * t - 2.0) as f32;
        let values: Vec<f32> =
            times.iter().flat_map(|&t| [[d(t); 3], [f(t); 3], [d(t); 3]]).flatten().collect();
        let values = bytes(&values);
        let track = KeyTrack::new(0, 2, &values, 3, Interpolation::CubicSpline).unwrap();
        let mut cursor = KeyCursor::new(&times);
        for time in [0.0, 1.0, 1.7, 2.9, 3.0, 9.0, 1.2] {
            let v: Vec3 = track.sample(cursor.seek(time, 0.0));
            assert!((v.x - f64::from(f(time.clamp(1.0, 3.0)))).abs() < 1e-5, "{time}");
        }
    }

    #[test]
    fn rotations_of_keys_in_a_row_are_those_of_each() {
        let times: Vec<f64> = (0..20).map(f64::from).collect();
        let values = bytes(&(0..80).map(|k| (0.7 * k as f32).sin()).collect::<Vec<f32>>());
        let track = KeyTrack::new(0, 20, &values, 4, Interpolation::Linear).unwrap();
        for skipped in [0, 1] {
            let mut cursor = KeyCursor::new(&times);
            let time = |f: usize| (2 + f + skipped * (f / 9)) as f64;
            let key_positions: [KeyPosition; 16] = std::array::from_fn(|f| cursor.seek(time(f), 1e-4));
            let each = key_positions.map(|key_position| track.sample::<Quat>(key_position).coords);
            assert_eq!([0, 1, 2, 3].map(|k| each.map(|q| q[k])), track.rotations(&key_positions));
        }
    }

    #[test]
    fn steps_hold_and_linear_rotations_take_the_shorter_arc() {
        let times = [0.0, 1.0];
        let half = std::f32::consts::FRAC_1_SQRT_2;
        // The first is not of unit length.
        let values = bytes(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, -half, -half]);
        let mut cursor = KeyCursor::new(&times);
        let step = KeyTrack::new(0, 2, &values, 4, Interpolation::Step).unwrap();
        assert_eq!(step.sample::<Quat>(cursor.seek(0.999, 1e-4)), Quat::identity());
        let line = KeyTrack::new(0, 2, &values, 4, Interpolation::Linear).unwrap();
        let middle: Quat = line.sample(cursor.seek(0.5, 1e-4));
        assert!((middle.angle() - std::f64::consts::FRAC_PI_4).abs() < 1e-7);
        assert!(KeyTrack::new(0, 2, &values[..16], 4, Interpolation::Linear).is_none());
        for track in [step, line] {
            for key_positions in [[0.0, 1.0, 0.0, 2.0], [0.0, 0.25, 1.0, 0.75]] {
                let key_positions = key_positions.map(|time| cursor.seek(time, 1e-4));
                let each = key_positions.map(|key_position| track.sample::<Quat>(key_position).coords);
                let together = track.rotations(&key_positions);
                assert_eq!([0, 1, 2, 3].map(|k| each.map(|q| q[k])), together);
            }
        }
    }
}
