//! Runs commands without a pipeline file: takes, a character and OUT.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::pipe::Pipe;
use super::planned_run::PlannedRun;
use super::runner::{RunnerArguments, clip_set, run_all};
use crate::batch::{Destination, FoundTakes, Jobs, PipelineSpec, ReproCommand, find_takes};
use crate::export::Format;
use crate::pipeline::{OutputFormat, PipelineConfig, PlanError};
use crate::report::Shown;
use crate::stages::STAGES;
use std::path::{Path, PathBuf};

/// The request of a command without a pipeline file.
#[derive(Debug)]
pub struct DirectRequest<'a> {
    /// The command.
    pub command: &'a str,
    /// The text of its pipeline.
    pub pipeline: &'a str,
    /// The name of the pipeline in messages.
    pub name: &'a str,
    /// Files or globs; `-` is standard input.
    pub takes: &'a [String],
    /// The character.
    pub character: Option<&'a Path>,
    /// A file, or a folder; `-` is standard output.
    pub output: &'a str,
    /// The clip of each take; `None` for all.
    pub clip: Option<&'a str>,
    /// The format of outputs in a folder.
    pub format: Option<OutputFormat>,
    /// Whether all takes go into one file.
    pub merge: bool,
    /// Whether results are measured if the summary has a line for each.
    pub verdict: bool,
    /// Overrides that come from other options.
    pub sets: Vec<String>,
}

/// Refuses an output that would replace one of `inputs`.
pub fn not_an_input<'a>(output: &Path, mut inputs: impl Iterator<Item = &'a Path>) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if output.exists() && inputs.any(|input| real(input) == real(output)) {
        return Err(PlanError::OverInput { output: output.shown() }.into());
    }
    Ok(())
}

/// Runs the request.
pub fn run(
    request: &DirectRequest<'_>,
    arguments: &RunnerArguments,
    console: &Console,
) -> Result<Exit, Failure> {
    let reports = arguments.json || arguments.dry_run;
    let pipe = Pipe::open(request.takes, request.output, request.format, reports)?;
    let planned = plan(request, &pipe, arguments)?;
    run_all(request.command, &[planned], arguments, console, || pipe.print())
}

fn plan(
    request: &DirectRequest<'_>,
    pipe: &Pipe,
    arguments: &RunnerArguments,
) -> Result<PlannedRun, Failure> {
    let mut sets = request.sets.clone();
    sets.extend(request.clip.map(clip_set));
    sets.extend(arguments.sets.iter().cloned());
    let written_sets = sets.clone();
    if let Some(format) = request.format {
        sets.insert(0, format!("output.formats={}", format.extension()));
    }
    let config =
        PipelineConfig::parse(request.name, request.pipeline, &sets, STAGES).map_err(PlanError::Config)?;
    let here = Path::new("");
    let FoundTakes { takes, unseen } = match request.merge {
        true => in_given_order(&pipe.inputs)?,
        false => find_takes(here, &pipe.inputs, None)?,
    };
    if request.output == "-" && config.output.report {
        let message = "`-o -` prints the output alone, and `output.report` asks for a page beside it\n  hint: name a file";
        return Err(Failure::Argument(message.to_owned()));
    }

    let output = pipe.output.as_str();
    let path = PathBuf::from(output);
    let of_extension = Format::of(&path.extension().unwrap_or_default().to_string_lossy());
    let folder = output.ends_with(['/', std::path::MAIN_SEPARATOR]) || path.is_dir();
    let destination = match (folder, takes.len() > 1 && !request.merge) {
        (true, _) if request.merge => {
            let message = format!(
                "`--merge` makes one file, `{output}` is a folder\n  hint: name a file: `{}`",
                path.join("takes.glb").shown()
            );
            return Err(Failure::Argument(message));
        }
        (false, true) if of_extension.is_some() => {
            return Err(Failure::Argument(format!(
                "{} takes cannot all go to the file `{output}`\n  hint: \
                 end it with `/` for a folder, or pass `--merge` to `posemill retarget` for one file with all takes",
                takes.len()
            )));
        }
        (true, _) | (false, true) => Destination::Folder(path),
        (false, false) => Destination::File(path),
    };
    refuse_replaced(&arguments.sets, &destination)?;
    refuse_contradictions(request, &arguments.sets)?;
    if let (Destination::File(_), Some(format)) = (&destination, request.format)
        && of_extension.is_some_and(|f| f != format.0)
    {
        return Err(Failure::Argument(format!(
            "`--format` asks for a `.{}`, and the file is `{output}`\n  hint: leave one of them out",
            format.extension()
        )));
    }
    let character: Vec<PathBuf> = request.character.into_iter().map(Path::to_owned).collect();
    let jobs = Jobs::new(takes, &config.output.formats, &destination, &character)?;
    let character = request.character.map(|c| c.display().to_string());
    let repro = repro(request, pipe, &destination, &written_sets);
    let (name, text) = (request.name.to_owned(), request.pipeline.to_owned());
    let verdict = request.verdict;
    let spec =
        PipelineSpec { name, text, sets, folder: here.to_owned(), character, every_page: true, verdict };
    let pipeline = spec.pipeline_of(&config)?;
    Ok(PlannedRun { spec, pipeline, repro, jobs, named: request.output != "-", unseen })
}

