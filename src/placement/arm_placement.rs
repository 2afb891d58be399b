//! Places the arms of a retargeted motion on the target's body as they are on the source's, for the whole clip at once.
//!
//! The arms are those of the direct transfer but where a hand is near the body or an arm would be in it: there small
//! rotations, found for all frames together, keep the hand's distance from the skin and its place on it. Takes are
//! solved in windows of frames that overlap by [`MARGIN`], beyond which frames do not influence each other; cuts end a
//! window, and in a cycle windows go on over the seam. Of takes with many frames a second only some are solved
//! ([`SampledFrames`]). The same bytes for any number of threads.
//! Space: model space. Units: metres.

use super::arm_equations::{ArmWindow, SolvedArms};
use super::direct_arm::{DirectArm, PALM};
use super::elbow_axis::elbow_axes;
use super::goals::{FrameGoals, goals};
use super::sampled_frames::SampledFrames;
use super::surface_pair::{SurfacePair, TargetFrame};
use super::write_arms::{ArmTurn, MovedHands, write_arms};
use crate::body::{BodySurface, CharacterBody, LandmarkPose, Landmarks};
use crate::kinematics::{FramePoses, Towards, is_cycle, map_frames_towards, shots};
use crate::math::{Vec3, any_perpendicular};
use crate::model::{ModelPose, Motion};
use crate::parallel;
use std::ops::Range;

/// Frames solved at once: enough that margins are few, few enough that their equations (some 4 kB a frame and thread) fit into memory.
const FRAMES_PER_WINDOW: usize = 2048;
/// The time on both sides of a window that is solved with it, seconds: a correction decays by e every 0.18 s (from its weights),
/// so what lies beyond changes less than 1e-8 of it.
const MARGIN: f64 = 3.5;
/// The frames of a take that the girths of a body without skin are fitted to, at most.
const LARGEST_FITTED_FRAMES: usize = 2048;

/// The sine of the bend from which on the reference pose defines the axis of the elbow.
const LEAST_BEND: f64 = 0.05;

/// The placement of arms, ready: a pure function of two motions in step.
#[derive(Clone, Debug)]
pub struct ArmPlacement {
    pair: SurfacePair,
    source_landmarks: Landmarks,
    target_arms: TargetArms,
}

/// The arms of the target.
#[derive(Clone, Debug)]
struct TargetArms {
    landmarks: Landmarks,
    /// The axes of the elbows in the reference pose, in the space of the upper arms.
    rest_axes: [Vec3; 2],
}

/// What the placement needs of a take, recorded part by part.
#[derive(Debug)]
pub struct SourceArms {
    pair: SurfacePair,
    source_landmarks: Landmarks,
    /// The frames between cuts.
    shots: Vec<Range<usize>>,
    sampled: SampledFrames,
    /// Those of the sampled frames so far.
    poses: Vec<LandmarkPose>,
    /// The frames so far.
    frames: usize,
}

impl ArmPlacement {
    /// The placement for motions that came from `source` to `target`; `None` where one of them has no arms or walks on
    /// them, or neither has skin.
    pub fn new(source: &CharacterBody, target: &CharacterBody) -> Option<ArmPlacement> {
        let (source_marks, target_marks) = (source.landmarks()?, target.landmarks()?);
        let lengths = |body: &CharacterBody, marks: &Landmarks| marks.at(body.reference_pose()).lengths();
        let (source_lengths, target_lengths) = (lengths(source, source_marks), lengths(target, target_marks));
        let pair =
            SurfacePair::between((source.surface(), &source_lengths), (target.surface(), &target_lengths))?;
        let target_arms = TargetArms::of(target, target_marks);
        Some(ArmPlacement { pair, source_landmarks: source_marks.clone(), target_arms })
    }

    /// The placement of arms outside of the body's own skin, or a grown person's; `None` without arms.
    pub(super) fn alone(body: &CharacterBody) -> Option<ArmPlacement> {
        let marks = body.landmarks()?;
        let adult = || BodySurface::adult(&marks.at(body.reference_pose()));
        let surface = body.surface().cloned().unwrap_or_else(adult);
        let pair = SurfacePair::of(surface.clone(), surface, false, 0.0);
        Some(ArmPlacement { pair, source_landmarks: marks.clone(), target_arms: TargetArms::of(body, marks) })
    }

    /// Starts recording a take; `shots` are its frames between cuts.
    pub fn prepare(&self, take: &Motion, shots: Vec<Range<usize>>) -> SourceArms {
        let mut pair = self.pair.clone();
        if pair.is_guessed() {
            let step = take.clip.frames().div_ceil(LARGEST_FITTED_FRAMES).max(1);
            pair.fit_girths(&landmark_poses(take, &self.source_landmarks, 0, step));
        }
        let sampled = SampledFrames::of(take);
        let poses = Vec::with_capacity(sampled.within(&(0..take.clip.frames())).len());
        SourceArms { pair, source_landmarks: self.source_landmarks.clone(), shots, sampled, poses, frames: 0 }
    }

