//! What a job is doing, for a program that shows it while a long take is worked on.

use std::fmt;
use std::sync::OnceLock;

/// A part of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobStep {
    /// A take is read.
    Read,
    /// A stage is applied.
    Stage {
        /// Its position among the stages that are enabled, from 1.
        number: usize,
        /// The number of stages.
        of: usize,
        /// Its name.
        name: &'static str,
    },
    /// The result is measured.
    Measure,
    /// The result is encoded.
    Write,
}

impl fmt::Display for JobStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read => f.write_str("reads the take"),
            Self::Stage { number, of, name } => write!(f, "stage {number} of {of}, {name}"),
            Self::Measure => f.write_str("measures the result"),
            Self::Write => f.write_str("writes the result"),
        }
    }
}

/// What is called with every step.
type Listener = Box<dyn Fn(JobStep) + Send + Sync>;

/// Passes on each step of the jobs of a pipeline when it begins; to nobody, unless there is a listener. Steps never affect outputs.
#[derive(Default)]
pub(crate) struct StepListener(OnceLock<Listener>);

impl StepListener {
    /// Sets the listener; the first one stays.
    #[cfg(feature = "cli")]
    pub(crate) fn listen(&self, listener: impl Fn(JobStep) + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(listener));
    }

    /// A step begins.
    pub(super) fn begins(&self, step: JobStep) {
        if let Some(listener) = self.0.get() {
            listener(step);
        }
    }
}

impl fmt::Debug for StepListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.get().is_some() { "StepListener(1)" } else { "StepListener(0)" })
    }
}
