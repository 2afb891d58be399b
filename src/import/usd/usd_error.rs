//! Errors of USD files, each with its place and a hint.

use crate::memory_budget::OverBudget;

/// Why a USD file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UsdError {
    /// A crate, or an archive of one.
    #[error(
        "binary USD is not read, nor compressed archives\n  hint: export it as text with `usdcat in.usdc -o out.usda` (usd-core, Blender exports `.usda` too)"
    )]
    Binary,
    /// Text that does not follow the grammar.
    #[error("line {line}: {reason}\n  hint: write it again with `usdcat`")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What was expected or found.
        reason: String,
    },
    /// A prim whose lists do not fit together.
    #[error("`{prim}`: {reason}\n  hint: export the file again")]
    Prim {
        /// Its path.
        prim: String,
        /// What is wrong.
        reason: String,
    },
    /// More prims and properties than a file of this size may have.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// A file without a skeleton.
    #[error(
        "it has no Skeleton prim{referenced}\n  hint: export the character with its armature; flatten references with `usdcat --flatten`"
    )]
    NoSkeleton {
        /// ", and refers to other files, which are not read" or nothing.
        referenced: &'static str,
    },
}
