//! Pipelines, and the one of `posemill retarget`.

use crate::error::{fault, must_exist, released};
use crate::motion::{Motion, readings, words};
use crate::words::{stage_sets, value};
use posemill::batch::{
    BatchOptions, Destination, JobLimits, JobOutcome, Jobs, PipelineSpec, PlannedBatch, RunOptions, Shard,
    Timeout, WorkerProgram, find_takes, run_batches,
};
use posemill::export::Format;
use posemill::model;
use posemill::pipeline::{DEFAULT_NAME, DEFAULT_PIPELINE, Memory, PipelineConfig};
use posemill::stages::STAGES;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// A pipeline as written, with the characters that it names.
#[pyclass(frozen, module = "posemill")]
pub struct Pipeline {
    name: String,
    text: String,
    /// Relative paths start here.
    folder: PathBuf,
    sets: Vec<String>,
    /// A character that no file names.
    onto: Option<String>,
    /// One for each character.
    ready: Vec<posemill::pipeline::Pipeline>,
}

/// All that a pipeline is made from, to make it again in another process.
type Parts = (String, String, PathBuf, Vec<String>, Option<String>);

impl Pipeline {
    fn new(py: Python<'_>, parts: Parts) -> PyResult<Self> {
        let (name, text, folder, sets, onto) = parts;
        let ready = released(py, || {
            let config = PipelineConfig::parse(&name, &text, &sets, STAGES).map_err(|e| e.to_string())?;
            let characters: Vec<Option<&str>> = match (&onto, config.input.character.as_slice()) {
                (Some(onto), _) => vec![Some(onto)],
                (None, []) => vec![None],
                (None, named) => named.iter().map(|c| Some(c.as_str())).collect(),
            };
            let one = |character| {
                posemill::pipeline::Pipeline::new(&config, &folder, character).map_err(|e| e.to_string())
            };
            characters.into_iter().map(one).collect::<Result<Vec<_>, String>>()
        })?;
        Ok(Self { name, text, folder, sets, onto, ready })
    }

    /// The only character's.
    fn one(&self) -> PyResult<&posemill::pipeline::Pipeline> {
        match self.ready.as_slice() {
            [one] => Ok(one),
            several => Err(fault(format!(
                "the pipeline has {} characters, a motion is carried onto one\nwrite a pipeline for each",
                several.len()
            ))),
        }
    }
}

/// The pipeline of `posemill retarget` onto `character`, as parts.
fn standard_parts(
    py: Python<'_>,
    character: PathBuf,
    map: Option<&Bound<'_, PyAny>>,
    stages: Option<&Bound<'_, PyDict>>,
) -> PyResult<Parts> {
    must_exist(py, &character)?;
    let mut sets = stage_sets(stages)?;
    if let Some(map) = map {
        sets.push(format!("stage.retarget.map={}", value(map)?));
    }
    let onto = Some(character.to_string_lossy().into_owned());
    Ok((DEFAULT_NAME.to_owned(), DEFAULT_PIPELINE.to_owned(), PathBuf::new(), sets, onto))
}

/// A pipeline that another process made.
#[pyfunction]
#[pyo3(name = "_restored")]
pub fn restored(
    py: Python<'_>,
    name: String,
    text: String,
    folder: PathBuf,
    sets: Vec<String>,
    onto: Option<String>,
) -> PyResult<Pipeline> {
    Pipeline::new(py, (name, text, folder, sets, onto))
}

/// The motion on `character`, a file, as `posemill retarget` carries it: `retarget(take, "hero.glb")`. Stages are told by
/// their names: `retarget={"scale": 1.0}`, `foot_lock=False`. For many takes make a `Pipeline.standard` once.
#[pyfunction]
#[pyo3(signature = (motion, character, *, map=None, **stages))]
pub fn retarget(
    py: Python<'_>,
    motion: &Bound<'_, Motion>,
    character: PathBuf,
    map: Option<&Bound<'_, PyAny>>,
    stages: Option<&Bound<'_, PyDict>>,
) -> PyResult<Motion> {
    Pipeline::new(py, standard_parts(py, character, map, stages)?)?.apply(py, motion)
}

