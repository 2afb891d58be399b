//! Motions become bytes.

mod reduce;

pub use reduce::{Keys, reduce};
