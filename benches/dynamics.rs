//! One passive step (one acceleration solve, semi-implicit) of a free chain of n joints, and the grasp scene.
//!
//! Printed before the table: nanoseconds per joint (fastest of many rounds), and the speed of the grasp scene in
//! multiples of real time. In the table `items` are joints.

#[path = "scenes/chain.rs"]
mod chain;

use chain::chain;
use divan::{Bencher, counter::ItemsCount};
use posemill::dynamics::*;

fn main() {
    if std::env::args().any(|a| a == "--bench") {
        per_joint();
        let scene = hand();
        let seconds = 1e-9 * least(1, 1, || drop(simulate(&scene)));
        println!("hand grasp  {:.0} times real time", scene.duration / seconds);
    }
    divan::main();
}

const SIZES: [usize; 4] = [4, 16, 64, 256];
const KINDS: [(&str, ConstraintKind); 2] = [("hinge", ConstraintKind::Hinge), ("ball", ConstraintKind::Ball)];

/// Prints nanoseconds per joint.
fn per_joint() {
    println!("ns a joint  {:>6} {:>6} {:>6} {:>6}   256 : 16", SIZES[0], SIZES[1], SIZES[2], SIZES[3]);
    for (name, kind) in KINDS {
        let [a, b, c, d] = SIZES.map(|n| {
            let (articulation, mut states) = chain(n, kind);
            let mut stepper = Stepper::new(&articulation, &states, Integrator::Note, Stabilization::None);
            least(n, ROUND, || stepper.step(divan::black_box(&articulation), &mut states, 1e-9))
        });
        println!("{name:>10}  {a:6.1} {b:6.1} {c:6.1} {d:6.1}   {:.2}", d / b);
    }
}

/// How many items a round of the chains works through.
const ROUND: usize = 20_000;

/// The least of many rounds, in nanoseconds an item: a busy machine makes a round longer, never shorter.
fn least(items: usize, round: usize, mut work: impl FnMut()) -> f64 {
    let rounds = round.div_ceil(items);
    let mut best = f64::INFINITY;
    for _ in 0..if round == 1 { 5 } else { 60 } {
        let start = std::time::Instant::now();
        (0..rounds).for_each(|_| work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / (rounds * items) as f64
}

fn step(bencher: Bencher, n: usize, kind: ConstraintKind) {
    let (articulation, mut states) = chain(n, kind);
    let mut stepper = Stepper::new(&articulation, &states, Integrator::Note, Stabilization::None);
    // A step too small to move far: the same work however often it runs.
    bencher.counter(ItemsCount::new(n)).bench_local(|| {
        stepper.step(divan::black_box(&articulation), &mut states, 1e-9);
    });
}

#[divan::bench(args = SIZES)]
fn hinge(bencher: Bencher, n: usize) {
    step(bencher, n, ConstraintKind::Hinge);
}

#[divan::bench(args = SIZES)]
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

fn hand() -> Scene {
    Scene::parse(include_str!("../pipelines/hand_grasp.toml")).expect("the scene is right")
}

/// Three seconds of the hand: real time over this time is how many times real time it runs.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn hand_grasp_three_seconds(bencher: Bencher) {
    let scene = hand();
    bencher.bench_local(|| simulate(divan::black_box(&scene)).expect("it stays finite"));
}
