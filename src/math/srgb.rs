//! Transfer functions of sRGB colours, one channel at a time, for values from 0 to 1. Source: IEC 61966-2-1.

/// A linear value of an sRGB value.
#[cfg(any(feature = "fbx", feature = "render"))]
pub(crate) fn linear_of_srgb(c: f64) -> f64 {
    if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
}

/// An sRGB value of a linear value.
#[cfg(any(feature = "formats", feature = "render"))]
pub(crate) fn srgb_of_linear(c: f64) -> f64 {
    if c <= 0.0031308 { c * 12.92 } else { 1.055 * libm::pow(c, 1.0 / 2.4) - 0.055 }
}
