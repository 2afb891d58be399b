//! `posemill run`: pipeline files, each over all its takes.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::mill::{MillArguments, Work, mill};
use crate::pipeline::{Pipeline, PipelineConfig, Placement, PlanError, find_takes, jobs};
use crate::stages::STAGES;
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Run pipeline files, each over all its takes
///
/// Outputs that are up to date are skipped. A file that posemill did not write is never replaced without
/// `--force`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill run pipeline.toml\n  \
    posemill run pipeline.toml --input 'takes/walk*.bvh' --output /tmp/try\n  \
    posemill run pipeline.toml --set stage.resample.rate_hz=60 --dry-run")]
pub struct Arguments {
    /// Pipeline files
    #[arg(required = true, value_name = "PIPELINE.toml")]
    pipelines: Vec<PathBuf>,
    /// Takes to run over instead of those of the pipeline file, relative to the current folder
    #[arg(long, short, value_name = "GLOB")]
    input: Vec<String>,
    /// The folder for outputs instead of that of the pipeline file, relative to the current folder
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    mill: MillArguments,
}

/// Plans every pipeline, then runs them in order.
///
/// # Errors
/// A [`Failure`] where nothing can start.
pub fn run(arguments: &Arguments, console: &Console) -> Result<Exit, Failure> {
    let mut works: Vec<Work> = Vec::new();
    for path in &arguments.pipelines {
        works.extend(plan(path, arguments)?);
    }
    let mut owners: BTreeMap<&Path, &str> = BTreeMap::new();
    for work in &works {
        for (_, output) in work.jobs.iter().flat_map(|j| &j.outputs) {
            if let Some(other) = owners.insert(output, &work.pipeline.name) {
                let (name, output) = (&work.pipeline.name, output.display());
                return Err(Failure::Argument(format!(
                    "`{other}` and `{name}` would both write `{output}`\ngive them different folders"
                )));
            }
        }
    }
    mill("run", &works, &arguments.mill, console)
}

/// The work of one pipeline file: one piece for each of its characters, or one without.
fn plan(path: &Path, arguments: &Arguments) -> Result<Vec<Work>, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|e| PlanError::File { path: name.clone(), reason: crate::pipeline::io_reason(&e) })?;
    let parse =
        || PipelineConfig::parse(&name, &text, &arguments.mill.sets, STAGES).map_err(PlanError::Config);
    let config = parse()?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let output = arguments.output.clone().unwrap_or_else(|| folder.join(&config.output.dir));
    let (base, patterns) = match arguments.input.is_empty() {
        true => (folder.as_path(), &config.input.motion),
        false => (Path::new(""), &arguments.input),
    };
    if patterns.is_empty() {
        return Err(Failure::Argument(format!(
            "{name}: [input] names no motion\nwrite `motion = [\"takes/**/*.bvh\"]` or pass `--input`"
        )));
    }
    let takes = find_takes(base, patterns, Some(&output)).map_err(PlanError::Takes)?;
    let files: Vec<PathBuf> = config.input.character.iter().map(|c| folder.join(c)).collect();
    let work = |character: Option<&str>, output: PathBuf| {
        let placement = Placement::Folder(output);
        let jobs = jobs(&takes, &config.output.formats, &placement, &files)?;
        let pipeline = Pipeline::new(&mut parse()?, &folder, character)?;
        Ok(Work { pipeline, jobs, placement })
    };
    match config.input.character.as_slice() {
        [] => Ok(vec![work(None, output)?]),
        [one] => Ok(vec![work(Some(one), output)?]),
        several => several
            .iter()
            .map(|c| work(Some(c), output.join(Path::new(c).file_stem().unwrap_or_default())))
            .collect(),
    }
}
