//! Feet that ask more of a joint than it can give way: the ball stays, the heel or the side of the foot rises.
//!
//! The pelvis gets lower where thighs are too far back: bent legs ask less of them. Ankles and toes of the planted motion
//! come into their ranges by the least and smoothest turns ([`keep`]), and heels rise by what thighs still are too far
//! back. The feet take these turns about their balls (about their heels while those rest
//! alone), pelvis and knees follow, and what the shins, which moved, then ask of the ankles is asked for again. Last,
//! knees that bend sideways roll ([`roll_limbs`]). Space: model space, Y up. Units: metres, radians.

use super::arrived::Arrived;
use super::leg::{Change, Leg, Sole, Step, read};
use super::lock::Held;
use super::ramp::{envelope, fall};
use super::work::Work;
use crate::ik::{Limit, Mechanism};
use crate::limits::{self, keep, roll_limbs};
use crate::math::{Transform, Vec3, exp, log, twist_angle};
use crate::model::{ContactPart, JointId, Motion};

/// The ranges of the joints of a body, and the joints that shall keep to them.
#[derive(Clone, Copy, Debug)]
pub struct Ranges<'a> {
    /// The ranges.
    pub mechanism: &'a Mechanism,
    /// The joints.
    pub joints: &'a [JointId],
}

/// How often what is asked for is asked for again.
const ROUNDS: usize = 12;

/// Joints outside by less than this are inside, radians.
const NEAR: f64 = 2e-3;

/// A thigh that is further back than this is brought forward by no heel, radians.
const FAR_BACK: f64 = 0.1;

/// The most that a leg becomes shorter for its thigh at a time, as an angle between the two, radians.
const SHORTER: f64 = 0.3;

/// How often the pelvis gets lower for thighs.
const LOWERING: usize = 2;

/// The most that a heel rises for a thigh, radians.
const MOST: f64 = 0.3;

/// How long it takes to, in transitions.
const RISE: f64 = 2.5;

/// A foot that comes no nearer to its range than this part of where it was is not helped.
const HELPED: f64 = 0.5;

/// How long before it must a foot that turns gets out of the floor, in transitions, and by how much more than it must it
/// then rises at most, metres for legs of 0.9 m.
const EARLY: f64 = 0.5;
const EARLY_LIFT: f64 = 0.01;

/// What gave way by more than this no longer rests, metres for legs of 0.9 m.
const LEFT: f64 = 2e-4;

/// The motion planted with these `changes`, whose feet then give way; labels end where they do.
pub fn give_way(arrived: &Arrived<'_>, mut changes: Vec<Vec<Change>>, ranges: &Ranges<'_>) -> (Motion, Work) {
    let frames = arrived.motion.clip.frames();
    let mut longest = vec![vec![f64::INFINITY; frames]; arrived.legs.len()];
    let mut feet: Vec<Foot> = (0..arrived.legs.len()).map(|k| Foot::of(arrived, k, ranges)).collect();
    let mut planted = arrived.close(changes.clone(), None);
    for _ in 0..LOWERING {
        if !shorten(&feet, &planted.0, ranges.mechanism, &mut longest) {
            break;
        }
        planted = arrived.close(changes.clone(), Some(&longest));
    }
    feet.iter_mut().for_each(|foot| foot.judge_thigh(&planted.0, ranges.mechanism));
    let (locked, lying) = (planted.0.clone(), changes.clone());
    for _ in 0..ROUNDS {
        let outside = |id: &JointId| worst(&planted.0, ranges.mechanism, *id) > NEAR;
        let ends: Vec<JointId> = feet.iter().flat_map(Foot::ends).filter(outside).collect();
        let thighs = feet.iter().any(|foot| foot.heel_helps && outside(&foot.leg.upper));
        if ends.is_empty() && !thighs {
            break;
        }
        let (kept, _) = keep(planted.0.clone(), ranges.mechanism, &ends, &limits::Options::default());
        let (before, after) = (read(&planted.0, &arrived.legs), read(&kept, &arrived.legs));
        for (k, foot) in feet.iter_mut().enumerate() {
            foot.turn(&kept, ranges.mechanism, [&arrived.steps[k], &before[k], &after[k]], &mut changes[k]);
        }
        planted = arrived.close(changes.clone(), Some(&longest));
    }
    // A foot that no giving way helps stays where it was put.
    let helpless = |foot: &Foot| {
        let worst = |motion| foot.ends().map(|id| worst(motion, ranges.mechanism, id)).fold(0.0, f64::max);
        let (before, after) = (worst(&locked), worst(&planted.0));
        after > NEAR && after > HELPED * before
    };
    let helpless: Vec<usize> = (0..feet.len()).filter(|&k| helpless(&feet[k])).collect();
    if !helpless.is_empty() {
        helpless.iter().for_each(|&k| changes[k].clone_from(&lying[k]));
        planted = arrived.close(changes, Some(&longest));
    }
    let (motion, mut work) = planted;
    let sideways = |foot: &&Foot<'_>| worst(&motion, ranges.mechanism, foot.leg.lower) > NEAR;
    let limbs: Vec<JointId> = feet.iter().filter(sideways).flat_map(Foot::limb).collect();
    let (mut motion, _) = roll_limbs(motion, ranges.mechanism, &limbs, &limits::Options::default());
    if motion.clip != locked.clip {
        release(&locked, &mut motion, &arrived.legs, &mut work);
    }
    (motion, work)
}

