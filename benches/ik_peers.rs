//! Time of the whole-body case that other people's solvers are timed on: a robot of 29 limited hinges on a floating
//! pelvis, 14 position and orientation tasks, 300 frames, each from the answer of the frame before.
//!
//! The model and the targets are files: `POSEMILL_IK_MODELS` names their folder (`../shared/bench` writes them and times
//! the others); without it nothing is run. One line of JSON for each case.

use posemill::ik::{Freedom, Limit, Mechanism, Outcome, Range, Stop, Task, TreeSolver, Workspace};
use posemill::math::{Quat, RawQuat, Transform, Vec3, exp};
use posemill::model::{Joint, JointId, Pose, Skeleton};
use std::path::Path;
use std::time::Instant;

/// The joints with tasks, in the order of the files.
const BODIES: [usize; 14] = [0, 15, 3, 4, 6, 18, 19, 22, 9, 10, 12, 25, 26, 29];

/// The numbers of every line of a file.
fn numbers(folder: &Path, file: &str) -> Vec<Vec<f64>> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let line = |l: &str| l.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    text.lines().map(line).collect()
}

/// Lines of parent, offset, roll pitch yaw (all zero), axis, limits, mass.
fn robot(folder: &Path) -> Mechanism {
    let lines = numbers(folder, "humanoid29.txt");
    let joint = |(i, l): (usize, &Vec<f64>)| {
        let parent = (i > 0).then(|| JointId::new(l[0] as usize));
        Joint::new(format!("j{i}"), parent, Transform::from_translation(Vec3::new(l[1], l[2], l[3])))
    };
    let skeleton = Skeleton::new(lines.iter().enumerate().map(joint).collect()).expect("parents first");
    let hinges = lines[1..].iter().map(|l| Freedom::Hinge(Vec3::new(l[7], l[8], l[9])));
    let mechanism = Mechanism::new(&skeleton, std::iter::once(Freedom::Free).chain(hinges));
    lines
        .iter()
        .enumerate()
        .skip(1)
        .fold(mechanism, |m, (i, l)| m.with_limit(JointId::new(i), Limit::Range(Range::new(l[10], l[11]))))
}

/// Position and quaternion (w first) of the pelvis, then an angle a hinge.
fn start(mechanism: &Mechanism, folder: &Path) -> Pose {
    let q: Vec<f64> = numbers(folder, "wholebody_start.txt").concat();
    let mut pose = mechanism.skeleton().rest_pose();
    let turn = Quat::new_normalize(RawQuat::new(q[3], q[4], q[5], q[6]));
    pose.local_mut()[0] = Transform::new(turn, Vec3::new(q[0], q[1], q[2]));
    for (i, angle) in q[7..].iter().enumerate() {
        let Freedom::Hinge(axis) = mechanism.freedom(JointId::new(i + 1)) else { continue };
        pose.local_mut()[i + 1].rotation = exp(&(axis * *angle));
    }
    pose
}

fn tasks(line: &[f64], scale: f64) -> Vec<Task> {
    let pelvis = Vec3::new(line[0], line[1], line[2]);
    let both = |(&body, n): (&usize, &[f64])| {
        let place = pelvis + (Vec3::new(n[0], n[1], n[2]) - pelvis) * scale;
        let turn = Quat::new_normalize(RawQuat::new(n[3], n[4], n[5], n[6]));
        let joint = JointId::new(body);
        [Task::position(joint, place), Task::orientation(joint, turn).weigh(0.25)]
    };
    BODIES.iter().zip(line.chunks(7)).flat_map(both).collect()
}

fn main() {
    let Some(folder) = std::env::var_os("POSEMILL_IK_MODELS") else {
        println!("POSEMILL_IK_MODELS names no folder with the models of ../shared/bench: nothing to run");
        return;
    };
    let folder = Path::new(&folder);
    let mechanism = robot(folder);
    let solver = TreeSolver { damping: 1e-6, posture: 0.0 };
    let ten = Stop { position: 0.0, angle: 0.0, iterations: 10 };
    let cases = [
        (
            "1 mm, 0.01 rad",
            "wholebody_targets.txt",
            1.0,
            Stop { position: 1e-3, angle: 1e-2, iterations: 20 },
        ),
        (
            "1e-6 m, 1e-6 rad",
            "wholebody_targets.txt",
            1.0,
            Stop { position: 1e-6, angle: 1e-6, iterations: 20 },
        ),
        ("targets scaled 1.1, 10 iterations", "wholebody_targets.txt", 1.1, ten),
        ("targets beyond the joint limits, 10 iterations", "wholebody_targets_limits.txt", 1.0, ten),
    ];
    for (case, file, scale, stop) in cases {
        let frames: Vec<Vec<Task>> = numbers(folder, file).iter().map(|l| tasks(l, scale)).collect();
        let (mut room, mut outcome) = (Workspace::new(&mechanism), Outcome::default());
        let (mut times, mut iterations, mut cost, mut worst) = (Vec::new(), 0, 0.0, 0.0_f64);
        for _ in 0..60 {
            let mut pose = start(&mechanism, folder);
            (iterations, cost, worst) = (0, 0.0, 0.0);
            let from = Instant::now();
            for tasks in &frames {
                solver.solve_in(&mut room, tasks, &mut pose, &stop, &mut outcome);
                iterations += outcome.iterations;
                cost += outcome.residual * outcome.residual;
                worst = outcome.effectors.iter().step_by(2).map(|e| e.residual).fold(worst, f64::max);
            }
            times.push(from.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_by(f64::total_cmp);
        let (count, median, best) = (frames.len() as f64, times[times.len() / 2], times[0]);
        for (unit, by) in [("us/frame", count), ("us/iteration", iterations as f64)] {
            println!(
                "{{\"bench\": \"ik_wholebody\", \"peer\": \"posemill tree solver\", \"version\": \"{}\", \"case\": \
                 \"29+6 dof, 14 tasks; {case}\", \"unit\": \"{unit}\", \"median\": {:.3}, \"best\": {:.3}, \"runs\": {}, \
                 \"note\": \"mean {:.2} iterations; worst position {worst:.2e} m; mean cost {:.6e}\"}}",
                env!("CARGO_PKG_VERSION"),
                median / by,
                best / by,
                times.len(),
                iterations as f64 / count,
                cost / count,
            );
        }
    }
}
