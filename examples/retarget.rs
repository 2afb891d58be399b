//! Retargets every take in `data/` onto the robot, as `posemill retarget 'data/*.bvh' --onto data/robot.glb` does, and prints
//! the verdict of each result: `cargo run --example retarget`.

use posemill::measure::{MetricContext, assess};
use posemill::pipeline::{Pipeline, save};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    example(Path::new("out/examples"))
}

/// Writes into `out`.
pub fn example(out: &Path) -> Result<(), Box<dyn Error>> {
    let pipeline = Pipeline::standard("data/robot.glb")?;
    for take in ["walk", "jump", "squat", "turn", "wave"] {
        let (motion, bent) = pipeline.load(format!("data/{take}.bvh"))?;
        let (performed, report) = pipeline.apply(motion)?;
        for warning in bent.iter().chain(report.warnings.iter()) {
            println!("{take}: {}", warning.message);
        }
        // The contact labels travel with the motion: feet are measured by them.
        let context = MetricContext::new(&performed.character);
        let measured = assess(&context, &performed, performed.contacts.as_ref(), None);
        for metric in measured.metrics.iter().filter(|m| m.name == "foot_skate_p95") {
            println!("{take}: {} is {:.4} {}", metric.name, metric.value, metric.unit);
        }
        save(&[performed], out.join(format!("{take}.glb")), &Default::default())?;
    }
    Ok(())
}
