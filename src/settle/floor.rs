//! Contact labels become the height of the floor under every part of a body at every frame.
//!
//! A part that rests stands on what its label says; between two rests it may come as low as the lower of the two, so
//! that a foot on its way up a stair is not in the air at once. Space: model space. Units: metres, frames.

use crate::model::{ContactPart, ContactPoint, Contacts, ModelPose};

/// The floor under a body over a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    contacts: Contacts,
}

impl Floor {
    /// The floor that these labels speak of.
    pub fn new(contacts: Contacts) -> Self {
        Self { contacts }
    }

    /// The labels.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// The height of the floor under a part at a frame.
    pub fn under(&self, part: Option<ContactPart>, frame: usize) -> f64 {
        let ground = self.contacts.ground;
        let Some(part) = part else { return ground };
        // The tip of the toes stands on what the ball stands on.
        let part = if let ContactPart::Toe(side) = part { ContactPart::Ball(side) } else { part };
        let holds = self.contacts.holds(part);
        let next = holds.partition_point(|h| h.frames.end <= frame);
        let after = holds.get(next);
        if let Some(hold) = after.filter(|h| h.frames.contains(&frame)) {
            return hold.height;
        }
        let before = next.checked_sub(1).and_then(|k| holds.get(k));
        match (before, after) {
            (Some(a), Some(b)) => a.height.min(b.height),
            (Some(one), None) | (None, Some(one)) => one.height,
            (None, None) => ground,
        }
    }

    /// How high a point of a body is above the floor under it, metres.
    pub fn clearance(&self, point: &ContactPoint, model: &ModelPose, frame: usize) -> f64 {
        let at = model.joint(point.joint).point(&point.at);
        at.y - (self.under(Some(point.part), frame) + point.radius)
    }

    /// Whether a part rests at a frame; the tip of the toes with the ball, and ends without a name always.
    pub fn rests(&self, part: Option<ContactPart>, frame: usize) -> bool {
        match part {
            None => true,
            Some(ContactPart::Toe(side)) => self.contacts.rests(ContactPart::Ball(side), frame),
            Some(part) => self.contacts.rests(part, frame),
        }
    }

    /// Whether anything that has a label rests at a frame.
    pub fn carries(&self, frame: usize) -> bool {
        self.contacts.parts().any(|part| self.contacts.rests(part, frame))
    }
}
