//! Named files become a zip archive, the same bytes for the same files on every machine.
//!
//! Every entry is of 1 January 1980, the earliest day that the format can tell, and its name is UTF-8. Source: APPNOTE.TXT 6.3
//! of PKWARE, without what it calls zip64. Own code: the `zip` crate brings nine others along for what is a header here.

use super::save::{ExportError, OutputFile};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

/// How the content of an archive is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// Deflated.
    Deflated,
    /// As it is, each file at a multiple of this many bytes, at least 8, from the start of the archive.
    Stored(usize),
}

/// The version of the format that is needed to read an archive, 2.0.
const NEEDED: u16 = 20;
/// Names are UTF-8.
const UTF8: u16 = 1 << 11;
/// 1 January 1980, as the format counts days.
const DAY: u16 = 33;
/// The length of the header before a file, without name and extra field.
const HEADER: usize = 30;
/// The kind of an extra field that only fills, and the length of its head.
const FILLER: u16 = 0x1986;
const FILLER_HEAD: usize = 4;

/// The archive of `files`, in their order.
///
/// # Errors
/// [`ExportError::Archive`] where it would be larger than 4 GiB or hold more than 65,535 files.
pub(super) fn archive(files: &[OutputFile], packing: Packing) -> Result<Vec<u8>, ExportError> {
    let mut out: Vec<u8> = Vec::new();
    let mut table: Vec<u8> = Vec::new();
    for file in files {
        let failed = |e: std::io::Error| ExportError::Archive { reason: e.to_string() };
        let (method, packed) = match packing {
            Packing::Deflated => (8u16, deflated(&file.bytes).map_err(failed)?),
            Packing::Stored(_) => (0, file.bytes.clone()),
        };
        let name = file.name.as_bytes();
        let filler = match packing {
            Packing::Deflated => Vec::new(),
            Packing::Stored(multiple) => filler(out.len() + HEADER + name.len(), multiple),
        };
        let mut sum = Crc::new();
        sum.update(&file.bytes);
        // What the header of the file and the table have in common.
        let mut fields = Vec::new();
        for field in [NEEDED, UTF8, method, 0, DAY] {
            fields.extend(field.to_le_bytes());
        }
        for field in [sum.sum(), size(packed.len())?, size(file.bytes.len())?] {
            fields.extend(field.to_le_bytes());
        }
        fields.extend(count(name.len())?.to_le_bytes());

        table.extend(b"PK\x01\x02");
        table.extend(NEEDED.to_le_bytes());
        table.extend(&fields);
        // No extra field, no comment, first volume, no attributes.
        table.extend([0; 12]);
        table.extend(size(out.len())?.to_le_bytes());
        table.extend(name);

        out.extend(b"PK\x03\x04");
        out.extend(fields);
        out.extend(count(filler.len())?.to_le_bytes());
        out.extend(name);
        out.extend(filler);
        out.extend(packed);
    }
    let (at, length, files) = (size(out.len())?, size(table.len())?, count(files.len())?);
    out.extend(table);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(files.to_le_bytes().repeat(2));
    out.extend(length.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0; 2]);
    Ok(out)
}

fn deflated(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// The extra field that brings what follows `at` to a multiple.
fn filler(at: usize, multiple: usize) -> Vec<u8> {
    let wanted = match at.next_multiple_of(multiple) - at {
        0 => return Vec::new(),
        short if short < FILLER_HEAD => short + multiple,
        enough => enough,
    };
    let mut field = FILLER.to_le_bytes().to_vec();
    field.extend(u16::try_from(wanted - FILLER_HEAD).unwrap_or_default().to_le_bytes());
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
    fn fillers_reach_the_multiple_and_are_whole_fields() {
        for at in 0..200 {
            let field = filler(at, 64);
            assert!(
                (at + field.len()).is_multiple_of(64) && (field.is_empty() || field.len() >= FILLER_HEAD)
            );
            if let [0x86, 0x19, low, high, rest @ ..] = field.as_slice() {
                assert_eq!(usize::from(u16::from_le_bytes([*low, *high])), rest.len());
            }
        }
    }

    #[test]
    fn archives_repeat_and_deflate() {
        let file = |name: &str| OutputFile { name: name.into(), bytes: vec![7; 1000] };
        let files = [file("a"), file("b/c.txt")];
        let stored = archive(&files, Packing::Stored(64)).unwrap();
        assert_eq!(stored, archive(&files, Packing::Stored(64)).unwrap());
        assert!(stored[64..1064].iter().all(|b| *b == 7));
        assert!(archive(&files, Packing::Deflated).unwrap().len() < 400);
    }
}
