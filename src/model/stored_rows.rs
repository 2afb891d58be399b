//! Rows of rotations in a temporary file, block by block, of which some are in memory.
//!
//! The file has no name; the system removes it when the last clip with its rows is dropped. What comes back from it is what was
//! written, bit for bit.

use crate::math::{Quat, RawQuat};
use crate::parallel;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
#[cfg(not(unix))]
use std::io::{Read as _, Seek as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of rows of a clip in a file that stay in memory: those which threads read at the same time, several times over.
pub(super) const KEPT: usize = 16 << 20;

/// Frames that are read, written or changed together.
pub(super) const BLOCK: usize = 64;

/// Bytes of a rotation in a file.
pub(super) const BYTES: usize = size_of::<Quat>();

/// Rows in a temporary file, the last ones read or changed in memory too.
#[derive(Debug)]
pub(super) struct StoredRows {
    width: usize,
    frames: usize,
    file: Arc<RowFile>,
    blocks: Vec<Mutex<Block>>,
    /// The blocks in memory, the longest there first.
    recent: Mutex<VecDeque<usize>>,
}

/// A file of rows, to which blocks are added at the end.
#[derive(Debug)]
struct RowFile {
    file: File,
    /// Its length in bytes.
    end: Mutex<u64>,
}

impl RowFile {
    /// A place for so many bytes.
    fn reserve(&self, bytes: usize) -> u64 {
        let mut end = lock(&self.end);
        let place = *end;
        *end += bytes as u64;
        place
    }

    #[cfg(unix)]
    fn write(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, place)
    }

    #[cfg(unix)]
    fn read(&self, bytes: &mut [u8], place: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, place)
    }

    #[cfg(not(unix))]
    fn write(&self, bytes: &[u8], place: u64) -> io::Result<()> {
        let (_alone, mut file) = (lock(&self.end), &self.file);
        file.seek(io::SeekFrom::Start(place))?;
        file.write_all(bytes)
    }

    #[cfg(not(unix))]
    fn read(&self, bytes: &mut [u8], place: u64) -> io::Result<()> {
        let (_alone, mut file) = (lock(&self.end), &self.file);
        file.seek(io::SeekFrom::Start(place))?;
        file.read_exact(bytes)
    }
}

