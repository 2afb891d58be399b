//! Reads the local rotations of an archive: quaternions, matrices or six numbers, in the order that fits the positions of joints
//! that the archive holds beside them.
//!
//! Positions and rotations are compared by the distances between joints, which no move or rotation of the whole body changes.

use super::npy_array::NpyArray;
use super::npz_error::NpzError;
use super::six_numbers::SixNumbers;
use crate::math::{Mat3, Quat, RawQuat, Vec3, median_of, nearest_rotation};
use crate::report::Warnings;

/// How a row of numbers is a rotation.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RotationOrder {
    /// A quaternion, its scalar first.
    ScalarFirst,
    /// A quaternion, its scalar last.
    ScalarLast,
    /// A matrix, row by row.
    Rows,
    /// A matrix, column by column: transposed.
    Columns,
    /// Two columns or rows of a matrix.
    Six(SixNumbers),
}

use RotationOrder::{Columns, Rows, ScalarFirst, ScalarLast, Six};

impl RotationOrder {
    /// The order of the numbers of a quaternion: the largest one of small rotations is the scalar.
    pub(super) fn of_quaternions(array: &NpyArray) -> Self {
        let (first, last) = array
            .values
            .chunks_exact(4)
            .fold((0.0, 0.0), |(first, last), v| (first + v[0] * v[0], last + v[3] * v[3]));
        if first > last { ScalarFirst } else { ScalarLast }
    }

    /// The numbers of a rotation.
    fn width(self) -> usize {
        match self {
            ScalarFirst | ScalarLast => 4,
            Rows | Columns => 9,
            Six(_) => 6,
        }
    }

    /// The rotation that numbers mean; `None` where they are none.
    fn rotation(self, v: &[f64]) -> Option<Quat> {
        let quaternion =
            |q: RawQuat| (q.norm() > 1e-6 && q.norm().is_finite()).then(|| Quat::new_normalize(q));
        let matrix = || {
            let nearest = nearest_rotation(&Mat3::from_row_slice(v));
            nearest.filter(|(_, mirrored)| !mirrored).map(|(q, _)| q)
        };
        match self {
            ScalarFirst => quaternion(RawQuat::new(v[0], v[1], v[2], v[3])),
            ScalarLast => quaternion(RawQuat::new(v[3], v[0], v[1], v[2])),
            Rows => matrix(),
            Columns => matrix().map(|q| q.inverse()),
            Six(order) => order.rotation(v),
        }
    }

    /// The orders of as many numbers.
    fn alternatives(self) -> &'static [Self] {
        match self {
            ScalarFirst | ScalarLast => &[ScalarFirst, ScalarLast],
            Rows | Columns => &[Rows, Columns],
            Six(_) => &[Six(SixNumbers::Interleaved), Six(SixNumbers::Columns), Six(SixNumbers::Rows)],
        }
    }

    /// The order, for a message.
    pub(super) fn said(self) -> &'static str {
        match self {
            ScalarFirst => "quaternions are read as w, x, y, z",
            ScalarLast => "quaternions are read as x, y, z, w",
            Rows => "matrices are read row by row",
            Columns => "matrices are read transposed, column by column",
            Six(SixNumbers::Interleaved) => "six numbers are read as two columns of a matrix, row by row",
            Six(SixNumbers::Columns) => {
                "six numbers are read as two columns of a matrix, one after the other"
            }
            Six(SixNumbers::Rows) => "six numbers are read as two rows of a matrix, one after the other",
        }
    }

    /// The rotations of an array of so many frames.
    ///
    /// # Errors
    /// Numbers that are no rotation.
    pub(super) fn rotations(
        self,
        name: &str,
        array: &NpyArray,
        frames: usize,
    ) -> Result<Vec<Quat>, NpzError> {
        let width = self.width();
        let mut found = Vec::with_capacity(array.values.len() / width);
        for (k, row) in array.values.chunks_exact(width).enumerate() {
            let row_of_frame = || k * frames * width / array.values.len();
            let fault = || NpzError::NotFinite { array: name.to_owned(), row: row_of_frame() };
            found.push(self.rotation(row).ok_or_else(fault)?);
        }
        Ok(found)
    }
}

/// Frames in which rotations and positions are compared.
const SAMPLES: usize = 16;
/// Joints between which distances are compared at most.
const MOST_JOINTS: usize = 64;
/// Difference of the distances up to which rotations and positions fit, as a share of the distances.
const FITS: f64 = 0.02;
/// Another order must have so small a share of the difference. Of a captured walk, wrong orders differ by 42 to 65 % of the distances, the
/// right one by rounding.
const CLEARLY: f64 = 0.25;
/// Difference of the distances beyond which it is reported, as a share of them: positions of a model may differ from its
/// rotations by a few percent.
const APART: f64 = 0.1;

