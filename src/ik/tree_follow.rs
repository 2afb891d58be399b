//! Frames that start from the answer of the frame before, in chunks that threads share without a trace in the result.
//!
//! Chunks are of a fixed length. Each is led in by a few frames before its first that are solved and thrown away; where
//! the lead-in has not come to where the chunk before ended, a longer one is tried, and then the chunk starts from the
//! very end of the one before. So the answer is that of one thread, whatever computed it. Units: metres, radians.

use super::mechanism::Mechanism;
use super::outcome::{Outcome, Stop};
use super::task::Task;
use super::tree_solver::{TreeSolver, Workspace};
use crate::model::{ModelPose, Pose};
use rayon::prelude::*;

/// Frames of a chunk.
const CHUNK: usize = 64;
/// Frames of the lead-in, tried in this order.
const LEAD_INS: [usize; 2] = [8, 32];
/// How near a lead-in must come to the chunk before: a tenth of a millimetre and a twentieth of a degree.
const NEAR: f64 = 1e-4;
const ALIKE: f64 = 8.7e-4;

/// A pose as it came and as it was answered.
#[derive(Clone, Debug)]
struct SolvedFrame {
    given: Pose,
    answer: Pose,
}

/// The answers of consecutive frames.
type Answers = Vec<(Pose, Outcome)>;

impl TreeSolver {
    /// As [`TreeSolver::solve_frames`], each frame from the answer of the one before: fewer steps where targets are far
    /// from the poses that came, and the same bend from frame to frame. The answers are the same for every number of
    /// threads.
    ///
    /// # Panics
    /// Where a pose belongs to another skeleton.
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
        // The frame before the chunk as the lead-in answers it, and the chunk.
        let led_in = |first: usize, lead_in: usize| {
            let from = first - lead_in.min(first);
            let mut answers = solve(from..(first + CHUNK).min(given.len()), None);
            let own = answers.split_off(first - from);
            (answers.pop().map(|(pose, _)| pose), own)
        };
        let starts: Vec<usize> = (0..given.len()).step_by(CHUNK).collect();
        let chunks: Vec<_> = starts.par_iter().map(|&first| led_in(first, LEAD_INS[0])).collect();
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

    /// Solves frames in order, the first from the answer `before` it.
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
                carry(before, &mut pose);
            }
            let mut outcome = Outcome::default();
            self.solve_from(&mut room, &tasks(frame), &mut pose, &given[frame], stop, &mut outcome);
            before = Some(SolvedFrame { given: given[frame].clone(), answer: pose.clone() });
            answers.push((pose, outcome));
        }
        answers
    }
}

/// Changes a pose as the frame before was changed by its answer.
fn carry(before: &SolvedFrame, pose: &mut Pose) {
    let changes = before.given.local().iter().zip(before.answer.local());
    for (local, (given, answer)) in pose.local_mut().iter_mut().zip(changes) {
        let turned = given.rotation.inverse() * answer.rotation;
        local.rotation *= turned;
        local.rotation.renormalize();
        local.translation += answer.translation - given.translation;
    }
}

/// Whether every joint of the tasks is at the same place in two poses, turned alike.
fn agree(mechanism: &Mechanism, tasks: &[Task], a: &Pose, b: &Pose) -> bool {
    let [a, b] = [a, b].map(|pose| ModelPose::of(mechanism.skeleton(), pose));
    tasks.iter().flat_map(Task::joints).all(|id| {
        (a.position(id) - b.position(id)).norm() < NEAR
            && a.joint(id).rotation.angle_to(&b.joint(id).rotation) < ALIKE
    })
}
