//! Acclaim skeletons (ASF) and motions (AMC) become assets.
//!
//! [`asf_skeleton`] reads the one, [`amc_motion`] the other, [`asf_amc_format`] puts both together: an AMC says nothing without its ASF, which
//! is found beside it.

mod asf_amc_format;
mod asf_error;
mod amc_motion;
mod asf_skeleton;

pub use asf_amc_format::{AMC, ASF};
pub use asf_error::AsfError;
