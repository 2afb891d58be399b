//! The format `bvh` and its options.

use super::bvh_writer::{BvhWriteOptions, write};
use crate::export::format::Format;
use crate::export::save::OutputFile;
use crate::report::Warnings;

/// Biovision hierarchy, centimetres.
pub const FORMAT: Format = Format {
    name: "bvh",
    about: "Biovision hierarchy, centimetres",
    loses: "skin, materials, morph targets, joint axes at rest, and animation of nodes that are no joints; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        let file = |motion| OutputFile {
            name: options.file("bvh"),
            bytes: write(motion, &BvhWriteOptions::default()),
        };
        Ok((motions.iter().map(file).collect(), Warnings::new()))
    },
};
