//! Positions from the features of HumanML3D: rows of 263 numbers.
//!
//! Speed of the heading, velocity of the root in its own frame, height of the root, positions of 21 joints in the frame of the
//! heading, then rotations, velocities and contacts, which are not used: the rotations are shortest arcs in the world, wrong by half a turn for
//! a person who faces -Z. Source: Guo et al. 2022, Generating diverse and natural 3D human motions from text, with the
//! `recover_from_ric` of EricGuo5513/HumanML3D. Space: Y up. Units: metres, radians per frame.

use super::point_array::PointArray;
use super::points_error::PointsError;
use crate::import::npz::NpyArray;
use crate::math::{Quat, Vec3, exp};

/// Numbers of a row.
const WIDTH: usize = 263;
/// Joints of a frame.
const JOINTS: usize = 22;
/// The first number of the positions.
const FIRST: usize = 4;

/// Whether an array is one of these features.
pub(super) fn is_one(array: &NpyArray) -> bool {
    let rows = array.shape.iter().filter(|n| **n != 1).count();
    array.shape.last() == Some(&WIDTH) && rows <= 2 && !array.values.is_empty()
}

/// The positions of every frame.
///
/// # Errors
/// Numbers that are not finite.
pub(super) fn positions(array: &NpyArray) -> Result<PointArray, PointsError> {
    let mut positions = Vec::with_capacity(array.values.len() / WIDTH * JOINTS);
    let (mut heading, mut at) = (0.0, Vec3::zeros());
    let mut before = (0.0, Vec3::zeros());
    for (frame, row) in array.values.chunks_exact(WIDTH).enumerate() {
        if row.iter().any(|x| !x.is_finite()) {
            return Err(PointsError::NotFinite { frame, point: 0 });
        }
        // The features hold half the angle.
        heading += before.0;
        let rotation: Quat = exp(&(Vec3::y() * (-2.0 * heading)));
        at += rotation * before.1;
        before = (row[0], Vec3::new(row[1], 0.0, row[2]));
        positions.push(Vec3::new(at.x, row[3], at.z));
        let joints = row[FIRST..FIRST + 3 * (JOINTS - 1)].chunks_exact(3);
        positions.extend(joints.map(|v| rotation * Vec3::new(v[0], v[1], v[2]) + Vec3::new(at.x, 0.0, at.z)));
    }
    PointArray { points: JOINTS, positions }.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The features of a body that walks along a circle, facing along it.
    #[test]
    fn a_circle_comes_back() {
        let (frames, step, radius) = (50, 0.05, 2.0);
        let mut values = Vec::new();
        let truth = |f: usize| {
            let rotation = exp(&(Vec3::y() * (step * f as f64)));
            (rotation, rotation * Vec3::x() * -radius + Vec3::x() * radius)
        };
        for f in 0..frames {
            let ((rotation, at), (next, ahead)) = (truth(f), truth(f + 1));
            let mut row = vec![0.0; WIDTH];
            // The velocity is in the frame of the next heading, as its features have it.
            let local = next.inverse() * (ahead - at);
            (row[0], row[1], row[2], row[3]) = (-0.5 * step, local.x, local.z, 0.9);
            for k in 1..JOINTS {
                row[FIRST + 3 * (k - 1)..FIRST + 3 * k].copy_from_slice(&[0.1 * k as f64, 1.0, 0.2]);
            }
            assert!(rotation.angle() >= 0.0);
            values.extend(row);
        }
        let array = NpyArray { shape: vec![frames, WIDTH], values };
        assert!(is_one(&array));
        let found = positions(&array).unwrap();
        for f in 0..frames {
            let (rotation, at) = truth(f);
            let expected = at + rotation * Vec3::new(0.5, 1.0, 0.2);
            assert!((found.positions[f * JOINTS + 5] - expected).norm() < 1e-9, "{f}");
        }
    }
}
