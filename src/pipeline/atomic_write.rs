//! Writes files atomically: a file appears as a whole or not at all.

use crate::regular_file::named_folder;
use crate::report::{Shown, io_reason};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Prefix and suffix of the names of unfinished files.
const PART: (&str, &str) = (".posemill-", ".part");

/// Why a file is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be written: {reason}", path = path.shown())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// The reason that the system gives.
    pub reason: String,
}

impl WriteError {
    /// The error of the system for `path`.
    pub fn of(path: &Path, error: &io::Error) -> Self {
        Self { path: path.to_owned(), reason: io_reason(error) }
    }
}

/// A file that is written under a temporary name in its folder. Dropping it removes it.
pub(crate) struct AtomicFile {
    path: PathBuf,
    part: io::BufWriter<NamedTempFile>,
    hasher: blake3::Hasher,
}

impl AtomicFile {
    /// An empty file for `path`. Makes folders as needed.
    pub(crate) fn new(path: &Path) -> Result<Self, WriteError> {
        let folder = named_folder(path.parent().unwrap_or(Path::new("")));
        let open = || -> io::Result<NamedTempFile> {
            std::fs::create_dir_all(folder)?;
            let mut builder = tempfile::Builder::new();
            builder.prefix(PART.0).suffix(PART.1);
            // Temporary files are private by default; outputs have the usual permissions of new files.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            builder.tempfile_in(folder)
        };
        let part = io::BufWriter::new(open().map_err(|e| WriteError::of(path, &e))?);
        Ok(Self { path: path.to_owned(), part, hasher: blake3::Hasher::new() })
    }

    /// BLAKE3 of the content so far, hexadecimal.
    pub(crate) fn hash(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    /// Renames the file to its path, after its content is synced to the disk: after a loss of power there is the old file or
    /// the new one, never an empty one.
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

/// Writes `bytes` to `path` through a temporary file in its folder: readers see the old content or the new one, an interruption
/// leaves the old one. Makes folders as needed.
///
/// # Errors
/// A [`WriteError`].
pub fn whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut draft = AtomicFile::new(path)?;
    draft.part.write_all(bytes).map_err(|e| WriteError::of(path, &e))?;
    draft.finish()
}

/// Removes the unfinished files of ended runs in `folder`.
pub(crate) fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PART.0) && name.ends_with(PART.1) {
            // A later run removes files that cannot be removed now.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
