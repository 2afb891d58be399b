//! Markers drawn with the figure in previews.

use crate::math::Vec3;

/// What a marker shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A foot or hand in contact: a ring on the ground below it.
    Contact,
    /// A target position: a small diamond.
    Target,
}

/// A marker drawn for a time interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// What it shows.
    pub kind: MarkKind,
    /// Position in model space, metres.
    pub at: Vec3,
    /// Time at which it appears, in seconds of the clip.
    pub from: f64,
    /// Time at which it disappears, in seconds of the clip.
    pub to: f64,
}
