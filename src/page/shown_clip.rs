//! A clip of a page, with its take.

use crate::model::Motion;

/// One clip of a page: what came in and what came out.
#[derive(Clone, Copy, Debug)]
pub struct ShownClip<'a> {
    /// The take, if it was recorded on another body.
    pub source: Option<&'a Motion>,
    /// The clip before a body performed it, if that changed it.
    pub unperformed: Option<&'a Motion>,
    /// The result.
    pub result: &'a Motion,
}
