//! Estimates the belt velocity of a walk on a treadmill.
//!
//! Feet on a treadmill are not planted in the world: while they are low they all move in one direction, and the pelvis does
//! not. Units: leg lengths, seconds.

use super::timeline::PLANTED_SPEED;
use crate::math::{Vec3, horizontal, median};

/// Lowest belt speed, leg lengths per second: a slow walk of a person.
const BELT: f64 = 0.3;
/// Share of feet that are planted in the world above which there is no treadmill.
const PLANTED: f64 = 0.3;
/// Highest speed of the pelvis on a treadmill, relative to the belt speed.
const TRAVELS: f64 = 0.15;
/// Largest median deviation of low feet from the belt velocity, relative to the belt speed.
const SCATTER: f64 = 0.4;
/// Fewest velocities for an estimate.
const FEWEST: usize = 4;

/// The belt velocity, from the velocities of low points and the mean velocity of the pelvis; `None` if the feet are planted
/// in the world, or never planted.
pub fn belt(low: &[Vec3], pelvis: &Vec3) -> Option<Vec3> {
    let low: Vec<Vec3> = low.iter().map(horizontal).collect();
    let fast: Vec<&Vec3> = low.iter().filter(|v| v.norm() > BELT).collect();
    if fast.len() < FEWEST {
        return None;
    }
    let middle = |axis: usize| median(fast.iter().map(|v| v[axis]).collect());
    let belt = Vec3::new(middle(0), 0.0, middle(2));
    let resting = low.iter().filter(|v| v.norm() < PLANTED_SPEED).count() as f64 / low.len() as f64;
    let scatter = median(low.iter().map(|v| (v - belt).norm()).collect());
    let travels = horizontal(pelvis).norm() > TRAVELS * belt.norm();
    let is = belt.norm() >= BELT && resting <= PLANTED && !travels && scatter <= SCATTER * belt.norm();
    is.then_some(belt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_belt_is_what_low_feet_share_and_the_pelvis_does_not() {
        let back = vec![Vec3::new(0.02, 0.0, -1.0); 20];
        assert!((belt(&back, &Vec3::zeros()).unwrap() - back[0]).norm() < 1e-12);
        assert_eq!(belt(&back, &Vec3::new(0.0, 0.0, -0.9)), None, "the body is pushed over the floor");
        let rests: Vec<Vec3> = back.iter().cycle().take(14).copied().chain([Vec3::zeros(); 10]).collect();
        assert_eq!(belt(&rests, &Vec3::zeros()), None, "feet rest at times");
        let apart: Vec<Vec3> = (0..20).map(|k| Vec3::z() * if k % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(belt(&apart, &Vec3::zeros()), None, "feet move in two directions");
        assert_eq!(belt(&[], &Vec3::zeros()), None);
    }
}
