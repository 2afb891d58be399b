//! Feet that rest are put where they rest: the exact closure of contacts, before the physics and after it.
//!
//! A resting point is held at one place, the median of where the clip has it, on the height that its label says. Points
//! of one foot that rest together keep their distance, so that a foot that rolls from heel to ball does not jump. A foot
//! is moved as a whole, with the toes; outside of its rests the correction fades. Source: lock points and transitions
//! after section 5.5 of the design's algorithms (smoothstep ramps). Space: model space. Units: metres, frames.

use super::floor::Floor;
use super::leg::Leg;
use crate::math::{Quat, Transform, Vec3, arc, exp, log};
use crate::model::{ContactPart, ContactPoint, ModelPose, Pose, Skeleton};
use rayon::prelude::*;

/// Seconds over which a correction fades outside of a rest.
const RAMP: f64 = 0.15;

/// A place where a part rests for a time.
#[derive(Clone, Debug, PartialEq)]
struct Lock {
    part: ContactPart,
    frames: std::ops::Range<usize>,
    at: Vec3,
}

/// A rigid correction of a foot: a shift of its ankle and a turn about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Correction {
    shift: Vec3,
    turn: Vec3,
}

impl Correction {
    fn scaled(&self, k: f64) -> Self {
        Self { shift: self.shift * k, turn: self.turn * k }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { shift: self.shift + other.shift, turn: self.turn + other.turn }
    }
}

/// The feet of a body and the points of their soles.
#[derive(Clone, Debug)]
pub struct Feet<'a> {
    skeleton: &'a Skeleton,
    legs: Vec<Leg>,
    points: Vec<ContactPoint>,
}

pub(super) fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn median_point(points: &[Vec3]) -> Vec3 {
    Vec3::from_fn(|r, _| median(points.iter().map(|p| p[r]).collect()))
}

impl<'a> Feet<'a> {
    /// The feet of a body with these legs and contact points.
    pub fn new(skeleton: &'a Skeleton, legs: Vec<Leg>, points: &[ContactPoint]) -> Self {
        let points = points.iter().filter(|p| p.part.of_foot()).copied().collect();
        Self { skeleton, legs, points }
    }

    fn point(&self, part: ContactPart) -> Option<&ContactPoint> {
        self.points.iter().find(|p| p.part == part)
    }

    fn labelled(&self, leg: &Leg) -> [ContactPart; 2] {
        [ContactPart::Heel(leg.side), ContactPart::Ball(leg.side)]
    }

    fn models(&self, poses: &[Pose]) -> Vec<ModelPose> {
        poses.par_iter().map(|p| ModelPose::of(self.skeleton, p)).collect()
    }

    /// Where the parts of one leg's foot rest, in order of time.
    fn locks(&self, leg: &Leg, models: &[ModelPose], floor: &Floor) -> Vec<Lock> {
        let place =
            |part: ContactPart, f: usize| self.point(part).map(|p| models[f].joint(p.joint).point(&p.at));
        let mut holds: Vec<(ContactPart, &crate::model::Hold)> = Vec::new();
        for part in self.labelled(leg).into_iter().filter(|&p| self.point(p).is_some()) {
            holds.extend(floor.contacts().holds(part).iter().map(|h| (part, h)));
        }
        holds.sort_by_key(|(part, h)| (h.frames.start, *part));
        let mut locks: Vec<Lock> = Vec::new();
        for (part, hold) in holds {
            let frames = hold.frames.start..hold.frames.end.min(models.len());
            if frames.is_empty() {
                continue;
            }
            let all: Vec<Vec3> = frames.clone().filter_map(|f| place(part, f)).collect();
            let mut at = median_point(&all);
            let partner = locks.iter().rev().find(|l| l.part != part && l.frames.end > frames.start);
            if let Some(partner) = partner {
                let both = frames.start..frames.end.min(partner.frames.end);
                let apart: Vec<Vec3> =
                    both.filter_map(|f| Some(place(part, f)? - place(partner.part, f)?)).collect();
                let length = median(apart.iter().map(|v| v.norm()).collect());
                let mut way = median_point(&apart);
                way.y = hold.height - partner.at.y;
                let flat = Vec3::new(way.x, 0.0, way.z);
                let across = (length * length - way.y * way.y).max(0.0).sqrt();
                at = partner.at + flat.try_normalize(1e-6).map_or(flat, |d| d * across);
            }
            at.y = hold.height;
            locks.push(Lock { part, frames, at });
        }
        locks
    }

