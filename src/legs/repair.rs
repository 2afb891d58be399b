//! Removes foot sliding during labelled contacts.
//!
//! The same linear system as for retargeting, of a body onto itself: the goals of pelvis and legs are their own motion, and
//! the goal of every labelled point is its position without the sliding. Feet keep their rotations and heights. Space: model
//! space, Y up. Units: metres, radians, frames.

use super::closure::{close_all, knee_sides};
use super::equations::{Equations, LegTerms, stiff};
use super::leg::{Leg, Step, steps};
use super::settings::Settings;
use super::soles::Feet;
use super::timeline::{TOGETHER, Timeline};
use super::write::{Placed, write};
use crate::body::CharacterBody;
use crate::math::{Quat, Vec3, percentile};
use crate::model::{ContactPart, JointId, Motion, Side};
use rayon::prelude::*;

/// A contact whose 90th percentile speed is below this does not slide, leg lengths per second: 1 cm/s for a person, the limit
/// of the measure `foot_skate_p95`. Half also takes the noise of captures for sliding.
const RESTS: f64 = 0.011;
/// A contact whose mean velocity exceeds this slides or steps on purpose, leg lengths per second: two thirds of the speed up
/// to which a foot counts as planted (0.15).
const SLIDES: f64 = 0.1;
/// Displacements below this are not applied, metres.
const STILL: f64 = 1e-6;
/// Largest bend that a knee may be given, radians: no knee is bent further than it is to correct a position on the ground.
const FOLDED: f64 = 0.0;

/// The correction of a foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The side of the body.
    pub side: Side,
    /// The ankle joint.
    pub joint: JointId,
    /// Number of frames in which heel or ball slid and is held.
    pub held: usize,
    /// Largest displacement of the ankle in metres, and its frame.
    pub moved: (f64, usize),
    /// Mean displacement of the ankle.
    pub mean: f64,
}

/// Removes the sliding of labelled feet. Returns the motion, the correction of each foot and the displacement of the pelvis in
/// every frame. A motion without sliding is returned unchanged, bit for bit.
pub fn repair(motion: Motion, settings: &Settings) -> (Motion, Vec<Repaired>, Vec<f64>) {
    let character = &motion.character;
    let body = CharacterBody::new(character);
    let legs: Vec<Leg> = Side::BOTH.into_iter().filter_map(|side| Leg::of(&body, side)).collect();
    let legs: Vec<&Leg> = legs.iter().collect();
    let untouched = |motion| (motion, Vec::new(), Vec::new());
    if legs.is_empty() || motion.contacts.is_none() || motion.clip.frames() < 2 {
        return untouched(motion);
    }
    let time = Timeline::of(&motion);
    let length = legs.iter().map(|l| l.length()).sum::<f64>() / legs.len() as f64;
    let of_legs = steps(&motion, &legs);
    let drifts: Vec<Vec<Drift>> = legs
        .par_iter()
        .zip(&of_legs)
        .map(|(leg, steps)| drifts(&motion, leg, steps, &time, length, settings))
        .collect();
    if !drifts.iter().flatten().any(|d| d.held.contains(&true)) {
        return untouched(motion);
    }
    let feet = Feet::of(&time, &of_legs, &legs, length, settings);
    let terms: Vec<LegTerms> = (0..legs.len())
        .map(|k| {
            let own = (&of_legs[k][..], legs[k]);
            let mut points = feet.points(k, &time, own, own, (1.0, length), settings);
            for (point, drift) in points.iter_mut().zip(&drifts[k]) {
                let mut way = Vec3::zeros();
                for edge in 0..drift.held.len() {
                    if drift.held[edge] {
                        way += drift.way[edge];
                        point.pace[edge] = drift.pace[edge].min(settings.pin);
                    }
                    point.misfit[edge + 1] = way;
                }
            }
            LegTerms {
                shape: vec![Vec3::zeros(); time.frames],
                stiff: of_legs[k]
                    .par_iter()
                    .with_min_len(64)
                    .map(|s| stiff(s.places(), settings.stiffest))
                    .collect(),
                follow: vec![1.0; time.frames],
                points,
            }
        })
        .collect();
    let sides = knee_sides(&of_legs);
    // The equations of a long take are large: what can be computed again is freed before, and their terms right after.
    drop((of_legs, feet));
    let drifts: Vec<Vec<Vec<bool>>> =
        drifts.into_iter().map(|of_leg| of_leg.into_iter().map(|drift| drift.held).collect()).collect();
    let answer = Equations::new(&time, &terms, length, settings).solve(None);
    drop(terms);
    let mut steps = steps(&motion, &legs);
    let still = |f: usize| answer[f].iter().all(|way| way.norm() < STILL);
    let ankles = |steps: &[Vec<Step>]| -> Vec<Vec<Vec3>> {
        let of_leg =
            |s: &Vec<Step>| s.par_iter().with_min_len(TOGETHER).map(|s| s.foot.translation).collect();
        steps.iter().map(of_leg).collect()
    };
    let before = ankles(&steps);
    let ends = |k: usize, f: usize, step: &Step| {
        let [hip, _, ankle] = step.places();
        (!still(f)).then(|| [hip + answer[f][0], ankle + answer[f][k + 1]])
    };
    close_all(&legs, &mut steps, &sides, FOLDED, settings, ends);
    let body: Vec<(Vec3, Quat)> = answer.iter().map(|a| (a[0], Quat::identity())).collect();
    let repaired = write(motion, &Placed { legs: &legs, steps: &steps, body: &body, still });
    let done =
        (0..legs.len()).into_par_iter().map(|k| done(legs[k], &before[k], &steps[k], &drifts[k])).collect();
    let pelvis = answer.par_iter().with_min_len(TOGETHER).map(|a| a[0].norm()).collect();
    (repaired, done, pelvis)
}

