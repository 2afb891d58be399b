//! What a run has to say becomes a page that people open: plots, tables, pictures and a player in one file.
//!
//! [`clip_page()`] answers "is this clip good, and if not where" for one output; [`batch_page()`] sorts many of them from
//! the worst down. Both are one file each that asks nothing of the network. The same input gives the same bytes.

mod text;
mod quantity;
mod shell;
mod scale;
mod time_plot;
mod path_plot;
mod ranges;
mod slides;
mod plots;
mod findings;
mod mapping;
mod changes;
mod measures;
mod packed;
mod skin;
mod scene;
mod clip_page;
mod batch_page;

pub use batch_page::{BatchPage, BatchRow, batch_page};
pub use clip_page::{ClipPage, Shown, clip_page};
pub use measures::{WorstCourse, worst_course};
