//! The whole-body solver: damped Gauss-Newton steps by tree recursion, O(joints) each.
//!
//! A step is accepted if the true cost falls, else reverted and damped more (Levenberg 1944, Marquardt 1963). Damping
//! also follows the cost, so that unreachable targets stay well conditioned (Sugihara 2011). A joint whose step would
//! leave its limit moves to the nearest position inside, and the other joints compensate, in up to three rounds. Hard
//! tasks (pins) are enforced by an augmented Lagrangian (Hestenes 1969, Powell 1969). `solve_frames` solves each
//! frame independently; `follow_frames` starts from the solution of the previous frame. Units: metres, radians.

use super::freedom::Freedom;
use super::mechanism::Mechanism;
use super::outcome::{Effector, Outcome, Progress, Reach, Solver, Stop};
use super::task::{Goal, Task};
use super::tree_coupling::is_quick;
use super::tree_run::{Problem, TreeRun};
use crate::math::{Real, RealX4, Transform};
use crate::model::{JointId, Pose};
use crate::parallel;
use std::sync::Arc;

/// The whole-body solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSolver {
    /// Minimum damping of a step, in units of weight times square metres. More is slower and more stable.
    pub damping: f64,
    /// Stiffness towards the initial pose for every joint involved; 0 disables it. A task of weight 1 that requires a
    /// rotation by an angle at a lever arm is missed by about `posture * angle / lever` metres.
    pub posture: f64,
}

impl Default for TreeSolver {
    fn default() -> Self {
        Self { damping: 1e-6, posture: 0.0 }
    }
}

/// Reusable buffers for one mechanism: allocated by the first frame and reused by all frames whose tasks differ in
/// targets only (tasks that couple branches still allocate).
#[derive(Clone, Debug)]
pub struct Workspace<'m> {
    mechanism: &'m Mechanism,
    one: Option<TreeRun<f64>>,
    four: Option<TreeRun<RealX4>>,
}

impl<'m> Workspace<'m> {
    /// Empty buffers for this mechanism.
    pub fn new(mechanism: &'m Mechanism) -> Self {
        Self { mechanism, one: None, four: None }
    }
}

/// The run in `slot` if it was created for tasks of this shape, else a new one.
fn fitting<'r, T: Real>(
    slot: &'r mut Option<TreeRun<T>>,
    mechanism: &Mechanism,
    tasks: &[Task],
) -> &'r mut TreeRun<T> {
    if !slot.as_ref().is_some_and(|run| same_shape(&run.shape, tasks)) {
        *slot = None;
    }
    slot.get_or_insert_with(|| TreeRun::new(mechanism, tasks))
}

impl Solver for TreeSolver {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress {
        let problem =
            Problem { damping: self.damping, posture: self.posture, mechanism, tasks: &[tasks], stop };
        let mut run = TreeRun::<f64>::new(mechanism, tasks);
        run.load(std::slice::from_ref(pose), None, problem.tasks);
        let progress = run.solve(problem)[0];
        if run.finite() == 1 {
            run.write(0, pose);
        }
        progress
    }

    fn solve(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Outcome {
        let mut outcome = Outcome::default();
        self.solve_in(&mut Workspace::new(mechanism), tasks, pose, stop, &mut outcome);
        outcome
    }
}

impl TreeSolver {
    /// As [`Solver::solve`] with reused buffers and outcome.
    ///
    /// # Panics
    /// If the pose or a task belongs to another skeleton than the workspace's.
    pub fn solve_in(
        &self,
        room: &mut Workspace<'_>,
        tasks: &[Task],
        pose: &mut Pose,
        stop: &Stop,
        outcome: &mut Outcome,
    ) {
        self.solve_held(room, tasks, pose, None, stop, outcome);
    }

    /// As [`TreeSolver::solve_in`] with a posture reference other than the initial pose.
    ///
    /// # Panics
    /// As there.
    pub fn solve_from(
        &self,
        room: &mut Workspace<'_>,
        tasks: &[Task],
        pose: &mut Pose,
        posture: &Pose,
        stop: &Stop,
        outcome: &mut Outcome,
    ) {
        self.solve_held(room, tasks, pose, Some(posture), stop, outcome);
    }

