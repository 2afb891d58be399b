//! One job from its takes to its outputs: the story of a run.

use super::beside;
use super::clips::{find_clip, is_skinned};
use super::drawn;
use super::jobs::{Collision, Job};
use super::line::FileHash;
use super::manifest::slashed;
use super::plan::{Pipeline, PlanError, resources};
use super::watch::Watch;
use super::write::WriteError;
use crate::export::{self, ExportError};
use crate::import::{self, ImportError};
use crate::measure::{Reading, Verdict};
use crate::model::{Asset, Character, Clip, Fault, Mark, Motion};
use crate::report::Report;
use crate::stages::{Setting, Stage, StageError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file and what shall be in it.
pub(crate) type MadeFile = (PathBuf, Vec<u8>);

/// What a job made, before any of it is written.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// What the record keeps of the report.
    pub report: Value,
    /// The files read: the take under the name that it has below its pattern, then what it names.
    pub sources: Vec<FileHash>,
    /// For each output of the job its files, the main one first.
    pub outputs: Vec<Vec<MadeFile>>,
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The take cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The file has a skeleton only.
    #[error("the file holds no motion\n`posemill inspect` shows what it holds")]
    NoClip,
    /// The take is a character, and what stands as the character is a take.
    #[error(
        "the file holds a skin and no motion, `{character}` motion and no skin: take and character are swapped\n\
         try `posemill retarget {character} --onto {take}`"
    )]
    Swapped {
        /// What was given as the take.
        take: String,
        /// What was given as the character.
        character: String,
    },
    /// The clip that was asked for is not there.
    #[error("{0}")]
    Clip(String),
    /// A stage cannot handle this take.
    #[error("stage {number} (`{name}`): {error}")]
    Stage {
        /// The position of the stage, from 1.
        number: usize,
        /// Its name.
        name: &'static str,
        /// What is wrong.
        error: StageError,
    },
    /// A stage broke a promise of the normal form: a mistake of the program. In debug builds it is found after every
    /// stage, else after the last.
    #[error("stage {number} (`{name}`) broke the motion: {fault}")]
    Broken {
        /// The position of the stage, from 1.
        number: usize,
        /// Its name.
        name: &'static str,
        /// The promise.
        fault: Fault,
    },
    /// The result cannot be encoded.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// An output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Two takes would go to one file.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// The output is no file that can be written, or the take itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file beside the output is already that of another take.
    #[error(
        "`{path}` beside the output is a file of another take of this run\ngive the takes different names or folders",
        path = .0.display()
    )]
    Claimed(PathBuf),
    /// A file beside the output is that of an output of an earlier run.
    #[error(
        "`{path}` beside the output belongs to `{of}` too, which would no longer be what it was\n\
         give this pipeline a folder of its own; `--force` replaces the file",
        path = path.display(), of = of.display()
    )]
    Shared {
        /// The file.
        path: PathBuf,
        /// The output that refers to it as it is.
        of: PathBuf,
    },
    /// An output is not what the pipeline makes.
    #[error("`{path}` is not what this pipeline makes of the take\n`--force` makes it anew", path = .0.display())]
    Differs(PathBuf),
    /// An output is not there.
    #[error("`{path}` is not there\n`posemill run` makes it", path = .0.display())]
    Absent(PathBuf),
    /// An output would replace a file that is not this program's.
    #[error("`{path}` was not written by posemill, or was changed since\nuse `--force` to replace it", path = .0.display())]
    Foreign(PathBuf),
    /// What a process said that worked on it.
    #[error("{0}")]
    Told(String),
    /// The process that worked on it is no more.
    #[error(
        "the process that worked on it {reason}\n  hint: this does it again, and writes nothing:\n{again}"
    )]
    Lost {
        /// What became of it.
        reason: String,
        /// A command line.
        again: String,
    },
    /// No process can be started to work on it.
    #[error("no process can be started to work on it: {0}")]
    NoWorker(String),
    /// Another pipeline was found where that of the run is.
    #[error("the program, or a file that the pipeline names, changed while the run went on\nstart it again")]
    Changed,
    /// The program made a mistake on this take.
    #[error("internal error: {0}\nthe other files are not affected; please report this one")]
    Panic(String),
}

/// Makes everything of one job: takes in, through every stage. `record` says that the outputs go to a folder that keeps a
/// record: clips of which a format holds one go to files of their own, named after them.
///
/// # Errors
/// The first [`RunError`]: nothing is made unless every take comes through every stage.
pub(crate) fn make(pipeline: &Pipeline, job: &Job, record: bool) -> Result<Made, RunError> {
    make_and_tell(pipeline, job, record).map(|(made, _)| made)
}

