//! Contact labels become lock points: where heel and ball stay while they rest.
//!
//! A lock is the mean of the middle half of the places in its hold, at the height of what is stood on. Heel and ball that rest
//! at the same time are locks of one rigid foot: they lie as far apart as on the sole, in the direction in which the
//! foot arrives. Space: model space, Y up. Units: metres, frames.

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
                let middle = |axis: usize| middle(soles[frames.clone()].iter().map(|s| s[point][axis]));
                let (x, z) = (middle(0)?, middle(2)?);
                Some(Lock { frames, at: Vec3::new(x, height, z) })
            };
            contacts.holds(part).iter().filter_map(lock).collect()
        };
        let mut heel = locks(ContactPart::Heel(leg.side), 0);
        let mut ball = locks(ContactPart::Ball(leg.side), 1);
        let flat = pairs(&heel, &ball);
        fit(leg, &mut heel, &mut ball, &flat, soles);
        let mut held = vec![Held::Free; soles.len()];
        for (k, lock) in heel.iter().enumerate() {
            held[lock.frames.clone()].fill(Held::Heel(k));
        }
        for (k, lock) in ball.iter().enumerate() {
            for held in &mut held[lock.frames.clone()] {
                *held = match *held {
                    Held::Heel(heel) => Held::Flat(heel, k),
                    _ => Held::Ball(k),
                };
            }
        }
        Locks { heel, ball, held }
    }
}

/// The locks of heel and ball that rest together, in time.
fn pairs(heel: &[Lock], ball: &[Lock]) -> Vec<(usize, usize)> {
    let mut flat = Vec::new();
    let mut first = 0;
    for (i, h) in heel.iter().enumerate() {
        while first < ball.len() && ball[first].frames.end <= h.frames.start {
            first += 1;
        }
        let together = ball[first..].iter().enumerate().take_while(|(_, b)| b.frames.start < h.frames.end);
        flat.extend(together.map(|(k, _)| (i, first + k)));
    }
    flat
}

/// Brings locks that rest together to the distance of the sole and to the heading of the foot.
///
/// Holds of heel and ball that overlap form chains, in which every place follows from every other; a chain lies where
/// the sum of squared ways of its locks, each times its length, is least.
fn fit(leg: &Leg, heel: &mut [Lock], ball: &mut [Lock], flat: &[(usize, usize)], soles: &[Sole]) {
    let mut pairs = flat;
    while let Some(&(i, _)) = pairs.first() {
        let mut heels = vec![(i, Vec3::zeros())];
        let mut balls: Vec<(usize, Vec3)> = Vec::new();
        let mut used = 0;
        for &(i, k) in pairs {
            let (h, b) = (&heel[i], &ball[k]);
            let together = h.frames.start.max(b.frames.start)..h.frames.end.min(b.frames.end);
            let way = heading(&soles[together]) * leg.span(h.at.y - b.at.y);
            let at_heel = heels.last().filter(|(last, _)| *last == i).map(|(_, at)| *at);
            let at_ball = balls.last().filter(|(last, _)| *last == k).map(|(_, at)| *at);
            match (at_heel, at_ball) {
                (Some(at), _) => balls.push((k, at + way)),
                (None, Some(at)) => heels.push((i, at - way)),
                (None, None) => break,
            }
            used += 1;
        }
        let (mut sum, mut weights) = (Vec3::zeros(), 0.0);
        let both = heels.iter().map(|(i, at)| (&heel[*i], at));
        for (lock, at) in both.chain(balls.iter().map(|(k, at)| (&ball[*k], at))) {
            let weight = lock.frames.len() as f64;
            sum += (lock.at - at) * weight;
            weights += weight;
        }
        let origin = sum / weights;
        let place = |lock: &mut Lock, at: Vec3| {
            (lock.at.x, lock.at.z) = (origin.x + at.x, origin.z + at.z);
        };
        heels.into_iter().for_each(|(i, at)| place(&mut heel[i], at));
        balls.into_iter().for_each(|(k, at)| place(&mut ball[k], at));
        pairs = &pairs[used..];
    }
}

/// The direction over the ground from heel to ball, of length 1.
fn heading(soles: &[Sole]) -> Vec3 {
    let lines = soles.iter().filter_map(|s| level(&(s[1] - s[0]), &Vec3::y()).try_normalize(1e-9));
    lines.sum::<Vec3>().try_normalize(1e-9).unwrap_or(Vec3::z())
}

/// The mean of the middle half of the values, in order of size: as robust as it is needed, and of less noise than the
/// median; nothing of nothing.
fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    let half = &all[all.len() / 4..all.len() - all.len() / 4];
    (!half.is_empty()).then(|| half.iter().sum::<f64>() / half.len() as f64)
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
