//! Decides whether left and right of the joint names are those of the body.
//!
//! Names are right unless the shape contradicts them clearly. A scale below zero above a whole body exchanges its sides: either the
//! names were given before it, and are those of the mirror image, or it converts the axes of a left-handed program, and they are
//! right; only the shape tells. Space: the rest pose, Y up; of a mirrored body facing +Z where nothing else shows the front, as glTF
//! defines it.

use super::joint_names::JointNames;
use super::named_limbs::LimbSlot;
use super::shape::{self, BodyShape};
use super::shape_gaps;
use crate::math::Vec3;
use crate::model::{ModelPose, Skeleton};

/// Confidence of the sides of a shape from which its front is clear.
const CLEAR: f64 = 0.5;

/// What the shape says about the sides of the names.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SidesByShape {
    /// Whether more joints have the names of the other side than of their own; `None` without a clear front.
    exchanged: Option<bool>,
    /// Whether all do.
    differs: bool,
    /// Whether that is enough to override names.
    proven: bool,
}

impl SidesByShape {
    /// The sides of a shape beside those of the names, and the shape with the sides that most of its names have.
    pub(super) fn of(shape: Option<BodyShape>, names: &JointNames) -> (Self, Option<BodyShape>) {
        let Some(shape) = shape else { return Default::default() };
        let (same, other) = shape_gaps::sides(&shape, names);
        let clear = shape.sides_sure > CLEAR;
        let differs = clear && same == 0 && other >= 2;
        let found = Self {
            exchanged: (clear && same != other).then_some(other > same),
            differs,
            proven: differs && shape.sides_proven,
        };
        (found, Some(if other > same { shape.mirrored() } else { shape }))
    }

    /// Whether the names have left and right exchanged, and the warning to give: its word, and what it says. `legs` are those of the
    /// names, `mirrored` says that the file mirrors the body.
    pub(super) fn judge(
        self,
        shape: Option<&BodyShape>,
        (rest, legs): (&ModelPose, &[[LimbSlot; 4]; 2]),
        knees: Option<[(f64, f64); 2]>,
        mirrored: bool,
    ) -> (bool, Option<(&'static str, String)>) {
        if mirrored {
            let exchanged = match knees {
                Some(knees) if shape::bend_backwards(knees) => true,
                Some(knees) if shape::bend_forwards(knees) => false,
                _ => self.exchanged.unwrap_or_else(|| faces_backwards(rest, legs)),
            };
            return (exchanged, exchanged.then(|| ("sides-swapped", MIRROR_IMAGE.to_owned())));
        }
        let forwards = knees.is_some_and(shape::bend_forwards);
        let exchanged = match shape {
            // Knees where the names have them are surer than knees where the shape has them.
            Some(_) => self.proven && !forwards,
            None => knees.is_some_and(shape::bend_backwards),
        };
        if exchanged {
            let by_knees = shape.is_none_or(|shape| shape.knees.is_some());
            return (true, Some(("sides-swapped", exchanged_sides(by_knees))));
        }
        let doubtful = self.differs && !forwards;
        (false, doubtful.then(|| ("sides-doubtful", SIDES_DOUBTFUL.to_owned())))
    }
}

/// Whether the named left leg is on the right of a body that faces as its feet point, from the third to the last joint of a leg, or +Z
/// without toes.
fn faces_backwards(rest: &ModelPose, legs: &[[LimbSlot; 4]; 2]) -> bool {
    let at = |side: usize, k: usize| legs[side][k].map(|slot| rest.position(slot.0));
    let foot = |side: usize| Some(at(side, 3)? - at(side, 2)?);
    let front = foot(0).zip(foot(1)).map_or(Vec3::z(), |(a, b)| a + b);
    let between = |k: usize| Some(at(0, k)? - at(1, k)?).filter(|line| line.x != 0.0 || line.z != 0.0);
    let left = (0..4).find_map(between).unwrap_or_default();
    left.dot(&Vec3::y().cross(&front)) < 0.0
}

/// A half of a body whose names have left and right exchanged, where those of the other half are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangedHalf {
    /// The legs.
    Legs,
    /// The arms.
    Arms,
    /// One of them: no foot shows the front.
    Unknown,
}

impl ExchangedHalf {
    /// The half, if the named left leg and the named left arm are on opposite sides of the body.
    pub(super) fn of(
        (skeleton, rest): (&Skeleton, &ModelPose),
        legs: &[[LimbSlot; 4]; 2],
        arms: &[[LimbSlot; 4]; 2],
    ) -> Option<ExchangedHalf> {
        let at = |limb: &[LimbSlot; 4], k: usize| limb[k].map(|slot| rest.position(slot.0));
        let across = |limbs: &[[LimbSlot; 4]; 2], k: usize| {
            (at(&limbs[0], k)? - at(&limbs[1], k)?).try_normalize(1e-6)
        };
        // Thighs, and upper arms.
        let (thighs, shoulders) = (across(legs, 0)?, across(arms, 1)?);
        if thighs.dot(&shoulders) > -OPPOSITE {
            return None;
        }
        let tip = |leg: &[LimbSlot; 4]| {
            let foot = leg[2]?.0;
            Some(rest.joint(foot).point(&skeleton.joint(foot).tip?))
        };
        let foot = |leg: &[LimbSlot; 4]| Some(at(leg, 3).or_else(|| tip(leg))? - at(leg, 2)?);
        let front = foot(&legs[0]).zip(foot(&legs[1])).and_then(|(a, b)| (a + b).try_normalize(1e-6));
        let left = front.and_then(|front| Vec3::y().cross(&front).try_normalize(AHEAD));
        Some(match left.map(|left| left.dot(&thighs)) {
            Some(same) if same < -OPPOSITE => ExchangedHalf::Legs,
            Some(same) if same > OPPOSITE => ExchangedHalf::Arms,
            _ => ExchangedHalf::Unknown,
        })
    }

    /// The word and the text of the warning about it.
    pub(super) fn warning(self) -> (&'static str, String) {
        let said = |wrong: &str, right: &str| {
            format!(
                "the names of the {wrong} have left and right exchanged against those of the {right} and against the feet: the sides of \
                 the {right} are used (a map file can name the joints of other sides)"
            )
        };
        match self {
            ExchangedHalf::Legs => ("sides-swapped", said("legs", "arms")),
            ExchangedHalf::Arms => ("sides-swapped", said("arms", "legs")),
            ExchangedHalf::Unknown => (
                "sides-doubtful",
                "legs and arms have the names of opposite sides, and nothing shows which are right: name the joints in a map file"
                    .to_owned(),
            ),
        }
    }
}

/// The cosine from which on two directions across the body are the same side, or opposite ones.
const OPPOSITE: f64 = 0.5;
/// The horizontal share of the direction from ankles to toes from which on it shows the front.
const AHEAD: f64 = 0.3;

/// What the warning about exchanged sides says.
fn exchanged_sides(by_knees: bool) -> String {
    let knees = if by_knees { ", as the knees in the clip show" } else { "" };
    format!("left and right are exchanged in the names{knees}: the sides of the shape are used")
}

/// What the warning about the names of a mirrored body says.
const MIRROR_IMAGE: &str = "a scale below zero mirrors the body, and its joints have the names of the mirror image: the sides of \
                            the shape are used (apply the scale in the program that made the file, or swap the sides in a map)";

/// What the warning about sides that the shape contradicts, but not clearly enough, says.
const SIDES_DOUBTFUL: &str = "feet, knees and hands show left and right exchanged against the names, which are used: if the body \
                              faces backwards, swap its sides in a map (`swap_source_sides`, `swap_target_sides`)";
