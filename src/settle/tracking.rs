//! A clip is cleaned up by physics: what is wrong comes right, what is right stays, and all of it is told.
//!
//! In order: the kinematic pass (limits, root over the resting feet, parabolas of flight, feet locked), bodies that follow
//! it in windows, their corrections smoothed and laid on the clip, feet locked once more, and the criteria before and
//! after. Where the bodies could not follow, the kinematic result stays. Space: model space. Units: SI.

use super::course::Course;
use super::criteria::{Criteria, Judge, helped};
use super::flight::{Flight, flights, joined_flights, plausible};
use super::floor::Floor;
use super::kinematic::Passes;
use super::ragdoll::{Part, Ragdoll};
use super::track::{Gains, Moment, track};
use super::windows::{Window, halves, joined, leaps, windows};
use crate::anatomy::contact_points;
use crate::feet::levelled;
use crate::ik::Mechanism;
use crate::limits::{self, keep};
use crate::math::{Quat, Vec3, exp, log};
use crate::model::{Character, ContactPoint, Contacts, JointId, ModelPose, Motion, Pose};
use crate::retarget::calibration_pose;
use crate::signal::{Butterworth, smooth_positions};
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
    /// Whether the clip needed nothing and came out as it went in.
    pub untouched: bool,
    /// The largest changes: joint, frame, radians, largest first.
    pub changes: Vec<(usize, usize, f64)>,
}

/// What does not change from pass to pass.
struct Stand {
    ragdoll: Ragdoll,
    mechanism: Mechanism,
    points: Vec<ContactPoint>,
    floor: Floor,
    /// Where the body flies, and the part of it in which that is beyond doubt.
    air: Vec<Flight>,
    flights: Vec<Flight>,
    rate: f64,
}

