//! Files of markers, damaged ones, and markers placed on captured takes.

mod c3d_writer;
mod damaged_markers;
mod marker_files;
mod virtual_markers;
mod marked_takes;
