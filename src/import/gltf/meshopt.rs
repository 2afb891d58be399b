//! Decompresses buffer views that are compressed with meshoptimizer.
//!
//! The codec is the C++ of meshoptimizer itself, behind the feature `meshopt`; it is safe for untrusted bytes. Sizes are
//! compared with a limit before memory is allocated. Space and units: those of the accessors. Source: the glTF extensions
//! EXT_meshopt_compression and KHR_meshopt_compression.

use crate::gltf_document::GltfError;
use crate::memory_budget::MemoryBudget;
use serde::Deserialize;
use serde_json::Value;

/// The names of the extension.
const NAMES: &[&str] = &["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The largest vertex that is decoded, bytes; the format has up to 256. Each size is a type of its own in the decoder, and vertices
/// of one accessor have at most 16, of interleaved ones rarely more than 64.
#[cfg(feature = "meshopt")]
const MOST_STRIDE: usize = 64;

/// The content of the extension object of a view.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PackedView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    #[cfg_attr(not(feature = "meshopt"), expect(dead_code, reason = "only the codec asks"))]
    byte_stride: u64,
    #[cfg_attr(not(feature = "meshopt"), expect(dead_code, reason = "only the codec asks"))]
    count: u64,
    #[cfg_attr(not(feature = "meshopt"), expect(dead_code, reason = "only the codec asks"))]
    mode: String,
    #[cfg_attr(not(feature = "meshopt"), expect(dead_code, reason = "only the codec asks"))]
    filter: Option<String>,
}

/// The compression of a view with these extensions, if any: the name of the extension and its content.
pub(super) fn packed<'a>(
    extensions: impl IntoIterator<Item = (&'a String, &'a Value)>,
    path: &str,
) -> Option<(&'static str, Result<PackedView, GltfError>)> {
    let named = |(key, value)| NAMES.iter().find(|name| **name == key).map(|name| (*name, value));
    let (name, value) = extensions.into_iter().find_map(named)?;
    let said = PackedView::deserialize(value);
    Some((
        name,
        said.map_err(|error| GltfError::value(format!("{path}.extensions.{name}"), error.to_string())),
    ))
}

/// The decompressed content of a view whose compressed bytes are `bytes`; its size is reserved in `budget`.
///
/// # Errors
/// Damaged data, or an exceeded budget; without the feature `meshopt` always.
#[cfg(feature = "meshopt")]
pub(super) fn unpack(
    packed: &PackedView,
    _extension: &'static str,
    bytes: &[u8],
    path: &str,
    budget: &MemoryBudget,
) -> Result<Vec<u8>, GltfError> {
    let (count, stride) = (packed.count, packed.byte_stride);
    // Once as returned by the codec, once as bytes.
    let both = count.saturating_mul(stride).saturating_mul(2);
    budget.reserve(both, || format!("`{path}` unpacked"))?;
    let (count, stride) = (count as usize, stride as usize);
    if packed.mode == "ATTRIBUTES" && stride > MOST_STRIDE {
        let said = format!("vertices of {stride} bytes are not supported (at most {MOST_STRIDE})");
        return Err(GltfError::value(path, said));
    }
    let plain = match (packed.mode.as_str(), stride) {
        ("ATTRIBUTES", _) => {
            codec::attributes(bytes, count, stride, packed.filter.as_deref().unwrap_or("NONE"))
        }
        ("TRIANGLES", 2 | 4) if count.is_multiple_of(3) => codec::triangles(bytes, count, stride),
        ("INDICES", 2 | 4) => codec::indices(bytes, count, stride),
        _ => None,
    };
    plain.ok_or_else(|| {
        let said = format!("{} of {count} times {stride} bytes that do not unpack", packed.mode);
        GltfError::value(path, said)
    })
}

/// Without the codec nothing can be decompressed.
#[cfg(not(feature = "meshopt"))]
pub(super) fn unpack(
    _packed: &PackedView,
    extension: &'static str,
    _bytes: &[u8],
    path: &str,
    _budget: &MemoryBudget,
) -> Result<Vec<u8>, GltfError> {
    Err(GltfError::Compressed { path: path.into(), extension })
}

/// Meshoptimizer's decoders, whose elements are types.
#[cfg(feature = "meshopt")]
mod codec {
    use meshopt::{
        decode_filter_color, decode_filter_oct, decode_filter_quat, decode_index_buffer,
        decode_index_sequence, decode_vertex_buffer,
    };

    /// A vertex of `N` words.
    #[derive(Clone)]
    struct Words<const N: usize>([u32; N]);

    impl<const N: usize> Default for Words<N> {
        fn default() -> Self {
            Self([0; N])
        }
    }

    fn words<const N: usize>(bytes: &[u8], count: usize) -> Option<Vec<u8>> {
        let rows = decode_vertex_buffer::<Words<N>>(bytes, count).ok()?;
        Some(rows.iter().flat_map(|row| row.0).flat_map(u32::to_ne_bytes).collect())
    }

