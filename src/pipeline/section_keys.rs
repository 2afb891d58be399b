//! The keys of one section or stage as written, with their source.

use crate::stages::written_keys::WrittenKey;
use std::ops::Range;

/// A key and its value, with their source.
pub(super) struct SourcedKey<'i> {
    pub(super) written: WrittenKey<'i>,
    pub(super) span: Range<usize>,
    pub(super) source: usize,
}

/// The keys of a section or a stage.
#[derive(Default)]
pub(super) struct SectionKeys<'i> {
    /// `[input]`, `[output]`, or the word behind `use`.
    pub(super) name: String,
    pub(super) keys: Vec<SourcedKey<'i>>,
    /// The key `enabled` of a stage, after it was removed from `keys`.
    pub(super) enabled: Option<SourcedKey<'i>>,
    /// The old name of the stage, if it is written by that.
    pub(super) was: Option<&'static str>,
    /// The header, or the value of `use`.
    pub(super) span: Range<usize>,
}
