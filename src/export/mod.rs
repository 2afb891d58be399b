//! Motion to bytes.

mod save;

pub use save::{ExportError, Format, Options, OutputFile, save};
