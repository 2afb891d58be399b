//! Forces of the floor in friction pyramids that explain the wrench of the root best.
//!
//! The error is weighted by the inertia of the whole body: by the acceleration that it makes. Units: as `perform`.

use crate::dynamics::{Placement, bounded_minimum_of_columns};
use crate::math::{Mat6, Vec3, Vec6, horizontal, smoothstep};
use crate::model::ContactPart;

/// Coulomb's coefficient of soles on the floor. With 0.5 soles slip by up to 16 cm after hits of 50 N s.
pub const FRICTION: f64 = 0.8;

/// Weight of the forces themselves against the error that they leave: a tenth and ten times as much change peaks by less than
/// 10 %.
const REGULAR: f64 = 1e-3;

/// A point that has less capacity than this bears nothing.
pub const LEAST_CAPACITY: f64 = 0.001;

/// Edges of a pyramid.
pub const EDGES: usize = 4;

/// A point bears nothing above its level by this, metres, and fully below this minus the band. No level is further above the floor:
/// a heel that stays 20 cm above it in a plank bears nothing.
pub const HIGH: f64 = 0.05;
/// See above, metres.
const HIGH_BAND: f64 = 0.03;
/// A point bears nothing at this horizontal speed, m/s, and fully below this minus the band.
const FAST: f64 = 1.2;
/// See above, m/s.
const FAST_BAND: f64 = 0.6;

/// A point that can bear the body.
#[derive(Clone, Copy, Debug)]
pub struct LoadPoint {
    /// The part of the body.
    pub part: ContactPart,
    /// The body, and the middle of the point in its axes.
    pub body: usize,
    /// See above, metres.
    pub at: Vec3,
    /// How round it is: the floor is touched this far below its middle, metres.
    pub radius: f64,
    /// Its level over the clip: the height of the floor there, metres.
    pub level: f64,
}

impl LoadPoint {
    /// Where it would touch the floor.
    pub fn place(&self, placed: &Placement) -> Vec3 {
        let at = placed.point(self.body, &self.at);
        Vec3::new(at.x, at.y - self.radius, at.z)
    }

    /// How much of the body a point may bear, 0 to 1, at a height with a horizontal speed.
    pub fn capacity(&self, height: f64, speed: f64) -> f64 {
        smoothstep(((HIGH - (height - self.level)) / HIGH_BAND).clamp(0.0, 1.0))
            * smoothstep(((FAST - speed) / FAST_BAND).clamp(0.0, 1.0))
    }
}

/// Forces along the edges of one pyramid, newton.
pub type Edges = [f64; EDGES];

/// A friction pyramid. Its edges lie along and across the body in the first frame, so that forces do not depend on where a take
/// faces.
#[derive(Clone, Copy, Debug)]
pub struct Pyramid {
    /// The directions of the edges; the normal part is 1.
    pub edges: [Vec3; EDGES],
}

impl Pyramid {
    /// The pyramid with an edge towards the horizontal part of `side`; along X if it has none.
    pub fn towards(side: &Vec3) -> Self {
        let flat = horizontal(side).try_normalize(1e-6).unwrap_or_else(Vec3::x);
        let (a, b) = (flat * FRICTION, flat.cross(&Vec3::y()) * FRICTION);
        Self { edges: [a, -a, b, -b].map(|edge| edge + Vec3::y()) }
    }

    /// The force of edges.
    pub fn force(&self, along: &Edges) -> Vec3 {
        self.edges.iter().zip(along).map(|(d, l)| d * *l).sum()
    }
}

/// What is to be explained.
#[derive(Clone, Copy, Debug)]
pub struct Explanation<'a> {
    /// The points, and where the bodies are.
    pub points: &'a [LoadPoint],
    /// The pyramid of every point.
    pub pyramid: &'a Pyramid,
    /// See above.
    pub placed: &'a Placement,
    /// The inertia of the whole body about the root's origin ([`BallTree::root_inertia`](crate::dynamics::BallTree)).
    pub inertia: &'a Mat6<f64>,
    /// The mass of the body, kilograms.
    pub mass: f64,
    /// How much each point may bear, 0 to 1.
    pub capacity: &'a [f64],
}

impl Explanation<'_> {
    /// The forces that explain `wanted` (force; moment about the root's origin; world axes) with the least change against
    /// `near`, which they equal exactly where `near` explains it.
    pub fn forces(&self, wanted: &Vec6<f64>, near: &[Edges]) -> Vec<Edges> {
        let mut found = vec![[0.0; EDGES]; self.points.len()];
        let on: Vec<usize> = (0..self.points.len()).filter(|&p| self.capacity[p] > LEAST_CAPACITY).collect();
        let Some(inverse) = self.inertia.cholesky().filter(|_| !on.is_empty()) else { return found };
        let mut columns: Vec<(usize, usize, Vec6<f64>)> = Vec::with_capacity(on.len() * EDGES);
        for p in on {
            let arm = self.points[p].place(self.placed) - self.placed.origin[0];
            let wrenches = self.pyramid.edges.iter().map(|edge| stacked(edge, &arm.cross(edge)));
            columns.extend(wrenches.enumerate().map(|(e, wrench)| (p, e, wrench)));
        }
        // As of a body with unit inertia.
        let lower = inverse.l();
        let of_unit = |wrench: &Vec6<f64>| lower.solve_lower_triangular(wrench).unwrap_or_else(Vec6::zeros);
        let given: Vec6<f64> = columns.iter().map(|(p, e, w)| w * near[*p][*e]).sum();
        let error = of_unit(&(wanted - given));
        let pushes: Vec<Vec6<f64>> = columns.iter().map(|c| of_unit(&c.2)).collect();
        let own: Vec<f64> = columns.iter().map(|c| REGULAR / (self.mass * self.capacity[c.0])).collect();
        let g: Vec<f64> = pushes.iter().map(|push| push.dot(&error)).collect();
        let low: Vec<f64> = columns.iter().map(|(p, e, _)| -near[*p][*e]).collect();
        let changes = bounded_minimum_of_columns(&pushes, &own, &g, &low);
        for ((p, e, _), change) in columns.iter().zip(changes) {
            found[*p][*e] = near[*p][*e] + change;
        }
        found
    }
}

/// Two vectors as one.
pub fn stacked(a: &Vec3, b: &Vec3) -> Vec6<f64> {
    Vec6::new(a.x, a.y, a.z, b.x, b.y, b.z)
}
