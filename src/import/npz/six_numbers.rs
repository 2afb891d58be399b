//! Rotations as six numbers: the first two columns or rows of a matrix, in the order that an archive has them.
//!
//! Source: Zhou et al. 2019, On the continuity of rotation representations in neural networks.

use super::npy_array::{NpyArray, wrong};
use super::npz_archive::NpzArchive;
use super::npz_error::NpzError;
use crate::math::{Mat3, Quat, Vec3, from_columns, nearest_rotation};

/// How six numbers are the first two columns or rows of a rotation matrix.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SixNumbers {
    /// Two columns, one after the other.
    Columns,
    /// Two rows, one after the other.
    Rows,
    /// Three rows of two columns.
    Interleaved,
}

impl SixNumbers {
    /// The rotation by Gram-Schmidt (Zhou et al. 2019).
    pub(super) fn rotation(self, v: &[f64]) -> Option<Quat> {
        let (a, b) = match self {
            SixNumbers::Interleaved => (Vec3::new(v[0], v[2], v[4]), Vec3::new(v[1], v[3], v[5])),
            _ => (Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])),
        };
        let x = a.try_normalize(1e-6)?;
        let y = (b - x * x.dot(&b)).try_normalize(1e-6)?;
        if !(x.norm() + y.norm()).is_finite() {
            return None;
        }
        let q = from_columns(&x, &y, &x.cross(&y));
        Some(if self == SixNumbers::Rows { q.inverse() } else { q })
    }
}

/// The order of six numbers, by the matrices of the root in the same archive; without them two columns row by row.
pub(super) fn six_numbers(
    archive: &mut NpzArchive,
    array: &NpyArray,
    frames: usize,
) -> Result<SixNumbers, NpzError> {
    let Some(name) = archive.has(&["root_rotations_mat"]) else { return Ok(SixNumbers::Interleaved) };
    let matrices = archive.array(name)?;
    if matrices.values.len() != 9 * frames {
        return Err(wrong(name, &matrices, format!("({frames}, 3, 3)")));
    }
    let stride = array.values.len() / frames;
    let off = |order: SixNumbers| -> f64 {
        let frames = array.values.chunks_exact(stride).zip(matrices.values.chunks_exact(9));
        let one = |(row, m): (&[f64], &[f64])| {
            let (a, b) = (order.rotation(&row[..6]), nearest_rotation(&Mat3::from_row_slice(m)));
            a.zip(b).map_or(0.0, |(a, (b, _))| a.angle_to(&b))
        };
        frames.map(one).sum()
    };
    let orders = [SixNumbers::Interleaved, SixNumbers::Columns, SixNumbers::Rows];
    Ok(orders.into_iter().min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(SixNumbers::Interleaved))
}
