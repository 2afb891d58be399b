//! Legs as a motion brings them, and how pelvis and knees follow feet that change.
//!
//! Soles and legs of every frame are read and locks found; the pelvis is placed ([`pelvis`]), the knees bent
//! ([`close`]), the joints that moved written back. Space: model space, Y up. Units: metres, radians, frames.

use super::closure::{close, knee_direction};
use super::foot::{changes, floor_under};
use super::heel_rise::rise;
use super::leg::{Change, Leg, Step, read};
use super::lock::{Held, Locks};
use super::pelvis::{Moved, length_bent, pelvis, share};
use super::plant::{Options, TRANSITION};
use super::ranges::Ranges;
use super::work::{Work, foot_work, largest, mean};
use super::write::write;
use crate::ik::Limit;
use crate::math::Vec3;
use crate::model::{Contacts, Motion};
use rayon::prelude::*;

/// The legs of a motion with contact labels, by their number.
pub struct Arrived<'a> {
    /// The motion.
    pub motion: &'a Motion,
    /// The legs.
    pub legs: Vec<Leg>,
    /// How they arrive, in every frame.
    pub steps: Vec<Vec<Step>>,
    /// What rests of them.
    pub helds: Vec<Vec<Held>>,
    /// The height of the floor under them.
    pub floors: Vec<Vec<f64>>,
    /// The frames in which other parts of the body rest.
    others: Vec<bool>,
    /// The lengths of the legs below which their knees would leave their ranges.
    shortest: Vec<f64>,
    /// How far the pelvis may move.
    most: f64,
    /// A transition, in frames.
    pub reach: f64,
}

impl<'a> Arrived<'a> {
    /// The legs of a motion, and the changes of their feet that plant them; nothing without legs, labels or frames.
    pub fn of(
        motion: &'a Motion,
        options: &Options,
        ranges: Option<&Ranges<'_>>,
    ) -> Option<(Self, Vec<Vec<Change>>)> {
        let (legs, frames) = (Leg::of(&motion.character), motion.clip.frames());
        let contacts = motion.contacts.as_ref().filter(|_| frames > 0 && !legs.is_empty())?;
        let steps = read(motion, &legs);
        let reach = (TRANSITION * motion.clip.sample_rate).max(1.0);
        let blend = (options.blend * motion.clip.sample_rate).max(1.0);
        let most = options.pelvis * legs.iter().map(|leg| leg.reach).sum::<f64>() / legs.len() as f64;
        let mut arrived = Self {
            motion,
            legs,
            steps,
            helds: Vec::new(),
            floors: Vec::new(),
            others: Vec::new(),
            shortest: Vec::new(),
            most,
            reach,
        };
        let mut changed: Vec<Vec<Change>> = Vec::new();
        for (leg, steps) in arrived.legs.iter().zip(&arrived.steps) {
            let soles: Vec<_> = steps.iter().map(|s| leg.sole(s)).collect();
            let locks = Locks::of(leg, contacts, &soles);
            let floor = floor_under(&locks, contacts.ground);
            changed.push(changes(leg, steps, &locks, &floor, [reach, blend]));
            arrived.helds.push(locks.held);
            arrived.floors.push(floor);
            arrived.shortest.push(ranges.map_or(0.0, |ranges| shortest(leg, &steps[0], ranges)));
        }
        arrived.others = others_rest(contacts, frames);
        Some((arrived, changed))
    }

    /// The motion whose feet have changed, with the labels that came, and what was done; under a pelvis that makes the
    /// legs in every frame at most as long as `longest` says, in metres.
    pub fn close(&self, mut changed: Vec<Vec<Change>>, longest: Option<&[Vec<f64>]>) -> (Motion, Work) {
        let Self { motion, legs, steps, helds, floors, .. } = self;
        let (frames, rate) = (motion.clip.frames(), motion.clip.sample_rate);
        let offset = pelvis(&self.moved(&changed), longest, &self.others, rate, [self.most, self.reach]);
        for (k, leg) in legs.iter().enumerate() {
            rise(leg, &steps[k], &helds[k], &floors[k], &offset, &mut changed[k], self.reach);
        }
        let moved = self.moved(&changed);
        let mut closed: Vec<Vec<(Step, f64)>> = Vec::new();
        for leg in &moved {
            let ahead = knee_direction(leg.leg, leg.steps);
            let rests = share(leg.held, 0.0, self.reach);
            let one = |f: usize| {
                close(leg.leg, &leg.steps[f], &leg.changes[f], &(Vec3::y() * offset[f]), &ahead, rests[f])
            };
            closed.push((0..frames).into_par_iter().map(one).collect());
        }
        let still =
            |f: usize| offset[f].abs() < 1e-12 && moved.iter().all(|m| m.changes[f] == Change::default());
        let clip = write(motion, legs, &closed, &offset, still);
        let work = Work {
            feet: moved.iter().zip(&closed).map(|(m, c)| foot_work(m, c)).collect(),
            pelvis: largest(offset.iter().map(|d| d.abs())),
            mean_pelvis: mean(offset.iter().map(|d| d.abs())),
        };
        (Motion { clip, ..(*motion).clone() }, work)
    }

    /// Every leg with what shall become of its foot.
    fn moved<'b>(&'b self, changed: &'b [Vec<Change>]) -> Vec<Moved<'b>> {
        let of = |k: usize| Moved {
            leg: &self.legs[k],
            steps: &self.steps[k],
            changes: &changed[k],
            held: &self.helds[k],
            shortest: self.shortest[k],
        };
        (0..self.legs.len()).map(of).collect()
    }
}

/// The length of a leg whose knee is as bent as its range allows; 0 without one.
fn shortest(leg: &Leg, step: &Step, ranges: &Ranges<'_>) -> f64 {
    match ranges.mechanism.limit(leg.lower) {
        Some(Limit::SwingTwist(limit)) if ranges.joints.contains(&leg.lower) => {
            length_bent(step, limit.swing[0].high)
        }
        _ => 0.0,
    }
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