/// The positions of joints that an archive holds beside their rotations.
pub(super) struct HeldPositions<'a> {
    pub(super) parents: &'a [Option<usize>],
    /// Rest offsets; `None`: those that rotations and positions give.
    pub(super) offsets: Option<&'a [Vec3]>,
    /// Positions in space, frame by frame.
    pub(super) positions: &'a [Vec3],
}

impl HeldPositions<'_> {
    /// The order of numbers with which the rotations fit the positions: `usual`, unless another one fits clearly better.
    pub(super) fn order(
        &self,
        usual: RotationOrder,
        array: &NpyArray,
        place: &str,
        warnings: &mut Warnings,
    ) -> RotationOrder {
        let misfit = |order: RotationOrder| self.misfit(order, array).unwrap_or(f64::INFINITY);
        let by_usual = misfit(usual);
        if by_usual < FITS {
            return usual;
        }
        let others = usual.alternatives().iter().filter(|order| **order != usual);
        let others = others.map(|order| (*order, misfit(*order)));
        match others.min_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((other, by_other)) if by_other < CLEARLY * by_usual && by_other < APART => {
                let said = format!("{}, which the positions in the archive show", other.said());
                warnings.add("npz-rotation-order", said, place);
                other
            }
            _ => {
                if by_usual > APART {
                    let said = "the rotations in the archive do not give the positions in it: rest offsets in another unit, rotations \
                                that are not local, or another skeleton; the rotations are read";
                    warnings.add("npz-positions", said, place);
                }
                usual
            }
        }
    }

    /// The root mean square difference between distances of joints by rotations and by positions, as a share of the latter; `None`
    /// where rows are no rotations.
    fn misfit(&self, order: RotationOrder, array: &NpyArray) -> Option<f64> {
        let (joints, width) = (self.parents.len(), order.width());
        let frames = self.positions.len() / joints;
        let (mut rotations, mut positions) = (Vec::new(), Vec::new());
        for frame in (0..frames).step_by(frames.div_ceil(SAMPLES)) {
            let rows = &array.values[frame * joints * width..][..joints * width];
            for row in rows.chunks_exact(width) {
                rotations.push(order.rotation(row)?);
            }
            positions.extend_from_slice(&self.positions[frame * joints..][..joints]);
        }
        let estimated;
        let offsets = match self.offsets {
            Some(offsets) => offsets,
            None => {
                estimated = median_offsets(self.parents, &rotations, &positions);
                &estimated
            }
        };
        let (mut difference, mut size) = (0.0, 0.0);
        for (local, held) in rotations.chunks_exact(joints).zip(positions.chunks_exact(joints)) {
            let found = posed(self.parents, offsets, local);
            for a in (0..joints).step_by(joints.div_ceil(MOST_JOINTS)) {
                for b in (0..a).step_by(joints.div_ceil(MOST_JOINTS)) {
                    let (found, held) = ((found[a] - found[b]).norm(), (held[a] - held[b]).norm());
                    difference += (found - held) * (found - held);
                    size += held * held;
                }
            }
        }
        Some(if size > 0.0 { (difference / size).sqrt() } else { 0.0 })
    }
}

/// The positions of joints with these local rotations, the root at the origin.
fn posed(parents: &[Option<usize>], offsets: &[Vec3], local: &[Quat]) -> Vec<Vec3> {
    let mut found: Vec<(Quat, Vec3)> = Vec::with_capacity(local.len());
    for ((parent, offset), local) in parents.iter().zip(offsets).zip(local) {
        found.push(match parent.map(|p| found[p]) {
            Some((rotation, at)) => (rotation * local, at + rotation * offset),
            None => (*local, Vec3::zeros()),
        });
    }
    found.into_iter().map(|(_, at)| at).collect()
}

/// Rest offsets by positions in space, with identity rest rotations: medians over the frames; the root at the origin.
pub(super) fn median_offsets(parents: &[Option<usize>], rotations: &[Quat], positions: &[Vec3]) -> Vec<Vec3> {
    let joints = parents.len();
    let mut global: Vec<Quat> = Vec::with_capacity(rotations.len());
    for (k, rotation) in rotations.iter().enumerate() {
        let parent = parents[k % joints].map(|p| global[k - k % joints + p]);
        global.push(parent.map_or(*rotation, |p| p * rotation));
    }
    let offset = |(joint, parent): (usize, &Option<usize>)| {
        parent.map_or_else(Vec3::zeros, |parent| {
            let frame = |first: usize| {
                let (at, from) = (first + joint, first + parent);
                global[from].inverse_transform_vector(&(positions[at] - positions[from]))
            };
            median_of((0..rotations.len()).step_by(joints).map(frame))
        })
    };
    parents.iter().enumerate().map(offset).collect()
}
