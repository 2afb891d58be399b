//! Many instants of one skeleton, such as variations or takes, are carried through time side by side, four to a lane group.
//!
//! Skeletons are the lanes, never links: a link waits for its parent, a skeleton waits for nothing. The step is that of
//! [`Integrator::Note`](super::Integrator::Note) without stabilisation. Space and units as in [`BodyState`].

use super::articulation::{Articulation, Link};
use super::batch_kernel::{Hanging, Instant, Node, Plan, step};
use super::body::BodyState;
use super::constraint::ConstraintKind;
use crate::math::{Quat, RawQuat, Real, RealX4, Vec3, from_columns, in_wide_registers};

/// Why skeletons cannot go side by side.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A constraint that the kernel of batches does not know.
    #[error("constraint `{constraint}` is neither a hinge nor a ball\n  hint: a `Stepper` knows all kinds")]
    Kind {
        /// Its name.
        constraint: String,
    },
    /// An instant of another number of bodies.
    #[error("skeleton {skeleton} has {found} bodies, the articulation {expected}")]
    Bodies {
        /// Its place in the list.
        skeleton: usize,
        /// Its bodies.
        found: usize,
        /// Those of the articulation.
        expected: usize,
    },
}

/// Independent skeletons of one articulation of hinges and balls, stepped together.
#[derive(Clone, Debug)]
pub struct Batch {
    plans: Vec<Plan>,
    /// By link: which body, and its axes from the principal ones.
    bodies: Vec<(usize, Quat)>,
    gravity: [f64; 3],
    skeletons: usize,
    /// Four skeletons each; the last one fills up the last group.
    groups: Vec<Vec<Instant<RealX4>>>,
    nodes: Vec<Node<RealX4>>,
}

impl Batch {
    /// These instants of the articulation's bodies, each independent of the others.
    ///
    /// # Errors
    /// [`BatchError`] for a constraint that is neither a hinge nor a ball, or an instant that does not fit.
    pub fn new(articulation: &Articulation, skeletons: &[Vec<BodyState>]) -> Result<Self, BatchError> {
        let expected = articulation.bodies().len();
        if let Some(skeleton) = skeletons.iter().position(|s| s.len() != expected) {
            let found = skeletons[skeleton].len();
            return Err(BatchError::Bodies { skeleton, found, expected });
        }
        let principal: Vec<([f64; 3], Quat)> =
            articulation.bodies().iter().map(|b| axes(&b.inertia)).collect();
        let links = articulation.links();
        let plan = |link: &Link| plan(articulation, link, &principal);
        let plans = links.iter().map(plan).collect::<Result<Vec<Plan>, BatchError>>()?;
        let bodies: Vec<(usize, Quat)> = links.iter().map(|l| (l.body, principal[l.body].1)).collect();
        let group = |four: &[Vec<BodyState>]| {
            let of_body = |(body, axes): &(usize, Quat)| {
                let state = |lane: usize| &four[lane.min(four.len() - 1)][*body];
                let vector = |get: &dyn Fn(&BodyState) -> Vec3| -> [RealX4; 3] {
                    std::array::from_fn(|k| RealX4::from_lanes(|lane| get(state(lane))[k]))
                };
                let turn = |lane: usize| {
                    let q = (state(lane).orientation * axes).into_inner();
                    [q.w, q.i, q.j, q.k]
                };
                Instant {
                    position: vector(&|s| s.position),
                    rotation: std::array::from_fn(|k| RealX4::from_lanes(|lane| turn(lane)[k])),
                    velocity: vector(&|s| s.velocity),
                    spin: vector(&BodyState::world_angular_velocity),
                }
            };
            bodies.iter().map(of_body).collect()
        };
        let groups = skeletons.chunks(RealX4::LANES).map(group).collect();
        Ok(Self {
            nodes: vec![Node::blank(); plans.len()],
            plans,
            bodies,
            gravity: articulation.gravity.into(),
            skeletons: skeletons.len(),
            groups,
        })
    }

    /// How many skeletons there are.
    pub fn skeletons(&self) -> usize {
        self.skeletons
    }

    /// Advances every skeleton by `h` seconds, to the same bits on every processor.
    pub fn step(&mut self, h: f64) {
        in_wide_registers(
            #[inline(always)]
            || self.advance(h),
        );
    }

    #[inline(always)]
    fn advance(&mut self, h: f64) {
        for group in &mut self.groups {
            step(&self.plans, group, &mut self.nodes, self.gravity, h);
        }
    }

