//! Finds jumps whose flight phase is missing, and the parabola between take-off and landing that restores it.
//!
//! A *pull* is a moment in which the floor would have to pull the body down: a take-off that ends in a straight line, a
//! landing that begins in one. Where the rates beyond two pulls are those of one fall under the gravity of the take, and
//! the path between is nearly a line, a flight is missing there: keys were thinned, or a gap was filled. Given its ends, a
//! parabola is known exactly. A take has one gravity: where no flight shows it, the median of the values from the rates
//! around its missing flights. Units: of [`WholeBodyDynamics`].

use super::derivatives::{line_residual, second_derivative};
use super::gravity::Gravity;
use super::whole_body_dynamics::WholeBodyDynamics;
use crate::kinematics::GRAVITY;
use crate::math::{Vec3, median};
use crate::signal::{Parabola, WhiteNoise, gaussian};
use std::ops::Range;

/// A downward acceleration above this multiple of gravity is a pull.
const PULL: f64 = 1.4;

/// Standard deviation of the smoothing before pulls are searched, seconds.
const SMOOTH: f64 = 0.012;

/// Least and greatest duration of a flight, seconds.
const LASTS: (f64, f64) = (0.12, 0.9);

/// The time beyond the pulls on which rates are measured, seconds.
const BEYOND: f64 = 0.04;

/// The accepted range of an unknown gravity, m/s^2.
const LIKELY: (f64, f64) = (6.0, 20.0);

/// Rates give gravity within a tenth: a value nearer than this share to that of the Earth, in the metres of the file, is
/// set to it.
const NEAR_EARTH: f64 = 0.1;

/// The largest deviation of gravity and rates from those of the parabola, as a share of these.
const AGREE: f64 = 0.35;

/// The least vertical speed of a jump, m/s.
const RATE: f64 = 0.4;

/// The steepest mean slope inside, as a share of the parabola's first rate.
const LEVEL: f64 = 0.5;
/// The largest deviation from a line inside, as a share of the parabola's.
const STRAIGHT: f64 = 0.35;

/// The largest error that the noise of the heights gives to the rates beyond the pulls, as a share of the parabola's first
/// rate: 4 mm at 120 Hz make rates of 0.5 m/s of nothing, captures err by less than a thirtieth of that.
const CERTAIN: f64 = 0.1;
/// The largest share of a flight in which one sole is labelled as in contact: a foot that stands carries the body.
const CARRIED: f64 = 0.5;

/// A missing flight phase.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingFlight {
    /// The frames to lift.
    pub frames: Range<usize>,
    /// The lift of each.
    pub lift: Vec<f64>,
    /// The gravity by the rates around it, m/s^2.
    pub own: f64,
}

/// The missing flights of a take.
pub fn missing_flights(body: &WholeBodyDynamics, gravity: Gravity) -> Vec<MissingFlight> {
    let shots = body.by_shot(|shot| {
        let smooth = gaussian(&body.centre[shot.clone()], body.frames_of(SMOOTH));
        let falls = second_derivative(&smooth, body.rate).iter().map(|a| a.y).collect();
        let heights: Vec<f64> = body.centre[shot.clone()].iter().map(|p| p.y).collect();
        let noise = white_noise(&heights);
        vec![ShotHeights { first: shot.start, heights, falls, rate: body.rate, noise }]
    });
    let lost = |gravity: Gravity| -> Vec<MissingFlight> {
        let flights = shots.iter().flat_map(|shot| shot.lost(gravity));
        flights.filter(|flight| !sole_stands(body, flight.frames.clone())).collect()
    };
    if gravity.known {
        return lost(gravity);
    }
    let values: Vec<f64> = lost(gravity).iter().map(|flight| flight.own).collect();
    if values.is_empty() {
        return Vec::new();
    }
    let (own, earth) = (median(values), GRAVITY * body.scale);
    let value = if (own - earth).abs() < NEAR_EARTH * earth { earth } else { own };
    lost(Gravity { value, known: true })
}

/// Whether a sole stands on something during a flight.
fn sole_stands(body: &WholeBodyDynamics, frames: Range<usize>) -> bool {
    let most = CARRIED * frames.len() as f64;
    let rests = |rests: &[bool]| rests[frames.clone()].iter().filter(|rests| **rests).count() as f64;
    body.supports.iter().any(|support| support.of_sole() && rests(&support.rests) > most)
}

/// One shot: its first frame, heights of the centre and their second derivatives.
struct ShotHeights {
    first: usize,
    heights: Vec<f64>,
    falls: Vec<f64>,
    rate: f64,
    /// The standard deviation of the white noise of the heights.
    noise: f64,
}

