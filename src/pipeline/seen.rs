//! Sizes and times of files become one number: while it stays the same, nobody has to read the files.
//!
//! The numbers lie in a file of their own beside the manifest. It is no record: whatever is wrong or missing in it costs
//! reading some files again, and two runs with the same results may leave different ones.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The name of the file, in the folder of the outputs.
pub(super) const SEEN: &str = ".posemill.seen";

/// A file that changed so short before it was read may change again without a new time: the clocks of file systems tick
/// in steps of up to two seconds (FAT).
const TICK: Duration = Duration::from_secs(2);

/// Half of a BLAKE3 hash: 128 bits are enough to tell files apart.
pub(super) fn key(parts: &[&[u8]]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let hash = hasher.finalize();
    u128::from_le_bytes(hash.as_bytes()[..16].try_into().expect("16 of 32 bytes"))
}

/// A quarter of a hash, where nobody gains from two that are the same: of a million things that happens once in forty
/// million runs, and costs an output that is made once too often or not told.
pub(super) fn short(parts: &[&[u8]]) -> u64 {
    key(parts) as u64
}

/// What stands for the present state of `sources` and of `files`; `None` where one is missing, or where a source is so
/// new, seen from `when`, that it may yet change unnoticed.
pub(super) fn signature<'p>(
    made_with: &str,
    sources: impl Iterator<Item = &'p Path>,
    files: impl Iterator<Item = &'p Path>,
    when: Option<SystemTime>,
) -> Option<u64> {
    let mut parts: Vec<u8> = made_with.as_bytes().to_vec();
    let sources = sources.map(|path| (path, when));
    for (path, when) in sources.chain(files.map(|path| (path, None))) {
        let seen = std::fs::metadata(path).ok()?;
        let modified = seen.modified().ok()?;
        if when.is_some_and(|when| modified + TICK > when) {
            return None;
        }
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        parts.extend(seen.len().to_le_bytes());
        parts.extend(since.as_nanos().to_le_bytes());
        // A file that was replaced together with its time still has a time of its own for that.
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            parts.extend(seen.ctime().to_le_bytes());
            parts.extend(seen.ctime_nsec().to_le_bytes());
        }
    }
    Some(short(&[&parts]))
}

/// The signatures of a folder, by the key of the output.
#[derive(Debug, Default)]
pub(super) struct Seen {
    known: HashMap<u64, u64>,
    changed: bool,
}

impl Seen {
    /// Those of `folder`; none where there is no file.
    pub(super) fn open(folder: &Path) -> Self {
        let known = File::open(folder.join(SEEN)).map(|mut file| read(&mut file)).unwrap_or_default();
        Self { known, changed: false }
    }

    /// Whether the output had this signature when its content was looked at last.
    pub(super) fn is(&self, output: u64, signature: u64) -> bool {
        self.known.get(&output) == Some(&signature)
    }

    /// Remembers the signature of an output.
    pub(super) fn put(&mut self, output: u64, signature: Option<u64>) {
        match signature {
            Some(signature) => self.changed |= self.known.insert(output, signature) != Some(signature),
            None => self.changed |= self.known.remove(&output).is_some(),
        }
    }

    /// Writes those of the outputs that `lives` knows, together with what another run has written meanwhile, into the
    /// open and locked `file`.
    pub(super) fn save(&mut self, file: &mut File, lives: impl Fn(u64) -> bool) -> std::io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        for (output, signature) in read(file) {
            self.known.entry(output).or_insert(signature);
        }
        let mut rows: Vec<(u64, u64)> =
            self.known.iter().filter(|(output, _)| lives(**output)).map(|(o, s)| (*o, *s)).collect();
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

/// Bytes of one output in the file.
const ROW: usize = 16;

fn read(file: &mut File) -> HashMap<u64, u64> {
    let mut bytes = Vec::new();
    if file.read_to_end(&mut bytes).is_err() {
        return HashMap::new();
    }
    let number = |part: &[u8]| u64::from_le_bytes(part.try_into().expect("half of a row"));
    bytes.chunks_exact(ROW).map(|row| (number(&row[..ROW / 2]), number(&row[ROW / 2..]))).collect()
}

/// The file, open for its one writer at a time; `None` where the folder takes no files.
pub(super) fn locked(folder: &Path) -> Option<File> {
    let path = folder.join(SEEN);
    let file = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path).ok()?;
    // A file system without locks has one run at a time: there is nothing better to do than to go on.
    let _ = file.lock();
    Some(file)
}
