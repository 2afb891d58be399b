//! Inverse kinematics: the robot's hand draws a circle in the air while its feet stay planted.
//! `cargo run --example ik`.

use posemill::ik::{Mechanism, Solver, Stop, Task, TreeSolver};
use posemill::import;
use posemill::math::Vec3;
use posemill::model::{Clip, ModelPose, Motion, Role, Side};
use posemill::pipeline::save;
use std::error::Error;
use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

/// Two seconds at 30 Hz.
const FRAMES: usize = 60;

fn main() -> Result<(), Box<dyn Error>> {
    example(Path::new("out/examples")).map(drop)
}

/// Writes into `out`; returns the distance of the hand from its target in the worst frame, metres.
pub fn example(out: &Path) -> Result<f64, Box<dyn Error>> {
    let character = import::load("data/robot.glb", &Default::default())?.character;
    let (rig, skeleton) = (&character.rig, character.skeleton());
    let standing = character.reference_pose();
    let mechanism = Mechanism::humanoid(rig, &standing);
    let joint = |role: Role| rig.joint(role).ok_or(format!("the robot has no {role}"));
    let hand = joint(Role::Hand(Side::Left))?;
    let feet = [joint(Role::Foot(Side::Left))?, joint(Role::Foot(Side::Right))?];
    let shoulder = standing.joint(joint(Role::UpperArm(Side::Left))?).translation;

    let mut pose = skeleton.rest_pose();
    let (mut poses, mut worst) = (Vec::with_capacity(FRAMES), 0.0_f64);
    for frame in 0..FRAMES {
        let (sine, cosine) = (TAU * frame as f64 / FRAMES as f64).sin_cos();
        // In front of the shoulder: the character faces +Z.
        let target = shoulder + Vec3::new(0.10 * cosine, 0.10 * sine, 0.30);
        let mut tasks = vec![Task::position(hand, target)];
        for foot in feet {
            let rest = standing.joint(foot);
            tasks.push(Task::position(foot, rest.translation).weigh(10.0));
            tasks.push(Task::orientation(foot, rest.rotation));
        }
        // Each frame starts from the one before: the same answer for the same question, and no jumps.
        TreeSolver::default().solve(&mechanism, &tasks, &mut pose, &Stop::default());
        let reached = ModelPose::of(skeleton, &pose).joint(hand).translation;
        worst = worst.max((reached - target).norm());
        poses.push(pose.clone());
    }
    println!("the hand is at most {:.2} mm from its target", worst * 1e3);
    let clip = Clip::from_poses("circle", 30.0, skeleton, &poses);
    save(&[Motion::new(Arc::clone(&character), clip)], out.join("circle.glb"), &Default::default())?;
    Ok(worst)
}
