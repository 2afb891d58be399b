//! The locks of a foot become the change of its every frame: turned flat, put on its locks, kept out of the floor.
//!
//! Turns come first, since they move the points; then the way of the ankle that puts the resting point on its lock;
//! then the lift of frames in which nothing rests. Each is exact while its cause lasts and falls to zero outside it
//! ([`ramps`], [`envelope`]). Space: model space, Y up. Units: metres, radians, frames.

use super::leg::{Change, Leg, Step, level};
use super::lock::{Held, Locks, median};
use super::pelvis::share;
use super::ramp::{envelope, ramps};
use crate::math::{Quat, Vec3, arc, exp, log};

/// A sole that rests on heel and ball and leans to a side by less than this is laid flat, in radians.
const FLAT: f64 = 12.0 / 180.0 * std::f64::consts::PI;

/// What a point may dip into the floor before something is done about it, metres.
const DIP: f64 = 5e-4;

/// The most that toes are bent, up or down, to keep their tip out of the floor, radians.
const TOES_BENT: f64 = 1.7;

/// Toes that bend up and then down go from one to the other no faster than this in the time of getting out of the floor,
/// radians: 30 a second.
const TOES_FAST: f64 = 3.0;

/// Toes bend the other way where that takes less than this part of the turn.
const INSTEP: f64 = 0.7;

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
    lay_flat(leg, steps, locks, &mut changes, [reach, blend]);
    turn_out_of_floor(leg, steps, locks, floor, &mut changes, reach);
    put_on_locks(leg, steps, locks, &mut changes, [reach, blend]);
    lift(leg, steps, locks, floor, &mut changes, reach);
    changes
}

/// Turns a foot that rests on heel and ball so that both can be on their locks, and its toes so that they lie on the
/// floor.
fn lay_flat(leg: &Leg, steps: &[Step], locks: &Locks, changes: &mut [Change], [reach, blend]: [f64; 2]) {
    let mut held: Vec<Option<(Vec3, Vec3, bool)>> = vec![None; steps.len()];
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
        held[from..f].fill(Some((heel, ball, lean < FLAT)));
    }
    let turn =
        |(heel, ball, level): (Vec3, Vec3, bool), f: usize| flat_turn(leg, &steps[f], heel, ball, level);
    let turns = ramps(&held, |flat, f| log(&turn(flat, f).0), blend, reach as usize);
    let toes = ramps(&held, |flat, f| log(&turn(flat, f).1), blend, reach as usize);
    for ((change, turn), toes) in changes.iter_mut().zip(turns).zip(toes) {
        (change.turn, change.toes) = (turn, toes);
    }
}

