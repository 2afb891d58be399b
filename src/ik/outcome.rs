//! What every solver is asked and what it answers: one signature, one outcome, never a number that is none.

use super::mechanism::Mechanism;
use super::task::Task;
use super::task_rows::TaskRows;
use crate::model::{ModelPose, Pose};

/// When a solver may stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// A position is reached within this many metres.
    pub position: f64,
    /// An orientation, an aim or a pole is reached within this many radians.
    pub angle: f64,
    /// The most steps (sweeps for the geometric solvers).
    pub iterations: usize,
}

impl Default for Stop {
    /// A tenth of a millimetre, a tenth of a degree, 100 steps.
    fn default() -> Self {
        Self { position: 1e-4, angle: 1.745e-3, iterations: 100 }
    }
}

impl Stop {
    /// The tolerance of one task.
    pub fn tolerance(&self, task: &Task) -> f64 {
        if task.is_angular() { self.angle } else { self.position }
    }
}

/// How one task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Within its tolerance.
    Reached,
    /// Not within its tolerance, and no step of the solver brings it nearer.
    Unreachable,
    /// Not within its tolerance when the steps ran out.
    Unfinished,
}

/// How one task ended, and how far off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effector {
    /// How it ended. Postures have no tolerance and are always reached.
    pub reach: Reach,
    /// The distance that is left, in metres or radians.
    pub residual: f64,
}

/// What a solver has to say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether every task is reached.
    pub converged: bool,
    /// Steps made.
    pub iterations: usize,
    /// The root of the weighted sum of squared residuals; infinite where the problem was not finite.
    pub residual: f64,
    /// One for every task, in their order.
    pub effectors: Vec<Effector>,
    /// How many joints stand at the edge of their limit.
    pub limited: usize,
}

impl Outcome {
    /// The outcome of a pose that was found in so many steps and is the answer: what is not reached cannot be.
    pub fn of(mechanism: &Mechanism, tasks: &[Task], pose: &Pose, stop: &Stop, iterations: usize) -> Self {
        judge(mechanism, tasks, pose, stop, Progress { iterations, stationary: true })
    }
}

/// Steps made, and whether the last one changed nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps made.
    pub iterations: usize,
    /// Whether the solver stopped where no step of it helps.
    pub stationary: bool,
}

/// A way to move a mechanism so that tasks are met.
pub trait Solver {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// Whether joints keep their limits in every answer.
    fn keeps_limits(&self) -> bool;

    /// Moves `pose`; called with finite numbers only.
    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress;

    /// Tries once more from a slightly bent pose where the first step already led nowhere: a straight limb that points
    /// at its target has no first-order step, but an answer. The bent start must pay by a tenth of the residual, so
    /// that limbs stretched after unreachable targets stay as they are.
    fn escape(
        &self,
        mechanism: &Mechanism,
        tasks: &[Task],
        pose: &mut Pose,
        stop: &Stop,
        found: Progress,
    ) -> Progress {
        if !found.stationary || found.iterations > 1 {
            return found;
        }
        let here = judge(mechanism, tasks, pose, stop, found);
        if here.converged {
            return found;
        }
        let skeleton = mechanism.skeleton();
        let model = ModelPose::of(skeleton, pose);
        let mut bent = pose.clone();
        let step: Vec<f64> = (0..mechanism.dofs()).map(|k| if k % 2 == 0 { NUDGE } else { -NUDGE }).collect();
        mechanism.step(&mut bent, &model, &step);
        let again = self.run(mechanism, tasks, &mut bent, stop);
        if judge(mechanism, tasks, &bent, stop, again).residual < 0.9 * here.residual {
            *pose = bent;
            return again;
        }
        found
    }

    /// Moves `pose` so that the tasks are met as well as can be, and says how well.
    ///
    /// Unreachable targets and singular poses are answers. Where a number of the problem is not finite the pose
    /// stays as it is.
    ///
    /// # Panics
    /// Where the pose or a task belongs to another skeleton.
    fn solve(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Outcome {
        assert_eq!(pose.local().len(), mechanism.skeleton().len(), "a pose belongs to its skeleton");
        let finite = |pose: &Pose| pose.local().iter().all(|t| t.is_finite());
        let lost = Progress { iterations: 0, stationary: false };
        if !(finite(pose) && tasks.iter().all(Task::is_finite)) {
            let effector = Effector { reach: Reach::Unfinished, residual: f64::INFINITY };
            return Outcome {
                residual: f64::INFINITY,
                effectors: vec![effector; tasks.len()],
                ..Outcome::default()
            };
        }
        let start = pose.clone();
        let mut progress = self.run(mechanism, tasks, pose, stop);
        progress = self.escape(mechanism, tasks, pose, stop, progress);
        if !finite(pose) {
            *pose = start;
            progress = lost;
        }
        judge(mechanism, tasks, pose, stop, progress)
    }
}

/// How far a pose that a solver is stuck at is bent to get it off, in radians or metres a degree of freedom.
const NUDGE: f64 = 0.05;

/// The outcome of an answer: how far every task is off by forward kinematics.
pub(super) fn judge(
    mechanism: &Mechanism,
    tasks: &[Task],
    pose: &Pose,
    stop: &Stop,
    progress: Progress,
) -> Outcome {
    let skeleton = mechanism.skeleton();
    let model = ModelPose::of(skeleton, pose);
    let mut rows = TaskRows::default();
    let mut cost = 0.0;
    let mut effectors = Vec::with_capacity(tasks.len());
    for task in tasks {
        let residual = task.distance(skeleton.parents(), pose, &model, &mut rows);
        let posture = matches!(task.goal, super::task::Goal::Posture { .. });
        let reach = match () {
            () if posture || residual <= stop.tolerance(task) => Reach::Reached,
            () if progress.stationary => Reach::Unreachable,
            () => Reach::Unfinished,
        };
        if !posture {
            cost += task.weight * residual * residual;
        }
        effectors.push(Effector { reach, residual });
    }
    Outcome {
        converged: effectors.iter().all(|e| e.reach == Reach::Reached),
        iterations: progress.iterations,
        residual: cost.sqrt(),
        effectors,
        limited: limited_joints(mechanism, pose),
    }
}

/// How many joints stand at the edge of their limit: a small turn in some direction leads outside.
fn limited_joints(mechanism: &Mechanism, pose: &Pose) -> usize {
    let skeleton = mechanism.skeleton();
    let at_edge = |id: &crate::model::JointId| {
        let Some(limit) = mechanism.limit(*id) else { return false };
        limit.at_edge(&mechanism.freedom(*id), &skeleton.joint(*id).rest, pose.joint(*id))
    };
    skeleton.ids().filter(at_edge).count()
}

/// Whether every task is within its tolerance at a pose given in local and model space.
pub(super) fn all_reached(
    mechanism: &Mechanism,
    tasks: &[Task],
    pose: &Pose,
    model: &ModelPose,
    stop: &Stop,
    rows: &mut TaskRows,
) -> bool {
    let parents = mechanism.skeleton().parents();
    let posture = |task: &Task| matches!(task.goal, super::task::Goal::Posture { .. });
    tasks.iter().all(|t| posture(t) || t.distance(parents, pose, model, rows) <= stop.tolerance(t))
}
