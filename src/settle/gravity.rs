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

/// Flights agree within this share of the median, ...
const AGREE: f64 = 0.12;
/// ... and so many of them, three quarters of all, are sure.
const MANY: usize = 3;

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

/// The gravity of a take that several flights agree about.
pub fn agreed_gravity(body: &WholeBodyDynamics) -> Option<f64> {
    let votes = votes(body);
    let value = median(votes.clone());
    let agree = votes.iter().filter(|vote| (*vote / value - 1.0).abs() < AGREE).count();
    (agree >= MANY && 4 * agree >= 3 * votes.len()).then_some(value)
}

/// The accelerations of all flights that count.
fn votes(body: &WholeBodyDynamics) -> Vec<f64> {
    let sigma = body.frames_of(1.0 / (std::f64::consts::TAU * CUTOFF));
    let centre = body.by_shot(|shot| gaussian(&body.centre[shot], sigma));
    let flights = body.flights(SHORTEST);
    flights.into_iter().filter_map(|air| fall(&centre[air], body.rate)).collect()
}

/// The acceleration with which a centre of mass falls along its path, where it does.
fn fall(path: &[Vec3], rate: f64) -> Option<f64> {
    if path.len() < FEWEST {
        return None;
    }
    let parabola = Parabola::through(path);
    let bend = -parabola.acceleration().y * rate * rate;
    let square = |(f, at): (usize, &Vec3)| (at.y - parabola.at(f).y).powi(2);
    let stray = (path.iter().enumerate().map(square).sum::<f64>() / path.len() as f64).sqrt();
    let lasts = (path.len() - 1) as f64 / rate;
    let arch = bend * lasts * lasts / 8.0;
    (LIKELY.0 < bend && bend < LIKELY.1 && stray < STRAY * arch).then_some(bend)
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
            prop_assert!((fall(&way, rate).unwrap() - g).abs() < 1e-6);
        }
    }

    #[test]
    fn what_floats_or_sways_says_nothing() {
        let way =
            |of: fn(f64) -> f64| -> Vec<Vec3> { (0..30).map(|f| Vec3::y() * of(f as f64 / 60.0)).collect() };
        assert_eq!(fall(&way(|_| 1.0), 60.0), None);
        assert_eq!(fall(&way(|t| -1.5 * t * t), 60.0), None);
        assert_eq!(fall(&way(|t| 0.05 * (40.0 * t).sin() - 5.0 * t * t), 60.0), None);
        assert_eq!(fall(&way(|t| -5.0 * t * t)[..4], 60.0), None);
    }
}
