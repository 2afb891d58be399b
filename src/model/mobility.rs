//! How far a joint turns each of the three ways that anatomy counts.

/// How far a joint turns, from the anatomical zero of its role: `[least, greatest]` with `least <= 0 <= greatest`, in
/// radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mobility {
    /// Extension is negative, flexion positive; of the collar bone retraction and protraction, of the foot plantar
    /// flexion and dorsiflexion.
    pub bend: [f64; 2],
    /// Adduction is negative, abduction positive; of the trunk to the right and to the left, of the collar bone
    /// depression and elevation, of the hand towards the little finger and towards the thumb.
    pub side: [f64; 2],
    /// About the bone itself, either way.
    pub twist: [f64; 2],
}
