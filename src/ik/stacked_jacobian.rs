//! Stacked, weighted Jacobian of all tasks, which the classic solvers decompose.
//!
//! Rows are tasks in order, columns the degrees of freedom of the mechanism. The tree solver never builds it; tests
//! compare that solver with it. Space: model space. Units: metres and radians.

use super::mechanism::Mechanism;
use super::task::Task;
use super::task_rows::TaskRows;
use crate::math::{DMatrix, DVector, Vec3};
use crate::model::{ModelPose, Pose};

/// The stacked rows of all tasks at one pose, each multiplied by the square root of its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct StackedTasks {
    /// Rows by degrees of freedom.
    pub jacobian: DMatrix<f64>,
    /// Target minus current.
    pub error: DVector<f64>,
    /// The end of the rows of each task.
    pub ends: Vec<usize>,
}

/// Stacks the rows of tasks at a pose, given in local and model space.
pub fn stack(mechanism: &Mechanism, tasks: &[Task], pose: &Pose, model: &ModelPose) -> StackedTasks {
    let skeleton = mechanism.skeleton();
    let mut rows = TaskRows::default();
    let (mut errors, mut ends, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        task.linearize(skeleton.parents(), pose, model, &Vec3::zeros(), &mut rows);
        let first = errors.len();
        let root = |row: usize| (task.weight * rows.factor[row]).sqrt();
        for term in &rows.terms {
            for id in skeleton.path_to_root(term.joint) {
                let x = model.position(id);
                for (dof, axis) in mechanism.dofs_of(id).zip(mechanism.axes(model, id)) {
                    // The twist about the model's origin: the point there has the velocity v - w x x.
                    let moved = axis.linear - axis.angular.cross(&x);
                    let value = term.moment.dot(&axis.angular) + term.force.dot(&moved);
                    entries.push((first + term.row, dof, value * root(term.row)));
                }
            }
        }
        errors.extend(rows.error.iter().enumerate().map(|(row, e)| e * root(row)));
        ends.push(errors.len());
    }
    let mut jacobian = DMatrix::zeros(errors.len(), mechanism.dofs());
    for (row, dof, value) in entries {
        jacobian[(row, dof)] += value;
    }
    StackedTasks { jacobian, error: DVector::from_vec(errors), ends }
}

impl StackedTasks {
    /// The damped least-squares step `(J^T J + damping)^-1 J^T e`, by Cholesky factorisation of the smaller matrix.
    pub fn damped_step(&self, damping: f64) -> DVector<f64> {
        let (j, n) = (&self.jacobian, self.jacobian.ncols());
        let m = j.nrows();
        let square = if m <= n { j * j.transpose() } else { j.transpose() * j };
        let size = square.nrows();
        let factor = |damping: f64| (&square + DMatrix::identity(size, size) * damping).cholesky();
        // Without damping the factorisation of a singular matrix fails; a little damping prevents that.
        let tiny = 1e-12 * (1.0 + square.diagonal().amax());
        let Some(factor) = factor(damping).or_else(|| factor(damping + tiny)) else {
            return DVector::zeros(n);
        };
        if m <= n {
            j.transpose() * factor.solve(&self.error)
        } else {
            factor.solve(&(j.transpose() * &self.error))
        }
    }

    /// The rows of the tasks of one priority.
    pub fn of_priority(&self, tasks: &[Task], priority: u8) -> StackedTasks {
        let mut rows = Vec::new();
        let (mut first, mut ends) = (0, Vec::new());
        for (task, &end) in tasks.iter().zip(&self.ends) {
            if task.priority == priority {
                rows.extend(first..end);
                ends.push(rows.len());
            }
            first = end;
        }
        let jacobian = self.jacobian.select_rows(&rows);
        StackedTasks { jacobian, error: self.error.select_rows(&rows), ends }
    }
}
