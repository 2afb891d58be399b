//! BLAKE3 hashes of files.

use crate::regular_file::open_regular;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A file and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// The path: of an output relative to the folder of the manifest, of a file that a take refers to relative to the take.
    pub path: String,
    /// BLAKE3 of the content, hexadecimal.
    pub blake3: String,
}

impl FileHash {
    /// The hash of this content.
    pub(crate) fn of(path: String, bytes: &[u8]) -> Self {
        Self { path, blake3: blake3::hash(bytes).to_hex().to_string() }
    }

    /// The hash of the content that was given to `hasher`.
    pub(crate) fn finished(path: String, hasher: &blake3::Hasher) -> Self {
        Self { path, blake3: hasher.finalize().to_hex().to_string() }
    }
}

/// The hash of a file's content; `None` if it cannot be read.
pub(crate) fn hash_of(path: &Path) -> Option<FileHash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(open_regular(path).ok()?.0).ok()?;
    Some(FileHash::finished(path.to_string_lossy().into_owned(), &hasher))
}

/// A path with `/` on every system.
pub(crate) fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}
