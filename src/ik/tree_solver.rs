//! The whole-body solver: damped Gauss-Newton steps by tree recursion, O(joints) each.
//!
//! Steps are accepted where the true cost falls, else taken back and damped more (Levenberg 1944, Marquardt 1963).
//! Damping also follows the cost, so that unreachable targets stay well conditioned (Sugihara 2011). A joint whose
//! step would leave its limit moves to the nearest place inside, and the others make up for it, in up to three
//! rounds. Tasks that couple branches (poles, relative placements, centres of mass) enter by a low-rank correction
//! of the factorised tree (Woodbury). An answer is a function of its own frame alone. Units: metres, radians.

use super::mechanism::{Freedom, Mechanism};
use super::outcome::{Outcome, Progress, Solver, Stop, judge};
use super::task::{Goal, Rows, Task};
use super::tree_kernel::{
    Plan, Q, Step, V, add, conjugate, multiply, normalize, rotate, scale, splat, sub, turn, zero,
};
use crate::math::{DMatrix, DVector, Quat, RawQuat, Real, RealX4, Transform, Vec3, log};
use crate::model::{JointId, ModelPose, Pose};
use rayon::prelude::*;

/// The whole-body solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSolver {
    /// The least damping of a step, in units of weight times square metres. More is slower and steadier.
    pub damping: f64,
    /// How strongly every joint that takes part is held to the pose it came with; 0 holds nothing. A task of weight
    /// 1 that needs a turn of an angle over a lever is missed by about `posture * angle / lever` metres.
    pub posture: f64,
}

impl Default for TreeSolver {
    fn default() -> Self {
        Self { damping: 1e-6, posture: 0.0 }
    }
}

/// How much the cost adds to the damping.
const COST_DAMPING: f64 = 0.05;
/// The most rounds in which joints are stopped at their limits within one step.
const LIMIT_ROUNDS: usize = 3;
/// A step of one joint is cut to one radian: the linear model means nothing further out.
const LONGEST_TURN: f64 = 1.0;
/// A solver rests where a step lowers the cost by less than this share.
const SMALL_GAIN: f64 = 1e-6;

impl Solver for TreeSolver {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn keeps_limits(&self) -> bool {
        true
    }

    fn run(&self, mechanism: &Mechanism, tasks: &[Task], pose: &mut Pose, stop: &Stop) -> Progress {
        let mut run = Run::<f64>::new(mechanism, tasks);
        run.solve(self, mechanism, std::slice::from_mut(pose), &[tasks], stop)[0]
    }
}

