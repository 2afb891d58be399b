//! Positions of points by frame, from an array of any of the usual shapes.
//!
//! (frames, points, 3), the same with coordinates first or frames last, with a dimension of one or of people, and flat rows. A fourth
//! coordinate is a confidence. Missing points are NaN. Units: those of the file.

use super::points_error::PointsError;
use super::several_people::chosen_person;
use crate::anatomy::PointsLayout;
use crate::import::npz::{NpyArray, shape};
use crate::math::Vec3;

/// Confidence below which a point is missing, as in trackers' own examples.
pub(super) const CONFIDENT: f64 = 0.3;
/// Largest coordinate that is read, in units of the file: half the circumference of the earth in millimetres.
const FARTHEST: f64 = 2e10;

/// Positions, frame by frame.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PointArray {
    /// Points per frame.
    pub(super) points: usize,
    pub(super) positions: Vec<Vec3>,
}

/// Which dimensions of an array are frames, points, coordinates and, where there are, people or samples.
#[derive(Clone, Copy, Debug)]
struct Dimensions {
    order: [usize; 3],
    people: Option<usize>,
}

/// The dimensions of an array of this shape, without those of one; `None` if it is none of positions.
fn dimensions(sizes: &[usize], layout: Option<&PointsLayout>) -> Option<Dimensions> {
    let points = |n: usize| match layout {
        Some(layout) => layout.points.len() == n,
        None => !PointsLayout::of_size(n).is_empty(),
    };
    let coordinates = |n: usize| n == 3 || n == 4;
    let (order, people) = match *sizes {
        // Frames, points, coordinates; also where the number of points is not known, for the message.
        [_, _, c] if coordinates(c) && !(sizes[1] == 3 && points(sizes[0]) && !points(sizes[1])) => {
            ([0, 1, 2], None)
        }
        [a, 3, c] if points(a) && !(points(c) && a != c && layout.is_none()) => ([2, 0, 1], None),
        [_, 3, c] if points(c) => ([0, 2, 1], None),
        // Samples of a motion model: samples, points, coordinates, frames.
        [_, n, 3, f] if points(n) && f != 3 => ([3, 1, 2], Some(0)),
        // Of people and frames the fewer are the people.
        [a, b, n, c] if coordinates(c) && n > 4 => {
            let people = usize::from(b < a);
            ([1 - people, 2, 3], Some(people))
        }
        // As data sets of actions have it: coordinates, frames, points, people.
        [3, _, n, _] if points(n) => ([1, 2, 0], Some(3)),
        _ => return None,
    };
    Some(Dimensions { order, people })
}

