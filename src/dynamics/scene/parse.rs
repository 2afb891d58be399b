//! The scene: a world with its time step, method and controller, read from the text of a scene file.
//!
//! Space: world, right-handed, with `up` as the upward axis; angular velocities in object axes. Units: SI. Anchors and axes
//! are in world coordinates of the initial state, so that constraints hold there.

use super::constraint_entries::Drives;
use super::reader::{SceneReader, line};
use super::scene_entries::{SceneFile, SimulationEntry};
use super::scene_error::{SceneError, SceneFault};
use super::scene_keys::reworded;
use crate::dynamics::articulation::{Articulation, ArticulationError};
use crate::dynamics::body_target::BodyTarget;
use crate::dynamics::controller::Controller;
use crate::dynamics::integrate::{Integrator, Stabilization, System};
use crate::dynamics::shape::Shape;
use crate::dynamics::world::{World, WorldSettings};
use crate::math::{Transform, Vec3};

/// The time-stepping method of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SteppingMethod {
    /// The velocity-level step of [`World`]: contacts, motors, limits, springs, rules.
    World,
    /// An integrator for articulations without contacts.
    Stepper(Integrator, System, Stabilization),
}

/// How a body is drawn: a shape in its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyGeometry {
    /// The shape.
    pub shape: Shape,
    /// Its position in the body's axes.
    pub body_from_shape: Transform,
}

/// A scene that can be simulated.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The title.
    pub name: String,
    /// The time step, seconds.
    pub step: f64,
    /// The simulated time, seconds.
    pub duration: f64,
    /// Recorded frames per second.
    pub output_rate: f64,
    /// The direction that points up.
    pub up: Vec3,
    /// The time-stepping method.
    pub method: SteppingMethod,
    /// Bodies, constraints, colliders and the initial state.
    pub world: World,
    /// Sensors and rules.
    pub controller: Controller,
    /// How every body is drawn.
    pub geometry: Vec<BodyGeometry>,
    /// The bodies that follow joints of clips. The clips are not read here: see [`BodyTarget::set_track`].
    pub targets: Vec<BodyTarget>,
}

/// The most steps of a scene, and the most frames: more are a mistake in the step, the rate or the duration.
const STEP_LIMIT: f64 = 1e7;
/// The most bodies of a scene: contact search is quadratic in them, and more would exhaust memory.
const BODY_LIMIT: usize = 10_000;

impl Scene {
    /// Reads a scene from the text of a `SCENE.toml`.
    ///
    /// # Errors
    /// [`SceneError`] with the line of the first fault.
    pub fn parse(text: &str) -> Result<Self, SceneError> {
        Self::parse_with(text, None)
    }

    /// [`Scene::parse`] with this integrator instead of the one in the file.
    ///
    /// # Errors
    /// [`SceneError`] with the line of the first fault; that of the key `integrator` where this one does not support a
    /// feature of the scene.
    pub fn parse_with(text: &str, integrator: Option<&str>) -> Result<Self, SceneError> {
        let mut file: SceneFile = toml::from_str(text).or_else(|e| {
            let at = e.span().map_or(1, |s| line(text, &s));
            let written = text.lines().nth(at - 1).unwrap_or_default();
            SceneFault::Syntax(reworded(e.message(), written)).on(at)
        })?;
        if let Some(name) = integrator {
            *file.simulation.integrator.get_mut() = name.to_owned();
        }
        SceneReader { text }.scene(&file)
    }
}

