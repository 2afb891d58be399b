//! The format `bvh` and its options.

use super::bvh_writer::{BvhWriteOptions, write};
use crate::export::save::{Format, one_each};

/// Biovision hierarchy, centimetres.
pub const FORMAT: Format = Format {
    name: "bvh",
    about: "Biovision hierarchy, centimetres",
    loses: "skin, materials, morph targets, joint axes at rest, and animation of nodes that are no joints; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        one_each("bvh", motions, options, |motion, _| Ok(write(motion, &BvhWriteOptions::default())))
    },
};
