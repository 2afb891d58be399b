//! Iteration of the whole-body solver and its buffers: Gauss-Newton steps with limits and pins, one frame per lane.
//!
//! Created once for tasks of one shape; no allocations afterwards, except for tasks that couple branches. Space: local
//! poses, targets in model space. Units: metres, radians.

use super::freedom::Freedom;
use super::mechanism::Mechanism;
use super::outcome::{Effector, Outcome, Progress, Reach, Stop};
use super::task::{Goal, Task};
use super::tree_algebra::{
    Q, add_scaled, conjugate, multiply, renormalize, rotate, rotation_gap, small_rotation, splat, zero,
};
use super::tree_coupling::{CoupledGroup, is_quick};
use super::tree_gate::Gate;
use super::tree_kernel::{TreePlan, TreeStep};
use super::tree_quadratic::add_rotation;
use super::tree_targets::Targets;
use crate::math::{
    Quat, RawQuat, Real, Transform, Triple as V, Vec3, difference, dot, in_wide_registers, scaled, sum,
};
use crate::model::{JointId, Pose};

/// Factor of the cost in the damping.
const COST_DAMPING: f64 = 0.05;
/// Maximum number of rounds per step in which joints are stopped at their limits.
const LIMIT_ROUNDS: usize = 3;
/// Longest rotation of one joint per step, radians: the linear model is not valid beyond.
const LONGEST_ROTATION: f64 = 1.0;
/// The solver is stationary if a step lowers the cost by less than this share.
const SMALL_GAIN: f64 = 1e-6;
/// Pins are tightened if a step lowers the cost by less than this share.
const PIN_GAIN: f64 = 0.1;
/// Maximum number of times that pins are tightened in a solve: by then their weight has grown 3^12-fold.
const PIN_ROUNDS: u8 = 12;

/// Local rotations and translations of all slots.
type Locals<T> = (Vec<Q<T>>, Vec<V<T>>);

/// The buffers of a solve.
#[derive(Clone, Debug)]
pub(super) struct TreeRun<T> {
    pub plan: TreePlan,
    /// Tasks of the shape it was created for.
    pub shape: Vec<Task>,
    pub step: TreeStep<T>,
    slot_of: Vec<usize>,
    pub gates: Vec<Gate>,
    targets: Targets<T>,
    pub now: Locals<T>,
    /// The pose after the step.
    pub next: Locals<T>,
    /// The reference pose of the posture.
    reference: Locals<T>,
    before: Locals<T>,
    coupling: Option<CoupledGroup>,
}

/// The input of a solve: settings, mechanism, the tasks of every lane, stopping criteria.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a> {
    /// As [`TreeSolver::damping`](super::TreeSolver::damping).
    pub damping: f64,
    /// As [`TreeSolver::posture`](super::TreeSolver::posture).
    pub posture: f64,
    pub mechanism: &'a Mechanism,
    pub tasks: &'a [&'a [Task]],
    pub stop: &'a Stop,
}

/// Reads the local transforms of all lanes.
fn read<T: Real>(plan: &TreePlan, poses: &[Pose], (rotations, translations): &mut Locals<T>) {
    for (i, &j) in plan.joints.iter().enumerate() {
        let local = |k: usize| &poses[k].local()[j];
        rotations[i] = [3, 0, 1, 2].map(|c| T::from_lanes(|k| local(k).rotation.coords[c]));
        translations[i] = [0, 1, 2].map(|c| T::from_lanes(|k| local(k).translation[c]));
    }
}

/// The local transform of one slot in one lane.
pub(super) fn local<T: Real>(q: &Q<T>, t: &V<T>, lane: usize) -> Transform {
    let [w, x, y, z] = q.map(|c| c.lane(lane));
    let rotation = Quat::new_normalize(RawQuat::new(w, x, y, z));
    Transform::new(rotation, Vec3::from(t.map(|c| c.lane(lane))))
}

impl<T: Real> TreeRun<T> {
    /// All lanes, as bits.
    const ALL: u32 = (1 << T::LANES) - 1;

