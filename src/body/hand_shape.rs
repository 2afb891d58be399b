//! The skin of a hand about its two points, palm and fingers, as its outermost points in 26 directions.
//!
//! The extent in a direction is that of the outermost of them: thin through the palm, wide across it, with the thumb on its own side.
//! The directions are those of the hand, not of its joint's axes, which any tool may choose. Fingers are as in the reference pose.
//! Space: joint space of the hand. Units: metres.

use super::surface_samples::principal;
use crate::math::{Mat3, Vec3};

/// The directions from the middle of a cube to its faces, edges and corners: between two of them an extent is at most a twentieth
/// too small.
const DIRECTIONS: usize = 26;
/// The part of the skin that may lie beyond its extent: rings and seams.
const BEYOND: f64 = 0.02;
/// Points are level that differ by less than this, over the size of the hand: far above rounding, far below a finger.
const LEVEL: f64 = 1e-6;
/// The fewest samples that have a shape.
const FEW: usize = 12;

/// The shape of a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct HandShape {
    /// The outermost skin about palm and fingers, from there.
    outermost: [[Vec3; DIRECTIONS]; 2],
    /// What is added in every direction.
    radius: f64,
    /// The largest extent.
    largest: f64,
}

/// The directions of a cube with these axes. A change of sign of an axis changes their order alone.
fn directions(axes: &Mat3<f64>) -> impl Iterator<Item = Vec3> {
    let all = (0..27)
        .map(|k| Vec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) - Vec3::repeat(1.0));
    all.filter(|d| *d != Vec3::zeros()).map(move |d| axes * d.normalize())
}

/// The axes of a hand, as columns: along its points, across the palm, where its skin is widest, and through the palm.
fn axes(skin: &[(Vec3, f64)], points: &[Vec3; 2]) -> Mat3<f64> {
    let Some(along) = (points[1] - points[0]).try_normalize(1e-9) else { return Mat3::identity() };
    let [across, through] = principal(skin.iter().copied(), &along);
    Mat3::from_columns(&[along, across, through])
}

impl HandShape {
    /// Two balls.
    pub fn round(radius: f64) -> HandShape {
        HandShape { outermost: [[Vec3::zeros(); DIRECTIONS]; 2], radius, largest: radius }
    }

    /// The shape of this skin: offsets from the wrist in joint space with areas, about palm and fingers at `points`; balls of
    /// `radius` where there is too little of it.
    pub fn of(skin: &[(Vec3, f64)], points: &[Vec3; 2], radius: f64) -> HandShape {
        let middle = (points[0] + points[1]) * 0.5;
        let beyond = |at: &Vec3| usize::from((at - middle).dot(&(points[1] - points[0])) > 0.0);
        let parts = [0, 1].map(|k| {
            let part = skin.iter().filter(|(at, _)| beyond(at) == k);
            part.map(|(at, area)| (at - points[k], *area)).collect::<Vec<_>>()
        });
        if parts.iter().map(Vec::len).sum::<usize>() < FEW {
            return HandShape::round(radius);
        }
        let axes = axes(skin, points);
        let outermost = parts.map(|part| {
            let mut found = [Vec3::zeros(); DIRECTIONS];
            found
                .iter_mut()
                .zip(directions(&axes))
                .for_each(|(at, direction)| *at = outermost(&part, &direction));
            found
        });
        let largest = outermost.iter().flatten().map(|p| p.norm()).fold(0.0, f64::max);
        HandShape { outermost, radius: 0.0, largest }
    }

    /// The shape `factor` times as large.
    pub fn scaled(&self, factor: f64) -> HandShape {
        HandShape {
            outermost: self.outermost.map(|part| part.map(|p| p * factor)),
            radius: self.radius * factor,
            largest: self.largest * factor,
        }
    }

    /// The extent of palm (0) or fingers (1) in a direction of the hand's joint space, metres.
    pub fn extent(&self, point: usize, direction: &Vec3) -> f64 {
        self.outermost[point].iter().map(|p| p.dot(direction)).fold(0.0, f64::max) + self.radius
    }

    /// The outermost skin about palm (0) or fingers (1), from there, in the hand's joint space, metres.
    pub fn outermost(&self, point: usize) -> &[Vec3] {
        &self.outermost[point]
    }

