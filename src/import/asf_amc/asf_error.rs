//! Errors of Acclaim skeletons and motions, each with its line and a hint.

use crate::memory_budget::OverBudget;
use crate::model::SkeletonError;
use crate::report::Shown;
use std::path::PathBuf;

/// Why a skeleton (ASF) or a motion (AMC) cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AsfError {
    /// A line that is not valid at its position.
    #[error("{file}, line {line}: {reason}\n  hint: correct the line, or export the take again")]
    Line {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A skeleton without bones, or with a hierarchy that does not reach them.
    #[error("{file}: {reason}")]
    Bones {
        /// The name of the file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no skeleton for a motion.
    #[error(
        "the skeleton of the AMC file was not found: looked for {looked}\n  hint: put it into the folder of the take, or name it: `--set input.skeleton=01.asf`"
    )]
    NoSkeleton {
        /// The files that were looked for.
        looked: String,
    },
    /// The skeleton of a motion cannot be read.
    #[error("the skeleton file `{}`: {reason}", path.shown())]
    Skeleton {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// More than a limit allows.
    #[error("{found} {what}, at most {limit} can be read (`{name}`)\n  hint: split the file")]
    Limit {
        /// What is counted.
        what: &'static str,
        /// How many there are, or were when counting stopped.
        found: usize,
        /// The limit.
        limit: usize,
        /// The constant that holds it.
        name: &'static str,
    },
    /// The memory limit of the file is exceeded.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// The joints do not form a skeleton.
    #[error(transparent)]
    Joints(#[from] SkeletonError),
}