    pub fn new(mechanism: &Mechanism, tasks: &[Task]) -> Self {
        let (plan, slot_of) = TreePlan::new(mechanism, tasks);
        let n = plan.joints.len();
        let gate = |i: usize| {
            let joint = JointId::new(plan.joints[i]);
            mechanism.limit(joint).map(|_| Gate::new(mechanism, i, joint))
        };
        let gates = (0..n).filter_map(gate).collect();
        let mut loaded: Vec<usize> =
            tasks.iter().flat_map(Task::joints).map(|id| slot_of[id.index()]).chain([0]).collect();
        loaded.sort_unstable();
        loaded.dedup();
        let one = [1.0, 0.0, 0.0, 0.0].map(T::splat);
        let still = (vec![one; n], vec![zero(); n]);
        let targets = Targets::new(tasks, &slot_of);
        let coupling =
            tasks.iter().any(|t| !is_quick(&t.goal)).then(|| CoupledGroup::new(mechanism.skeleton()));
        Self {
            step: TreeStep::new(n, loaded),
            plan,
            shape: tasks.to_vec(),
            slot_of,
            gates,
            targets,
            now: still.clone(),
            next: still.clone(),
            reference: still.clone(),
            before: still,
            coupling,
        }
    }

    /// Loads the poses, the posture's reference poses (by default the same) and the targets of all lanes.
    pub fn load(&mut self, poses: &[Pose], references: Option<&[Pose]>, tasks: &[&[Task]]) {
        read(&self.plan, poses, &mut self.now);
        match references {
            Some(references) => read(&self.plan, references, &mut self.reference),
            None => {
                self.reference.0.copy_from_slice(&self.now.0);
                self.reference.1.copy_from_slice(&self.now.1);
            }
        }
        self.targets.load(tasks);
        if let Some(coupling) = &mut self.coupling {
            coupling.pose.clone_from(&poses[0]);
        }
    }

    /// Evaluates forward kinematics and all tasks at the current poses: the cost of every lane, and the lanes in which
    /// every target is reached. Without `build` the step is not changed.
    pub fn assemble(&mut self, problem: Problem<'_>, build: bool) -> (T, u32) {
        let Problem { posture, mechanism, tasks, stop, .. } = problem;
        let Self { plan, step, targets, now, reference, .. } = self;
        let (mut cost, mut missed) = in_wide_registers(
            #[inline(always)]
            || {
                step.forward(plan, &now.0, &now.1);
                if build {
                    step.clear();
                }
                targets.assemble(step, stop, build)
            },
        );
        if posture > 0.0 {
            let weight = T::splat(posture);
            step.held |= build;
            for i in 0..plan.joints.len() {
                let gap = multiply(reference.0[i], conjugate(now.0[i]));
                // The vector part is rotated from parent to model axes.
                let v = [gap[1], gap[2], gap[3]];
                let v = if i == 0 { v } else { rotate(step.slots[plan.parent[i]].g, v) };
                let (gap, (r, across, along)) = rotation_gap([gap[0], v[0], v[1], v[2]]);
                cost += weight * dot(r, r);
                if build {
                    let hold = &mut step.holds[i];
                    add_rotation(&mut hold.stiff, gap, across * weight, along * weight);
                    hold.pull = sum(hold.pull, scaled(r, weight));
                }
            }
            if plan.freedom[0] == Freedom::Free {
                let r = difference(reference.1[0], now.1[0]);
                cost += weight * dot(r, r);
                if build {
                    step.root_stiff += weight;
                    step.root_pull = sum(step.root_pull, scaled(r, weight));
                }
            }
        }
        if let Some(coupling) = &mut self.coupling {
            for (i, &j) in plan.joints.iter().enumerate() {
                coupling.pose.local_mut()[j] = local(&now.0[i], &now.1[i], 0);
            }
            let (more, all) =
                coupling.assemble(mechanism, tasks[0], stop, &self.slot_of, step, &mut targets.squares);
            cost += T::splat(more);
            missed |= if all { 0 } else { u32::MAX };
        }
        (cost, Self::ALL & !missed)
    }

