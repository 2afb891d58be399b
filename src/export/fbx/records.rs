//! Reads and writes the records of a binary FBX file; the bytes of properties are preserved.
//!
//! A record consists of its end offset, the number of its properties, their length in bytes, a name, the properties, the child
//! records, and an empty record that terminates these. The three numbers have 32 bits up to version 7.4 and 64 bits from 7.5 on.
//! The records are followed by a footer whose first 16 bytes are derived from the file's `FileId` and `CreationTime`.
//!
//! Source: the notes on the format by A. Zimmermann (Blender developers' blog, 2013), and files written by Autodesk's FBX SDK.

use std::borrow::Cow;

/// First bytes of a binary file; the last byte is 0 for little-endian numbers.
const MAGIC: &[u8; 23] = b"Kaydara FBX Binary  \0\x1a\0";
/// Last bytes of a file.
const END: [u8; 16] =
    [0xf8, 0x5a, 0x8c, 0x6a, 0xde, 0xf5, 0xd9, 0x7e, 0xec, 0xe9, 0x0c, 0xe3, 0x75, 0x8f, 0x29, 0x0b];
/// Number of zeros before [`END`].
const ZEROS: usize = 120;
/// First version with 64-bit numbers in record headers.
const WIDE_SINCE: u32 = 7500;
/// The versions that are known to have this layout.
const VERSIONS: std::ops::Range<u32> = 7000..8000;
/// Maximum nesting depth of records; real files stay below 10.
const DEPTH: usize = 64;

/// One record.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FbxRecord<'a> {
    pub(super) name: Cow<'a, [u8]>,
    /// The number of properties.
    pub(super) count: u64,
    /// The encoded properties.
    pub(super) properties: Cow<'a, [u8]>,
    pub(super) children: Vec<FbxRecord<'a>>,
    /// Whether an empty record terminates the children; possible without children too.
    pub(super) block: bool,
}

/// A file as records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FbxFile<'a> {
    pub(super) version: u32,
    pub(super) records: Vec<FbxRecord<'a>>,
    /// The first 16 bytes of the footer.
    pub(super) code: [u8; 16],
}

/// Why records cannot be read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum FbxRecordError {
    #[error("the file is not a binary FBX of version 7")]
    Kind,
    #[error("the record at byte {at} {what}")]
    Damaged { at: usize, what: &'static str },
    #[error("the file would exceed 4 GiB, the limit of version 7.4")]
    Large,
}

impl<'a> FbxRecord<'a> {
    /// The first child record of this name.
    #[cfg(test)]
    pub(super) fn child(&self, name: &[u8]) -> Option<&FbxRecord<'a>> {
        self.children.iter().find(|c| *c.name == *name)
    }

    /// The first child record of this name, mutable.
    pub(super) fn child_mut(&mut self, name: &[u8]) -> Option<&mut FbxRecord<'a>> {
        self.children.iter_mut().find(|c| *c.name == *name)
    }
}

/// The header of a record.
struct RecordHeader {
    end: usize,
    count: u64,
    length: usize,
    name: usize,
}

fn header_size(wide: bool) -> usize {
    if wide { 25 } else { 13 }
}

struct RecordParser<'a> {
    bytes: &'a [u8],
    wide: bool,
}

impl<'a> RecordParser<'a> {
    fn header(&self, at: usize) -> Option<RecordHeader> {
        let head = self.bytes.get(at..)?.get(..header_size(self.wide))?;
        let (name, numbers) = head.split_last()?;
        let mut values = numbers.chunks_exact(if self.wide { 8 } else { 4 }).map(|c| {
            let mut wide = [0; 8];
            wide[..c.len()].copy_from_slice(c);
            u64::from_le_bytes(wide)
        });
        let end = usize::try_from(values.next()?).ok()?;
        let count = values.next()?;
        Some(RecordHeader {
            end,
            count,
            length: usize::try_from(values.next()?).ok()?,
            name: usize::from(*name),
        })
    }

