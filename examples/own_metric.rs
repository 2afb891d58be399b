//! A custom measure: the distance that the hips travel, for takes and their results.
//! `cargo run --example own_metric`.

use posemill::model::{JointId, Motion, Role, Side};
use posemill::pipeline::Pipeline;
use posemill::report::{Metric, Report};
use std::error::Error;

/// Adds `travel`, metres over the ground, and `travel_in_legs`, in lengths of the leg.
fn travel(motion: &Motion, report: &mut Report) {
    let character = &motion.character;
    let hips = character.rig.joint(Role::Hips).unwrap_or(JointId::new(0));
    let places: Vec<_> =
        (0..motion.clip.frames()).map(|f| motion.model_pose(f).joint(hips).translation).collect();
    // Y is up: the path over the ground is in X and Z.
    let metres: f64 = places.windows(2).map(|p| (p[1] - p[0]).xz().norm()).sum();
    let standing = character.reference_pose();
    let at = |role: Role| character.rig.joint(role).map(|id| standing.joint(id).translation);
    let bone = |from: Role, to: Role| Some((at(to)? - at(from)?).norm());
    let [hip, knee, foot] = [Role::UpperLeg, Role::LowerLeg, Role::Foot].map(|role| role(Side::Left));
    report.measure("travel", metres, "m");
    if let Some(leg) = bone(hip, knee).zip(bone(knee, foot)).map(|(upper, lower)| upper + lower) {
        report.measure("travel_in_legs", metres / leg, "1");
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    example().map(drop)
}

/// The measure for a take and for the robot that performs it.
pub fn example() -> Result<[Vec<Metric>; 2], Box<dyn Error>> {
    let pipeline = Pipeline::standard("data/robot.glb")?;
    let (take, _) = pipeline.load("data/walk.bvh")?;
    let mut of_take = Report::default();
    travel(&take, &mut of_take);
    let (performed, mut of_result) = pipeline.apply(take)?;
    travel(&performed, &mut of_result);
    for (own, other) in of_take.metrics.iter().zip(&of_result.metrics) {
        println!("{}: {:.3} {} of the take, {:.3} of the robot", own.name, own.value, own.unit, other.value);
    }
    Ok([of_take.metrics, of_result.metrics])
}
