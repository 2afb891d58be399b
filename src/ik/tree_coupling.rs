//! Tasks other than positions and orientations in the tree solver.
//!
//! Rows on one joint are added to its quadratic; rows that couple branches (poles, relative positions, centres of mass)
//! enter by a low-rank correction of the factorised tree (Woodbury 1950). Space: model space. Units: metres, radians.

use super::mechanism::Mechanism;
use super::outcome::Stop;
use super::task::{Goal, Task};
use super::task_rows::{TaskRows, Term};
use super::tree_algebra::{splat, zero};
use super::tree_kernel::{TreePlan, TreeStep};
use crate::math::{DMatrix, DVector, Real, Triple as V, Vec3, scaled, sum};
use crate::model::{ModelPose, Pose, Skeleton};

/// A row that depends on several slots.
#[derive(Clone, Debug)]
struct Coupled {
    error: f64,
    weight: f64,
    terms: Vec<(usize, V<f64>, V<f64>)>,
}

/// The pose of the first lane and the rows of its general tasks.
#[derive(Clone, Debug)]
pub(super) struct CoupledGroup {
    /// The pose at which the tasks are evaluated.
    pub pose: Pose,
    model: ModelPose,
    rows: TaskRows,
    coupled: Vec<Coupled>,
}

/// Whether a goal is a position or an orientation, which needs no rows.
pub(super) fn is_quick(goal: &Goal) -> bool {
    matches!(goal, Goal::Position { .. } | Goal::Orientation { .. })
}

impl CoupledGroup {
    /// Buffers for poses of this skeleton.
    pub fn new(skeleton: &Skeleton) -> Self {
        Self {
            pose: skeleton.rest_pose(),
            model: skeleton.rest_model_pose(),
            rows: TaskRows::default(),
            coupled: Vec::new(),
        }
    }

    /// Adds the general tasks to a step at the pose; returns their cost and whether all are reached. `squares` receives
    /// the squared error of each.
    pub fn assemble<T: Real>(
        &mut self,
        mechanism: &Mechanism,
        tasks: &[Task],
        stop: &Stop,
        slot_of: &[usize],
        step: &mut TreeStep<T>,
        squares: &mut [T],
    ) -> (f64, bool) {
        let skeleton = mechanism.skeleton();
        self.model.set(skeleton, &self.pose);
        self.coupled.clear();
        let origin = Vec3::from(step.slots[0].x.map(|c| c.lane(0)));
        let (mut cost, mut all) = (0.0, true);
        for (n, task) in tasks.iter().enumerate().filter(|(_, t)| !is_quick(&t.goal)) {
            let posture = matches!(task.goal, Goal::Posture { .. });
            let distance = task.distance(skeleton.parents(), &self.pose, &self.model, &mut self.rows);
            squares[n] = T::splat(distance * distance);
            all &= posture || distance <= stop.tolerance(task);
            task.linearize(skeleton.parents(), &self.pose, &self.model, &origin, &mut self.rows);
            let rows = &self.rows;
            cost += task.weight * rows.error.iter().zip(&rows.factor).map(|(e, f)| f * e * e).sum::<f64>();
            let mut at = 0;
            for (row, (&error, &factor)) in rows.error.iter().zip(&rows.factor).enumerate() {
                let count = rows.terms[at..].iter().take_while(|t| t.row == row).count();
                let terms = &rows.terms[at..at + count];
                at += count;
                let weight = task.weight * factor;
                let (Some(first), true) = (terms.first(), weight > 0.0) else { continue };
                let slot = slot_of[first.joint.index()];
                let lanes = |v: &Vec3| splat::<T>((*v).into());
                if posture && terms.iter().all(|t| t.force == Vec3::zeros()) {
                    let hold = &mut step.holds[slot];
                    let moment = lanes(&first.moment);
                    hold.stiff = hold.stiff.plus_outer(scaled(moment, T::splat(weight)), moment);
                    hold.pull = sum(hold.pull, scaled(moment, T::splat(error * weight)));
                    step.held = true;
                } else if terms.iter().all(|t| t.joint == first.joint) {
                    let total = |part: fn(&Term) -> Vec3| terms.iter().map(part).sum::<Vec3>();
                    let (moment, force) = (total(|t| t.moment), total(|t| t.force));
                    let (error, weight) = (T::splat(error), T::splat(weight));
                    step.loads[slot].add_row(lanes(&moment), lanes(&force), error, weight);
                } else {
                    let place = |t: &Term| (slot_of[t.joint.index()], t.moment.into(), t.force.into());
                    self.coupled.push(Coupled { error, weight, terms: terms.iter().map(place).collect() });
                }
            }
        }
        (cost, all)
    }

    /// Corrects the step for rows that depend on several slots: `x + Y (W^-1 + C Y)^-1 (e - C x)`, `Y = H^-1 C^T`.
    pub fn correct<T: Real>(&self, plan: &TreePlan, step: &mut TreeStep<T>) {
        if self.coupled.is_empty() {
            return;
        }
        let (n, rows) = (plan.joints.len(), self.coupled.len());
        let value = |row: &Coupled, twist: &dyn Fn(usize) -> [V<T>; 2]| -> f64 {
            let term = |(slot, moment, force): &(usize, V<f64>, V<f64>)| {
                let [w, v] = twist(*slot);
                (0..3).map(|c| moment[c] * w[c].lane(0) + force[c] * v[c].lane(0)).sum::<f64>()
            };
            row.terms.iter().map(term).sum()
        };
        let mut responses = Vec::with_capacity(rows);
        for row in &self.coupled {
            let mut wrenches = vec![[zero(); 2]; n];
            for (slot, moment, force) in &row.terms {
                wrenches[*slot][0] = sum(wrenches[*slot][0], splat(*moment));
                wrenches[*slot][1] = sum(wrenches[*slot][1], splat(*force));
            }
            let mut answer = vec![([zero(); 2], zero()); n];
            step.respond(plan, &mut wrenches, &mut answer);
            responses.push(answer);
        }
        let mut matrix = DMatrix::zeros(rows, rows);
        let mut gap = DVector::zeros(rows);
        for (r, row) in self.coupled.iter().enumerate() {
            for (c, response) in responses.iter().enumerate() {
                matrix[(r, c)] = value(row, &|slot| response[slot].0);
            }
            matrix[(r, r)] += 1.0 / row.weight;
            gap[r] = row.error - value(row, &|slot| step.slots[slot].twist);
        }
        let Some(shares) = matrix.cholesky().map(|c| c.solve(&gap)) else { return };
        for (response, share) in responses.iter().zip(shares.iter()) {
            let share = T::splat(*share);
            for (slot, (twist, delta)) in step.slots.iter_mut().zip(response) {
                slot.twist = [0, 1].map(|k| sum(slot.twist[k], scaled(twist[k], share)));
                slot.delta = sum(slot.delta, scaled(*delta, share));
            }
        }
    }
}
