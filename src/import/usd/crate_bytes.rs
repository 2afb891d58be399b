//! Takes bytes and numbers of a crate, and unpacks its compressed lists.
//!
//! Every count is compared with the bytes that are there and reserved before anything is allocated. Bytes are packed as LZ4
//! blocks, whole numbers as differences of one to four (or eight) bytes within. Source: Pixar's USD, `sdf/integerCoding` and
//! `tf/fastCompression`; the block format of LZ4.

use super::usd_error::UsdError;
use crate::memory_budget::MemoryBudget;

/// An LZ4 block has at most this many bytes for each packed one: a byte of a length stands for 255.
const MOST_UNPACKED: usize = 255;
/// A list of whole numbers has at least a code of two bits for each.
const CODES_PER_BYTE: usize = 4;

/// The bytes of a crate, from a position on.
#[derive(Clone)]
pub(super) struct CrateBytes<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The part of the file that is read, for messages.
    pub(super) part: &'static str,
    pub(super) budget: &'a MemoryBudget,
}

/// A number of a file as a count or a position; too large for this machine is too large for the file.
pub(super) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl<'a> CrateBytes<'a> {
    pub(super) fn new(bytes: &'a [u8], part: &'static str, budget: &'a MemoryBudget) -> Self {
        Self { bytes, at: 0, part, budget }
    }

    /// The same bytes from another position on.
    pub(super) fn at(&self, at: usize) -> Self {
        Self { at, ..self.clone() }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn fault(&self, reason: impl Into<String>) -> UsdError {
        UsdError::Crate { part: self.part, reason: reason.into() }
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], UsdError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..length));
        let taken = taken.ok_or_else(|| {
            let left = self.bytes.len().saturating_sub(self.at);
            self.fault(format!("{length} bytes were expected at byte {}, the file has {left} there", self.at))
        })?;
        self.at += length;
        Ok(taken)
    }

    /// As many values of `size` bytes each.
    pub(super) fn list(&mut self, values: usize, size: usize) -> Result<&'a [u8], UsdError> {
        self.take(values.saturating_mul(size))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], UsdError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, UsdError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u32(&mut self) -> Result<u32, UsdError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, UsdError> {
        self.array().map(u64::from_le_bytes)
    }

    /// The position to which a distance from here leads.
    pub(super) fn jump(&mut self) -> Result<usize, UsdError> {
        let begin = self.at as u64;
        let distance = self.u64()?;
        Ok(count(begin.wrapping_add(distance)))
    }

    /// The bytes that a packed list of `packed` bytes holds, at most `most`.
    pub(super) fn unpacked(&mut self, packed: usize, most: usize) -> Result<Vec<u8>, UsdError> {
        let packed = self.take(packed)?;
        let Some((&chunks, mut rest)) = packed.split_first() else { return Ok(Vec::new()) };
        let room = most.min(rest.len().saturating_mul(MOST_UNPACKED));
        self.budget.reserve(room as u64, || format!("the {}", self.part))?;
        let mut out = vec![0; room];
        let mut filled = 0;
        for _ in 0..chunks.max(1) {
            let block = if chunks == 0 {
                rest
            } else {
                let (length, behind) =
                    rest.split_first_chunk().ok_or_else(|| self.fault("a chunk is cut off"))?;
                let length = u32::from_le_bytes(*length) as usize;
                let block = behind.get(..length).ok_or_else(|| self.fault("a chunk is cut off"))?;
                rest = &behind[length..];
                block
            };
            filled += lz4_flex::block::decompress_into(block, &mut out[filled..])
                .map_err(|e| self.fault(format!("a compressed list is damaged ({e})")))?;
        }
        out.truncate(filled);
        Ok(out)
    }

    /// A compressed list of whole numbers of 32 bits.
    pub(super) fn integers(&mut self, numbers: usize) -> Result<Vec<i32>, UsdError> {
        self.reserve_numbers(numbers, size_of::<i32>())?;
        let mut last = 0_i32;
        let mut all = Vec::with_capacity(numbers);
        self.differences(numbers, [4, 1, 2, 4], |difference| {
            last = last.wrapping_add(difference as i32);
            all.push(last);
        })?;
        Ok(all)
    }

    /// The same of 64 bits.
    pub(super) fn long_integers(&mut self, numbers: usize) -> Result<Vec<i64>, UsdError> {
        self.reserve_numbers(numbers, size_of::<i64>())?;
        let mut last = 0_i64;
        let mut all = Vec::with_capacity(numbers);
        self.differences(numbers, [8, 2, 4, 8], |difference| {
            last = last.wrapping_add(difference);
            all.push(last);
        })?;
        Ok(all)
    }

    fn reserve_numbers(&self, numbers: usize, size: usize) -> Result<(), UsdError> {
        let left = self.bytes.len().saturating_sub(self.at);
        if numbers / CODES_PER_BYTE / MOST_UNPACKED > left {
            return Err(self.fault(format!("{numbers} numbers are not in the {left} bytes that are left")));
        }
        Ok(self.budget.reserve((numbers * size) as u64, || format!("the {}", self.part))?)
    }

    /// The differences of a compressed list. `sizes` are the bytes of the commonest difference, whose code is 0, and of those
    /// with the codes 1 to 3.
    fn differences(
        &mut self,
        numbers: usize,
        sizes: [usize; 4],
        mut found: impl FnMut(i64),
    ) -> Result<(), UsdError> {
        let packed = count(self.u64()?);
        let codes = numbers.div_ceil(CODES_PER_BYTE);
        let list = self.unpacked(packed, sizes[0] + codes + numbers * sizes[3])?;
        if numbers == 0 {
            return Ok(());
        }
        let short = || self.fault("a list of numbers is cut off");
        let (common, rest) = list.split_at_checked(sizes[0]).ok_or_else(short)?;
        let (codes, mut rest) = rest.split_at_checked(codes).ok_or_else(short)?;
        let common = signed(common);
        for k in 0..numbers {
            match usize::from(codes[k / CODES_PER_BYTE] >> (2 * (k % CODES_PER_BYTE)) & 3) {
                0 => found(common),
                code => {
                    let (number, behind) = rest.split_at_checked(sizes[code]).ok_or_else(short)?;
                    found(signed(number));
                    rest = behind;
                }
            }
        }
        Ok(())
    }
}

