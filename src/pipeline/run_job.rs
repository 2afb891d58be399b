//! Runs one job in memory: from its takes to the content of its output files.

use super::contact_sidecar::contact_tables;
use super::file_hash::{FileHash, slashed};
#[cfg(feature = "physics")]
use super::force_sidecar::force_files;
use super::hints::same_frames;
use super::job::{Job, TakeFile};
use super::job_step::{JobStep, StepListener};
use super::memory::fits_on;
use super::output_section::OutputFormat;
use super::plan::{Pipeline, resources};
use super::preview_output;
use super::provenance::of_job;
use super::resolved_stage::{ResolvedStage, resolve, stage_error};
use super::run_error::RunError;
use super::skeleton_hash::skeleton_hash;
use super::stage_monitor::StageMonitor;
use super::take_clips::{choose_clips, clip_names, named_motions, rest_as_frame};
use crate::export::{self, ExportError};
use crate::import::{self, ImportError, ImportOptions};
use crate::measure::{Reading, Verdict};
use crate::model::{Asset, Clip, Mark, Motion};
use crate::parallel;
use crate::report::{Metric, Report, Shown, TakeChange};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The path and the content of a file to be written.
pub(crate) type PendingFile = (PathBuf, Vec<u8>);

/// The outputs of a job in memory.
#[derive(Clone, Debug)]
pub(crate) struct JobOutputs {
    /// The part of the report that is recorded.
    pub report: Value,
    /// The files that were read: each take, with its path below the fixed folder of its glob, then the files that it refers to.
    pub sources: Vec<FileHash>,
    /// The files of each output of the job, the main one first.
    pub outputs: Vec<Vec<PendingFile>>,
}

impl JobOutputs {
    /// All files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &PendingFile> {
        self.outputs.iter().flatten()
    }
}

/// Makes the outputs of one job: reads the takes, applies every stage, encodes the results. With
/// `to_folder` the outputs go to a folder with a manifest: if a format holds one clip per file, clips go to files of their own,
/// named after them.
///
/// # Errors
/// The first [`RunError`]: no output is made if a stage fails on any take.
pub(crate) fn make(pipeline: &Pipeline, job: &Job, to_folder: bool) -> Result<JobOutputs, RunError> {
    Ok(JobRun::new(pipeline, to_folder).make(job, false)?.0)
}

/// As [`make`], with the whole report.
pub(crate) fn make_with_report(
    pipeline: &Pipeline,
    job: &Job,
    to_folder: bool,
) -> Result<(JobOutputs, Report), RunError> {
    JobRun::new(pipeline, to_folder).make(job, true)
}

/// A job while it runs.
struct JobRun<'a> {
    pipeline: &'a Pipeline,
    /// Whether the outputs go to a folder with a manifest.
    to_folder: bool,
    report: Report,
    sources: Vec<FileHash>,
    /// The results, and what the stages mark on each for its preview.
    motions: Vec<Motion>,
    marks: Vec<Vec<Mark>>,
    /// The measurements on each result, if there are several.
    metrics: Vec<Vec<Metric>>,
    /// The motions as they were read, for report pages.
    originals: Vec<Motion>,
    /// Those that a stage `perform` changed, as they were before it, likewise.
    unperformed: Vec<Option<Motion>>,
    monitor: StageMonitor,
}

impl<'a> JobRun<'a> {
    fn new(pipeline: &'a Pipeline, to_folder: bool) -> Self {
        Self {
            pipeline,
            to_folder,
            report: Report { warnings: pipeline.warnings.clone(), ..Report::default() },
            sources: Vec::new(),
            motions: Vec::new(),
            marks: Vec::new(),
            metrics: Vec::new(),
            originals: Vec::new(),
            unperformed: Vec::new(),
            monitor: StageMonitor::default(),
        }
    }

