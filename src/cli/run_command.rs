//! `posemill run`: runs pipeline files, each on all its takes.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::planned_run::PlannedRun;
use super::runner::{RunnerArguments, clip_set, run_all};
use crate::batch::{
    Destination, FoundTakes, Jobs, PipelineSpec, ReproCommand, Shard, TakeList, TakesError, find_takes,
    left_over, listed_takes,
};
use crate::import;
use crate::pipeline::{PipelineConfig, PlanError};
use crate::regular_file::{MAX_TEXT_BYTES, read_text};
use crate::report::{Shown, io_reason, one_line};
use crate::stages::STAGES;
use clap::Args;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Run pipeline files, each on all its takes
///
/// Outputs that are up to date are skipped. A file that posemill did not write is never replaced without
/// `--force`.
#[derive(Debug, Default, Args)]
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
    /// Takes instead of those in the pipeline file, relative to the current folder
    #[arg(long, short, value_name = "GLOB")]
    input: Vec<String>,
    /// A file with the paths of the takes, one on each line, relative to the current folder; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    files_from: Option<PathBuf>,
    /// Process only a share of the takes, e.g. `2/4` for the second of four; the share of a take depends on its name alone
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// The output folder instead of that in the pipeline file, relative to the current folder
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The clip of takes that hold several, by name or number from 0 [default: all]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    #[command(flatten)]
    runner: RunnerArguments,
}

impl RunArguments {
    /// `posemill run PIPELINE.toml`.
    pub fn of(pipeline: PathBuf) -> Self {
        Self { pipelines: vec![pipeline], ..Self::default() }
    }
}

/// Plans every pipeline, then runs them in order.
pub fn run(arguments: &RunArguments, console: &Console) -> Result<Exit, Failure> {
    let mut runs: Vec<PlannedRun> = Vec::new();
    for path in &arguments.pipelines {
        runs.extend(plan(path, arguments, console)?);
    }
    let mut owners: BTreeMap<PathBuf, &PlannedRun> = BTreeMap::new();
    // Within one pipeline and character, jobs report collisions.
    for run in runs.iter().filter(|_| runs.len() > 1) {
        for (_, output) in (0..run.jobs.len()).flat_map(|k| run.jobs.outputs(k)) {
            if let Some(other) = owners.insert(output.clone(), run)
                && !std::ptr::eq(other, run)
            {
                return Err(Failure::Argument(collision(other, run, &output)));
            }
        }
    }
    let exit = run_all("run", &runs, &arguments.runner, console, || Ok(()))?;
    if arguments.input.is_empty() && arguments.files_from.is_none() && arguments.shard.is_none() {
        runs.iter().for_each(|run| warn_of_left_over(run, console));
    }
    Ok(exit)
}

/// The message for two runs of one output: of two pipelines, or of two characters of one.
fn collision(a: &PlannedRun, b: &PlannedRun, output: &Path) -> String {
    let (output, name) = (output.shown(), &b.pipeline.name);
    match (&a.spec.character, &b.spec.character) {
        (Some(one), Some(other)) if a.pipeline.name == *name && one != other => format!(
            "the characters `{}` and `{}` of `{name}` would both write `{output}`: folders are named after the files of characters\n  hint: \
             give one of the files another name",
            one_line(one),
            one_line(other)
        ),
        _ => format!(
            "`{}` and `{name}` would both write `{output}`\n  hint: give them different folders",
            a.pipeline.name
        ),
    }
}

/// Reports results whose takes were deleted or renamed.
fn warn_of_left_over(run: &PlannedRun, console: &Console) {
    let left = left_over(&run.jobs, &run.pipeline);
    let (Some(first), Some(folder)) = (left.first(), run.jobs.destination().folder()) else { return };
    let outputs = match left.len() {
        1 => "1 output of an earlier run has".to_owned(),
        n => format!("{n} outputs of earlier runs have"),
    };
    console.warning(format!(
        "{}: {outputs} no take any more (`{}`): tables and training shards still have {}\n  hint: delete the files if the takes were deleted: the next run that writes results forgets them",
        folder.shown(),
        one_line(first),
        if left.len() == 1 { "it" } else { "them" },
    ));
}

