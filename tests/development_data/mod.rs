//! Where the real files lie that tests are held against: the one place that knows.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The folder of development data: `POSEMILL_DATA`, else `../shared/data` beside the repository; `None`, said aloud,
/// where it is absent.
pub fn data() -> Option<PathBuf> {
    let told = std::env::var_os("POSEMILL_DATA").map(PathBuf::from);
    let folder = told.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    if folder.is_dir() {
        return Some(folder);
    }
    // Not by `println!`: what a test prints that passes is swallowed.
    let test = std::thread::current();
    let _ = writeln!(
        std::io::stderr(),
        "skipped: {}, without the development data of `{}`",
        test.name().unwrap_or_default(),
        folder.display()
    );
    None
}
