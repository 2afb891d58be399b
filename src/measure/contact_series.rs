//! Time series of each contact point: height, clearance, speed, and whether it is labelled as in contact.
//!
//! Units: metres of the common height, seconds.

use super::metric_context::MetricContext;
use super::samples::Samples;
use crate::model::{ContactPart, Contacts, Hold};

/// One contact point over time; every list has one entry a frame.
#[derive(Clone, Debug)]
pub struct ContactSeries {
    /// The part of the body.
    pub part: ContactPart,
    /// The height above the surface of the contact while it is labelled, else above the lower of the ground and the surfaces
    /// of the contacts before and after; above the ground below it, where that is not level.
    pub clearance: Vec<f64>,
    /// The height above the ground.
    pub height: Vec<f64>,
    /// The height of the lowest ground under it where that is not level; infinite on level ground.
    pub lowest_ground: f64,
    /// The speed over the ground from the frame before; 0 in the first frame.
    pub speed: Vec<f64>,
    /// The spans of contact.
    pub holds: Vec<Hold>,
    /// Whether it is in contact.
    pub rests: Vec<bool>,
}

impl ContactSeries {
    /// Whether the point is labelled in this frame and in the one before, by one hold: it should not move between.
    pub fn stays(&self, frame: usize) -> bool {
        frame > 0 && self.rests[frame] && !self.starts(frame)
    }

    /// Whether a hold starts with this frame.
    fn starts(&self, frame: usize) -> bool {
        self.holds.binary_search_by_key(&frame, |h| h.frames.start).is_ok()
    }
}

/// The series of all contact points of `context`, in their order.
pub fn contact_series(context: &MetricContext, samples: &Samples, contacts: &Contacts) -> Vec<ContactSeries> {
    let series = |k: usize, part: ContactPart| {
        let holds: Vec<Hold> = (contacts.holds(part).iter())
            .filter(|h| h.frames.start < samples.frames)
            .map(|h| Hold { frames: h.frames.start..h.frames.end.min(samples.frames), ..*h })
            .collect();
        let ground = contacts.ground * context.scale;
        let mut made = ContactSeries {
            part,
            clearance: Vec::with_capacity(samples.frames),
            height: Vec::with_capacity(samples.frames),
            lowest_ground: f64::INFINITY,
            speed: Vec::with_capacity(samples.frames),
            rests: vec![false; samples.frames],
            holds,
        };
        for hold in &made.holds {
            made.rests[hold.frames.clone()].fill(true);
        }
        // The index of the current or next hold.
        let mut next = 0;
        for frame in 0..samples.frames {
            while made.holds.get(next).is_some_and(|h| h.frames.end <= frame) {
                next += 1;
            }
            let level =
                |k: Option<usize>| k.and_then(|k| made.holds.get(k)).map(|h| h.height * context.scale);
            let here = samples.point(frame, k);
            let uneven =
                contacts.height_under(part, frame, &(here / context.scale)).map(|y| y * context.scale);
            made.lowest_ground = made.lowest_ground.min(uneven.unwrap_or(f64::INFINITY));
            let floor = uneven.unwrap_or_else(|| match made.rests[frame] {
                true => level(Some(next)).unwrap_or(ground),
                false => {
                    let around = [level(next.checked_sub(1)), level(Some(next))];
                    around.into_iter().flatten().fold(ground, f64::min)
                }
            });
            let before = samples.point(frame.saturating_sub(1), k);
            made.clearance.push(here.y - floor);
            made.height.push(here.y - uneven.unwrap_or(ground));
            made.speed.push(libm::hypot(here.x - before.x, here.z - before.z) * samples.rate);
        }
        made
    };
    context.points().iter().enumerate().map(|(k, point)| series(k, point.part)).collect()
}
