//! Errors of USD files, each with its place and a hint.

use crate::memory_budget::{OverBudget, OverWork};

/// Why a USD file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UsdError {
    /// An archive whose layer is compressed or missing, or data that is neither text nor a crate.
    #[error(
        "it is neither text nor binary USD, nor a `.usdz` that holds one uncompressed\n  hint: export it again, or write it as text with `usdcat in.usd -o out.usda` (usd-core)"
    )]
    NoLayer,
    /// A crate that is damaged, or of a version that is not read.
    #[error(
        "binary USD, {part}: {reason}\n  hint: export it again, or write it as text with `usdcat in.usdc -o out.usda` (usd-core)"
    )]
    Crate {
        /// The part of the file.
        part: &'static str,
        /// What was expected or found.
        reason: String,
    },
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
    /// More fields of prims and properties than a file of this size may have.
    #[error(transparent)]
    Work(#[from] OverWork),
    /// A file without a skeleton.
    #[error(
        "it has no Skeleton prim{referenced}\n  hint: export the character with its armature; flatten references and variants with `usdcat --flatten`"
    )]
    NoSkeleton {
        /// ", and refers to other files, which are not read", the same of variants, or nothing.
        referenced: String,
    },
}
