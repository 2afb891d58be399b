//! Reads Acclaim skeletons (ASF) and motions (AMC).
//!
//! [`asf_skeleton`] reads skeletons, [`amc_motion`] motions, and [`asf_amc_format`] combines them: an AMC file needs its ASF
//! file, which is looked up in the same folder.

mod asf_amc_format;
mod asf_error;
mod amc_motion;
mod asf_skeleton;

pub use asf_amc_format::{AMC, ASF};
pub use asf_error::AsfError;