    /// The present instant of one skeleton, by body.
    ///
    /// # Panics
    /// Where there is no such skeleton.
    pub fn states(&self, skeleton: usize) -> Vec<BodyState> {
        assert!(skeleton < self.skeletons, "skeletons are counted from 0");
        let (group, lane) = (&self.groups[skeleton / RealX4::LANES], skeleton % RealX4::LANES);
        let mut states = vec![BodyState::at_rest(Vec3::zeros(), Quat::identity()); self.bodies.len()];
        for ((body, axes), s) in self.bodies.iter().zip(group) {
            let vector = |v: &[RealX4; 3]| Vec3::from(v.map(|x| x.lane(lane)));
            let [w, x, y, z] = s.rotation.map(|x| x.lane(lane));
            let orientation = Quat::new_normalize(RawQuat::new(w, x, y, z)) * axes.inverse();
            states[*body] = BodyState {
                position: vector(&s.position),
                orientation,
                velocity: vector(&s.velocity),
                angular_velocity: orientation.inverse_transform_vector(&vector(&s.spin)),
            };
        }
        states
    }
}

/// The principal moments, and the body's axes from the principal ones.
fn axes(inertia: &crate::math::Mat3<f64>) -> ([f64; 3], Quat) {
    let diagonal = inertia.diagonal();
    // What is diagonal already keeps its axes: eigenvectors of equal moments are anybody's.
    if *inertia == crate::math::Mat3::from_diagonal(&diagonal) {
        return (diagonal.into(), Quat::identity());
    }
    let eigen = inertia.symmetric_eigen();
    let axis = |i: usize| -> Vec3 { eigen.eigenvectors.column(i).into_owned() };
    (eigen.eigenvalues.into(), from_columns(&axis(0), &axis(1), &axis(0).cross(&axis(1))))
}

fn plan(
    articulation: &Articulation,
    link: &Link,
    principal: &[([f64; 3], Quat)],
) -> Result<Plan, BatchError> {
    let into = |body: Option<usize>, v: &Vec3| -> [f64; 3] {
        body.map_or(*v, |i| principal[i].1.inverse_transform_vector(v)).into()
    };
    let mut to_center = [0.0; 3];
    let mut hanging = None;
    if let Some(k) = link.constraint {
        let c = &articulation.constraints()[k];
        let (of_a, of_b) = ((&c.anchor_a, &c.axis_a), (&c.anchor_b, &c.axis_b));
        let ((anchor, axis), (above, axis_above)) = if link.child_is_a { (of_a, of_b) } else { (of_b, of_a) };
        let parent = if link.child_is_a { c.b } else { c.a };
        let hinge = match c.kind {
            ConstraintKind::Hinge => true,
            ConstraintKind::Ball => false,
            _ => return Err(BatchError::Kind { constraint: c.name.clone() }),
        };
        to_center = into(Some(link.body), &-anchor);
        let sign = if link.child_is_a { 1.0 } else { -1.0 };
        hanging = Some(Hanging {
            above: into(parent, above),
            axis: hinge.then(|| (into(Some(link.body), axis), into(parent, axis_above))),
            friction: c.friction,
            motor: if hinge { c.motor * sign } else { 0.0 },
            motor_axis: (into(c.a, &c.axis_a), link.child_is_a),
        });
    }
    let [i1, i2, i3] = principal[link.body].0;
    Ok(Plan {
        parent: link.parent,
        hanging,
        mass: articulation.bodies()[link.body].mass,
        moments: [i3, i1 - i3, i2 - i3],
        to_center,
    })
}

#[cfg(test)]
mod tests {
    use super::super::body::{Body, solid};
    use super::super::constraint::Constraint;
    use super::*;

    #[test]
    fn wide_registers_change_no_bit() {
        let body =
            |i| Body::new(format!("b{i}"), 1.5, solid::cuboid(1.5, &Vec3::new(0.1, 0.2, 0.3))).unwrap();
        let at = |i: usize| BodyState::at_rest(Vec3::new(i as f64, 0.0, 0.0), Quat::identity());
        let joint = |i: usize| {
            let kind = if i.is_multiple_of(3) { ConstraintKind::Ball } else { ConstraintKind::Hinge };
            let (above, axis) = ((i - 1) / 2, Vec3::new(0.6, 0.0, 0.8));
            let sides = ((Some(above), &at(above)), (Some(i), &at(i)));
            let anchor = Vec3::new(i as f64 - 0.4, 0.1, 0.2);
            let mut joint =
                Constraint::in_pose(format!("c{i}"), kind, sides.0, sides.1, &anchor, &axis, &axis);
            (joint.friction, joint.motor) = (0.1, 0.2);
            joint
        };
        let (bodies, joints) = ((0..9).map(body).collect(), (1..9).map(joint).collect());
        let articulation = Articulation::new(bodies, joints, Vec3::new(0.0, -9.8, 0.1)).unwrap();
        let spinning = |lane: usize| {
            let spin = |i: usize| Vec3::new(0.3, (i + lane) as f64, -0.7) * 0.5;
            (0..9).map(|i| BodyState { angular_velocity: spin(i), ..at(i) }).collect()
        };
        let mut wide = Batch::new(&articulation, &(0..7).map(spinning).collect::<Vec<_>>()).unwrap();
        let mut plain = wide.clone();
        for _ in 0..50 {
            wide.step(1e-3);
            plain.advance(1e-3);
        }
        for k in 0..7 {
            assert_eq!(wide.states(k), plain.states(k));
        }
    }
}
