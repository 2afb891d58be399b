//! The command line: one file for each command. The only module that prints.

mod calibrate;
mod clip_options;
mod completions;
mod console;
mod convert;
mod counters;
mod diagnosis;
mod direct_request;
mod doctor;
mod exit;
mod formats;
mod inspect;
mod inspect_page;
mod inspect_robot;
mod joints;
mod load_file;
mod map;
mod measure;
mod measure_table;
mod next_command;
mod output_summary;
mod pipe;
mod planned_faults;
mod planned_run;
mod preview;
mod retarget;
mod run_command;
mod run_document;
mod runner;
mod simulate;
mod stages;
mod start;
mod stop;
mod table;
mod worker;

pub use start::program;
