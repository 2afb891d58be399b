//! Where the real files lie that tests are held against: the one place that knows.

use std::path::{Path, PathBuf};

/// The folder of development data: `POSEMILL_DATA`, else `../shared/data` beside the repository; `None`, said aloud,
/// where it is absent.
pub fn data() -> Option<PathBuf> {
    let told = std::env::var_os("POSEMILL_DATA").map(PathBuf::from);
    let folder = told.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no development data at {}", folder.display());
    None
}