    /// Makes the outputs; the report has time series if it `keeps_series`.
    fn make(mut self, job: &Job, keeps_series: bool) -> Result<(JobOutputs, Report), RunError> {
        for take in &job.takes {
            let named = |error: RunError| match job.takes.len() {
                1 => error,
                _ => RunError::OfTake { take: take.path.clone(), error: Box::new(error) },
            };
            self.take(take, job.takes.len()).map_err(named)?;
        }
        self.pipeline.steps.begins(JobStep::Write);
        let rate = self.motions.first().map_or(1.0, |m| m.clip.sample_rate);
        let worst = preview_output::worst(&self.report, rate);
        if !keeps_series && !self.pipeline.report {
            // Those of a long take are a tenth of its clip.
            self.report.series = Vec::new();
        }
        let outputs = self.outputs(job)?;
        let mut report = recorded_report(&mut self.report, worst);
        report["clips"] = self.motions.iter().map(clip_record).collect();
        // Clips in files of their own are outputs of their own.
        if outputs
            .iter()
            .zip(&job.outputs)
            .any(|(files, (_, path))| files.first().is_some_and(|f| f.0 != *path))
        {
            for (clip, metrics) in self.metrics.iter().enumerate() {
                report["clips"][clip]["metrics"] = json!(metrics);
            }
        }
        report["skeleton"] = self.motions.first().map(|m| skeleton_hash(m.character.skeleton())).into();
        Ok((JobOutputs { report, sources: self.sources, outputs }, self.report))
    }

    /// Reads one of `takes` takes and applies the stages to its clips.
    fn take(&mut self, take: &TakeFile, takes: usize) -> Result<(), RunError> {
        let pipeline = self.pipeline;
        pipeline.steps.begins(JobStep::Read);
        let asset = self.read(take, takes)?;
        let frames = asset.clips.iter().map(Clip::frames).sum();
        fits_on(&asset, pipeline.character.as_deref(), pipeline.import.memory)?;
        let measured = pipeline.measured();
        self.monitor.enable(pipeline, frames);
        let context =
            || pipeline.character.as_ref().filter(|_| measured).map(|own| pipeline.metric_context(own));
        let stages = parallel::join(|| resolve(pipeline, &asset.character), context).0?;
        let several = takes > 1 || asset.clips.len() > 1;
        for motion in named_motions(asset, &take.relative, takes > 1) {
            if pipeline.report {
                self.originals.push(motion.clone());
            }
            let mut marks = pipeline.preview.extension().map(|_| Vec::new());
            let (monitor, report) = (&mut self.monitor, &mut self.report);
            let before = report.metrics.len();
            let motion = apply_stages(&stages, motion, &mut marks, monitor, report, &pipeline.steps)?;
            if measured {
                pipeline.steps.begins(JobStep::Measure);
            }
            if pipeline.report {
                let before = self.monitor.unperformed.take();
                self.unperformed.push(before.filter(|before| same_frames(before, &motion)));
            }
            let of_stages =
                self.report.metrics.get(before..).filter(|_| several).unwrap_or_default().to_vec();
            self.monitor.finish(pipeline, &stages, &motion, several, &mut self.report);
            self.metrics.push([of_stages, std::mem::take(&mut self.monitor.measures)].concat());
            self.motions.push(motion);
            self.marks.push(marks.unwrap_or_default());
        }
        Ok(())
    }

    /// Reads a take, with the clips that the pipeline asks for.
    fn read(&mut self, take: &TakeFile, takes: usize) -> Result<Asset, RunError> {
        let pipeline = self.pipeline;
        // In parallel: the other threads have nothing else to do yet if there is a single take.
        let prepare = || pipeline.body().map(|body| body.prepare().height());
        let (asset, hash) = parallel::join(|| hashed_asset(take, &pipeline.import), prepare).0?;
        self.sources.push(hash);
        let mut asset = asset?;
        for (uri, bytes) in resources(&asset) {
            self.sources.push(FileHash::of(export::decoded_uri(uri), bytes));
        }
        let warnings = std::mem::take(&mut asset.warnings);
        match takes {
            1 if self.report.warnings.is_empty() => self.report.warnings = warnings,
            _ => self.report.warnings.extend_from(warnings, &take.path.display().to_string()),
        }
        choose_clips(pipeline, &mut asset, &take.path, &mut self.report)?;
        Ok(asset)
    }

