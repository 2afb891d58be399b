//! A motion with contact labels becomes one whose feet stay where they rest.
//!
//! Legs are read and locks found, feet changed, pelvis and knees brought after them ([`Arrived`]), and, where ranges are
//! told, feet that ask too much of a joint give way ([`give_way`]). Nothing changes outside the influence of a contact,
//! but where a sole would be in the floor. Space: model space, Y up. Units: metres, radians.

use super::arrived::Arrived;
use super::ranges::{Ranges, give_way};
use super::work::Work;
use crate::model::Motion;

/// How long a foot takes to get out of the floor and back, and the pelvis to heed a foot that comes to rest, seconds.
pub const TRANSITION: f64 = 0.1;

/// How feet are planted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// How long, at most, a foot keeps what is left of its correction after it has left its lock, and how early it takes
    /// it up before it comes to the next, seconds: most of a swing, so that the way of the foot bends as little as it may.
    pub blend: f64,
    /// The most that the pelvis moves up or down so that legs reach, as a part of thigh and shin.
    pub pelvis: f64,
}

impl Default for Options {
    fn default() -> Self {
        // Of a person, 6 % of the stature.
        Self { blend: 0.3, pelvis: 0.13 }
    }
}

/// The motion with its feet planted by its contacts, and what was done; the motion itself where the character has no
/// legs to plant or nothing is known about contacts.
pub fn plant(motion: &Motion, options: &Options) -> (Motion, Work) {
    match Arrived::of(motion, options, None) {
        Some((arrived, changes)) => arrived.close(changes, None),
        None => (motion.clone(), Work::default()),
    }
}

/// As [`plant`], but joints that arrive within their ranges stay there as far as a foot can give way: its ball stays
/// where it is, heel or side rise, and are no longer labelled as resting.
pub fn plant_within(motion: &Motion, options: &Options, ranges: &Ranges<'_>) -> (Motion, Work) {
    match Arrived::of(motion, options, Some(ranges)) {
        Some((arrived, changes)) => give_way(&arrived, changes, ranges),
        None => (motion.clone(), Work::default()),
    }
}
