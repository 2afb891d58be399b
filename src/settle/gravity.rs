//! Estimates the gravity of a take from its flights.
//!
//! Units of captures are guessed, and a take scaled to a smaller body falls more slowly: the acceleration in the flights of
//! the take itself is the right value for every test. A flight counts where its centre of mass is on a parabola; the
//! median of all is taken. Units: of [`WholeBodyDynamics`].

use super::whole_body_dynamics::WholeBodyDynamics;
use crate::kinematics::GRAVITY;
use crate::math::{Vec3, median};
use crate::signal::{Parabola, gaussian};

/// The shortest flight, seconds: shorter times without support are gaps in the labels.
pub const SHORTEST: f64 = 0.1;

/// The accepted range, m/s^2: captures in unknown units fell with 15 to 16 in bodies of the common leg.
const LIKELY: (f64, f64) = (5.0, 20.0);

/// The fewest frames of a flight that counts: any three are on a parabola.
const FEWEST: usize = 5;

/// The largest distance of a flight that counts from its parabola, over the height of the parabola.
const STRAY: f64 = 0.1;

/// The cutoff frequency of the smoothing of the centre of mass, hertz.
const CUTOFF: f64 = 6.0;

/// The largest distance from its parabola, over the height of the parabola, of a body that falls freely: recorded flights of 0.1 s
/// and more have up to 0.02, hand-made ones 0.03 and more, ...
const FREE_STRAY: f64 = 0.03;
/// ... or accelerate along the floor by 0.25 of their fall and more, recorded ones by up to 0.05.
const FREE_ASIDE: f64 = 0.06;
/// Free falls agree within this share of the median, ...
const AGREE: f64 = 0.1;
/// ... and so many of them, three quarters of all, are sure: one alone fell with 15 m/s^2 in a clean take.
const MANY: usize = 2;

/// The gravity of a take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gravity {
    /// Metres of the common leg per second squared.
    pub value: f64,
    /// Whether it was measured on a flight.
    pub known: bool,
}

/// The gravity of a take.
pub fn gravity(body: &WholeBodyDynamics) -> Gravity {
    let votes = votes(body);
    match votes.is_empty() {
        true => Gravity { value: GRAVITY, known: false },
        false => Gravity { value: median(votes), known: true },
    }
}

/// The gravity of a take that several free falls agree about, whatever it is.
pub fn agreed_gravity(body: &WholeBodyDynamics) -> Option<f64> {
    agreed(falls(body))
}

/// What enough of the free ones among these falls agree about.
fn agreed(falls: impl Iterator<Item = Fall>) -> Option<f64> {
    let free: Vec<f64> = falls.filter(Fall::is_free).map(|fall| fall.bend).collect();
    let value = median(free.clone());
    let agree = free.iter().filter(|bend| (*bend / value - 1.0).abs() < AGREE).count();
    (agree >= MANY && 4 * agree >= 3 * free.len()).then_some(value)
}

/// The accelerations of all flights that count.
fn votes(body: &WholeBodyDynamics) -> Vec<f64> {
    falls(body).filter(Fall::counts).map(|fall| fall.bend).collect()
}

/// How the centre of mass falls in the flights of a body.
fn falls(body: &WholeBodyDynamics) -> impl Iterator<Item = Fall> {
    let sigma = body.frames_of(1.0 / (std::f64::consts::TAU * CUTOFF));
    let centre = body.by_shot(|shot| gaussian(&body.centre[shot], sigma));
    let flights = body.flights(SHORTEST);
    flights.into_iter().filter_map(move |air| Fall::along(&centre[air], body.rate))
}

/// The parabola of a flight.
#[derive(Clone, Copy, Debug)]
struct Fall {
    /// Its downward acceleration, m/s^2.
    bend: f64,
    /// Its height, metres.
    arch: f64,
    /// How far the path is from it, root mean square, metres.
    stray: f64,
    /// Its horizontal acceleration, m/s^2.
    aside: f64,
}