/// As [`make`], with the whole report.
pub(super) fn make_and_tell(
    pipeline: &Pipeline,
    job: &Job,
    record: bool,
) -> Result<(Made, Report), RunError> {
    let hashed =
        |path: String, bytes: &[u8]| FileHash { path, blake3: blake3::hash(bytes).to_hex().to_string() };
    let mut report = Report { warnings: pipeline.warnings.clone(), ..Report::default() };
    let mut sources = Vec::new();
    let mut motions = Vec::new();
    let mut marks = Vec::new();
    let mut watch = Watch::new();
    let mut arrived: Vec<Motion> = Vec::new();
    for take in &job.takes {
        let mut asset = {
            // Beside each other: a single take has nothing else for the other threads yet.
            let bytes = Arc::new(
                rayon::join(
                    || import::read(&take.path),
                    || pipeline.body().map(|body| body.prepare().height()),
                )
                .0?,
            );
            let (asset, hash) = rayon::join(
                || import::from_shared(&bytes, &take.path, &pipeline.import),
                || hashed(slashed(&take.relative), &bytes),
            );
            sources.push(hash);
            asset?
        };
        for (uri, bytes) in resources(&asset) {
            sources.push(hashed(export::decoded_uri(uri), bytes));
        }
        let warnings = std::mem::take(&mut asset.warnings);
        match job.takes.len() {
            1 if report.warnings.is_empty() => report.warnings = warnings,
            _ => report.warnings.extend_from(warnings, &take.path.display().to_string()),
        }
        chosen(pipeline, &mut asset, &take.path, &mut report)?;
        let measured = pipeline.measured(asset.clips.iter().map(Clip::frames).sum());
        watch.look(measured);
        let context =
            || pipeline.character.as_ref().filter(|_| measured).map(|own| pipeline.metric_context(own));
        let steps = rayon::join(|| resolve(pipeline, &asset.character), context).0?;
        let several = job.takes.len() > 1 || asset.clips.len() > 1;
        for motion in named_motions(asset, &take.relative, job.takes.len() > 1) {
            if pipeline.report {
                arrived.push(motion.clone());
            }
            let mut shown = pipeline.preview.extension().map(|_| Vec::new());
            let motion = perform(&steps, motion, &mut shown, &mut watch, &mut report)?;
            watch.finish(pipeline, &motion, several, &mut report);
            motions.push(motion);
            marks.push(shown.unwrap_or_default());
        }
    }

    let mut outputs = Vec::new();
    let untouched = pipeline.stages.is_empty();
    // A document that only changes its format promises to stay as it is.
    let own = untouched && motions.iter().any(|m| m.character.document.is_some());
    let made_by = if own { String::new() } else { made_by(pipeline, &sources) };
    for (format, path) in &job.outputs {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parts: Vec<(String, &[Motion])> = if record && !format.0.several && motions.len() > 1 {
            clip_names(&motions).iter().map(|name| format!("{stem}.{name}")).zip(motions.chunks(1)).collect()
        } else {
            vec![(stem, &motions)]
        };
        let mut all = Vec::new();
        for (stem, motions) in parts {
            let options = export::ExportOptions {
                // Of a document that stays as it is one clip is kept by writing that one in place of all.
                replace_animations: pipeline.export.replace_animations
                    || (untouched && pipeline.clip.is_some()),
                clips_inside: untouched && pipeline.clip.is_none(),
                // Takes that bring their own files have them apart from each other; those of a character are shared.
                files: if record && pipeline.character.is_none() {
                    format!("{stem}.files")
                } else {
                    String::new()
                },
                made_by: made_by.clone(),
                stem,
                ..pipeline.export.clone()
            };
            let (files, warnings) = export::save(motions, *format.0, &options)?;
            report.warnings.extend(warnings);
            all.extend(files.into_iter().map(|f| (path.with_file_name(f.name), f.bytes)));
        }
        outputs.push(all);
    }
    // The picture and the labels belong to the first output: all are fresh or stale together.
    if let (Some(files), Some((_, path))) = (outputs.first_mut(), job.outputs.first()) {
        files.extend(drawn::picture(pipeline.preview, &motions, marks, path, &mut report.warnings));
        if pipeline.contacts {
            files.extend(beside::labels(&motions, path, &mut report.warnings));
        }
        let readings: Vec<Reading> = report.metrics.iter().map(Reading::from).collect();
        if pipeline.report && (pipeline.every_page || Verdict::of(&readings).over > 0) {
            files.extend(drawn::page(
                job,
                path,
                &arrived,
                &motions,
                &mut report,
                pipeline.stage_names(),
                record,
            ));
        }
    }
    let rate = motions.first().map_or(1.0, |m| m.clip.sample_rate);
    Ok((Made { report: kept(&report, rate), sources, outputs }, report))
}

/// What the record keeps of a report. Courses over time are for whoever draws them now; a record of thousands of takes
/// has room for a coarse one each.
fn kept(report: &Report, rate: f64) -> Value {
    let mut kept = serde_json::to_value(report).expect("a report is plain data");
    if let Some(parts) = kept.as_object_mut() {
        parts.shift_remove("series");
        if let Some(worst) = drawn::worst(report, rate) {
            parts.insert("worst_course".into(), worst);
        }
    }
    kept
}

/// What made the outputs, as JSON: nothing in it depends on when and where that was.
fn made_by(pipeline: &Pipeline, sources: &[FileHash]) -> String {
    let inputs: Vec<_> = sources.iter().map(|s| json!({ "name": s.path, "blake3": s.blake3 })).collect();
    let version = env!("CARGO_PKG_VERSION");
    json!({ "version": version, "pipeline": pipeline.fingerprint, "inputs": inputs }).to_string()
}

