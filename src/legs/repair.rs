//! Feet that are labelled as resting and drift become feet that rest.
//!
//! The same solve as for the transfer, of a body onto itself: nothing is asked of pelvis and legs but what they do, and
//! of every labelled point that its drift over the ground be taken away. Feet keep their rotations and heights. Space:
//! model space, Y up. Units: metres, radians, frames.

use super::closure::{close_all, knee_sides};
use super::equations::{Equations, LegTerms, stiff};
use super::leg::{Leg, Step, steps};
use super::settings::Settings;
use super::soles::Feet;
use super::timeline::{TOGETHER, Timeline};
use super::write::{Placed, write};
use crate::math::{Quat, Vec3, percentile};
use crate::model::{ContactPart, JointId, Motion, Side};
use rayon::prelude::*;

/// A hold whose point is slower than this nine times in ten is at rest as it is, leg lengths a second: 1 cm/s of a
/// person, what the measure `foot_skate_p95` allows. Half also takes the noise of captures for drift.
const RESTS: f64 = 0.011;
/// A hold whose point goes somewhere at more than this slides or steps there by the will of its author, leg lengths a second: what
/// counts as a foot at rest (0.15), less a third.
const SLIDES: f64 = 0.1;
/// What moves by less than this is left as it is, metres.
const STILL: f64 = 1e-6;
/// No knee is folded further than it arrives for the sake of a place over the ground.
const FOLDED: f64 = 0.0;

/// What was done to a foot.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// Which.
    pub side: Side,
    /// The joint at the ankle.
    pub joint: JointId,
    /// Frames in which heel or ball is held where it drifted.
    pub held: usize,
    /// The largest way of the ankle in metres, and its frame.
    pub moved: (f64, usize),
    /// The mean way.
    pub mean: f64,
}

/// The motion with its labelled feet at rest, what was done to them, and the way of the pelvis in every frame. A motion
/// whose labelled feet rest comes back as it is, bit for bit.
pub fn repair(motion: Motion, settings: &Settings) -> (Motion, Vec<Repaired>, Vec<f64>) {
    let character = &motion.character;
    let legs: Vec<Leg> =
        Side::BOTH.into_iter().filter_map(|side| Leg::of(character, &character.rig, side)).collect();
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
    // Of a long take the equations are large: what can be had again goes before them, and what only they need with them.
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

/// What a labelled point drifts by itself.
struct Drift {
    /// Whether the drift over an edge is to be taken away.
    held: Vec<bool>,
    /// Its way over the ground over every edge.
    way: Vec<Vec3>,
    /// Its speed, leg lengths a second.
    pace: Vec<f64>,
}

/// The drift of heel and ball.
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
    // A foot that turns about one of the two cannot have both at rest: the slower one is meant.
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

/// What was done to a foot whose ankle was at these places.
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
