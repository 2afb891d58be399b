//! Bytes become a file that appears as a whole or not at all.

use crate::report::io_reason;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What the names of files begin and end with that are not finished yet.
const PART: (&str, &str) = (".posemill-", ".part");

/// Why a file is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be written: {reason}", path = path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub reason: String,
}

impl WriteError {
    /// What the system says about `path`.
    pub fn of(path: &Path, error: &io::Error) -> Self {
        Self { path: path.to_owned(), reason: io_reason(error) }
    }
}

/// A file that is being written beside its place; dropped, it is gone.
pub(crate) struct AtomicFile {
    path: PathBuf,
    part: io::BufWriter<NamedTempFile>,
    hasher: blake3::Hasher,
}

impl AtomicFile {
    /// An empty draft of `path`. Folders are made as needed.
    pub(crate) fn new(path: &Path) -> Result<Self, WriteError> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let open = || -> io::Result<NamedTempFile> {
            std::fs::create_dir_all(folder)?;
            let mut builder = tempfile::Builder::new();
            builder.prefix(PART.0).suffix(PART.1);
            // Temporary files are private by default; an output has the rights that any new file has.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            builder.tempfile_in(folder)
        };
        let part = io::BufWriter::new(open().map_err(|e| WriteError::of(path, &e))?);
        Ok(Self { path: path.to_owned(), part, hasher: blake3::Hasher::new() })
    }

    /// BLAKE3 of what was written so far, hexadecimal.
    pub(crate) fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    /// Puts the file in its place. Its content is on the disk before its name is, so that a loss of power leaves the
    /// old file or the new one, never an empty one.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        let finish = |part: io::BufWriter<NamedTempFile>| -> io::Result<()> {
            let part = part.into_inner().map_err(io::IntoInnerError::into_error)?;
            part.as_file().sync_data()?;
            part.persist(&self.path).map_err(|e| e.error)?;
            Ok(())
        };
        finish(self.part).map_err(|e| WriteError::of(&self.path, &e))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.part.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.part.flush()
    }
}

/// Writes `bytes` to `path` through a temporary file beside it: readers see the old content or the new one,
/// an interruption leaves the old one. Folders are made as needed.
///
/// # Errors
/// A [`WriteError`] with what the system says.
pub fn whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut draft = AtomicFile::new(path)?;
    draft.part.write_all(bytes).map_err(|e| WriteError::of(path, &e))?;
    draft.finish()
}

/// Removes what runs that are no more left unfinished in `folder`.
pub(crate) fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PART.0) && name.ends_with(PART.1) {
            // What cannot be removed now is swept by a later run.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
