//! The parts of a body that arms touch, as segments between its landmarks, and coordinates around them.
//!
//! Space: model space. Units: metres.

use super::landmarks::{BodyLengths, LandmarkPose};
use crate::math::{Real, RealX4, Triple, Vec3, difference, dot, scaled};

/// A part of the body that hands and arms are placed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchedPart {
    /// From the middle of the hip joints to the waist.
    LowTrunk,
    /// From the waist to the middle of the shoulders.
    HighTrunk,
    /// From the head joint upwards.
    Head,
    /// A thigh, left 0 and right 1.
    Thigh(usize),
    /// A shin, left 0 and right 1.
    Shin(usize),
}

/// All parts.
pub const TOUCHED_PARTS: [TouchedPart; 7] = {
    use TouchedPart::{Head, HighTrunk, LowTrunk, Shin, Thigh};
    [LowTrunk, HighTrunk, Head, Thigh(0), Thigh(1), Shin(0), Shin(1)]
};

/// The length of the head's segment over the distance of the head joint from the middle of the shoulders.
const HEAD_SEGMENT: f64 = 0.6;

impl TouchedPart {
    /// Its place in [`TOUCHED_PARTS`].
    pub fn index(self) -> usize {
        match self {
            TouchedPart::LowTrunk => 0,
            TouchedPart::HighTrunk => 1,
            TouchedPart::Head => 2,
            TouchedPart::Thigh(side) => 3 + side,
            TouchedPart::Shin(side) => 5 + side,
        }
    }

    /// Whether directions at it are kept in its own frame: trunks bend differently on two bodies, heads and legs have the
    /// source's rotation.
    pub fn bends(self) -> bool {
        matches!(self, TouchedPart::LowTrunk | TouchedPart::HighTrunk)
    }
}

/// The segment of a part in one frame, with axes around it.
#[derive(Clone, Copy, Debug)]
pub struct PartSegment {
    /// Its start.
    pub start: Vec3,
    /// From its start to its end.
    pub along: Vec3,
    /// Left, along the part (up for the head) and front (of legs, which point down: back): unit vectors.
    pub axes: [Vec3; 3],
    line: PartLine,
}

/// The part of `left` across a segment, along it, and front: unit vectors.
fn axes_along(along: &Vec3, left: &Vec3) -> [Vec3; 3] {
    let y = along / along.norm().max(1e-12);
    let x = left - y * y.dot(left);
    let x = x / x.norm().max(1e-12);
    [x, y, x.cross(&y)]
}

/// A point in the coordinates of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AroundSegment {
    /// The nearest point of the segment, 0 at its start to 1 at its end.
    pub share: f64,
    /// The unit vector from there to the point.
    pub direction: Vec3,
    /// The distance from there, metres.
    pub distance: f64,
}

/// The segment of a part in one frame, without axes.
#[derive(Clone, Copy, Debug)]
pub struct PartLine {
    start: Vec3,
    along: Vec3,
    inverse_square: f64,
}

impl PartLine {
    /// The segment of `part` of a body with these lengths.
    pub fn of(part: TouchedPart, pose: &LandmarkPose, lengths: &BodyLengths) -> PartLine {
        let (start, end) = match part {
            TouchedPart::LowTrunk => (pose.pelvis(), pose.waist),
            TouchedPart::HighTrunk => (pose.waist, pose.shoulders()),
            TouchedPart::Head => {
                let up = pose.head_axes * Vec3::y();
                return Self::new(pose.head, up * (HEAD_SEGMENT * lengths.neck));
            }
            TouchedPart::Thigh(k) => (pose.legs[k][0], pose.legs[k][1]),
            TouchedPart::Shin(k) => (pose.legs[k][1], pose.legs[k][2]),
        };
        Self::new(start, end - start)
    }

    fn new(start: Vec3, along: Vec3) -> PartLine {
        PartLine { start, along, inverse_square: 1.0 / along.norm_squared().max(1e-18) }
    }

    /// The square of `most` less that of the distance, of four points: not above 0 of those that are no nearer than `most`.
    #[inline(always)]
    pub fn squared_margin(&self, points: Triple<RealX4>, most: RealX4) -> RealX4 {
        /// More than the rounding of both sides.
        const NEARLY: f64 = 1.0 + 1e-9;
        let [start, along] = [self.start, self.along].map(|v| <[f64; 3]>::from(v).map(RealX4::splat));
        let [zero, less] = [0.0, -1.0].map(RealX4::splat);
        let off = difference(points, start);
        let share = (dot(off, along) * RealX4::splat(self.inverse_square)).max(zero);
        let off = difference(off, scaled(along, -(-share).max(less)));
        most * most * RealX4::splat(NEARLY) - dot(off, off)
    }

    /// The nearest of a point and others, in its coordinates.
    pub fn nearest(&self, point: Vec3, others: impl Iterator<Item = Vec3>) -> AroundSegment {
        let of = |point: Vec3| (self.off(&point).1.norm_squared(), point);
        let nearest = others.map(of).fold(of(point), |a, b| if b.0 < a.0 { b } else { a });
        self.around(&nearest.1)
    }