    /// The record at an offset, `None` for an empty one, and the offset after it.
    fn record(
        &self,
        at: usize,
        limit: usize,
        depth: usize,
    ) -> Result<(Option<FbxRecord<'a>>, usize), FbxRecordError> {
        let damaged = |what| FbxRecordError::Damaged { at, what };
        let RecordHeader { end, count, length, name } =
            self.header(at).ok_or_else(|| damaged("is cut off"))?;
        let start = at + header_size(self.wide);
        if end == 0 && count == 0 && length == 0 && name == 0 {
            return Ok((None, start));
        }
        let properties = start + name;
        let inside = properties.checked_add(length).filter(|i| *i <= end && end <= limit);
        let mut offset = inside.ok_or_else(|| damaged("has an invalid end offset"))?;
        if depth == DEPTH {
            return Err(damaged("is nested too deeply"));
        }
        let mut record = FbxRecord {
            name: Cow::Borrowed(&self.bytes[start..properties]),
            count,
            properties: Cow::Borrowed(&self.bytes[properties..offset]),
            ..FbxRecord::default()
        };
        while offset < end {
            if record.block {
                return Err(damaged("continues after its end"));
            }
            let (child, next) = self.record(offset, end, depth + 1)?;
            match child {
                Some(child) => record.children.push(child),
                None => record.block = true,
            }
            offset = next;
        }
        Ok((Some(record), end))
    }
}

/// The version of a binary file; `None` for other files.
pub(super) fn binary_version(bytes: &[u8]) -> Option<u32> {
    bytes.strip_prefix(MAGIC).and_then(|rest| rest.first_chunk()).map(|v| u32::from_le_bytes(*v))
}

/// The records of a binary file of version 7.
///
/// # Errors
/// A [`FbxRecordError`] for anything else.
pub(super) fn parse(bytes: &[u8]) -> Result<FbxFile<'_>, FbxRecordError> {
    let version = binary_version(bytes).filter(|v| VERSIONS.contains(v)).ok_or(FbxRecordError::Kind)?;
    let parser = RecordParser { bytes, wide: version >= WIDE_SINCE };
    let mut offset = MAGIC.len() + 4;
    let mut records = Vec::new();
    loop {
        let (record, next) = parser.record(offset, bytes.len(), 0)?;
        offset = next;
        match record {
            Some(record) => records.push(record),
            None => break,
        }
    }
    let code = bytes[offset..].first_chunk();
    let code = code.ok_or(FbxRecordError::Damaged { at: offset, what: "is not followed by a footer" })?;
    Ok(FbxFile { version, records, code: *code })
}

impl FbxFile<'_> {
    /// The bytes of the file.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, FbxRecordError> {
        let wide = self.version >= WIDE_SINCE;
        let mut out = Vec::with_capacity(self.records.iter().map(|r| r.size(wide)).sum::<usize>() + 512);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.version.to_le_bytes());
        for record in &self.records {
            record.write(&mut out, wide)?;
        }
        out.resize(out.len() + header_size(wide), 0);
        out.extend_from_slice(&self.code);
        out.resize(out.len() + 4, 0);
        // Padding to the next multiple of 16, at least one byte.
        out.resize((out.len() / 16 + 1) * 16, 0);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.resize(out.len() + ZEROS, 0);
        out.extend_from_slice(&END);
        Ok(out)
    }
}