    /// What is added in every direction, metres.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// At least the largest extent, metres.
    pub fn largest(&self) -> f64 {
        self.largest
    }
}

/// The middle of the skin that is farthest in a direction, without the little of it that is beyond: of a flat side its middle, so
/// that rounding does not choose one of its points.
fn outermost(skin: &[(Vec3, f64)], direction: &Vec3) -> Vec3 {
    let mut sorted: Vec<(f64, f64, Vec3)> =
        skin.iter().map(|(at, area)| (at.dot(direction), *area, *at)).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let left = BEYOND * (1.0 - LEVEL) * skin.iter().map(|s| s.1).sum::<f64>();
    let mut sum = 0.0;
    let found = sorted.iter().find(|(_, area, _)| {
        sum += area;
        sum >= left
    });
    let Some(height) = found.map(|s| s.0) else { return Vec3::zeros() };
    let size = skin.iter().map(|s| s.0.norm()).fold(0.0, f64::max);
    let level = sorted.iter().filter(|s| (s.0 - height).abs() <= LEVEL * size);
    let (middle, area) = level.fold((Vec3::zeros(), 0.0), |(m, a), s| (m + s.2 * s.1, a + s.1));
    middle / area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_reaches_as_far_as_its_skin_on_every_side() {
        // A flat box with a thumb to one side, wrist at zero, fingers along x.
        let mut skin = Vec::new();
        for i in 0..40 {
            for j in -10..=10 {
                for z in [-0.01, 0.01] {
                    skin.push((Vec3::new(0.005 * f64::from(i), 0.004 * f64::from(j), z), 1.0));
                }
            }
        }
        skin.extend((0..60).map(|k| (Vec3::new(0.05, 0.04 + 0.0005 * f64::from(k), 0.0), 5.0)));
        let points = [Vec3::x() * 0.07, Vec3::x() * 0.15];
        let hand = HandShape::of(&skin, &points, 0.1);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 0.006, "{a} {b}");
        for point in 0..2 {
            near(hand.extent(point, &Vec3::z()), 0.01);
            near(hand.extent(point, &-Vec3::y()), 0.04);
        }
        near(hand.extent(0, &Vec3::y()), 0.07);
        near(hand.extent(1, &Vec3::y()), 0.04);
        near(hand.extent(1, &Vec3::x()), 0.045);
        near(hand.scaled(2.0).extent(1, &Vec3::x()), 0.09);
        assert_eq!(HandShape::of(&skin[..5], &points, 0.02), HandShape::round(0.02));
        assert!(hand.largest() >= hand.extent(0, &Vec3::y()));
        assert_eq!(HandShape::round(0.02).extent(1, &Vec3::y()), 0.02);
    }

    #[test]
    fn a_hand_is_as_large_whatever_the_axes_of_its_joint() {
        // A palm with a thumb, all in general directions.
        let mut skin: Vec<(Vec3, f64)> = (0..400_i32)
            .map(f64::from)
            .map(|k| Vec3::new(0.0004 * k, 0.03 * libm::cos(2.0 * k), 0.01 * libm::sin(2.0 * k)))
            .map(|at| (at, 1.0 + at.x))
            .collect();
        skin.extend((0..60).map(|k| (Vec3::new(0.05, 0.04 + 0.0005 * f64::from(k), 0.01), 2.0)));
        let points = [Vec3::new(0.07, 0.001, 0.0), Vec3::new(0.15, 0.002, -0.01)];
        let hand = HandShape::of(&skin, &points, 0.1);
        for k in 0..20 {
            let axis = Vec3::new(libm::sin(f64::from(k)), libm::cos(2.0 * f64::from(k)), 0.3 * f64::from(k));
            let turn = crate::math::exp(&(axis * 0.7));
            let turned: Vec<(Vec3, f64)> = skin.iter().map(|(at, area)| (turn * at, *area)).collect();
            let other = HandShape::of(&turned, &points.map(|p| turn * p), 0.1);
            for direction in directions(&Mat3::identity()) {
                let [a, b] = [hand.extent(1, &direction), other.extent(1, &(turn * direction))];
                assert!((a - b).abs() < 1e-9, "{k} {direction:?}: {a} {b}");
            }
        }
    }
}