impl PointArray {
    /// The positions in an array: of the `person`, if there are several.
    ///
    /// # Errors
    /// Another shape, no frames, infinite numbers; several people without a choice.
    pub(super) fn new(
        array: &NpyArray,
        layout: Option<&PointsLayout>,
        person: Option<usize>,
    ) -> Result<Self, PointsError> {
        let found = || shape(&array.shape);
        let mut sizes: Vec<usize> = array.shape.clone();
        if sizes.len() == 4 {
            // One person, before or after the frames.
            if let Some(one) = sizes[..2].iter().position(|n| *n == 1) {
                sizes.remove(one);
            }
        }
        if let [frames, width] = sizes[..]
            && width.is_multiple_of(3)
            && width > 3
        {
            sizes = vec![frames, width / 3, 3];
        }
        let found_dimensions = dimensions(&sizes, layout).filter(|_| sizes.iter().all(|n| *n > 0));
        let Some(Dimensions { order, people }) = found_dimensions else {
            return match sizes.contains(&0) {
                true => Err(PointsError::Array { reason: format!("the shape {} has no frames", found()) }),
                false => Err(PointsError::Shape { found: found() }),
            };
        };
        let stride = |dimension: usize| sizes[dimension + 1..].iter().product::<usize>();
        let [frames, points, coordinates] = order.map(|d| sizes[d]);
        let strides = order.map(stride);
        let value = |first: usize, f: usize, k: usize, c: usize| {
            array.values[first + f * strides[0] + k * strides[1] + c * strides[2]]
        };
        let firsts: Vec<usize> =
            people.map_or_else(|| vec![0], |people| (0..sizes[people]).map(|n| n * stride(people)).collect());
        let has_points = |first: usize, f: usize| {
            let known = |k: usize| {
                let p = [0, 1, 2].map(|c| value(first, f, k, c));
                p != [0.0; 3] && p.iter().all(|x| !x.is_nan())
            };
            (0..points).any(known)
        };
        let seen: Vec<usize> =
            firsts.iter().map(|first| (0..frames).filter(|f| has_points(*first, *f)).count()).collect();
        let first = firsts[chosen_person(&seen, frames, person)?];
        let at = |f: usize, k: usize, c: usize| value(first, f, k, c);
        let position = |f: usize, k: usize| {
            let known = coordinates == 3 || at(f, k, 3) >= CONFIDENT;
            if known { Vec3::new(at(f, k, 0), at(f, k, 1), at(f, k, 2)) } else { Vec3::repeat(f64::NAN) }
        };
        let positions = (0..frames).flat_map(|f| (0..points).map(move |k| (f, k)));
        Self { points, positions: positions.map(|(f, k)| position(f, k)).collect() }.checked()
    }

    /// The array with points at exactly zero as gaps, if all is finite.
    ///
    /// # Errors
    /// Infinite and absurd numbers.
    pub(super) fn checked(mut self) -> Result<Self, PointsError> {
        let bad = |p: &Vec3| p.iter().any(|x| x.is_infinite() || x.abs() > FARTHEST);
        if let Some(k) = self.positions.iter().position(bad) {
            return Err(PointsError::NotFinite { frame: k / self.points, point: k % self.points });
        }
        for point in 0..self.points {
            let zero = |p: &Vec3| *p == Vec3::zeros();
            let track = || self.positions.iter().skip(point).step_by(self.points);
            // A pelvis that is the origin of every frame is no gap; which point it is the layout tells.
            if track().any(zero) && !track().all(|p| zero(p) || p.x.is_nan()) {
                let track = self.positions.iter_mut().skip(point).step_by(self.points);
                track.filter(|p| zero(p)).for_each(|p| *p = Vec3::repeat(f64::NAN));
            }
        }
        Ok(self)
    }

