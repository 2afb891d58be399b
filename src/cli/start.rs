//! The entry point of the program: parses the arguments, runs the command, returns the exit code.

use super::console::{Color, Console};
use super::exit::{EXIT_CODES, Exit, Failure};
use super::{
    calibrate, completions, convert, doctor, formats, inspect, joints, map, measure, preview, retarget,
    run_command, schema, simulate, stages, table, worker,
};
use crate::batch::quoted;
use crate::export::Format;
use crate::pipeline::{self, PlanError};
use crate::report::io_reason;
use crate::stages::STAGES;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Retargets motion capture onto rigged characters and humanoid robots
#[derive(Debug, Parser)]
#[command(name = "posemill", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = format!("Examples:\n  \
    posemill retarget take.bvh --onto hero.glb -o hero-take.glb\n  \
    posemill preview take.bvh hero-take.glb -o both.gif\n  \
    posemill inspect hero.glb\n\n\
    Data goes to stdout, messages go to stderr.\n\n\
    {EXIT_CODES}"))]
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

/// One variant for each command, in the order in which users come to need them.
#[derive(Debug, Subcommand)]
enum Command {
    Doctor(doctor::DoctorArguments),
    Inspect(inspect::InspectArguments),
    Retarget(retarget::RetargetArguments),
    Preview(preview::PreviewArguments),
    Measure(measure::MeasureArguments),
    Map(map::MapArguments),
    Calibrate(calibrate::CalibrateArguments),
    Run(run_command::RunArguments),
    Table(table::TableArguments),
    Convert(convert::ConvertArguments),
    Joints(joints::JointsArguments),
    Simulate(simulate::SimulateArguments),
    Stages(stages::StagesArguments),
    Formats(formats::FormatsArguments),
    Schema(schema::SchemaArguments),
    Completions(completions::CompletionsArguments),
    Man(completions::ManArguments),
    #[command(hide = true)]
    Worker(worker::WorkerArguments),
}

/// For an unknown option that is named as a key of pipelines, suggests the key: `--units cm` is `--set input.units=cm`.
fn with_key(mut error: clap::Error) -> clap::Error {
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) if error.kind() == ErrorKind::UnknownArgument => option,
        _ => return error,
    };
    let key = unknown.trim_start_matches('-').split('=').next().unwrap_or_default().replace('-', "_");
    let command = std::env::args().nth(1).unwrap_or_default();
    let program = Arguments::command();
    let command = program.find_subcommand(command);
    let sets = command.is_some_and(|c| c.get_arguments().any(|a| a.get_long() == Some("set")));
    let schema = pipeline::schema(STAGES);
    let section = |name: &&str| schema["properties"][name]["properties"].get(&key).is_some();
    let path = ["input", "output"].iter().find(|name| section(name)).map(|name| format!("{name}.{key}"));
    // Of all commands with `--set`, only `retarget` has a stage of the same name.
    let own = STAGES.iter().find(|e| command.is_some_and(|c| c.get_name() == e.name));
    let of_stage = || {
        let own = own.filter(|e| e.schema()["properties"].get(&key).is_some());
        own.map(|e| format!("stage.{}.{key}", e.name))
    };
    if let Some(path) = path.or_else(of_stage).filter(|_| sets) {
        let tip = match command {
            Some(retarget) if key == "character" && retarget.get_name() == "retarget" => {
                "it is `--onto`".to_owned()
            }
            _ => format!("it is a key of the pipeline: `--set {path}=...`"),
        };
        // Both name the option with the most similar spelling.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Extensions of files that are usually characters: if the last of several files has one, it is taken for the character.
const CHARACTERS: [&str; 4] = [".glb", ".gltf", ".vrm", ".fbx"];

/// For `retarget take.bvh hero.glb`, which lacks `--onto`, and for a command that lacks `-o`, suggests the command with it.
fn with_files(mut error: clap::Error) -> clap::Error {
    let missing = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) if error.kind() == ErrorKind::MissingRequiredArgument => missing,
        _ => return error,
    };
    let lacks = |option: &str| missing.iter().any(|m| m.starts_with(option));
    // Words that are not UTF-8 are shown with replacement characters.
    let typed: Vec<String> = std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    let known = |command: &&str| ["retarget", "convert"].contains(command);
    let Some((command, typed)) = typed.split_first().filter(|(command, _)| known(&command.as_str())) else {
        return error;
    };
    let files = typed.iter().take_while(|word| *word == "-" || !word.starts_with('-')).count();
    let (mut files, rest) = typed.split_at(files);
    let is_character = |file: &String| CHARACTERS.iter().any(|e| file.to_lowercase().ends_with(e));
    // The last file, after all that are read, is what to write if there is none of its name yet.
    let mut output = "out/";
    if let [earlier @ .., read, last] = files
        && lacks("--output")
        && (!lacks("--onto") || (is_character(read) && !earlier.is_empty()))
        && !Path::new(last).exists()
        && Format::of(&Path::new(last).extension().unwrap_or_default().to_string_lossy()).is_some()
    {
        (files, output) = (&files[..files.len() - 1], last);
    }
    let mut words = vec!["posemill".to_owned(), command.clone()];
    let take = || vec!["take.bvh".to_owned()];
    let tip = if lacks("--onto") {
        let (takes, character) = match files.split_last() {
            Some((last, takes)) if !takes.is_empty() && is_character(last) => (takes, last.as_str()),
            _ => (files, "hero.glb"),
        };
        words.extend(if takes.is_empty() { take() } else { takes.to_vec() });
        words.extend(["--onto".to_owned(), character.to_owned()]);
        "name the rigged character with `--onto`"
    } else {
        words.extend(if files.is_empty() { take() } else { files.to_vec() });
        "name the file or folder to write with `-o`"
    };
    words.extend(rest.iter().cloned());
    if lacks("--output") {
        words.extend(["-o".to_owned(), output.to_owned()]);
    }
    let line: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let tip = format!("{tip}: `{}`", line.join(" "));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// For `posemill take.bvh`, a file in place of a command, suggests one.