#[pymethods]
impl Pipeline {
    /// The pipeline of a file, or of a dict with the same sections; relative paths start from the folder of the file, or from
    /// the current one. `sets` are as behind `--set`: `["stage.retarget.scale=1.0"]`.
    #[new]
    #[pyo3(signature = (pipeline, *, sets=Vec::new()))]
    fn made(py: Python<'_>, pipeline: &Bound<'_, PyAny>, sets: Vec<String>) -> PyResult<Self> {
        if pipeline.is_instance_of::<PyDict>() {
            let text = toml::to_string(&value(pipeline)?).map_err(fault)?;
            return Self::new(py, ("pipeline".to_owned(), text, PathBuf::new(), sets, None));
        }
        let path: PathBuf = pipeline.extract()?;
        must_exist(py, &path)?;
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|e| {
            fault(format!("the file `{name}` cannot be read: {}", posemill::report::io_reason(&e)))
        })?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::new(py, (name, text, folder, sets, None))
    }

    /// The pipeline of `posemill retarget` onto `character`, a file; `map` is a joint map. Stages are told by their names:
    /// `retarget={"scale": 1.0}`, `foot_lock=False`.
    #[staticmethod]
    #[pyo3(signature = (character, *, map=None, **stages))]
    fn standard(
        py: Python<'_>,
        character: PathBuf,
        map: Option<&Bound<'_, PyAny>>,
        stages: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        Self::new(py, standard_parts(py, character, map, stages)?)
    }

    /// The motion after every stage; nothing is written.
    fn apply(&self, py: Python<'_>, motion: &Bound<'_, Motion>) -> PyResult<Motion> {
        let pipeline = self.one()?;
        let arriving: Arc<model::Motion> = Arc::clone(&motion.get().inner);
        released(py, || {
            let (made, report) = pipeline.apply((*arriving).clone())?;
            let mut made = Motion::new(made, &report.warnings);
            (made.measured, made.not_judged) = (readings(report.metrics), report.not_judged);
            made.take_changes = report.take_changes;
            Ok::<_, posemill::pipeline::RunError>(made)
        })
    }

    /// A take read as this pipeline reads its takes.
    fn load(&self, py: Python<'_>, path: PathBuf) -> PyResult<Motion> {
        let pipeline = self.one()?;
        must_exist(py, &path)?;
        released(py, || {
            let loaded = pipeline.load(&path).map_err(|e| format!("`{}`: {e}", path.display()));
            loaded.map(|(motion, warnings)| Motion::new(motion, &warnings))
        })
    }

    /// Runs over takes, files or globs seen from the current folder, else over those of `[input]`, and says what became of
    /// each: a dict with `inputs`, `status`, `outputs`, `warnings`, `metrics` and `error`. A take that fails leaves the others
    /// alone. `output` is a folder, or a file for one take; else that of `[output]`. What is up to date is skipped, and a file
    /// that posemill did not write is never replaced without `force`. With `timeout` (`"60s"`) or `memory` (`"2GB"`, Linux) each
    /// take runs in a process of its own, and fails if it exceeds the limit; `program` is the path of `posemill`, of the same
    /// version: by default the one of this package, else the one in `PATH`.
    #[pyo3(signature = (takes=None, output=None, *, jobs=0, shard=None, force=false, dry_run=false, timeout=None, memory=None, program=None))]
    #[expect(clippy::too_many_arguments, reason = "they are named in Python")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        takes: Option<Vec<PathBuf>>,
        output: Option<PathBuf>,
        jobs: usize,
        shard: Option<String>,
        force: bool,
        dry_run: bool,
        timeout: Option<String>,
        memory: Option<String>,
        program: Option<PathBuf>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let timeout = timeout.map(|text| text.parse::<Timeout>().map_err(fault)).transpose()?;
        let memory = memory.map(|text| text.parse::<Memory>().map_err(fault)).transpose()?;
        let limits = JobLimits { timeout, memory };
        let workers = match (limits.are_set(), program) {
            (false, _) => None,
            (true, Some(path)) => Some(WorkerProgram { path, limits }),
            (true, None) => {
                let path = py.import("posemill._program")?.call_method0("program")?.extract()?;
                Some(WorkerProgram { path, limits })
            }
        };
        let shard: Option<Shard> = shard.map(|text| text.parse().map_err(fault)).transpose()?;
        let options = BatchOptions { force, dry_run, ..BatchOptions::default() };
        let stop = AtomicBool::new(false);
        let outcomes = released(py, || {
            std::thread::scope(|scope| {
                let asked = Asked {
                    takes: takes.as_deref(),
                    output: output.as_deref(),
                    jobs,
                    shard,
                    options,
                    workers,
                };
                let (stop, (beat, heard)) = (&stop, mpsc::channel::<()>());
                let work = scope.spawn(move || {
                    let _beat = beat;
                    self.run_all(&asked, stop)
                });
                // Control-C is heard while the work goes on elsewhere; jobs that were begun come to their end.
                while heard.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                    if Python::attach(|py| py.check_signals()).is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        if stop.load(Ordering::Relaxed) {
            return Err(pyo3::exceptions::PyKeyboardInterrupt::new_err(()));
        }
        let dict = |outcome: &JobOutcome| pythonize::pythonize(py, outcome).map_err(fault);
        outcomes.iter().map(dict).collect()
    }

    /// The text of the pipeline.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// What had to be bent in the files of the characters, in words.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.ready.iter().flat_map(|p| words(&p.warnings)).collect()
    }

    fn __repr__(&self) -> String {
        format!("<Pipeline `{}`>", self.name)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let restored = py.import("posemill._posemill")?.getattr("_restored")?;
        let here = |path: &Path| std::path::absolute(Path::new("./").join(path)).map_err(fault);
        let onto = self.onto.as_ref().map(|c| here(&self.folder.join(c))).transpose()?;
        let onto = onto.map(|c| c.to_string_lossy().into_owned());
        let parts = (&self.name, &self.text, here(&self.folder)?, &self.sets, onto);
        Ok((restored, parts.into_pyobject(py)?))
    }
}

/// What a run was asked for.
struct Asked<'a> {
    takes: Option<&'a [PathBuf]>,
    output: Option<&'a Path>,
    jobs: usize,
    shard: Option<Shard>,
    options: BatchOptions,
    workers: Option<WorkerProgram>,
}

