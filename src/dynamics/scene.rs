//! A scene file becomes a world that can be simulated; every fault names its line.
//!
//! Space: world, right-handed, `up` says which axis points up; angular velocities in object axes. Units: SI.
//! Anchors and axes are written in world coordinates of the first instant, so that constraints hold there.

use super::articulation::{Articulation, ArticulationError};
use super::body::{Body, BodyError, BodyState, solid};
use super::condition::{Condition, ConditionError};
use super::constraint::{Constraint, ConstraintKind, of, plane_basis};
use super::integrate::{Integrator, Stabilization};
use super::scene_file::{BodyEntry, ConstraintEntry, PlaneEntry, SceneFile, SetPointEntry, SimulationEntry};
use super::scene_reader::{Named, Reader, line};
use super::sensor::{Controller, Rule, Sensor, SetPoint};
use super::shape::{Collider, Shape};
use super::world::{CoordinateLimit, Motor, Spring, World, WorldSettings};
use crate::math::{Mat3, Quat, RawQuat, Transform, Vec3, from_columns};
use toml::Spanned;

/// How a scene is carried through time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The velocity-level step of [`World`]: contacts, motors, limits, springs, rules.
    World,
    /// One of the steps for articulations without contacts.
    Stepper(Integrator, Stabilization),
}

/// How a body is drawn: a shape in its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyGeometry {
    /// The shape.
    pub shape: Shape,
    /// Places it in the body's axes.
    pub body_from_shape: Transform,
}

/// A scene that can be simulated.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The title.
    pub name: String,
    /// Seconds a step.
    pub step: f64,
    /// Seconds in all.
    pub duration: f64,
    /// Recorded frames a second.
    pub output_rate: f64,
    /// The direction that points up.
    pub up: Vec3,
    /// How it is carried through time.
    pub method: Method,
    /// Bodies, constraints, colliders and the first instant.
    pub world: World,
    /// Sensors and rules.
    pub controller: Controller,
    /// How every body is drawn.
    pub geometry: Vec<BodyGeometry>,
}

/// What is wrong with a scene file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SceneError {
    /// Not TOML, an unknown key, a missing key or a value of another kind.
    #[error("line {line}: {message}")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A number that cannot be.
    #[error("line {line}: `{key}` is {value}, it must be {must}")]
    Value {
        /// Counted from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it must be.
        must: &'static str,
    },
    /// Two things share a name.
    #[error("line {line}: the name `{name}` is taken")]
    Taken {
        /// Of the second, counted from 1.
        line: usize,
        /// The name.
        name: String,
    },
    /// A name that nothing has.
    #[error("line {line}: no {what} is called `{name}`{}", nearest.as_ref().map_or(String::new(), |n| format!("\n  hint: did you mean `{n}`?")))]
    Unknown {
        /// Counted from 1.
        line: usize,
        /// `body` or `motor`.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest that exists.
        nearest: Option<String>,
    },
    /// A body that cannot be.
    #[error("line {line}: {error}")]
    Body {
        /// Of the mass or the inertia, counted from 1.
        line: usize,
        /// What is wrong with it.
        error: BodyError,
    },
    /// A constraint that cannot be.
    #[error("line {line}: {error}")]
    Constraint {
        /// Of the constraint's name, counted from 1.
        line: usize,
        /// What is wrong with it.
        error: ArticulationError,
    },
    /// A condition that cannot be read.
    #[error("line {line}: in the condition: {error}")]
    Condition {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        error: ConditionError,
    },
    /// The chosen integrator cannot do what the scene asks for.
    #[error("line {line}: the integrator `{integrator}` knows no {what}\n  hint: `world` does")]
    Integrator {
        /// Counted from 1.
        line: usize,
        /// Its name.
        integrator: String,
        /// What it cannot do.
        what: &'static str,
    },
}

/// More steps than this are a mistake in the step or the duration.
const STEP_LIMIT: f64 = 1e7;
/// More bodies than this would exhaust memory before they moved.
const BODY_LIMIT: usize = 10_000;

