//! `posemill retarget`: the default pipeline, without a pipeline file.

use super::clip_options::ClipOptions;
use super::console::Console;
use super::direct_request::{self, DirectRequest};
use super::exit::{Exit, Failure};
use super::formats::{FormatName, written};
use super::measure::VERDICTS;
use super::runner::RunnerArguments;
use crate::pipeline::{DEFAULT_NAME, DEFAULT_PIPELINE};
use crate::regular_file::similar_file;
use crate::report::Shown;
use clap::Args;
use std::path::PathBuf;

/// Retarget takes onto a character
///
/// OUT is a file; it is a folder if it ends with `/`, if it exists as a folder, or if there are several takes. Outputs in a
/// folder are named after their takes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill retarget take.bvh --onto hero.glb -o hero-take.glb\n  \
    posemill retarget 'takes/**/*.bvh' --onto hero.glb -o out/\n  \
    posemill retarget take.bvh --onto hero.glb --trim 0.5..2.5 --fps 30 --in-place -o hero-walk.fbx\n  \
    posemill retarget walk.bvh run.bvh --onto hero.glb --merge -o hero-moves.glb\n  \
    posemill map take.bvh hero.glb -o map.toml    (then edit it, and pass --map map.toml)\n\n".to_owned() + VERDICTS)]
pub struct RetargetArguments {
    /// Motion files or globs; `-` is standard input
    #[arg(required = true, value_name = "MOTION")]
    motions: Vec<String>,
    /// The rigged character (FBX, glTF, GLB, VRM, USD, PMX), or a robot (MJCF, URDF)
    #[arg(long, value_name = "CHARACTER")]
    onto: PathBuf,
    /// A file, which is replaced, or a folder; `-` is standard output
    #[arg(long, short, value_name = "OUT")]
    output: String,
    /// A joint map, as `posemill map` writes it
    #[arg(long, value_name = "MAP.toml")]
    map: Option<PathBuf>,
    /// The clip of a file that holds several, by name or number from 0 [default: all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// The format, or the layout of a robot's motion: of outputs in a folder [default: glb], of standard output (required)
    #[arg(long, value_parser = written())]
    format: Option<FormatName>,
    /// Write one file with all takes as named animations
    #[arg(long)]
    merge: bool,
    /// Replace the animations of the character's file
    #[arg(long)]
    replace_animations: bool,
    #[command(flatten)]
    clip_options: ClipOptions,
    #[command(flatten)]
    runner: RunnerArguments,
}

/// Retargets every take.
pub fn run(arguments: &RetargetArguments, console: &Console) -> Result<Exit, Failure> {
    let mut sets = arguments.clip_options.sets(Some(&arguments.onto));
    sets.extend(arguments.format.and_then(FormatName::set));
    if let Some(map) = &arguments.map {
        if !map.exists() {
            let near = similar_file(map, map);
            let hint = if near.is_empty() { "\n  hint: write one with `posemill map`" } else { &near };
            let message = format!("the file `{}` does not exist{hint}", map.shown());
            return Err(Failure::Argument(message));
        }
        sets.push(format!("stage.retarget.map={}", toml::Value::String(map.display().to_string())));
    }
    if arguments.replace_animations {
        sets.push("output.replace_animations=true".to_owned());
    }
    let request = DirectRequest {
        command: "retarget",
        pipeline: DEFAULT_PIPELINE,
        name: DEFAULT_NAME,
        takes: &arguments.motions,
        character: Some(&arguments.onto),
        output: &arguments.output,
        clip: arguments.clip.as_deref(),
        format: arguments.format.map(|name| name.format),
        merge: arguments.merge,
        verdict: true,
        sets,
    };
    direct_request::run(&request, &arguments.runner, console)
}
