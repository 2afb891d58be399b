//! Decides which side of the body is left, by votes of anatomical cues for the front.
//!
//! Feet point ahead, knees bend forwards, elbows backwards, thumbs and faces are in front, animals look along their
//! trunk. Each cue votes with the sine of its angle. In a clip the axis of knee flexion points left (0.76 to 1.0 on
//! 142 knees).

use super::joint_tree::Tree;
use super::limb::TwinLimb;
use super::limb_pairs::{LimbPairs, direction, middle};
use super::trunk_line::TrunkJoints;
use crate::anatomy::role_weights::Weight;
use crate::math::{Vec3, arc};

/// The sum of all cues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Front {
    /// Positive where the first of the twins is left; the magnitude is the confidence.
    pub votes: f64,
    /// The vote of the clip's knees alone, -1 to 1; `None` without knees that bend.
    pub knees: Option<f64>,
    /// The votes of all cues but the knees.
    pub others: f64,
    /// The vote of the file's format.
    pub format: f64,
    /// Whether the trunk continues the line of the legs: a standing figure and no heap of bones.
    pub upright: bool,
}

/// Radians (15 degrees) of knee flexion from which its axis counts; below, noise reverses the axis.
const LEAST_FLEXION: f64 = 0.26;

/// Sums all cues. `thumbs` is the sum of the directions from the knuckles to the thumbs.
pub(super) fn front(tree: &Tree, body: &LimbPairs, line: &TrunkJoints, thumbs: Vec3) -> Front {
    let legs = &body.legs;
    let first = legs.twin.across;
    let trunk =
        body.arms.as_ref().map(|arms| middle(tree, arms, arms.upper) - middle(tree, legs, legs.upper));
    let trunk = trunk.and_then(|t| t.try_normalize(1e-12));
    let stands = -direction(tree, legs);
    // The front if the first of the twins is left.
    let upright = trunk.is_none_or(|t| t.dot(&stands) > 0.6);
    let up = if upright { (stands + trunk.unwrap_or_default()).try_normalize(1e-12) } else { Some(stands) };
    let up = up.unwrap_or_else(Vec3::y);
    let front = first.cross(&up).try_normalize(1e-12).unwrap_or_else(Vec3::z);

    let mut votes = Weight::FormatFront.value() * front.z;
    let foot = |s: usize| {
        let weight = if legs.foot_is_bare(tree, s) {
            Weight::BareFootAhead.value()
        } else {
            Weight::FootAhead.value()
        };
        // Relative to its shin, so that feet of bent legs count as those of straight ones.
        let shin = legs.end_place(tree, s) - tree.at[legs.joint(s, legs.lower)];
        legs.foot(tree, s).map_or(0.0, |v| weight * (arc(&shin, &-up, &first) * v).dot(&front))
    };
    votes += foot(0) + foot(1);
    votes += Weight::KneesAhead.value() * offset(tree, legs, front);
    if let Some(arms) = &body.arms {
        votes += if upright { -Weight::ElbowsAside.value() * offset(tree, arms, front) } else { 0.0 };
    }
    if let Some(trunk) = trunk.filter(|_| !upright) {
        votes += Weight::TrunkAhead.value() * trunk.dot(&front);
    }
    votes += thumbs.dot(&front);
    votes += line.head.map_or(0.0, |h| face(tree, h).dot(&front));
    let knees = knees(tree, legs);
    let others = votes;
    votes += Weight::Knees.value() * knees.unwrap_or(0.0);
    Front { votes, knees, others, format: Weight::FormatFront.value() * front.z, upright }
}

/// Forward offset of the middle joints of both limbs from the line between first and last joint, in units of a tenth
/// of its length, -1 to 1.
fn offset(tree: &Tree, limb: &TwinLimb, front: Vec3) -> f64 {
    let one = |s: usize| {
        let (a, b) = (tree.at[limb.joint(s, limb.upper)], limb.end_place(tree, s));
        let along = (b - a).try_normalize(1e-12).unwrap_or_default();
        let v = tree.at[limb.joint(s, limb.lower)] - a;
        let aside = v - along * v.dot(&along);
        (10.0 * aside.dot(&front) / (b - a).norm().max(1e-12)).clamp(-1.0, 1.0)
    };
    0.5 * (one(0) + one(1))
}

/// Direction from the head to the mean of its children: eyes, jaw, nose.
fn face(tree: &Tree, head: usize) -> Vec3 {
    let parts = &tree.children[head];
    let sum: Vec3 = parts.iter().map(|&k| tree.at[k] - tree.at[head]).sum();
    sum.try_normalize(1e-12).unwrap_or_default()
}

/// The vote of both knees; `None` without knees that bend.
fn knees(tree: &Tree, legs: &TwinLimb) -> Option<f64> {
    let feet = [legs.end_joint(0)?, legs.end_joint(1)?];
    let joints = [0, 1].map(|s| [legs.joint(s, legs.upper), legs.joint(s, legs.lower), feet[s]]);
    let both = knee_axes(&tree.frames, joints);
    let weight: f64 = both.iter().map(|k| k.1).sum();
    (weight > 0.0).then(|| both.iter().map(|k| k.0 * k.1).sum::<f64>() / weight)
}

/// The component of each knee's flexion axis along the line from the second hip to the first: the mean over the
/// frames, weighted by flexion, -1 to 1, and the sum of the weights. `joints` are hip, knee and ankle of both legs.
pub(super) fn knee_axes(frames: &[Vec<Vec3>], joints: [[usize; 3]; 2]) -> [(f64, f64); 2] {
    let mut sums = [(0.0, 0.0); 2];
    for at in frames {
        let across = at[joints[0][0]] - at[joints[1][0]];
        let Some(across) = across.try_normalize(1e-12) else { continue };
        for (sum, leg) in sums.iter_mut().zip(joints) {
            let [hip, knee, ankle] = leg.map(|k| at[k]);
            let (u, v) = (knee - hip, ankle - knee);
            if u.angle(&v) > LEAST_FLEXION {
                let axis = u.cross(&v) / (u.norm() * v.norm());
                sum.0 += axis.dot(&across);
                sum.1 += axis.norm();
            }
        }
    }
    sums.map(|(sum, weight)| (if weight > 0.0 { sum / weight } else { 0.0 }, weight))
}
