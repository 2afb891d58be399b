//! Rotations of a clip, a row of joints for each frame: in memory, or in a temporary file where they are many.
//!
//! A take of an hour has gigabytes of them, of which each step needs a few frames at a time.

use super::stored_rows::{BLOCK, BYTES, StoredRows};
use crate::math::Quat;
use crate::parallel;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes of rotations from which they are in a file: a minute of 60 joints at 240 Hz stays in memory. With double, twice that is
/// held of the take and of its result; with half, takes of half a minute are written to the disk and read again.
const LONG: usize = 32 << 20;

/// Rows of rotations, one for each frame.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", serde(from = "(usize, Vec<Quat>)", into = "(usize, Vec<Quat>)"))]
pub(crate) struct RotationRows {
    width: usize,
    store: Store,
}

#[derive(Clone, Debug)]
enum Store {
    Memory(Vec<Quat>),
    File(StoredRows),
}

impl RotationRows {
    /// No rows yet, of `width` rotations each.
    ///
    /// # Panics
    /// If the width is 0.
    pub fn new(width: usize) -> Self {
        assert!(width > 0, "rows of some rotations");
        Self { width, store: Store::Memory(Vec::new()) }
    }

    /// The rows of a flat list.
    ///
    /// # Panics
    /// If the list is not of whole rows.
    pub fn of(width: usize, rotations: Vec<Quat>) -> Self {
        let mut rows = Self::new(width);
        assert!(rotations.len().is_multiple_of(width), "whole frames of rotations");
        rows.store = Store::Memory(rotations);
        rows.store_long();
        rows
    }

    /// Makes room for so many further rows, where they stay in memory.
    pub fn reserve(&mut self, rows: usize) {
        if let Store::Memory(list) = &mut self.store {
            let more = rows * self.width;
            if (list.len() + more) * BYTES <= LONG {
                list.reserve_exact(more);
            }
        }
    }

    /// Appends whole rows.
    ///
    /// # Panics
    /// If the list is not of whole rows.
    pub fn extend(&mut self, rotations: &[Quat]) {
        assert!(rotations.len().is_multiple_of(self.width), "whole frames of rotations");
        match &mut self.store {
            Store::Memory(list) => list.extend_from_slice(rotations),
            Store::File(stored) => stored.extend(rotations),
        }
        self.store_long();
    }

    /// Appends the rows of another list of the same width.
    pub fn append(&mut self, other: &RotationRows) {
        match &other.store {
            Store::Memory(list) => self.extend(list),
            Store::File(stored) => (0..stored.blocks()).for_each(|block| self.extend(&stored.block(block))),
        }
    }

    /// Moves rows that take too much memory to a file, if one can be made.
    fn store_long(&mut self) {
        if let Store::Memory(list) = &self.store
            && size_of_val(list.as_slice()) > LONG
            && let Ok(mut stored) = StoredRows::new(self.width)
        {
            stored.extend(list);
            self.store = Store::File(stored);
        }
    }

    /// A copy of all rotations.
    pub fn to_vec(&self) -> Vec<Quat> {
        (0..self.frames()).flat_map(|f| self.row(f).to_vec()).collect()
    }

    /// All rotations, if they are in memory.
    pub fn in_memory(&self) -> Option<&[Quat]> {
        match &self.store {
            Store::Memory(list) => Some(list),
            Store::File(_) => None,
        }
    }

    /// The number of rotations of a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn frames(&self) -> usize {
        match &self.store {
            Store::Memory(list) => list.len() / self.width,
            Store::File(stored) => stored.frames(),
        }
    }

    /// The rows of some frames.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn part(&self, frames: Range<usize>) -> Self {
        let mut part = Self::new(self.width);
        part.reserve(frames.len());
        match &self.store {
            Store::Memory(list) => part.extend(&list[frames.start * self.width..frames.end * self.width]),
            Store::File(_) => frames.for_each(|frame| part.extend(&self.row(frame))),
        }
        part
    }

    /// Parts of so many consecutive rows. In memory, each part's is released from the rest, so that to convert rows part by part needs
    /// little more memory than the larger of both.
    pub fn into_parts(self, frames: usize) -> impl Iterator<Item = Self> {
        let (width, all) = (self.width, self.frames());
        let mut rest = self;
        if let Store::Memory(list) = &mut rest.store {
            // A vector can release memory only at its end.
            list.reverse();
        }
        (0..all).step_by(frames).map(move |first| {
            let part = first..all.min(first + frames);
            match &mut rest.store {
                Store::Memory(list) => {
                    let mut rows = list.split_off(list.len() - part.len() * width);
                    list.shrink_to_fit();
                    rows.reverse();
                    Self { width, store: Store::Memory(rows) }
                }
                Store::File(_) => rest.part(part),
            }
        })
    }

    /// The rotations of a frame.
    #[inline]
    pub fn row(&self, frame: usize) -> RotationRow<'_> {
        RotationRow(match &self.store {
            Store::Memory(list) => Row::Memory(&list[frame * self.width..][..self.width]),
            Store::File(stored) => {
                let (block, first) = stored.row(frame);
                Row::Block(block, first, self.width)
            }
        })
    }

    /// The rotations of a frame, mutable.
    #[inline]
    pub fn row_mut(&mut self, frame: usize) -> &mut [Quat] {
        match &mut self.store {
            Store::Memory(list) => &mut list[frame * self.width..][..self.width],
            Store::File(stored) => stored.row_mut(frame),
        }
    }

    /// Changes the rows of blocks of [`BLOCK`] frames in parallel, given with the number of their first frame; the values that
    /// `change` returns for them, in order.
    pub fn change_blocks<T: Send>(&mut self, change: impl Fn(usize, &mut [Quat]) -> T + Sync) -> Vec<T> {
        match &mut self.store {
            Store::Memory(list) => {
                let mut blocks: Vec<_> = list.chunks_mut(BLOCK * self.width).collect();
                parallel::map_mut(&mut blocks, 1, |block, rows| change(BLOCK * block, rows))
            }
            Store::File(stored) => parallel::map(stored.blocks(), 1, |block| {
                stored.change(block, |rows| change(BLOCK * block, rows))
            }),
        }
    }
}