/// The sliding of a labelled point.
struct Drift {
    /// Whether the sliding over an edge (between two frames) is removed.
    held: Vec<bool>,
    /// Its horizontal displacement over every edge.
    way: Vec<Vec3>,
    /// Its speed, leg lengths per second.
    pace: Vec<f64>,
}

/// The sliding of heel and ball.
fn drifts(
    motion: &Motion,
    leg: &Leg,
    steps: &[Step],
    time: &Timeline,
    length: f64,
    settings: &Settings,
) -> Vec<Drift> {
    let Some(contacts) = &motion.contacts else { return Vec::new() };
    let mut drifts: Vec<Drift> = Vec::new();
    for part in [ContactPart::Heel(leg.side), ContactPart::Ball(leg.side)] {
        let Some((_, joint, at)) = leg.soles.iter().find(|s| s.0 == part) else { continue };
        let level = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        let places = steps.par_iter().with_min_len(TOGETHER).map(|s| level(s.sole(leg, *joint, at)));
        let flat: Vec<Vec3> = places.collect();
        let mut pace = time.speeds(|f| flat[f], settings.window);
        pace.iter_mut().for_each(|v| *v /= length);
        let mut held = vec![false; time.frames - 1];
        for hold in contacts.holds(part) {
            let edges =
                hold.frames.start..hold.frames.end.min(time.frames).saturating_sub(1).max(hold.frames.start);
            let speeds: Vec<f64> = edges.clone().map(|e| pace[e]).collect();
            let ends = [edges.start, edges.end].map(|f| flat[f.min(time.frames - 1)]);
            let goes = (ends[1] - ends[0]).norm() / (length * time.dt * edges.len().max(1) as f64);
            if percentile(&speeds, 0.9) > RESTS && goes < SLIDES {
                edges.filter(|e| !time.cut[*e]).for_each(|e| held[e] = true);
            }
        }
        let way = flat.par_windows(2).with_min_len(TOGETHER).map(|w| w[1] - w[0]).collect();
        drifts.push(Drift { held, way, pace });
    }
    // A foot that rotates about one of the two cannot have both planted: the slower one is held.
    if let [heel, ball] = &mut drifts[..] {
        for e in 0..time.frames - 1 {
            let heel_slower = heel.pace[e] < ball.pace[e];
            (heel.held[e], ball.held[e]) = (
                heel.held[e] && (heel_slower || !ball.held[e]),
                ball.held[e] && !(heel_slower && heel.held[e]),
            );
        }
    }
    drifts
}

/// The correction of a foot whose ankle had the positions `before`.
fn done(leg: &Leg, before: &[Vec3], after: &[Step], held: &[Vec<bool>]) -> Repaired {
    let way = |f: usize| (after[f].foot.translation - before[f]).norm();
    let furthest = (0..before.len()).map(|f| (way(f), f)).max_by(|a, b| a.0.total_cmp(&b.0));
    let held = |e: &usize| held.iter().any(|held| held[*e]);
    Repaired {
        side: leg.side,
        joint: leg.foot,
        held: (0..before.len() - 1).filter(held).count(),
        moved: furthest.unwrap_or_default(),
        mean: (0..before.len()).map(way).sum::<f64>() / before.len() as f64,
    }
}
