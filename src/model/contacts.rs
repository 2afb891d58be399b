//! Contact labels of a motion: which body parts are in contact, in which frames, and at what height.
//!
//! Space: model space, Y up. Units: frames, metres.

use super::{JointId, Side, UnevenGround};
use crate::math::Vec3;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A part of the body that can be in contact with the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum ContactPart {
    /// The heel.
    Heel(Side),
    /// The ball of the foot, at the toe joint.
    Ball(Side),
    /// The tip of the toes: kept above the floor, not labelled separately.
    Toe(Side),
    /// The palm.
    Hand(Side),
    /// The elbow.
    Elbow(Side),
    /// The knee.
    Knee(Side),
    /// The seat.
    Pelvis,
    /// The head.
    Head,
}

impl ContactPart {
    /// Every part, in order.
    pub const ALL: [ContactPart; 14] = {
        use Side::{Left, Right};
        [
            ContactPart::Heel(Left),
            ContactPart::Heel(Right),
            ContactPart::Ball(Left),
            ContactPart::Ball(Right),
            ContactPart::Toe(Left),
            ContactPart::Toe(Right),
            ContactPart::Hand(Left),
            ContactPart::Hand(Right),
            ContactPart::Elbow(Left),
            ContactPart::Elbow(Right),
            ContactPart::Knee(Left),
            ContactPart::Knee(Right),
            ContactPart::Pelvis,
            ContactPart::Head,
        ]
    };

    /// The side, for parts that have one.
    pub fn side(self) -> Option<Side> {
        match self {
            ContactPart::Heel(s)
            | ContactPart::Ball(s)
            | ContactPart::Toe(s)
            | ContactPart::Hand(s)
            | ContactPart::Elbow(s)
            | ContactPart::Knee(s) => Some(s),
            ContactPart::Pelvis | ContactPart::Head => None,
        }
    }

    /// Whether it belongs to a foot.
    pub fn of_foot(self) -> bool {
        matches!(self, ContactPart::Heel(_) | ContactPart::Ball(_) | ContactPart::Toe(_))
    }

    /// The same part on the other side; parts without a side are unchanged.
    pub fn mirrored(self) -> ContactPart {
        match self {
            ContactPart::Heel(s) => ContactPart::Heel(s.other()),
            ContactPart::Ball(s) => ContactPart::Ball(s.other()),
            ContactPart::Toe(s) => ContactPart::Toe(s.other()),
            ContactPart::Hand(s) => ContactPart::Hand(s.other()),
            ContactPart::Elbow(s) => ContactPart::Elbow(s.other()),
            ContactPart::Knee(s) => ContactPart::Knee(s.other()),
            middle => middle,
        }
    }
}

impl fmt::Display for ContactPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side() {
            Some(Side::Left) => "left_",
            Some(Side::Right) => "right_",
            None => "",
        };
        let part = match self {
            ContactPart::Heel(_) => "heel",
            ContactPart::Ball(_) => "ball",
            ContactPart::Toe(_) => "toe",
            ContactPart::Hand(_) => "hand",
            ContactPart::Elbow(_) => "elbow",
            ContactPart::Knee(_) => "knee",
            ContactPart::Pelvis => "pelvis",
            ContactPart::Head => "head",
        };
        write!(f, "{side}{part}")
    }
}

impl FromStr for ContactPart {
    type Err = String;

    /// Parses the [`Display`](fmt::Display) form, such as `left_heel` or `pelvis`.
    fn from_str(text: &str) -> Result<Self, String> {
        let found = ContactPart::ALL.into_iter().find(|part| part.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is no part of the body that can rest on something"))
    }
}

/// A contact point: the point on the sole or skin that represents a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The part it represents.
    pub part: ContactPart,
    /// The joint it is attached to.
    pub joint: JointId,
    /// Position in joint space, metres.
    pub at: Vec3,
    /// Radius of the body around it, metres; 0 on a sole. The surface is this far below the point.
    pub radius: f64,
}

/// An interval during which a part is in contact.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Hold {
    /// The frames, end exclusive; not empty.
    pub frames: Range<usize>,
    /// Height of the supporting surface, model space, metres; stairs have several.
    pub height: f64,
    /// Speed at which the part slides in the take on which it was detected, leg lengths per second (90th percentile of the
    /// hold): what a correction leaves. 0 of a part that is held, as one that the user labels.
    pub slide: f64,
}

/// Contact intervals per body part, and the height of the ground.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Contacts {
    /// The height of the ground, model space, metres.
    pub ground: f64,
    /// The ground above that height, where it is not level.
    #[cfg_attr(feature = "serialize", serde(default))]
    uneven: Option<Box<UnevenGround>>,
    tracks: BTreeMap<ContactPart, Vec<Hold>>,
}

impl Contacts {
    /// No contacts, for these parts and a ground at this height. An examined part without contacts has an empty track, a
    /// part that was not examined has no track.
    pub fn new(ground: f64, parts: impl IntoIterator<Item = ContactPart>) -> Self {
        let mut contacts = Self { ground, ..Self::default() };
        parts.into_iter().for_each(|part| contacts.set(part, Vec::new()));
        contacts
    }

    /// The height that other bodies have at height 0, model space, metres: that of the ground. A ramp or stairs that a take has at
    /// its height 0 are there at height 0 on other bodies as well, and their lowest contact, the ground, is below.
    pub fn zero(&self) -> f64 {
        self.ground - self.uneven.as_ref().map_or(0.0, |uneven| uneven.lowest)
    }

    /// The same contacts on ground that is not level.
    pub(crate) fn on(self, uneven: Option<UnevenGround>) -> Contacts {
        Contacts { uneven: uneven.map(Box::new), ..self }
    }

