//! The common interface of all solvers: stopping criteria, outcome per task, and the solver trait. Results are never NaN.

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
    /// Maximum number of steps (sweeps for the geometric solvers).
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

/// Whether a task was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Within its tolerance.
    Reached,
    /// Not within its tolerance, and no step of the solver reduces the error.
    Unreachable,
    /// Not within its tolerance after the maximum number of steps.
    Unfinished,
}

/// Result of one task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effector {
    /// Whether it was reached. Postures have no tolerance and always count as reached.
    pub reach: Reach,
    /// The remaining error, in metres or radians.
    pub residual: f64,
}

/// Result of a solve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether every task is reached.
    pub converged: bool,
    /// Number of steps.
    pub iterations: usize,
    /// Square root of the weighted sum of squared residuals; infinite if the input was not finite.
    pub residual: f64,
    /// One result per task, in task order.
    pub effectors: Vec<Effector>,
    /// Number of joints at the edge of their limit.
    pub limited: usize,
}

impl Outcome {
    /// The outcome of a final pose found in `iterations` steps: tasks not reached count as unreachable.
    pub fn of(mechanism: &Mechanism, tasks: &[Task], pose: &Pose, stop: &Stop, iterations: usize) -> Self {
        judge(mechanism, tasks, pose, stop, Progress { iterations, stationary: true })
    }
}

/// Number of steps, and whether the solver converged to a stationary pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of steps.
    pub iterations: usize,
    /// Whether the solver stopped at a pose that none of its steps improves.
    pub stationary: bool,
}

/// A method that moves a mechanism towards tasks.
pub trait Solver {
    /// The usual name of the method.
    fn name(&self) -> &'static str;

    /// Whether every result keeps the joint limits.
    fn keeps_limits(&self) -> bool {
        true
    }

    /// Moves `pose`; all input is finite.
    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress;

    /// Retries from a perturbed pose if the solver was stationary at the first step: a straight limb that points at its
    /// target has a zero gradient although a solution exists. The retry is used only if it reduces the residual by a
    /// tenth, so that limbs stretched towards unreachable targets stay straight.
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
        let mut perturbed = pose.clone();
        let step: Vec<f64> = (0..mechanism.dofs()).map(|k| if k % 2 == 0 { NUDGE } else { -NUDGE }).collect();
        mechanism.step(&mut perturbed, &model, &step);
        let again = self.run(mechanism, tasks, &mut perturbed, stop);
        if judge(mechanism, tasks, &perturbed, stop, again).residual < 0.9 * here.residual {
            *pose = perturbed;
            return again;
        }
        found
    }

    /// Moves `pose` as close to the tasks as possible and reports the result.
    ///
    /// Unreachable targets and singular poses are valid input. If any number is not finite, the pose is unchanged.
    ///
    /// # Panics
    /// If the pose or a task belongs to another skeleton.
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

/// Perturbation of a stationary pose, in radians or metres per degree of freedom.
const NUDGE: f64 = 0.05;

/// The outcome of a result: the error of every task by forward kinematics.
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

/// Number of joints at the edge of their limit: a small rotation in some direction leads outside.
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
