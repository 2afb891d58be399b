//! Quality metrics of a motion, published ones with their formulas.
//!
//! [`MetricContext`] prepares a character; [`assess`] measures a motion on it, with its contact labels and compared with the
//! direct transfer. [`MEASURES`] lists all measures with exact formulas; a [`Threshold`] makes a test of one.
//! Space: model space, Y up. Units: metres of the figure scaled to 1.75 m, seconds, radians.

mod arm_penetration;
mod arm_moments;
mod skin_check;
mod measure_entry;
mod winding;
mod metric_context;
mod samples;
mod flight_height;
mod acceptable;
mod published_entries;
mod robot_entries;
mod catalogue;
mod statistics;
mod contact_series;
mod foot_contact;
mod nonnegative_least_squares;
mod momentum;
mod comparison;
mod hands_error;
mod limb_frame;
mod arm_contacts;
mod limb_comparison;
mod limb_steps;
mod robot_measures;
mod planted_feet;
mod robot_against_take;
mod legs;
mod label_agreement;
mod assess;
mod change;
mod units;
mod threshold;
mod verdict;
mod not_judged;
mod summary;

pub(crate) use assess::assess_against;
pub use assess::{Assessment, assess};
pub use catalogue::MEASURES;
#[cfg(feature = "cli")]
pub(crate) use catalogue::names_near;
pub(crate) use catalogue::{find, metric};
pub use change::change;
pub use hands_error::hands;
pub use measure_entry::Measure;
pub use metric_context::MetricContext;
#[cfg(feature = "physics")]
pub(crate) use nonnegative_least_squares::{Row6, residual as unreached};
pub(crate) use not_judged::{AGAINST_THE_TAKE, ROBOT, mark, of_bodies, with_a_limit_of_robots};
pub(crate) use statistics::rounding;
pub(crate) use summary::{Summary, summaries};
pub use threshold::{Threshold, ThresholdError};
#[cfg(feature = "cli")]
pub(crate) use units::{quantity, shown};
pub use verdict::{Judgement, Reading, Verdict};
pub(crate) use verdict::{VerdictMember, add_words};

#[cfg(test)]
mod tests;