impl Pipeline {
    fn run_all(&self, asked: &Asked<'_>, stop: &AtomicBool) -> Result<Vec<JobOutcome>, String> {
        fn told(error: impl std::fmt::Display) -> String {
            error.to_string()
        }
        let config = PipelineConfig::parse(&self.name, &self.text, &self.sets, STAGES).map_err(told)?;
        let output = asked.output.map_or_else(|| self.folder.join(&config.output.dir), Path::to_owned);
        let (base, patterns) = match asked.takes {
            Some(takes) => (Path::new(""), takes.iter().map(|t| t.to_string_lossy().into_owned()).collect()),
            None => (self.folder.as_path(), config.input.motion.clone()),
        };
        if patterns.is_empty() {
            return Err(format!(
                "{}: [input] names no motion\nwrite `motion = [\"takes/**/*.bvh\"]` or give takes to `run`",
                self.name
            ));
        }
        let found = find_takes(base, &patterns, Some(&output)).map_err(told)?;
        if let Some(unseen) = found.unseen.first() {
            return Err(unseen.clone());
        }
        let mut takes = found.takes;
        takes.retain(|take| asked.shard.is_none_or(|shard| shard.contains(take)));
        let extension = output.extension().unwrap_or_default().to_string_lossy().into_owned();
        let file = asked.output.is_some()
            && takes.len() == 1
            && self.ready.len() == 1
            && !output.is_dir()
            && Format::of(&extension).is_some();
        let mut planned = Vec::with_capacity(self.ready.len());
        for (k, pipeline) in self.ready.iter().enumerate() {
            let character = pipeline.character_file.as_deref();
            let destination = match (file, self.ready.len()) {
                (true, _) => Destination::File(output.clone()),
                (false, 1) => Destination::Folder(output.clone()),
                (false, _) => {
                    let name = character.and_then(Path::file_stem).unwrap_or_default();
                    Destination::Folder(output.join(name))
                }
            };
            let inputs: Vec<PathBuf> = character.into_iter().map(Path::to_owned).collect();
            let jobs =
                Jobs::new(takes.clone(), &config.output.formats, &destination, &inputs).map_err(told)?;
            let spec = PipelineSpec {
                name: self.name.clone(),
                text: self.text.clone(),
                sets: self.sets.clone(),
                folder: self.folder.clone(),
                character: self.onto.clone().or_else(|| config.input.character.get(k).cloned()),
                every_page: pipeline.every_page,
                verdict: pipeline.verdict,
            };
            planned.push((pipeline, jobs, spec));
        }
        let batches: Vec<PlannedBatch> = (planned.iter())
            .map(|(pipeline, jobs, spec)| PlannedBatch { pipeline, jobs, spec: Some(spec), repro: None })
            .collect();
        let (threads, workers) = (asked.jobs, asked.workers.clone());
        let options = RunOptions { batch: asked.options, threads, workers, keep_outcomes: true };
        let kept = run_batches(&batches, &options, stop, &|_, _, _| {}).map_err(told)?;
        let mut outcomes = Vec::new();
        for mut spool in kept.into_iter().flatten() {
            for outcome in spool.each() {
                outcomes.push(outcome.map_err(told)?);
            }
        }
        Ok(outcomes)
    }
}
