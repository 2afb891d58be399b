//! Converts one row of numbers to the local rotations and translations of one frame.
//!
//! A joint's rotation is the product of its rotation channels in the order of the file, each a rotation in degrees about an
//! axis of the joint (Meredith and Maddock 2001): `q = q_1 q_2 q_3`, by half angles. Position channels are the joint's
//! translation in its parent's space, in the file's units; axes without a channel are 0.

use super::bvh_error::BvhError;
use super::half_angles::half_sin_cos;
use super::header_scanner::{BvhChannel, BvhHeader};
use crate::math::{Quat, RawQuat, Vec3};
use crate::memory_budget::MemoryBudget;
use crate::model::JointId;
use std::ops::Range;

/// The meaning of the numbers of a row, for joints that may follow an added root.
#[derive(Default)]
pub(super) struct RowLayout {
    channels: Vec<BvhChannel>,
    /// For each joint: its rotation, as columns and axes.
    joint_rotations: Vec<JointRotation>,
    /// Columns and axes of all rotation channels, in joint order.
    columns: Vec<(u32, u8)>,
    /// From the first to the last of these columns.
    rotation_columns: Range<usize>,
    /// For each joint with position channels, the columns of x, y and z.
    positions: Vec<(JointId, [Option<usize>; 3])>,
    joints: usize,
}

/// A range of `columns`.
#[derive(Clone, Copy)]
struct JointRotation {
    joint: u32,
    start: u32,
    end: u32,
}

/// Decoded rows, frame-major as in a clip.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DecodedRows {
    pub frames: usize,
    pub rotations: Vec<Quat>,
    pub translations: Vec<Vec3>,
}

/// The buffers of one worker.
pub(super) struct RowBuffers {
    /// The numbers of the row.
    pub values: Vec<f64>,
    sin: Vec<f64>,
    cos: Vec<f64>,
}

impl RowLayout {
    /// The layout of the rows under `header`; joint `i` of the file is joint `i + added` of the skeleton.
    pub fn new(header: &BvhHeader, added: usize) -> Self {
        let mut layout = Self { joints: header.joints.len() + added, ..Self::default() };
        for (i, joint) in header.joints.iter().enumerate() {
            let start = layout.columns.len() as u32;
            let mut position = [None; 3];
            for &channel in &joint.channels {
                let column = layout.channels.len();
                match channel {
                    BvhChannel::Position(axis) => position[usize::from(axis)] = Some(column),
                    BvhChannel::Rotation(axis) => layout.columns.push((column as u32, axis)),
                    BvhChannel::Scale(_) => {}
                }
                layout.channels.push(channel);
            }
            let end = layout.columns.len() as u32;
            if end > start {
                layout.joint_rotations.push(JointRotation { joint: (i + added) as u32, start, end });
            }
            if position.iter().any(Option::is_some) {
                layout.positions.push((JointId::new(i + added), position));
            }
        }
        if let [first, .., last] | [first @ last] = &layout.columns[..] {
            layout.rotation_columns = first.0 as usize..last.0 as usize + 1;
        }
        layout
    }

    /// The numbers of a row.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// The joints of a frame.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// How many joints have position channels.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// The joints with position channels, ascending.
    pub fn translated(&self) -> Vec<JointId> {
        self.positions.iter().map(|p| p.0).collect()
    }

    /// Reserves memory for `frames` frames: joints without channels take no bytes in the file, but a rotation per frame.
    pub fn take(&self, frames: usize, budget: &MemoryBudget) -> Result<(), BvhError> {
        let (joints, positions) = (self.joints() as u64, self.positions() as u64);
        let frame = joints * size_of::<Quat>() as u64 + positions * size_of::<Vec3>() as u64;
        let what = || format!("{frames} rows of {joints} joints");
        Ok(budget.reserve(frame.saturating_mul(frames as u64), what)?)
    }

    /// Buffers for one worker.
    pub fn scratch(&self) -> RowBuffers {
        let n = self.channels();
        RowBuffers { values: vec![0.0; n], sin: vec![0.0; n], cos: vec![0.0; n] }
    }

    /// Decodes the finite numbers of a row into one frame, whose rotations are the identity.
    ///
    /// `before` are the rotations of the frame before: the quaternions stay in their hemispheres.
    #[inline(always)]
    pub fn decode(
        &self,
        row: &mut RowBuffers,
        before: Option<&[Quat]>,
        rotations: &mut [Quat],
        translations: &mut [Vec3],
    ) {
        for ((_, columns), translation) in self.positions.iter().zip(translations) {
            *translation = Vec3::from(columns.map(|c| c.map_or(0.0, |c| row.values[c])));
        }
        let rotation_columns = self.rotation_columns.clone();
        let (sin, cos) = (&mut row.sin[rotation_columns.clone()], &mut row.cos[rotation_columns.clone()]);
        half_sin_cos(&mut row.values[rotation_columns], sin, cos);
        for range in &self.joint_rotations {
            let mut q = [1.0, 0.0, 0.0, 0.0];
            for &(column, axis) in &self.columns[range.start as usize..range.end as usize] {
                q = rotate_about(q, axis, row.sin[column as usize], row.cos[column as usize]);
            }
            let joint = range.joint as usize;
            if let Some(before) = before {
                let b = &before[joint];
                if q[0] * b.w + q[1] * b.i + q[2] * b.j + q[3] * b.k < 0.0 {
                    q = q.map(|x| -x);
                }
            }
            rotations[joint] = Quat::new_unchecked(RawQuat::new(q[0], q[1], q[2], q[3]));
        }
    }
}

/// `q` times the rotation about `axis` whose half angle has this sine and cosine: `q (c + s e)`.
#[inline(always)]
fn rotate_about([w, x, y, z]: [f64; 4], axis: u8, s: f64, c: f64) -> [f64; 4] {
    match axis {
        0 => [w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s],
        1 => [w * c - y * s, x * c - z * s, y * c + w * s, z * c + x * s],
        _ => [w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_rotation_is_a_quaternion_product(v in prop::array::uniform3(-3.0..3.0f64), axis in 0u8..3, angle in -6.0..6.0f64) {
            let q = exp(&Vec3::from(v));
            let mut about = Vec3::zeros();
            about[usize::from(axis)] = angle;
            let expected = q * exp(&about);
            let (s, c) = (angle * 0.5).sin_cos();
            let found = rotate_about([q.w, q.i, q.j, q.k], axis, s, c);
            let expected = [expected.w, expected.i, expected.j, expected.k];
            let same = found.iter().zip(expected).map(|(a, b)| a * b).sum::<f64>();
            prop_assert!((same.abs() - 1.0).abs() < 1e-12);
        }
    }
}