/// A whole number of up to eight bytes, whose highest bit is its sign.
fn signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * bytes.len() as u32;
    let number = bytes.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    ((number << unused) as i64) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that is packed as one block of literals.
    fn packed(list: &[u8]) -> Vec<u8> {
        let mut bytes = (1 + lz4_flex::block::compress(list).len() as u64).to_le_bytes().to_vec();
        bytes.push(0);
        bytes.extend(lz4_flex::block::compress(list));
        bytes
    }

    #[test]
    fn whole_numbers_come_from_their_differences() {
        let budget = MemoryBudget::new(0, None);
        // Common difference 1; codes: common, byte, short, int, common.
        let list = packed(&[1, 0, 0, 0, 0b11_10_01_00, 0, 0xFE, 0, 1, 0, 0, 0, 0x80]);
        let numbers = CrateBytes::new(&list, "test", &budget).integers(5).unwrap();
        assert_eq!(numbers, [1, -1, 255, i32::MIN + 255, i32::MIN + 256]);
        let long = packed(&[0, 0, 0, 0, 0, 0, 0, 1, 0b01_00, 0xFF, 0xFF]);
        let numbers = CrateBytes::new(&long, "test", &budget).long_integers(2).unwrap();
        assert_eq!(numbers, [1 << 56, (1 << 56) - 1]);
    }

    #[test]
    fn counts_are_compared_with_bytes_and_memory_first() {
        let budget = MemoryBudget::new(0, Some(1000));
        let list = packed(&[1, 0, 0, 0, 0]);
        let reader = || CrateBytes::new(&list, "test", &budget);
        for numbers in [usize::MAX, 1 << 40, 100_000] {
            assert!(matches!(reader().integers(numbers), Err(UsdError::Crate { .. })), "{numbers}");
        }
        assert!(matches!(reader().integers(900), Err(UsdError::Memory(_))));
        assert!(reader().list(usize::MAX, 8).is_err() && reader().at(usize::MAX).u64().is_err());
    }
}