impl ShotHeights {
    /// Its missing flights under this gravity; under the own gravity of each where it is not known.
    fn lost(&self, gravity: Gravity) -> Vec<MissingFlight> {
        let falls = &self.falls;
        let least = |f: usize| {
            let mut around =
                [f.checked_sub(1), Some(f + 1)].into_iter().flatten().filter_map(|k| falls.get(k));
            around.all(|a| falls[f] <= *a)
        };
        let pulls: Vec<usize> =
            (0..falls.len()).filter(|f| falls[*f] < -PULL * gravity.value && least(*f)).collect();
        let mut found: Vec<MissingFlight> = Vec::new();
        let mut end = 0;
        for &off in pulls.iter() {
            if off + 1 < end {
                continue;
            }
            if let Some(mut flight) = pulls.iter().find_map(|&on| self.arch((off, on), gravity)) {
                end = flight.frames.end;
                flight.frames = flight.frames.start + self.first..end + self.first;
                found.push(flight);
            }
        }
        found
    }

    /// The arch between two pulls, where both belong to one flight that is not there.
    fn arch(&self, (off, on): (usize, usize), gravity: Gravity) -> Option<MissingFlight> {
        let (heights, rate) = (&self.heights, self.rate);
        let n = (BEYOND * rate).round().max(2.0) as usize;
        let lasts = (on as f64 - off as f64) / rate;
        if !(LASTS.0 < lasts && lasts < LASTS.1) || off < 2 * n || on + 2 * n >= heights.len() {
            return None;
        }
        // Frames that repeat the one before are no motion: rates over them tell nothing.
        let repeats = |range: &[f64]| range.windows(2).any(|w| w[0] == w[1]);
        if repeats(&heights[off - n..=off]) || repeats(&heights[on..=on + n]) {
            return None;
        }
        let climb = |from: usize, to: usize| (heights[to] - heights[from]) * rate / (to - from) as f64;
        let up = -first_rate(heights[off - n..=off].iter().rev(), rate);
        let down = first_rate(heights[on..=on + n].iter(), rate);
        let own = (up - down) / lasts;
        let agrees = |value: f64, wanted: f64| (value - wanted).abs() < AGREE * wanted.abs();
        if gravity.known && !agrees(own, gravity.value) || !(LIKELY.0 < own && own < LIKELY.1) {
            return None;
        }
        let g = if gravity.known { gravity.value } else { own };
        let first = climb(off, on) + 0.5 * g * lasts;
        let last = first - g * lasts;
        if self.noise * rate * slope_error(n + 1) > CERTAIN * first {
            return None;
        }
        let jumps = up > RATE && down < -RATE && agrees(up, first) && agrees(down, last);
        if !jumps || climb(off + 1, on - 1).abs() >= LEVEL * first {
            return None;
        }
        let time = |k: usize| k as f64 / rate;
        let arch: Vec<f64> = (0..=on - off).map(|k| 0.5 * g * time(k) * (lasts - time(k))).collect();
        let bow = |k: usize| heights[off + k] - heights[off] - climb(off, on) * time(k);
        let lift: Vec<f64> = arch.iter().enumerate().map(|(k, above)| above - bow(k)).collect();
        let square: f64 = (0..arch.len()).map(|k| bow(k).powi(2)).sum();
        let off_chord = (square / arch.len() as f64).sqrt();
        (off_chord < STRAIGHT * line_residual(&arch)).then_some(MissingFlight {
            frames: off..on + 1,
            lift,
            own,
        })
    }
}

/// The rate at the first of some heights, by the parabola through them, since a body that takes off or lands accelerates.
fn first_rate<'h>(heights: impl Iterator<Item = &'h f64>, rate: f64) -> f64 {
    let path: Vec<Vec3> = heights.map(|y| Vec3::y() * *y).collect();
    Parabola::through(&path).first_slope().y * rate
}

/// The standard deviation of the first slope of a least-squares parabola through so many values of unit noise.
fn slope_error(count: usize) -> f64 {
    let n = count as f64;
    (12.0 * (2.0 * n - 1.0) * (8.0 * n - 11.0) / (n * (n * n - 1.0) * (n * n - 4.0))).sqrt()
}

/// The standard deviation of the white noise of a series of heights.
fn white_noise(heights: &[f64]) -> f64 {
    WhiteNoise::of(&heights.iter().map(|y| [*y]).collect::<Vec<_>>()).by_fourth
}

