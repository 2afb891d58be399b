//! Bytes to asset, in normal form.

mod load;

pub use load::{Axis, ImportError, Options, Positions, load};
