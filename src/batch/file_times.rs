//! A cache of sizes and times of files: while they stay the same, files need not be read again.
//!
//! The cache is a file next to the manifest. It is not a record: if something in it is wrong or missing, some files are read
//! again, and two runs with the same results may leave different caches.

use crate::regular_file::open_own;
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
        let found = std::fs::metadata(path).ok()?;
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

/// The signatures of the outputs of a folder, by the hash of the output's name, and how long each took to make, microseconds, by the
/// complement of that hash: times are not reproducible, and nothing else that is written may be like that.
#[derive(Debug, Default)]
pub(super) struct FileTimes {
    known: HashMap<u64, u64>,
    changed: bool,
}

impl FileTimes {
    /// The signatures of `folder`; none if there is no cache.
    pub(super) fn open(folder: &Path) -> Self {
        let file = open_own(&folder.join(CACHE), OpenOptions::new().read(true));
        let known = file.map(|mut file| rows(&content(&mut file)).collect()).unwrap_or_default();
        Self { known, changed: false }
    }

    /// Whether the output had this signature when its files were last compared.
    pub(super) fn is(&self, output: u64, signature: u64) -> bool {
        self.known.get(&output) == Some(&signature)
    }

    /// Sets or removes the signature of an output.
    pub(super) fn put(&mut self, output: u64, signature: Option<u64>) {
        match signature {
            Some(signature) => self.changed |= self.known.insert(output, signature) != Some(signature),
            None => self.changed |= self.known.remove(&output).is_some(),
        }
    }

    /// Sets how long an output took to make.
    pub(super) fn took(&mut self, output: u64, time: Duration) {
        self.put(!output, Some(time.as_micros() as u64));
    }

    /// How long an output took to make, if that is known.
    #[cfg(feature = "cli")]
    pub(super) fn time_of(&self, output: u64) -> Option<Duration> {
        self.known.get(&!output).map(|&time| Duration::from_micros(time))
    }

    /// Writes the rows of outputs for which `exists` is true, together with those that another run has written
    /// meanwhile, to the open and locked `file`.
    pub(super) fn save(&mut self, file: &mut File, exists: impl Fn(u64) -> bool) -> std::io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        // Without a second map: the first is what a run holds of each take.
        let bytes = content(file);
        for (output, signature) in rows(&bytes) {
            self.known.entry(output).or_insert(signature);
        }
        drop(bytes);
        let mut rows: Vec<(u64, u64)> = self
            .known
            .iter()
            .filter(|(row, _)| exists(**row) || exists(!**row))
            .map(|(o, s)| (*o, *s))
            .collect();
        rows.sort_unstable();
        file.seek(SeekFrom::Start(0))?;
        file.set_len(0)?;
        let mut file = BufWriter::new(file);
        for (output, signature) in rows {
            file.write_all(&output.to_le_bytes())?;
            file.write_all(&signature.to_le_bytes())?;
        }
        file.flush()
    }
}

/// Bytes of one row in the file: two u64, the hash of a name and its signature, or the complement of the hash and a time.
const ROW: usize = 16;

/// The content of the file; empty if it cannot be read.
fn content(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    match file.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(_) => Vec::new(),
    }
}

fn rows(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let number = |part: &[u8]| u64::from_le_bytes(part.try_into().expect("half of a row"));
    bytes.chunks_exact(ROW).map(move |row| (number(&row[..ROW / 2]), number(&row[ROW / 2..])))
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
