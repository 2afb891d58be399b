//! Warm-started frames: each starts from the previous frame's result, in chunks solved in parallel.
//!
//! Chunks have a fixed length. Each has a lead-in of a few preceding frames that are solved and discarded. If the
//! lead-in does not converge to the end of the previous chunk, a longer one is tried, and finally the chunk starts from
//! that end itself. The result does not depend on the number of threads. Units: metres, radians.

use super::mechanism::Mechanism;
use super::outcome::{Outcome, Stop};
use super::task::Task;
use super::tree_solver::{TreeSolver, Workspace};
use crate::model::{ModelPose, Pose};
use crate::parallel;

/// Frames per chunk.
const CHUNK: usize = 64;
/// Lengths of the lead-in in frames, tried in this order.
const LEAD_INS: [usize; 2] = [8, 32];
/// Largest position difference between a lead-in and the end of the previous chunk: a tenth of a millimetre.
const NEAR: f64 = 1e-4;
/// Largest rotation difference, radians: a twentieth of a degree.
const ALIKE: f64 = 8.7e-4;

/// A pose before and after solving.
#[derive(Clone, Debug)]
struct SolvedFrame {
    given: Pose,
    answer: Pose,
}

/// The results of consecutive frames.
type Answers = Vec<(Pose, Outcome)>;

impl TreeSolver {
    /// As [`TreeSolver::solve_frames`], each frame starting from the previous result: needs fewer steps if targets are far
    /// from the given poses, and keeps the bend direction from frame to frame. The results do not depend on the number of
    /// threads.
    ///
    /// # Panics
    /// If a pose belongs to another skeleton.
    pub fn follow_frames(
        &self,
        mechanism: &Mechanism,
        frames: &mut [Pose],
        tasks: impl Fn(usize) -> Vec<Task> + Sync,
        stop: &Stop,
    ) -> Vec<Outcome> {
        let given = frames.to_vec();
        let solve = |range: std::ops::Range<usize>, before: Option<SolvedFrame>| {
            self.follow(mechanism, &given, range, &tasks, stop, before)
        };
        // The frame before the chunk as solved by the lead-in, and the chunk.
        let led_in = |first: usize, lead_in: usize| {
            let from = first - lead_in.min(first);
            let mut answers = solve(from..(first + CHUNK).min(given.len()), None);
            let own = answers.split_off(first - from);
            (answers.pop().map(|(pose, _)| pose), own)
        };
        let starts: Vec<usize> = (0..given.len()).step_by(CHUNK).collect();
        let chunks: Vec<_> = parallel::map_each(&starts, 1, |&first| led_in(first, LEAD_INS[0]));
        let mut all: Answers = Vec::with_capacity(given.len());
        for (&first, (meeting, mut answers)) in starts.iter().zip(chunks) {
            if let Some((end, _)) = all.last() {
                let meets = |meeting: &Option<Pose>| {
                    meeting.as_ref().is_some_and(|m| agree(mechanism, &tasks(first - 1), m, end))
                };
                if !meets(&meeting) {
                    let (meeting, longer) = led_in(first, LEAD_INS[1]);
                    answers = longer;
                    if !meets(&meeting) {
                        let before = SolvedFrame { given: given[first - 1].clone(), answer: end.clone() };
                        answers = solve(first..(first + CHUNK).min(given.len()), Some(before));
                    }
                }
            }
            all.extend(answers);
        }
        let place = |(frame, (pose, outcome)): (&mut Pose, (Pose, Outcome))| {
            *frame = pose;
            outcome
        };
        frames.iter_mut().zip(all).map(place).collect()
    }

    /// Solves frames in order, the first starting from the result `before` it.
    fn follow(
        &self,
        mechanism: &Mechanism,
        given: &[Pose],
        range: std::ops::Range<usize>,
        tasks: &(impl Fn(usize) -> Vec<Task> + Sync),
        stop: &Stop,
        mut before: Option<SolvedFrame>,
    ) -> Answers {
        let mut room = Workspace::new(mechanism);
        let mut answers = Vec::with_capacity(range.len());
        for frame in range {
            let mut pose = given[frame].clone();
            if let Some(before) = &before {
                apply_change(before, &mut pose);
            }
            let mut outcome = Outcome::default();
            self.solve_from(&mut room, &tasks(frame), &mut pose, &given[frame], stop, &mut outcome);
            before = Some(SolvedFrame { given: given[frame].clone(), answer: pose.clone() });
            answers.push((pose, outcome));
        }
        answers
    }
}

/// Applies the change that solving made to the previous frame.
fn apply_change(before: &SolvedFrame, pose: &mut Pose) {
    let changes = before.given.local().iter().zip(before.answer.local());
    for (local, (given, answer)) in pose.local_mut().iter_mut().zip(changes) {
        let delta = given.rotation.inverse() * answer.rotation;
        local.rotation *= delta;
        local.rotation.renormalize();
        local.translation += answer.translation - given.translation;
    }
}

/// Whether every joint of the tasks has the same position and rotation in two poses.
fn agree(mechanism: &Mechanism, tasks: &[Task], a: &Pose, b: &Pose) -> bool {
    let [a, b] = [a, b].map(|pose| ModelPose::of(mechanism.skeleton(), pose));
    tasks.iter().flat_map(Task::joints).all(|id| {
        (a.position(id) - b.position(id)).norm() < NEAR
            && a.joint(id).rotation.angle_to(&b.joint(id).rotation) < ALIKE
    })
}