impl SceneReader<'_> {
    /// The frames per second of a recording.
    fn output_rate(&self, file: &SceneFile, duration: f64) -> Result<f64, SceneError> {
        let Some(given) = &file.simulation.output_rate else { return Ok(60.0) };
        let rate = self.positive("output_rate", given)?;
        match duration * rate > STEP_LIMIT {
            true => self.value("output_rate", given, rate, "such that there are at most ten million frames"),
            false => Ok(rate),
        }
    }

    fn scene(&self, file: &SceneFile) -> Result<Scene, SceneError> {
        let s = &file.simulation;
        let step = self.positive("step", &s.step)?;
        let duration = self.positive("duration", &s.duration)?;
        if duration / step > STEP_LIMIT {
            return self.value("step", &s.step, step, "at least a ten-millionth of the duration");
        }
        let output_rate = self.output_rate(file, duration)?;
        let up = self.up(s)?;
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
        let target = |entry| self.target(entry, (&body_names, "body"), &up, &states);
        let targets = file.targets.iter().map(target).collect::<Result<Vec<BodyTarget>, SceneError>>()?;
        for plane in &file.planes {
            colliders.push(self.plane(plane)?);
        }
        let mut drives = Drives::default();
        let mut constraints = Vec::new();
        for (k, entry) in file.constraints.iter().enumerate() {
            let constraint = self.constraint(entry, (&body_names, "body"), &states)?;
            self.drives((k, constraint.kind), entry, &mut drives)?;
            constraints.push(constraint);
        }
        let articulation = Articulation::new(bodies, constraints, gravity).or_else(|error| {
            let name = match &error {
                ArticulationError::NoSuchBody { constraint, .. }
                | ArticulationError::SameBody { constraint, .. }
                | ArticulationError::Number { constraint, .. } => constraint,
            };
            let entry = file.constraints.iter().find(|c| c.name.get_ref() == name);
            SceneFault::Constraint(error).on(entry.map_or(1, |c| self.line(&c.name)))
        })?;
        self.free_loops(file, &articulation)?;
        let sensors = self.sensors(file, &body_names)?;
        let rules = self.rules(file, &sensors, &constraint_names, (&drives.motor_names, "motor"))?;
        let method = self.method(
            s,
            file,
            !articulation.closures().is_empty(),
            &[
                ("contacts with planes", !file.planes.is_empty()),
                ("motors with limits", !drives.motors.is_empty()),
                ("coordinate limits", !drives.limits.is_empty()),
                ("springs", !drives.springs.is_empty()),
                ("targets", !file.targets.is_empty()),
            ],
        )?;
        let mut world = World::new(articulation, states, colliders, self.settings(s)?);
        if s.self_collision.as_ref().is_some_and(|on| !on.get_ref()) {
            world.ignore_within_trees();
        }
        world.motors = drives.motors.clone();
        world.limits = drives.limits;
        world.springs = drives.springs;
        let controller = Controller::new(sensors, rules, drives.motors);
        let name = file.name.clone();
        Ok(Scene { name, step, duration, output_rate, up, method, world, controller, geometry, targets })
    }

    fn up(&self, s: &SimulationEntry) -> Result<Vec3, SceneError> {
        let Some(up) = &s.up else { return Ok(Vec3::y()) };
        match up.get_ref().as_str() {
            "y" => Ok(Vec3::y()),
            "z" => Ok(Vec3::z()),
            other => self.value("up", up, format!("`{other}`"), "`y` or `z`"),
        }
    }

    /// An error for a constraint that closes a loop with several freedoms and has friction or a spring: its coordinates are not
    /// those of a tree.
    fn free_loops(&self, file: &SceneFile, articulation: &Articulation) -> Result<(), SceneError> {
        for &k in articulation.closures() {
            let entry = &file.constraints[k];
            let free = articulation.constraints()[k].kind.freedoms();
            if free > 1 && (entry.spring.is_some() || entry.friction.is_some()) {
                let must =
                    "without friction and spring, since it closes a loop: give them to another of the loop";
                return self.value("kind", &entry.kind, format!("`{}`", entry.kind.get_ref()), must);
            }
        }
        Ok(())
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
            cone: s.friction_cone.as_ref().map_or(d.cone, |on| *on.get_ref()),
            ..d
        })
    }

    fn method(
        &self,
        s: &SimulationEntry,
        file: &SceneFile,
        loops: bool,
        needs: &[(&'static str, bool)],
    ) -> Result<SteppingMethod, SceneError> {
        let unknown = |what: &'static str, line: usize| {
            SceneFault::Integrator { integrator: s.integrator.get_ref().clone(), what }.on(line)
        };
        let (integrator, system) = match s.integrator.get_ref().as_str() {
            "world" => {
                return match &s.stabilization {
                    Some(given) => unknown("`stabilization`", self.line(given)),
                    None => Ok(SteppingMethod::World),
                };
            }
            "rk4" => (Integrator::RungeKutta4, System::Kernel),
            "variational" => (Integrator::Variational, System::Kernel),
            "note" => (Integrator::Note, System::Note),
            "blocks" => (Integrator::RungeKutta4, System::Blocks),
            other => {
                let must = "`world`, `rk4`, `variational`, `note` or `blocks`";
                return self.value("integrator", &s.integrator, format!("`{other}`"), must);
            }
        };
        let kinds = ["ball", "hinge"];
        let other = file.constraints.iter().any(|c| !kinds.contains(&c.kind.get_ref().as_str()));
        let more = [
            ("sensors and rules", !(file.sensors.is_empty() && file.rules.is_empty())),
            ("constraint but hinges and balls", other && system == System::Note),
            ("closed loops", loops && system == System::Blocks),
        ];
        if let Some((what, _)) = needs.iter().chain(&more).find(|n| n.1) {
            return unknown(what, self.line(&s.integrator));
        }
        let of_world = [
            ("`erp`", s.erp.as_ref().map(|v| self.line(v))),
            ("`compliance`", s.compliance.as_ref().map(|v| self.line(v))),
            ("`slop`", s.slop.as_ref().map(|v| self.line(v))),
            ("`friction_cone`", s.friction_cone.as_ref().map(|v| self.line(v))),
            ("`self_collision`", s.self_collision.as_ref().map(|v| self.line(v))),
        ];
        if let Some((what, line)) = of_world.iter().find_map(|(what, line)| line.map(|l| (*what, l))) {
            return unknown(what, line);
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
        Ok(SteppingMethod::Stepper(integrator, system, stabilization))
    }
}
