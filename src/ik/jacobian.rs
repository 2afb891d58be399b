//! Classic Jacobian solvers: transpose, pseudoinverse, damped and selectively damped least squares,
//! Levenberg-Marquardt, task priority.
//!
//! Buss (2009) for the first three; Buss and Kim (2005) for selective damping; Sugihara (2011) for damping by the
//! cost; Siciliano and Slotine (1991) for priorities through null spaces. Errors are clamped before each step, and the
//! best pose found is the result. Units: metres, radians.

use super::mechanism::Mechanism;
use super::outcome::{Progress, Solver, Stop, all_reached};
use super::stacked_jacobian::{StackedTasks, stack};
use super::task::Task;
use super::task_rows::TaskRows;
use crate::math::{DMatrix, DVector};
use crate::model::{ModelPose, Pose};

/// How a step is computed from the Jacobian and the error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// `a J^T e`, with `a` optimal for the linear model.
    Transpose,
    /// `J^+ e` by singular value decomposition; singular values below 1e-4 of the largest count as 0.
    Pseudoinverse,
    /// `(J^T J + damping^2)^-1 J^T e`.
    Damped {
        /// The damping, in roots of weight times metres.
        damping: f64,
    },
    /// Each singular direction is damped by the ratio of effector motion to joint motion.
    SelectivelyDamped,
    /// `(J^T J + e^T e / 2 + bias)^-1 J^T e`.
    Sugihara {
        /// Minimum damping.
        bias: f64,
    },
    /// Later priorities in the null space of earlier ones, each with damping.
    Priority {
        /// The damping, in roots of weight times metres.
        damping: f64,
    },
}

/// A classic Jacobian solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jacobian {
    /// How a step is computed.
    pub method: Method,
    /// Clamp on the error of one task per step, in the task's unit.
    pub longest_error: f64,
}

impl Jacobian {
    /// A solver of this method with errors clamped to half a metre or radian per step.
    pub fn new(method: Method) -> Self {
        Self { method, longest_error: 0.5 }
    }

    /// All methods with usual settings.
    pub fn all() -> [Self; 6] {
        [
            Self::new(Method::Transpose),
            Self::new(Method::Pseudoinverse),
            Self::new(Method::Damped { damping: 0.02 }),
            Self::new(Method::SelectivelyDamped),
            Self::new(Method::Sugihara { bias: 1e-5 }),
            Self::new(Method::Priority { damping: 0.02 }),
        ]
    }

    fn step(&self, tasks: &[Task], mut s: StackedTasks) -> DVector<f64> {
        let mut first = 0;
        for &end in &s.ends {
            let mut part = s.error.rows_mut(first, end - first);
            let length = part.norm();
            if length > self.longest_error {
                part *= self.longest_error / length;
            }
            first = end;
        }
        match self.method {
            Method::Transpose => {
                let back = s.jacobian.transpose() * &s.error;
                let forth = &s.jacobian * &back;
                let size = forth.norm_squared();
                if size > 1e-30 { back * (s.error.dot(&forth) / size) } else { back * 0.0 }
            }
            Method::Pseudoinverse => pseudoinverse(&s.jacobian, 0.0) * &s.error,
            Method::Damped { damping } => s.damped_step(damping * damping),
            Method::SelectivelyDamped => selective(&s),
            Method::Sugihara { bias } => s.damped_step(0.5 * s.error.norm_squared() + bias),
            Method::Priority { damping } => by_priority(tasks, &s, damping),
        }
    }
}

impl Solver for Jacobian {
    fn name(&self) -> &'static str {
        match self.method {
            Method::Transpose => "transpose",
            Method::Pseudoinverse => "pseudoinverse",
            Method::Damped { .. } => "damped",
            Method::SelectivelyDamped => "selectively-damped",
            Method::Sugihara { .. } => "sugihara",
            Method::Priority { .. } => "priority",
        }
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress {
        let by_level = matches!(self.method, Method::Priority { .. });
        let measure = |s: &StackedTasks| if by_level { level_cost(tasks, s) } else { s.error.norm_squared() };
        iterate(mechanism, tasks, pose, stop, measure, |_, s| self.step(tasks, s))
    }
}

/// The solver stops after this many steps without improvement.
const PATIENCE: usize = 12;
/// Largest change of one degree of freedom in one step, radians or metres.
const LONGEST_STEP: f64 = std::f64::consts::FRAC_PI_4;

/// [`LONGEST_STEP`] for priority levels after the first.
const SHORT_STEP: f64 = 0.05;

