//! Joint limits within the steps of the whole-body solver.

use super::freedom::Freedom;
use super::mechanism::Mechanism;
use super::tree_algebra::rotate;
use super::tree_gate::Gate;
use super::tree_run::{TreeRun, local};
use crate::math::{Real, Triple as V, Vec3, log};

impl<T: Real> TreeRun<T> {
    /// Stops joints whose step would leave their limit at the nearest position inside; returns whether any is new.
    pub(super) fn stop_at_limits(&mut self, mechanism: &Mechanism, lanes: u32) -> bool {
        let mut stopped = false;
        for g in 0..self.gates.len() {
            let Gate { slot: i, joint: id, .. } = self.gates[g];
            if self.plan.freedom[i] == Freedom::Free {
                continue;
            }
            let (q, t) = (self.next.0[i], self.next.1[i]);
            let doubtful = lanes & !self.step.holds[i].locked & !self.gates[g].inside(q);
            if doubtful == 0 {
                continue;
            }
            let mut new = 0;
            let mut deltas = [Vec3::zeros(); 32];
            for k in (0..T::LANES).filter(|k| doubtful & 1 << k != 0) {
                let there = local(&q, &t, k);
                let inside = mechanism.limited(id, &there);
                if inside == there {
                    continue;
                }
                let here = local(&self.now.0[i], &self.now.1[i], k);
                deltas[k] = match self.plan.freedom[i] {
                    Freedom::Slide(a) => Vec3::new(a.dot(&(inside.translation - here.translation)), 0.0, 0.0),
                    Freedom::Hinge(a) => {
                        Vec3::new(a.dot(&log(&(here.rotation.inverse() * inside.rotation))), 0.0, 0.0)
                    }
                    _ => log(&(inside.rotation * here.rotation.inverse())),
                };
                new |= 1 << k;
            }
            if new == 0 {
                continue;
            }
            stopped = true;
            let delta: V<T> = std::array::from_fn(|c| T::from_lanes(|k| deltas[k][c]));
            let one = matches!(self.plan.freedom[i], Freedom::Slide(_) | Freedom::Hinge(_));
            let delta =
                if i == 0 || one { delta } else { rotate(self.step.slots[self.plan.parent[i]].g, delta) };
            self.step.lock(&self.plan, i, new, delta);
        }
        stopped
    }

    /// Projects every limited joint into its limit, in the lanes of `lanes`.
    pub(super) fn enforce(&mut self, mechanism: &Mechanism, lanes: u32) {
        for gate in &self.gates {
            let (i, q) = (gate.slot, self.now.0[gate.slot]);
            let doubtful = lanes & !gate.inside(q);
            for k in (0..T::LANES).filter(|k| doubtful & 1 << k != 0) {
                let here = local(&self.now.0[i], &self.now.1[i], k);
                let inside = mechanism.limited(gate.joint, &here);
                if inside == here {
                    continue;
                }
                let (q, t) = (inside.rotation.coords, inside.translation);
                let own = 1 << k;
                for (c, from) in [3, 0, 1, 2].into_iter().enumerate() {
                    self.now.0[i][c] = T::splat(q[from]).select(own, self.now.0[i][c]);
                }
                (0..3).for_each(|c| self.now.1[i][c] = T::splat(t[c]).select(own, self.now.1[i][c]));
            }
        }
    }
}
