//! Packs named files into a zip archive, with the same bytes for the same files on every machine.
//!
//! Every entry is dated 1 January 1980, the earliest date of the format, and its name is UTF-8. Source: APPNOTE.TXT 6.3 of
//! PKWARE, without zip64. The `zip` crate, which reads archives for the importer, would write other bytes: Unix permissions, and
//! an alignment field of another kind.

use super::save::{ExportError, OutputFile};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

/// How the content of files is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Deflated.
    Deflated,
    /// Uncompressed, each file at a multiple of [`ALIGNMENT`] bytes from the start of the archive.
    Stored,
}

/// Alignment of uncompressed files, bytes: that of the usdz specification, with which arrays can be used where they lie.
const ALIGNMENT: usize = 64;
/// Version of the format that is needed to read the archive: 2.0.
const NEEDED: u16 = 20;
/// Flag: names are UTF-8.
const UTF8: u16 = 1 << 11;
/// 1 January 1980 in MS-DOS format.
const DAY: u16 = 33;
/// Length of a local file header without name and extra field, bytes.
const HEADER: usize = 30;
/// Header ID of the extra field that pads, as OpenUSD writes it.
const PADDING: u16 = 0x1986;
/// Length of the header of an extra field, bytes: its ID and its size.
const EXTRA_HEADER: usize = 4;

/// The archive of `files`, in this order.
///
/// # Errors
/// [`ExportError::Archive`] if it would be larger than 4 GiB or have more than 65,535 files.
pub(super) fn archive(files: &[OutputFile], packing: Packing) -> Result<Vec<u8>, ExportError> {
    let mut out: Vec<u8> = Vec::new();
    let mut directory: Vec<u8> = Vec::new();
    for file in files {
        let failed = |e: std::io::Error| ExportError::Archive { reason: e.to_string() };
        let (method, packed) = match packing {
            Packing::Deflated => (8u16, deflated(&file.bytes).map_err(failed)?),
            Packing::Stored => (0, file.bytes.clone()),
        };
        let name = file.name.as_bytes();
        let padding = match packing {
            Packing::Deflated => Vec::new(),
            Packing::Stored => padding(out.len() + HEADER + name.len()),
        };
        let mut sum = Crc::new();
        sum.update(&file.bytes);
        // The fields that the local header and the central directory share.
        let mut fields = Vec::new();
        for field in [NEEDED, UTF8, method, 0, DAY] {
            fields.extend(field.to_le_bytes());
        }
        for field in [sum.sum(), size(packed.len())?, size(file.bytes.len())?] {
            fields.extend(field.to_le_bytes());
        }
        fields.extend(count(name.len())?.to_le_bytes());

        directory.extend(b"PK\x01\x02");
        directory.extend(NEEDED.to_le_bytes());
        directory.extend(&fields);
        // No extra field, no comment, first disk, no attributes.
        directory.extend([0; 12]);
        directory.extend(size(out.len())?.to_le_bytes());
        directory.extend(name);

        out.extend(b"PK\x03\x04");
        out.extend(fields);
        out.extend(count(padding.len())?.to_le_bytes());
        out.extend(name);
        out.extend(padding);
        out.extend(packed);
    }
    let (at, length, files) = (size(out.len())?, size(directory.len())?, count(files.len())?);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(files.to_le_bytes().repeat(2));
    out.extend(length.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0; 2]);
    Ok(out)
}

/// Deflated at the fast level: at the default one files of motions are 2 to 7 % smaller, and a conversion takes about twice as long.
fn deflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The extra field that aligns what follows `at`.
fn padding(at: usize) -> Vec<u8> {
    let wanted = match at.next_multiple_of(ALIGNMENT) - at {
        0 => return Vec::new(),
        short if short < EXTRA_HEADER => short + ALIGNMENT,
        enough => enough,
    };
    let mut field = PADDING.to_le_bytes().to_vec();
    field.extend(u16::try_from(wanted - EXTRA_HEADER).unwrap_or_default().to_le_bytes());
    field.resize(wanted, 0);
    field
}

fn size(bytes: usize) -> Result<u32, ExportError> {
    let reason = || "more than 4 GiB".to_owned();
    u32::try_from(bytes).map_err(|_| ExportError::Archive { reason: reason() })
}

fn count(number: usize) -> Result<u16, ExportError> {
    let reason = || "too many files, or too long a name".to_owned();
    u16::try_from(number).map_err(|_| ExportError::Archive { reason: reason() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_reaches_the_multiple_and_is_a_whole_field() {
        for at in 0..200 {
            let field = padding(at);
            assert!(
                (at + field.len()).is_multiple_of(64) && (field.is_empty() || field.len() >= EXTRA_HEADER)
            );
            if let [0x86, 0x19, low, high, rest @ ..] = field.as_slice() {
                assert_eq!(usize::from(u16::from_le_bytes([*low, *high])), rest.len());
            }
        }
    }

    #[test]
    fn archives_are_reproducible_and_deflate() {
        let file = |name: &str| OutputFile { name: name.into(), bytes: vec![7; 1000] };
        let files = [file("a"), file("b/c.txt")];
        let stored = archive(&files, Packing::Stored).unwrap();
        assert_eq!(stored, archive(&files, Packing::Stored).unwrap());
        assert!(stored[64..1064].iter().all(|b| *b == 7));
        assert!(archive(&files, Packing::Deflated).unwrap().len() < 400);
    }
}