    fn solve_held(
        &self,
        room: &mut Workspace<'_>,
        tasks: &[Task],
        pose: &mut Pose,
        posture: Option<&Pose>,
        stop: &Stop,
        outcome: &mut Outcome,
    ) {
        let mechanism = room.mechanism;
        assert_eq!(pose.local().len(), mechanism.skeleton().len(), "a pose belongs to its skeleton");
        if !(is_finite(pose) && posture.is_none_or(is_finite) && tasks.iter().all(Task::is_finite)) {
            let effector = Effector { reach: Reach::Unfinished, residual: f64::INFINITY };
            outcome.effectors.clear();
            outcome.effectors.resize(tasks.len(), effector);
            (outcome.converged, outcome.iterations, outcome.limited) = (false, 0, 0);
            outcome.residual = f64::INFINITY;
            return;
        }
        let problem =
            Problem { damping: self.damping, posture: self.posture, mechanism, tasks: &[tasks], stop };
        let run = fitting(&mut room.one, mechanism, tasks);
        run.load(std::slice::from_ref(pose), posture.map(std::slice::from_ref), problem.tasks);
        let progress = run.solve(problem)[0];
        self.finish(run, (0, run.finite() == 1), problem, progress, pose, outcome);
    }

    /// Writes the pose and outcome of one lane; retries from a perturbed pose if the solver was stationary at once.
    fn finish<T: Real>(
        &self,
        run: &TreeRun<T>,
        (lane, finite): (usize, bool),
        problem: Problem<'_>,
        progress: Progress,
        pose: &mut Pose,
        outcome: &mut Outcome,
    ) {
        let Problem { mechanism, tasks, stop, .. } = problem;
        if finite {
            run.write(lane, pose);
        }
        run.report(lane, problem, progress, outcome);
        if !finite || progress.stationary && progress.iterations <= 1 && !outcome.converged {
            let progress = self.escape(mechanism, tasks[lane], pose, stop, progress);
            *outcome = super::outcome::judge(mechanism, tasks[lane], pose, stop, progress);
        }
    }

    /// One step without acceptance test, limits or cost damping, as input for [`Mechanism::step`]. Joints that no task
    /// depends on do not move.
    pub fn single_step(&self, mechanism: &Mechanism, tasks: &[Task], pose: &Pose) -> Vec<f64> {
        let poses = std::slice::from_ref(pose);
        let problem = Problem {
            damping: self.damping,
            posture: self.posture,
            mechanism,
            tasks: &[tasks],
            stop: &Stop::default(),
        };
        let mut run = TreeRun::<f64>::new(mechanism, tasks);
        run.load(poses, None, problem.tasks);
        run.assemble(problem, true);
        run.linear_step(self.damping);
        let mut step = vec![0.0; mechanism.dofs()];
        for (i, &joint) in run.plan.joints.iter().enumerate() {
            let out = &mut step[mechanism.dofs_of(JointId::new(joint))];
            let slot = &run.step.slots[i];
            match run.plan.freedom[i] {
                Freedom::Fixed => {}
                Freedom::Hinge(_) | Freedom::Slide(_) => out[0] = slot.delta[0],
                Freedom::TwoAxis(..) => out.copy_from_slice(&run.step.two_amounts(&run.plan, i, slot.delta)),
                Freedom::Ball => out.copy_from_slice(&slot.delta),
                Freedom::Free => {
                    out[..3].copy_from_slice(&slot.delta);
                    out[3..].copy_from_slice(&slot.twist[1]);
                }
            }
        }
        step
    }

    /// Solves many frames independently, on all threads; `tasks` gives the tasks of a frame.
    ///
    /// Four frames are computed in SIMD lanes if all tasks are positions and orientations and differ in targets only;
    /// the results agree to 1e-12 and do not depend on the number of threads.
    ///
    /// # Panics
    /// If a pose belongs to another skeleton.
    pub fn solve_frames(
        &self,
        mechanism: &Mechanism,
        frames: &mut [Pose],
        tasks: impl Fn(usize) -> Vec<Task> + Sync,
        stop: &Stop,
    ) -> Vec<Outcome> {
        /// Frames that share one workspace.
        const CHUNK: usize = 64;
        let mut chunks: Vec<_> = frames.chunks_mut(CHUNK).collect();
        let chunks = parallel::map_mut(&mut chunks, 1, |number, chunk| {
            let of_frame: Vec<Vec<Task>> = (0..chunk.len()).map(|k| tasks(number * CHUNK + k)).collect();
            self.solve_chunk(mechanism, chunk, &of_frame, stop)
        });
        chunks.into_iter().flatten().collect()
    }