    /// The nearest point of the segment, 0 to 1, and the vector from there to a point.
    fn off(&self, point: &Vec3) -> (f64, Vec3) {
        let off = point - self.start;
        let share = (off.dot(&self.along) * self.inverse_square).clamp(0.0, 1.0);
        (share, off - self.along * share)
    }

    /// A point in its coordinates.
    pub fn around(&self, point: &Vec3) -> AroundSegment {
        let (share, off) = self.off(point);
        let distance = off.norm();
        AroundSegment { share, direction: off / distance.max(1e-12), distance }
    }
}

impl PartSegment {
    /// The segment without its axes.
    pub fn line(&self) -> &PartLine {
        &self.line
    }

    /// The segment of `part` of a body with these lengths.
    pub fn of(part: TouchedPart, pose: &LandmarkPose, lengths: &BodyLengths) -> PartSegment {
        let line = PartLine::of(part, pose, lengths);
        let axes = match part {
            TouchedPart::Head => [Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| pose.head_axes * axis),
            TouchedPart::HighTrunk => axes_along(&line.along, &(pose.arms[0][0] - pose.arms[1][0])),
            TouchedPart::LowTrunk => axes_along(&line.along, &(pose.legs[0][0] - pose.legs[1][0])),
            TouchedPart::Thigh(k) | TouchedPart::Shin(k) => axes_along(&line.along, &pose.thigh_left[k]),
        };
        PartSegment { start: line.start, along: line.along, axes, line }
    }

    /// A point in its coordinates.
    pub fn around(&self, point: &Vec3) -> AroundSegment {
        self.line.around(point)
    }

    /// The components of a direction along its axes.
    pub fn components(&self, direction: &Vec3) -> Vec3 {
        Vec3::from(self.axes.map(|axis| axis.dot(direction)))
    }

    /// The direction with these components.
    pub fn direction(&self, components: &Vec3) -> Vec3 {
        self.axes[0] * components.x + self.axes[1] * components.y + self.axes[2] * components.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, angle_between, exp};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn near_points_are_among_those_that_may_be(
            ends in prop::array::uniform6(-1.0..1.0f64), at in prop::array::uniform12(-2.0..2.0f64), most in 0.0..3.0f64,
        ) {
            let [a, b, c, d, e, f] = ends;
            let line = PartLine::new(Vec3::new(a, b, c), Vec3::new(d, e, f));
            let lanes = [0, 1, 2].map(|c| RealX4::from_lanes(|lane| at[4 * c + lane]));
            let squared_margin = line.squared_margin(lanes, RealX4::splat(most));
            for lane in 0..4 {
                let distance = line.around(&Vec3::new(at[lane], at[4 + lane], at[8 + lane])).distance;
                prop_assert_eq!(squared_margin.lane(lane) > 0.0, distance < most, "{} {}", distance, most);
                prop_assert!(line.squared_margin(lanes, RealX4::splat(distance.next_up())).lane(lane) > 0.0);
            }
        }
    }

    #[test]
    fn axes_of_every_part_are_left_along_and_front_of_the_body_however_it_faces() {
        let limb = |x: f64, heights: [f64; 3]| heights.map(|y| Vec3::new(x, y, 0.0));
        let standing = LandmarkPose {
            thigh_left: [Vec3::x(); 2],
            legs: [0.1, -0.1].map(|x| limb(x, [0.9, 0.5, 0.1])),
            arms: [0.2, -0.2].map(|x| limb(x, [1.4, 1.1, 0.8])),
            hands: [Quat::identity(); 2],
            waist: Vec3::new(0.0, 1.1, 0.02),
            head: Vec3::new(0.0, 1.5, 0.03),
            head_axes: Quat::identity(),
        };
        let lengths = BodyLengths {
            upper_arm: 0.3,
            forearm: 0.3,
            thigh: 0.4,
            shin: 0.4,
            low_trunk: 0.2,
            high_trunk: 0.3,
            hips: 0.2,
            shoulders: 0.4,
            neck: 0.15,
        };
        for heading in [0.0, 1.0, 2.5] {
            let q = exp(&(Vec3::y() * heading));
            let turned = |limbs: [[Vec3; 3]; 2]| limbs.map(|limb| limb.map(|p| q * p));
            let pose = LandmarkPose {
                legs: turned(standing.legs),
                thigh_left: standing.thigh_left.map(|v| q * v),
                arms: turned(standing.arms),
                hands: [q; 2],
                waist: q * standing.waist,
                head: q * standing.head,
                head_axes: q,
            };
            for part in TOUCHED_PARTS {
                let segment = PartSegment::of(part, &pose, &lengths);
                // Thighs and shins point down, so that their third axis points back.
                let along = segment.along.normalize();
                let down = along.y < 0.0;
                let front = q * Vec3::z() * if down { -1.0 } else { 1.0 };
                let expected = [q * Vec3::x(), along, front];
                for (axis, expected) in segment.axes.iter().zip(expected) {
                    assert!(angle_between(axis, &expected) < 0.15, "{part:?}, {heading}: {axis} {expected}");
                }
                let direction = Vec3::new(0.6, 0.0, 0.8);
                assert!((segment.components(&segment.direction(&direction)) - direction).norm() < 1e-9);
            }
        }
    }
}
