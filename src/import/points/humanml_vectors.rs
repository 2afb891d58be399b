//! Positions from the features of HumanML3D: rows of 263 numbers.
//!
//! Speed of the heading, velocity of the root in its own frame, height of the root, positions of 21 joints in the frame of the
//! heading, then rotations, velocities and contacts, which are not used: the rotations are shortest arcs in the world, wrong by half a turn for
//! a person who faces -Z. Source: Guo et al. 2022, Generating diverse and natural 3D human motions from text, with the
//! `recover_from_ric` of EricGuo5513/HumanML3D. Space: Y up. Units: metres, radians per frame.

use super::point_array::PointArray;
use super::points_error::PointsError;
use super::several_people::chosen_person;
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
    array.shape.last() == Some(&WIDTH) && sizes(array).len() <= 3 && !array.values.is_empty()
}

/// The sizes without those of one.
fn sizes(array: &NpyArray) -> Vec<usize> {
    array.shape.iter().copied().filter(|n| *n != 1).collect()
}

/// The positions of every frame, of the sample `person` if there are several.
///
/// # Errors
/// Numbers that are not finite; several samples without a choice.
pub(super) fn positions(array: &NpyArray, person: Option<usize>) -> Result<PointArray, PointsError> {
    let samples = if let [samples, _, _] = sizes(array)[..] { samples } else { 1 };
    let size = array.values.len() / samples;
    let chosen = chosen_person(&vec![size / WIDTH; samples], size / WIDTH, person)?;
    let values = &array.values[chosen * size..][..size];
    let mut positions = Vec::with_capacity(size / WIDTH * JOINTS);
    let (mut heading, mut at) = (0.0, Vec3::zeros());
    let mut before = (0.0, Vec3::zeros());
    for (frame, row) in values.chunks_exact(WIDTH).enumerate() {
        if let Some(k) = row.iter().position(|x| !x.is_finite()) {
            let point = if (FIRST..FIRST + 3 * (JOINTS - 1)).contains(&k) { (k - FIRST) / 3 + 1 } else { 0 };
            return Err(PointsError::NotFinite { frame, point });
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
        let found = positions(&array, None).unwrap();
        let zeros = vec![0.0; array.values.len()];
        let two = NpyArray { shape: vec![2, frames, WIDTH], values: [zeros, array.values].concat() };
        assert!(is_one(&two) && positions(&two, None).is_err());
        assert_eq!(positions(&two, Some(1)).unwrap(), found);
        for f in 0..frames {
            let (rotation, at) = truth(f);
            let expected = at + rotation * Vec3::new(0.5, 1.0, 0.2);
            assert!((found.positions[f * JOINTS + 5] - expected).norm() < 1e-9, "{f}");
        }
    }
}
