//! A clip is cleaned up by physics: what is wrong comes right, what is right stays, and all of it is told.
//!
//! In order: the kinematic pass (limits, root over the resting feet, parabolas of flight, feet locked), bodies that follow
//! it in windows, their corrections smoothed and laid on the clip, feet locked once more, and the criteria before and
//! after. Where the bodies could not follow, the kinematic result stays. Space: model space. Units: SI.

use super::course::Course;
use super::criteria::{Criteria, Judge};
use super::flight::{Flight, flights, make_ballistic, shift_hips};
use super::floor::Floor;
use super::leg::Leg;
use super::lock::{Feet, smoothstep, spread};
use super::ragdoll::Ragdoll;
use super::track::{Gains, Moment};
use super::windows::{Window, follow, windows};
use crate::anatomy::contact_points;
use crate::ik::Mechanism;
use crate::math::{Quat, Vec3, exp, log};
use crate::model::{Character, Clip, ContactPoint, Contacts, ModelPose, Motion, Pose, Skeleton};
use crate::signal::{Butterworth, fix_hemispheres, smooth_positions};
use rayon::prelude::*;
use std::ops::Range;

/// How a clip is tracked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tracking {
    /// How the bodies are driven.
    pub gains: Gains,
    /// Seconds of a step at most.
    pub step: f64,
    /// Seconds of a window.
    pub window: f64,
    /// Seconds by which a window reaches into its neighbours.
    pub overlap: f64,
    /// Corrections faster than this are left out, hertz.
    pub smooth: f64,
}

impl Default for Tracking {
    fn default() -> Self {
        Self { gains: Gains::default(), step: 1.0 / 120.0, window: 2.0, overlap: 0.5, smooth: 6.0 }
    }
}

/// A settled clip, and what became of it.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The motion.
    pub motion: Motion,
    /// The criteria of the clip that came.
    pub before: Criteria,
    /// The criteria of the clip that goes.
    pub after: Criteria,
    /// The forces of every frame.
    pub moments: Vec<Moment>,
    /// Where the bodies could not follow and the kinematic result was kept, frames.
    pub refused: Vec<Range<usize>>,
    /// Whether the clip needed nothing and came out as it went in.
    pub untouched: bool,
    /// The largest changes: joint, frame, radians, largest first.
    pub changes: Vec<(usize, usize, f64)>,
}

/// What does not change from pass to pass.
struct Stand<'a> {
    skeleton: &'a Skeleton,
    ragdoll: Ragdoll,
    mechanism: Mechanism,
    points: Vec<ContactPoint>,
    floor: Floor,
    flights: Vec<Flight>,
    rate: f64,
}

