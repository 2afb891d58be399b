//! What runs once a frame or a step: skinning, forward and inverse kinematics, dynamics.

use crate::timing::seconds;
use crate::{chain, robot, skinned, tree};
use posemill::dynamics::{ConstraintKind, Integrator, Stabilization, Stepper};
use posemill::ik::{Outcome, Stop, TreeSolver, Workspace};
use posemill::kinematics::Forward;
use posemill::skinning::{LinearBlend, Skin};
use std::hint::black_box;

/// Million vertices a second.
pub fn skinning(vertices: usize) -> [f64; 2] {
    let ((mesh, pose), mut skin) = (skinned::scene(vertices), Skin::default());
    let prepared = LinearBlend::new(&mesh);
    seconds(|| {
        prepared.skin(black_box(&pose), &mut skin);
        black_box(&skin);
    })
    .map(|s| vertices as f64 * 1e-6 / s)
}

/// Nanoseconds a joint.
pub fn forward() -> [f64; 2] {
    let frames = 64;
    let (skeleton, clip) = tree::scene(frames);
    let prepared = Forward::new(&skeleton, &clip);
    seconds(|| {
        prepared.for_each(|block| {
            black_box(block.lanes());
        });
    })
    .map(|s| s * 1e9 / (frames * tree::JOINTS) as f64)
}

/// As the solvers of others were stopped: within a millimetre and a hundredth of a radian, or after ten steps.
pub const MILLIMETRE: Stop = Stop { position: 1e-3, angle: 1e-2, iterations: 20 };
pub const TEN: Stop = Stop { position: 0.0, angle: 0.0, iterations: 10 };

/// Microseconds an iteration, over 300 frames, each from the answer of the one before. The robot is like that of the
/// others in its size, not in its lengths: theirs is `cargo bench --bench ik_peers`.
pub fn whole_body(share: f64, stop: &Stop) -> [f64; 2] {
    let (mechanism, start, frames) = robot::scene(300, share);
    let solver = TreeSolver { damping: 1e-6, posture: 0.0 };
    let (mut room, mut outcome, mut iterations) = (Workspace::new(&mechanism), Outcome::default(), 0);
    let seconds = seconds(|| {
        let mut pose = start.clone();
        iterations = 0;
        for tasks in &frames {
            solver.solve_in(&mut room, tasks, &mut pose, stop, &mut outcome);
            iterations += outcome.iterations;
        }
        pose
    });
    seconds.map(|s| s * 1e6 / iterations as f64)
}

/// Microseconds a step, of many in a row: one alone is shorter than the clock is fine.
pub fn step(joints: usize, kind: ConstraintKind) -> [f64; 2] {
    let steps = 100;
    let (articulation, mut states) = chain::chain(joints, kind);
    let mut stepper = Stepper::new(&articulation, &states, Integrator::Note, Stabilization::None);
    seconds(|| {
        // Too small a step to move far: the same work however often it runs.
        (0..steps).for_each(|_| stepper.step(black_box(&articulation), &mut states, 1e-9));
    })
    .map(|s| s * 1e6 / steps as f64)
}
