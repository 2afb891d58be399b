//! One passive step (one acceleration solve, semi-implicit) of a free chain of n joints, and the grasp scene.
//!
//! `items` are joints: divide the time by them for nanoseconds a joint.

use divan::{Bencher, counter::ItemsCount};
use posemill::dynamics::*;
use posemill::math::{Mat3, Quat, Vec3};

fn main() {
    divan::main();
}

/// n joints, n + 1 links of 0.3 m and 1 kg, fixed joint rates at the start; hinges alternate z and y.
fn chain(n: usize, kind: ConstraintKind) -> (Articulation, Vec<BodyState>) {
    let (length, mass, radius) = (0.3, 1.0, 0.04);
    let across = mass * (length * length / 12.0 + radius * radius / 4.0);
    let inertia = Mat3::from_diagonal(&Vec3::new(mass * radius * radius / 2.0, across, across));
    let body = |i| Body::new(format!("b{i}"), mass, inertia).expect("a cylinder is a body");
    let at = |i: usize| BodyState::at_rest(Vec3::new(length * (i as f64 + 0.5), 0.0, 0.0), Quat::identity());
    let mut states: Vec<BodyState> = (0..=n).map(at).collect();
    let half = Vec3::new(length / 2.0, 0.0, 0.0);
    let mut constraints = Vec::new();
    for i in 1..=n {
        let f = i as f64;
        let axis = if i % 2 == 1 { Vec3::z() } else { Vec3::y() };
        let rate = match kind {
            ConstraintKind::Hinge => axis * (0.5 * (f + 1.0).sin()),
            _ => Vec3::new((f + 1.0).sin(), (2.0 * f).cos(), (3.0 * f).sin()) * 0.5,
        };
        let (before, w) = (states[i - 1], states[i - 1].angular_velocity + rate);
        states[i].angular_velocity = w;
        states[i].velocity = before.velocity + before.angular_velocity.cross(&half) + w.cross(&half);
        let sides = ((Some(i - 1), &states[i - 1]), (Some(i), &states[i]));
        let anchor = Vec3::new(length * f, 0.0, 0.0);
        let name = format!("c{i}");
        constraints.push(Constraint::in_pose(name, kind, sides.0, sides.1, &anchor, &axis, &axis));
    }
    let bodies = (0..=n).map(body).collect();
    (Articulation::new(bodies, constraints, Vec3::zeros()).expect("a chain is a tree"), states)
}

fn step(bencher: Bencher, n: usize, kind: ConstraintKind) {
    let (articulation, mut states) = chain(n, kind);
    let mut stepper = Stepper::new(&articulation, &states, Integrator::Note, Stabilization::None);
    // A step too small to move far: the same work however often it runs.
    bencher.counter(ItemsCount::new(n)).bench_local(|| {
        stepper.step(divan::black_box(&articulation), &mut states, 1e-9);
    });
}

#[divan::bench(args = [4, 16, 64, 256])]
fn hinge(bencher: Bencher, n: usize) {
    step(bencher, n, ConstraintKind::Hinge);
}

#[divan::bench(args = [4, 16, 64, 256])]
fn ball(bencher: Bencher, n: usize) {
    step(bencher, n, ConstraintKind::Ball);
}

/// Fourth order, projected and restored: what a passive scene costs by default.
#[divan::bench(args = [16, 256])]
fn hinge_runge_kutta_restored(bencher: Bencher, n: usize) {
    let (articulation, mut states) = chain(n, ConstraintKind::Hinge);
    let mut stepper = Stepper::new(&articulation, &states, Integrator::RungeKutta4, Stabilization::Restore);
    bencher.counter(ItemsCount::new(n)).bench_local(|| {
        stepper.step(divan::black_box(&articulation), &mut states, 1e-9);
    });
}

/// Three seconds of the hand: real time over this time is how many times real time it runs.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn hand_grasp_three_seconds(bencher: Bencher) {
    let text = include_str!("../pipelines/hand_grasp.toml");
    let scene = Scene::parse(text).expect("the scene is right");
    bencher.bench_local(|| simulate(divan::black_box(&scene)).expect("it stays finite"));
}