    /// The number of frames.
    pub(super) fn frames(&self) -> usize {
        self.positions.len() / self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that tell frame, point and coordinate.
    fn array(sizes: &[usize], order: [usize; 3]) -> NpyArray {
        let count: usize = sizes.iter().product();
        let value = |k: usize| {
            let index = [k / (sizes[1] * sizes[2]), k / sizes[2] % sizes[1], k % sizes[2]];
            (1 + index[order[0]]) as f64 * 1e4 + index[order[1]] as f64 * 10.0 + index[order[2]] as f64
        };
        NpyArray { shape: sizes.to_vec(), values: (0..count).map(value).collect() }
    }

    #[test]
    fn every_shape_gives_the_same_points() {
        let usual = PointArray::new(&array(&[5, 22, 3], [0, 1, 2]), None, None).unwrap();
        assert_eq!((usual.points, usual.frames()), (22, 5));
        assert_eq!(usual.positions[23], Vec3::new(20010.0, 20011.0, 20012.0));
        for (sizes, order) in [([22, 3, 5], [2, 0, 1]), ([5, 3, 22], [0, 2, 1])] {
            assert_eq!(PointArray::new(&array(&sizes, order), None, None).unwrap(), usual, "{sizes:?}");
        }
        let same = array(&[5, 22, 3], [0, 1, 2]);
        for other in [vec![1, 5, 22, 3], vec![5, 1, 22, 3], vec![5, 66]] {
            let array = NpyArray { shape: other.clone(), values: same.values.clone() };
            assert_eq!(PointArray::new(&array, None, None).unwrap(), usual, "{other:?}");
        }
        let square = array(&[22, 3, 22], [2, 0, 1]);
        assert_eq!(PointArray::new(&square, None, None).unwrap().positions[1].y, 10011.0);
    }

    #[test]
    fn one_of_several_people_is_chosen() {
        // Coordinates tell person, frame and point.
        let of = |sizes: [usize; 4], meaning: [usize; 4]| {
            let index = |mut k: usize| {
                let mut index = [0; 4];
                for d in (0..4).rev() {
                    (index[d], k) = (k % sizes[d], k / sizes[d]);
                }
                meaning.map(|d| index[d])
            };
            let value = |k: usize| {
                let [person, f, point, c] = index(k);
                (1 + person) as f64 * 1e6 + f as f64 * 1e4 + point as f64 * 10.0 + c as f64
            };
            NpyArray { shape: sizes.to_vec(), values: (0..sizes.iter().product()).map(value).collect() }
        };
        for (sizes, meaning) in [
            ([2, 5, 22, 3], [0, 1, 2, 3]),
            ([5, 2, 22, 3], [1, 0, 2, 3]),
            ([2, 22, 3, 5], [0, 3, 1, 2]),
            ([3, 5, 22, 2], [3, 1, 2, 0]),
        ] {
            let array = of(sizes, meaning);
            let second = PointArray::new(&array, None, Some(1)).unwrap();
            assert_eq!((second.points, second.frames()), (22, 5), "{sizes:?}");
            assert_eq!(second.positions[23], Vec3::new(2_010_010.0, 2_010_011.0, 2_010_012.0), "{sizes:?}");
            let said = PointArray::new(&array, None, None).unwrap_err().to_string();
            assert!(said.contains("0 in 5 of 5 frames, 1 in 5 of 5 frames"), "{said}");
            assert!(said.contains("input.points.person=0"), "{said}");
            let said = PointArray::new(&array, None, Some(2)).unwrap_err().to_string();
            assert!(said.contains("no person 2"), "{said}");
        }
        // Without points of the first one the second is the only person; a single one is number 0.
        let mut array = of([2, 5, 22, 3], [0, 1, 2, 3]);
        let alone = PointArray::new(&array, None, Some(1)).unwrap();
        array.values[..5 * 66].fill(0.0);
        assert_eq!(PointArray::new(&array, None, None).unwrap(), alone);
        let single = NpyArray { shape: vec![5, 22, 3], values: array.values[5 * 66..].to_vec() };
        assert_eq!(PointArray::new(&single, None, Some(0)).unwrap(), alone);
        assert!(PointArray::new(&single, None, Some(1)).is_err());
    }

    #[test]
    fn other_shapes_and_numbers_are_refused() {
        let of =
            |sizes: &[usize]| NpyArray { shape: sizes.to_vec(), values: vec![1.0; sizes.iter().product()] };
        for sizes in [&[5, 22, 2][..], &[5], &[5, 7], &[0, 22, 3], &[5, 0, 3], &[2, 5, 22, 3], &[3]] {
            assert!(PointArray::new(&of(sizes), None, None).is_err(), "{sizes:?}");
        }
        let mut infinite = of(&[5, 22, 3]);
        infinite.values[70] = f64::INFINITY;
        assert_eq!(
            PointArray::new(&infinite, None, None),
            Err(PointsError::NotFinite { frame: 1, point: 1 })
        );
        let mut gap = of(&[5, 22, 4]);
        gap.values[4 * 23 + 3] = 0.1;
        gap.values[..3].fill(0.0);
        let gap = PointArray::new(&gap, None, None).unwrap();
        let missing: Vec<usize> = (0..110).filter(|k| gap.positions[*k].x.is_nan()).collect();
        assert_eq!(missing, [0, 23]);
    }
}