/// Asks legs of `planted` whose thighs are too far back to be so short that they are not, which lowers the pelvis; says
/// whether there were any.
///
/// With the angle `t` between thigh and the line from hip to ankle that brings the thigh inside, and bones of lengths
/// `a` and `b`, that line is `a cos t + sqrt(b^2 - a^2 sin^2 t)` long.
fn shorten(feet: &[Foot<'_>], planted: &Motion, mechanism: &Mechanism, longest: &mut [Vec<f64>]) -> bool {
    let mut any = false;
    for (foot, longest) in feet.iter().zip(longest) {
        for (f, back) in foot.too_far_back(planted, mechanism).into_iter().enumerate() {
            if back <= NEAR {
                continue;
            }
            let step = foot.leg.step(&planted.model_pose(f));
            let [hip, knee, ankle] = [step.upper, step.lower, step.foot].map(|t| t.translation);
            let (thigh, shin, line) = (knee - hip, ankle - knee, ankle - hip);
            let angle = thigh.cross(&line).norm().atan2(thigh.dot(&line)) + back.min(SHORTER);
            let (a, b) = (thigh.norm(), shin.norm());
            let across = a * angle.sin();
            if across < b {
                longest[f] = a * angle.cos() + (b * b - across * across).sqrt();
                any = true;
            }
        }
    }
    any
}

/// How far a joint is outside its range at most.
fn worst(motion: &Motion, mechanism: &Mechanism, id: JointId) -> f64 {
    let excess = |f| mechanism.excess(id, &motion.clip.local(mechanism.skeleton(), f, id));
    (0..motion.clip.frames()).map(excess).fold(0.0, f64::max)
}

/// A foot that may give way.
struct Foot<'a> {
    leg: &'a Leg,
    /// Those of its leg's joints that keep to their ranges: the ones that arrive inside.
    joints: Vec<JointId>,
    /// How far it turns about its ball, 1, or about its heel, 0.
    about_ball: Vec<f64>,
    /// Whether anything of it rests.
    rests: Vec<bool>,
    /// The height of the floor under it.
    floor: &'a [f64],
    /// How long a transition is, in frames.
    reach: f64,
    /// Whether its heel rises for its thigh, and by how much it has.
    heel_helps: bool,
    raised: Vec<f64>,
}

