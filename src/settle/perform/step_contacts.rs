//! The floor in one step: it resists only what is beyond the clip's own motion.
//!
//! Rows of velocities that may not be undercut, one for each edge of a friction pyramid where the clip's sole bears weight, else one
//! for the normal (a foot that swings brushes the floor, it does not stick). The impulses are compliant about those that the
//! clip needs. Units: as `perform`.

use super::contact_forces::{EDGES, Edges, Pyramid};
use super::feed_forward::FeedForward;
use super::performer::{Performer, Terms};
use crate::dynamics::{BallTree, JointVector, Placement, bounded_minimum};
use crate::math::{DMatrix, Vec3};

/// A point may touch the floor if it is below this above it after the step, metres ...
const NEAR: f64 = 0.01;
/// ... and this for the speed that it may gain within a step. More rows cost time and change nothing.
const GAIN: f64 = 0.02;

/// A sole that is deeper in the floor than in the clip is raised by at most this, m/s.
const RAISED: f64 = 0.4;

/// The step for which the compliance equals the mean diagonal of the contacts' inverse mass, seconds; without compliance one
/// sole can flip a leg (33 cm), with five times as much soles sink by 8 mm.
const COMPLIANCE_STEP: f64 = 1.0 / 240.0;

/// The compliance that remains where it is off: keeps the matrix definite.
const LEAST: f64 = 1e-9;

/// A point that may touch the floor.
#[derive(Clone, Debug)]
struct FloorPoint {
    point: usize,
    body: usize,
    at: Vec3,
    /// The velocity beyond which the floor resists.
    least: Vec3,
    /// The forces that the clip and the control expect, newton; `None` of a point that bears nothing.
    along: Option<Edges>,
}

/// The rows of a step.
#[derive(Clone, Debug)]
pub struct FloorRows {
    points: Vec<FloorPoint>,
    pyramid: Pyramid,
    all: usize,
}

impl FloorRows {
    /// The rows of the points that may touch the floor.
    pub fn near(performer: &Performer, placed: &Placement, clip: &FeedForward, along: &[Edges]) -> Self {
        let h = performer.reference.h;
        let at: Vec<(usize, Vec3)> = performer.points.iter().map(|p| (p.body, p.place(placed))).collect();
        let moving = performer.tree.point_velocities(placed, &performer.rates, &at);
        let points = (0..at.len()).filter_map(|p| {
            let (body, at) = at[p];
            let (own, bears) = (clip.velocities[p], clip.may_bear(p));
            let reached = clip.places[p].y + h * own.y;
            let floor = if bears { reached } else { reached.min(performer.points[p].level) };
            let floor = floor.min(at.y + h * own.y.max(RAISED));
            let expects = along[p].iter().any(|l| *l > 0.0);
            let near = at.y + h * moving[p].y.min(0.0) < floor + NEAR + GAIN;
            (expects || near).then(|| FloorPoint {
                point: p,
                body,
                at,
                least: Vec3::new(own.x, (floor - at.y) / h, own.z),
                along: bears.then_some(along[p]),
            })
        });
        Self { points: points.collect(), pyramid: performer.pyramid, all: at.len() }
    }

    /// The impulses that the clip and the control expect: body, position, newton seconds.
    pub fn expected(&self, h: f64) -> Vec<(usize, Vec3, Vec3)> {
        let of_point = |p: &FloorPoint| Some((p.body, p.at, self.pyramid.force(&p.along?) * h));
        self.points.iter().filter_map(of_point).collect()
    }

    /// Adds what the floor does beyond the expected impulses to `rates`, which have these in them; the impulse at every
    /// point.
    pub fn solve(
        &self,
        tree: &mut BallTree,
        placed: &Placement,
        rates: &mut JointVector,
        terms: Terms,
        h: f64,
    ) -> Vec<Vec3> {
        let mut impulses = vec![Vec3::zeros(); self.all];
        for p in &self.points {
            impulses[p.point] = self.pyramid.force(&p.along.unwrap_or_default()) * h;
        }
        if !terms.floor || self.points.is_empty() {
            return impulses;
        }
        let at: Vec<(usize, Vec3)> = self.points.iter().map(|p| (p.body, p.at)).collect();
        let moving = tree.point_velocities(placed, rates, &at);
        // Row: number in `points`, direction, expected impulse.
        let rows: Vec<(usize, Vec3, f64)> = (self.points.iter().enumerate())
            .flat_map(|(i, p)| match p.along {
                Some(along) => (0..EDGES).map(|e| (i, self.pyramid.edges[e], along[e] * h)).collect(),
                None => vec![(i, Vec3::y(), 0.0)],
            })
            .collect();
        let n = rows.len();
        let matrix = self.response(tree, placed, &rows);
        let compliance = if terms.compliance { COMPLIANCE_STEP / h } else { 0.0 } + LEAST;
        let soft = compliance * matrix.trace() / n as f64;
        let q = matrix + DMatrix::identity(n, n) * soft;
        let short: Vec<f64> =
            rows.iter().map(|(i, d, _)| d.dot(&(self.points[*i].least - moving[*i]))).collect();
        let low: Vec<f64> = rows.iter().map(|r| -r.2).collect();
        let more = bounded_minimum(&q, &short, &low);
        let mut beyond = vec![Vec3::zeros(); self.points.len()];
        self.points.iter().for_each(|p| impulses[p.point] = Vec3::zeros());
        for ((i, d, expected), x) in rows.iter().zip(more) {
            beyond[*i] += d * x;
            impulses[self.points[*i].point] += d * (expected + x).max(0.0);
        }
        tree.respond(placed, at.iter().zip(&beyond).map(|((body, at), x)| (*body, *at, *x)));
        rates.add_scaled(&tree.rates(placed), 1.0);
        impulses
    }

    /// The velocity along each row that an impulse along each makes.
    fn response(&self, tree: &mut BallTree, placed: &Placement, rows: &[(usize, Vec3, f64)]) -> DMatrix<f64> {
        // Of every axis at every point on every point.
        let mut of_axes: Vec<[Vec<Vec3>; 3]> = Vec::with_capacity(self.points.len());
        for p in &self.points {
            of_axes.push([Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| {
                if p.along.is_none() && axis.y == 0.0 {
                    return Vec::new();
                }
                tree.respond(placed, std::iter::once((p.body, p.at, axis)));
                self.points.iter().map(|q| tree.velocity_at(placed, q.body, &q.at)).collect()
            }));
        }
        let entry = |a: usize, b: usize| {
            let ((i, d, _), (j, c, _)) = (&rows[a], &rows[b]);
            let axis = |x: usize| if c[x] == 0.0 { 0.0 } else { c[x] * d.dot(&of_axes[*j][x][*i]) };
            axis(0) + axis(1) + axis(2)
        };
        DMatrix::from_fn(rows.len(), rows.len(), entry)
    }
}