/// The takes of each pattern, in the order of the patterns: as animations of one file takes are in the order in which they are named.
fn in_given_order(patterns: &[String]) -> Result<FoundTakes, Failure> {
    let (mut takes, mut unseen) = (Vec::new(), Vec::new());
    for pattern in patterns {
        let found = find_takes(Path::new(""), std::slice::from_ref(pattern), None)?;
        let new = found.takes.iter().filter(|take| !takes.contains(take)).collect::<Vec<_>>();
        takes.extend(new);
        unseen.extend(found.unseen);
    }
    Ok(FoundTakes { takes: takes.into_iter().collect(), unseen })
}

/// Refuses overrides of what the output of the command line says.
fn refuse_replaced(sets: &[String], destination: &Destination) -> Result<(), Failure> {
    let set = |key: &str| sets.iter().any(|set| key_of(set) == key);
    let message = match destination {
        _ if set("input.motion") => {
            "`--set input.motion` does nothing: the arguments name the takes\n  hint: leave one of them out"
        }
        _ if set("input.character") => {
            "`--set input.character` does nothing: `posemill retarget` takes the character from `--onto`\n  hint: leave one of them out"
        }
        _ if set("output.dir") => {
            "`--set output.dir` does nothing: `-o` names the output\n  hint: leave one of them out"
        }
        Destination::File(_) if set("output.formats") => {
            "`--set output.formats` does nothing: the extension of the output file is its format\n  hint: \
             end `-o` with `/` for a folder with several formats"
        }
        _ => return Ok(()),
    };
    Err(Failure::Argument(message.to_owned()))
}

/// The key of an override.
fn key_of(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}

/// The options that set keys, by the beginnings of these.
const OPTIONS: [(&str, &str); 9] = [
    ("stage.trim.", "--trim"),
    ("stage.resample.", "--fps"),
    ("output.robot.rate", "--fps"),
    ("stage.root_motion.", "--in-place"),
    ("stage.retarget.map", "--map"),
    ("output.replace_animations", "--replace-animations"),
    ("output.robot.layout", "--format"),
    ("output.formats", "--format"),
    ("input.clip", "--clip"),
];

/// Refuses an override of a key that another option sets.
fn refuse_contradictions(request: &DirectRequest<'_>, sets: &[String]) -> Result<(), Failure> {
    let clip = request.clip.map(|_| "input.clip");
    let formats = request.format.map(|_| "output.formats");
    let by_options: Vec<&str> =
        request.sets.iter().map(|set| key_of(set)).chain(clip).chain(formats).collect();
    if let Some(key) = sets.iter().map(|set| key_of(set)).find(|key| by_options.contains(key)) {
        let option =
            OPTIONS.iter().find(|(begin, _)| key.starts_with(begin)).map_or("another option", |o| o.1);
        return Err(Failure::Argument(format!(
            "`--set {key}` and `{option}` set the same key\n  hint: leave one of them out"
        )));
    }
    Ok(())
}

/// The command that repeats one job.
fn repro(
    request: &DirectRequest<'_>,
    pipe: &Pipe,
    destination: &Destination,
    sets: &[String],
) -> ReproCommand {
    let output = match destination {
        Destination::Folder(folder) => folder.join("").display().to_string(),
        Destination::File(file) => {
            let alias = pipe.aliases.iter().find(|c| c.0 == *file).map(|c| c.1.clone());
            alias.unwrap_or_else(|| file.display().to_string())
        }
    };
    let pair = |option: &str, value: String| [option.to_owned(), value];
    let mut after: Vec<String> = pair("-o", output).into();
    after.extend(request.character.iter().flat_map(|c| pair("--onto", c.display().to_string())));
    after.extend(sets.iter().flat_map(|set| pair("--set", set.clone())));
    after.extend(request.merge.then(|| "--merge".to_owned()));
    after.extend(request.format.iter().flat_map(|f| pair("--format", f.extension().to_owned())));
    // Writes nothing, or to standard output only.
    after.extend((after[1] != "-").then(|| "--verify".to_owned()));
    ReproCommand { before: vec![request.command.to_owned()], after, aliases: pipe.aliases.clone() }
}
