//! The keys of a scene file (`SCENE.toml`) for serde, with their positions in the text.
//!
//! Units: SI; positions, rotations and velocities in the world, angular velocities in object axes.

use serde::Deserialize;
use toml::Spanned;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SceneFile {
    #[serde(default)]
    pub(super) name: String,
    pub(super) simulation: SimulationEntry,
    #[serde(default, rename = "body")]
    pub(super) bodies: Vec<BodyEntry>,
    #[serde(default, rename = "constraint")]
    pub(super) constraints: Vec<ConstraintEntry>,
    #[serde(default, rename = "plane")]
    pub(super) planes: Vec<PlaneEntry>,
    #[serde(default, rename = "target")]
    pub(super) targets: Vec<TargetEntry>,
    #[serde(default, rename = "sensor")]
    pub(super) sensors: Vec<SensorEntry>,
    #[serde(default, rename = "rule")]
    pub(super) rules: Vec<RuleEntry>,
}

fn default_integrator() -> Spanned<String> {
    Spanned::new(0..0, "world".to_owned())
}

/// `[simulation]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SimulationEntry {
    pub(super) step: Spanned<f64>,
    pub(super) duration: Spanned<f64>,
    #[serde(default = "default_integrator")]
    pub(super) integrator: Spanned<String>,
    pub(super) stabilization: Option<Spanned<String>>,
    pub(super) output_rate: Option<Spanned<f64>>,
    pub(super) gravity: Option<Spanned<[f64; 3]>>,
    pub(super) up: Option<Spanned<String>>,
    pub(super) erp: Option<Spanned<f64>>,
    pub(super) compliance: Option<Spanned<f64>>,
    pub(super) slop: Option<Spanned<f64>>,
    pub(super) friction_cone: Option<Spanned<bool>>,
    pub(super) self_collision: Option<Spanned<bool>>,
}

/// `[[body]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyEntry {
    pub(super) name: Spanned<String>,
    pub(super) mass: Spanned<f64>,
    pub(super) inertia: Option<Spanned<Vec<f64>>>,
    pub(super) position: Spanned<[f64; 3]>,
    pub(super) rotation: Option<Spanned<[f64; 4]>>,
    pub(super) velocity: Option<Spanned<[f64; 3]>>,
    pub(super) angular_velocity: Option<Spanned<[f64; 3]>>,
    pub(super) sphere: Option<Spanned<f64>>,
    pub(super) capsule: Option<Spanned<[f64; 2]>>,
    #[serde(rename = "box")]
    pub(super) cuboid: Option<Spanned<[f64; 3]>>,
    pub(super) collide: Option<bool>,
    pub(super) friction: Option<Spanned<f64>>,
    pub(super) restitution: Option<Spanned<f64>>,
}

/// `[[constraint]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConstraintEntry {
    pub(super) name: Spanned<String>,
    pub(super) kind: Spanned<String>,
    pub(super) a: Spanned<String>,
    pub(super) b: Spanned<String>,
    pub(super) anchor: Spanned<[f64; 3]>,
    pub(super) axis: Option<Spanned<[f64; 3]>>,
    pub(super) second_axis: Option<Spanned<[f64; 3]>>,
    pub(super) friction: Option<Spanned<f64>>,
    pub(super) torque: Option<Spanned<f64>>,
    pub(super) limits: Option<Spanned<[f64; 2]>>,
    pub(super) motor: Option<Spanned<MotorEntry>>,
    pub(super) spring: Option<Spanned<SpringEntry>>,
}

/// `motor = { speed, limit }`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MotorEntry {
    pub(super) speed: f64,
    pub(super) limit: f64,
}

/// `spring = { stiffness, damping, target, rate }`
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpringEntry {
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    #[serde(default)]
    pub(super) target: f64,
    #[serde(default)]
    pub(super) rate: f64,
}

/// `[[plane]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaneEntry {
    pub(super) normal: Spanned<[f64; 3]>,
    #[serde(default)]
    pub(super) point: [f64; 3],
    pub(super) friction: Option<Spanned<f64>>,
    pub(super) restitution: Option<Spanned<f64>>,
}

/// `[[target]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetEntry {
    pub(super) body: Spanned<String>,
    pub(super) motion: Spanned<String>,
    pub(super) clip: Option<String>,
    pub(super) joint: String,
    pub(super) force: Spanned<f64>,
    pub(super) torque: Spanned<f64>,
}

/// `[[sensor]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SensorEntry {
    pub(super) name: Spanned<String>,
    pub(super) bodies: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) with: Vec<Spanned<String>>,
    pub(super) margin: Option<Spanned<f64>>,
}

/// `[[rule]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleEntry {
    pub(super) when: Spanned<String>,
    pub(super) then: Vec<Spanned<SetPointEntry>>,
    #[serde(default)]
    pub(super) latch: bool,
}

/// `{ motor, speed, limit }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetPointEntry {
    pub(super) motor: String,
    pub(super) speed: Option<f64>,
    pub(super) limit: Option<f64>,
}