/// Settles a motion on the floor that `contacts` speak of; `None` for a body that no ragdoll can be made of.
pub fn settle(motion: &Motion, contacts: &Contacts, how: &Tracking) -> Option<Settled> {
    let character: &Character = &motion.character;
    let skeleton = character.skeleton();
    let clip = &motion.clip;
    let rest = character.bind.clone().unwrap_or_else(|| skeleton.rest_model_pose());
    let floor = Floor::new(contacts.clone());
    let stand = Stand {
        skeleton,
        ragdoll: Ragdoll::of(character)?,
        mechanism: Mechanism::humanoid(&character.rig, &rest),
        points: contact_points(character, &character.rig),
        flights: flights(&floor, clip.frames(), clip.sample_rate),
        floor,
        rate: clip.sample_rate,
    };
    let input: Vec<Pose> = (0..clip.frames()).map(|f| clip.pose(skeleton, f)).collect();
    let before = stand.judge(&input, &input, &input, &[]);
    if clip.frames() < 3 {
        return Some(unchanged(motion, before, Vec::new()));
    }
    let feet = Feet::new(skeleton, Leg::all(&character.rig), &stand.points);
    let mut kinematic = input.clone();
    if !before.is_clean() {
        stand.kinematic_pass(&feet, &mut kinematic);
    }
    let hung = ModelPose::of(skeleton, &kinematic[0]);
    let course = Course::new(&clip_of(clip, skeleton, &kinematic), how.step);
    let cut = windows(clip.frames(), clip.sample_rate, how.window, how.overlap);
    let moments = follow((&stand.ragdoll, skeleton), &course, &stand.floor, &cut, &hung, &how.gains);
    let poses: Vec<Pose> = moments
        .par_iter()
        .zip(&kinematic)
        .map(|(m, like)| stand.ragdoll.pose(skeleton, &m.states, like))
        .collect();
    let refused: Vec<Range<usize>> =
        cut.iter().filter(|w| stand.refuses(w, &poses, &kinematic)).map(|w| w.own.clone()).collect();
    if before.is_clean() {
        let after = stand.judge(&input, &input, &input, &moments);
        return Some(Settled { after, refused, ..unchanged(motion, before, moments) });
    }
    let kept = kept(&refused, clip.frames(), how.overlap * clip.sample_rate);
    let mut result = stand.corrected(&kinematic, &poses, &kept, how.smooth);
    stand.finish(&feet, &mut result);
    let after = stand.judge(&result, &kinematic, &input, &moments);
    let mut changes: Vec<(usize, usize, f64)> = result
        .iter()
        .zip(&input)
        .map(|(a, b)| super::criteria::most_turned(a, b))
        .enumerate()
        .map(|(f, (joint, angle))| (joint, f, angle))
        .collect();
    changes.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
    changes.truncate(5);
    let motion = Motion { clip: clip_of(clip, skeleton, &result), ..motion.clone() };
    Some(Settled { motion, before, after, moments, refused, untouched: false, changes })
}

fn unchanged(motion: &Motion, before: Criteria, moments: Vec<Moment>) -> Settled {
    Settled {
        motion: motion.clone(),
        before,
        after: before,
        moments,
        refused: Vec::new(),
        untouched: true,
        changes: Vec::new(),
    }
}

/// A clip of these poses with the name, rate and start of another.
fn clip_of(like: &Clip, skeleton: &Skeleton, poses: &[Pose]) -> Clip {
    let mut clip = Clip::from_poses(like.name.clone(), like.sample_rate, skeleton, poses);
    clip.start = like.start;
    clip.tolerance = like.tolerance;
    fix_hemispheres(&mut clip);
    clip
}

/// By frame: how much of the physics is taken, 1 but for refused windows, into which it fades.
fn kept(refused: &[Range<usize>], frames: usize, fade: f64) -> Vec<f64> {
    let weight = |f: usize| {
        let away = refused.iter().map(|r| {
            if r.contains(&f) {
                0.0
            } else {
                (r.start.saturating_sub(f)).max((f + 1).saturating_sub(r.end)) as f64
            }
        });
        away.fold(1.0, |w: f64, distance| w.min(smoothstep(distance / fade.max(1.0))))
    };
    (0..frames).map(weight).collect()
}