    /// The files of every output.
    fn outputs(&mut self, job: &Job) -> Result<Vec<Vec<PendingFile>>, RunError> {
        let pipeline = self.pipeline;
        // A document that only changes its format is otherwise left as it is.
        let own = pipeline.stages.is_empty() && self.motions.iter().any(|m| m.character.document.is_some());
        let made_by = if own { String::new() } else { of_job(pipeline, &self.sources, &self.report) };
        let mut outputs = Vec::new();
        for (format, path) in &job.outputs {
            outputs.push(self.encode(*format, path, &made_by)?);
        }
        // Preview, labels and page belong to the first output: all are up to date or stale together.
        if let (Some(files), Some((_, path))) = (outputs.first_mut(), job.outputs.first()) {
            self.add_sidecars(job, path, files)?;
        }
        Ok(outputs)
    }

    /// The files of one output.
    fn encode(
        &mut self,
        format: OutputFormat,
        path: &Path,
        made_by: &str,
    ) -> Result<Vec<PendingFile>, RunError> {
        let pipeline = self.pipeline;
        let unchanged = pipeline.stages.is_empty();
        let rest = (!format.0.several).then(|| rest_as_frame(&self.motions)).flatten();
        if rest.is_some() && self.motions.iter().any(|m| !m.character.meshes.is_empty()) {
            let message = "the file holds no motion: its rest pose is written as one frame";
            self.report.warnings.add("no-clip", message, path.shown());
        }
        let motions = rest.as_ref().unwrap_or(&self.motions);
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parts: Vec<(String, &[Motion])> = if self.to_folder && !format.0.several && motions.len() > 1 {
            clip_names(motions).iter().map(|name| format!("{stem}.{name}")).zip(motions.chunks(1)).collect()
        } else {
            vec![(stem, motions)]
        };
        let mut all = Vec::new();
        for (stem, motions) in parts {
            let options = export::ExportOptions {
                // One clip of an unchanged document replaces all of its animations.
                replace_animations: pipeline.export.replace_animations
                    || (unchanged && pipeline.clip.is_some()),
                clips_inside: unchanged && pipeline.clip.is_none(),
                // Takes that bring their own files keep them apart from each other; those of a character are shared.
                files: if self.to_folder && pipeline.character.is_none() {
                    format!("{stem}.files")
                } else {
                    String::new()
                },
                made_by: made_by.to_owned(),
                stem,
                ..pipeline.export.clone()
            };
            let saved = export::save(motions, format.0, &options);
            let (files, warnings) = saved.map_err(|error| match (&pipeline.character_file, error) {
                (Some(path), ExportError::Gltf(error)) => RunError::Document { path: path.clone(), error },
                (_, error) => error.into(),
            })?;
            self.report.warnings.extend(warnings);
            all.extend(files.into_iter().map(|f| (path.with_file_name(f.name), f.bytes)));
        }
        Ok(all)
    }

    /// Adds the preview, the table of contact labels and the report page of the output at `path`.
    fn add_sidecars(&mut self, job: &Job, path: &Path, files: &mut Vec<PendingFile>) -> Result<(), RunError> {
        let (pipeline, report) = (self.pipeline, &mut self.report);
        let marks = std::mem::take(&mut self.marks);
        files.extend(preview_output::picture(
            pipeline.preview,
            &self.motions,
            marks,
            path,
            &mut report.warnings,
        ));
        if pipeline.contacts {
            files.extend(contact_tables(&self.motions, path, &mut report.warnings));
        }
        #[cfg(feature = "physics")]
        files.extend(force_files(&self.motions, path, pipeline.forces, &mut report.warnings)?);
        let readings: Vec<Reading> = report.metrics.iter().map(Reading::from).collect();
        if pipeline.report && (pipeline.every_page || Verdict::of(&readings).over > 0) {
            files.extend(preview_output::page(
                job,
                path,
                (&self.originals, &self.unperformed),
                &self.motions,
                report,
                self.to_folder,
            ));
        }
        Ok(())
    }
}

/// What a take's file holds, and the hash of its bytes.
type HashedAsset = (Result<Asset, ImportError>, FileHash);

