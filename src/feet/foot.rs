//! The locks of a foot become the change of its every frame: turned flat, put on its locks, kept out of the floor.
//!
//! Turns come first, since they move the points; then the way of the ankle that puts the resting point on its lock;
//! then the lift of frames in which nothing rests. Each is exact while its cause lasts and falls to zero outside it
//! ([`ramps`], [`envelope`]). Space: model space, Y up. Units: metres, radians, frames.

use super::leg::{Change, Leg, Step, level};
use super::lock::{Held, Locks, median};
use super::ramp::{envelope, ramps};
use crate::math::{Quat, Vec3, arc, exp, log};

/// A sole that rests on heel and ball and leans to a side by less than this is laid flat, in radians.
const FLAT: f64 = 12.0 / 180.0 * std::f64::consts::PI;

/// What a point may dip into the floor before something is done about it, metres.
const DIP: f64 = 5e-4;

/// The most that toes are bent up to keep their tip out of the floor, radians.
const TOES_UP: f64 = 1.0;

/// Where the floor is under a foot in every frame: the height of what it rests on, the lower of the two that it leaves
/// and comes to in between.
pub fn floor_under(locks: &Locks, ground: f64) -> Vec<f64> {
    let height = |held: &Held| match *held {
        Held::Free => None,
        Held::Heel(i) => Some(locks.heel[i].at.y),
        Held::Ball(k) => Some(locks.ball[k].at.y),
        Held::Flat(i, k) => Some(locks.heel[i].at.y.min(locks.ball[k].at.y)),
    };
    let n = locks.held.len();
    let mut floor = vec![f64::INFINITY; n];
    let mut last = None;
    for (floor, held) in floor.iter_mut().zip(&locks.held) {
        last = height(held).or(last);
        *floor = last.unwrap_or(f64::INFINITY);
    }
    last = None;
    for (floor, held) in floor.iter_mut().zip(&locks.held).rev() {
        last = height(held).or(last);
        *floor = floor.min(last.unwrap_or(f64::INFINITY));
        if *floor == f64::INFINITY {
            *floor = ground;
        }
    }
    floor
}

/// The change of every frame of a foot; `reach` is the length in frames of getting out of the floor, `blend` that of
/// leaving a lock.
pub fn changes(
    leg: &Leg,
    steps: &[Step],
    locks: &Locks,
    floor: &[f64],
    [reach, blend]: [f64; 2],
) -> Vec<Change> {
    let mut changes = vec![Change::default(); steps.len()];
    lay_flat(leg, steps, locks, &mut changes, blend);
    turn_out_of_floor(leg, steps, locks, floor, &mut changes, reach);
    put_on_locks(leg, steps, locks, &mut changes, blend);
    lift(leg, steps, locks, floor, &mut changes, reach);
    changes
}

/// Turns a foot that rests on heel and ball so that both can be on their locks, and its toes so that they lie on the
/// floor.
fn lay_flat(leg: &Leg, steps: &[Step], locks: &Locks, changes: &mut [Change], reach: f64) {
    let known: Vec<bool> = locks.held.iter().map(|h| matches!(h, Held::Flat(..))).collect();
    let mut f = 0;
    while f < steps.len() {
        let Held::Flat(i, k) = locks.held[f] else {
            f += 1;
            continue;
        };
        let from = f;
        while f < steps.len() && locks.held[f] == Held::Flat(i, k) {
            f += 1;
        }
        let (heel, ball) = (locks.heel[i].at, locks.ball[k].at);
        // One decision for the whole time: a foot does not become flat half way.
        let lean = median(steps[from..f].iter().map(|s| {
            let turned = flat_turn(leg, s, heel, ball, false);
            lean(leg, s, &turned.0).abs()
        }));
        for (step, change) in steps[from..f].iter().zip(&mut changes[from..f]) {
            let (turn, toes) = flat_turn(leg, step, heel, ball, lean < FLAT);
            (change.turn, change.toes) = (log(&turn), log(&toes));
        }
    }
    let mut fill = |part: fn(&mut Change) -> &mut Vec3| {
        let mut values: Vec<Vec3> = changes.iter_mut().map(|c| *part(c)).collect();
        ramps(&mut values, &known, reach);
        changes.iter_mut().zip(values).for_each(|(c, v)| *part(c) = v);
    };
    fill(|c| &mut c.turn);
    fill(|c| &mut c.toes);
}

