//! The command line: one file for each command; the only place that prints.

mod console;
mod exit;
mod mill;
mod run;
mod start;

pub use start::start;