impl Stand<'_> {
    fn judge(&self, poses: &[Pose], reference: &[Pose], input: &[Pose], moments: &[Moment]) -> Criteria {
        self.judged().judge(poses, reference, input, moments)
    }

    fn judged(&self) -> Judge<'_> {
        Judge {
            ragdoll: &self.ragdoll,
            mechanism: &self.mechanism,
            points: &self.points,
            floor: &self.floor,
            flights: &self.flights,
            rate: self.rate,
        }
    }

    fn body(&self) -> (&Ragdoll, &Skeleton) {
        (&self.ragdoll, self.skeleton)
    }

    /// What can be put right without forces.
    fn kinematic_pass(&self, feet: &Feet<'_>, poses: &mut [Pose]) {
        poses.par_iter_mut().for_each(|pose| {
            self.mechanism.enforce(pose);
        });
        // The body follows its feet to where they rest; in the air it goes on in between.
        let off = feet.misplaced(poses, &self.floor);
        let mut shifts = filled(&off);
        if let Some(filter) = Butterworth::new(BODY_CUTOFF, self.rate) {
            smooth_positions(&mut shifts, |x| filter.apply(x));
        }
        shift_hips(self.body(), poses, &shifts);
        make_ballistic(self.body(), poses, &self.flights, self.rate, true);
        self.finish(feet, poses);
    }

    /// Limits, then feet, with the hips low enough for both legs.
    fn finish(&self, feet: &Feet<'_>, poses: &mut [Pose]) {
        poses.par_iter_mut().for_each(|pose| {
            self.mechanism.enforce(pose);
        });
        let mut tried = poses.to_vec();
        let missing = feet.close(&mut tried, &self.floor, self.rate);
        let lower = spread(&missing, (0.2 * self.rate).round() as usize);
        if lower.iter().any(|m| *m > 1e-9) {
            let shifts: Vec<Vec3> = lower.iter().map(|m| -Vec3::y() * *m).collect();
            shift_hips(self.body(), poses, &shifts);
        }
        make_ballistic(self.body(), poses, &self.flights, self.rate, false);
        feet.close(poses, &self.floor, self.rate);
    }

    /// Whether the bodies lost the performance within a window (S4).
    fn refuses(&self, window: &Window, poses: &[Pose], reference: &[Pose]) -> bool {
        let own = window.own.clone();
        let (turned, moved) = self.judged().followed(&poses[own.clone()], &reference[own]);
        !(turned <= TRACKING && moved <= MPJPE)
    }

    /// `poses` as smooth corrections of `reference`, faded by `kept`.
    fn corrected(&self, reference: &[Pose], poses: &[Pose], kept: &[f64], smooth: f64) -> Vec<Pose> {
        let filter = Butterworth::new(smooth, self.rate);
        let smoothed = |mut values: Vec<Vec3>| {
            values.iter_mut().zip(kept).for_each(|(v, k)| *v *= *k);
            if let Some(filter) = &filter {
                smooth_positions(&mut values, |x| filter.apply(x));
            }
            values
        };
        let mut result = reference.to_vec();
        for part in &self.ragdoll.parts {
            let j = part.joint.index();
            let turn = |(a, b): (&Pose, &Pose)| -> Vec3 {
                let (from, to): (Quat, Quat) = (a.local()[j].rotation, b.local()[j].rotation);
                log(&(from.inverse() * to))
            };
            let turns = smoothed(reference.iter().zip(poses).map(turn).collect());
            result.iter_mut().zip(turns).for_each(|(p, v)| p.local_mut()[j].rotation *= exp(&v));
            if part.parent.is_none() || part.apart {
                let way = |(a, b): (&Pose, &Pose)| b.local()[j].translation - a.local()[j].translation;
                let ways = smoothed(reference.iter().zip(poses).map(way).collect());
                result.iter_mut().zip(ways).for_each(|(p, v)| p.local_mut()[j].translation += v);
            }
        }
        result
    }
}

/// S4, radians and parts of the height.
const TRACKING: f64 = 3.0 * std::f64::consts::PI / 180.0;
const MPJPE: f64 = 0.02;

/// The body follows its feet no faster than this, hertz.
const BODY_CUTOFF: f64 = 3.0;

/// Values where there are none: between two, the way from one to the other; at the ends, the nearest.
fn filled(values: &[Option<Vec3>]) -> Vec<Vec3> {
    let known: Vec<(usize, Vec3)> = values.iter().enumerate().filter_map(|(f, v)| Some((f, (*v)?))).collect();
    let at = |f: usize| {
        let next = known.partition_point(|k| k.0 < f);
        match (next.checked_sub(1).map(|k| known[k]), known.get(next)) {
            (Some((a, x)), Some(&(b, y))) => x + (y - x) * ((f - a) as f64 / (b - a) as f64),
            (Some((_, v)), None) | (None, Some(&(_, v))) => v,
            (None, None) => Vec3::zeros(),
        }
    };
    (0..values.len()).map(at).collect()
}
