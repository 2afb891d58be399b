//! Floor and touching parts in one step: they resist only what is beyond the clip's own motion.
//!
//! Rows of velocities that may not be undercut, one for each edge of a friction pyramid where the clip's sole bears weight, else one
//! for the normal (a foot that swings brushes the floor, it does not stick). The impulses are compliant about those that the
//! clip needs. Parts that touch each other ([`super::touching_parts`]) have one row each. Units: as `perform`.

use super::contact_forces::{EDGES, Edges, LoadPoint, Pyramid};
use super::feed_forward::FeedForward;
use super::touching_parts::PartContact;
use crate::dynamics::{BallTree, JointVector, Placement, bounded_minimum};
use crate::math::{DMatrix, DVector, Vec3};

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

/// What is allowed to act, for the tests of each term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Contacts explain the clip's forces.
    pub explain: bool,
    /// Passive tissue.
    pub tissue: bool,
    /// Stops about the clip.
    pub stops: bool,
    /// The floor pushes.
    pub floor: bool,
    /// The floor is compliant.
    pub compliance: bool,
    /// Parts stay out of each other.
    pub touch: bool,
}

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

/// What a row is about.
#[derive(Clone, Copy, Debug)]
enum RowOn {
    /// A point near the floor, by its place in the list.
    Floor(usize),
    /// Two parts that touch, likewise.
    Parts(usize),
}

/// A velocity that may not be undercut.
#[derive(Clone, Debug)]
struct ContactRow {
    on: RowOn,
    /// Its direction.
    along: Vec3,
    /// The impulse that the clip and the control expect, newton seconds.
    expected: f64,
}

/// The rows of a step.
#[derive(Clone, Debug)]
pub struct FloorRows {
    points: Vec<FloorPoint>,
    pyramid: Pyramid,
    all: usize,
}