    /// Solves the assembled linear system.
    pub fn linear_step(&mut self, damping: T) {
        let Self { plan, step, .. } = self;
        in_wide_registers(
            #[inline(always)]
            || {
                step.eliminate(plan, damping);
                step.substitute(plan);
            },
        );
        if let Some(coupling) = &self.coupling {
            coupling.correct(&self.plan, &mut self.step);
        }
    }

    /// The local rotation and translation of a slot after the step.
    #[inline(always)]
    fn moved(&self, i: usize) -> (Q<T>, V<T>) {
        let s = &self.step.slots[i];
        let (q, t) = (self.now.0[i], self.now.1[i]);
        let cut = |v: V<T>| {
            let square = dot(v, v);
            let longest = T::splat(LONGEST_ROTATION);
            if longest.less(square) == 0 {
                return v;
            }
            scaled(v, T::splat(1.0) / (square.sqrt() * T::splat(1.0 / LONGEST_ROTATION)).max(T::splat(1.0)))
        };
        match self.plan.freedom[i] {
            Freedom::Fixed => (q, t),
            Freedom::Slide(a) => (q, add_scaled(t, splat(a.into()), s.delta[0])),
            Freedom::TwoAxis(a, b) => {
                let [first, second] = self.step.two_amounts(&self.plan, i, s.delta);
                let (a, b) = (cut(scaled(splat(a.into()), first)), cut(scaled(splat(b.into()), second)));
                (renormalize(multiply(multiply(small_rotation(a), q), small_rotation(b))), t)
            }
            Freedom::Hinge(a) => {
                (renormalize(multiply(q, small_rotation(cut(scaled(splat(a.into()), s.delta[0]))))), t)
            }
            freedom => {
                let own = cut(rotate(conjugate(s.g), s.delta));
                let t = if freedom == Freedom::Free { sum(t, s.twist[1]) } else { t };
                (renormalize(multiply(q, small_rotation(own))), t)
            }
        }
    }

    /// Applies the step in the lanes of `lanes`, and projects every limited joint into its limit.
    fn advance(&mut self, mechanism: &Mechanism, lanes: u32) {
        for i in 0..self.plan.joints.len() {
            self.now.0[i] = std::array::from_fn(|c| self.next.0[i][c].select(lanes, self.now.0[i][c]));
            self.now.1[i] = std::array::from_fn(|c| self.next.1[i][c].select(lanes, self.now.1[i][c]));
        }
        self.enforce(mechanism, lanes);
    }

    /// Reverts the step in the lanes of `lanes`.
    fn retreat(&mut self, lanes: u32) {
        for i in 0..self.plan.joints.len() {
            self.now.0[i] = std::array::from_fn(|c| self.before.0[i][c].select(lanes, self.now.0[i][c]));
            self.now.1[i] = std::array::from_fn(|c| self.before.1[i][c].select(lanes, self.now.1[i][c]));
        }
    }

    /// Solves the loaded frames, one per lane.
    pub fn solve(&mut self, problem: Problem<'_>) -> [Progress; 32] {
        let Problem { mechanism, stop, .. } = problem;
        let mut progress = [Progress { iterations: 0, stationary: false }; 32];
        let mut rounds = [0; 32];
        let pinned = self.targets.are_pinned();
        self.enforce(mechanism, Self::ALL);
        let least = T::splat(problem.damping.max(1e-12));
        let mut damping = least;
        let (mut cost, mut reached) = self.assemble(problem, true);
        let mut open = Self::ALL & !reached;
        for n in 1..=stop.iterations {
            if open == 0 {
                break;
            }
            self.before.0.copy_from_slice(&self.now.0);
            self.before.1.copy_from_slice(&self.now.1);
            self.make_step(mechanism, damping + cost * T::splat(COST_DAMPING), open);
            self.advance(mechanism, open);
            // After the last step only the cost is needed.
            let more = n < stop.iterations;
            let (new, now) = self.assemble(problem, more);
            let unpinned = if pinned && more { self.targets.unpinned(stop) } else { 0 };
            let (mut worse, mut harder, lanes) = (0, 0, open);
            for k in (0..T::LANES).filter(|k| lanes & 1 << k != 0) {
                progress[k].iterations += 1;
                let (old, new) = (cost.lane(k), new.lane(k));
                // A NaN cost counts as worse.
                if new > old || new.is_nan() {
                    worse |= 1 << k;
                }
                let gain = (old - new).abs();
                let stationary = gain <= SMALL_GAIN * old || damping.lane(k) > 1e6;
                let slow = stationary || worse & 1 << k == 0 && gain <= PIN_GAIN * old;
                if unpinned & 1 << k != 0 && rounds[k] < PIN_ROUNDS && slow {
                    harder |= 1 << k;
                    rounds[k] += 1;
                } else if stationary && now & 1 << k == 0 {
                    progress[k].stationary = true;
                    open &= !(1 << k);
                }
            }
            let more_damping = (damping + cost * T::splat(COST_DAMPING)) * T::splat(4.0);
            damping = more_damping.select(worse, (damping * T::splat(0.5)).max(least));
            (cost, reached) = (new, now);
            if worse != 0 {
                self.retreat(worse);
                (cost, reached) = self.assemble(problem, more);
            }
            if harder != 0 {
                self.targets.tighten_pins(&self.step, harder);
                (cost, reached) = self.assemble(problem, more);
            }
            open &= !reached;
        }
        progress
    }