impl Scene {
    /// Reads a scene from the text of a `SCENE.toml`.
    ///
    /// # Errors
    /// [`SceneError`] with the line of the first fault.
    pub fn parse(text: &str) -> Result<Self, SceneError> {
        let file: SceneFile = toml::from_str(text).map_err(|e| SceneError::Syntax {
            line: e.span().map_or(1, |s| line(text, &s)),
            message: e.message().to_owned(),
        })?;
        Reader { text }.scene(&file)
    }
}

impl Reader<'_> {
    fn scene(&self, file: &SceneFile) -> Result<Scene, SceneError> {
        let s = &file.simulation;
        let step = self.positive("step", &s.step)?;
        let duration = self.positive("duration", &s.duration)?;
        if duration / step > STEP_LIMIT {
            return self.value("step", &s.step, step, "at least a ten-millionth of the duration");
        }
        let output_rate = match &s.output_rate {
            Some(rate) => self.positive("output_rate", rate)?,
            None => 60.0,
        };
        let up = match &s.up {
            None => Vec3::y(),
            Some(up) => match up.get_ref().as_str() {
                "y" => Vec3::y(),
                "z" => Vec3::z(),
                other => return self.value("up", up, format!("`{other}`"), "`y` or `z`"),
            },
        };
        let gravity = match &s.gravity {
            Some(g) => self.vector("gravity", g)?,
            None => up * -9.81,
        };
        if let Some(extra) = file.bodies.get(BODY_LIMIT) {
            let count = file.bodies.len();
            return self.value("body", &extra.name, count, "listed at most 10000 times");
        }
        let body_names = self.names(file.bodies.iter().map(|b| &b.name))?;
        let constraint_names = self.names(file.constraints.iter().map(|c| &c.name))?;
        let (mut bodies, mut states, mut geometry, mut colliders) = (vec![], vec![], vec![], vec![]);
        for (i, entry) in file.bodies.iter().enumerate() {
            let (body, state, drawn, collider) = self.body(i, entry)?;
            bodies.push(body);
            states.push(state);
            geometry.push(drawn);
            colliders.extend(collider);
        }
        for plane in &file.planes {
            colliders.push(self.plane(plane)?);
        }
        let (mut motors, mut limits, mut springs, mut motor_names) = (vec![], vec![], vec![], vec![]);
        let mut constraints = Vec::new();
        for (k, entry) in file.constraints.iter().enumerate() {
            constraints.push(self.constraint(entry, (&body_names, "body"), &states)?);
            if let Some(motor) = &entry.motor {
                let m = motor.get_ref();
                if !(m.speed.is_finite() && m.limit.is_finite() && m.limit >= 0.0) {
                    return self.value("motor", motor, format!("{m:?}"), "finite, its limit zero or above");
                }
                motors.push(Motor { constraint: k, speed: m.speed, limit: m.limit });
                motor_names.push(entry.name.get_ref().clone());
            }
            if let Some(pair) = &entry.limits {
                let [low, high] = *pair.get_ref();
                if !(low.is_finite() && high.is_finite() && low <= high) {
                    return self.value("limits", pair, format!("[{low}, {high}]"), "finite and ascending");
                }
                limits.push(CoordinateLimit { constraint: k, low, high });
            }
            if let Some(spring) = &entry.spring {
                let p = *spring.get_ref();
                let finite = [p.stiffness, p.damping, p.target, p.rate].iter().all(|x| x.is_finite());
                if !(finite && p.stiffness >= 0.0 && p.damping >= 0.0) {
                    return self.value("spring", spring, format!("{p:?}"), "finite, zero or above");
                }
                springs.push(Spring {
                    constraint: k,
                    stiffness: p.stiffness,
                    damping: p.damping,
                    target: p.target,
                    rate: p.rate,
                });
            }
        }
        let articulation = Articulation::new(bodies, constraints, gravity).map_err(|error| {
            let name = match &error {
                ArticulationError::NoSuchBody { constraint, .. }
                | ArticulationError::Loop { constraint, .. }
                | ArticulationError::Number { constraint, .. } => constraint,
            };
            let entry = file.constraints.iter().find(|c| c.name.get_ref() == name);
            SceneError::Constraint { line: entry.map_or(1, |c| self.line(&c.name)), error }
        })?;
        let sensors = self.sensors(file, &body_names)?;
        let rules = self.rules(file, &sensors, &constraint_names, (&motor_names, "motor"))?;
        let method = self.method(
            s,
            file,
            &[
                ("contacts with planes", !file.planes.is_empty()),
                ("motors with limits", !motors.is_empty()),
                ("coordinate limits", !limits.is_empty()),
                ("springs", !springs.is_empty()),
            ],
        )?;
        let mut world = World::new(articulation, states, colliders, self.settings(s)?);
        if s.self_collision == Some(false) {
            world.ignore_within_trees();
        }
        world.motors = motors.clone();
        world.limits = limits;
        world.springs = springs;
        let controller = Controller::new(sensors, rules, motors);
        let name = file.name.clone();
        Ok(Scene { name, step, duration, output_rate, up, method, world, controller, geometry })
    }

    fn settings(&self, s: &SimulationEntry) -> Result<WorldSettings, SceneError> {
        let d = WorldSettings::default();
        let erp = self.not_negative("erp", &s.erp, d.erp)?;
        if let Some(given) = &s.erp
            && erp > 1.0
        {
            return self.value("erp", given, erp, "between 0 and 1");
        }
        Ok(WorldSettings {
            erp,
            compliance: self.not_negative("compliance", &s.compliance, d.compliance)?,
            slop: self.not_negative("slop", &s.slop, d.slop)?,
            cone: s.friction_cone.unwrap_or(d.cone),
            ..d
        })
    }

    fn method(
        &self,
        s: &SimulationEntry,
        file: &SceneFile,
        needs: &[(&'static str, bool)],
    ) -> Result<Method, SceneError> {
        let integrator = match s.integrator.get_ref().as_str() {
            "world" => return Ok(Method::World),
            "note" => Integrator::Note,
            "rk4" => Integrator::RungeKutta4,
            "variational" => Integrator::Variational,
            other => {
                let must = "`world`, `rk4`, `variational` or `note`";
                return self.value("integrator", &s.integrator, format!("`{other}`"), must);
            }
        };
        let rules = [("sensors and rules", !(file.sensors.is_empty() && file.rules.is_empty()))];
        if let Some((what, _)) = needs.iter().chain(&rules).find(|n| n.1) {
            let integrator = s.integrator.get_ref().clone();
            return Err(SceneError::Integrator { line: self.line(&s.integrator), integrator, what });
        }
        let stabilization = match &s.stabilization {
            None => Stabilization::Restore,
            Some(given) => match given.get_ref().as_str() {
                "none" => Stabilization::None,
                "project" => Stabilization::Project,
                "restore" => Stabilization::Restore,
                other => {
                    let must = "`restore`, `project` or `none`";
                    return self.value("stabilization", given, format!("`{other}`"), must);
                }
            },
        };
        Ok(Method::Stepper(integrator, stabilization))
    }

    fn body(
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
            SceneError::Body { line, error }
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
                restitution: self.not_negative("restitution", &entry.restitution, 0.0)?,
            }),
            _ => None,
        };
        Ok((body, state, geometry, collider))
    }

    /// The shape of a body and its inertia, where it has one.
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

    fn plane(&self, plane: &PlaneEntry) -> Result<Collider, SceneError> {
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
            restitution: self.not_negative("restitution", &plane.restitution, 0.0)?,
        })
    }

    fn constraint(
        &self,
        entry: &ConstraintEntry,
        bodies: Named,
        states: &[BodyState],
    ) -> Result<Constraint, SceneError> {
        let kind = match entry.kind.get_ref().as_str() {
            "ball" => ConstraintKind::Ball,
            "hinge" => ConstraintKind::Hinge,
            "universal" => ConstraintKind::Universal,
            "slider" => ConstraintKind::Slider,
            "fixed" => ConstraintKind::Fixed,
            other => {
                let must = "`ball`, `hinge`, `universal`, `slider` or `fixed`";
                return self.value("kind", &entry.kind, format!("`{other}`"), must);
            }
        };
        let end = |name: &Spanned<String>| {
            let word = name.get_ref().as_str();
            if word == "world" {
                return Ok(None);
            }
            self.find(bodies, word, self.line(name)).map(Some)
        };
        let (a, b) = (end(&entry.a)?, end(&entry.b)?);
        let axis = |key, value: &Option<Spanned<[f64; 3]>>, needed: bool| match value {
            Some(v) => self.direction(key, v),
            None if needed => self.value(key, &entry.kind, "missing", "given for this kind"),
            None => Ok(Vec3::zeros()),
        };
        let single = matches!(kind, ConstraintKind::Hinge | ConstraintKind::Slider);
        let universal = kind == ConstraintKind::Universal;
        let first = axis("axis", &entry.axis, single || universal)?;
        let second = axis("second_axis", &entry.second_axis, universal)?;
        if universal && first.dot(&second).abs() > 1e-6 {
            return self.value("second_axis", &entry.kind, "oblique", "perpendicular to `axis`");
        }
        let anchor = self.vector("anchor", &entry.anchor)?;
        let name = entry.name.get_ref().clone();
        let (sa, sb) = (of(states, a), of(states, b));
        let mut c = Constraint::in_pose(name, kind, (a, &sa), (b, &sb), &anchor, &first, &second);
        c.friction = self.not_negative("friction", &entry.friction, 0.0)?;
        if let Some(torque) = &entry.torque {
            c.motor = self.number("torque", torque, |_| true, "a finite number")?;
        }
        Ok(c)
    }

    fn sensors(&self, file: &SceneFile, bodies: &[String]) -> Result<Vec<Sensor>, SceneError> {
        self.names(file.sensors.iter().map(|s| &s.name))?;
        let list = |names: &[Spanned<String>]| -> Result<Vec<usize>, SceneError> {
            names.iter().map(|n| self.find((bodies, "body"), n.get_ref(), self.line(n))).collect()
        };
        let sensor = |entry: &super::scene_file::SensorEntry| {
            Ok(Sensor {
                name: entry.name.get_ref().clone(),
                bodies: list(&entry.bodies)?,
                with: list(&entry.with)?,
                margin: self.not_negative("margin", &entry.margin, 2e-4)?,
                on: false,
                first_touch: None,
            })
        };
        file.sensors.iter().map(sensor).collect()
    }

    fn rules(
        &self,
        file: &SceneFile,
        sensors: &[Sensor],
        constraints: &[String],
        motors: Named,
    ) -> Result<Vec<Rule>, SceneError> {
        let sensors: Vec<String> = sensors.iter().map(|s| s.name.clone()).collect();
        let mut rules = Vec::new();
        for rule in &file.rules {
            let when = Condition::parse(rule.when.get_ref(), &sensors, constraints)
                .map_err(|error| SceneError::Condition { line: self.line(&rule.when), error })?;
            let mut then = Vec::new();
            for set in &rule.then {
                let SetPointEntry { motor, speed, limit } = set.get_ref();
                let bad = |x: &Option<f64>| x.is_some_and(|x| !x.is_finite());
                if bad(speed) || bad(limit) || limit.is_some_and(|l| l < 0.0) {
                    return self.value(
                        "then",
                        set,
                        format!("{:?}", set.get_ref()),
                        "finite, its limit zero or above",
                    );
                }
                let motor = self.find(motors, motor, self.line(set))?;
                then.push(SetPoint { motor, speed: *speed, limit: *limit });
            }
            rules.push(Rule::new(when, then, rule.latch));
        }
        Ok(rules)
    }
}
