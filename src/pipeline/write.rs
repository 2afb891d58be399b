//! Bytes become a file that appears as a whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a file is not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be written: {reason}", path = path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub reason: String,
}

/// Writes `bytes` to `path` through a temporary file beside it: readers see the old content or the new one,
/// an interruption leaves the old one. Folders are made as needed.
///
/// # Errors
/// A [`WriteError`] with what the system says.
pub fn whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".posemill-").suffix(".part");
        // Temporary files are private by default; an output has the rights that any new file has.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    };
    write().map_err(|e| WriteError { path: path.to_owned(), reason: reason(&e) })
}

/// What the system says, in the style of this program's messages: without the number, in lower case.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}
