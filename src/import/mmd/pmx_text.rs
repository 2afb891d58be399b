//! The header of a PMX file, which says how texts and indices are written.

use super::byte_cursor::ByteCursor;
use super::mmd_error::MmdError;

/// How texts and indices of a file are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct PmxLayout {
    /// Whether texts are UTF-8, else UTF-16 (little-endian).
    utf8: bool,
    /// Further sets of four texture coordinates of a vertex.
    pub(super) further_uvs: u8,
    /// Bytes of indices.
    pub(super) vertex: u8,
    pub(super) texture: u8,
    pub(super) material: u8,
    pub(super) bone: u8,
    pub(super) morph: u8,
    pub(super) body: u8,
}

/// The first bytes of a file.
pub(super) const SIGNATURE: &[u8] = b"PMX ";
/// Bytes of the header that have a meaning.
const FIELDS: u8 = 8;

impl PmxLayout {
    /// Reads the header.
    pub(super) fn read(cursor: &mut ByteCursor) -> Result<Self, MmdError> {
        let what = "the header";
        let fault = |offset: usize, reason: String| MmdError::Value { offset, reason };
        if cursor.take(SIGNATURE.len(), what)? != SIGNATURE {
            return Err(fault(0, "no PMX file begins here".to_owned()));
        }
        let version = cursor.number(what)?;
        if !(2.0..2.2).contains(&version) {
            return Err(fault(4, format!("version {version} of the format is not known, 2.0 and 2.1 are")));
        }
        let (offset, count) = (cursor.offset, cursor.byte(what)?);
        if count < FIELDS {
            return Err(fault(offset, format!("{count} fields, the header has {FIELDS}")));
        }
        let fields = cursor.take(usize::from(count), what)?;
        let layout = Self {
            utf8: fields[0] == 1,
            further_uvs: fields[1],
            vertex: fields[2],
            texture: fields[3],
            material: fields[4],
            bone: fields[5],
            morph: fields[6],
            body: fields[7],
        };
        let sizes = fields[2..usize::from(FIELDS)].iter().all(|size| matches!(size, 1 | 2 | 4));
        if !sizes || fields[0] > 1 || layout.further_uvs > 4 {
            return Err(fault(offset, "the header has a size that the format does not have".to_owned()));
        }
        Ok(layout)
    }

    /// A text: its length in bytes and the bytes.
    pub(super) fn text(&self, cursor: &mut ByteCursor, what: &'static str) -> Result<String, MmdError> {
        let length = cursor.count(1, what)?;
        let bytes = cursor.take(length, what)?;
        Ok(match self.utf8 {
            true => String::from_utf8_lossy(bytes).into_owned(),
            false => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0.into_owned(),
        })
    }

    /// An index of `size` bytes, -1 for none; that of a vertex has no sign but with four bytes.
    pub(super) fn index(
        cursor: &mut ByteCursor,
        size: u8,
        what: &'static str,
    ) -> Result<Option<usize>, MmdError> {
        let index = match size {
            1 => i64::from(cursor.byte(what)? as i8),
            2 => i64::from(cursor.short(what)? as i16),
            _ => i64::from(cursor.int(what)?),
        };
        Ok(usize::try_from(index).ok())
    }

    /// The index of a vertex.
    pub(super) fn vertex_index(&self, cursor: &mut ByteCursor, what: &'static str) -> Result<u32, MmdError> {
        Ok(match self.vertex {
            1 => u32::from(cursor.byte(what)?),
            2 => u32::from(cursor.short(what)?),
            _ => cursor.unsigned(what)?,
        })
    }
}
