//! The points of a body that trackers and motion models see: joints and landmarks, by name.

use crate::model::Side;
use std::fmt;

/// Points in the middle of the body.
const MIDDLE: [&str; 10] =
    ["pelvis", "spine1", "spine2", "spine3", "spine_mid", "neck", "head", "nose", "head_top", "head_centre"];
/// Points on both sides; their names begin with `left_` or `right_`.
const SIDED: [&str; 22] = [
    "hip",
    "knee",
    "ankle",
    "toe",
    "heel",
    "foot_tip",
    "big_toe",
    "small_toe",
    "collar",
    "shoulder",
    "elbow",
    "wrist",
    "hand",
    "hand_tip",
    "index",
    "pinky",
    "thumb",
    "ear",
    "eye",
    "mouth",
    "eye_inner",
    "eye_outer",
];
/// A point of the body: a joint or a landmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyPoint {
    pub(crate) side: Option<Side>,
    pub(crate) part: &'static str,
}

impl BodyPoint {
    /// The point of this name (`left_knee`, `neck`).
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::of_lists(name, &MIDDLE, &SIDED)
    }

    /// The point of this name whose part is in one of the lists.
    pub(crate) fn of_lists(name: &str, middle: &[&'static str], sided: &[&'static str]) -> Option<Self> {
        let find = |list: &[&'static str], part: &str| list.iter().find(|p| **p == part).copied();
        let on = |side, part| Some(Self { side: Some(side), part: find(sided, part)? });
        match (name.strip_prefix("left_"), name.strip_prefix("right_")) {
            (Some(part), _) => on(Side::Left, part),
            (_, Some(part)) => on(Side::Right, part),
            _ => Some(Self { side: None, part: find(middle, name)? }),
        }
    }

    /// All names, for messages.
    pub(crate) fn names() -> String {
        format!("{}, and with `left_` or `right_` {}", MIDDLE.join(", "), SIDED.join(", "))
    }
}

impl fmt::Display for BodyPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.side {
            Some(Side::Left) => write!(f, "left_{}", self.part),
            Some(Side::Right) => write!(f, "right_{}", self.part),
            None => f.write_str(self.part),
        }
    }
}