/// The turns of foot and toes with which heel and ball can be on their locks.
fn flat_turn(leg: &Leg, step: &Step, heel: Vec3, ball: Vec3, level_sole: bool) -> (Quat, Quat) {
    let from = leg.pivot(step) - step.foot.point(&leg.heel);
    let (mut turn, mut toes) = (Quat::identity(), Quat::identity());
    // The toe joint lies above the ball, where depends a little on how the toes lie: two rounds settle it.
    for _ in 0..2 {
        let pivot = match leg.toes {
            Some(_) => ball - toes * turn * leg.front_rotation(step) * leg.front[0],
            None => ball,
        };
        turn = arc(&from, &(pivot - heel), &Vec3::y());
        if level_sole {
            let along = (pivot - heel).try_normalize(1e-9).unwrap_or(Vec3::z());
            turn = exp(&(along * lean(leg, step, &turn))) * turn;
        }
        if leg.toes.is_some() {
            toes = arc(&(turn * leg.front_rotation(step) * leg.up[1]), &Vec3::y(), &Vec3::x());
        }
    }
    (turn, toes)
}

/// The angle about the line from heel to toe by which the sole of a turned foot must be turned to lie level.
fn lean(leg: &Leg, step: &Step, turn: &Quat) -> f64 {
    let along = turn * (leg.pivot(step) - step.foot.point(&leg.heel));
    let Some(along) = along.try_normalize(1e-9) else { return 0.0 };
    let across = |v: Vec3| level(&v, &along);
    let (up, want) = (across(turn * step.foot.rotation * leg.up[0]), across(Vec3::y()));
    up.cross(&want).dot(&along).atan2(up.dot(&want))
}

/// Turns a foot that rests on one end about it, where the other end would be in the floor, and bends toes up that
/// would be.
fn turn_out_of_floor(
    leg: &Leg,
    steps: &[Step],
    locks: &Locks,
    floor: &[f64],
    changes: &mut [Change],
    reach: f64,
) {
    let n = steps.len();
    if leg.toes.is_none() {
        // A foot that does not bend and would roll off through the floor pitches less instead of being lifted.
        let needed: Vec<f64> = (0..n)
            .map(|f| {
                let moved = leg.changed(&steps[f], &changes[f]);
                let ankle = moved.foot.translation;
                match locks.held[f] {
                    Held::Flat(..) | Held::Heel(_) => 0.0,
                    _ => raise(&(leg.sole(&moved)[1] - ankle), ankle.y - floor[f]).min(TOES_UP),
                }
            })
            .collect();
        let less =
            envelope(&needed, |f| matches!(locks.held[f], Held::Flat(..) | Held::Heel(_)), reach as usize);
        (0..n).for_each(|f| pitch(leg, &steps[f], &mut changes[f], -less[f]));
    }
    let (mut heel_up, mut front_up) = (vec![0.0; n], vec![0.0; n]);
    for (f, step) in steps.iter().enumerate() {
        let [heel, ball, tip] = leg.sole(&leg.changed(step, &changes[f]));
        match locks.held[f] {
            Held::Ball(k) => heel_up[f] = raise(&(heel - ball), locks.ball[k].at.y - floor[f]),
            Held::Heel(i) => {
                let base = locks.heel[i].at.y - floor[f];
                front_up[f] = raise(&(ball - heel), base).max(raise(&(tip - heel), base));
            }
            Held::Free | Held::Flat(..) => {}
        }
    }
    let stays =
        |f: usize, other: fn(&Held) -> bool| matches!(locks.held[f], Held::Flat(..)) || other(&locks.held[f]);
    let heel_up = envelope(&heel_up, |f| stays(f, |h| matches!(h, Held::Heel(_))), reach as usize);
    let front_up = envelope(&front_up, |f| stays(f, |h| matches!(h, Held::Ball(_))), reach as usize);
    for (f, step) in steps.iter().enumerate() {
        pitch(leg, step, &mut changes[f], heel_up[f] - front_up[f]);
        if let Held::Ball(k) | Held::Flat(_, k) = locks.held[f] {
            toes_out_of_floor(leg, step, locks.ball[k].at.y - floor[f], &mut changes[f]);
        }
    }
}

/// Turns a foot about its ankle so that the heel rises against the front by this angle.
pub fn pitch(leg: &Leg, step: &Step, change: &mut Change, angle: f64) {
    let [heel, ball, _] = leg.sole(&leg.changed(step, change));
    if angle != 0.0
        && let Some(axis) = level(&(heel - ball), &Vec3::y()).cross(&Vec3::y()).try_normalize(1e-9)
    {
        change.turn = log(&(exp(&(axis * angle)) * exp(&change.turn)));
    }
}

