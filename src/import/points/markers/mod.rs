//! Reads recordings of markers on the skin, C3D and TRC, and finds the joints below them.
//!
//! [`c3d_file`] (with [`c3d_parameters`] and [`c3d_words`]) and [`trc_file`] read the labelled points; [`marker_sites`] knows where on
//! the body a label is, [`marker_table`] a user's own. [`repair_markers`] corrects them: [`exchanged_markers`] finds exchanged
//! labels, [`rigid_groups`] fills gaps of markers of one bone. [`joint_centres`] turns markers into the points of the body, and
//! those are fitted as arrays of positions are.
//!
//! Space: Y up. Units: metres.

mod c3d_file;
mod c3d_parameters;
mod c3d_words;
mod exchanged_markers;
mod joint_centres;
mod marker_formats;
mod marker_recording;
mod marker_sites;
mod marker_table;
mod repair_markers;
mod rigid_groups;
mod trc_file;

pub use marker_formats::{C3D, TRC};
pub(super) use marker_recording::plausible_rate;

#[cfg(test)]
mod tests;