/// Leaves the clips in the asset that the pipeline asks for.
///
/// # Errors
/// A [`RunError`] where there is none, with a guess why.
fn chosen(pipeline: &Pipeline, asset: &mut Asset, path: &Path, report: &mut Report) -> Result<(), RunError> {
    let take = path.display().to_string();
    match &pipeline.bare_take {
        Some(character) if is_skinned(asset) && asset.clips.is_empty() => {
            return Err(RunError::Swapped { take, character: character.clone() });
        }
        Some(character) if is_skinned(asset) => {
            let message = format!("`{character}` has no skin and the take has one: are the two swapped?");
            report.warnings.add("swapped", message, take);
        }
        _ => {}
    }
    if asset.clips.is_empty() {
        // A character without a clip can change its format; there is nothing that a stage could do to it.
        let only_another_format = pipeline.stages.is_empty() && pipeline.clip.is_none();
        if !only_another_format || asset.character.meshes.is_empty() {
            return Err(RunError::NoClip);
        }
        let joints = asset.character.skeleton().len();
        asset.clips = vec![Clip::new("", 30.0, joints, Vec::new(), Vec::new(), Vec::new())];
    }
    if let Some(wanted) = &pipeline.clip {
        let found = find_clip(asset, wanted).map_err(RunError::Clip)?;
        asset.clips = vec![asset.clips.swap_remove(found)];
        asset.meant = 0;
    }
    Ok(())
}

/// The clips of an asset as motions; clips without a name, and those that are merged, are named after the take.
fn named_motions(asset: Asset, take: &Path, merged: bool) -> Vec<Motion> {
    let stem = take.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let several = asset.clips.len() > 1;
    let motion = |clip: Clip| {
        let mut motion = Motion::new(Arc::clone(&asset.character), clip);
        let name = &mut motion.clip.name;
        *name = match (name.is_empty(), merged && several, merged) {
            (true, _, _) | (false, false, true) => stem.clone(),
            (false, true, _) => format!("{stem} {name}"),
            (false, false, false) => std::mem::take(name),
        };
        motion
    };
    asset.clips.into_iter().map(motion).collect()
}

/// The names of the clips as parts of file names, each once.
fn clip_names(motions: &[Motion]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(motions.len());
    for motion in motions {
        let kept = |c: char| if c.is_alphanumeric() || "-_ ()".contains(c) { c } else { '_' };
        let name: String = motion.clip.name.trim().chars().map(kept).take(LONGEST_NAME).collect();
        let name = if name.is_empty() { "clip".to_owned() } else { name };
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let taken = |n: &String| names.iter().any(|t| t.eq_ignore_ascii_case(n));
        let free = std::iter::once(name.clone()).chain(numbered).find(|n| !taken(n));
        names.extend(free);
    }
    names
}

/// The characters of a clip's name that a file name gets: file systems end at 255 bytes.
const LONGEST_NAME: usize = 60;

/// A stage that is ready, with its place in the pipeline.
pub(super) struct Step {
    number: usize,
    name: &'static str,
    stage: Box<dyn Stage>,
}

impl Step {
    fn error(number: usize, name: &'static str) -> impl Fn(StageError) -> RunError {
        move |error| RunError::Stage { number, name, error }
    }
}

/// Every stage, resolved for the character that will arrive at it.
pub(super) fn resolve(pipeline: &Pipeline, arriving: &Arc<Character>) -> Result<Vec<Step>, RunError> {
    let mut arriving = Arc::clone(arriving);
    let mut steps = Vec::with_capacity(pipeline.stages.len());
    for (k, written) in pipeline.stages.iter().enumerate() {
        let (number, name) = (k + 1, written.name());
        let setting = Setting {
            arriving: Arc::clone(&arriving),
            target: pipeline.character.clone(),
            folder: pipeline.folder.clone(),
            body: pipeline.body(),
        };
        let stage = written.resolve(&setting).map_err(Step::error(number, name))?;
        arriving = stage.leaving(&arriving);
        steps.push(Step { number, name, stage });
    }
    Ok(steps)
}

/// The motion after every stage; where `marks` are wanted, what the stages show beside it.
pub(super) fn perform(
    steps: &[Step],
    mut motion: Motion,
    marks: &mut Option<Vec<Mark>>,
    watch: &mut Watch,
    report: &mut Report,
) -> Result<Motion, RunError> {
    for Step { number, name, stage } in steps {
        if let Some(marks) = marks {
            // Places in the world of one character mean nothing to another.
            if !Arc::ptr_eq(&stage.leaving(&motion.character), &motion.character) {
                marks.clear();
            }
            marks.extend(stage.marks(&motion));
        }
        watch.before(&**stage, &motion);
        motion = stage.apply(motion, report).map_err(Step::error(*number, name))?;
        watch.after(name, &motion);
        if cfg!(debug_assertions) || *number == steps.len() {
            motion.check().map_err(|fault| RunError::Broken { number: *number, name, fault })?;
        }
    }
    Ok(motion)
}