/// Bends toes up whose tip is in the floor while their ball rests `base` metres above it.
pub fn toes_out_of_floor(leg: &Leg, step: &Step, base: f64, change: &mut Change) {
    if leg.toes.is_some() {
        let [_, ball, tip] = leg.sole(&leg.changed(step, change));
        bend_toes(&(tip - ball), raise(&(tip - ball), base), change);
    }
}

/// The angle by which a lever with one end at `base` metres above the floor is raised until the other is out of it.
fn raise(lever: &Vec3, base: f64) -> f64 {
    let base = base + DIP;
    if base + lever.y >= 0.0 {
        return 0.0;
    }
    let length = lever.norm().max(1e-9);
    (-base / length).clamp(-1.0, 1.0).asin() - (lever.y / length).clamp(-1.0, 1.0).asin()
}

/// Turns the toes up about the ball.
fn bend_toes(lever: &Vec3, angle: f64, change: &mut Change) {
    if angle <= 0.0 {
        return;
    }
    if let Some(axis) = level(lever, &Vec3::y()).cross(&Vec3::y()).try_normalize(1e-9) {
        change.toes = log(&(exp(&(axis * angle.min(TOES_UP))) * exp(&change.toes)));
    }
}

/// Moves the ankle so that what rests is on its lock.
fn put_on_locks(leg: &Leg, steps: &[Step], locks: &Locks, changes: &mut [Change], reach: f64) {
    let mut shifts = vec![Vec3::zeros(); steps.len()];
    for (f, step) in steps.iter().enumerate() {
        let [heel, ball, _] = leg.sole(&leg.changed(step, &changes[f]));
        shifts[f] = match locks.held[f] {
            Held::Free => continue,
            Held::Heel(i) => locks.heel[i].at - heel,
            Held::Ball(k) | Held::Flat(_, k) => locks.ball[k].at - ball,
        };
    }
    // Where the foot is not quite as long as its locks are apart, the ball is exact, and a heel that rests before or
    // after takes up the difference little by little.
    let flat: Vec<bool> = locks.held.iter().map(|h| matches!(h, Held::Flat(..))).collect();
    let mut misfit = vec![Vec3::zeros(); steps.len()];
    for (f, step) in steps.iter().enumerate() {
        if let Held::Flat(i, _) = locks.held[f] {
            let change = Change { shift: shifts[f], ..changes[f] };
            misfit[f] = leg.sole(&leg.changed(step, &change))[0] - locks.heel[i].at;
        }
    }
    ramps(&mut misfit, &flat, reach);
    for ((shift, misfit), held) in shifts.iter_mut().zip(&misfit).zip(&locks.held) {
        if matches!(held, Held::Heel(_)) {
            *shift += misfit;
        }
    }
    let known: Vec<bool> = locks.held.iter().map(|&h| h != Held::Free).collect();
    ramps(&mut shifts, &known, reach);
    changes.iter_mut().zip(shifts).for_each(|(c, s)| c.shift = s);
}

/// Lifts the foot out of the floor while nothing of it rests, and bends up toes whose tip alone is in it.
fn lift(leg: &Leg, steps: &[Step], locks: &Locks, floor: &[f64], changes: &mut [Change], reach: f64) {
    let deepest = |f: usize, change: &Change| {
        let [heel, ball, tip] = leg.sole(&leg.changed(&steps[f], change));
        let low = heel.y.min(ball.y).min(if leg.toes.is_some() { f64::INFINITY } else { tip.y });
        floor[f] - low
    };
    let free = |f: usize| locks.held[f] == Held::Free;
    let needed: Vec<f64> = (0..steps.len())
        .map(|f| if free(f) { (deepest(f, &changes[f]) - DIP).max(0.0) } else { 0.0 })
        .collect();
    let lifts = envelope(&needed, |f| !free(f), reach as usize);
    for (f, step) in steps.iter().enumerate() {
        if !free(f) {
            continue;
        }
        changes[f].shift.y += lifts[f];
        if leg.toes.is_some() {
            let moved = leg.changed(step, &changes[f]);
            let [_, _, tip] = leg.sole(&moved);
            let lever = tip - moved.toes.translation;
            bend_toes(&lever, raise(&lever, moved.toes.translation.y - floor[f]), &mut changes[f]);
        }
    }
}
