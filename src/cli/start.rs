//! Arguments become a command, the command an exit code.

use super::console::{Color, Console};
use super::exit::{Exit, Failure};
use super::{
    calibrate, completions, convert, formats, inspect, joints, map, measure, preview, retarget, run,
    simulate, stages, worker,
};
use crate::pipeline::PlanError;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Carries motion capture onto rigged characters: BVH, glTF and FBX in, skinned glTF out.
#[derive(Debug, Parser)]
#[command(name = "posemill", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Data goes to stdout, messages go to stderr.\n\
    Exit codes: 0 all good, 1 some inputs failed or a threshold was passed, 2 nothing could start.")]
pub struct Arguments {
    /// Print errors only
    #[arg(long, short, global = true, conflicts_with = "verbose", help_heading = "Messages")]
    quiet: bool,
    /// Print every warning of every file
    #[arg(long, short, global = true, help_heading = "Messages")]
    verbose: bool,
    /// When to colour messages
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Messages")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

/// One variant for each command, in the order in which somebody comes to need them.
#[derive(Debug, Subcommand)]
enum Command {
    Inspect(inspect::Arguments),
    Retarget(retarget::Arguments),
    Preview(preview::Arguments),
    Measure(measure::Arguments),
    Map(map::Arguments),
    Calibrate(calibrate::Arguments),
    Run(run::Arguments),
    Convert(convert::Arguments),
    Joints(joints::Arguments),
    Simulate(simulate::Arguments),
    Stages(stages::Arguments),
    Formats(formats::Arguments),
    Completions(completions::Arguments),
    Man(completions::ManArguments),
    #[command(hide = true)]
    Worker(worker::Arguments),
}

/// Parses the arguments of the process and does what they ask for.
pub fn start() -> ExitCode {
    let arguments = Arguments::parse();
    let console = Console::new(arguments.quiet, arguments.verbose, arguments.color);
    let result = match &arguments.command {
        Command::Run(a) => run::run(a, &console),
        Command::Retarget(a) => retarget::run(a, &console),
        Command::Convert(a) => convert::run(a, &console),
        Command::Inspect(a) => inspect::run(a, &console),
        Command::Joints(a) => joints::run(a, &console),
        Command::Map(a) => map::run(a, &console),
        Command::Measure(a) => measure::run(a, &console),
        Command::Preview(a) => preview::run(a, &console),
        Command::Simulate(a) => simulate::run(a, &console),
        Command::Calibrate(a) => calibrate::run(a, &console),
        Command::Stages(a) => stages::run(a, &console),
        Command::Formats(a) => formats::run(a, &console),
        Command::Completions(a) => completions::run(a, &console, Arguments::command()),
        Command::Worker(a) => worker::run(a),
        Command::Man(a) => completions::man(a, &console, Arguments::command()),
    };
    let exit = result.unwrap_or_else(|failure| {
        match &failure {
            Failure::Plan(PlanError::Config(error)) | Failure::Scene(error) => {
                console.rendered_error(&error.render(console.colors));
            }
            _ => console.error(&failure),
        }
        failure.exit()
    });
    // Whoever reads the data must not take a part for the whole.
    let exit = if exit == Exit::Good && console.lost() { Exit::SomeFailed } else { exit };
    Exit::into(exit)
}
