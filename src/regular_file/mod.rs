//! Regular files and members of tar archives: the only files that are opened, with a limit on their size.

mod open_file;
pub mod tar_archive;
mod zst_archive;

pub use open_file::MAX_TEXT_BYTES;
#[cfg_attr(not(feature = "fbx"), allow(unused_imports))]
pub use open_file::regular_inside;
pub use open_file::{is_there, named_folder, open_own, open_regular, read_regular, read_text, similar_file};
