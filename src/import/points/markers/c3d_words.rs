//! Words of C3D files: integers and floats as three families of processors write them.

/// The processor whose words a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    /// Little-endian, IEEE floats.
    Intel,
    /// Little-endian integers, VAX F floats.
    Dec,
    /// Big-endian, IEEE floats.
    Mips,
}

impl Processor {
    /// The processor of the byte in the parameter section: 83 and 1, 2 or 3.
    pub(super) fn of(byte: u8) -> Option<Self> {
        match byte {
            84 => Some(Self::Intel),
            85 => Some(Self::Dec),
            86 => Some(Self::Mips),
            _ => None,
        }
    }

    /// A word of 16 bits without a sign.
    pub(super) fn word(self, bytes: [u8; 2]) -> u16 {
        if self == Self::Mips { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    /// A float of 32 bits.
    pub(super) fn float(self, [a, b, c, d]: [u8; 4]) -> f64 {
        match self {
            Self::Intel => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::Mips => f64::from(f32::from_be_bytes([a, b, c, d])),
            Self::Dec => {
                let bits = u32::from_be_bytes([b, a, d, c]);
                let (sign, exponent, mantissa) = (bits >> 31, bits >> 23 & 0xff, bits & 0x7f_ffff);
                if exponent == 0 {
                    return 0.0;
                }
                // The hidden bit stands behind the point, and the exponent is biased by 128.
                let value = libm::ldexp(f64::from(mantissa | 0x80_0000), exponent as i32 - 128 - 24);
                if sign == 1 { -value } else { value }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_of_all_processors_are_the_same() {
        // One and a half, and minus a tenth, as the manuals of the VAX have them.
        for (bytes, value) in [([0xc0, 0x40, 0, 0], 1.5), ([0xcc, 0xbe, 0xcd, 0xcc], -0.1), ([0; 4], 0.0)] {
            assert!((Processor::Dec.float(bytes) - value).abs() < 1e-7, "{bytes:?}");
        }
        let bytes = (-0.1f32).to_le_bytes();
        let mut turned = bytes;
        turned.reverse();
        assert_eq!(Processor::Intel.float(bytes), Processor::Mips.float(turned));
        assert_eq!(
            [Processor::Intel, Processor::Dec, Processor::Mips].map(|p| p.word([1, 2])),
            [513, 513, 258]
        );
        assert_eq!((Processor::of(85), Processor::of(1)), (Some(Processor::Dec), None));
    }
}