/// Reads the file of a take.
fn hashed_asset(take: &TakeFile, options: &ImportOptions) -> Result<HashedAsset, ImportError> {
    let name = slashed(&take.relative);
    let mut hasher = blake3::Hasher::new();
    if let Some(asset) = import::load_blocks(&take.path, options, &mut |block| _ = hasher.update(block))? {
        return Ok((Ok(asset), FileHash::finished(name, &hasher)));
    }
    let bytes = Arc::new(import::read(&take.path)?);
    Ok(parallel::join(|| import::from_shared(&bytes, &take.path, options), || FileHash::of(name, &bytes)))
}

/// The part of a report that is recorded. Time series are for the page that is drawn now; the records of thousands of takes
/// have room for one coarse series each.
fn recorded_report(report: &mut Report, worst: Option<Value>) -> Value {
    // As JSON the numbers of a long take would be four times as large.
    let series = std::mem::take(&mut report.series);
    let mut recorded = serde_json::to_value(&*report).expect("a report is plain data");
    report.series = series;
    if let Some(parts) = recorded.as_object_mut() {
        parts.shift_remove("series");
        if let Some(worst) = worst {
            parts.insert("worst_course".into(), worst);
        }
    }
    recorded
}

/// The length of a result, for tables of results.
fn clip_record(motion: &Motion) -> Value {
    let clip = &motion.clip;
    json!({
        "name": clip.name, "frames": clip.frames(), "rate_hz": clip.sample_rate, "duration_s": clip.duration(),
    })
}

/// The motion after every stage, checked; collects the marks of the stages if `marks` are asked for.
pub(super) fn apply_stages(
    stages: &[ResolvedStage],
    mut motion: Motion,
    marks: &mut Option<Vec<Mark>>,
    monitor: &mut StageMonitor,
    report: &mut Report,
    steps: &StepListener,
) -> Result<Motion, RunError> {
    if stages.is_empty() {
        motion.check().map_err(RunError::Invalid)?;
    }
    let mut direct = None;
    report.take_changes.clear();
    for (index, resolved) in stages.iter().enumerate() {
        let ResolvedStage { number, name, meaningless, stage } = resolved;
        steps.begins(JobStep::Stage { number: index + 1, of: stages.len(), name });
        if stages[index + 1..].iter().any(|later| later.stage.needs_direct_transfer()) {
            direct = stage.direct_transfer(&motion).or(direct);
        }
        let retargets = !Arc::ptr_eq(&stage.leaving(&motion.character), &motion.character);
        if let Some(marks) = marks {
            // Positions that belong to one character mean nothing for another.
            if retargets {
                marks.clear();
            }
            marks.extend(stage.marks(&motion));
        }
        let change = if retargets { Some(TakeChange::Retargeted) } else { stage.take_change(&motion) };
        monitor.before(index, resolved, &motion, &report.not_judged);
        let found = report.findings.len();
        let direct_for_stage =
            direct.as_ref().filter(|direct| stage.needs_direct_transfer() && same_frames(direct, &motion));
        motion =
            stage.apply_with_direct(motion, direct_for_stage, report).map_err(stage_error(*number, name))?;
        let fixed = report.findings[found..].iter().any(|finding| finding.left.is_none());
        let changed = fixed || !stage.only_fixes();
        if changed {
            monitor.change_take(change, &motion);
            report.take_changes.extend(change);
        }
        direct = direct.and_then(|direct| stage.apply_to_direct_transfer(direct));
        let of_stage = (!meaningless.is_empty()).then(|| (*name, meaningless.to_vec()));
        for (by, names) in of_stage.into_iter().chain(stage.not_judged()).filter(|_| changed) {
            let names = names.into_iter().map(str::to_owned).collect();
            report.not_judged.insert(by.to_owned(), names);
        }
        monitor.after(name, &motion);
        if cfg!(debug_assertions) || index + 1 == stages.len() {
            motion.check().map_err(|fault| RunError::Broken { number: *number, name, fault })?;
        }
    }
    Ok(motion)
}
