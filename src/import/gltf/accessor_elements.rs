//! Component types of accessors, and the decoding of their elements to `f32` and `u32`.
//!
//! Source: glTF 2.0 specification, sections 3.6.2 and 3.11 (normalised integers).

use crate::math::in_wide_registers;
use ::gltf::json::accessor::{ComponentType, Type};

/// The component types that one use of an accessor accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Numbers {
    /// `f32` only.
    Float,
    /// `f32` or normalised integers.
    Unit,
    /// Anything, integers as they are unless they are normalised.
    Any,
    /// Unsigned integers.
    Unsigned,
}

impl Numbers {
    pub(super) fn takes(self, component: ComponentType, normalized: bool) -> bool {
        use ComponentType::{F32, U8, U16, U32};
        match self {
            Numbers::Float => component == F32,
            Numbers::Unit => component == F32 || (normalized && component != U32),
            Numbers::Any => component != U32,
            Numbers::Unsigned => matches!(component, U8 | U16 | U32) && !normalized,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Numbers::Float => "FLOAT",
            Numbers::Unit => "FLOAT or normalized integers",
            Numbers::Any => "FLOAT or integers of up to 16 bits",
            Numbers::Unsigned => "unsigned integers",
        }
    }
}

/// The layout of the elements of an accessor.
pub(super) struct ElementLayout<'a> {
    pub(super) bytes: Option<&'a [u8]>,
    pub(super) stride: usize,
    pub(super) count: usize,
    pub(super) component: ComponentType,
    pub(super) components: usize,
    pub(super) normalized: bool,
}

impl ElementLayout<'_> {
    fn decode<const N: usize, T: Clone>(&self, zero: T, one: impl Fn([u8; N]) -> T) -> Vec<T> {
        let Some(bytes) = self.bytes else { return vec![zero; self.count * self.components] };
        let mut values = Vec::with_capacity(self.count * self.components);
        for k in 0..self.count {
            let element = &bytes[k * self.stride..][..self.components * N];
            for component in element.chunks_exact(N) {
                let mut raw = [0; N];
                raw.copy_from_slice(component);
                values.push(one(raw));
            }
        }
        values
    }

    pub(super) fn floats(&self) -> Vec<f32> {
        // Specification 3.11: c / max, and never below -1 for signed ones.
        let max = |max: f32| if self.normalized { max } else { 1.0 };
        let least = if self.normalized { -1.0 } else { f32::MIN };
        match self.component {
            ComponentType::F32 => self.decode(0.0, f32::from_le_bytes),
            ComponentType::I8 => {
                self.decode(0.0, |b| (f32::from(i8::from_le_bytes(b)) / max(127.0)).max(least))
            }
            ComponentType::U8 => self.decode(0.0, |[b]| f32::from(b) / max(255.0)),
            ComponentType::I16 => {
                self.decode(0.0, |b| (f32::from(i16::from_le_bytes(b)) / max(32767.0)).max(least))
            }
            ComponentType::U16 => self.decode(0.0, |b| f32::from(u16::from_le_bytes(b)) / max(65535.0)),
            ComponentType::U32 => self.decode(0.0, |b| u32::from_le_bytes(b) as f32),
        }
    }

    pub(super) fn unsigned(&self) -> Vec<u32> {
        match self.component {
            ComponentType::U8 | ComponentType::I8 => self.decode(0, |[b]| b.into()),
            ComponentType::U16 | ComponentType::I16 => self.decode(0, |b| u16::from_le_bytes(b).into()),
            ComponentType::U32 | ComponentType::F32 => self.decode(0, u32::from_le_bytes),
        }
    }
}

/// Whether all numbers are finite.
pub(super) fn all_finite(floats: &[u8]) -> bool {
    all_below(floats, f32::INFINITY)
}

/// Whether the magnitudes of all numbers are below a limit, by their bits, which have the order of the magnitudes; NaN is above
/// infinity.
pub(super) fn all_below(floats: &[u8], limit: f32) -> bool {
    // Without an early exit inside a part, so that the test is vectorized.
    in_wide_registers(
        #[inline(always)]
        || floats.chunks(1 << 12).all(|part| largest(part) < limit.to_bits().cast_signed()),
    )
}

/// The bits of the largest magnitude: as signed numbers, whose maxima are one instruction.
#[inline(always)]
fn largest(floats: &[u8]) -> i32 {
    /// All bits of an `f32` but its sign.
    const MAGNITUDE: i32 = 0x7fff_ffff;
    let mut most = 0;
    for bytes in floats.as_chunks::<4>().0 {
        most = most.max(i32::from_le_bytes(*bytes) & MAGNITUDE);
    }
    most
}

/// The name of a shape in the file.
pub(super) fn shape_name(shape: Type) -> &'static str {
    match shape {
        Type::Scalar => "SCALAR",
        Type::Vec2 => "VEC2",
        Type::Vec3 => "VEC3",
        Type::Vec4 => "VEC4",
        Type::Mat2 => "MAT2",
        Type::Mat3 => "MAT3",
        Type::Mat4 => "MAT4",
    }
}