/// The lifts of all flights, by frame.
pub fn lifts(frames: usize, flights: &[MissingFlight]) -> Vec<Vec3> {
    let mut offsets = vec![Vec3::zeros(); frames];
    for flight in flights {
        for (offset, lift) in offsets[flight.frames.clone()].iter_mut().zip(&flight.lift) {
            *offset = Vec3::y() * *lift;
        }
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A body that crouches, jumps for about `lasts` seconds under `g` and comes to rest; and the same on a line in the
    /// air. Take-off and landing are frames, as the ends of a gap in the keys are.
    fn jump(g: f64, lasts: f64, rate: f64) -> [Vec<f64>; 2] {
        let whole = |seconds: f64| (seconds * rate).round() / rate;
        let (lasts, push) = (whole(lasts), whole(0.3));
        let (start, speed) = (whole(0.5), 0.5 * g * lasts);
        // A push of constant force from a depth that gives the speed, and the same to a halt.
        let depth = 0.5 * speed * push;
        let height = |t: f64, flies: bool| {
            let (off, on) = (start + push, start + push + lasts);
            match t {
                t if t < start => 1.0 - depth,
                t if t < off => 1.0 - depth + 0.5 * speed / push * (t - start).powi(2),
                t if t < on && flies => 1.0 + 0.5 * g * (t - off) * (on - t),
                t if t < on => 1.0,
                t if t < on + push => 1.0 - depth + 0.5 * speed / push * (on + push - t).powi(2),
                _ => 1.0 - depth,
            }
        };
        let frames = ((2.0 * start + 2.0 * push + lasts) * rate) as usize;
        [true, false].map(|flies| (0..frames).map(|f| height(f as f64 / rate, flies)).collect())
    }

    fn found(heights: &[f64], rate: f64, gravity: Gravity) -> Vec<MissingFlight> {
        let path: Vec<Vec3> = heights.iter().map(|y| Vec3::y() * *y).collect();
        let falls = second_derivative(&gaussian(&path, SMOOTH * rate), rate).iter().map(|a| a.y).collect();
        let noise = white_noise(heights);
        ShotHeights { first: 0, heights: heights.to_vec(), falls, rate, noise }.lost(gravity)
    }

    proptest! {
        #[test]
        fn a_line_through_a_jump_becomes_its_parabola_and_a_jump_stays(
            g in 8.0..14.0f64, lasts in 0.35..0.7f64, rate in 60.0..130.0f64, known: bool,
        ) {
            let gravity = Gravity { value: if known { g } else { 9.81 }, known };
            let [true_way, mut line] = jump(g, lasts, rate);
            prop_assert_eq!(found(&true_way, rate, gravity), vec![]);
            let lost = found(&line, rate, gravity);
            prop_assert_eq!(lost.len(), 1);
            for (y, lift) in line[lost[0].frames.clone()].iter_mut().zip(&lost[0].lift) {
                *y += lift;
            }
            let arch = g * lasts * lasts / 8.0;
            let off = line.iter().zip(&true_way).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // A pull may be found a frame off the end of the line; without known gravity rates give it within a tenth.
            prop_assert!(off < 0.3 * arch, "{} of {}", off, arch);
            // A second look finds nothing.
            prop_assert_eq!(found(&line, rate, gravity), vec![]);
        }
    }

    #[test]
    fn noise_is_no_jump_and_hides_one() {
        // Deterministic deviates of unit variance (sums of twelve uniform ones).
        let mut state = 1_u64;
        let mut uniform = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let noise: Vec<f64> = (0..1200).map(|_| 0.004 * normal()).collect();
        let measured = white_noise(&noise);
        assert!((measured / 0.004 - 1.0).abs() < 0.15, "{measured}");
        assert_eq!(found(&noise, 120.0, Gravity { value: 9.81, known: true }), []);
        assert_eq!(found(&noise, 120.0, Gravity { value: 9.81, known: false }), []);
        let [_, line] = jump(9.81, 0.5, 120.0);
        let doubled: Vec<f64> = (0..line.len()).map(|f| line[f - f % 2]).collect();
        assert_eq!(found(&doubled, 120.0, Gravity { value: 9.81, known: false }), []);
        assert_eq!(found(&line, 120.0, Gravity { value: 9.81, known: true }).len(), 1);
        let noisy: Vec<f64> = line.iter().zip(&noise).map(|(y, noise)| y + noise).collect();
        assert_eq!(found(&noisy, 120.0, Gravity { value: 9.81, known: true }), []);
    }

    #[test]
    fn the_error_of_a_slope_is_that_of_its_weights() {
        // Three values: (-3 y0 + 4 y1 - y2) / 2. More: the sum of the squared answers to single values.
        assert!((slope_error(3) - 6.5_f64.sqrt()).abs() < 1e-12);
        for count in 4..9 {
            let of = |k: usize| first_rate((0..count).map(|i| if i == k { &1.0 } else { &0.0 }), 1.0);
            let sum: f64 = (0..count).map(|k| of(k).powi(2)).sum();
            assert!((slope_error(count) - sum.sqrt()).abs() < 1e-9, "{count}: {sum}");
        }
    }

    #[test]
    fn a_lift_that_stops_is_no_jump() {
        // Up and down at 1 m/s with a stay of half a second: nothing falls from there so slowly.
        let height = |f: usize| (f as f64).min(60.0).min((150 - f.min(150)) as f64) / 60.0;
        let heights: Vec<f64> = (0..200).map(height).collect();
        assert_eq!(found(&heights, 60.0, Gravity { value: 9.81, known: true }), []);
    }
}
