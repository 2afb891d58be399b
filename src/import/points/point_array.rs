//! Positions of points by frame, from an array of any of the usual shapes.
//!
//! (frames, points, 3), the same with coordinates first or frames last, with a dimension of one, and flat rows. A fourth
//! coordinate is a confidence. Missing points are NaN. Units: those of the file.

use super::points_error::PointsError;
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

/// Where the sizes of an array are: frames, points, coordinates.
type Dimensions = [usize; 3];

/// The dimensions of an array of this shape, without those of one; `None` if it is none of positions.
fn dimensions(sizes: &[usize], layout: Option<&PointsLayout>) -> Option<Dimensions> {
    let points = |n: usize| match layout {
        Some(layout) => layout.points.len() == n,
        None => !PointsLayout::of_size(n).is_empty(),
    };
    let coordinates = |n: usize| n == 3 || n == 4;
    match *sizes {
        // Frames, points, coordinates; also where the number of points is not known, for the message.
        [_, _, c] if coordinates(c) && !(sizes[1] == 3 && points(sizes[0]) && !points(sizes[1])) => {
            Some([0, 1, 2])
        }
        [a, 3, c] if points(a) && !(points(c) && a != c && layout.is_none()) => Some([2, 0, 1]),
        [_, 3, c] if points(c) => Some([0, 2, 1]),
        _ => None,
    }
}

impl PointArray {
    /// The positions in an array.
    ///
    /// # Errors
    /// Another shape, no frames, infinite numbers.
    pub(super) fn new(array: &NpyArray, layout: Option<&PointsLayout>) -> Result<Self, PointsError> {
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
        let order = dimensions(&sizes, layout).filter(|_| sizes.iter().all(|n| *n > 0));
        let Some(order) = order else {
            return match sizes.contains(&0) {
                true => Err(PointsError::Array { reason: format!("the shape {} has no frames", found()) }),
                false => Err(PointsError::Shape { found: found() }),
            };
        };
        let strides = [sizes[1] * sizes[2], sizes[2], 1];
        let [frames, points, coordinates] = order.map(|d| sizes[d]);
        let at = |f: usize, k: usize, c: usize| {
            array.values[f * strides[order[0]] + k * strides[order[1]] + c * strides[order[2]]]
        };
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
            // A pelvis that is the origin of every frame is no gap.
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
    fn array(sizes: &[usize], order: Dimensions) -> NpyArray {
        let count: usize = sizes.iter().product();
        let value = |k: usize| {
            let index = [k / (sizes[1] * sizes[2]), k / sizes[2] % sizes[1], k % sizes[2]];
            (1 + index[order[0]]) as f64 * 1e4 + index[order[1]] as f64 * 10.0 + index[order[2]] as f64
        };
        NpyArray { shape: sizes.to_vec(), values: (0..count).map(value).collect() }
    }

    #[test]
    fn every_shape_gives_the_same_points() {
        let usual = PointArray::new(&array(&[5, 22, 3], [0, 1, 2]), None).unwrap();
        assert_eq!((usual.points, usual.frames()), (22, 5));
        assert_eq!(usual.positions[23], Vec3::new(20010.0, 20011.0, 20012.0));
        for (sizes, order) in [([22, 3, 5], [2, 0, 1]), ([5, 3, 22], [0, 2, 1])] {
            assert_eq!(PointArray::new(&array(&sizes, order), None).unwrap(), usual, "{sizes:?}");
        }
        let same = array(&[5, 22, 3], [0, 1, 2]);
        for other in [vec![1, 5, 22, 3], vec![5, 1, 22, 3], vec![5, 66]] {
            let array = NpyArray { shape: other.clone(), values: same.values.clone() };
            assert_eq!(PointArray::new(&array, None).unwrap(), usual, "{other:?}");
        }
        let square = array(&[22, 3, 22], [2, 0, 1]);
        assert_eq!(PointArray::new(&square, None).unwrap().positions[1].y, 10011.0);
    }

    #[test]
    fn other_shapes_and_numbers_are_refused() {
        let of =
            |sizes: &[usize]| NpyArray { shape: sizes.to_vec(), values: vec![1.0; sizes.iter().product()] };
        for sizes in [&[5, 22, 2][..], &[5], &[5, 7], &[0, 22, 3], &[5, 0, 3], &[2, 5, 22, 3], &[3]] {
            assert!(PointArray::new(&of(sizes), None).is_err(), "{sizes:?}");
        }
        let mut infinite = of(&[5, 22, 3]);
        infinite.values[70] = f64::INFINITY;
        assert_eq!(PointArray::new(&infinite, None), Err(PointsError::NotFinite { frame: 1, point: 1 }));
        let mut gap = of(&[5, 22, 4]);
        gap.values[4 * 23 + 3] = 0.1;
        gap.values[..3].fill(0.0);
        let gap = PointArray::new(&gap, None).unwrap();
        let missing: Vec<usize> = (0..110).filter(|k| gap.positions[*k].x.is_nan()).collect();
        assert_eq!(missing, [0, 23]);
    }
}
