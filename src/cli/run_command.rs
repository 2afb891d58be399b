//! `posemill run`: pipeline files, each over all its takes.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::runner::{PlannedRun, RunnerArguments, clip_set, run_all};
use crate::batch::{
    Destination, FoundTakes, Jobs, PipelineSpec, ReproCommand, Shard, TakeList, TakesError, find_takes,
    listed_takes,
};
use crate::import::MAX_FILE_BYTES;
use crate::pipeline::{PipelineConfig, PlanError};
use crate::report::io_reason;
use crate::stages::STAGES;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Run pipeline files, each over all its takes
///
/// Outputs that are up to date are skipped. A file that posemill did not write is never replaced without
/// `--force`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill run pipeline.toml\n  \
    posemill run pipeline.toml --input 'takes/walk*.bvh' --output /tmp/try\n  \
    posemill run pipeline.toml --set stage.resample.rate_hz=60 --dry-run\n  \
    posemill run pipeline.toml --shard 2/4\n  \
    find takes -newer stamp -name '*.bvh' | posemill run pipeline.toml --files-from -")]
pub struct RunArguments {
    /// Pipeline files
    #[arg(required = true, value_name = "PIPELINE.toml")]
    pipelines: Vec<PathBuf>,
    /// Takes to run over instead of those of the pipeline file, relative to the current folder
    #[arg(long, short, value_name = "GLOB")]
    input: Vec<String>,
    /// A file that lists the takes, a path on each line, relative to the current folder; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    files_from: Option<PathBuf>,
    /// Only a share of the takes, such as the second of four: which take is in which share depends on its name alone
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// The folder for outputs instead of that of the pipeline file, relative to the current folder
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Which clip of takes that hold several, by name or number from 0 [default: all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    #[command(flatten)]
    runner: RunnerArguments,
}

/// Plans every pipeline, then runs them in order.
///
/// # Errors
/// A [`Failure`] where nothing can start.
pub fn run(arguments: &RunArguments, console: &Console) -> Result<Exit, Failure> {
    let mut runs: Vec<PlannedRun> = Vec::new();
    for path in &arguments.pipelines {
        runs.extend(plan(path, arguments, console)?);
    }
    let mut owners: BTreeMap<PathBuf, &str> = BTreeMap::new();
    // Those of one piece are told apart by its jobs.
    for run in runs.iter().filter(|_| runs.len() > 1) {
        for (_, output) in (0..run.jobs.len()).flat_map(|k| run.jobs.outputs(k)) {
            if let Some(other) = owners.insert(output.clone(), &run.pipeline.name) {
                let (name, output) = (&run.pipeline.name, output.display());
                return Err(Failure::Argument(format!(
                    "`{other}` and `{name}` would both write `{output}`\ngive them different folders"
                )));
            }
        }
    }
    run_all("run", &runs, &arguments.runner, console)
}

/// The work of one pipeline file: one piece for each of its characters, or one without.
fn plan(path: &Path, arguments: &RunArguments, console: &Console) -> Result<Vec<PlannedRun>, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|e| PlanError::File { path: name.clone(), reason: io_reason(&e) })?;
    let mut sets: Vec<String> = arguments.clip.iter().map(|clip| clip_set(clip)).collect();
    sets.extend(arguments.runner.sets.iter().cloned());
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let config = PipelineConfig::parse_in(&folder, &name, &text, &sets, STAGES);
    let mut config = config.map_err(PlanError::Config)?;
    let output = arguments.output.clone().unwrap_or_else(|| folder.join(&config.output.dir));
    let FoundTakes { mut takes, unseen } = takes(&name, &folder, &config, arguments, &output)?;
    if let Some(shard) = arguments.shard {
        takes.retain(|take| shard.contains(take));
    }
    let every_page = takes.len() <= MOST_REPORTED;
    if !every_page && config.output.report && config.says_report {
        console
            .note(format!("{name}: of more than {MOST_REPORTED} takes only those over a limit get a page"));
    }
    if !every_page && config.output.report && !config.says_report {
        console.note(format!(
            "{name}: no report and no pages for more than {MOST_REPORTED} takes\nhint: `report = true` in [output] asks for them"
        ));
        sets.push("output.report=false".to_owned());
        config.output.report = false;
    }
    let files: Vec<PathBuf> = config.input.character.iter().map(|c| folder.join(c)).collect();
    let planned = |takes: TakeList, character: Option<&str>, output: PathBuf| {
        let jobs = Jobs::new(takes, &config.output.formats, &Destination::Folder(output), &files)?;
        let (name, text, sets, folder) = (name.clone(), text.clone(), sets.clone(), folder.clone());
        let spec = PipelineSpec {
            name,
            text,
            sets,
            folder,
            character: character.map(str::to_owned),
            every_page,
            verdict: false,
        };
        let pipeline = spec.pipeline_of(&config)?;
        let repro = repro(path, arguments, &spec.sets);
        Ok(PlannedRun { spec, pipeline, repro, jobs, named: true, unseen: unseen.clone() })
    };
    match config.input.character.as_slice() {
        [] => Ok(vec![planned(takes, None, output)?]),
        [one] => Ok(vec![planned(takes, Some(one), output)?]),
        several => several
            .iter()
            .map(|c| {
                planned(takes.clone(), Some(c), output.join(Path::new(c).file_stem().unwrap_or_default()))
            })
            .collect(),
    }
}

/// What works on one take again.
fn repro(path: &Path, arguments: &RunArguments, sets: &[String]) -> ReproCommand {
    let pair = |option: &str, value: &str| [option.to_owned(), value.to_owned()];
    let mut before = vec!["run".to_owned(), path.display().to_string()];
    before.extend(arguments.output.iter().flat_map(|o| pair("--output", &o.to_string_lossy())));
    before.extend(sets.iter().flat_map(|set| pair("--set", set)));
    before.push("--input".to_owned());
    // It writes nothing.
    ReproCommand { before, after: vec!["--verify".to_owned()], aliases: Vec::new() }
}

/// Takes up to which every one is measured and gets a page unless the pipeline says something else: a page weighs a
/// megabyte, and nobody opens thousands.
const MOST_REPORTED: usize = 2000;

/// The takes of a pipeline, or those that the arguments name instead.
fn takes(
    name: &str,
    folder: &Path,
    config: &PipelineConfig,
    arguments: &RunArguments,
    output: &Path,
) -> Result<FoundTakes, Failure> {
    if let Some(list) = &arguments.files_from {
        let mut bytes = Vec::new();
        let read = match list.as_os_str() == "-" {
            true => std::io::stdin().lock().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map(drop),
            false => std::fs::read(list).map(|read| bytes = read),
        };
        read.map_err(|e| TakesError::List(list.display().to_string(), io_reason(&e)))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            let reason = format!("it has more than {MAX_FILE_BYTES} bytes (`MAX_FILE_BYTES`)");
            return Err(TakesError::List(list.display().to_string(), reason).into());
        }
        return Ok(listed_takes(&bytes));
    }
    if !arguments.input.is_empty() {
        return Ok(find_takes(Path::new(""), &arguments.input, Some(output))?);
    }
    if config.input.motion.is_empty() {
        return Err(Failure::Argument(format!(
            "{name}: [input] names no motion\nwrite `motion = [\"takes/**/*.bvh\"]` or pass `--input`"
        )));
    }
    Ok(config.takes(folder, output).map_err(PlanError::Config)?)
}
