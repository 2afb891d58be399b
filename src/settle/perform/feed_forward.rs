//! The forces of the clip itself at one step: contact forces, torques of the joints, and the wrench not explained by contacts.
//!
//! Inverse dynamics in the arithmetic of the step: with these forces the integrator takes the clip's state to the clip's next
//! state. Units: as `perform`.

use super::contact_forces::{Edges, Explanation, LEAST_CAPACITY, LoadPoint, stacked};
use super::load_points::LoadTracks;
use super::performing_body::PerformingBody;
use super::reference::Reference;
use crate::dynamics::{JointVector, Placement};
use crate::kinematics::GRAVITY;
use crate::math::Vec3;

/// The lever arm by which moments count as forces, metres.
pub const ARM: f64 = 0.25;

/// The forces of one step of the clip.
#[derive(Clone, Debug)]
pub struct FeedForward {
    /// Forces along the edges of each point, newton.
    pub along: Vec<Edges>,
    /// Force and torques: the root's are what no contact explains (force in world axes, torque in the root's), the others
    /// those of the joints, in the axes of the child.
    pub force: JointVector,
    /// Where the bodies are.
    pub placed: Placement,
    /// The points at the step, and their velocities over it.
    pub places: Vec<Vec3>,
    /// See above, m/s.
    pub velocities: Vec<Vec3>,
    /// How much each point may bear.
    pub capacity: Vec<f64>,
}

impl FeedForward {
    /// The forces at step `k`; with `explain` false no contact bears anything.
    pub fn at(
        k: usize,
        body: &PerformingBody,
        points: &[LoadPoint],
        reference: &Reference,
        tracks: &LoadTracks,
        explain: bool,
    ) -> Self {
        let tree = &body.tree;
        let placed = tree.place(&reference.states[k]);
        let (now, next) = (&reference.rates[k], &reference.rates[k + 1]);
        let acceleration = next.zip(now, |b, a| (b - a) / reference.h);
        let mut left = tree.inverse_dynamics(&placed, now, &acceleration, &gravity());
        let moment = placed.rotation[0] * left.angular[0];
        let mut capacity = tracks.capacity[k].clone();
        if !explain {
            capacity.fill(0.0);
        }
        let inertia = tree.root_inertia(&placed);
        let explanation = Explanation {
            points,
            pyramid: &body.pyramid,
            placed: &placed,
            inertia: &inertia,
            mass: body.mass,
            capacity: &capacity,
        };
        let none = vec![Edges::default(); points.len()];
        let along = explanation.forces(&stacked(&left.linear, &moment), &none);
        let at: Vec<(usize, Vec3)> = points.iter().map(|p| (p.body, p.place(&placed))).collect();
        let contacts = |(p, (of, at)): (usize, &(usize, Vec3))| (*of, *at, body.pyramid.force(&along[p]));
        let acting: Vec<_> = at.iter().enumerate().map(contacts).collect();
        left.add_scaled(&tree.of_forces(&placed, &acting), -1.0);
        let velocities = tree.point_velocities(&placed, next, &at);
        let places = at.into_iter().map(|p| p.1).collect();
        Self { along, force: left, placed, places, velocities, capacity }
    }

    /// Whether a point may bear at all.
    pub fn may_bear(&self, point: usize) -> bool {
        self.capacity[point] > LEAST_CAPACITY
    }

    /// The wrench that no contact explains, over the weight of the body: the force, and the moment over [`ARM`].
    pub fn unexplained(&self, weight: f64) -> f64 {
        let [f, m] = [self.force.linear, self.force.angular[0] / ARM];
        (f.norm_squared() + m.norm_squared()).sqrt() / weight
    }
}

/// The acceleration of gravity.
pub fn gravity() -> Vec3 {
    Vec3::new(0.0, -GRAVITY, 0.0)
}