/// The turns of foot and toes with which heel and ball are on their locks and the toes lie flat and in line with the
/// foot, as they do while it stands.
fn flat_turn(leg: &Leg, step: &Step, heel: Vec3, ball: Vec3, level_sole: bool) -> (Quat, Quat) {
    let from = leg.pivot(step) - step.foot.point(&leg.heel);
    let heading = level(&(ball - heel), &Vec3::y());
    let front = exp(&(Vec3::y() * heading.x.atan2(heading.z))) * leg.front_flat;
    let pivot = if leg.toes.is_some() { ball - front * leg.front[0] } else { ball };
    let mut turn = arc(&from, &(pivot - heel), &Vec3::y());
    if level_sole {
        let along = (pivot - heel).try_normalize(1e-9).unwrap_or(Vec3::z());
        turn = exp(&(along * lean(leg, step, &turn))) * turn;
    }
    let toes = match leg.toes {
        Some(_) => front * (turn * leg.front_rotation(step)).inverse(),
        None => Quat::identity(),
    };
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
                    Held::Free => {
                        let lever = leg.sole(&moved)[1] - ankle;
                        raise(&lever, &-axis(leg, &moved), ankle.y - floor[f]).min(TOES_BENT)
                    }
                    _ => 0.0,
                }
            })
            .collect();
        let less = envelope(&needed, |f| locks.held[f] != Held::Free, reach as usize);
        // Near a rest it is still on its lock's way, which lifts it.
        let near = share(&locks.held, 0.0, reach);
        (0..n).for_each(|f| pitch(leg, &steps[f], &mut changes[f], -less[f] * (1.0 - near[f])));
    }
    let (mut heel_up, mut front_up) = (vec![0.0; n], vec![0.0; n]);
    for (f, step) in steps.iter().enumerate() {
        let moved = leg.changed(step, &changes[f]);
        let ([heel, ball, tip], axis) = (leg.sole(&moved), axis(leg, &moved));
        match locks.held[f] {
            Held::Ball(k) => heel_up[f] = raise(&(heel - ball), &axis, locks.ball[k].at.y - floor[f]),
            Held::Heel(i) => {
                let base = locks.heel[i].at.y - floor[f];
                front_up[f] = raise(&(ball - heel), &-axis, base).max(raise(&(tip - heel), &-axis, base));
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

/// The axis about which the heel of a step rises against the front.
pub fn axis(leg: &Leg, step: &Step) -> Vec3 {
    step.foot.rotation * leg.across[0]
}

/// Turns a foot about its ankle so that the heel rises against the front by this angle.
pub fn pitch(leg: &Leg, step: &Step, change: &mut Change, angle: f64) {
    if angle != 0.0 {
        let axis = axis(leg, &leg.changed(step, change));
        change.turn = log(&(exp(&(axis * angle)) * exp(&change.turn)));
    }
}

/// Bends toes up whose tip is in the floor while their ball rests `base` metres above it.
pub fn toes_out_of_floor(leg: &Leg, step: &Step, base: f64, change: &mut Change) {
    if leg.toes.is_some() {
        let moved = leg.changed(step, change);
        let [_, ball, tip] = leg.sole(&moved);
        bend_toes(leg, &moved, toes_angle(leg, &moved, &(tip - ball), base), change);
    }
}

/// The angle about an axis by which a lever with one end at `base` metres above the floor is turned until the other is
/// out of it.
///
/// Its height is `a_y (a . l) + A cos t + B sin t` with `A = l_y - a_y (a . l)` and `B = (a x l)_y`.
fn raise(lever: &Vec3, axis: &Vec3, base: f64) -> f64 {
    let base = base + DIP;
    if base + lever.y >= 0.0 {
        return 0.0;
    }
    let along = axis.y * axis.dot(lever);
    let (a, b) = (lever.y - along, axis.cross(lever).y);
    let (most, at) = (a.hypot(b), b.atan2(a).rem_euclid(std::f64::consts::TAU));
    if most < 1e-6 {
        return 0.0;
    }
    at - ((-base - along) / most).clamp(-1.0, 1.0).acos()
}

/// The axis about which the toes of a step bend up.
fn toes_axis(leg: &Leg, step: &Step) -> Vec3 {
    -(step.toes.rotation * leg.across[1])
}

/// The angle by which toes bend up about their joint until the end of a lever is out of the floor, or, below 0, by which
/// they bend down where a foot lies on its instep and that is much shorter.
fn toes_angle(leg: &Leg, moved: &Step, lever: &Vec3, base: f64) -> f64 {
    let axis = toes_axis(leg, moved);
    let [up, down] = [axis, -axis].map(|axis| raise(lever, &axis, base));
    if down < INSTEP * up { -down.min(TOES_BENT) } else { up.min(TOES_BENT) }
}

/// Bends the toes of a moved foot up by an angle.
fn bend_toes(leg: &Leg, moved: &Step, angle: f64, change: &mut Change) {
    if angle != 0.0 {
        change.toes = log(&(exp(&(toes_axis(leg, moved) * angle)) * exp(&change.toes)));
    }
}

/// Moves the ankle so that what rests is on its lock.
fn put_on_locks(leg: &Leg, steps: &[Step], locks: &Locks, changes: &mut [Change], [reach, blend]: [f64; 2]) {
    let lock = |held: &Held| match *held {
        Held::Free => None,
        Held::Heel(i) => Some((0, locks.heel[i].at)),
        Held::Ball(k) | Held::Flat(_, k) => Some((1, locks.ball[k].at)),
    };
    let held: Vec<Option<(usize, Vec3)>> = locks.held.iter().map(lock).collect();
    let soles: Vec<_> = steps.iter().zip(&*changes).map(|(s, c)| leg.sole(&leg.changed(s, c))).collect();
    let shifts = ramps(&held, |(point, at), f| at - soles[f][point], blend, reach as usize);
    changes.iter_mut().zip(shifts).for_each(|(c, s)| c.shift = s);
}

/// Lifts the foot out of the floor while nothing of it rests, and bends toes out of it.
fn lift(leg: &Leg, steps: &[Step], locks: &Locks, floor: &[f64], changes: &mut [Change], reach: f64) {
    let free = |f: usize| locks.held[f] == Held::Free;
    let deepest = |f: usize, change: &Change, tip_counts: bool| {
        let [heel, ball, tip] = leg.sole(&leg.changed(&steps[f], change));
        floor[f] - heel.y.min(ball.y).min(if tip_counts { tip.y } else { f64::INFINITY })
    };
    // Toes that are bent press their ball down, and what they do not bend leaves their tip in the floor.
    for tip_counts in [leg.toes.is_none(), true] {
        let deep = |f: usize| (deepest(f, &changes[f], tip_counts) - DIP).max(0.0);
        let needed: Vec<f64> = (0..steps.len()).map(|f| if free(f) { deep(f) } else { 0.0 }).collect();
        let lifts = envelope(&needed, |f| !free(f), reach as usize);
        for f in (0..steps.len()).filter(|&f| free(f)) {
            changes[f].shift.y += lifts[f];
        }
        if leg.toes.is_none() {
            continue;
        }
        let moved: Vec<Step> = steps.iter().zip(&*changes).map(|(s, c)| leg.changed(s, c)).collect();
        let bent: Vec<f64> =
            moved.iter().zip(&*changes).map(|(step, c)| c.toes.dot(&toes_axis(leg, step))).collect();
        let more = |f: usize| {
            let (toes, tip) = (moved[f].toes.translation, leg.sole(&moved[f])[2]);
            if free(f) { toes_angle(leg, &moved[f], &(tip - toes), toes.y - floor[f]) } else { 0.0 }
        };
        let more: Vec<f64> = (0..steps.len()).map(more).collect();
        let mut angles: Vec<f64> = bent.iter().zip(&more).map(|(bent, more)| bent + more).collect();
        // Toes do not turn over from one frame to the next.
        let (most, mut turning) = (TOES_FAST / reach, false);
        for f in 1..angles.len() {
            turning = free(f) && free(f - 1) && (turning || more[f] * more[f - 1] < 0.0);
            if turning {
                let wanted = angles[f];
                angles[f] = wanted.clamp(angles[f - 1] - most, angles[f - 1] + most);
                turning = angles[f] != wanted;
            }
        }
        for f in (0..steps.len()).filter(|&f| free(f)) {
            bend_toes(leg, &moved[f], angles[f] - bent[f], &mut changes[f]);
        }
    }
}
