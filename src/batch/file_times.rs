//! A cache of sizes and times of files: while they stay the same, files need not be read again.
//!
//! The cache is a file next to the manifest. It is not a record: if something in it is wrong or missing, some files are read
//! again, and two runs with the same results may leave different caches.

use crate::regular_file::open_own;
use crate::regular_file::tar_archive;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Name of the cache in the folder of the outputs.
pub(super) const CACHE: &str = ".posemill.seen";

/// A file that changed this shortly before it was read may change again without a new time: file systems have time steps of
/// up to two seconds (FAT).
const TIME_STEP: Duration = Duration::from_secs(2);

/// 128 bits of a BLAKE3 hash of these parts, enough to distinguish files.
pub(super) fn key(parts: &[&[u8]]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let hash = hasher.finalize();
    u128::from_le_bytes(hash.as_bytes()[..16].try_into().expect("16 of 32 bytes"))
}

/// 64 bits of the hash, for uses in which nobody gains from a collision: among a million things one happens in one of forty
/// million runs, and costs an output that is made once too often or a collision that is not reported.
pub(super) fn short(parts: &[&[u8]]) -> u64 {
    key(parts) as u64
}

/// A hash of sizes and times of `sources` and `files`; `None` if one is missing, or if a source is so new at the time `when`
/// that it could still change without a new time.
pub(super) fn signature<'p>(
    made_with: &str,
    sources: impl Iterator<Item = &'p Path>,
    files: impl Iterator<Item = &'p Path>,
    when: Option<SystemTime>,
) -> Option<u64> {
    let mut parts: Vec<u8> = made_with.as_bytes().to_vec();
    let sources = sources.map(|path| (path, when));
    for (path, when) in sources.chain(files.map(|path| (path, None))) {
        let found = tar_archive::metadata(path).ok()?;
        let modified = found.modified().ok()?;
        if when.is_some_and(|when| modified + TIME_STEP > when) {
            return None;
        }
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        parts.extend(found.len().to_le_bytes());
        parts.extend(since.as_nanos().to_le_bytes());
        // A file that was replaced and given its old time still has a new time of change.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            parts.extend(found.ctime().to_le_bytes());
            parts.extend(found.ctime_nsec().to_le_bytes());
        }
    }
    Some(short(&[&parts]))
}

/// What is known of an output next to the manifest: it is not reproducible, and nothing else that is written may be like that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    /// The signature when its files were last compared; 0 if they have to be.
    signature: u64,
    /// How long it took to make, in [`TICK`]s; 0 if that is not known.
    took: u32,
}

/// Unit of the times that outputs took: the longest is five days.
const TICK: Duration = Duration::from_micros(100);

/// What is known of the outputs of a folder, by the hash of the output's name.
#[derive(Debug, Default)]
pub(super) struct FileTimes {
    known: HashMap<u64, Known>,
    changed: bool,
}

impl FileTimes {
    /// What is known of `folder`; nothing if there is no cache.
    pub(super) fn open(folder: &Path) -> Self {
        let file = open_own(&folder.join(CACHE), OpenOptions::new().read(true));
        let known = file.map(|mut file| rows(&content(&mut file)).collect()).unwrap_or_default();
        Self { known, changed: false }
    }

    /// Whether the output had this signature when its files were last compared.
    pub(super) fn is(&self, output: u64, signature: u64) -> bool {
        self.known.get(&output).is_some_and(|known| known.signature == signature && signature != 0)
    }

    /// Sets or removes the signature of an output.
    pub(super) fn put(&mut self, output: u64, signature: Option<u64>) {
        self.change(output, |known| known.signature = signature.unwrap_or(0));
    }

    /// Sets how long an output took to make.
    pub(super) fn took(&mut self, output: u64, time: Duration) {
        let ticks = time.as_nanos().div_ceil(TICK.as_nanos());
        self.change(output, |known| known.took = u32::try_from(ticks).unwrap_or(u32::MAX));
    }

    fn change(&mut self, output: u64, change: impl FnOnce(&mut Known)) {
        let known = self.known.entry(output).or_default();
        let before = *known;
        change(known);
        self.changed |= *known != before;
    }

    /// How long an output took to make, if that is known.
    #[cfg(feature = "cli")]
    pub(super) fn time_of(&self, output: u64) -> Option<Duration> {
        self.known.get(&output).filter(|known| known.took > 0).map(|known| TICK * known.took)
    }

    /// Writes the rows of outputs for which `exists` is true, together with those that another run has written
    /// meanwhile, to the open and locked `file`.
    pub(super) fn save(&mut self, file: &mut File, exists: impl Fn(u64) -> bool) -> std::io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        // Without a second map: the first is what a run holds of each take.
        let bytes = content(file);
        for (output, known) in rows(&bytes) {
            self.known.entry(output).or_insert(known);
        }
        drop(bytes);
        let mut rows: Vec<(u64, Known)> =
            self.known.iter().filter(|(output, _)| exists(**output)).map(|(o, known)| (*o, *known)).collect();
        rows.sort_unstable_by_key(|row| row.0);
        file.seek(SeekFrom::Start(0))?;
        file.set_len(0)?;
        let mut file = BufWriter::new(file);
        for (output, known) in rows {
            file.write_all(&output.to_le_bytes())?;
            file.write_all(&known.signature.to_le_bytes())?;
            file.write_all(&known.took.to_le_bytes())?;
        }
        file.flush()
    }
}

/// Bytes of the hash of a name and of a signature.
const NUMBER: usize = 8;
/// Bytes of one row in the file: the hash of a name, its signature, and a time as u32.
const ROW: usize = 2 * NUMBER + 4;

/// The content of the file; empty if it cannot be read.
fn content(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    match file.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

fn rows(bytes: &[u8]) -> impl Iterator<Item = (u64, Known)> {
    let number = |part: &[u8]| u64::from_le_bytes(part.try_into().expect("eight bytes of a row"));
    bytes.chunks_exact(ROW).map(move |row| {
        let took = u32::from_le_bytes(row[2 * NUMBER..].try_into().expect("the last four bytes of a row"));
        (number(&row[..NUMBER]), Known { signature: number(&row[NUMBER..2 * NUMBER]), took })
    })
}

/// The cache, opened and locked for writing; `None` if the folder cannot be written.
pub(super) fn locked(folder: &Path) -> Option<File> {
    let path = folder.join(CACHE);
    let mut how = OpenOptions::new();
    how.create(true).read(true).write(true).truncate(false);
    let file = open_own(&path, &how).ok()?;
    // On a file system without locks users have to run one batch at a time.
    let _ = file.lock();
    Some(file)
}
