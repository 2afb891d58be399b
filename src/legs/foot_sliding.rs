//! Removes foot sliding during labelled contacts.
//!
//! The same linear system as for retargeting, of a body onto itself: the goals of pelvis and legs are their own motion, and
//! the goal of every labelled point is its position without the sliding. Feet keep their rotations and heights. Space: model
//! space, Y up. Units: metres, radians, frames.

use super::equations::{Equations, LegTerms, stiff};
use super::limb_chain::{LimbChain, LimbPose, limb_poses};
use super::settings::Settings;
use super::soft_knee::{knee_sides, solve_limbs};
use super::soles::SourceFeet;
use super::timeline::{TOGETHER, Timeline};
use super::write_clip::{SolvedFrames, write};
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
const KEEP_BEND: f64 = 0.0;

/// The correction of a foot.
#[derive(Clone, Debug, PartialEq)]
pub struct FootCorrection {
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
pub fn remove_foot_sliding(motion: Motion, settings: &Settings) -> (Motion, Vec<FootCorrection>, Vec<f64>) {
    let character = &motion.character;
    let body = CharacterBody::new(character);
    let legs: Vec<LimbChain> = Side::BOTH.into_iter().filter_map(|side| LimbChain::of(&body, side)).collect();
    let legs: Vec<&LimbChain> = legs.iter().collect();
    let untouched = |motion| (motion, Vec::new(), Vec::new());
    if legs.is_empty() || motion.contacts.is_none() || motion.clip.frames() < 2 {
        return untouched(motion);
    }
    let time = Timeline::of(&motion);
    let length = legs.iter().map(|l| l.length()).sum::<f64>() / legs.len() as f64;
    let of_legs = limb_poses(&motion, &legs);
    let slides: Vec<Vec<Sliding>> = legs
        .par_iter()
        .zip(&of_legs)
        .map(|(leg, poses)| sliding(&motion, leg, poses, &time, length, settings))
        .collect();
    if !slides.iter().flatten().any(|d| d.held.contains(&true)) {
        return untouched(motion);
    }
    let feet = SourceFeet::of(&time, &of_legs, &legs, length, settings);
    let terms: Vec<LegTerms> = (0..legs.len())
        .map(|k| {
            let own = (&of_legs[k][..], legs[k]);
            let (mut points, _) = feet.points(k, &time, own, own, (1.0, length), settings);
            for (point, slide) in points.iter_mut().zip(&slides[k]) {
                let mut slid = Vec3::zeros();
                for edge in 0..slide.held.len() {
                    if slide.held[edge] {
                        slid += slide.offset[edge];
                        point.speed[edge] = slide.speed[edge].min(settings.held_speed);
                    }
                    point.misfit[edge + 1] = slid;
                }
            }
            LegTerms {
                shape: vec![Vec3::zeros(); time.frames],
                stiff: of_legs[k]
                    .par_iter()
                    .with_min_len(64)
                    .map(|s| stiff(s.hip_knee_ankle(), settings.stiffness_cap))
                    .collect(),
                follow: vec![1.0; time.frames],
                points,
            }
        })
        .collect();
    let sides = knee_sides(&of_legs);
    // The equations of a long take are large: what can be computed again is freed before, and their terms right after.
    drop((of_legs, feet));
    let slides: Vec<Vec<Vec<bool>>> =
        slides.into_iter().map(|of_leg| of_leg.into_iter().map(|slide| slide.held).collect()).collect();
    let solution = Equations::new(&time, &terms, length, settings).solve(None);
    drop(terms);
    let mut poses = limb_poses(&motion, &legs);
    let still = |f: usize| solution[f].iter().all(|offset| offset.norm() < STILL);
    let ankles = |poses: &[Vec<LimbPose>]| -> Vec<Vec<Vec3>> {
        let of_leg =
            |s: &Vec<LimbPose>| s.par_iter().with_min_len(TOGETHER).map(|s| s.foot.translation).collect();
        poses.iter().map(of_leg).collect()
    };
    let before = ankles(&poses);
    let ends = |k: usize, f: usize, pose: &LimbPose| {
        let [hip, _, ankle] = pose.hip_knee_ankle();
        (!still(f)).then(|| [hip + solution[f][0], ankle + solution[f][k + 1]])
    };
    solve_limbs(&legs, &mut poses, &sides, KEEP_BEND, settings, ends);
    let body: Vec<(Vec3, Quat)> = solution.iter().map(|a| (a[0], Quat::identity())).collect();
    let planted = write(motion, &SolvedFrames { legs: &legs, poses: &poses, body: &body, still });
    let corrections = (0..legs.len())
        .into_par_iter()
        .map(|k| correction(legs[k], &before[k], &poses[k], &slides[k]))
        .collect();
    let pelvis = solution.par_iter().with_min_len(TOGETHER).map(|a| a[0].norm()).collect();
    (planted, corrections, pelvis)
}

/// The sliding of a labelled point.
struct Sliding {
    /// Whether the sliding over an edge (between two frames) is removed.
    held: Vec<bool>,
    /// Its horizontal displacement over every edge.
    offset: Vec<Vec3>,
    /// Its speed, leg lengths per second.
    speed: Vec<f64>,
}

/// The sliding of heel and ball.
fn sliding(
    motion: &Motion,
    leg: &LimbChain,
    poses: &[LimbPose],
    time: &Timeline,
    length: f64,
    settings: &Settings,
) -> Vec<Sliding> {
    let Some(contacts) = &motion.contacts else { return Vec::new() };
    let mut slides: Vec<Sliding> = Vec::new();
    for part in [ContactPart::Heel(leg.side), ContactPart::Ball(leg.side)] {
        let Some((_, joint, at)) = leg.soles.iter().find(|s| s.0 == part) else { continue };
        let level = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        let points = poses.par_iter().with_min_len(TOGETHER).map(|s| level(s.sole(leg, *joint, at)));
        let flat: Vec<Vec3> = points.collect();
        let mut speed = time.speeds(|f| flat[f], settings.speed_window);
        speed.iter_mut().for_each(|v| *v /= length);
        let mut held = vec![false; time.frames - 1];
        for hold in contacts.holds(part) {
            let edges =
                hold.frames.start..hold.frames.end.min(time.frames).saturating_sub(1).max(hold.frames.start);
            let speeds: Vec<f64> = edges.clone().map(|e| speed[e]).collect();
            let ends = [edges.start, edges.end].map(|f| flat[f.min(time.frames - 1)]);
            let goes = (ends[1] - ends[0]).norm() / (length * time.dt * edges.len().max(1) as f64);
            if percentile(&speeds, 0.9) > RESTS && goes < SLIDES {
                edges.filter(|e| !time.cut[*e]).for_each(|e| held[e] = true);
            }
        }
        let offset = flat.par_windows(2).with_min_len(TOGETHER).map(|w| w[1] - w[0]).collect();
        slides.push(Sliding { held, offset, speed });
    }
    // A foot that rotates about one of the two cannot have both planted: the slower one is held.
    if let [heel, ball] = &mut slides[..] {
        for e in 0..time.frames - 1 {
            let heel_slower = heel.speed[e] < ball.speed[e];
            (heel.held[e], ball.held[e]) = (
                heel.held[e] && (heel_slower || !ball.held[e]),
                ball.held[e] && !(heel_slower && heel.held[e]),
            );
        }
    }
    slides
}

/// The correction of a foot whose ankle had the positions `before`.
fn correction(leg: &LimbChain, before: &[Vec3], after: &[LimbPose], held: &[Vec<bool>]) -> FootCorrection {
    let moved = |f: usize| (after[f].foot.translation - before[f]).norm();
    let furthest = (0..before.len()).map(|f| (moved(f), f)).max_by(|a, b| a.0.total_cmp(&b.0));
    let held = |e: &usize| held.iter().any(|held| held[*e]);
    FootCorrection {
        side: leg.side,
        joint: leg.foot,
        held: (0..before.len() - 1).filter(held).count(),
        moved: furthest.unwrap_or_default(),
        mean: (0..before.len()).map(moved).sum::<f64>() / before.len() as f64,
    }
}
