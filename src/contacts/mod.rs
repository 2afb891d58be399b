//! A motion becomes contact labels: which parts of the body rest when, and how high the ground lies.

mod detect;
mod floor;
mod hidden_markov;
mod hysteresis;
mod clean_spans;
mod label_table;
mod point_track;

pub(crate) use detect::ground;
pub use detect::{ContactOptions, Detector, detect};
pub(crate) use label_table::write;
pub use label_table::{Labels, TableError, read};

#[cfg(test)]
mod tests;
