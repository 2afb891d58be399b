//! Reads little-endian numbers from a file, with the position of missing bytes in errors.

use super::mmd_error::MmdError;

/// A place in the bytes of a file.
#[derive(Clone, Debug)]
pub(super) struct ByteCursor<'a> {
    bytes: &'a [u8],
    /// Bytes read so far.
    pub(super) offset: usize,
    /// Numbers that are not finite, read as 0, and the byte of the first.
    pub(super) odd: Option<(usize, usize)>,
}

impl<'a> ByteCursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0, odd: None }
    }

    /// The bytes that are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.offset
    }

    /// The next `count` bytes; `what` they are part of.
    ///
    /// # Errors
    /// [`MmdError::Truncated`], as those of all methods below.
    pub(super) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], MmdError> {
        let rest = &self.bytes[self.offset..];
        let taken = rest.get(..count).ok_or(MmdError::Truncated { offset: self.offset, what })?;
        self.offset += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], MmdError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(super) fn byte(&mut self, what: &'static str) -> Result<u8, MmdError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(super) fn short(&mut self, what: &'static str) -> Result<u16, MmdError> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(super) fn int(&mut self, what: &'static str) -> Result<i32, MmdError> {
        Ok(i32::from_le_bytes(self.array(what)?))
    }

    pub(super) fn unsigned(&mut self, what: &'static str) -> Result<u32, MmdError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    /// Numbers; one that is not finite is read as 0.
    pub(super) fn numbers<const N: usize>(&mut self, what: &'static str) -> Result<[f32; N], MmdError> {
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            let offset = self.offset;
            *number = f32::from_le_bytes(self.array(what)?);
            if !number.is_finite() {
                *number = 0.0;
                let (count, first) = self.odd.unwrap_or((0, offset));
                self.odd = Some((count + 1, first));
            }
        }
        Ok(numbers)
    }

    pub(super) fn number(&mut self, what: &'static str) -> Result<f32, MmdError> {
        Ok(self.numbers::<1>(what)?[0])
    }

    /// The length of a list, whose entries have at least `least` bytes: no more than the file can hold.
    pub(super) fn count(&mut self, least: usize, what: &'static str) -> Result<usize, MmdError> {
        let offset = self.offset;
        let count = self.unsigned(what)? as usize;
        match count.checked_mul(least) {
            Some(bytes) if bytes <= self.left() => Ok(count),
            _ => Err(MmdError::Truncated { offset, what }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_its_byte() {
        let bytes = [2, 0, 0, 0, 0, 0, 0x80, 0x7f, 9];
        let mut cursor = ByteCursor::new(&bytes);
        assert_eq!(cursor.count(2, "the list"), Ok(2));
        assert_eq!((cursor.number("a number"), cursor.odd), (Ok(0.0), Some((1, 4))));
        assert_eq!(cursor.short("the end"), Err(MmdError::Truncated { offset: 8, what: "the end" }));
        let mut cursor = ByteCursor::new(&bytes);
        assert_eq!(cursor.count(3, "the list"), Err(MmdError::Truncated { offset: 0, what: "the list" }));
    }
}
