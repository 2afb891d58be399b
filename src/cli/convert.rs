//! `posemill convert`: changes the format and keeps the skeleton.

use super::clip_options::ClipOptions;
use super::console::Console;
use super::direct_request::{self, DirectRequest};
use super::exit::{Exit, Failure};
use super::formats::{FormatName, written};
use super::runner::RunnerArguments;
use crate::pipeline::CONVERT_NAME;
use clap::Args;

/// The pipeline: its stages run where an option asks for them.
const PIPELINE: &str = r#"
[output]
report = false

[[stage]]
use = "trim"
enabled = false

[[stage]]
use = "resample"
enabled = false

[[stage]]
use = "root_motion"
enabled = false
"#;

/// Convert to another format; the skeleton stays the same
///
/// OUT is a file; it is a folder if it ends with `/`, if it exists as a folder, or if there are several files.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill convert take.bvh -o take.glb\n  \
    posemill convert 'library/**/*.bvh' -o glb/ --jobs 8\n  \
    posemill convert hero-moves.glb -o walk.bvh --clip Walk\n  \
    posemill convert hero-moves.glb -o moves/ --format bvh    (a file for each clip)\n  \
    posemill convert take.bvh -o take.fbx --trim 0.5..2.5 --fps 30\n  \
    cat take.bvh | posemill convert - -o - --format glb > take.glb\n  \
    posemill convert take.bvh -o take.glb --set input.units=cm --set input.up=z")]
pub struct ConvertArguments {
    /// Motion files or globs; `-` is standard input
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<String>,
    /// A file, which is replaced, or a folder; `-` is standard output
    #[arg(long, short, value_name = "OUT")]
    output: String,
    /// The clip of a file that holds several, by name or number from 0 [default: all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// The format, or the layout of a robot's motion: of outputs in a folder [default: glb], of standard output (required)
    #[arg(long, value_parser = written())]
    format: Option<FormatName>,
    #[command(flatten)]
    clip_options: ClipOptions,
    #[command(flatten)]
    runner: RunnerArguments,
}

/// Converts every file.
pub fn run(arguments: &ConvertArguments, console: &Console) -> Result<Exit, Failure> {
    let mut sets = arguments.clip_options.sets(None);
    sets.extend(arguments.format.and_then(FormatName::set));
    let request = DirectRequest {
        command: "convert",
        pipeline: PIPELINE,
        name: CONVERT_NAME,
        takes: &arguments.inputs,
        character: None,
        output: &arguments.output,
        clip: arguments.clip.as_deref(),
        format: arguments.format.map(|name| name.format),
        merge: false,
        verdict: false,
        sets,
    };
    direct_request::run(&request, &arguments.runner, console)
}
