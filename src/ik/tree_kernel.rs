//! One damped Gauss-Newton step of a whole skeleton by tree recursion, for one frame or several in lanes.
//!
//! The normal matrix `J^T W J + D` is never formed: every task is a quadratic in the twist of its joint, every joint
//! a link `V_child = V_parent + S delta`, and joints are eliminated leaf to root as in the articulated-body algorithm
//! (Featherstone 1983; as a Riccati sweep for inverse kinematics Wingo et al., LoIK, 2024): tasks act as masses, errors
//! as forces. Cost: O(joints). Twists are about the root's position, in model axes. `S` is a column for a joint of one
//! axis; a joint of two axes has `P (P^T H P)^-1 P^T` in place of `H^-1`; a joint stopped at its limit has a prescribed
//! step instead. All functions are inlined, so that they are compiled for the caller's register width. Space: model
//! space. Units: metres, radians.

#![allow(clippy::needless_range_loop, reason = "matrix indices read better than iterators")]

use super::freedom::Freedom;
use super::mechanism::Mechanism;
use super::task::Task;
use super::tree_algebra::*;
use super::tree_quadratic::Quadratic;
use crate::math::{Real, Symmetric3, Triple as V, cross, difference, dot, scaled, sum};

/// The joint tree reduced to the joints that tasks depend on and their ancestors, parents first.
#[derive(Clone, Debug, Default)]
pub(super) struct TreePlan {
    /// The joint of each slot.
    pub joints: Vec<usize>,
    /// The slot of each slot's parent; the first is its own parent.
    pub parent: Vec<usize>,
    /// The last child of each slot; the slot itself if it has none.
    pub last_child: Vec<usize>,
    /// The freedom of each slot's joint; first axes of two-axis joints and slide axes in parent space.
    pub freedom: Vec<Freedom>,
}

impl TreePlan {
    /// The plan for tasks, and the slot of every joint (`usize::MAX` if it has none).
    pub fn new(mechanism: &Mechanism, tasks: &[Task]) -> (Self, Vec<usize>) {
        let skeleton = mechanism.skeleton();
        let mut active = vec![false; skeleton.len()];
        active[0] = true;
        for id in tasks.iter().flat_map(Task::joints) {
            skeleton.path_to_root(id).for_each(|j| active[j.index()] = true);
        }
        let mut plan = Self::default();
        let mut slot_of = vec![usize::MAX; skeleton.len()];
        for id in skeleton.ids().filter(|id| active[id.index()]) {
            slot_of[id.index()] = plan.joints.len();
            plan.parent.push(skeleton.parent(id).map_or(0, |p| slot_of[p.index()]));
            plan.joints.push(id.index());
            // Axes fixed in the rest frame are converted to parent space once.
            let rest = skeleton.joint(id).rest.rotation;
            plan.freedom.push(match mechanism.freedom(id) {
                Freedom::TwoAxis(a, b) => Freedom::TwoAxis(rest * a, b),
                Freedom::Slide(a) => Freedom::Slide(rest * a),
                other => other,
            });
        }
        let n = plan.joints.len();
        plan.last_child = (0..n).collect();
        (1..n).for_each(|i| plan.last_child[plan.parent[i]] = i);
        (plan, slot_of)
    }
}

/// The state of one slot during a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeSlot<T> {
    /// Position and rotation in model space.
    pub x: V<T>,
    pub g: Q<T>,
    /// The one axis of a hinge or slide as a twist about the root's position.
    pub column: [V<T>; 2],
    /// The quadratic in the slot's twist, of the slot and all its descendants.
    pub all: Quadratic<T>,
    /// Factors: `A S`, the inverse, the joint's force. A joint of one axis uses the first row or number of each.
    pub u0: M<T>,
    pub u1: M<T>,
    pub inverse: Symmetric3<T>,
    pub force: V<T>,
    /// Results: the twist of the slot, and the joint's own rotation vector (for one axis: the amount, first).
    pub twist: [V<T>; 2],
    pub delta: V<T>,
}

/// Terms on one joint's own motion: a quadratic with its linear part (posture), and a prescribed step.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointHold<T> {
    pub stiff: Symmetric3<T>,
    pub pull: V<T>,
    /// The prescribed step in the lanes of `locked` (for one axis: the amount, first).
    pub prescribed: V<T>,
    pub locked: u32,
}

impl<T: Real> JointHold<T> {
    #[inline(always)]
    fn none() -> Self {
        Self { stiff: Symmetric3::zero(), pull: zero(), prescribed: zero(), locked: 0 }
    }
}

