//! Reads BVH text.
//!
//! [`read`] returns a file as it is ([`RawBvh`]: its own units and axes); [`RawBvh::normalize`] converts it to normal form.
//! `bvh_format` is the import of a whole file, which detects units and axes.

mod bvh_format;
mod raw_bvh;
mod header_scanner;
mod frame_timing;
mod lexer;
mod motion_rows;
mod text_blocks;
mod irregular_rows;
mod row_layout;
mod parse_decimal;
mod bvh_error;
mod bvh_anim_header;
mod half_angles;

pub use bvh_error::{BvhError, TextPosition};
pub(super) use bvh_format::{FORMAT, import_blocks};
pub use frame_timing::DEFAULT_FRAME_TIME;
pub use header_scanner::MAX_JOINTS;
pub use raw_bvh::{BvhReadOptions, Normalization, Positions, RawBvh, read};