thread_local! {
    /// The bytes of the block that a thread reads or writes.
    static BYTES_OF_BLOCK: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work` with memory for so many bytes, whatever they are.
fn with_bytes<T>(count: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    BYTES_OF_BLOCK.with_borrow_mut(|bytes| {
        bytes.resize(bytes.len().max(count), 0);
        work(&mut bytes[..count])
    })
}

/// [`BLOCK`] frames, or those left at the end.
#[derive(Debug, Default)]
struct Block {
    rows: Option<Arc<Vec<Quat>>>,
    /// Where in the file it was written. Clones of a clip share the place until one of them changes the block.
    place: Option<Arc<u64>>,
    /// Whether the rows in memory differ from those in the file.
    changed: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StoredRows {
    /// No rows yet, of `width` rotations each.
    ///
    /// # Errors
    /// That of the system if no temporary file can be made.
    pub(super) fn new(width: usize) -> io::Result<Self> {
        let file = RowFile { file: tempfile::tempfile()?, end: Mutex::default() };
        let (file, recent) = (Arc::new(file), Mutex::default());
        Ok(Self { width, frames: 0, file, blocks: Vec::new(), recent })
    }

    /// Appends whole rows.
    pub(super) fn extend(&mut self, rotations: &[Quat]) {
        let mut rest = rotations;
        while !rest.is_empty() {
            let filled = self.frames % BLOCK;
            let (now, later) = rest.split_at(rest.len().min((BLOCK - filled) * self.width));
            if filled == 0 {
                let rows = Vec::with_capacity(BLOCK * self.width);
                self.blocks.push(Mutex::new(Block {
                    rows: Some(Arc::new(rows)),
                    place: None,
                    changed: true,
                }));
                self.keep(self.blocks.len() - 1);
            }
            self.block_mut(self.blocks.len() - 1).extend_from_slice(now);
            self.frames += now.len() / self.width;
            rest = later;
        }
    }

    /// The number of rows.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The block of a row, and where in it the row begins.
    pub(super) fn row(&self, frame: usize) -> (Arc<Vec<Quat>>, usize) {
        assert!(frame < self.frames, "a frame of the clip");
        (self.block(frame / BLOCK), frame % BLOCK * self.width)
    }

    /// A row, to be changed.
    pub(super) fn row_mut(&mut self, frame: usize) -> &mut [Quat] {
        let width = self.width;
        &mut self.block_mut(frame / BLOCK)[frame % BLOCK * width..][..width]
    }

    /// The rows of a block.
    pub(super) fn block(&self, index: usize) -> Arc<Vec<Quat>> {
        let mut block = lock(&self.blocks[index]);
        if let Some(rows) = &block.rows {
            return Arc::clone(rows);
        }
        let rows = Arc::new(self.read(index, &block));
        block.rows = Some(Arc::clone(&rows));
        drop(block);
        self.keep(index);
        rows
    }

    /// The rows of a block, to be changed.
    fn block_mut(&mut self, index: usize) -> &mut Vec<Quat> {
        self.block(index);
        let block = self.blocks[index].get_mut().unwrap_or_else(PoisonError::into_inner);
        block.changed = true;
        Arc::make_mut(block.rows.as_mut().expect("a block that was just read is kept"))
    }

    /// Changes a block, which no other thread uses.
    pub(super) fn change<T>(&self, index: usize, change: impl FnOnce(&mut Vec<Quat>) -> T) -> T {
        let mut rows = self.block(index);
        lock(&self.blocks[index]).rows = None;
        let made = change(Arc::make_mut(&mut rows));
        let mut block = lock(&self.blocks[index]);
        (block.rows, block.changed) = (Some(rows), true);
        drop(block);
        self.keep(index);
        made
    }

    /// Notes that a block is in memory, and releases the one that has been there longest if there are too many.
    fn keep(&self, index: usize) {
        let most = (KEPT / (BLOCK * self.width * BYTES)).max(4 * parallel::threads());
        let oldest = {
            let mut recent = lock(&self.recent);
            recent.push_back(index);
            if recent.len() > most { recent.pop_front() } else { None }
        };
        let Some(oldest) = oldest else { return };
        let mut block = lock(&self.blocks[oldest]);
        // What cannot be written, on a full disk, stays in memory.
        if !block.changed || self.write(&mut block).is_ok() {
            block.rows = None;
        }
    }

    fn write(&self, block: &mut Block) -> io::Result<()> {
        let Some(rows) = &block.rows else { return Ok(()) };
        // Of this block alone: the second count is that of the clone here.
        let own = block.place.clone().filter(|place| Arc::strong_count(place) == 2);
        let place = own.unwrap_or_else(|| Arc::new(self.file.reserve(BLOCK * self.width * BYTES)));
        with_bytes(rows.len() * BYTES, |bytes| {
            let (numbers, _) = bytes.as_chunks_mut::<8>();
            let (quats, _) = numbers.as_chunks_mut::<4>();
            for (xyzw, q) in quats.iter_mut().zip(rows.iter()) {
                *xyzw = <[f64; 4]>::from(q.coords).map(f64::to_le_bytes);
            }
            self.file.write(bytes, *place)
        })?;
        (block.place, block.changed) = (Some(place), false);
        Ok(())
    }

    /// Reads a block that was written.
    fn read(&self, index: usize, block: &Block) -> Vec<Quat> {
        let rows = BLOCK.min(self.frames - index * BLOCK);
        let place = block.place.as_ref().expect("a block out of memory was written");
        with_bytes(rows * self.width * BYTES, |bytes| {
            self.file.read(bytes, **place).expect("the temporary file of a long take can be read back");
            let (numbers, _) = bytes.as_chunks::<8>();
            let (quats, _) = numbers.as_chunks::<4>();
            let quat = |xyzw: &[[u8; 8]; 4]| {
                let [x, y, z, w] = xyzw.map(f64::from_le_bytes);
                // They were unit quaternions, and come back bit for bit.
                Quat::new_unchecked(RawQuat::new(w, x, y, z))
            };
            quats.iter().map(quat).collect()
        })
    }
}

/// The clone shares the file until one of both is changed.
impl Clone for StoredRows {
    fn clone(&self) -> Self {
        let block = |index: usize| {
            let mut block = lock(&self.blocks[index]);
            let written = !block.changed || self.write(&mut block).is_ok();
            let rows = block.rows.clone().filter(|_| !written);
            Mutex::new(Block { rows, place: block.place.clone(), changed: !written })
        };
        let blocks = (0..self.blocks.len()).map(block).collect();
        Self {
            width: self.width,
            frames: self.frames,
            file: Arc::clone(&self.file),
            blocks,
            recent: Mutex::default(),
        }
    }
}