/// The data of one step.
#[derive(Clone, Debug)]
pub(super) struct TreeStep<T> {
    pub slots: Vec<TreeSlot<T>>,
    /// The task quadratics of every slot, and the slots that have tasks.
    pub loads: Vec<Quadratic<T>>,
    loaded: Vec<usize>,
    pub is_loaded: Vec<bool>,
    /// The slots that changed, or have a descendant that changed, since their elimination.
    pub stale: Vec<bool>,
    /// Whether any of `holds` is set.
    pub held: bool,
    pub holds: Vec<JointHold<T>>,
    /// The free root's Cholesky factor.
    pub root: [[T; 6]; 6],
    /// Posture of a free root's position: stiffness and force.
    pub root_stiff: T,
    pub root_pull: V<T>,
}

impl<T: Real> TreeStep<T> {
    /// A step of a tree of `slots` slots, of which `loaded` have tasks.
    pub fn new(slots: usize, loaded: Vec<usize>) -> Self {
        let z = T::splat(0.0);
        let slot = TreeSlot {
            x: zero(),
            g: [T::splat(1.0), z, z, z],
            column: [zero(); 2],
            all: Quadratic::zero(),
            u0: none(),
            u1: none(),
            inverse: Symmetric3::zero(),
            force: zero(),
            twist: [zero(); 2],
            delta: zero(),
        };
        Self {
            slots: vec![slot; slots],
            loads: vec![Quadratic::zero(); slots],
            is_loaded: (0..slots).map(|i| loaded.contains(&i)).collect(),
            loaded,
            stale: vec![true; slots],
            held: false,
            holds: vec![JointHold::none(); slots],
            root: [[z; 6]; 6],
            root_stiff: z,
            root_pull: zero(),
        }
    }

    /// Model-space positions, rotations and single axes of all slots.
    #[inline(always)]
    pub fn forward(&mut self, plan: &TreePlan, rotations: &[Q<T>], translations: &[V<T>]) {
        for i in 0..self.slots.len() {
            let (x, g) = if i == 0 {
                (translations[0], rotations[0])
            } else {
                let p = &self.slots[plan.parent[i]];
                (sum(p.x, rotate(p.g, translations[i])), multiply(p.g, rotations[i]))
            };
            let column = match plan.freedom[i] {
                Freedom::Slide(a) => [zero(), self.parent_axis(plan, i, a.into())],
                Freedom::Hinge(a) => {
                    let axis = rotate(g, splat(a.into()));
                    [axis, cross(difference(x, translations[0]), axis)]
                }
                _ => [zero(); 2],
            };
            let slot = &mut self.slots[i];
            (slot.x, slot.g, slot.column) = (x, g, column);
        }
    }

