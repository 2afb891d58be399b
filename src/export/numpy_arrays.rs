//! NumPy arrays as bytes, and archives of them.
//!
//! Source: NEP 1 (the `.npy` format, version 1.0); a `.npz` is a zip of them.

use super::save::{ExportError, OutputFile};
use super::zip_archive::{Packing, archive};

pub(super) fn floats(name: &str, shape: &[usize], numbers: Vec<f32>) -> OutputFile {
    npy(name, "<f4", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

pub(crate) fn integers(name: &str, shape: &[usize], numbers: Vec<i32>) -> OutputFile {
    npy(name, "<i4", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// Numbers in full precision.
#[cfg(any(feature = "physics", feature = "formats", test))]
pub(crate) fn doubles(name: &str, shape: &[usize], numbers: Vec<f64>) -> OutputFile {
    npy(name, "<f8", shape, &numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

/// Arrays as the bytes of a `.npz` file.
///
/// # Errors
/// [`ExportError::Archive`] if they exceed the limits of a zip file.
pub(crate) fn archived(arrays: &[OutputFile]) -> Result<Vec<u8>, ExportError> {
    archive(arrays, Packing::Deflated)
}

/// Text of fixed width: 32 bits per character, padded with zeros.
pub(crate) fn texts(name: &str, shape: &[usize], texts: &[&str]) -> OutputFile {
    let width = texts.iter().map(|t| t.chars().count()).max().unwrap_or(0).max(1);
    let padded = |t: &&str| t.chars().chain(std::iter::repeat('\0')).take(width).collect::<Vec<_>>();
    let bytes = texts.iter().flat_map(padded).flat_map(|c| u32::from(c).to_le_bytes());
    npy(name, &format!("<U{width}"), shape, &bytes.collect::<Vec<u8>>())
}

/// One array. Its header is a Python literal, padded so that the content starts at a multiple of 64 bytes.
pub(super) fn npy(name: &str, kind: &str, shape: &[usize], content: &[u8]) -> OutputFile {
    /// Length of what precedes the header text, bytes: magic, version and header length.
    const BEFORE: usize = 10;
    let mut dimensions = shape.iter().map(|n| format!("{n},")).collect::<Vec<_>>().join(" ");
    if shape.len() > 1 {
        dimensions.pop();
    }
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({dimensions}), }}");
    let length = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
    bytes.extend(format!("{header:<0$}\n", length - 1).bytes());
    bytes.extend(content);
    OutputFile { name: format!("{name}.npy"), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_equal_those_of_numpy() {
        let header = |shape: &[usize]| {
            let file = npy("x", "<f4", shape, b"body");
            assert!(file.bytes.ends_with(b" \nbody") && (file.bytes.len() - 4).is_multiple_of(64));
            String::from_utf8_lossy(&file.bytes[10..]).split(" }").next().unwrap().to_owned()
        };
        assert_eq!(header(&[]), "{'descr': '<f4', 'fortran_order': False, 'shape': (),");
        assert_eq!(header(&[7]), "{'descr': '<f4', 'fortran_order': False, 'shape': (7,),");
        assert_eq!(header(&[7, 3]), "{'descr': '<f4', 'fortran_order': False, 'shape': (7, 3),");
    }
}
