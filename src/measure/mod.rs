//! A motion becomes numbers that say how good it is: published quality metrics, each with its formula.
//!
//! [`MetricContext`] is a character made ready; [`assess`] measures a motion on it, with its contact labels and beside the plain
//! rotation copy. [`MEASURES`] lists what there is, with exact formulas; a [`Threshold`] turns one into a test.
//! Space: model space, Y up. Units: metres of the figure scaled to 1.75 m, seconds, radians.

mod skin;
mod metric_context;
mod samples;
mod catalogue;
#[cfg(feature = "render")]
mod remedy;
mod statistics;
mod course;
mod contact;
mod labels;
mod nonnegative;
mod momentum;
mod comparison;
mod hands;
mod legs;
mod assess;
mod change;
mod quantity;
mod threshold;
mod verdict;
mod summary;

pub(crate) use assess::assess_beside;
pub use assess::{Assessment, assess};
pub(crate) use catalogue::find;
pub use catalogue::{MEASURES, Measure};
pub use change::change;
pub use hands::hands;
pub use metric_context::MetricContext;
pub(crate) use momentum::GRAVITY;
#[cfg(feature = "physics")]
pub(crate) use nonnegative::{Row6, residual as unreached};
#[cfg(feature = "cli")]
pub(crate) use quantity::shown;
#[cfg(feature = "render")]
pub(crate) use remedy::remedy;
pub(crate) use summary::{Summary, summaries};
pub use threshold::{Threshold, ThresholdError};
pub use verdict::{Reading, Verdict};

#[cfg(test)]
mod tests;
