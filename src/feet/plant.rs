//! A motion with contact labels becomes one whose feet stay where they rest.
//!
//! Legs are read and locks found, feet changed, pelvis and knees brought after them ([`Arrived`]), and, where ranges are
//! told, feet that ask too much of a joint give way ([`give_way`]). Nothing changes outside the influence of a contact,
//! but where a sole would be in the floor. Space: model space, Y up. Units: metres, radians.

use super::arrived::Arrived;
use super::closure::{close, knee_direction};
use super::foot::floor_under;
use super::heel_rise::raise_heel;
use super::leg::{Change, Leg, Step, read};
use super::lock::Locks;
use super::pelvis::share;
use super::ramp::envelope;
use super::ranges::{Ranges, give_way};
use super::work::Work;
use super::write::write;
use crate::math::Vec3;
use crate::model::{Motion, Side};
use rayon::prelude::*;

/// How long a foot takes to get out of the floor and back, and the pelvis to heed a foot that comes to rest, seconds.
pub const TRANSITION: f64 = 0.1;

/// How long a heel takes to rise that an ankle asks for, and to come down again, seconds.
const RISE: f64 = 0.25;

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
        Some((arrived, changes)) => arrived.close(changes),
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

/// The motion with the heels of these `sides` up by at least as many radians as asked for in every frame: the feet turn
/// about their balls, which stay; the knees follow under a pelvis that stays.
pub fn raise_heels(motion: &Motion, asked: &[(Side, Vec<f64>)]) -> Motion {
    let legs: Vec<Leg> = Leg::of(&motion.character);
    let asked = |leg: &Leg| asked.iter().find(|(side, _)| *side == leg.side).map(|(_, asked)| asked);
    let legs: Vec<Leg> = legs.into_iter().filter(|leg| asked(leg).is_some()).collect();
    let Some(contacts) = motion.contacts.as_ref().filter(|_| !legs.is_empty()) else { return motion.clone() };
    let frames = motion.clip.frames();
    let reach = (RISE * motion.clip.sample_rate).max(1.0);
    let mut closed: Vec<Vec<(Step, f64)>> = Vec::new();
    let mut still = vec![true; frames];
    for (leg, steps) in legs.iter().zip(read(motion, &legs)) {
        let soles: Vec<_> = steps.iter().map(|s| leg.sole(s)).collect();
        let locks = Locks::of(leg, contacts, &soles);
        let floor = floor_under(&locks, contacts.ground);
        let rests = share(&locks.held, 0.0, reach);
        let angles = envelope(asked(leg).map_or(&[], Vec::as_slice), |_| false, reach as usize);
        let ahead = knee_direction(leg, &steps);
        let one = |(f, step): (usize, &Step)| {
            let mut change = Change::default();
            if angles[f] > 0.0 {
                raise_heel(leg, step, angles[f], floor[f], &mut change);
            }
            close(leg, step, &change, &Vec3::zeros(), &ahead, rests[f])
        };
        closed.push(steps.par_iter().enumerate().map(one).collect());
        still.iter_mut().zip(&angles).for_each(|(still, angle)| *still &= *angle <= 0.0);
    }
    let clip = write(motion, &legs, &closed, &vec![0.0; frames], |f| still[f]);
    Motion { clip, ..motion.clone() }
}