impl<'a> Foot<'a> {
    fn of(arrived: &'a Arrived<'_>, k: usize, ranges: &Ranges<'_>) -> Self {
        let leg = &arrived.legs[k];
        let inside =
            |id: &JointId| ranges.joints.contains(id) && worst(arrived.motion, ranges.mechanism, *id) <= NEAR;
        let all = [Some(leg.upper), Some(leg.lower), Some(leg.foot), leg.toes];
        Self {
            leg,
            joints: all.into_iter().flatten().filter(inside).collect(),
            about_ball: about_ball(&arrived.helds[k], arrived.reach),
            rests: arrived.helds[k].iter().map(|held| *held != Held::Free).collect(),
            floor: &arrived.floors[k],
            reach: arrived.reach,
            heel_helps: false,
            raised: vec![0.0; arrived.steps[k].len()],
        }
    }

    /// Ankle and toes.
    fn ends(&self) -> impl Iterator<Item = JointId> {
        let ends = [Some(self.leg.foot), self.leg.toes];
        ends.into_iter().flatten().filter(|id| self.joints.contains(id))
    }

    /// Thigh and shin.
    fn limb(&self) -> impl Iterator<Item = JointId> {
        [self.leg.upper, self.leg.lower].into_iter().filter(|id| self.joints.contains(id))
    }

    /// Whether the thigh is too far back by so little that a heel can help.
    fn judge_thigh(&mut self, planted: &Motion, mechanism: &Mechanism) {
        let back = self.too_far_back(planted, mechanism);
        self.heel_helps = back.iter().any(|b| *b > NEAR) && back.iter().all(|b| *b <= FAR_BACK);
    }

    /// How far the thigh is behind its range in every frame.
    fn too_far_back(&self, motion: &Motion, mechanism: &Mechanism) -> Vec<f64> {
        let thigh = self.leg.upper;
        let limit = match mechanism.limit(thigh) {
            Some(Limit::SwingTwist(limit)) if self.joints.contains(&thigh) => limit,
            _ => return vec![0.0; motion.clip.frames()],
        };
        let behind = |f: usize| {
            let angles = limit.angles(&motion.clip.rotations(f)[thigh.index()]);
            if angles[0] < 0.0 { limit.nearest(angles)[0] - angles[0] } else { 0.0 }
        };
        (0..motion.clip.frames()).map(behind).collect()
    }

    /// Changes the foot in the frames in which its ankle or toes turned from `planted` to `after`, as in `kept`, and in
    /// those in which its heel rises for the thigh.
    fn turn(
        &mut self,
        kept: &Motion,
        mechanism: &Mechanism,
        [arrived, planted, after]: [&[Step]; 3],
        changes: &mut [Change],
    ) {
        let steps: Vec<(Step, f64)> =
            (0..arrived.len()).map(|f| self.level_toes(&planted[f], &after[f], kept, f, mechanism)).collect();
        // What toes cannot bend the foot does.
        let short: Vec<f64> = steps.iter().map(|(_, short)| *short).collect();
        let down = envelope(&short, |_| false, self.reach as usize);
        let mut up = vec![0.0; arrived.len()];
        if self.heel_helps {
            let back = self.too_far_back(kept, mechanism);
            let asked = back.iter().zip(&self.raised).map(|(back, raised)| back.min(MOST - raised).max(0.0));
            up = envelope(&asked.collect::<Vec<_>>(), |_| false, (RISE * self.reach) as usize);
        }
        let mut deep = vec![0.0; arrived.len()];
        for (f, (mut step, _)) in steps.into_iter().enumerate() {
            if step == planted[f] && down[f] == 0.0 && up[f] == 0.0 {
                continue;
            }
            self.raised[f] += up[f];
            let pitch = exp(&(step.foot.rotation * self.leg.across[0] * (up[f] - down[f])));
            step.foot.rotation = pitch * step.foot.rotation;
            step.toes.rotation = pitch * step.toes.rotation;
            (changes[f], deep[f]) = self.change(f, &arrived[f], &planted[f], &step);
        }
        // A foot gets out of the floor before it must.
        let lifts = envelope(&deep, |f| self.rests[f], (EARLY * self.reach) as usize);
        let more = EARLY_LIFT * self.leg.reach / 0.9;
        for ((change, lift), deep) in changes.iter_mut().zip(lifts).zip(&deep) {
            change.shift.y += lift.min(deep + more);
        }
    }

