//! The command line: one file for each command; the only place that prints.

mod again;
mod bounds;
mod calibrate;
mod completions;
mod console;
mod convert;
mod direct;
mod exit;
mod formats;
mod inspect;
mod joints;
mod load;
mod made;
mod map;
mod measure;
mod measure_table;
mod mill;
mod pipe;
mod preview;
mod recipe;
mod retarget;
mod run;
mod serve;
mod simulate;
mod stages;
mod start;
mod stop;
mod tally;
mod wire;
mod worker;
mod workers;

pub use start::program;