impl Fall {
    /// That of a path; `None` of one that is too short.
    fn along(path: &[Vec3], rate: f64) -> Option<Fall> {
        if path.len() < FEWEST {
            return None;
        }
        let parabola = Parabola::through(path);
        let bend = -parabola.acceleration().y * rate * rate;
        let aside = libm::hypot(parabola.acceleration().x, parabola.acceleration().z) * rate * rate;
        let square = |(f, at): (usize, &Vec3)| (at.y - parabola.at(f).y).powi(2);
        let stray = (path.iter().enumerate().map(square).sum::<f64>() / path.len() as f64).sqrt();
        let lasts = (path.len() - 1) as f64 / rate;
        Some(Fall { bend, arch: bend * lasts * lasts / 8.0, stray, aside })
    }

    /// Whether it counts as a flight of a body in unknown units.
    fn counts(&self) -> bool {
        LIKELY.0 < self.bend && self.bend < LIKELY.1 && self.stray < STRAY * self.arch
    }

    /// Whether nothing but gravity acts.
    fn is_free(&self) -> bool {
        self.stray < FREE_STRAY * self.arch && self.aside < FREE_ASIDE * self.bend
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_throw_falls_with_its_own_gravity(
            g in 5.2..19.5f64, up in 0.5..4.0f64, aside in -2.0..2.0f64, rate in 24.0..240.0f64, lasts in 0.25..0.7f64,
        ) {
            let at = |f: usize| f as f64 / rate;
            let place = |t: f64| Vec3::new(aside * t, 1.0 + up * t - 0.5 * g * t * t, 0.0);
            let way: Vec<Vec3> = (0..(lasts * rate) as usize).map(|f| place(at(f))).collect();
            let fall = Fall::along(&way, rate).unwrap();
            prop_assert!((fall.bend - g).abs() < 1e-6 && fall.counts() && fall.is_free());
        }
    }

    #[test]
    fn what_floats_or_sways_says_nothing() {
        let way =
            |of: fn(f64) -> f64| -> Vec<Vec3> { (0..30).map(|f| Vec3::y() * of(f as f64 / 60.0)).collect() };
        let counts = |way: &[Vec3]| Fall::along(way, 60.0).is_some_and(|fall| fall.counts());
        assert!(!counts(&way(|_| 1.0)));
        assert!(!counts(&way(|t| -1.5 * t * t)));
        assert!(!counts(&way(|t| 0.05 * (40.0 * t).sin() - 5.0 * t * t)));
        assert!(!counts(&way(|t| -5.0 * t * t)[..4]));
    }

    #[test]
    fn enough_free_falls_agree_and_others_have_no_say() {
        let fall = |bend: f64, aside: f64| Fall { bend, arch: 0.1, stray: 0.0, aside };
        let of = |falls: &[Fall]| agreed(falls.iter().copied());
        assert_eq!(of(&[fall(15.0, 0.0)]), None);
        assert_eq!(of(&[fall(15.0, 0.0), fall(15.2, 0.0)]), Some(15.1));
        assert_eq!(of(&[fall(15.0, 0.0), fall(15.2, 0.0), fall(9.8, 2.0)]), Some(15.1));
        assert_eq!(of(&[fall(15.0, 0.0), fall(15.2, 0.0), fall(9.8, 0.0)]), None);
    }

    #[test]
    fn hand_made_jumps_count_as_flights_and_are_not_free() {
        let way = |of: fn(f64) -> Vec3| -> Vec<Vec3> { (0..13).map(|f| of(f as f64 / 30.0)).collect() };
        let brakes = way(|t| Vec3::new(1.0 - 2.0 * t * t, 2.0 * t - 8.0 * t * t, 0.0));
        let eased = way(|t| Vec3::y() * (2.0 * t - 8.0 * t * t + 0.02 * (30.0 * t).sin()));
        for path in [brakes, eased] {
            let fall = Fall::along(&path, 30.0).unwrap();
            assert!(fall.counts() && !fall.is_free(), "{fall:?}");
        }
    }
}
