//! Time of inverse kinematics: the table of every solver on every scene, and the time of a frame.

#[path = "../tests/ik_scenes/mod.rs"]
mod ik_scenes;

use divan::Bencher;
use ik_scenes::*;
use posemill::ik::*;
use posemill::math::{Vec3, exp};
use posemill::model::{ModelPose, Pose, Skeleton};
use std::time::Instant;

fn main() {
    table();
    divan::main();
}

/// One line for every solver and scene: success, iterations, residual, microseconds.
fn table() {
    println!("| scene | solver | tasks reached | iterations | residual | us | why it misses |");
    println!("|---|---|---|---|---|---|---|");
    let stop = Stop::default();
    for scene in scenes() {
        for solver in solvers() {
            let mut pose = scene.start.clone();
            let from = Instant::now();
            let outcome = solver.solve(&scene.mechanism, &scene.tasks, &mut pose, &stop);
            let time = from.elapsed().as_secs_f64() * 1e6;
            let reached = outcome.effectors.iter().filter(|e| e.reach == Reach::Reached).count();
            let why = match (outcome.converged, scene.solvable) {
                (true, _) => "",
                (false, false) => "there is no answer",
                (false, true) => reason(solver.name(), scene.name).unwrap_or("not known"),
            };
            println!(
                "| {} | {} | {reached}/{} | {} | {:.1e} | {time:.0} | {why} |",
                scene.name,
                solver.name(),
                scene.tasks.len(),
                outcome.iterations,
                outcome.residual,
            );
        }
    }
}

/// Frames of a body three degrees away from their targets, with position and orientation at every effector.
fn frames(fingers: bool) -> (Mechanism, Vec<Pose>, Vec<Vec<Task>>) {
    let mut random = Random(88_172_645_463_325_252);
    let (skeleton, effectors) = body(fingers);
    let mut poses = Vec::new();
    let mut tasks = Vec::new();
    for _ in 0..256 {
        let pose = shaken(&skeleton, 0.4, &mut random);
        tasks.push(targets(&skeleton, &pose, &effectors, &mut random));
        poses.push(pose);
    }
    (Mechanism::floating(&skeleton), poses, tasks)
}

fn targets(skeleton: &Skeleton, pose: &Pose, effectors: &[usize], random: &mut Random) -> Vec<Task> {
    let mut goal = pose.clone();
    for local in goal.local_mut() {
        local.rotation *= exp(&random.vector(0.05));
    }
    let model = ModelPose::of(skeleton, &goal);
    let both = |&e: &usize| {
        let at = model.joint(id(e));
        [Task::position(id(e), at.translation), Task::orientation(id(e), at.rotation).weigh(0.3)]
    };
    let count = if effectors.len() > 10 { 21 } else { 5 };
    effectors.iter().take(count).flat_map(both).collect()
}

const THREE: Stop = Stop { position: 0.0, angle: 0.0, iterations: 3 };
const SOLVER: TreeSolver = TreeSolver { damping: 1e-3, posture: 0.0 };

#[divan::bench(args = [false, true])]
fn whole_body_three_steps_one_by_one(bencher: Bencher, fingers: bool) {
    let (mechanism, poses, tasks) = frames(fingers);
    bencher.counter(divan::counter::ItemsCount::new(poses.len())).with_inputs(|| poses.clone()).bench_refs(
        |poses| {
            let (mut room, mut outcome) = (Workspace::new(&mechanism), Outcome::default());
            for (pose, tasks) in poses.iter_mut().zip(&tasks) {
                SOLVER.solve_in(&mut room, tasks, pose, &THREE, &mut outcome);
            }
        },
    );
}

#[divan::bench(args = [false, true])]
fn whole_body_three_steps_in_lanes(bencher: Bencher, fingers: bool) {
    let (mechanism, poses, tasks) = frames(fingers);
    bencher
        .counter(divan::counter::ItemsCount::new(poses.len()))
        .with_inputs(|| poses.clone())
        .bench_refs(|poses| SOLVER.solve_chunk(&mechanism, poses, &tasks, &THREE));
}

#[divan::bench]
fn two_bone_batch(bencher: Bencher) {
    let mut random = Random(7);
    let limb = Limb {
        root: Vec3::zeros(),
        lengths: [0.4, 0.35],
        pole: Vec3::z(),
        spare_pole: Vec3::y(),
        softness: 0.0,
    };
    let limbs = vec![limb; 4096];
    let targets: Vec<Vec3> = limbs.iter().map(|_| random.vector(0.5)).collect();
    let mut bent = vec![limb.bend(&Vec3::x()); limbs.len()];
    bencher
        .counter(divan::counter::ItemsCount::new(limbs.len()))
        .bench_local(|| Limb::bend_all(&limbs, &targets, divan::black_box(&mut bent)));
}

#[divan::bench]
fn two_bone_one_by_one(bencher: Bencher) {
    let limb = Limb {
        root: Vec3::zeros(),
        lengths: [0.4, 0.35],
        pole: Vec3::z(),
        spare_pole: Vec3::y(),
        softness: 0.0,
    };
    bencher.bench(|| divan::black_box(&limb).bend(divan::black_box(&Vec3::new(0.3, 0.4, 0.1))));
}