    /// Computes the step, in rounds that stop joints at their limits.
    fn make_step(&mut self, mechanism: &Mechanism, damping: T, lanes: u32) {
        self.solve_step(damping);
        for _ in 0..LIMIT_ROUNDS {
            if !self.stop_at_limits(mechanism, lanes) {
                return;
            }
            self.solve_step(damping);
        }
    }

    /// Solves for the step and the resulting pose.
    fn solve_step(&mut self, damping: T) {
        self.linear_step(damping);
        in_wide_registers(
            #[inline(always)]
            || {
                for i in 0..self.plan.joints.len() {
                    (self.next.0[i], self.next.1[i]) = self.moved(i);
                }
            },
        );
    }

    /// The lanes whose result is finite.
    pub fn finite(&self) -> u32 {
        let mut sum = T::splat(0.0);
        let all = self.now.0.iter().flatten().chain(self.now.1.iter().flatten());
        all.for_each(|x| sum += *x * T::splat(0.0));
        sum.less(T::splat(1.0))
    }

    /// Writes the result of one lane to a pose.
    pub fn write(&self, lane: usize, pose: &mut Pose) {
        for (i, &j) in self.plan.joints.iter().enumerate() {
            pose.local_mut()[j] = local(&self.now.0[i], &self.now.1[i], lane);
        }
    }

    /// Writes the result of every task in one lane to `outcome`.
    pub fn report(&self, lane: usize, problem: Problem<'_>, progress: Progress, outcome: &mut Outcome) {
        let Problem { mechanism, tasks, stop, .. } = problem;
        outcome.effectors.clear();
        outcome.iterations = progress.iterations;
        let mut cost = 0.0;
        for (n, task) in tasks[lane].iter().enumerate() {
            let posture = matches!(task.goal, Goal::Posture { .. });
            let square = self.targets.squares[n].lane(lane);
            let residual = square.sqrt();
            let reach = match () {
                () if posture || residual <= stop.tolerance(task) => Reach::Reached,
                () if progress.stationary => Reach::Unreachable,
                () => Reach::Unfinished,
            };
            cost += if posture { 0.0 } else { task.weight * square };
            outcome.effectors.push(Effector { reach, residual });
        }
        outcome.residual = cost.sqrt();
        outcome.converged = outcome.effectors.iter().all(|e| e.reach == Reach::Reached);
        let at_edge = |gate: &&Gate| {
            let (i, id) = (gate.slot, gate.joint);
            let here = || local(&self.now.0[i], &self.now.1[i], lane);
            let rest = &mechanism.skeleton().joint(id).rest;
            let edge = |limit: &super::limit::Limit| limit.at_edge(&mechanism.freedom(id), rest, &here());
            gate.inside(self.now.0[i]) & 1 << lane == 0 && mechanism.limit(id).is_some_and(edge)
        };
        outcome.limited = self.gates.iter().filter(at_edge).count();
    }
}