    /// The ground, if it is a ramp or stairs.
    pub(crate) fn uneven(&self) -> Option<&UnevenGround> {
        self.uneven.as_deref()
    }

    /// The height of ground that is not level at a point under a part; `None` on level ground.
    pub(crate) fn height_under(&self, part: ContactPart, frame: usize, at: &Vec3) -> Option<f64> {
        self.uneven.as_ref().map(|uneven| self.ground + uneven.under(part, frame, at))
    }

    /// The direction away from the ground under the foot of a side.
    pub(crate) fn up_under(&self, side: Side, frame: usize) -> Vec3 {
        self.uneven.as_ref().map_or(Vec3::y(), |uneven| uneven.up(side, frame))
    }

    /// Sets the holds of a part.
    ///
    /// # Panics
    /// If holds are empty, overlap or do not ascend: the caller guarantees it.
    pub fn set(&mut self, part: ContactPart, holds: Vec<Hold>) {
        assert!(holds.iter().all(|h| h.frames.start < h.frames.end), "no hold is empty");
        assert!(holds.is_sorted_by(|a, b| a.frames.end <= b.frames.start), "holds ascend and do not overlap");
        self.tracks.insert(part, holds);
    }

    /// The examined parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = ContactPart> {
        self.tracks.keys().copied()
    }

    /// The holds of a part, ascending; none for a part that was not examined.
    pub fn holds(&self, part: ContactPart) -> &[Hold] {
        self.tracks.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The hold of a part at a frame.
    pub fn hold(&self, part: ContactPart, frame: usize) -> Option<&Hold> {
        let holds = self.holds(part);
        let k = holds.partition_point(|h| h.frames.end <= frame);
        holds.get(k).filter(|h| h.frames.contains(&frame))
    }

    /// Whether a part is in contact at a frame.
    pub fn rests(&self, part: ContactPart, frame: usize) -> bool {
        self.hold(part, frame).is_some()
    }

    /// The end of the last hold; 0 without holds.
    pub fn end(&self) -> usize {
        self.tracks.values().filter_map(|holds| holds.last()).map(|h| h.frames.end).max().unwrap_or(0)
    }

    /// Maps every frame number and height; drops holds that become empty, truncates holds that come to overlap.
    ///
    /// `frame` is applied to the start and the (exclusive) end of a hold, and must be non-decreasing.
    pub fn changed(&self, frame: impl Fn(usize) -> usize, height: impl Fn(f64) -> f64) -> Contacts {
        let mut changed = self.clone();
        changed.ground = height(self.ground);
        // Heights are scaled as all else, and displaced.
        let scale = height(1.0) - height(0.0);
        changed.uneven = self.uneven.as_ref().map(|uneven| Box::new(uneven.changed(&frame, scale)));
        for holds in changed.tracks.values_mut() {
            let mut from = 0;
            holds.retain_mut(|hold| {
                hold.frames = frame(hold.frames.start).max(from)..frame(hold.frames.end);
                hold.height = height(hold.height);
                from = from.max(hold.frames.end);
                !hold.frames.is_empty()
            });
        }
        changed
    }

    /// The same contacts with these [`Hold::slide`].
    pub fn sliding(mut self, slide: impl Fn(ContactPart, &Hold) -> f64) -> Contacts {
        for (part, holds) in &mut self.tracks {
            holds.iter_mut().for_each(|hold| hold.slide = slide(*part, hold));
        }
        self
    }

    /// The contacts of the mirrored motion.
    pub fn mirrored(&self) -> Contacts {
        let tracks = self.tracks.iter().map(|(part, holds)| (part.mirrored(), holds.clone())).collect();
        let uneven = self.uneven.as_ref().map(|uneven| Box::new(uneven.mirrored()));
        Contacts { ground: self.ground, uneven, tracks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(frames: Range<usize>) -> Hold {
        Hold { frames, height: 0.1, slide: 0.0 }
    }

    #[test]
    fn every_part_reads_back_and_mirrors_back() {
        for part in ContactPart::ALL {
            assert_eq!(part.to_string().parse(), Ok(part));
            assert_eq!(part.mirrored().mirrored(), part);
            assert_eq!(part.side().is_some(), part.mirrored() != part);
        }
        assert!("left_wing".parse::<ContactPart>().is_err());
    }

    #[test]
    fn a_part_rests_within_its_holds_only() {
        let (heel, ball) = (ContactPart::Heel(Side::Left), ContactPart::Ball(Side::Left));
        let mut contacts = Contacts::new(0.0, [heel]);
        contacts.set(heel, vec![hold(2..4), hold(4..6), hold(9..10)]);
        let rests: Vec<usize> = (0..12).filter(|&f| contacts.rests(heel, f)).collect();
        assert_eq!(rests, [2, 3, 4, 5, 9]);
        assert_eq!((contacts.end(), contacts.rests(ball, 3)), (10, false));
    }

    #[test]
    fn times_and_heights_change_together() {
        let heel = ContactPart::Heel(Side::Left);
        let mut contacts = Contacts::new(0.1, [heel]);
        contacts.set(heel, vec![hold(2..4), hold(4..5), hold(8..10)]);
        let changed = contacts.changed(|f| f / 2, |h| 2.0 * h);
        let frames: Vec<_> = changed.holds(heel).iter().map(|h| h.frames.clone()).collect();
        assert_eq!(frames, [1..2, 4..5]);
        assert_eq!((changed.ground, changed.holds(heel)[0].height), (0.2, 0.2));
        assert_eq!(contacts.mirrored().holds(ContactPart::Heel(Side::Right)), contacts.holds(heel));
    }
}
