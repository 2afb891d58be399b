//! A motion with contact labels becomes one whose feet stay where they rest.
//!
//! Soles and legs of every frame are read, locks found, feet changed ([`changes`]), the pelvis placed ([`pelvis`]), the
//! knees bent ([`close`]); the joints that moved are written back. Nothing changes outside the influence of a contact,
//! but where a sole would be in the floor. Space: model space, Y up. Units: metres, radians.

use super::closure::{close, knee_direction};
use super::foot::{changes, floor_under};
use super::heel_rise::{raise_heel, rise};
use super::leg::{Change, Leg, Step, read};
use super::lock::{Held, Locks};
use super::pelvis::{Moved, pelvis, share};
use super::ramp::envelope;
use super::write::write;
use crate::math::{Vec3, log};
use crate::model::{Contacts, JointId, Motion, Side};
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

/// What was done to one foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootWork {
    /// Which.
    pub side: Side,
    /// The joint at the ankle.
    pub joint: JointId,
    /// The largest way of the ankle in metres, and its frame.
    pub shift: (f64, usize),
    /// The mean way over all frames.
    pub mean_shift: f64,
    /// The largest turn of the foot in radians, and its frame.
    pub turn: (f64, usize),
    /// Frames in which the foot rests and falls short of its lock by more than a millimetre, and the first of them.
    pub unreached: (usize, usize),
    /// The most that it falls short.
    pub short: f64,
}

/// What was done to a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// To the feet.
    pub feet: Vec<FootWork>,
    /// The largest way of the pelvis in metres, and its frame.
    pub pelvis: (f64, usize),
    /// The mean way of the pelvis.
    pub mean_pelvis: f64,
}

/// The motion with its feet planted by its contacts, and what was done; the motion itself where the character has no
/// legs to plant or nothing is known about contacts.
pub fn plant(motion: &Motion, options: &Options) -> (Motion, Work) {
    let (legs, frames) = (Leg::of(&motion.character), motion.clip.frames());
    let Some(contacts) = motion.contacts.as_ref().filter(|_| frames > 0 && !legs.is_empty()) else {
        return (motion.clone(), Work::default());
    };
    let steps = read(motion, &legs);
    let reach = (TRANSITION * motion.clip.sample_rate).max(1.0);
    let blend = (options.blend * motion.clip.sample_rate).max(1.0);
    let most = options.pelvis * legs.iter().map(|leg| leg.reach).sum::<f64>() / legs.len() as f64;
    let mut helds: Vec<Vec<Held>> = Vec::new();
    let mut floors: Vec<Vec<f64>> = Vec::new();
    let mut changed: Vec<Vec<Change>> = Vec::new();
    for (leg, steps) in legs.iter().zip(&steps) {
        let soles: Vec<_> = steps.iter().map(|s| leg.sole(s)).collect();
        let locks = Locks::of(leg, contacts, &soles);
        let floor = floor_under(&locks, contacts.ground);
        changed.push(changes(leg, steps, &locks, &floor, [reach, blend]));
        helds.push(locks.held);
        floors.push(floor);
    }
    let moved: Vec<Moved<'_>> = (0..legs.len())
        .map(|k| Moved { leg: &legs[k], steps: &steps[k], changes: &changed[k], held: &helds[k] })
        .collect();
    let others = others_rest(contacts, frames);
    let offset = pelvis(&moved, &others, motion.clip.sample_rate, most, reach);

    drop(moved);
    for (k, leg) in legs.iter().enumerate() {
        rise(leg, &steps[k], &helds[k], &floors[k], &offset, &mut changed[k], reach);
    }
    let moved: Vec<Moved<'_>> = (0..legs.len())
        .map(|k| Moved { leg: &legs[k], steps: &steps[k], changes: &changed[k], held: &helds[k] })
        .collect();
    let mut closed: Vec<Vec<(Step, f64)>> = Vec::new();
    for leg in &moved {
        let ahead = knee_direction(leg.leg, leg.steps);
        let rests = share(leg.held, 0.0, reach);
        let one = |f: usize| {
            close(leg.leg, &leg.steps[f], &leg.changes[f], &(Vec3::y() * offset[f]), &ahead, rests[f])
        };
        closed.push((0..frames).into_par_iter().map(one).collect());
    }
    let still = |f: usize| offset[f].abs() < 1e-12 && moved.iter().all(|m| m.changes[f] == Change::default());
    let clip = write(motion, &legs, &closed, &offset, still);
    let work = Work {
        feet: moved.iter().zip(&closed).map(|(m, c)| foot_work(m, c)).collect(),
        pelvis: largest(offset.iter().map(|d| d.abs())),
        mean_pelvis: mean(offset.iter().map(|d| d.abs())),
    };
    (Motion { clip, ..motion.clone() }, work)
}

/// The motion with the heels of these `sides` up by at least as many radians as asked for in every frame: the feet turn about their
/// balls, which stay; the knees follow under a pelvis that stays.
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

/// The frames in which a part rests that is no foot.
fn others_rest(contacts: &Contacts, frames: usize) -> Vec<bool> {
    let mut rest = vec![false; frames];
    for part in contacts.parts().filter(|p| !p.of_foot()) {
        for hold in contacts.holds(part) {
            rest[hold.frames.start..hold.frames.end.min(frames)].fill(true);
        }
    }
    rest
}

/// What was done to a foot.
fn foot_work(moved: &Moved<'_>, closed: &[(Step, f64)]) -> FootWork {
    let ways =
        || moved.steps.iter().zip(closed).map(|(a, (b, _))| (b.foot.translation - a.foot.translation).norm());
    let turns = moved
        .steps
        .iter()
        .zip(closed)
        .map(|(a, (b, _))| log(&(b.foot.rotation * a.foot.rotation.inverse())).norm());
    let short = |f: &usize| moved.held[*f] != Held::Free && closed[*f].1 > 1e-3;
    let unreached: Vec<usize> = (0..closed.len()).filter(short).collect();
    FootWork {
        side: moved.leg.side,
        joint: moved.leg.foot,
        shift: largest(ways()),
        mean_shift: mean(ways()),
        turn: largest(turns),
        unreached: (unreached.len(), unreached.first().copied().unwrap_or(0)),
        short: unreached.iter().map(|&f| closed[f].1).fold(0.0, f64::max),
    }
}

/// The largest value and where it is.
fn largest(values: impl Iterator<Item = f64>) -> (f64, usize) {
    values.enumerate().fold((0.0, 0), |best, (f, x)| if x > best.0 { (x, f) } else { best })
}

/// The mean; 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0usize), |(sum, n), x| (sum + x, n + 1));
    sum / count.max(1) as f64
}
