//! Contact labels become lock points: where heel and ball stay while they rest.
//!
//! A lock is the median over the central half of its hold, at the height of what is stood on. Heel and ball that rest
//! at the same time are locks of one rigid foot: their distance over the ground is brought to the sole's own, all holds
//! of a foot together (projection of distance constraints, Mueller et al. 2007, Position Based Dynamics, the weight of
//! a lock being its length). The heading of a flat foot is that of the line through both. Space: model space, Y up.
//! Units: metres, frames.

use super::leg::{Leg, Sole, level};
use crate::math::Vec3;
use crate::model::{Character, ContactPart, Contacts, Hold};
use std::ops::Range;

/// Where a part of the sole stays, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The frames of its hold.
    pub frames: Range<usize>,
    /// The place.
    pub at: Vec3,
}

/// What rests of a foot in one frame, by the number of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing.
    Free,
    /// The heel, about which the foot turns.
    Heel(usize),
    /// The ball, about which the foot turns.
    Ball(usize),
    /// Heel and ball: the foot lies flat.
    Flat(usize, usize),
}

/// All locks of a foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Locks {
    /// The locks of the heel.
    pub heel: Vec<Lock>,
    /// The locks of the ball.
    pub ball: Vec<Lock>,
    /// What rests in every frame.
    pub held: Vec<Held>,
}

/// A hold whose height differs from the ground's by less than this, for legs of 0.9 m, is on the ground.
const SNAP: f64 = 0.02;

/// Heel and ball whose locks miss the distance of the sole by more than this part of it do not rest together: the
/// foot was not flat.
const MISFIT: f64 = 0.35;

/// The height of a hold, that of the ground where it is near.
fn resting_height(height: f64, contacts: &Contacts, leg: &Leg) -> f64 {
    let near = (height - contacts.ground).abs() < SNAP * leg.reach / 0.9;
    if near { contacts.ground } else { height }
}

/// The labels with every hold that is on the ground at the height of the ground.
pub fn levelled(contacts: &Contacts, character: &Character) -> Contacts {
    let legs = Leg::of(character);
    let Some(leg) = legs.first() else { return contacts.clone() };
    let at = |height| resting_height(height, contacts, leg);
    contacts.changed(|f| f, at)
}

impl Locks {
    /// The locks of a foot whose sole arrives at these places.
    pub fn of(leg: &Leg, contacts: &Contacts, soles: &[Sole]) -> Locks {
        let locks = |part: ContactPart, point: usize| -> Vec<Lock> {
            let lock = |hold: &Hold| {
                let height = resting_height(hold.height, contacts, leg);
                let frames = hold.frames.start..hold.frames.end.min(soles.len());
                let (n, start) = (frames.len(), frames.start);
                let central = start + n / 4..(start + n - n / 4).max(start + n / 4 + 1);
                let middle = |axis: usize| median(soles[central.clone()].iter().map(|s| s[point][axis]));
                (n > 0).then(|| Lock { frames, at: Vec3::new(middle(0), height, middle(2)) })
            };
            contacts.holds(part).iter().filter_map(lock).collect()
        };
        let mut heel = locks(ContactPart::Heel(leg.side), 0);
        let mut ball = locks(ContactPart::Ball(leg.side), 1);
        let flat = pairs(leg, &heel, &ball);
        fit(leg, &mut heel, &mut ball, &flat);
        let mut held = vec![Held::Free; soles.len()];
        for (k, lock) in heel.iter().enumerate() {
            held[lock.frames.clone()].fill(Held::Heel(k));
        }
        for (k, lock) in ball.iter().enumerate() {
            for held in &mut held[lock.frames.clone()] {
                *held = match *held {
                    Held::Heel(heel) if flat.contains(&(heel, k)) => Held::Flat(heel, k),
                    _ => Held::Ball(k),
                };
            }
        }
        Locks { heel, ball, held }
    }
}

/// The locks of heel and ball that rest together.
fn pairs(leg: &Leg, heel: &[Lock], ball: &[Lock]) -> Vec<(usize, usize)> {
    let mut flat = Vec::new();
    let mut first = 0;
    for (i, h) in heel.iter().enumerate() {
        while first < ball.len() && ball[first].frames.end <= h.frames.start {
            first += 1;
        }
        let together = ball[first..].iter().enumerate().take_while(|(_, b)| b.frames.start < h.frames.end);
        for (k, b) in together {
            let span = leg.span(h.at.y - b.at.y);
            let found = level(&(b.at - h.at), &Vec3::y()).norm();
            if (found - span).abs() <= MISFIT * span {
                flat.push((i, first + k));
            }
        }
    }
    flat
}

/// Brings locks that rest together to the distance of the sole.
fn fit(leg: &Leg, heel: &mut [Lock], ball: &mut [Lock], flat: &[(usize, usize)]) {
    // One pair is right after one round; a chain of n pairs takes more.
    for _ in 0..60 {
        let mut worst = 0.0_f64;
        for &(i, k) in flat {
            let (h, b) = (&heel[i], &ball[k]);
            let span = leg.span(h.at.y - b.at.y);
            let line = level(&(b.at - h.at), &Vec3::y());
            let Some(along) = line.try_normalize(1e-9) else { continue };
            let excess = line.norm() - span;
            worst = worst.max(excess.abs());
            let (wh, wb) = (1.0 / h.frames.len() as f64, 1.0 / b.frames.len() as f64);
            heel[i].at += along * (excess * wh / (wh + wb));
            ball[k].at -= along * (excess * wb / (wh + wb));
        }
        if worst < 1e-7 {
            break;
        }
    }
}

/// The median; 0 of nothing.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = values.collect();
    let n = all.len();
    if n == 0 {
        return 0.0;
    }
    all.sort_by(f64::total_cmp);
    0.5 * (all[(n - 1) / 2] + all[n / 2])
}