    /// Removes all tasks and postures.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.stale.fill(true);
        for &i in &self.loaded {
            self.loads[i] = Quadratic::zero();
        }
        if self.held {
            self.holds.fill(JointHold::none());
            self.held = false;
        }
        self.root_stiff = T::splat(0.0);
        self.root_pull = zero();
    }

    /// Prescribes the step of a slot's joint (for one axis: the amount, first) in these lanes.
    pub fn lock(&mut self, plan: &TreePlan, i: usize, lanes: u32, delta: V<T>) {
        let hold = &mut self.holds[i];
        hold.prescribed = std::array::from_fn(|c| delta[c].select(lanes, hold.prescribed[c]));
        hold.locked |= lanes;
        self.held = true;
        let mut up = i;
        while !self.stale[up] {
            self.stale[up] = true;
            up = plan.parent[up];
        }
    }

    #[inline(always)]
    fn parent_axis(&self, plan: &TreePlan, i: usize, a: [f64; 3]) -> V<T> {
        if i == 0 { splat(a) } else { rotate(self.slots[plan.parent[i]].g, splat(a)) }
    }

    /// The two axes of a slot's joint in model space.
    #[inline(always)]
    pub fn two_axes(&self, plan: &TreePlan, i: usize) -> [V<T>; 2] {
        let Freedom::TwoAxis(a, b) = plan.freedom[i] else { return [zero(); 2] };
        [self.parent_axis(plan, i, a.into()), rotate(self.slots[i].g, splat(b.into()))]
    }

    #[inline(always)]
    fn solve_root(&self, a: V<T>, l: V<T>) -> [V<T>; 2] {
        let m = &self.root;
        let mut y = [a[0], a[1], a[2], l[0], l[1], l[2]];
        for k in 0..6 {
            for j in 0..k {
                let t = m[k][j] * y[j];
                y[k] -= t;
            }
            y[k] = y[k] * m[k][k];
        }
        for k in (0..6).rev() {
            for j in k + 1..6 {
                let t = m[j][k] * y[j];
                y[k] -= t;
            }
            y[k] = y[k] * m[k][k];
        }
        [[y[0], y[1], y[2]], [y[3], y[4], y[5]]]
    }

    /// The twist and step of slot `i` from its parent's twist and its own force.
    #[inline(always)]
    fn descend(
        &self,
        plan: &TreePlan,
        i: usize,
        above: [V<T>; 2],
        force: V<T>,
        prescribed: Option<V<T>>,
    ) -> ([V<T>; 2], V<T>) {
        let s = &self.slots[i];
        match plan.freedom[i] {
            Freedom::Fixed => (above, zero()),
            Freedom::Hinge(_) | Freedom::Slide(_) => {
                let mut amount =
                    s.inverse.0[0] * (force[0] - dot(s.u0[0], above[0]) - dot(s.u1[0], above[1]));
                if let Some(prescribed) = prescribed {
                    amount += prescribed[0];
                }
                let z = T::splat(0.0);
                let [a, m] = s.column;
                ([add_scaled(above[0], a, amount), add_scaled(above[1], m, amount)], [amount, z, z])
            }
            _ => {
                let t = difference(
                    force,
                    sum(apply_transposed(&s.u0, above[0]), apply_transposed(&s.u1, above[1])),
                );
                let mut delta = s.inverse.times(t);
                if let Some(prescribed) = prescribed {
                    delta = sum(delta, prescribed);
                }
                let xi = difference(s.x, self.slots[0].x);
                ([sum(above[0], delta), sum(above[1], cross(xi, delta))], delta)
            }
        }
    }

    /// Root to leaf: the twists and steps of all joints.
    #[inline(always)]
    pub fn substitute(&mut self, plan: &TreePlan) {
        for i in 0..self.slots.len() {
            let s = &self.slots[i];
            let (twist, delta) = if plan.freedom[i] == Freedom::Free {
                let a = sum(s.all.a, self.holds[0].pull);
                let twist = self.solve_root(a, sum(s.all.l, self.root_pull));
                (twist, twist[0])
            } else {
                let above = if i == 0 { [zero(); 2] } else { self.slots[plan.parent[i]].twist };
                let prescribed = self.held.then(|| self.holds[i].prescribed);
                self.descend(plan, i, above, s.force, prescribed)
            };
            self.slots[i].twist = twist;
            self.slots[i].delta = delta;
        }
    }

    /// The response of the factorised tree to wrenches on slots: twists and steps, written to `answer`.
    pub fn respond(&self, plan: &TreePlan, wrenches: &mut [[V<T>; 2]], answer: &mut [([V<T>; 2], V<T>)]) {
        let origin = self.slots[0].x;
        for i in (0..self.slots.len()).rev() {
            let s = &self.slots[i];
            let [a, l] = wrenches[i];
            let z = T::splat(0.0);
            // The joint's share of the wrench, and the part that its step removes from the wrench passed to the parent.
            let (force, down) = match plan.freedom[i] {
                Freedom::Free => continue,
                Freedom::Fixed => (zero(), [zero(); 2]),
                Freedom::Hinge(_) | Freedom::Slide(_) => {
                    let force = dot(s.column[0], a) + dot(s.column[1], l);
                    let t = s.inverse.0[0] * force;
                    ([force, z, z], [scaled(s.u0[0], t), scaled(s.u1[0], t)])
                }
                _ => {
                    let force = sum(a, cross(l, difference(s.x, origin)));
                    let t = s.inverse.times(force);
                    (force, [apply(&s.u0, t), apply(&s.u1, t)])
                }
            };
            answer[i].1 = force;
            if i > 0 {
                let p = &mut wrenches[plan.parent[i]];
                p[0] = sum(p[0], difference(a, down[0]));
                p[1] = sum(p[1], difference(l, down[1]));
            }
        }
        for i in 0..self.slots.len() {
            answer[i] = if plan.freedom[i] == Freedom::Free {
                let twist = self.solve_root(wrenches[i][0], wrenches[i][1]);
                (twist, twist[0])
            } else {
                let above = if i == 0 { [zero(); 2] } else { answer[plan.parent[i]].0 };
                self.descend(plan, i, above, answer[i].1, None)
            };
        }
    }

    /// The components of a two-axis joint's step about its two axes.
    pub fn two_amounts(&self, plan: &TreePlan, i: usize, delta: V<T>) -> [T; 2] {
        let [a, b] = self.two_axes(plan, i);
        let (da, db, ab) = (dot(a, delta), dot(b, delta), dot(a, b));
        let d = T::splat(1.0) / (T::splat(1.0) - ab * ab);
        [(da - ab * db) * d, (db - ab * da) * d]
    }
}