    /// `motion` with its arms placed on the body as those of `source` are, frame for frame.
    ///
    /// # Panics
    /// Where the two have different numbers of frames or other skeletons than this was made for.
    pub fn apply(&self, source: &Motion, motion: Motion) -> (Motion, MovedHands) {
        let mut arms = self.prepare(source, shots(source));
        arms.record(source);
        self.place(&arms, motion)
    }

    /// `motion` with its arms placed as those of the take that was recorded.
    ///
    /// # Panics
    /// Where the two have different numbers of frames.
    pub fn place(&self, source: &SourceArms, motion: Motion) -> (Motion, MovedHands) {
        assert_eq!(source.frames, motion.clip.frames(), "the motions are in step");
        let arm_turns = self.target_arms.arm_turns(
            &source.pair,
            (source.sampled, Some(&source.poses)),
            &motion,
            &source.shots,
        );
        write_arms(motion, self.target_arms.landmarks.arms(), &arm_turns)
    }

    /// `motion` with its arms outside of its own body.
    pub(super) fn push_out(&self, motion: Motion) -> (Motion, MovedHands) {
        let arm_turns = self.target_arms.arm_turns(
            &self.pair,
            (SampledFrames::of(&motion), None),
            &motion,
            &shots(&motion),
        );
        write_arms(motion, self.target_arms.landmarks.arms(), &arm_turns)
    }
}

impl SourceArms {
    /// Records the next frames of the take.
    pub fn record(&mut self, part: &Motion) {
        let frames = self.frames..self.frames + part.clip.frames();
        let sampled = self.sampled.within(&frames);
        let first = self.sampled.frame(sampled.start) - frames.start;
        self.poses.extend(landmark_poses(part, &self.source_landmarks, first, self.sampled.step()));
        self.frames = frames.end;
    }
}

/// The landmarks in every `step`-th frame from the first on.
fn landmark_poses(motion: &Motion, landmarks: &Landmarks, first: usize, step: usize) -> Vec<LandmarkPose> {
    let clip = &motion.clip;
    let towards = Towards::new(motion.character.skeleton(), landmarks.joints());
    let start = || FramePoses::every(step, &towards, clip);
    let frames = clip.frames().saturating_sub(first).div_ceil(step);
    parallel::map_with(frames, 64, start, |poses, k| landmarks.at(poses.at(first + k * step)))
}

impl TargetArms {
    fn of(body: &CharacterBody, landmarks: &Landmarks) -> TargetArms {
        let pose = body.reference_pose();
        let front = body.figure().map_or(Vec3::z(), |figure| figure.front());
        let rest_axes = landmarks.arms().map(|[upper, lower, hand]| {
            let [a, b, c] = [upper, lower, hand].map(|id| pose.position(id));
            let [along, lower] = [b - a, c - b].map(|v| v.normalize());
            // Elbows bend forwards.
            let axis = along.cross(&lower);
            let axis = if axis.norm() > LEAST_BEND { axis } else { along.cross(&front) };
            let axis = axis.try_normalize(1e-9).unwrap_or_else(|| any_perpendicular(&along));
            pose.joint(upper).rotation.inverse() * axis
        });
        TargetArms { landmarks: landmarks.clone(), rest_axes }
    }

    /// The states of all frames of a motion, from the source's landmarks in the sampled frames; `shots` are the frames between cuts.
    fn arm_turns(
        &self,
        pair: &SurfacePair,
        (sampled, source): (SampledFrames, Option<&[LandmarkPose]>),
        motion: &Motion,
        shots: &[Range<usize>],
    ) -> Vec<ArmTurn> {
        let frames = motion.clip.frames();
        let cycle = shots.len() == 1 && is_cycle(motion);
        let elbow_axes_by_side = self.elbow_axes_by_side(motion, shots, cycle);
        // A cycle that the sampled frames do not close has a start and an end.
        let cycle = cycle && sampled.closes(frames - 1);
        let mut solutions = vec![SolvedArms::default(); sampled.within(&(0..frames)).len()];
        let sampled_shots: Vec<Range<usize>> = shots.iter().map(|shot| sampled.within(shot)).collect();
        let margin = (MARGIN * sampled.rate(motion.clip.sample_rate)).ceil() as usize;
        let windows = windows(&sampled_shots, cycle, margin);
        // A few windows at a time bound the memory.
        for windows in windows.chunks(crate::parallel::threads()) {
            let solve = |window: &FrameWindow| {
                self.solve(window, pair, (sampled, source), motion, &elbow_axes_by_side)
            };
            let solved: Vec<Option<Vec<SolvedArms>>> = parallel::map_each(windows, 1, solve);
            for (window, solved) in windows.iter().zip(solved) {
                let Some(solved) = solved else { continue };
                for k in window.core.clone() {
                    solutions[window.frame(k)] = solved[k];
                }
            }
        }
        if cycle {
            let last = solutions.len() - 1;
            solutions[last] = solutions[0];
        }
        let all_frames = shots.iter().flat_map(|shot| sampled.interpolated(&solutions, shot.clone(), cycle));
        let turn = |(f, solved): (usize, SolvedArms)| ArmTurn {
            solved,
            axes: [elbow_axes_by_side[0][f], elbow_axes_by_side[1][f]],
        };
        all_frames.enumerate().map(turn).collect()
    }

