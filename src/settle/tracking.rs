//! A clip is cleaned up by physics: what is wrong comes right, what is right stays, and all of it is told.
//!
//! In order: the kinematic pass (limits, parabolas of flight, drift of resting feet), bodies that follow
//! it in windows, their corrections smoothed and laid on the clip, drift taken away once more, and the criteria before and
//! after. Where the bodies could not follow, the kinematic result stays. Space: model space. Units: SI.

use super::criteria::{Criteria, most_turned};
use super::floor::Floor;
use super::following::Following;
use super::ragdoll::Part;
use super::stand::Stand;
use super::track::{Gains, Moment};
use crate::math::{Quat, Vec3, exp, log};
use crate::model::{Contacts, Motion, Pose};
use crate::signal::{Butterworth, smooth_positions, with_poses};
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
        Self { gains: Gains::default(), step: 1.0 / 120.0, window: 2.0, overlap: 0.5, smooth: 4.0 }
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
    /// Flights that stay as they came, since as bodies fly the clip would shake (S9), frames.
    pub flights_left: Vec<Range<usize>>,
    /// Whether the clip needed nothing and came out as it went in.
    pub untouched: bool,
    /// The largest changes: joint, frame, radians, largest first.
    pub changes: Vec<(usize, usize, f64)>,
}

/// Settles a motion on the floor that `contacts` speak of; `None` for a body that no ragdoll can be made of.
pub fn settle(motion: &Motion, contacts: &Contacts, how: &Tracking) -> Option<Settled> {
    let input = motion.poses();
    let mut stand = Stand::of(motion, contacts.clone(), &input)?;
    let before = stand.judge(&input, &input, &input, &[]);
    let untouched = Settled {
        motion: motion.clone(),
        before,
        after: before,
        moments: Vec::new(),
        refused: Vec::new(),
        flights_left: Vec::new(),
        untouched: true,
        changes: Vec::new(),
    };
    if input.is_empty() {
        return Some(untouched);
    }
    if before.is_clean() {
        let following = Following::of(&stand, motion, &input, how);
        let moments = following.together();
        let after = stand.judge(&input, &input, &input, &moments);
        return Some(Settled { after, moments, refused: following.refused(), ..untouched });
    }
    let kinematic = stand.clean(motion, &input);
    let reference = kinematic.poses();
    let mut following = Following::of(&stand, &kinematic, &reference, how);
    let (moments, settled) = loop {
        let moments = following.together();
        if following.is_lost() {
            break (moments, kinematic);
        }
        let corrected = corrected(&stand, &reference, &moments, how.smooth);
        let settled = stand.passes().finish(with_poses(&kinematic, &corrected));
        let poses = settled.poses();
        let judge = stand.judged(&stand.floor);
        if !following.lose(|frames| judge.lost(frames, &poses, &reference, &input)) {
            break (moments, settled);
        }
    };
    let poses = settled.poses();
    let floor = Floor::new(settled.contacts.clone()?);
    let after = stand.judged(&floor).judge(&poses, &reference, &input, &moments);
    let changes = largest_changes(&poses, &input);
    Some(Settled {
        motion: settled,
        before,
        after,
        moments,
        refused: following.refused(),
        flights_left: stand.left.into_iter().map(|flight| flight.frames).collect(),
        untouched: false,
        changes,
    })
}

/// How many changes are told.
const TOLD: usize = 5;

/// The largest turns of joints from `input` to `poses`: joint, frame, radians, largest first.
fn largest_changes(poses: &[Pose], input: &[Pose]) -> Vec<(usize, usize, f64)> {
    let turned = poses.iter().zip(input).map(|(a, b)| most_turned(a, b)).enumerate();
    let mut changes: Vec<_> = turned.map(|(f, (joint, angle))| (joint, f, angle)).collect();
    changes.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
    changes.truncate(TOLD);
    changes
}

/// The `reference` with the corrections that lead to the bodies of these `moments`, but none faster than `smooth` hertz.
fn corrected(stand: &Stand, reference: &[Pose], moments: &[Moment], smooth: f64) -> Vec<Pose> {
    let (ragdoll, skeleton) = (&stand.ragdoll, stand.mechanism.skeleton());
    let pose = |(m, like): (&Moment, &Pose)| ragdoll.pose(skeleton, &m.states, like);
    let poses: Vec<Pose> = moments.par_iter().zip(reference).map(pose).collect();
    let filter = Butterworth::new(smooth, stand.rate);
    let smoothed = |mut values: Vec<Vec3>| {
        if let Some(filter) = &filter {
            smooth_positions(&mut values, |x| filter.apply(x));
        }
        values
    };
    let correction = |part: &Part| {
        let j = part.joint.index();
        let turn = |(a, b): (&Pose, &Pose)| -> Vec3 {
            let (from, to): (Quat, Quat) = (a.local()[j].rotation, b.local()[j].rotation);
            log(&(from.inverse() * to))
        };
        let turns = smoothed(reference.iter().zip(&poses).map(turn).collect());
        let ways = (part.parent.is_none() || part.apart).then(|| {
            let way = |(a, b): (&Pose, &Pose)| b.local()[j].translation - a.local()[j].translation;
            smoothed(reference.iter().zip(&poses).map(way).collect())
        });
        (j, turns, ways)
    };
    let corrections: Vec<_> = ragdoll.parts.par_iter().map(correction).collect();
    let mut result = reference.to_vec();
    result.par_iter_mut().enumerate().for_each(|(f, pose)| {
        for (j, turns, ways) in &corrections {
            let local = &mut pose.local_mut()[*j];
            local.rotation *= exp(&turns[f]);
            local.translation += ways.as_ref().map_or(Vec3::zeros(), |ways| ways[f]);
        }
    });
    result
}
