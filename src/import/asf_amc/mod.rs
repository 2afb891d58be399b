//! Acclaim skeletons (ASF) and motions (AMC) become assets.
//!
//! [`skeleton`] reads the one, [`motion`] the other, [`asset`] puts both together: an AMC says nothing without its ASF, which
//! is found beside it.

mod asset;
mod error;
mod motion;
mod skeleton;

pub use asset::{AMC, ASF};
pub use error::AsfError;
