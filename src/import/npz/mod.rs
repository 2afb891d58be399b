//! Reads archives of numpy arrays (`.npz`): motions of SMPL bodies, and local rotations of named joints.
//!
//! [`rotation_archive`] reads posemill's own archives and those of motion models, [`archive_rotations`] their rotations;
//! [`known_skeletons`] lists joints that these do not state.
//!
//! [`npz_archive`] opens the zip and reads arrays by name, [`amass`] finds the motion among them, [`smpl_joints`] lists the
//! joints and [`rest_joints`] their rest positions: from a body model of the user ([`body_model`]), else from a neutral
//! figure.

mod amass;
mod npz_archive;
mod npy_array;
mod npz_error;
mod known_skeletons;
mod rest_joints;
mod archive_rotations;
mod rotation_archive;
mod six_numbers;
mod smpl_joints;
mod body_model;

pub use amass::FORMAT;
pub(in crate::import) use amass::{is_motion_x, motion_x};
pub(in crate::import) use npy_array::{NpyArray, read_npy, shape};
pub(super) use npz_archive::NpzArchive;
pub use npz_error::{BodyModelError, NpzError};

#[cfg(test)]
mod tests;
