//! Ground that is not one level: planes under the stances of the feet.
//!
//! Space: model space, Y up. Units: metres; slopes in metres per metre.

use super::{ContactPart, Side};
use crate::math::{Vec3, smoothstep};
use std::ops::Range;

/// The plane under a stance: a point of it and its slope along X and Z.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GroundPlane {
    pub through: Vec3,
    pub slope: [f64; 2],
}

impl GroundPlane {
    /// Its height at a point.
    pub fn height(&self, p: &Vec3) -> f64 {
        self.through.y + self.slope[0] * (p.x - self.through.x) + self.slope[1] * (p.z - self.through.z)
    }
}

/// The ground under the feet of a motion, above that of its lowest stance.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct UnevenGround {
    /// The planes under the stances of each side, ascending; at least one each.
    planes: [Vec<(Range<usize>, GroundPlane)>; 2],
    /// Height of the ground under the lowest stance.
    pub base: f64,
    /// The same above the height of the take that other bodies have at height 0: 0 or less.
    pub lowest: f64,
    /// How far below its last plane the ground may be where a foot goes on to a step on which it does not stand within the take; 0
    /// on a ramp, which goes on.
    pub beyond: f64,
}

impl UnevenGround {
    /// The ground of these planes under the stances of the left and the right foot, of which the lowest is at height `base` and
    /// `zero` will be height 0, `beyond` as in the field; `None` if a foot has none.
    pub fn new(
        mut planes: [Vec<(Range<usize>, GroundPlane)>; 2],
        base: f64,
        zero: f64,
        beyond: f64,
    ) -> Option<UnevenGround> {
        planes.iter_mut().flatten().for_each(|(_, plane)| plane.through.y -= base);
        let stands = planes.iter().all(|own| !own.is_empty());
        stands.then_some(UnevenGround { planes, base, lowest: (base - zero).min(0.0), beyond })
    }

    /// The plane of a ramp, on which all stances are; `None` of other ground.
    pub fn plane(&self) -> Option<GroundPlane> {
        let mut planes = self.planes.iter().flatten().map(|(_, plane)| plane);
        let first = planes.next()?;
        planes.all(|plane| plane == first).then_some(*first)
    }

    /// The height of the ground at a point under a part of the body: under a foot the lower one of two planes while it is between
    /// them, under other parts the lower one of both feet's.
    pub fn under(&self, part: ContactPart, frame: usize, at: &Vec3) -> f64 {
        match part.side().filter(|_| part.of_foot()) {
            Some(side) => self.height(side, frame, at),
            None => {
                Side::BOTH.map(|side| self.height(side, frame, at)).into_iter().fold(f64::INFINITY, f64::min)
            }
        }
    }

    /// The same under the foot of a side.
    pub fn height(&self, side: Side, frame: usize, at: &Vec3) -> f64 {
        let (before, after, _) = self.around(side, frame);
        let planes = &self.planes[side.index()];
        let within = planes[0].0.start <= frame && frame < planes[planes.len() - 1].0.end;
        before.height(at).min(after.height(at)) - if within { 0.0 } else { self.beyond }
    }

    /// The direction away from the ground under the foot of a side in a frame, which changes while the foot is in the air.
    pub fn up(&self, side: Side, frame: usize) -> Vec3 {
        let (before, after, share) = self.around(side, frame);
        let slope = [0, 1].map(|k| before.slope[k] + share * (after.slope[k] - before.slope[k]));
        Vec3::new(-slope[0], 1.0, -slope[1]).normalize()
    }

    /// The planes before and after a frame, and how far it is from the first to the second.
    fn around(&self, side: Side, frame: usize) -> (&GroundPlane, &GroundPlane, f64) {
        let planes = &self.planes[side.index()];
        let next = planes.partition_point(|(frames, _)| frames.end <= frame);
        let last = planes.len() - 1;
        let (after, before) = (&planes[next.min(last)], &planes[next.saturating_sub(1)]);
        if next > last || next == 0 || after.0.contains(&frame) {
            return (&after.1, &after.1, 0.0);
        }
        let (start, end) = (before.0.end as f64 - 1.0, after.0.start as f64);
        (&before.1, &after.1, smoothstep((frame as f64 - start) / (end - start)))
    }

    /// The ground of a body that is larger by this factor, and of another time.
    pub fn changed(&self, frame: impl Fn(usize) -> usize, scale: f64) -> UnevenGround {
        let change = |(frames, plane): &(Range<usize>, GroundPlane)| {
            (frame(frames.start)..frame(frames.end), GroundPlane { through: plane.through * scale, ..*plane })
        };
        let planes = self.planes.each_ref().map(|own| own.iter().map(change).collect());
        UnevenGround {
            planes,
            base: self.base * scale,
            lowest: self.lowest * scale,
            beyond: self.beyond * scale,
        }
    }

    /// The ground of the mirrored motion.
    pub fn mirrored(&self) -> UnevenGround {
        let mirror = |(frames, plane): &(Range<usize>, GroundPlane)| {
            let through = Vec3::new(-plane.through.x, plane.through.y, plane.through.z);
            (frames.clone(), GroundPlane { through, slope: [-plane.slope[0], plane.slope[1]] })
        };
        let [left, right] = self.planes.each_ref().map(|own| own.iter().map(mirror).collect());
        UnevenGround { planes: [right, left], base: self.base, lowest: self.lowest, beyond: self.beyond }
    }
}