impl TreeSolver {
    /// One step without acceptance, limits or cost damping: the numbers that [`Mechanism::step`] takes. Joints that
    /// no task sees do not move.
    pub fn single_step(&self, mechanism: &Mechanism, tasks: &[Task], pose: &Pose) -> Vec<f64> {
        let mut run = Run::<f64>::new(mechanism, tasks);
        run.load(std::slice::from_ref(pose));
        run.assemble(self, mechanism, &[tasks], &Stop::default());
        run.linear_step(self.damping);
        let mut step = vec![0.0; mechanism.dofs()];
        for (i, &joint) in run.plan.joints.iter().enumerate() {
            let out = &mut step[mechanism.dofs_of(JointId::new(joint))];
            let slot = &run.step.slots[i];
            match run.plan.freedom[i] {
                Freedom::Fixed => {}
                Freedom::Hinge(_) | Freedom::Slide(_) => out[0] = run.step.amount(&run.plan, i, slot.delta),
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

    /// Solves many frames, each on its own, on all threads: `tasks` gives those of a frame.
    ///
    /// Four frames are computed side by side where all tasks are positions and orientations and differ in their
    /// targets only; the answers are the same either way, to 1e-12, and for every number of threads.
    ///
    /// # Panics
    /// Where a pose belongs to another skeleton.
    pub fn solve_frames(
        &self,
        mechanism: &Mechanism,
        frames: &mut [Pose],
        tasks: impl Fn(usize) -> Vec<Task> + Sync,
        stop: &Stop,
    ) -> Vec<Outcome> {
        /// Frames that share one compiled plan.
        const CHUNK: usize = 64;
        let chunks = frames.par_chunks_mut(CHUNK).enumerate().map(|(number, chunk)| {
            let of_frame: Vec<Vec<Task>> = (0..chunk.len()).map(|k| tasks(number * CHUNK + k)).collect();
            self.solve_chunk(mechanism, chunk, &of_frame, stop)
        });
        chunks.collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Solves frames in order on this thread, four side by side where they can be.
    pub fn solve_chunk(
        &self,
        mechanism: &Mechanism,
        frames: &mut [Pose],
        tasks: &[Vec<Task>],
        stop: &Stop,
    ) -> Vec<Outcome> {
        const LANES: usize = RealX4::LANES;
        let mut wide: Option<Run<RealX4>> = None;
        let mut outcomes = Vec::with_capacity(frames.len());
        for (frames, tasks) in frames.chunks_mut(LANES).zip(tasks.chunks(LANES)) {
            let finite = |p: &Pose| p.local().iter().all(Transform::is_finite);
            let fits = frames.len() == LANES
                && tasks.iter().all(|t| same_shape(t, &tasks[0]) && t.iter().all(Task::is_finite))
                && frames.iter().all(finite);
            if !fits {
                outcomes.extend(frames.iter_mut().zip(tasks).map(|(p, t)| self.solve(mechanism, t, p, stop)));
                continue;
            }
            let run = match &mut wide {
                Some(run) if same_shape(&run.shape, &tasks[0]) => run,
                slot => slot.insert(Run::new(mechanism, &tasks[0])),
            };
            let lanes: [&[Task]; LANES] = std::array::from_fn(|k| tasks[k].as_slice());
            let progress = run.solve(self, mechanism, frames, &lanes, stop);
            let answers = frames.iter_mut().zip(tasks).zip(progress);
            outcomes.extend(answers.map(|((p, t), progress)| {
                let progress = self.escape(mechanism, t, p, stop, progress);
                judge(mechanism, t, p, stop, progress)
            }));
        }
        outcomes
    }
}

/// Whether two lists of tasks are positions and orientations that differ in their targets only.
fn same_shape(a: &[Task], b: &[Task]) -> bool {
    let same = |(a, b): (&Task, &Task)| {
        a.weight == b.weight
            && match (&a.goal, &b.goal) {
                (Goal::Position { joint: i, point: p, .. }, Goal::Position { joint: j, point: q, .. }) => {
                    i == j && p == q
                }
                (Goal::Orientation { joint: i, .. }, Goal::Orientation { joint: j, .. }) => i == j,
                _ => false,
            }
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// A row that several slots move.
#[derive(Clone, Debug)]
struct Coupled {
    error: f64,
    weight: f64,
    terms: Vec<(usize, V<f64>, V<f64>)>,
}

/// The buffers of a solve; made once for tasks of one shape.
#[derive(Clone, Debug)]
struct Run<T> {
    plan: Plan,
    shape: Vec<Task>,
    slot_of: Vec<usize>,
    limited: Vec<usize>,
    step: Step<T>,
    rotations: Vec<Q<T>>,
    translations: Vec<V<T>>,
    start: (Vec<Q<T>>, Vec<V<T>>),
    before: (Vec<Q<T>>, Vec<V<T>>),
    coupled: Vec<Coupled>,
    rows: Rows,
    scratch: Option<(Pose, ModelPose)>,
}

impl<T: Real> Run<T> {
    fn new(mechanism: &Mechanism, tasks: &[Task]) -> Self {
        let skeleton = mechanism.skeleton();
        let mut active = vec![false; skeleton.len()];
        active[0] = true;
        for id in tasks.iter().flat_map(Task::joints) {
            skeleton.path_to_root(id).for_each(|j| active[j.index()] = true);
        }
        let mut plan = Plan::default();
        let mut slot_of = vec![usize::MAX; skeleton.len()];
        for id in skeleton.ids().filter(|id| active[id.index()]) {
            slot_of[id.index()] = plan.joints.len();
            plan.parent.push(skeleton.parent(id).map_or(0, |p| slot_of[p.index()]));
            plan.joints.push(id.index());
            // Axes fixed in the rest frame are carried to parent space once and for all.
            let rest = skeleton.joint(id).rest.rotation;
            plan.freedom.push(match mechanism.freedom(id) {
                Freedom::TwoAxis(a, b) => Freedom::TwoAxis(rest * a, b),
                Freedom::Slide(a) => Freedom::Slide(rest * a),
                other => other,
            });
        }
        let n = plan.joints.len();
        let limited = (0..n).filter(|&i| mechanism.limit(JointId::new(plan.joints[i])).is_some()).collect();
        let one = [1.0, 0.0, 0.0, 0.0].map(T::splat);
        let still = (vec![one; n], vec![zero(); n]);
        let quick = |t: &Task| matches!(t.goal, Goal::Position { .. } | Goal::Orientation { .. });
        let scratch =
            tasks.iter().any(|t| !quick(t)).then(|| (skeleton.rest_pose(), skeleton.rest_model_pose()));
        Self {
            step: Step::new(n),
            plan,
            shape: tasks.to_vec(),
            slot_of,
            limited,
            rotations: still.0.clone(),
            translations: still.1.clone(),
            before: still.clone(),
            start: still,
            coupled: Vec::new(),
            rows: Rows::default(),
            scratch,
        }
    }

    /// Takes the poses of all lanes in.
    fn load(&mut self, poses: &[Pose]) {
        for (i, &j) in self.plan.joints.iter().enumerate() {
            let local = |k: usize| &poses[k].local()[j];
            self.rotations[i] = [3, 0, 1, 2].map(|c| T::from_lanes(|k| local(k).rotation.coords[c]));
            self.translations[i] = [0, 1, 2].map(|c| T::from_lanes(|k| local(k).translation[c]));
        }
        self.start.0.copy_from_slice(&self.rotations);
        self.start.1.copy_from_slice(&self.translations);
        if let Some((pose, _)) = &mut self.scratch {
            pose.clone_from(&poses[0]);
        }
    }

    /// The local transform of one slot in one lane.
    fn local(q: &Q<T>, t: &V<T>, lane: usize) -> Transform {
        let [w, x, y, z] = q.map(|c| c.lane(lane));
        let rotation = Quat::new_normalize(RawQuat::new(w, x, y, z));
        Transform::new(rotation, Vec3::from(t.map(|c| c.lane(lane))))
    }

    /// Forward kinematics and all tasks at the current poses: the cost of every lane, and the lanes that have
    /// reached every target.
    #[inline(always)]
    fn assemble(
        &mut self,
        solver: &TreeSolver,
        mechanism: &Mechanism,
        tasks: &[&[Task]],
        stop: &Stop,
    ) -> (T, u32) {
        let Self { plan, step, .. } = self;
        step.forward(plan, &self.rotations, &self.translations);
        step.clear();
        self.coupled.clear();
        let origin = step.slots[0].x;
        let mut cost = T::splat(0.0);
        let mut reached = if T::LANES == 32 { u32::MAX } else { (1 << T::LANES) - 1 };
        let mut within = |r2: T, tolerance: f64| {
            for k in 0..T::LANES {
                if r2.lane(k) > tolerance * tolerance {
                    reached &= !(1 << k);
                }
            }
        };
        for (n, task) in tasks[0].iter().enumerate() {
            let weight = T::splat(task.weight);
            match &task.goal {
                Goal::Position { joint, point, .. } => {
                    let slot = self.slot_of[joint.index()];
                    let s = &step.slots[slot];
                    let place = |k: usize| match &tasks[k][n].goal {
                        Goal::Position { target, .. } => target,
                        _ => point,
                    };
                    let target: V<T> = std::array::from_fn(|c| T::from_lanes(|k| place(k)[c]));
                    let own = *point != Vec3::zeros();
                    let y = if own { add(s.x, rotate(s.g, splat((*point).into()))) } else { s.x };
                    let r = sub(target, y);
                    step.add_position(slot, sub(y, origin), r, weight);
                    let r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
                    cost += weight * r2;
                    within(r2, stop.position);
                }
                Goal::Orientation { joint, target: first } => {
                    let slot = self.slot_of[joint.index()];
                    let turned = |k: usize| match &tasks[k][n].goal {
                        Goal::Orientation { target, .. } => target,
                        _ => first,
                    };
                    let target: Q<T> = [3, 0, 1, 2].map(|c| T::from_lanes(|k| turned(k).coords[c]));
                    let gap = multiply(target, conjugate(step.slots[slot].g));
                    let r = step.add_orientation(slot, gap, weight);
                    let r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
                    cost += weight * r2;
                    within(r2, stop.angle);
                }
                _ => {}
            }
        }
        if solver.posture > 0.0 {
            let weight = T::splat(solver.posture);
            for i in 0..plan.joints.len() {
                let gap = multiply(self.start.0[i], conjugate(self.rotations[i]));
                // The turn's vector part goes to model axes with the parent.
                let v = [gap[1], gap[2], gap[3]];
                let v = if i == 0 { v } else { rotate(step.slots[plan.parent[i]].g, v) };
                let r = step.add_posture(i, [gap[0], v[0], v[1], v[2]], weight);
                cost += weight * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            }
            if plan.freedom[0] == Freedom::Free {
                let r = sub(self.start.1[0], self.translations[0]);
                step.root_stiff += weight;
                step.root_pull = add(step.root_pull, scale(r, weight));
                cost += weight * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
            }
        }
        if self.scratch.is_some() {
            let (more, all) = self.add_general(mechanism, tasks[0], stop);
            cost += T::splat(more);
            reached &= if all { u32::MAX } else { 0 };
        }
        (cost, reached)
    }

    /// Adds the tasks that are neither positions nor orientations, of the first lane; their cost, and whether all
    /// are reached.
    fn add_general(&mut self, mechanism: &Mechanism, tasks: &[Task], stop: &Stop) -> (f64, bool) {
        let Some((pose, model)) = &mut self.scratch else { return (0.0, true) };
        for (i, &j) in self.plan.joints.iter().enumerate() {
            pose.local_mut()[j] = Self::local(&self.rotations[i], &self.translations[i], 0);
        }
        let skeleton = mechanism.skeleton();
        model.set(skeleton, pose);
        let origin = Vec3::from(self.step.slots[0].x.map(|c| c.lane(0)));
        let (mut cost, mut all) = (0.0, true);
        for task in tasks {
            if matches!(task.goal, Goal::Position { .. } | Goal::Orientation { .. }) {
                continue;
            }
            let posture = matches!(task.goal, Goal::Posture { .. });
            task.linearize(skeleton.parents(), pose, model, &origin, &mut self.rows);
            let rows = &self.rows;
            let squares = rows.error.iter().zip(&rows.factor).map(|(e, f)| f * e * e);
            let square: f64 = squares.sum();
            cost += task.weight * square;
            all &= posture || square.sqrt() <= stop.tolerance(task);
            let mut at = 0;
            for (row, (&error, &factor)) in rows.error.iter().zip(&rows.factor).enumerate() {
                let count = rows.terms[at..].iter().take_while(|t| t.row == row).count();
                let terms = &rows.terms[at..at + count];
                at += count;
                let weight = task.weight * factor;
                let (Some(first), true) = (terms.first(), weight > 0.0) else { continue };
                let slot = self.slot_of[first.joint.index()];
                let lanes = |v: &Vec3| splat::<T>((*v).into());
                let turn_only = terms.iter().all(|t| t.force == Vec3::zeros());
                if posture && turn_only {
                    let s = &mut self.step.slots[slot];
                    let m = lanes(&first.moment);
                    for k in 0..3 {
                        s.stiff[k] = add(s.stiff[k], scale(m, m[k] * T::splat(weight)));
                    }
                    s.pull = add(s.pull, scale(m, T::splat(error * weight)));
                } else if terms.iter().all(|t| t.joint == first.joint) {
                    let sum = |part: fn(&super::task::Term) -> Vec3| terms.iter().map(part).sum::<Vec3>();
                    let (moment, force) = (sum(|t| t.moment), sum(|t| t.force));
                    self.step.add_row(slot, lanes(&moment), lanes(&force), T::splat(error), T::splat(weight));
                } else {
                    let place = |t: &super::task::Term| {
                        (self.slot_of[t.joint.index()], t.moment.into(), t.force.into())
                    };
                    self.coupled.push(Coupled { error, weight, terms: terms.iter().map(place).collect() });
                }
            }
        }
        (cost, all)
    }

    /// Eliminates and substitutes what is assembled; the quadratics are used up.
    #[inline(always)]
    fn linear_step(&mut self, damping: f64) {
        self.linear_step_in_lanes(T::splat(damping));
    }

    #[inline(always)]
    fn linear_step_in_lanes(&mut self, damping: T) {
        self.step.eliminate(&self.plan, damping);
        self.step.substitute(&self.plan);
        if !self.coupled.is_empty() {
            self.couple();
        }
    }

    /// Corrects the step for rows that several slots move: `x + Y (W^-1 + C Y)^-1 (e - C x)`, `Y = H^-1 C^T`.
    fn couple(&mut self) {
        let (n, rows) = (self.plan.joints.len(), self.coupled.len());
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
                wrenches[*slot][0] = add(wrenches[*slot][0], splat(*moment));
                wrenches[*slot][1] = add(wrenches[*slot][1], splat(*force));
            }
            let mut answer = vec![([zero(); 2], zero()); n];
            self.step.respond(&self.plan, &mut wrenches, &mut answer);
            responses.push(answer);
        }
        let mut matrix = DMatrix::zeros(rows, rows);
        let mut gap = DVector::zeros(rows);
        for (r, row) in self.coupled.iter().enumerate() {
            for (c, response) in responses.iter().enumerate() {
                matrix[(r, c)] = value(row, &|slot| response[slot].0);
            }
            matrix[(r, r)] += 1.0 / row.weight;
            gap[r] = row.error - value(row, &|slot| self.step.slots[slot].twist);
        }
        let Some(shares) = matrix.cholesky().map(|c| c.solve(&gap)) else { return };
        for (response, share) in responses.iter().zip(shares.iter()) {
            let share = T::splat(*share);
            for (slot, (twist, delta)) in self.step.slots.iter_mut().zip(response) {
                slot.twist = [0, 1].map(|k| add(slot.twist[k], scale(twist[k], share)));
                slot.delta = add(slot.delta, scale(*delta, share));
            }
        }
    }

    /// Where a slot's step leads.
    #[inline(always)]
    fn moved(&self, i: usize) -> (Q<T>, V<T>) {
        let s = &self.step.slots[i];
        let (q, t) = (self.rotations[i], self.translations[i]);
        let cut = |v: V<T>| {
            let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt() * T::splat(1.0 / LONGEST_TURN);
            scale(v, T::splat(1.0) / length.max(T::splat(1.0)))
        };
        match self.plan.freedom[i] {
            Freedom::Fixed => (q, t),
            Freedom::Slide(a) => (q, add(t, scale(splat(a.into()), s.delta[0]))),
            Freedom::TwoAxis(a, b) => {
                let [first, second] = self.step.two_amounts(&self.plan, i, s.delta);
                let (a, b) = (cut(scale(splat(a.into()), first)), cut(scale(splat(b.into()), second)));
                (normalize(multiply(multiply(turn(a), q), turn(b))), t)
            }
            freedom => {
                let own = cut(rotate(conjugate(s.g), s.delta));
                let t = if freedom == Freedom::Free { add(t, s.twist[1]) } else { t };
                (normalize(multiply(q, turn(own))), t)
            }
        }
    }

    /// Stops joints whose step leaves their limit at the nearest place inside; whether there is a new one.
    fn stop_at_limits(&mut self, mechanism: &Mechanism, lanes: u32) -> bool {
        let mut stopped = false;
        for &i in &self.limited {
            let id = JointId::new(self.plan.joints[i]);
            if self.plan.freedom[i] == Freedom::Free {
                continue;
            }
            let (q, t) = self.moved(i);
            let old = self.step.slots[i].locked;
            let mut new = 0;
            let mut ways = [Vec3::zeros(); 32];
            for k in (0..T::LANES).filter(|k| lanes & !old & 1 << k != 0) {
                let local = Self::local(&q, &t, k);
                let inside = mechanism.limited(id, &local);
                if inside == local {
                    continue;
                }
                let here = Self::local(&self.rotations[i], &self.translations[i], k);
                ways[k] = match self.plan.freedom[i] {
                    Freedom::Slide(a) => Vec3::new(a.dot(&(inside.translation - here.translation)), 0.0, 0.0),
                    _ => log(&(inside.rotation * here.rotation.inverse())),
                };
                new |= 1 << k;
            }
            if new == 0 {
                continue;
            }
            stopped = true;
            let way: V<T> = std::array::from_fn(|c| T::from_lanes(|k| ways[k][c]));
            let slide = matches!(self.plan.freedom[i], Freedom::Slide(_));
            let way = if i == 0 || slide { way } else { rotate(self.step.slots[self.plan.parent[i]].g, way) };
            let s = &mut self.step.slots[i];
            s.prescribed = std::array::from_fn(|c| way[c].select(new, s.prescribed[c]));
            s.locked |= new;
        }
        stopped
    }

    /// Makes the step in the lanes of `lanes`, and brings every limited joint inside exactly.
    fn advance(&mut self, mechanism: &Mechanism, lanes: u32) {
        for i in 0..self.plan.joints.len() {
            let (q, t) = self.moved(i);
            self.rotations[i] = std::array::from_fn(|c| q[c].select(lanes, self.rotations[i][c]));
            self.translations[i] = std::array::from_fn(|c| t[c].select(lanes, self.translations[i][c]));
        }
        self.enforce(mechanism, lanes);
    }

    fn enforce(&mut self, mechanism: &Mechanism, lanes: u32) {
        for &i in &self.limited {
            let id = JointId::new(self.plan.joints[i]);
            for k in (0..T::LANES).filter(|k| lanes & 1 << k != 0) {
                let local = Self::local(&self.rotations[i], &self.translations[i], k);
                let inside = mechanism.limited(id, &local);
                if inside == local {
                    continue;
                }
                let (q, t) = (inside.rotation.coords, inside.translation);
                let own = 1 << k;
                for (c, from) in [3, 0, 1, 2].into_iter().enumerate() {
                    self.rotations[i][c] = T::splat(q[from]).select(own, self.rotations[i][c]);
                }
                (0..3).for_each(|c| {
                    self.translations[i][c] = T::splat(t[c]).select(own, self.translations[i][c]);
                });
            }
        }
    }

    /// Solves one frame a lane; `tasks` has one list a lane, of the shape this run was made for.
    fn solve(
        &mut self,
        solver: &TreeSolver,
        mechanism: &Mechanism,
        poses: &mut [Pose],
        tasks: &[&[Task]],
        stop: &Stop,
    ) -> [Progress; 32] {
        let all: u32 = (1 << T::LANES) - 1;
        let mut progress = [Progress { iterations: 0, stationary: false }; 32];
        self.load(poses);
        self.enforce(mechanism, all);
        let least = T::splat(solver.damping.max(1e-12));
        let mut damping = least;
        let (mut cost, mut reached) = self.assemble(solver, mechanism, tasks, stop);
        let mut open = all & !reached;
        for _ in 0..stop.iterations {
            if open == 0 {
                break;
            }
            self.before.0.copy_from_slice(&self.rotations);
            self.before.1.copy_from_slice(&self.translations);
            self.make_step(mechanism, damping + cost * T::splat(COST_DAMPING), open, (solver, tasks, stop));
            self.advance(mechanism, open);
            let (new, now) = self.assemble(solver, mechanism, tasks, stop);
            let (mut worse, lanes) = (0, open);
            for k in (0..T::LANES).filter(|k| lanes & 1 << k != 0) {
                progress[k].iterations += 1;
                let (old, new) = (cost.lane(k), new.lane(k));
                // A cost that is no number counts as worse.
                if new > old || new.is_nan() {
                    worse |= 1 << k;
                }
                let rests = (old - new).abs() <= SMALL_GAIN * old || damping.lane(k) > 1e6;
                if rests && now & 1 << k == 0 {
                    progress[k].stationary = true;
                    open &= !(1 << k);
                }
            }
            (cost, reached) = (new, now);
            let better = all & !worse;
            damping = (damping * T::splat(0.5))
                .max(least)
                .select(better, (damping + T::splat(1e-6)) * T::splat(8.0));
            if worse != 0 {
                for i in 0..self.plan.joints.len() {
                    for c in 0..4 {
                        self.rotations[i][c] = self.before.0[i][c].select(worse, self.rotations[i][c]);
                    }
                    for c in 0..3 {
                        self.translations[i][c] = self.before.1[i][c].select(worse, self.translations[i][c]);
                    }
                }
                (cost, reached) = self.assemble(solver, mechanism, tasks, stop);
            }
            open &= !reached;
        }
        for (i, &j) in self.plan.joints.iter().enumerate() {
            for (k, pose) in poses.iter_mut().enumerate() {
                pose.local_mut()[j] = Self::local(&self.rotations[i], &self.translations[i], k);
            }
        }
        progress
    }

    /// The step from what is assembled, in rounds that stop joints at their limits.
    fn make_step(
        &mut self,
        mechanism: &Mechanism,
        damping: T,
        lanes: u32,
        question: (&TreeSolver, &[&[Task]], &Stop),
    ) {
        self.linear_step_in_lanes(damping);
        if self.limited.is_empty() {
            return;
        }
        for _ in 0..LIMIT_ROUNDS {
            if !self.stop_at_limits(mechanism, lanes) {
                return;
            }
            let stops: Vec<(V<T>, u32)> = self.step.slots.iter().map(|s| (s.prescribed, s.locked)).collect();
            let (solver, tasks, stop) = question;
            self.assemble(solver, mechanism, tasks, stop);
            for (slot, (prescribed, locked)) in self.step.slots.iter_mut().zip(stops) {
                (slot.prescribed, slot.locked) = (prescribed, locked);
            }
            self.linear_step_in_lanes(damping);
        }
    }
}