/// Settles a motion on the floor that `contacts` speak of; `None` for a body that no ragdoll can be made of.
pub fn settle(motion: &Motion, contacts: &Contacts, how: &Tracking) -> Option<Settled> {
    let character: &Character = &motion.character;
    let skeleton = character.skeleton();
    let clip = &motion.clip;
    let floor = Floor::new(levelled(contacts, character));
    let ragdoll = Ragdoll::of(character)?;
    let input: Vec<Pose> = (0..clip.frames()).into_par_iter().map(|f| clip.pose(skeleton, f)).collect();
    let found = flights(&floor, clip.frames(), clip.sample_rate);
    let [air, sure] = plausible((&ragdoll, skeleton), &input, &found, clip.sample_rate);
    let mut stand = Stand {
        mechanism: ranges(motion),
        points: contact_points(character, &character.rig),
        flights: sure,
        air,
        ragdoll,
        floor,
        rate: clip.sample_rate,
    };
    let before = stand.judge(&input, &input, &input, &[]);
    if clip.frames() == 0 {
        return Some(unchanged(motion, before, Vec::new()));
    }
    let mut kinematic = input.clone();
    if !before.is_clean() {
        let labels = stand.floor.contacts().clone();
        let passes = stand.passes(motion, &labels);
        kinematic = passes.clean(&input);
        let risen = passes.risen(&kinematic);
        stand.floor = Floor::new(risen);
        // What has become a flight, or a longer one, is one: a clip that is settled again finds the same.
        for _ in 0..FLIGHT_ROUNDS {
            let gaps = flights(&stand.floor, clip.frames(), clip.sample_rate);
            let [air, sure] = plausible((&stand.ragdoll, skeleton), &kinematic, &gaps, clip.sample_rate);
            // What fell as it came in is judged, whatever became of it.
            stand.flights = joined_flights(&stand.flights, &sure);
            let joined = joined_flights(&stand.air, &air);
            if joined == stand.air {
                break;
            }
            stand.air = joined;
            kinematic = stand.passes(motion, stand.floor.contacts()).finish(&kinematic);
        }
    }
    let stand = stand;
    let passes = stand.passes(motion, stand.floor.contacts());
    let hung = ModelPose::of(skeleton, &kinematic[0]);
    let course = Course::new(&passes.motion_of(&kinematic).clip, how.step);
    let leaps = leaps((&stand.ragdoll, skeleton), &kinematic, stand.rate);
    let cut = windows(clip.frames(), &leaps, &stand.air, stand.rate, [how.window, how.overlap]);
    let still = |f: usize| Moment::of_clip(stand.ragdoll.states(&ModelPose::of(skeleton, &kinematic[f])));
    let clip_alone: Vec<Moment> = (0..clip.frames()).into_par_iter().map(still).collect();
    let alone = |w: &Window| w.flies || w.all.len() < SHORTEST;
    let pose = |(m, like): (&Moment, &Pose)| stand.ragdoll.pose(skeleton, &m.states, like);
    let let_go = |w: &Window, moments: &[Moment]| {
        let own = own(w, moments);
        let poses: Vec<Pose> = own.iter().zip(&kinematic[w.own.clone()]).map(pose).collect();
        stand.judged().let_go(w.own.start, &poses, &kinematic[w.own.clone()], own)
    };
    // What cannot be followed with the usual help is tried with more.
    let one = |w: Window| {
        let frames = (w.all.start, w.all.end - 1);
        let follow = |more: &f64| {
            let gains = Gains { assist: how.gains.assist * more, ..how.gains };
            track((&stand.ragdoll, skeleton), &course, &stand.floor, frames, &hung, &gains)
        };
        let (mut moments, mut far) = (Vec::new(), f64::INFINITY);
        for more in HELP.iter().filter(|_| !alone(&w)) {
            let found = follow(more);
            if let Some(found_far) = let_go(&w, &found).filter(|f| *f < far) {
                (moments, far) = (found, found_far);
            }
            if far <= 1.0 {
                break;
            }
        }
        (w, moments, far)
    };
    let mut found: Vec<(Window, Vec<Moment>, f64)> = cut.into_par_iter().map(one).collect();
    // What goes astray over a window may not do so over half of it.
    for _ in 0..HALVINGS {
        let again = |(w, moments, far): (Window, Vec<Moment>, f64)| match halves(&w) {
            Some(halves) if far > 1.0 && !alone(&w) => halves.map(one).to_vec(),
            _ => vec![(w, moments, far)],
        };
        found = found.into_par_iter().flat_map_iter(again).collect();
    }
    let mut lost: Vec<bool> = found.iter().map(|(_, moments, _)| moments.is_empty()).collect();
    let fars: Vec<f64> = found.iter().map(|(_, _, far)| *far).collect();
    let followed = |(w, moments, _): (Window, Vec<Moment>, f64)| match moments.is_empty() {
        true => (clip_alone[w.all.clone()].to_vec(), w),
        false => (moments, w),
    };
    let (followed, cut): (Vec<Vec<Moment>>, Vec<Window>) = found.into_iter().map(followed).unzip();
    give_up_the_farthest(&cut, &fars, &mut lost);
    give_up_the_most_helped(&cut, &followed, &mut lost);
    let together = |lost: &[bool]| {
        let windows = cut.iter().zip(&followed).zip(lost);
        joined(windows.map(|((w, moments), lost)| match lost {
            true => (w, &clip_alone[w.all.clone()]),
            false => (w, moments.as_slice()),
        }))
    };
    let refused = |lost: &[bool]| {
        let mut runs: Vec<Range<usize>> = Vec::new();
        for (w, _) in cut.iter().zip(lost).filter(|(w, lost)| **lost && !alone(w)) {
            match runs.last_mut() {
                Some(last) if last.end == w.own.start => last.end = w.own.end,
                _ => runs.push(w.own.clone()),
            }
        }
        runs
    };
    if before.is_clean() {
        let moments = together(&lost);
        let after = stand.judge(&input, &input, &input, &moments);
        return Some(Settled { after, refused: refused(&lost), ..unchanged(motion, before, moments) });
    }
    let (moments, result) = loop {
        let moments = together(&lost);
        let mut result = kinematic.clone();
        if lost.iter().all(|l| *l) {
            break (moments, result);
        }
        let poses: Vec<Pose> = moments.par_iter().zip(&kinematic).map(pose).collect();
        let corrected = passes.motion_of(&passes.finish(&stand.corrected(&kinematic, &poses, how.smooth)));
        result = passes.poses_of(&corrected);
        let worse = |(w, lost): (&Window, &bool)| {
            !lost && stand.judged().lost(w.own.clone(), &result, &kinematic, &input)
        };
        let more: Vec<bool> = cut.par_iter().zip(&lost).map(worse).collect();
        if more.iter().all(|m| !m) {
            break (moments, result);
        }
        lost.iter_mut().zip(more).for_each(|(lost, more)| *lost |= more);
    };
    let result = passes.motion_of(&result);
    let result_poses = passes.poses_of(&result);
    let after = stand.judge(&result_poses, &kinematic, &input, &moments);
    let mut changes: Vec<(usize, usize, f64)> = result_poses
        .iter()
        .zip(&input)
        .map(|(a, b)| super::criteria::most_turned(a, b))
        .enumerate()
        .map(|(f, (joint, angle))| (joint, f, angle))
        .collect();
    changes.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.1.cmp(&b.1)));
    changes.truncate(5);
    let motion = result;
    let refused = refused(&lost);
    Some(Settled { motion, before, after, moments, refused, untouched: false, changes })
}