impl From<(usize, Vec<Quat>)> for RotationRows {
    fn from((width, rotations): (usize, Vec<Quat>)) -> Self {
        Self::of(width, rotations)
    }
}

impl From<RotationRows> for (usize, Vec<Quat>) {
    fn from(rows: RotationRows) -> Self {
        (rows.width, rows.to_vec())
    }
}

impl PartialEq for RotationRows {
    fn eq(&self, other: &Self) -> bool {
        let alike = self.width == other.width && self.frames() == other.frames();
        alike && (0..self.frames()).all(|f| *self.row(f) == *other.row(f))
    }
}

/// The rotations of one frame of a clip, in joint order; a slice of them.
#[derive(Clone, Debug)]
pub struct RotationRow<'a>(Row<'a>);

#[derive(Clone, Debug)]
enum Row<'a> {
    Memory(&'a [Quat]),
    /// Of a block, from its first rotation on.
    Block(Arc<Vec<Quat>>, usize, usize),
}

impl Deref for RotationRow<'_> {
    type Target = [Quat];

    #[inline]
    fn deref(&self) -> &[Quat] {
        match &self.0 {
            Row::Memory(row) => row,
            Row::Block(block, first, width) => &block[*first..][..*width],
        }
    }
}

impl PartialEq for RotationRow<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::super::stored_rows::KEPT;
    use super::*;
    use crate::math::{Vec3, exp};

    fn rotation(frame: usize, joint: usize) -> Quat {
        exp(&Vec3::new(1e-3 * frame as f64, 0.1 * joint as f64, 0.0))
    }

    fn numbers(rows: &RotationRows) -> Vec<[f64; 4]> {
        (0..rows.frames())
            .flat_map(|f| rows.row(f).iter().map(|q| q.coords.into()).collect::<Vec<_>>())
            .collect()
    }

    /// The same rows, in memory and in a file.
    fn both(frames: usize, width: usize) -> [RotationRows; 2] {
        let list: Vec<Quat> =
            (0..frames).flat_map(|f| (0..width).map(move |joint| rotation(f, joint))).collect();
        let mut stored = StoredRows::new(width).unwrap();
        // In pieces that do not fit the blocks.
        list.chunks(7 * width).for_each(|rows| stored.extend(rows));
        [Store::Memory(list), Store::File(stored)].map(|store| RotationRows { width, store })
    }

    /// Frames whose blocks cannot all be kept in memory.
    fn many(width: usize) -> usize {
        let most = (KEPT / (BLOCK * width * BYTES)).max(4 * parallel::threads());
        (most + 3) * BLOCK + 5
    }

    #[test]
    fn rows_come_back_from_a_file_bit_for_bit() {
        let width = 300;
        let [memory, stored] = both(many(width), width);
        assert!(memory == stored);
        assert_eq!(numbers(&memory), numbers(&stored));
        let part = 60..many(width) - 1;
        assert_eq!(numbers(&memory.part(part.clone())), numbers(&stored.part(part)));
        assert_eq!(stored.part(9..9).frames(), 0);
        let mut joined = memory.part(0..100);
        joined.append(&stored.part(100..many(width)));
        assert!(joined == memory);
    }

    #[test]
    fn rows_in_a_file_are_changed_as_those_in_memory_and_clones_are_not() {
        let width = 300;
        let frames = many(width);
        let [mut memory, mut stored] = both(frames, width);
        let before = stored.clone();
        for rows in [&mut memory, &mut stored] {
            for f in (0..frames).step_by(97) {
                rows.row_mut(f)[3] = rotation(7, f);
            }
            let firsts = rows.change_blocks(|first, rows| {
                rows.chunks_mut(width).step_by(2).for_each(|row| row[0] = rotation(first, 1));
                first
            });
            assert_eq!(firsts, (0..frames).step_by(BLOCK).collect::<Vec<_>>());
        }
        assert_eq!(numbers(&memory), numbers(&stored));
        let [untouched, _] = both(frames, width);
        assert_eq!(numbers(&before), numbers(&untouched));
        // And the other way round: a change of the clone.
        let mut clone = stored.clone();
        clone.row_mut(5)[0] = rotation(1, 1);
        drop(before);
        assert_eq!(numbers(&memory), numbers(&stored));
    }

    #[test]
    fn many_rows_are_stored_and_few_are_not() {
        let width = 64;
        let rows = vec![Quat::identity(); width];
        let mut growing = RotationRows::new(width);
        for _ in 0..LONG / (width * BYTES) {
            growing.extend(&rows);
        }
        assert!(matches!(growing.store, Store::Memory(_)));
        growing.extend(&rows);
        assert!(matches!(growing.store, Store::File(_)));
        assert!(matches!(growing.part(0..9).store, Store::Memory(_)));
        assert_eq!(growing.frames(), LONG / (width * BYTES) + 1);
    }
}
