//! Thresholds below which a node counts as being in its rest pose, so that it needs no keys.

/// A joint that moves less from its rest translation is at rest; relative to the size of the figure,
pub(super) const STILL: f64 = 1e-7;
/// unless the length of its bone changes by more than this, relative to that length.
pub(super) const STRETCH: f64 = 3e-7;
/// A quaternion that differs by less from the rest rotation, in each component, is the rest rotation.
pub(super) const UNROTATED: f64 = 1e-7;