/// The ranges of the joints of a body, but for limbs that the motion takes where no person's go: those are left.
fn ranges(motion: &Motion) -> Mechanism {
    let character = &*motion.character;
    let all = Mechanism::humanoid(&character.rig, &calibration_pose(character));
    let joints: Vec<JointId> = all.joints_with_limits().collect();
    let (_, kept) = keep(motion.clone(), &all, &joints, &limits::Options::default());
    kept.left.into_iter().fold(all, |ranges, id| {
        let freedom = ranges.freedom(id);
        ranges.with_freedom(id, freedom)
    })
}

/// The moments that no other window answers for.
fn own<'m>(window: &Window, moments: &'m [Moment]) -> &'m [Moment] {
    &moments[window.own.start - window.all.start..window.own.end - window.all.start]
}

/// Loses windows until the clip as a whole does not let go of hands, head and free feet (S5), the farthest first: what is
/// not simulated does not let go at all.
fn give_up_the_farthest(windows: &[Window], fars: &[f64], lost: &mut [bool]) {
    let frames: usize = windows.iter().map(|w| w.own.len()).sum();
    loop {
        let kept: Vec<usize> = (0..windows.len()).filter(|&k| !lost[k]).collect();
        let sum: f64 = kept.iter().map(|&k| fars[k] * windows[k].own.len() as f64).sum();
        if sum <= frames as f64 {
            return;
        }
        let Some(farthest) = kept.into_iter().max_by(|&a, &b| fars[a].total_cmp(&fars[b])) else { return };
        lost[farthest] = true;
    }
}

/// Loses windows until the clip as a whole is not helped too much (S6), those that are helped most first.
fn give_up_the_most_helped(windows: &[Window], followed: &[Vec<Moment>], lost: &mut [bool]) {
    let parts: Vec<&[Moment]> = windows.iter().zip(followed).map(|(w, moments)| own(w, moments)).collect();
    loop {
        let kept: Vec<usize> = (0..parts.len()).filter(|&k| !lost[k]).collect();
        if helped(kept.iter().flat_map(|&k| parts[k])) <= 1.0 {
            return;
        }
        let help = |k: &usize| helped(parts[*k].iter());
        let Some(worst) = kept.into_iter().max_by(|a, b| help(a).total_cmp(&help(b))) else { return };
        lost[worst] = true;
    }
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

impl Stand {
    fn passes<'a>(&'a self, motion: &'a Motion, contacts: &'a Contacts) -> Passes<'a> {
        let (ragdoll, mechanism) = (&self.ragdoll, &self.mechanism);
        Passes { motion, contacts, ragdoll, mechanism, flights: &self.air, points: &self.points }
    }

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

    /// `poses` as smooth corrections of `reference`.
    fn corrected(&self, reference: &[Pose], poses: &[Pose], smooth: f64) -> Vec<Pose> {
        let filter = Butterworth::new(smooth, self.rate);
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
            let turns = smoothed(reference.iter().zip(poses).map(turn).collect());
            let ways = (part.parent.is_none() || part.apart).then(|| {
                let way = |(a, b): (&Pose, &Pose)| b.local()[j].translation - a.local()[j].translation;
                smoothed(reference.iter().zip(poses).map(way).collect())
            });
            (j, turns, ways)
        };
        let corrections: Vec<_> = self.ragdoll.parts.par_iter().map(correction).collect();
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
}

/// How much help is tried, as multiples of the usual.
const HELP: [f64; 4] = [1.0, 1.2, 1.4, 1.7];

/// Rounds in which flights are looked for again.
const FLIGHT_ROUNDS: usize = 3;

/// How often a window is halved that cannot be followed.
const HALVINGS: usize = 2;

/// Shorter windows are not worth a simulation, frames.
const SHORTEST: usize = 3;