    /// Solves frames in order on this thread, four at a time where possible.
    ///
    /// # Panics
    /// Where a pose belongs to another skeleton.
    pub fn solve_chunk(
        &self,
        mechanism: &Mechanism,
        frames: &mut [Pose],
        tasks: &[Vec<Task>],
        stop: &Stop,
    ) -> Vec<Outcome> {
        let mut outcomes = vec![Outcome::default(); frames.len()];
        self.solve_chunk_in(&mut Workspace::new(mechanism), frames, tasks, stop, &mut outcomes);
        outcomes
    }

    /// As [`TreeSolver::solve_chunk`] with reused buffers and outcomes.
    ///
    /// # Panics
    /// If a pose belongs to another skeleton, or the three lists differ in length.
    pub fn solve_chunk_in(
        &self,
        room: &mut Workspace<'_>,
        frames: &mut [Pose],
        tasks: &[Vec<Task>],
        stop: &Stop,
        outcomes: &mut [Outcome],
    ) {
        /// Frames that are solved together.
        const LANES: usize = RealX4::LANES;
        assert!(
            frames.len() == tasks.len() && frames.len() == outcomes.len(),
            "one list and one outcome a frame"
        );
        let mechanism = room.mechanism;
        let groups = frames.chunks_mut(LANES).zip(tasks.chunks(LANES)).zip(outcomes.chunks_mut(LANES));
        for ((frames, tasks), outcomes) in groups {
            let fits = frames.len() == LANES
                && tasks[0].iter().all(|t| is_quick(&t.goal))
                && tasks[1..].iter().all(|t| same_shape(t, &tasks[0]))
                && tasks.iter().flatten().all(Task::is_finite)
                && frames.iter().all(is_finite);
            if !fits {
                for ((pose, tasks), outcome) in frames.iter_mut().zip(tasks).zip(outcomes) {
                    self.solve_in(room, tasks, pose, stop, outcome);
                }
                continue;
            }
            let lanes: [&[Task]; LANES] = std::array::from_fn(|k| tasks[k].as_slice());
            let problem =
                Problem { damping: self.damping, posture: self.posture, mechanism, tasks: &lanes, stop };
            let run = fitting(&mut room.four, mechanism, &tasks[0]);
            run.load(frames, None, &lanes);
            let progress = run.solve(problem);
            let finite = run.finite();
            for (k, (pose, outcome)) in frames.iter_mut().zip(outcomes).enumerate() {
                self.finish(run, (k, finite >> k & 1 == 1), problem, progress[k], pose, outcome);
            }
        }
    }
}

fn is_finite(pose: &Pose) -> bool {
    pose.local().iter().all(Transform::is_finite)
}

/// Whether two task lists differ in their targets only.
fn same_shape(a: &[Task], b: &[Task]) -> bool {
    let same = |(a, b): (&Task, &Task)| {
        let goals = match (&a.goal, &b.goal) {
            (Goal::Position { joint: i, point: p, .. }, Goal::Position { joint: j, point: q, .. }) => {
                i == j && p == q
            }
            (Goal::Orientation { joint: i, .. }, Goal::Orientation { joint: j, .. })
            | (Goal::Aim { joint: i, .. }, Goal::Aim { joint: j, .. }) => i == j,
            (
                Goal::Pole { root: a, middle: b, end: c, .. },
                Goal::Pole { root: x, middle: y, end: z, .. },
            ) => [a, b, c] == [x, y, z],
            (Goal::Relative { placed: p, against: q, .. }, Goal::Relative { placed: x, against: y, .. }) => {
                p.0 == x.0 && q.0 == y.0
            }
            (Goal::CentreOfMass { masses: m, .. }, Goal::CentreOfMass { masses: n, .. })
            | (Goal::Balance { masses: m, .. }, Goal::Balance { masses: n, .. }) => {
                Arc::ptr_eq(m, n) || m == n
            }
            (Goal::Posture { stiffness: s, .. }, Goal::Posture { stiffness: t, .. }) => {
                Arc::ptr_eq(s, t) || s == t
            }
            _ => false,
        };
        goals && a.weight == b.weight && a.hard == b.hard
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}