fn with_command(mut error: clap::Error) -> clap::Error {
    let file = std::env::args_os().nth(1).filter(|word| Path::new(word).exists());
    if let Some(file) = file.filter(|_| error.kind() == ErrorKind::InvalidSubcommand) {
        let file = quoted(&file.to_string_lossy());
        let tip = format!("`posemill doctor {file}` says what it is and what to run next");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// For `-o -x.glb`, which is not understood as a file, suggests the path that is.
fn with_path(mut error: clap::Error) -> clap::Error {
    let typed: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let unknown = error.kind() == ErrorKind::UnknownArgument;
    let file = |pair: &&[String]| {
        ["-o", "--output"].contains(&pair[0].as_str())
            && pair[1].starts_with('-')
            && Path::new(&pair[1]).extension().is_some()
    };
    if let Some(pair) = typed.windows(2).find(file).filter(|_| unknown) {
        let tip =
            format!("for a file of this name, write `{} {}`", pair[0], quoted(&format!("./{}", pair[1])));
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// What a command with `--json` prints where nothing could start, in place of its document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorDocument {
    /// The message, with hints in lines of their own.
    error: String,
}

/// Prints what ends the program before a command runs: wrong arguments, or the help or the version that was asked for.
fn ended(error: &clap::Error) -> ExitCode {
    let printed = error.print().and_then(|()| io::stdout().flush());
    match printed {
        Err(e) if !error.use_stderr() && e.kind() != io::ErrorKind::BrokenPipe => {
            Console::new(false, false, Color::Auto).error(Failure::Output(io_reason(&e)));
            Exit::SomeFailed.into()
        }
        _ if error.use_stderr() => Exit::NoStart.into(),
        _ => Exit::Good.into(),
    }
}

/// The program `posemill`, not for use in other programs: reads the arguments of the process, runs the command, prints, and
/// ends the process if the arguments are invalid.
///
/// Exit codes: 0 success, 1 some inputs failed or a threshold was exceeded, 2 nothing could start.
pub fn program() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return ended(&with_command(with_path(with_files(with_key(error))))),
    };
    let console = Console::new(arguments.quiet, arguments.verbose, arguments.color);
    let result = match &arguments.command {
        Command::Run(a) => run_command::run(a, &console),
        Command::Retarget(a) => retarget::run(a, &console),
        Command::Convert(a) => convert::run(a, &console),
        Command::Doctor(a) => doctor::run(a, &console),
        Command::Inspect(a) => inspect::run(a, &console),
        Command::Joints(a) => joints::run(a, &console),
        Command::Map(a) => map::run(a, &console),
        Command::Measure(a) => measure::run(a, &console),
        Command::Preview(a) => preview::run(a, &console),
        Command::Simulate(a) => simulate::run(a, &console),
        Command::Calibrate(a) => calibrate::run(a, &console),
        Command::Table(a) => table::run(a, &console),
        Command::Stages(a) => stages::run(a, &console),
        Command::Formats(a) => formats::run(a, &console),
        Command::Schema(a) => schema::run(a, &console),
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
        // Scripts that read a document get one.
        if std::env::args_os().any(|word| word == "--json") {
            console.json(&ErrorDocument { error: failure.to_string() });
        }
        failure.exit()
    });
    // A reader of the data must be able to see that it is incomplete.
    let exit = if exit == Exit::Good && console.lost() { Exit::SomeFailed } else { exit };
    Exit::into(exit)
}
