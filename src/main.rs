//! The command-line program: parse, run, exit code.

mod cli;

use posemill::{
    anatomy, dynamics, export, import, math, measure, model, pipeline, render, repair, report, retarget,
    stages, visible,
};

fn main() -> std::process::ExitCode {
    cli::start()
}
