//! A pipeline used without a batch: the one of `posemill retarget`, one motion in memory, one take into one file.

use super::claims::Claims;
use super::clips::find_clip;
use super::config::PipelineConfig;
use super::jobs::{Jobs, Placement, output_format};
use super::plan::{DEFAULT_PIPELINE, Pipeline, PlanError};
use super::put::Place;
use super::run::{RunError, make_and_tell, perform, resolve};
use super::takes::Take;
use super::watch::Watch;
use super::write::whole;
use crate::export;
use crate::import;
use crate::model::Motion;
use crate::report::{Report, Warnings};
use crate::stages::STAGES;
use std::path::Path;
use std::time::SystemTime;

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
        let config = PipelineConfig::parse("default pipeline", DEFAULT_PIPELINE, sets, STAGES)?;
        Self::new(&config, Path::new(""), Some(&character.as_ref().to_string_lossy()))
    }

    /// A take read as this pipeline reads its takes, and what had to be bent: the clip that the pipeline names, else the
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
        let steps = resolve(self, &motion.character)?;
        let mut watch = Watch::new();
        watch.look(self.measured(motion.clip.frames()));
        let motion = perform(&steps, motion, &mut None, &mut watch, &mut report)?;
        watch.finish(self, &motion, false, &mut report);
        Ok((motion, report))
    }

    /// Carries one take into one file, as `posemill retarget TAKE --onto CHARACTER -o OUTPUT` does: every clip of the take,
    /// in the format of the output's extension, replacing a file of that name.
    ///
    /// # Errors
    /// A [`RunError`]: then nothing is written.
    pub fn run(&self, take: impl AsRef<Path>, output: impl AsRef<Path>) -> Result<Report, RunError> {
        let (path, when) = (take.as_ref().to_owned(), SystemTime::now());
        let take = Take { relative: path.file_name().unwrap_or_default().into(), path };
        let placement = Placement::File(output.as_ref().to_owned());
        let inputs: Vec<_> = self.character_file.iter().cloned().collect();
        let jobs = Jobs::new([take].into_iter().collect(), &[], &placement, &inputs)?;
        let job = jobs.get(0);
        let (made, report) = make_and_tell(self, &job, false)?;
        let claims = Claims::of(std::iter::once(&jobs));
        Place { manifest: None, claims: &claims, force: false }.write(&job, &self.fingerprint, made, when)?;
        Ok(report)
    }
}

/// Writes motions that share one character into the file at `path`, in the format of its extension, with the files that
/// belong beside it; what is there is replaced, whole or not at all.
///
/// # Errors
/// A [`RunError`] for an extension of no format, a format that cannot hold the motions, and a file that cannot be written.
pub fn save(
    motions: &[Motion],
    path: impl AsRef<Path>,
    options: &export::ExportOptions,
) -> Result<Warnings, RunError> {
    let path = path.as_ref();
    let format = output_format(path)?.0;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (files, warnings) =
        export::save(motions, *format, &export::ExportOptions { stem, ..options.clone() })?;
    // The main file comes first, and is written last: whoever sees it finds what it refers to.
    for file in files.iter().rev() {
        whole(&path.with_file_name(&file.name), &file.bytes)?;
    }
    Ok(warnings)
}
