//! The pipeline of `posemill retarget`, and pipelines applied to one motion in memory.

use super::atomic_write::whole;
use super::clip_choice::find_clip;
use super::config::PipelineConfig;
use super::default_pipeline::{DEFAULT_NAME, DEFAULT_PIPELINE};
use super::job::output_format;
use super::plan::Pipeline;
use super::plan_error::PlanError;
use super::resolved_stage::resolve;
use super::run_error::RunError;
use super::run_job::apply_stages;
use super::stage_monitor::StageMonitor;
use crate::export;
use crate::import;
use crate::model::Motion;
use crate::report::{Report, Warnings};
use crate::stages::STAGES;
use std::path::Path;

impl Pipeline {
    /// The pipeline of `posemill retarget TAKE --onto CHARACTER`.
    ///
    /// # Errors
    /// A [`PlanError`] for a character that cannot be loaded.
    ///
    /// # Examples
    /// ```
    /// use posemill::pipeline::Pipeline;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let out = tempfile::tempdir()?;
    /// # let output = out.path().join("robot_walk.glb");
    /// let pipeline = Pipeline::standard("data/robot.glb")?;
    /// let report = pipeline.run("data/walk.bvh", &output)?;
    /// report.warnings.iter().for_each(|warning| println!("{}", warning.message));
    /// # Ok(())
    /// # }
    /// ```
    pub fn standard(character: impl AsRef<Path>) -> Result<Self, PlanError> {
        Self::standard_with(character, &[])
    }

    /// The pipeline of `posemill retarget` with each of `sets` as behind `--set`: `stage.retarget.scale=1.0`,
    /// `stage.foot_lock.enabled=false`, `input.units=cm`.
    ///
    /// # Errors
    /// A [`PlanError`] for a character that cannot be loaded, and with every fault of `sets`.
    pub fn standard_with(character: impl AsRef<Path>, sets: &[String]) -> Result<Self, PlanError> {
        let config = PipelineConfig::parse(DEFAULT_NAME, DEFAULT_PIPELINE, sets, STAGES)?;
        Self::new(&config, Path::new(""), Some(&character.as_ref().to_string_lossy()))
    }

    /// A take read as this pipeline reads its takes, and what had to be changed: the clip that the pipeline names, else the
    /// one that is meant.
    ///
    /// # Errors
    /// [`RunError::Import`], [`RunError::Clip`], and [`RunError::NoClip`] for a file that holds none.
    pub fn load(&self, take: impl AsRef<Path>) -> Result<(Motion, Warnings), RunError> {
        let asset = import::load(take, &self.import)?;
        let clip = match &self.clip {
            Some(wanted) => find_clip(&asset, wanted).map_err(RunError::Clip)?,
            None => asset.meant,
        };
        let motion = asset.motion(clip).ok_or(RunError::NoClip)?;
        Ok((motion, asset.warnings))
    }

    /// The motion after every stage, and what there is to say about it; nothing is written.
    ///
    /// # Errors
    /// [`RunError::Stage`] where a stage cannot handle this motion.
    pub fn apply(&self, motion: Motion) -> Result<(Motion, Report), RunError> {
        let mut report = Report { warnings: self.warnings.clone(), ..Report::default() };
        let stages = resolve(self, &motion.character)?;
        let mut monitor = StageMonitor::default();
        monitor.enable(self, motion.clip.frames());
        let motion = apply_stages(&stages, motion, &mut None, &mut monitor, &mut report, &self.steps)?;
        monitor.finish(self, &stages, &motion, false, &mut report);
        Ok((motion, report))
    }
}

/// Writes motions that share one character to the file at `path`, in the format of its extension, with the files that it refers
/// to. Existing files are replaced atomically.
///
/// # Errors
/// A [`RunError`] for an unknown extension, an invalid motion, a format that cannot hold the motions, and a file that cannot be
/// written.
pub fn save(
    motions: &[Motion],
    path: impl AsRef<Path>,
    options: &export::ExportOptions,
) -> Result<Warnings, RunError> {
    let path = path.as_ref();
    let format = output_format(path)?.0;
    motions.iter().try_for_each(Motion::check).map_err(RunError::Invalid)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (files, warnings) =
        export::save(motions, format, &export::ExportOptions { stem, ..options.clone() })?;
    // The main file comes first, and is written last, so that a reader finds the files that it refers to.
    for file in files.iter().rev() {
        whole(&path.with_file_name(&file.name), &file.bytes)?;
    }
    Ok(warnings)
}
