//! The weights of all evidence for roles, in one table.
//!
//! They were set by hand on the development bodies and the conventions of the tests.
//! `cargo test --lib anatomy::tests::weights -- --ignored --nocapture` shows how many roles are right with each of them halved and
//! doubled.

/// Defines [`Weight`] and the table of values.
macro_rules! weights {
    ($($(#[$reason:meta])* $name:ident = $value:expr;)*) => {
        /// A kind of evidence.
        #[derive(Clone, Copy, Debug)]
        pub(super) enum Weight {
            $($(#[$reason])* $name),*
        }

        /// Name and value of every weight.
        pub(super) const WEIGHTS: &[(&str, f64)] = &[$((stringify!($name), $value)),*];
    };
}

impl Weight {
    /// The value in use.
    pub(super) fn value(self) -> f64 {
        let value = WEIGHTS[self as usize].1;
        #[cfg(test)]
        let value = value * tried::factor(self as usize);
        value
    }
}

/// One weight by another factor, to try it.
#[cfg(test)]
pub(super) mod tried {
    use std::cell::Cell;

    thread_local! {
        static TRIED: Cell<(usize, f64)> = const { Cell::new((0, 1.0)) };
    }

    pub fn factor(of: usize) -> f64 {
        let (weight, factor) = TRIED.get();
        if weight == of { factor } else { 1.0 }
    }

    pub fn set(weight: usize, factor: f64) {
        TRIED.set((weight, factor));
    }
}

// Names and shape of a limb together: the sum over its joints; the unit is the weight of a word that denotes one part only.
// The score of two branches as a limb, of two pairs as a body: log-likelihoods, one point is what a clear feature is worth.
// Votes for the front: the unit is a cue that may mislead, such as a face.
weights! {
    /// Names: a joint is below the one in the slot before. It exceeds the weight difference of two words: of two sets of joints with
    /// the names of a limb (bones, and collision volumes attached to them) the chain wins.
    Follows = 0.5;
    /// Names, subtracted: a joint is below the limb's upper joints but not below the one in the slot before: an elbow that the wrist
    /// does not hang on is a corrective joint.
    Skips = 0.5;
    /// Names: a slot that every limb has is filled. Collar bones and toes may be missing: a lone shoulder is an upper arm. It is less
    /// than the difference of any two words for different parts.
    Needed = 0.05;
    /// Names: the shape (position, lengths, symmetry, skin, motion) has the joint in the same slot, multiplied by the confidence of the
    /// shape. Less than a clear name, more than the difference of two ambiguous ones.
    Shape = 0.5;
    /// Names: score difference to the runner-up below which the choice is a guess.
    Margin = 0.1;

    /// Limb: the two bones make up the whole branch. The strongest cue, since every other choice leaves a part out.
    Coverage = 4.0;
    /// Limb: the same of the upper bone where the lower one has no known end: one bone of two is known.
    UpperCoverage = 2.0;
    /// Limb, subtracted: a joint inside a bone. Of two choices that are equal otherwise the one with fewer twist joints wins.
    TwistJoint = 0.4;
    /// Limb, subtracted: distance of such a joint from the line of the bone, in bone lengths: twist joints are in line.
    OffLine = 25.0;
    /// Limb, subtracted: radian that such a joint bends in the clip: twist joints never bend.
    TwistJointBends = 6.0;
    /// Limb, subtracted: joint that one bone has more than the other: rigs give both the same number of twist joints.
    UnequalTwists = 0.8;
    /// Limb: radian that the middle joint bends in the clip.
    HingeBends = 2.0;
    /// Limb, subtracted: a branch without a hand or foot; most rigs have one.
    NoEnd = 1.0;
    /// Limb, subtracted: an arm without a collar bone, which is uncommon.
    NoCollar = 0.2;
    /// Limb, subtracted: a leg with a stub at the hip, which is uncommon.
    HipStub = 0.3;
    /// Limb, subtracted: upper bone length by which the bones before the limb exceed the usual ones.
    LongBefore = 3.0;
    /// Limb: two or more branches after the wrist, which only hands have.
    Fingers = 1.5;
    /// Limb: a foot at an angle to the shin, as much as fingers.
    Foot = 1.5;

    /// Body: legs and arms are mirrored in one plane, by the cosine of their planes.
    SamePlane = 4.0;
    /// Body: length of both limbs, in the longest pair of branches: limbs are long. Arms need not be longer than legs: wings are.
    LongLimbs = 6.0;
    /// Body, subtracted: logarithm of the ratio of arms and legs beyond a factor of 1.8.
    LimbsDiffer = 4.0;
    /// Body: share of the skin that each pair moves: accessories move little.
    LimbSkin = 6.0;
    /// Body: the legs are nearer to the root, where skeletons start.
    LegsAtRoot = 3.0;
    /// Body: cosine of the legs against down.
    LegsDown = 3.0;
    /// Body: the shoulders are above the hips, in leg lengths.
    TrunkUp = 1.0;
    /// Body, subtracted: cosine of the legs against the trunk: they point away from it or stand under it.
    LegsAlongTrunk = 1.5;
    /// Body, subtracted: the same of arms, which hang or are level; wings are raised.
    ArmsRaised = 2.0;
    /// Body, subtracted: distance of the elbows behind the shoulders, in leg lengths: wings and capes are behind the trunk.
    ElbowsBehind = 8.0;
    /// Body, subtracted: distance of the shoulders behind the hips, in leg lengths.
    TrunkBehind = 8.0;

    /// Front: the file's +Z, which glTF defines as the front. It decides only where no other cue does.
    FormatFront = 0.3;
    /// Front: a foot that points ahead. Two outweigh all other cues of a body at rest.
    FootAhead = 3.0;
    /// Front: a foot whose direction only a joint without skin shows. Tools move such joints, so it decides only where nothing else does.
    BareFootAhead = 0.5;
    /// Front: the knees in a clip, twice both feet, which may point anywhere in a bad rest pose.
    Knees = 12.0;
    /// Front: knees in front of the legs at rest, in a tenth of their length.
    KneesAhead = 2.0;
    /// Front: elbows behind the arms at rest, in a tenth of their length; many rigs have them straight.
    ElbowsAside = 0.5;
    /// Front: the level trunk of an animal, which looks along it.
    TrunkAhead = 5.0;
}