/// The runs of one pipeline file: one for each of its characters, or one without a character.
pub fn plan(path: &Path, arguments: &RunArguments, console: &Console) -> Result<Vec<PlannedRun>, Failure> {
    let name = path.shown();
    if path.extension().is_none_or(|suffix| suffix != "toml") && import::format_name(path).is_ok() {
        let message = format!("`{name}` is not a pipeline (TOML)\n  hint: did you mean `posemill retarget`?");
        return Err(Failure::Argument(message));
    }
    if path.is_dir() {
        let message = format!(
            "`{name}` is a folder, not a pipeline (TOML)\n  hint: pass its pipelines: {}",
            path.join("*.toml").shown()
        );
        return Err(Failure::Argument(message));
    }
    let text = read_text(path).map_err(|e| PlanError::unread(&name, path, &e))?;
    let mut sets: Vec<String> = arguments.clip.iter().map(|clip| clip_set(clip)).collect();
    sets.extend(arguments.runner.sets.iter().cloned());
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let config = PipelineConfig::parse_in(&folder, &name, &text, &sets, STAGES);
    let mut config = config.map_err(PlanError::Config)?;
    let output = arguments.output.clone().unwrap_or_else(|| folder.join(&config.output.dir));
    if output.is_file() {
        let message = format!(
            "`{}` is a file, not a folder\n  hint: name the folder of the outputs, which are named after their takes",
            output.shown()
        );
        return Err(Failure::Argument(message));
    }
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
            "{name}: no report and no pages for more than {MOST_REPORTED} takes\n  hint: `report = true` in [output] asks for them"
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

/// The command that repeats one take.
fn repro(path: &Path, arguments: &RunArguments, sets: &[String]) -> ReproCommand {
    let pair = |option: &str, value: &str| [option.to_owned(), value.to_owned()];
    let mut before = vec!["run".to_owned(), path.display().to_string()];
    before.extend(arguments.output.iter().flat_map(|o| pair("--output", &o.to_string_lossy())));
    before.extend(sets.iter().flat_map(|set| pair("--set", set)));
    before.push("--input".to_owned());
    // `--verify` writes nothing.
    ReproCommand { before, after: vec!["--verify".to_owned()], aliases: Vec::new() }
}

/// Most takes for which every one gets a page in the report, and for which there is a report unless the pipeline asks for one:
/// a page has a megabyte, and nobody opens thousands.
const MOST_REPORTED: usize = 2000;

/// The takes of a pipeline, or those of the arguments.
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
            true => std::io::stdin().lock().take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map(drop),
            // A shell may name a pipe here: `--files-from <(find ...)`.
            false => File::open(list)
                .and_then(|file| file.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes))
                .map(drop),
        };
        read.map_err(|e| TakesError::List(list.shown(), io_reason(&e)))?;
        if bytes.len() as u64 > MAX_TEXT_BYTES {
            let reason = format!("it has more than {MAX_TEXT_BYTES} bytes (`MAX_TEXT_BYTES`)");
            return Err(TakesError::List(list.shown(), reason).into());
        }
        let found = listed_takes(&bytes, folder, &config.input.motion);
        if found.takes.is_empty() && found.unseen.is_empty() {
            let reason = "it names no take".to_owned();
            return Err(TakesError::List(list.shown(), reason).into());
        }
        return Ok(found);
    }
    if !arguments.input.is_empty() {
        return Ok(find_takes(Path::new(""), &arguments.input, Some(output))?);
    }
    if config.input.motion.is_empty() {
        return Err(Failure::Argument(format!(
            "{name}: [input] names no motion\n  hint: write `motion = [\"takes/**/*.bvh\"]` or pass `--input`"
        )));
    }
    Ok(config.takes(folder, output).map_err(PlanError::Config)?)
}