impl FloorRows {
    /// The rows of the points that may touch the floor in a step of `h` seconds: at `at`, with the velocities `moving`.
    pub fn near(
        (points, pyramid): (&[LoadPoint], &Pyramid),
        (at, moving): (&[(usize, Vec3)], &[Vec3]),
        clip: &FeedForward,
        along: &[Edges],
        h: f64,
    ) -> Self {
        let near = (0..at.len()).filter_map(|p| {
            let (body, at) = at[p];
            let (own, bears) = (clip.velocities[p], clip.may_bear(p));
            let reached = clip.places[p].y + h * own.y;
            let floor = if bears { reached } else { reached.min(points[p].level) };
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
        Self { points: near.collect(), pyramid: *pyramid, all: at.len() }
    }

    /// The impulses that the clip and the control expect: body, position, newton seconds.
    pub fn expected(&self, h: f64) -> Vec<(usize, Vec3, Vec3)> {
        let of_point = |p: &FloorPoint| Some((p.body, p.at, self.pyramid.force(&p.along?) * h));
        self.points.iter().filter_map(of_point).collect()
    }

    /// Adds what floor and touching parts do beyond the expected impulses to `rates`, which have these in them; the impulse at every
    /// point, and of each of `touches` on its first body.
    pub fn solve(
        &self,
        tree: &mut BallTree,
        placed: &Placement,
        rates: &mut JointVector,
        (terms, touches): (Terms, &[PartContact]),
        h: f64,
    ) -> (Vec<Vec3>, Vec<Vec3>) {
        let mut impulses = vec![Vec3::zeros(); self.all];
        for p in &self.points {
            impulses[p.point] = self.pyramid.force(&p.along.unwrap_or_default()) * h;
        }
        let mut pushes = vec![Vec3::zeros(); touches.len()];
        if !terms.floor || self.points.is_empty() && touches.is_empty() {
            return (impulses, pushes);
        }
        let of_touch = |t: &PartContact| [0, 1].map(|k| (t.bodies[k], t.at[k]));
        let at: Vec<(usize, Vec3)> =
            self.points.iter().map(|p| (p.body, p.at)).chain(touches.iter().flat_map(of_touch)).collect();
        let moving = tree.point_velocities(placed, rates, &at);
        let rows = self.rows(touches, h);
        let n = rows.len();
        let matrix = self.response(tree, placed, (&at, touches), &rows);
        let of_floor = n - touches.len();
        let mean = |rows: usize| (0..rows).map(|i| matrix[(i, i)]).sum::<f64>() / rows as f64;
        let compliance = if terms.compliance { COMPLIANCE_STEP / h } else { 0.0 } + LEAST;
        let floor = if of_floor > 0 { compliance * mean(of_floor) } else { 0.0 };
        let parts = LEAST * mean(n);
        let soft = DVector::from_fn(n, |i, _| if i < of_floor { floor } else { parts });
        let q = &matrix + DMatrix::from_diagonal(&soft);
        let short: Vec<f64> = rows
            .iter()
            .map(|row| match row.on {
                RowOn::Floor(i) => row.along.dot(&(self.points[i].least - moving[i])),
                RowOn::Parts(k) => {
                    let [a, b] = self.ends(k);
                    touches[k].least - row.along.dot(&(moving[a] - moving[b]))
                }
            })
            .collect();
        let low: Vec<f64> = rows.iter().map(|row| -row.expected).collect();
        let more = bounded_minimum(&q, &short, &low);
        let mut beyond = vec![Vec3::zeros(); at.len()];
        self.points.iter().for_each(|p| impulses[p.point] = Vec3::zeros());
        for (row, x) in rows.iter().zip(more) {
            match row.on {
                RowOn::Floor(i) => {
                    beyond[i] += row.along * x;
                    impulses[self.points[i].point] += row.along * (row.expected + x).max(0.0);
                }
                RowOn::Parts(k) => {
                    pushes[k] = row.along * x;
                    let [a, b] = self.ends(k);
                    (beyond[a], beyond[b]) = (pushes[k], -pushes[k]);
                }
            }
        }
        tree.respond(placed, at.iter().zip(&beyond).map(|((body, at), x)| (*body, *at, *x)));
        rates.add_scaled(&tree.rates(placed), 1.0);
        (impulses, pushes)
    }

    /// The rows of all points, then those of touching parts.
    fn rows(&self, touches: &[PartContact], h: f64) -> Vec<ContactRow> {
        let row = |on, along, expected| ContactRow { on, along, expected };
        let mut rows = Vec::with_capacity(self.points.len() * EDGES + touches.len());
        for (i, point) in self.points.iter().enumerate() {
            match point.along {
                Some(along) => {
                    rows.extend((0..EDGES).map(|e| row(RowOn::Floor(i), self.pyramid.edges[e], along[e] * h)))
                }
                None => rows.push(row(RowOn::Floor(i), Vec3::y(), 0.0)),
            }
        }
        rows.extend(touches.iter().enumerate().map(|(k, t)| row(RowOn::Parts(k), t.out, 0.0)));
        rows
    }

    /// The places of both ends of a touch in the list of all places: behind the points.
    fn ends(&self, touch: usize) -> [usize; 2] {
        [0, 1].map(|k| self.points.len() + 2 * touch + k)
    }

    /// The velocity along each row that an impulse along each makes.
    fn response(
        &self,
        tree: &mut BallTree,
        placed: &Placement,
        (at, touches): (&[(usize, Vec3)], &[PartContact]),
        rows: &[ContactRow],
    ) -> DMatrix<f64> {
        let paths = tree.paths(at.iter().map(|(body, _)| *body));
        let mut moved = |acting: &[(usize, Vec3)]| -> Vec<Vec3> {
            tree.respond_on(&paths, placed, acting.iter().map(|(i, push)| (at[*i].0, at[*i].1, *push)));
            at.iter().map(|(body, at)| tree.velocity_at(placed, *body, at)).collect()
        };
        // Of every axis at every point, and of every touch, on every place.
        let mut of_axes: Vec<[Vec<Vec3>; 3]> = Vec::with_capacity(self.points.len());
        for (i, p) in self.points.iter().enumerate() {
            of_axes.push([Vec3::x(), Vec3::y(), Vec3::z()].map(|axis| {
                if p.along.is_none() && axis.y == 0.0 { Vec::new() } else { moved(&[(i, axis)]) }
            }));
        }
        let of_touches: Vec<Vec<Vec3>> = (touches.iter().enumerate())
            .map(|(k, t)| moved(&[(self.ends(k)[0], t.out), (self.ends(k)[1], -t.out)]))
            .collect();
        let entry = |a: usize, b: usize| {
            let (row, by) = (&rows[a], &rows[b]);
            let along = |moved: &[Vec3]| match row.on {
                RowOn::Floor(i) => row.along.dot(&moved[i]),
                RowOn::Parts(k) => {
                    let [a, b] = self.ends(k);
                    row.along.dot(&(moved[a] - moved[b]))
                }
            };
            match by.on {
                RowOn::Floor(j) => {
                    let axis =
                        |x: usize| if by.along[x] == 0.0 { 0.0 } else { by.along[x] * along(&of_axes[j][x]) };
                    axis(0) + axis(1) + axis(2)
                }
                RowOn::Parts(k) => along(&of_touches[k]),
            }
        };
        DMatrix::from_fn(rows.len(), rows.len(), entry)
    }
}
