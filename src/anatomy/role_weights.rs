//! The weights of all evidence for the roles of limbs, in one table.
//!
//! The score of a limb is the sum over its joints; the unit is the weight of a word that denotes one part only (1). The
//! values were set by hand so that the conventions and the made bodies of the tests are whole.

/// What each kind of evidence adds to the score of a limb.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoleWeights {
    /// A joint is below the one in the slot before. It exceeds the weight difference of two words: of two sets of joints
    /// with the names of a limb (bones, and collision volumes attached to them) the chain wins.
    pub follows: f64,
    /// A joint is below the limb's upper joints but not below the one in the slot before: an elbow that the wrist does not
    /// hang on is a corrective joint.
    pub skips: f64,
    /// A slot that every limb has is filled. Collar bones and toes may be missing: a lone shoulder is an upper arm. It is
    /// less than the difference of any two words for different parts.
    pub needed: f64,
    /// The shape (position, lengths, symmetry, skin, motion) has the joint in the same slot, multiplied by the confidence
    /// of the shape. Less than a clear name, more than the difference of two ambiguous ones.
    pub shape: f64,
    /// Score difference to the runner-up below which the choice is a guess.
    pub margin: f64,
}

/// The weights in use.
pub(super) const ROLE_WEIGHTS: RoleWeights =
    RoleWeights { follows: 0.5, skips: 0.5, needed: 0.05, shape: 0.5, margin: 0.1 };