    /// The step with its toes, which follow the foot, bent to where they come nearest to how they were `planted`, within
    /// their range; and by how much they fall short of bending up.
    fn level_toes(
        &self,
        planted: &Step,
        kept: &Step,
        motion: &Motion,
        frame: usize,
        mechanism: &Mechanism,
    ) -> (Step, f64) {
        let mut step = *kept;
        let Some(toes) = self.leg.toes.filter(|_| planted != kept) else { return (step, 0.0) };
        let local = motion.clip.local(mechanism.skeleton(), frame, toes);
        let above = step.toes.rotation * local.rotation.inverse();
        let axis = step.toes.rotation * self.leg.across[1];
        let away = planted.toes.rotation * step.toes.rotation.inverse();
        let level = exp(&(axis * twist_angle(&away, &axis))) * step.toes.rotation;
        let mut bent = Transform { rotation: above.inverse() * level, ..local };
        if self.joints.contains(&toes) {
            bent = mechanism.limited(toes, &bent);
        }
        step.toes.rotation = above * bent.rotation;
        let short = log(&(level * step.toes.rotation.inverse()));
        (step, (-short.dot(&axis)).max(0.0))
    }

    /// The change with which a foot that `arrived` is turned as in `step`, its ball (or heel) where it was `planted`, and
    /// how much deeper in the floor its sole then is.
    fn change(&self, frame: usize, arrived: &Step, planted: &Step, step: &Step) -> (Change, f64) {
        let leg = self.leg;
        let turn = step.foot.rotation * arrived.foot.rotation.inverse();
        let toes = match leg.toes {
            Some(_) => log(&(step.toes.rotation * (turn * arrived.toes.rotation).inverse())),
            None => Vec3::zeros(),
        };
        let mut change = Change { turn: log(&turn), toes, shift: Vec3::zeros() };
        let (old, new) = (leg.sole(planted), leg.sole(&leg.changed(arrived, &change)));
        let about_ball = self.about_ball[frame];
        change.shift = (old[1] - new[1]) * about_ball + (old[0] - new[0]) * (1.0 - about_ball);
        let lowest = |sole: &Sole| sole.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let least = lowest(&old).min(self.floor[frame]);
        (change, (least - lowest(&new) - change.shift.y).max(0.0))
    }
}

/// How far a foot turns about its ball, 1, or about its heel, 0.
fn about_ball(held: &[Held], reach: f64) -> Vec<f64> {
    let mut share = vec![1.0_f64; held.len()];
    let mut distance = usize::MAX;
    for f in (0..held.len()).chain((0..held.len()).rev()) {
        let on_heel = matches!(held[f], Held::Heel(_));
        distance = if on_heel { 0 } else { distance.saturating_add(1) };
        share[f] = share[f].min(1.0 - fall(distance as f64, reach));
    }
    share
}

/// Ends the holds of heels and balls that gave way from where they were `locked`.
fn release(locked: &Motion, planted: &mut Motion, legs: &[Leg], work: &mut Work) {
    let (before, after) = (read(locked, legs), read(planted, legs));
    let Some(contacts) = &mut planted.contacts else { return };
    for (k, leg) in legs.iter().enumerate() {
        let most = LEFT * leg.reach / 0.9;
        let parts = [ContactPart::Heel(leg.side), ContactPart::Ball(leg.side)];
        let left = |f: usize, point: usize| {
            let (Some(before), Some(after)) = (before[k].get(f), after[k].get(f)) else { return false };
            (leg.sole(before)[point] - leg.sole(after)[point]).norm() > most
        };
        let gave = |f: &usize| (0..2).any(|point| contacts.rests(parts[point], *f) && left(*f, point));
        let frames: Vec<usize> = (0..before[k].len()).filter(gave).collect();
        work.feet[k].gave_way = (frames.len(), frames.first().copied().unwrap_or(0));
        parts.iter().enumerate().for_each(|(point, part)| contacts.release(*part, |f| left(f, point)));
    }
}