    /// How the foot must move in a pose so that what rests is where it shall rest; `None` where nothing rests.
    fn correction(&self, leg: &Leg, locks: &[Lock], frame: usize, model: &ModelPose) -> Option<Correction> {
        let ankle = model.position(leg.foot);
        let resting: Vec<(Vec3, Vec3)> = locks
            .iter()
            .filter(|l| l.frames.contains(&frame))
            .filter_map(|l| Some((self.point(l.part).map(|p| model.joint(p.joint).point(&p.at))?, l.at)))
            .collect();
        match resting.as_slice() {
            [] => None,
            [(from, to)] => Some(Correction { shift: to - from, turn: Vec3::zeros() }),
            [(a, to_a), (b, to_b), ..] => {
                let turn = arc(&(b - a), &(to_b - to_a), &Vec3::y());
                let (middle, to) = ((a + b) * 0.5, (to_a + to_b) * 0.5);
                Some(Correction { shift: to - (ankle + turn * (middle - ankle)), turn: log(&turn) })
            }
        }
    }

    /// Corrections of one leg for every frame, faded outside of its rests.
    fn corrections(&self, leg: &Leg, models: &[ModelPose], floor: &Floor, rate: f64) -> Vec<Correction> {
        let locks = self.locks(leg, models, floor);
        let own: Vec<Option<Correction>> =
            models.iter().enumerate().map(|(f, model)| self.correction(leg, &locks, f, model)).collect();
        let n = own.len();
        let mut before: Vec<Option<usize>> = vec![None; n];
        let mut after: Vec<Option<usize>> = vec![None; n];
        for f in 0..n {
            before[f] = if own[f].is_some() { Some(f) } else { f.checked_sub(1).and_then(|p| before[p]) };
            let g = n - 1 - f;
            after[g] = if own[g].is_some() { Some(g) } else { after.get(g + 1).copied().flatten() };
        }
        let faded = |f: usize| {
            if let Some(c) = own[f] {
                return c;
            }
            let gap = match (before[f], after[f]) {
                (Some(a), Some(b)) => (b - a) as f64,
                _ => f64::INFINITY,
            };
            let ramp = (RAMP * rate).min(gap);
            let part = |at: Option<usize>| {
                let Some(k) = at else { return Correction::default() };
                let weight = 1.0 - smoothstep(k.abs_diff(f) as f64 / ramp);
                own[k].unwrap_or_default().scaled(weight)
            };
            part(before[f]).plus(&part(after[f]))
        };
        (0..n).map(faded).collect()
    }

    /// How the whole body would have to move in every frame for the resting feet to be where they rest; `None` where
    /// none rests.
    pub fn misplaced(&self, poses: &[Pose], floor: &Floor) -> Vec<Option<Vec3>> {
        let models = self.models(poses);
        let mut sums = vec![(Vec3::zeros(), 0.0); poses.len()];
        for leg in &self.legs {
            let locks = self.locks(leg, &models, floor);
            for lock in &locks {
                let Some(point) = self.point(lock.part) else { continue };
                for f in lock.frames.clone() {
                    sums[f].0 += lock.at - models[f].joint(point.joint).point(&point.at);
                    sums[f].1 += 1.0;
                }
            }
        }
        sums.into_iter().map(|(sum, n)| (n > 0.0).then(|| sum / n)).collect()
    }

    /// Puts every resting foot where it rests, keeps the others out of the floor, and says by how much the root must
    /// come down in each frame for both legs to reach.
    pub fn close(&self, poses: &mut [Pose], floor: &Floor, rate: f64) -> Vec<f64> {
        let models = self.models(poses);
        let targets: Vec<Vec<Transform>> = self
            .legs
            .iter()
            .map(|leg| {
                let corrections = self.corrections(leg, &models, floor, rate);
                let raised = self.raise(leg, &models, &corrections, floor, rate);
                models
                    .iter()
                    .zip(&corrections)
                    .zip(raised)
                    .map(|((m, c), up)| {
                        let foot = m.joint(leg.foot);
                        Transform::new(
                            exp(&c.turn) * foot.rotation,
                            foot.translation + c.shift + Vec3::y() * up,
                        )
                    })
                    .collect()
            })
            .collect();
        poses
            .par_iter_mut()
            .zip(models)
            .enumerate()
            .map(|(f, (pose, mut model))| {
                let mut missing: f64 = 0.0;
                for (leg, targets) in self.legs.iter().zip(&targets) {
                    let target = &targets[f];
                    let length = leg.length(&model) * REACH;
                    let way = target.translation - model.position(leg.hip);
                    let across = way.x.hypot(way.z);
                    if way.norm() > length {
                        let down = (length * length - across * across).max(0.0).sqrt();
                        missing = missing.max(-way.y - down);
                    }
                    // A foot that is where it shall be stays bit by bit.
                    let here = model.joint(leg.foot);
                    let moved = (here.translation - target.translation).norm() > 1e-9
                        || here.rotation.angle_to(&target.rotation) > 1e-9;
                    if moved {
                        leg.put(self.skeleton, pose, &mut model, target);
                    }
                    self.lift_toes(leg, f, pose, &mut model, floor);
                }
                missing
            })
            .collect()
    }

