//! Rigid bodies: two links fall from the horizontal while their energy is printed.
//! `cargo run --example simulate`.

use posemill::dynamics::{Scene, simulate};
use posemill::pipeline::save;
use posemill::simulation_view;
use std::error::Error;
use std::path::Path;

/// The same text as in a file for `posemill simulate`; `posemill simulate --help` lists every key.
const SCENE: &str = r#"
name = "double pendulum"

[simulation]
step = 0.001
duration = 3.0
integrator = "rk4"
stabilization = "project"
output_rate = 60.0
gravity = [0.0, -9.81, 0.0]

[[body]]
name = "upper"
mass = 1.0
position = [0.25, 2.0, 0.0]
rotation = [0.707106781186548, 0.0, 0.707106781186548, 0.0]   # z along the link
capsule = [0.03, 0.44]

[[body]]
name = "lower"
mass = 1.0
position = [0.75, 2.0, 0.0]
rotation = [0.707106781186548, 0.0, 0.707106781186548, 0.0]
capsule = [0.03, 0.44]

[[constraint]]
name = "shoulder"
kind = "hinge"
a = "world"
b = "upper"
anchor = [0.0, 2.0, 0.0]
axis = [0.0, 0.0, 1.0]

[[constraint]]
name = "elbow"
kind = "hinge"
a = "upper"
b = "lower"
anchor = [0.5, 2.0, 0.0]
axis = [0.0, 0.0, 1.0]
"#;

fn main() -> Result<(), Box<dyn Error>> {
    example(Path::new("out/examples")).map(drop)
}

/// Writes into `out`; returns the largest energy error, joules.
pub fn example(out: &Path) -> Result<f64, Box<dyn Error>> {
    let scene = Scene::parse(SCENE)?;
    let recording = simulate(&scene)?;
    let report = recording.report();
    for metric in &report.metrics {
        println!("{}: {:.3e} {}", metric.name, metric.value, metric.unit);
    }
    let drift = report.metrics.iter().find(|m| m.name == "energy_drift").map_or(f64::NAN, |m| m.value);
    save(&[simulation_view::motion(&recording)?], out.join("double_pendulum.glb"), &Default::default())?;
    Ok(drift)
}