/// The iteration shared by all Jacobian solvers: linearise, step, apply limits, keep the best pose.
pub(super) fn iterate(
    mechanism: &Mechanism,
    tasks: &[Task],
    pose: &mut Pose,
    stop: &Stop,
    measure: impl Fn(&StackedTasks) -> f64,
    step: impl Fn(&Pose, StackedTasks) -> DVector<f64>,
) -> Progress {
    let skeleton = mechanism.skeleton();
    mechanism.enforce(pose);
    let mut model = ModelPose::of(skeleton, pose);
    let mut rows = TaskRows::default();
    let mut best = (f64::INFINITY, pose.clone());
    let (mut idle, mut iterations) = (0, 0);
    let stationary = loop {
        let s = stack(mechanism, tasks, pose, &model);
        let cost = measure(&s);
        if !cost.is_finite() {
            break false;
        }
        idle = if cost < best.0 * (1.0 - 1e-6) { 0 } else { idle + 1 };
        if cost < best.0 {
            best = (cost, pose.clone());
        }
        if all_reached(mechanism, tasks, pose, &model, stop, &mut rows) {
            return Progress { iterations, stationary: false };
        }
        if idle > PATIENCE {
            break true;
        }
        if iterations == stop.iterations {
            break false;
        }
        let mut delta = step(pose, s);
        let longest = delta.amax();
        if !longest.is_finite() || longest < 1e-12 {
            break longest < 1e-12;
        }
        if longest > LONGEST_STEP {
            delta *= LONGEST_STEP / longest;
        }
        mechanism.step(pose, &model, delta.as_slice());
        mechanism.enforce(pose);
        model.set(skeleton, pose);
        iterations += 1;
    };
    *pose = best.1;
    Progress { iterations, stationary }
}

/// The sum of squared errors; each priority weighs a ten-thousandth of the previous one.
fn level_cost(tasks: &[Task], s: &StackedTasks) -> f64 {
    let mut first = 0;
    let mut cost = 0.0;
    for (task, &end) in tasks.iter().zip(&s.ends) {
        cost += s.error.rows(first, end - first).norm_squared() * 1e-4f64.powi(i32::from(task.priority));
        first = end;
    }
    cost
}

/// The pseudoinverse by singular value decomposition, with `s / (s^2 + damping^2)` in place of `1 / s`.
fn pseudoinverse(m: &DMatrix<f64>, damping: f64) -> DMatrix<f64> {
    let none = || DMatrix::zeros(m.ncols(), m.nrows());
    if m.is_empty() {
        return none();
    }
    let Some(svd) = m.clone().try_svd(true, true, 1e-14, 1000) else { return none() };
    let (Some(u), Some(v)) = (svd.u, svd.v_t) else { return none() };
    let least = 1e-4 * svd.singular_values.amax();
    let inverse = svd.singular_values.map(|s| {
        if damping > 0.0 {
            s / (s * s + damping * damping)
        } else if s > least {
            1.0 / s
        } else {
            0.0
        }
    });
    v.transpose() * DMatrix::from_diagonal(&inverse) * u.transpose()
}

/// Selectively damped least squares.
fn selective(s: &StackedTasks) -> DVector<f64> {
    let n = s.jacobian.ncols();
    let mut total = DVector::zeros(n);
    let Some(svd) = s.jacobian.clone().try_svd(true, true, 1e-14, 1000) else { return total };
    let (Some(u), Some(v)) = (svd.u, svd.v_t) else { return total };
    let clamp = |mut x: DVector<f64>, most: f64| {
        let longest = x.amax();
        if longest > most {
            x *= most / longest;
        }
        x
    };
    let spans: Vec<(usize, usize)> =
        s.ends.iter().scan(0, |first, &end| Some((std::mem::replace(first, end), end))).collect();
    // Effector displacement per unit of each degree of freedom.
    let reach: Vec<f64> = (0..n)
        .map(|j| spans.iter().map(|&(a, b)| s.jacobian.view((a, j), (b - a, 1)).norm()).sum())
        .collect();
    for (i, &sigma) in svd.singular_values.iter().enumerate() {
        if sigma < 1e-9 {
            continue;
        }
        let gain = u.column(i).dot(&s.error);
        let moves: f64 = spans.iter().map(|&(a, b)| u.view((a, i), (b - a, 1)).norm()).sum();
        let joint_motion: f64 = (0..n).map(|j| v[(i, j)].abs() * reach[j]).sum::<f64>() / sigma;
        let most = LONGEST_STEP * (moves / joint_motion.max(1e-300)).min(1.0);
        total += clamp(v.row(i).transpose() * (gain / sigma), most);
    }
    clamp(total, LONGEST_STEP)
}

/// The step by priority: each level's step lies in the null space of all earlier levels.
fn by_priority(tasks: &[Task], s: &StackedTasks, damping: f64) -> DVector<f64> {
    let n = s.jacobian.ncols();
    let mut levels: Vec<u8> = tasks.iter().map(|t| t.priority).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut step = DVector::zeros(n);
    let mut free = DMatrix::identity(n, n);
    for level in levels {
        let part = s.of_priority(tasks, level);
        if part.jacobian.nrows() == 0 {
            continue;
        }
        let inside = &part.jacobian * &free;
        let gap = &part.error - &part.jacobian * &step;
        let mut more = &free * (pseudoinverse(&inside, damping) * gap);
        // Nonlinearity makes long steps of later levels leave the null space, so they are kept short.
        if level > 0 && more.amax() > SHORT_STEP {
            more *= SHORT_STEP / more.amax();
        }
        step += more;
        // The projector must be exact (undamped), or later levels disturb earlier ones.
        free -= pseudoinverse(&inside, 0.0) * &inside;
    }
    step
}
