//! Contact detection: which parts of the body are in contact when, and the height of the ground.

mod detect;
mod floor;
mod footing;
mod hidden_markov;
mod hysteresis;
mod clean_spans;
mod label_table;
mod point_track;
mod seat_or_bar;
mod short_dips;
mod standing_foot;
mod ground_slopes;

pub use detect::{ContactOptions, Detector, detect};
pub(crate) use detect::{detect_on, ground};
pub(crate) use footing::{FLOOR_PERCENTILE, Footing, FootingJoints, NEAR_FLOOR, REPEAT_TOLERANCE};
pub(crate) use label_table::write;
pub use label_table::{Labels, TableError, read};
pub(crate) use short_dips::dips_of_feet;

#[cfg(test)]
mod tests;
