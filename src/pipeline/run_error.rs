//! The errors of a job.

use super::atomic_write::WriteError;
use super::job::Collision;
use super::plan_error::PlanError;
use crate::export::ExportError;
use crate::gltf_document::GltfError;
use crate::import::ImportError;
use crate::model::Fault;
use crate::report::Shown;
use crate::stages::StageError;
use std::path::PathBuf;

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The take cannot be read.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The file has a skeleton without motion.
    #[error("the file holds no motion\n  hint: list its content with `posemill inspect`")]
    NoClip,
    /// The take is a character, and the character is a take.
    #[error(
        "the file holds a skin and no motion, `{character}` motion and no skin: take and character are swapped\n  hint: \
         try `posemill retarget {character} --onto {take}`"
    )]
    Swapped {
        /// What was given as the take.
        take: String,
        /// What was given as the character.
        character: String,
    },
    /// The clip that was asked for does not exist.
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
    /// The error of one of the takes of a file with several.
    #[error("`{take}`: {error}", take = take.shown())]
    OfTake {
        /// The take.
        take: PathBuf,
        /// What is wrong with it.
        error: Box<RunError>,
    },
    /// A stage broke the normal form, a bug of the program. Debug builds check after every stage, others after the last.
    #[error("stage {number} (`{name}`) broke the motion: {fault}")]
    Broken {
        /// The position of the stage, from 1.
        number: usize,
        /// Its name.
        name: &'static str,
        /// The rule that is broken.
        fault: Fault,
    },
    /// A motion that no stage has changed breaks the normal form.
    #[error("the motion is invalid: {0}")]
    Invalid(Fault),
    /// The result cannot be encoded.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The document of the character cannot take the result.
    #[error("the file of the character, `{path}`: {error}", path = path.shown())]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: GltfError,
    },
    /// An output cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Two takes would go to one file.
    #[error(transparent)]
    Collision(#[from] Collision),
    /// The output has an unknown format, or is an input.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file next to the output belongs to another take of the run.
    #[error(
        "`{path}` beside the output is a file of another take of this run\n  hint: give the takes different names or folders",
        path = .0.shown()
    )]
    Claimed(PathBuf),
    /// A file next to the output belongs to an output of an earlier run.
    #[error(
        "`{path}` beside the output belongs to `{of}` too, which would be invalid without it\n  hint: \
         give this pipeline a folder of its own, or replace the file with `--force`",
        path = path.shown(), of = of.shown()
    )]
    Shared {
        /// The file.
        path: PathBuf,
        /// The output that refers to it as it is.
        of: PathBuf,
    },
    /// Another pipeline has made the output, or makes it now.
    #[error(
        "`{path}` is an output of another pipeline, `{pipeline}`\n  hint: \
         give this pipeline a folder of its own, or replace the file with `--force`",
        path = path.shown()
    )]
    OtherPipeline {
        /// The output.
        path: PathBuf,
        /// The file name of the other pipeline.
        pipeline: String,
    },
    /// The output was made of another take, or for another character.
    #[error(
        "`{path}` was made {before}, and would now be made {now}\n  hint: \
         give this run a folder of its own, or replace the file with `--force`",
        path = path.shown()
    )]
    OtherOrigin {
        /// The output.
        path: PathBuf,
        /// Of which take or for which character it was made.
        before: String,
        /// Of which take or for which character it would be made.
        now: String,
    },
    /// An output differs from the result of the pipeline.
    #[error("`{path}` is not what this pipeline makes of the take\n  hint: replace it with `--force`", path = .0.shown())]
    Differs(PathBuf),
    /// An output does not exist.
    #[error("`{path}` does not exist\n  hint: run the same command without `--verify`", path = .0.shown())]
    Absent(PathBuf),
    /// An output would replace a file that this program did not write.
    #[error("`{path}` was not written by posemill, or was changed since\n  hint: replace it with `--force`", path = .0.shown())]
    Foreign(PathBuf),
    /// The error that a worker process reported.
    #[error("{0}")]
    Reported(String),
    /// The worker process ended, or had to be ended.
    #[error("the worker process {reason}{repro}", repro = repro_hint(repro.as_deref()))]
    Lost {
        /// What happened to it.
        reason: String,
        /// A command line that repeats the job.
        repro: Option<String>,
    },
    /// A worker process cannot be started.
    #[error("the worker process cannot be started: {0}")]
    NoWorker(String),
    /// A worker process loaded another pipeline than the run.
    #[error("the program, or a file that the pipeline names, changed during the run\n  hint: start it again")]
    Changed,
    /// A bug of the program.
    #[error("internal error: {0}\n  hint: report this error; the other files are not affected")]
    Panic(String),
}

/// The command line as a hint.
fn repro_hint(repro: Option<&str>) -> String {
    repro.map_or(String::new(), |line| {
        format!("\n  hint: run this to reproduce the error without writing a file:\n{line}")
    })
}