    /// The axes of both elbows in every frame.
    fn elbow_axes_by_side(&self, motion: &Motion, shots: &[Range<usize>], cycle: bool) -> [Vec<Vec3>; 2] {
        let arms = self.landmarks.arms();
        let cross = |pose: &ModelPose| {
            arms.map(|[upper, lower, hand]| {
                let [a, b, c] = [upper, lower, hand].map(|id| pose.position(id));
                let [x, y] = [b - a, c - b].map(|v| v / v.norm().max(1e-12));
                pose.joint(upper).rotation.inverse() * x.cross(&y)
            })
        };
        let joints = arms.iter().flatten().copied();
        let crosses = map_frames_towards(motion.character.skeleton(), &motion.clip, joints, cross);
        let rate = motion.clip.sample_rate;
        [0, 1].map(|side| {
            let own: Vec<Vec3> = crosses.iter().map(|both| both[side]).collect();
            elbow_axes(&own, &self.rest_axes[side], rate, shots, cycle)
        })
    }

    /// The states of the frames of one window; `None` where nothing acts on its arms.
    fn solve(
        &self,
        window: &FrameWindow,
        pair: &SurfacePair,
        (sampled, source): (SampledFrames, Option<&[LandmarkPose]>),
        motion: &Motion,
        axes: &[Vec<Vec3>; 2],
    ) -> Option<Vec<SolvedArms>> {
        let target = self.frames(window, pair, sampled, motion, axes);
        let source = source.map(|poses| {
            let frame =
                |(k, target): (usize, &TargetFrame)| pair.source_frame(&poses[window.frame(k)], &target.body);
            target.iter().enumerate().map(frame).collect::<Vec<_>>()
        });
        let rate = sampled.rate(motion.clip.sample_rate);
        let goals = match &source {
            Some(source) => goals(pair, source, &target, rate),
            None => vec![FrameGoals::default(); target.len()],
        };
        let window = ArmWindow { pair, source: source.as_deref(), target: &target, goals: &goals, rate };
        let active = (0..target.len()).any(|f| window.is_active(f));
        active.then(|| window.solve())
    }

    /// The target in the frames of a window.
    fn frames(
        &self,
        window: &FrameWindow,
        pair: &SurfacePair,
        sampled: SampledFrames,
        motion: &Motion,
        axes: &[Vec<Vec3>; 2],
    ) -> Vec<TargetFrame> {
        let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
        let towards = Towards::new(skeleton, self.landmarks.joints());
        let arms = self.landmarks.arms();
        let frame = |models: &mut FramePoses<'_>, k: usize| {
            let f = sampled.frame(window.frame(k));
            let model = models.at(f);
            let body = pair.target_frame(&self.landmarks.at(model));
            let arm = |side: usize| {
                let [shoulder, elbow, wrist] = body.pose.arms[side];
                let upper = elbow - shoulder;
                let axis = model.joint(arms[side][0]).rotation * axes[side][f];
                DirectArm {
                    shoulder,
                    upper,
                    lower: wrist - elbow,
                    hand: [PALM, PALM + 1].map(|point| body.points[side][point] - wrist),
                    axis,
                }
            };
            TargetFrame { body, arms: [arm(0), arm(1)] }
        };
        let start = || FramePoses::every(sampled.step(), &towards, clip);
        parallel::map_with(window.frames, 64, start, frame)
    }
}

/// Sampled frames that are solved at once.
#[derive(Clone, Debug, PartialEq)]
struct FrameWindow {
    /// The first sampled frame before any wrapping, which may be negative in a cycle.
    first: isize,
    /// The frames of the window, with its margins.
    frames: usize,
    /// Those whose states are kept, counted from the first.
    core: Range<usize>,
    /// The period of a cycle.
    period: Option<usize>,
}

impl FrameWindow {
    /// The sampled frame that one of its frames is.
    fn frame(&self, k: usize) -> usize {
        let at = self.first + k as isize;
        match self.period {
            Some(period) => at.rem_euclid(period as isize) as usize,
            None => at as usize,
        }
    }
}

/// The windows of the sampled frames of these shots.
fn windows(shots: &[Range<usize>], cycle: bool, margin: usize) -> Vec<FrameWindow> {
    let mut found = Vec::new();
    for shot in shots {
        // The last frame of a cycle is its first once more.
        let end = shot.end - usize::from(cycle);
        let whole = end - shot.start <= FRAMES_PER_WINDOW + 2 * margin;
        for start in
            (shot.start..end).step_by(if whole { (end - shot.start).max(1) } else { FRAMES_PER_WINDOW })
        {
            let stop = if whole { end } else { (start + FRAMES_PER_WINDOW).min(end) };
            let (before, after) = match cycle {
                true => (margin, margin),
                false => (margin.min(start - shot.start), margin.min(end - stop)),
            };
            found.push(FrameWindow {
                first: start as isize - before as isize,
                frames: before + (stop - start) + after,
                core: before..before + (stop - start),
                period: cycle.then_some(end),
            });
        }
    }
    found
}
