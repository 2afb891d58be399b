//! Range of motion of a joint about the three anatomical axes.

/// Range of motion relative to the anatomical zero of the joint's role: `[min, max]` with `min <= 0 <= max`, radians.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Mobility {
    /// Extension (negative) and flexion (positive); for the collar bone retraction and protraction, for the foot plantar
    /// flexion and dorsiflexion.
    pub bend: [f64; 2],
    /// Adduction (negative) and abduction (positive); for the trunk bending to the right and to the left, for the collar
    /// bone depression and elevation, for the hand ulnar and radial deviation.
    pub side: [f64; 2],
    /// Rotation about the bone, in both directions.
    pub twist: [f64; 2],
}
