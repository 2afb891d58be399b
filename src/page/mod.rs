//! Report pages: plots, tables, pictures and a player in one HTML file.
//!
//! [`clip_page()`] shows for one output whether it is good, and if not, where; [`batch_page()`] lists many outputs, the worst
//! first. Each is one file that loads nothing from the network. The same input gives the same bytes.

mod html_text;
mod quantity;
mod shell;
mod scale;
mod time_plot;
mod ranges;
mod slides;
mod path_plot;
mod plots;
mod mapping;
mod measures;
mod shown_clip;
mod packed;
mod surface;
#[cfg(feature = "meshopt")]
mod thinned;
mod skin;
mod track;
mod scene;
mod changes;
mod findings;
mod clip_page;
mod batch_page;

pub use batch_page::{BatchPage, BatchRow, batch_page};
pub use clip_page::{ClipPage, clip_page};
pub use measures::{WorstSeries, worst_series};
pub use shown_clip::ShownClip;

#[cfg(test)]
mod tests;
