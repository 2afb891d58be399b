//! Quality metrics of a motion, published ones with their formulas.
//!
//! [`MetricContext`] prepares a character; [`assess`] measures a motion on it, with its contact labels and compared with the
//! direct transfer. [`MEASURES`] lists all measures with exact formulas; a [`Threshold`] makes a test of one.
//! Space: model space, Y up. Units: metres of the figure scaled to 1.75 m, seconds, radians.

mod arm_penetration;
mod metric_context;
mod samples;
mod catalogue;
#[cfg(feature = "render")]
mod remedy;
mod statistics;
mod contact_series;
mod foot_contact;
mod label_agreement;
mod nonnegative_least_squares;
mod momentum;
mod comparison;
mod hands_error;
mod legs;
mod assess;
mod change;
mod units;
mod threshold;
mod verdict;
mod summary;

pub(crate) use assess::assess_beside;
pub use assess::{Assessment, assess};
pub(crate) use catalogue::find;
pub use catalogue::{MEASURES, Measure};
pub use change::change;
pub use hands_error::hands;
pub use metric_context::MetricContext;
pub(crate) use momentum::GRAVITY;
#[cfg(feature = "physics")]
pub(crate) use nonnegative_least_squares::{Row6, residual as unreached};
#[cfg(feature = "render")]
pub(crate) use remedy::remedy;
pub(crate) use summary::{Summary, summaries};
pub use threshold::{Threshold, ThresholdError};
#[cfg(feature = "cli")]
pub(crate) use units::shown;
pub use verdict::{Reading, Verdict};

#[cfg(test)]
mod tests;
