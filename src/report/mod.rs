//! Warnings, measurements and findings of a run as values, for users and scripts, and the texts of messages.

mod message_text;
mod run_report;

#[cfg(feature = "cli")]
pub(crate) use message_text::json_line;
pub(crate) use message_text::{
    Shown, counted, csv_field, is_formula, json_text, nearest, rounded, split_hint,
};
pub use message_text::{io_reason, one_line, printable, shortened};
pub use run_report::{
    Change, Finding, Hint, Largest, MappedJoint, Mapping, Metric, NotJudged, Report, Series, TakeChange,
    Warning, Warnings, cut_at_start,
};
