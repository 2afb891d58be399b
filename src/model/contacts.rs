//! When and at what height the parts of a body rest on something: the contact labels that travel with a motion.
//!
//! Space: model space, Y up. Units: frames, metres.

use super::{JointId, Side};
use crate::math::Vec3;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A part of the body that can rest on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactPart {
    /// The heel.
    Heel(Side),
    /// The ball of the foot, where the toes turn.
    Ball(Side),
    /// The tip of the toes: kept out of the floor, not labelled by itself.
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

    /// The same part on the other side; parts in the middle stay.
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

    /// Reads what [`ContactPart`] prints: `left_heel`, `pelvis`.
    fn from_str(text: &str) -> Result<Self, String> {
        let found = ContactPart::ALL.into_iter().find(|part| part.to_string() == text);
        found.ok_or_else(|| format!("`{text}` is no part of the body that can rest on something"))
    }
}

/// A point of the body that can rest on something: the place on the sole or the skin that stands for its part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// What it stands for.
    pub part: ContactPart,
    /// The joint that carries it.
    pub joint: JointId,
    /// Where, in the joint's space, metres.
    pub at: Vec3,
    /// The thickness of the body around it, metres: 0 on a sole. The surface lies this far below the point.
    pub radius: f64,
}

/// A time during which a part rests.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// The frames, the end excluded; not empty.
    pub frames: Range<usize>,
    /// The height of what it rests on, model space, metres: stairs have several.
    pub height: f64,
}

/// When the parts of a body rest on something, and how high the ground lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// The height of the ground, model space, metres.
    pub ground: f64,
    tracks: BTreeMap<ContactPart, Vec<Hold>>,
}

impl Contacts {
    /// No contacts over a ground at this height, for these parts: a part that was looked at and never rests has an
    /// empty track, one that was not looked at has none.
    pub fn new(ground: f64, parts: impl IntoIterator<Item = ContactPart>) -> Self {
        Self { ground, tracks: parts.into_iter().map(|part| (part, Vec::new())).collect() }
    }

    /// Sets the holds of a part.
    ///
    /// # Panics
    /// Where holds are empty, overlap or do not ascend: that is up to the caller.
    pub fn set(&mut self, part: ContactPart, holds: Vec<Hold>) {
        assert!(holds.iter().all(|h| h.frames.start < h.frames.end), "no hold is empty");
        assert!(holds.is_sorted_by(|a, b| a.frames.end <= b.frames.start), "holds ascend and do not overlap");
        self.tracks.insert(part, holds);
    }

    /// The parts that were looked at, in order.
    pub fn parts(&self) -> impl Iterator<Item = ContactPart> {
        self.tracks.keys().copied()
    }

    /// The holds of a part, ascending; none for a part that was not looked at.
    pub fn holds(&self, part: ContactPart) -> &[Hold] {
        self.tracks.get(&part).map_or(&[], Vec::as_slice)
    }

    /// The hold of a part at a frame.
    pub fn hold(&self, part: ContactPart, frame: usize) -> Option<&Hold> {
        let holds = self.holds(part);
        let k = holds.partition_point(|h| h.frames.end <= frame);
        holds.get(k).filter(|h| h.frames.contains(&frame))
    }

    /// Whether a part rests at a frame.
    pub fn rests(&self, part: ContactPart, frame: usize) -> bool {
        self.hold(part, frame).is_some()
    }

    /// The frame behind the last hold; 0 without holds.
    pub fn end(&self) -> usize {
        self.tracks.values().filter_map(|holds| holds.last()).map(|h| h.frames.end).max().unwrap_or(0)
    }

    /// The same contacts with every frame number and height changed; holds that become empty are left out, those
    /// that come to overlap are cut short.
    ///
    /// `frame` takes the first frame of a hold and the one behind its last, and must not descend.
    pub fn changed(&self, frame: impl Fn(usize) -> usize, height: impl Fn(f64) -> f64) -> Contacts {
        let track = |holds: &Vec<Hold>| {
            let mut from = 0;
            let mut changed = Vec::with_capacity(holds.len());
            for hold in holds {
                let frames = frame(hold.frames.start).max(from)..frame(hold.frames.end);
                if frames.start < frames.end {
                    from = frames.end;
                    changed.push(Hold { frames, height: height(hold.height) });
                }
            }
            changed
        };
        let tracks = self.tracks.iter().map(|(part, holds)| (*part, track(holds))).collect();
        Contacts { ground: height(self.ground), tracks }
    }

    /// The contacts of the mirrored motion.
    pub fn mirrored(&self) -> Contacts {
        let tracks = self.tracks.iter().map(|(part, holds)| (part.mirrored(), holds.clone())).collect();
        Contacts { ground: self.ground, tracks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(frames: Range<usize>) -> Hold {
        Hold { frames, height: 0.1 }
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