impl FbxRecord<'_> {
    /// The encoded length of the record, bytes.
    pub(super) fn size(&self, wide: bool) -> usize {
        let inside: usize = self.children.iter().map(|c| c.size(wide)).sum();
        let own = header_size(wide) + self.name.len() + self.properties.len();
        own + inside + if self.block { header_size(wide) } else { 0 }
    }

    fn write(&self, out: &mut Vec<u8>, wide: bool) -> Result<(), FbxRecordError> {
        let at = out.len();
        out.resize(at + header_size(wide), 0);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.properties);
        for child in &self.children {
            child.write(out, wide)?;
        }
        if self.block {
            out.resize(out.len() + header_size(wide), 0);
        }
        let width = if wide { 8 } else { 4 };
        let numbers = [out.len() as u64, self.count, self.properties.len() as u64];
        for (field, number) in out[at..].chunks_exact_mut(width).zip(numbers) {
            if !wide && u32::try_from(number).is_err() {
                return Err(FbxRecordError::Large);
            }
            field.copy_from_slice(&number.to_le_bytes()[..width]);
        }
        // Names are short: they are constants of this crate, or were read with a one-byte length.
        out[at + 3 * width] = u8::try_from(self.name.len()).unwrap_or(u8::MAX);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u32) -> FbxFile<'static> {
        let inner = FbxRecord::new("Inner").int(7).string("x").doubles(&[1.0; 40]);
        let records = vec![
            FbxRecord::new("Empty").block(),
            FbxRecord::new("Outer").long(-1).add(inner).add(FbxRecord::new("Bare")),
        ];
        FbxFile { version, records, code: [9; 16] }
    }

    #[test]
    fn what_is_written_reads_back_in_both_widths() {
        for version in [7400, 7500] {
            let bytes = file(version).to_bytes().unwrap();
            assert_eq!(parse(&bytes), Ok(file(version)));
            assert_eq!(parse(&bytes).unwrap().to_bytes().unwrap(), bytes);
            assert_eq!((bytes.len() - 16 - ZEROS - 4) % 16, 0);
        }
    }

    #[test]
    fn damaged_records_are_refused_at_their_byte() {
        let bytes = file(7400).to_bytes().unwrap();
        let message = |bytes: &[u8]| parse(bytes).unwrap_err().to_string();
        assert_eq!(message(&bytes[..30]), "the record at byte 27 is cut off");
        let mut past = bytes.clone();
        past[27..31].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(message(&past), "the record at byte 27 has an invalid end offset");
        let deep = (0..DEPTH).fold(FbxRecord::new("Deep"), |inner, _| FbxRecord::new("Deep").add(inner));
        let deep = FbxFile { version: 7400, records: vec![deep], code: [9; 16] }.to_bytes().unwrap();
        let at = 27 + DEPTH * (13 + 4);
        assert_eq!(message(&deep), format!("the record at byte {at} is nested too deeply"));
        let end = bytes.len() - 16 - ZEROS - 4;
        let footer =
            (0..=end).rev().find(|n| parse(&bytes[..*n]).is_err_and(|e| e.to_string().contains("footer")));
        let footer = message(&bytes[..footer.unwrap()]);
        assert!(
            footer.starts_with("the record at byte ") && footer.ends_with(" is not followed by a footer"),
            "{footer}"
        );
    }

    #[test]
    fn cut_and_changed_bytes_are_errors_or_records() {
        for version in [7400, 7500] {
            let bytes = file(version).to_bytes().unwrap();
            let records = bytes.len() - 16 - ZEROS - 4 - 32;
            for length in 0..records {
                assert!(parse(&bytes[..length]).is_err(), "{length}");
            }
            for at in 0..bytes.len() {
                for value in [0, 1, 0x7f, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] = value;
                    let _ = parse(&changed);
                }
            }
        }
    }

    #[test]
    fn other_kinds_and_versions_are_refused() {
        for bytes in [&b"; FBX 7.4.0 project file"[..], b"Kaydara FBX Binary  \0\x1a\x01\0\0\0\0", b""] {
            assert_eq!(parse(bytes), Err(FbxRecordError::Kind));
        }
        let mut old = file(7400).to_bytes().unwrap();
        old[23..27].copy_from_slice(&6100u32.to_le_bytes());
        assert_eq!(parse(&old), Err(FbxRecordError::Kind));
    }
}
