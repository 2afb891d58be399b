//! A motion becomes contact labels: which parts of the body rest when, and how high the ground lies.

mod detect;
mod floor;
mod hidden_markov;
mod hysteresis;
mod spans;
mod table;
mod track;

pub(crate) use detect::ground;
pub use detect::{Detector, Options, detect};
pub(crate) use table::write;
pub use table::{Labels, TableError, read};

#[cfg(test)]
mod tests;
