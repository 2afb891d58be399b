//! The format `bvh` and its options.

use super::bvh_writer::write;
use crate::export::decimal_text::Decimals;
use crate::export::euler_angles::RotationOrder;
use crate::export::format::Format;
use crate::export::save::OutputFile;
use crate::report::Warnings;

/// Biovision hierarchy, centimetres.
pub const FORMAT: Format = Format {
    name: "bvh",
    about: "Biovision hierarchy, centimetres",
    loses: "skin, materials, axes of joints at rest; one clip a file",
    several: false,
    write: |motions, options| {
        let file = |motion| OutputFile {
            name: options.file("bvh"),
            bytes: write(motion, &BvhWriteOptions::default()),
        };
        Ok((motions.iter().map(file).collect(), Warnings::new()))
    },
};

/// Options of [`write`](super::write).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BvhWriteOptions {
    /// The order of the rotation channels of every joint.
    pub order: RotationOrder,
    /// The decimals of offsets, positions and angles.
    pub decimals: Decimals,
    /// Metres per unit of the file.
    pub metres_per_unit: f64,
}

impl Default for BvhWriteOptions {
    /// ZXY, six decimals, centimetres.
    fn default() -> Self {
        Self { order: RotationOrder::Zxy, decimals: Decimals::Fixed(6), metres_per_unit: 0.01 }
    }
}
