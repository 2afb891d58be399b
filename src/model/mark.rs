//! Something to be shown beside the figure of a motion.

use crate::math::Vec3;

/// What a mark shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A foot or hand that rests: a ring on the ground below it.
    Contact,
    /// A place to be reached: a small diamond in space.
    Target,
}

/// Something to be shown beside the figure for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// What it shows.
    pub kind: MarkKind,
    /// Where, in model space, metres.
    pub at: Vec3,
    /// When it appears, in seconds of the clip.
    pub from: f64,
    /// When it goes, in seconds of the clip.
    pub to: f64,
}
