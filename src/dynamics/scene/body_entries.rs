//! Reads the `[[body]]`, `[[plane]]` and `[[target]]` entries of a scene file: bodies, initial states, displayed shapes, colliders.
//!
//! Space: world for positions and rotations, a body's axes for its shape. Units: SI.

use super::parse::BodyGeometry;
use super::reader::{NameList, SceneReader};
use super::scene_entries::{BodyEntry, PlaneEntry, TargetEntry};
use super::scene_error::{SceneError, SceneFault};
use crate::dynamics::body_target::BodyTarget;
use crate::dynamics::constraint::plane_basis;
use crate::dynamics::rigid_body::{Body, BodyError, BodyState, solid};
use crate::dynamics::shape::{Collider, Shape};
use crate::math::{Mat3, Quat, RawQuat, Transform, Vec3, from_columns};
use toml::Spanned;

impl SceneReader<'_> {
    pub(super) fn body(
        &self,
        index: usize,
        entry: &BodyEntry,
    ) -> Result<(Body, BodyState, BodyGeometry, Option<Collider>), SceneError> {
        let mass = *entry.mass.get_ref();
        let (shape, of_shape) = self.shape(entry, mass)?;
        let (inertia, at) = match (&entry.inertia, of_shape) {
            (Some(given), _) => {
                let v = given.get_ref();
                let m = match *v.as_slice() {
                    [x, y, z] => Mat3::from_diagonal(&Vec3::new(x, y, z)),
                    [a, b, c, d, e, f] => Mat3::new(a, d, e, d, b, f, e, f, c),
                    _ => {
                        let must = "three numbers, or six: xx, yy, zz, xy, xz, yz";
                        return self.value("inertia", given, format!("{v:?}"), must);
                    }
                };
                (m, self.line(given))
            }
            (None, Some(m)) => (m, self.line(&entry.mass)),
            (None, None) => {
                let must = "given an `inertia`, or a `sphere`, `capsule` or `box`";
                return self.value("body", &entry.name, format!("`{}`", entry.name.get_ref()), must);
            }
        };
        let name = entry.name.get_ref().clone();
        let body = Body::new(name, mass, inertia).map_err(|error| {
            let line = if matches!(error, BodyError::Mass { .. }) { self.line(&entry.mass) } else { at };
            SceneError { line, fault: SceneFault::Body(error) }
        })?;
        let orientation = match &entry.rotation {
            None => Quat::identity(),
            Some(r) => {
                let [w, x, y, z] = *r.get_ref();
                let q = RawQuat::new(w, x, y, z);
                let unit = (q.norm() - 1.0).abs() < 1e-3;
                if !unit {
                    let must = "a unit quaternion w, x, y, z";
                    return self.value("rotation", r, format!("{:?}", r.get_ref()), must);
                }
                Quat::new_normalize(q)
            }
        };
        let state = BodyState {
            position: self.vector("position", &entry.position)?,
            orientation,
            velocity: self.vector_or_zero("velocity", &entry.velocity)?,
            angular_velocity: self.vector_or_zero("angular_velocity", &entry.angular_velocity)?,
        };
        let geometry = match shape {
            Some(shape) => BodyGeometry { shape, body_from_shape: Transform::identity() },
            None => {
                let (semi_axes, axes) = body.ellipsoid_of_inertia();
                let body_from_shape = Transform::from_rotation(axes);
                BodyGeometry { shape: Shape::Ellipsoid { semi_axes }, body_from_shape }
            }
        };
        let collider = match shape {
            Some(shape) if entry.collide != Some(false) => Some(Collider {
                body: Some(index),
                shape,
                body_from_shape: Transform::identity(),
                friction: self.not_negative("friction", &entry.friction, 0.5)?,
                restitution: self.restitution(&entry.restitution)?,
            }),
            _ => None,
        };
        Ok((body, state, geometry, collider))
    }

    /// The shape of a body and the inertia of that shape; `None` for a body without a shape.
    fn shape(&self, entry: &BodyEntry, mass: f64) -> Result<(Option<Shape>, Option<Mat3<f64>>), SceneError> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let must = "positive and finite";
        let mut shapes = Vec::new();
        if let Some(s) = &entry.sphere {
            let radius = self.positive("sphere", s)?;
            shapes.push((Shape::Sphere { radius }, solid::sphere(mass, radius)));
        }
        if let Some(c) = &entry.capsule {
            let [radius, length] = *c.get_ref();
            if !(positive(radius) && positive(length)) {
                return self.value("capsule", c, format!("[{radius}, {length}]"), must);
            }
            shapes.push((Shape::Capsule { radius, length }, solid::capsule(mass, radius, length)));
        }
        if let Some(c) = &entry.cuboid {
            let half = Vec3::from(*c.get_ref()) * 0.5;
            if !half.iter().all(|x| positive(*x)) {
                return self.value("box", c, format!("{:?}", c.get_ref()), must);
            }
            shapes.push((Shape::Cuboid { half }, solid::cuboid(mass, &half)));
        }
        if shapes.len() > 1 {
            let name = format!("`{}`", entry.name.get_ref());
            return self.value("body", &entry.name, name, "given one shape, not several");
        }
        Ok(shapes.pop().map_or((None, None), |(shape, inertia)| (Some(shape), Some(inertia))))
    }

    pub(super) fn plane(&self, plane: &PlaneEntry) -> Result<Collider, SceneError> {
        let normal = self.direction("normal", &plane.normal)?;
        let [u, v] = plane_basis(&normal);
        let point = Vec3::from(plane.point);
        if !point.iter().all(|x| x.is_finite()) {
            return self.value("point", &plane.normal, format!("{:?}", plane.point), "three finite numbers");
        }
        Ok(Collider {
            body: None,
            shape: Shape::Plane,
            body_from_shape: Transform::new(from_columns(&u, &v, &normal), point),
            friction: self.not_negative("friction", &plane.friction, 0.5)?,
            restitution: self.restitution(&plane.restitution)?,
        })
    }

    pub(super) fn target(
        &self,
        entry: &TargetEntry,
        bodies: NameList,
        up: &Vec3,
        states: &[BodyState],
    ) -> Result<BodyTarget, SceneError> {
        let body = self.find(bodies, entry.body.get_ref(), self.line(&entry.body))?;
        let most = (self.positive("force", &entry.force)?, self.positive("torque", &entry.torque)?);
        let source = (entry.motion.get_ref().clone(), entry.clip.clone(), entry.joint.clone());
        Ok(BodyTarget::new(body, source, most, up, states[body]))
    }

    /// A restitution from 0 to 1: above 1 a bounce would add energy.
    fn restitution(&self, value: &Option<Spanned<f64>>) -> Result<f64, SceneError> {
        let within = |x: f64| (0.0..=1.0).contains(&x);
        value.as_ref().map_or(Ok(0.0), |v| self.number("restitution", v, within, "a number from 0 to 1"))
    }
}