    /// Vertices of up to 64 bytes: those of every accessor, and of most interleaved ones.
    pub(super) fn attributes(bytes: &[u8], count: usize, stride: usize, filter: &str) -> Option<Vec<u8>> {
        let decode = match stride {
            4 => words::<1>,
            8 => words::<2>,
            12 => words::<3>,
            16 => words::<4>,
            20 => words::<5>,
            24 => words::<6>,
            28 => words::<7>,
            32 => words::<8>,
            36 => words::<9>,
            40 => words::<10>,
            44 => words::<11>,
            48 => words::<12>,
            52 => words::<13>,
            56 => words::<14>,
            60 => words::<15>,
            64 => words::<16>,
            _ => return None,
        };
        let plain = decode(bytes, count)?;
        match (filter, stride) {
            ("NONE", _) => Some(plain),
            ("OCTAHEDRAL", 4) => Some(each_4(&plain, i8::from_ne_bytes, i8::to_ne_bytes, decode_filter_oct)),
            ("OCTAHEDRAL", 8) => {
                Some(each_4(&plain, i16::from_ne_bytes, i16::to_ne_bytes, decode_filter_oct))
            }
            ("QUATERNION", 8) => {
                Some(each_4(&plain, i16::from_ne_bytes, i16::to_ne_bytes, decode_filter_quat))
            }
            ("COLOR", 4) => Some(each_4(&plain, u8::from_ne_bytes, u8::to_ne_bytes, decode_filter_color)),
            ("COLOR", 8) => Some(each_4(&plain, u16::from_ne_bytes, u16::to_ne_bytes, decode_filter_color)),
            ("EXPONENTIAL", _) => Some(plain.chunks_exact(4).flat_map(exponential).collect()),
            _ => None,
        }
    }

    /// The elements of four numbers in `bytes` after `filter`.
    fn each_4<T: Copy + Default, const N: usize>(
        bytes: &[u8],
        read: fn([u8; N]) -> T,
        write: fn(T) -> [u8; N],
        filter: fn(&mut [[T; 4]]),
    ) -> Vec<u8> {
        let number = |raw: &[u8]| {
            let mut number = [0; N];
            number.copy_from_slice(raw);
            read(number)
        };
        let element = |raw: &[u8]| {
            let mut element = [T::default(); 4];
            element.iter_mut().zip(raw.chunks_exact(N)).for_each(|(x, raw)| *x = number(raw));
            element
        };
        let mut elements: Vec<[T; 4]> = bytes.chunks_exact(4 * N).map(element).collect();
        filter(&mut elements);
        elements.into_iter().flatten().flat_map(write).collect()
    }

    /// A number of 24 bits times a power of two.
    fn exponential(raw: &[u8]) -> [u8; 4] {
        let word = u32::from_ne_bytes([raw[0], raw[1], raw[2], raw[3]]) as i32;
        let (exponent, mantissa) = (word >> 24, (word << 8) >> 8);
        ((f64::from(mantissa) * 2f64.powi(exponent)) as f32).to_ne_bytes()
    }

    pub(super) fn triangles(bytes: &[u8], count: usize, size: usize) -> Option<Vec<u8>> {
        let of_16 = || decode_index_buffer::<u16>(bytes, count).ok().map(|v| flat(&v, u16::to_le_bytes));
        let of_32 = || decode_index_buffer::<u32>(bytes, count).ok().map(|v| flat(&v, u32::to_le_bytes));
        if size == 2 { of_16() } else { of_32() }
    }

    pub(super) fn indices(bytes: &[u8], count: usize, size: usize) -> Option<Vec<u8>> {
        let of_16 = || decode_index_sequence::<u16>(bytes, count).ok().map(|v| flat(&v, u16::to_le_bytes));
        let of_32 = || decode_index_sequence::<u32>(bytes, count).ok().map(|v| flat(&v, u32::to_le_bytes));
        if size == 2 { of_16() } else { of_32() }
    }

    fn flat<T: Copy, const N: usize>(values: &[T], write: fn(T) -> [u8; N]) -> Vec<u8> {
        values.iter().flat_map(|&x| write(x)).collect()
    }
}

#[cfg(all(test, feature = "meshopt"))]
mod tests {
    use super::*;

    #[test]
    fn vertices_that_are_too_large_are_not_called_damaged() {
        let said = |stride: u64| {
            let view = serde_json::json!({ "buffer": 0, "byteLength": 9, "byteStride": stride, "count": 3, "mode": "ATTRIBUTES" });
            let view = PackedView::deserialize(&view).unwrap();
            let budget = MemoryBudget::new(1000, None);
            unpack(&view, NAMES[0], &[0; 9], "bufferViews[0]", &budget).unwrap_err().to_string()
        };
        assert_eq!(said(68), "`bufferViews[0]`: vertices of 68 bytes are not supported (at most 64)");
        assert!(said(64).ends_with("that do not unpack"), "{}", said(64));
    }
}