    /// How far up the corrected foot must still come in every frame so that no point of it is in the floor.
    fn raise(
        &self,
        leg: &Leg,
        models: &[ModelPose],
        corrections: &[Correction],
        floor: &Floor,
        rate: f64,
    ) -> Vec<f64> {
        let contacts = floor.contacts();
        let own = |f: usize| {
            if self.labelled(leg).iter().any(|&p| contacts.rests(p, f)) {
                return 0.0;
            }
            let (model, c) = (&models[f], &corrections[f]);
            let ankle = model.position(leg.foot);
            let turn: Quat = exp(&c.turn);
            let depth = |p: &ContactPoint| {
                let at = ankle + turn * (model.joint(p.joint).point(&p.at) - ankle) + c.shift;
                floor.under(Some(p.part), f) - at.y
            };
            let points = self.points.iter().filter(|p| p.part.side() == Some(leg.side));
            points.map(depth).fold(0.0, f64::max)
        };
        let depths: Vec<f64> = (0..models.len()).map(own).collect();
        spread(&depths, (0.1 * rate).round() as usize)
    }

    /// Turns toes that dip into the floor up about their joint.
    fn lift_toes(&self, leg: &Leg, frame: usize, pose: &mut Pose, model: &mut ModelPose, floor: &Floor) {
        let (Some(toes), Some(tip)) = (leg.toes, self.point(ContactPart::Toe(leg.side))) else { return };
        if tip.joint != toes {
            return;
        }
        let level = floor.under(Some(tip.part), frame);
        let at = model.joint(toes).point(&tip.at);
        if at.y >= level - 1e-6 {
            return;
        }
        let joint = model.position(toes);
        let arm = at - joint;
        let flat = Vec3::new(arm.x, 0.0, arm.z);
        let wanted_y = (level - joint.y).clamp(-arm.norm(), arm.norm());
        let Some(ahead) = flat.try_normalize(1e-6) else { return };
        let across = (arm.norm_squared() - wanted_y * wanted_y).max(0.0).sqrt();
        let turn = arc(&arm, &(ahead * across + Vec3::y() * wanted_y), &Vec3::y());
        let above = self.skeleton.parent(toes).map_or(Transform::identity(), |p| *model.joint(p));
        pose.local_mut()[toes.index()].rotation =
            above.rotation.inverse() * turn * model.joint(toes).rotation;
        model.set(self.skeleton, pose);
    }
}

/// The part of a leg's length to which it may stretch.
const REACH: f64 = 0.9995;

/// The smallest smooth bound above `values`: their running maximum over `reach` frames either way, averaged over as
/// many, so that nothing of them sticks out.
pub(super) fn spread(values: &[f64], reach: usize) -> Vec<f64> {
    let n = values.len();
    if values.iter().all(|v| *v == 0.0) {
        return values.to_vec();
    }
    let window = |f: usize| f.saturating_sub(reach)..(f + reach + 1).min(n);
    let most: Vec<f64> = (0..n).map(|f| values[window(f)].iter().copied().fold(0.0, f64::max)).collect();
    let weight = |d: usize| 0.5 + 0.5 * (std::f64::consts::PI * d as f64 / (reach + 1) as f64).cos();
    let mean = |f: usize| {
        let (sum, weights) = window(f).fold((0.0, 0.0), |(s, w), g| {
            let k = weight(f.abs_diff(g));
            (s + k * most[g], w + k)
        });
        sum / weights
    };
    (0..n).map(mean).collect()
}
