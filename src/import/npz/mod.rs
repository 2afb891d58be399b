//! Archives of numpy arrays (`.npz`) that hold the motion of an SMPL body become assets.
//!
//! [`archive`] opens the zip and reads arrays by name, [`amass`] finds the motion among them, [`names`] knows the joints,
//! [`lengths`] where they rest: from a body model that the user has ([`body_model`]), else a neutral figure.

mod amass;
mod npz_archive;
mod npy_array;
mod body_model;
mod npz_error;
mod rest_joints;
mod smpl_joints;

pub use amass::FORMAT;
pub use npz_error::{BodyModelError, NpzError};
