//! Numbers of 16 bits (IEEE 754-2008, binary16), which USD and NumPy write.

/// The value of a number of 16 bits.
pub(super) fn half_number(bits: u16) -> f64 {
    /// The smallest number above 0, 2^-24.
    const LEAST: f64 = 1.0 / 16_777_216.0;
    let (exponent, fraction) = (u32::from(bits >> 10 & 31), u32::from(bits & 1023));
    // A single has an exponent that is greater by 112, and 13 bits more behind the point.
    let size = match exponent {
        0 => f64::from(fraction) * LEAST,
        31 => f64::from(f32::from_bits(255 << 23 | fraction << 13)),
        _ => f64::from(f32::from_bits((exponent + 112) << 23 | fraction << 13)),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::half_number as half;

    #[test]
    fn halves_are_those_of_ieee_754() {
        for (bits, number) in [
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x0400, 6.103_515_625e-5),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x3555, 0.333_251_953_125),
        ] {
            assert_eq!(half(bits), number, "{bits:x}");
        }
        assert!(half(0x7C00) == f64::INFINITY && half(0x7E00).is_nan() && half(0x8000).is_sign_negative());
    }
}
