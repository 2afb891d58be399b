//! Where the program stands: its throughput beside that of others, one line a work and peer, on one core.
//!
//! What others reach, what is wanted and what the machine allows is read from `peers.json`, which says when and where
//! it was measured: on another machine the ratios are only a hint. Ratios above 1 mean that the program is the faster.
//! The whole body, which needs the models of the others, is `cargo bench --bench ik_peers`.

#[path = "scenes/chain.rs"]
mod chain;
#[path = "scenes/skinned.rs"]
mod skinned;
#[path = "scenes/tree.rs"]
mod tree;

use posemill::dynamics::{ConstraintKind, Integrator, Stabilization, Stepper};
use posemill::kinematics::Forward;
use posemill::skinning::{LinearBlend, Skin};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

/// The file of what others reach.
#[derive(Deserialize)]
struct Peers {
    measured: String,
    machine: String,
    source: String,
    works: BTreeMap<String, Work>,
}

#[derive(Deserialize)]
struct Work {
    unit: String,
    more_is_better: bool,
    wanted: f64,
    limit: f64,
    peers: serde_json::Map<String, serde_json::Value>,
}

impl Work {
    /// How many times as fast the program is as one with this figure.
    fn ratio(&self, own: f64, other: f64) -> f64 {
        if self.more_is_better { own / other } else { other / own }
    }
}

/// The work's key in the file, its name, and how it is measured.
type Row = (&'static str, &'static str, fn() -> f64);

fn main() {
    // `cargo test --benches` only asks whether it starts.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let peers: Peers = serde_json::from_str(include_str!("peers.json")).expect("peers.json fits its type");
    println!("Others: {}, {}, {}.\n", peers.measured, peers.machine, peers.source);
    println!("| work | now | wanted | ratio | limit | ratio | peer | its figure | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|");
    let rows: [Row; 6] = [
        ("skinning", "skinning of 20,000 vertices, positions and normals", skinning),
        ("forward", "forward kinematics of 60 joints, 64 frames", forward),
        ("hinge16", "step of a chain of 16 hinges", || step(16, ConstraintKind::Hinge)),
        ("hinge256", "step of a chain of 256 hinges", || step(256, ConstraintKind::Hinge)),
        ("ball64", "step of a chain of 64 balls", || step(64, ConstraintKind::Ball)),
        ("ball256", "step of a chain of 256 balls", || step(256, ConstraintKind::Ball)),
    ];
    for (key, name, measure) in rows {
        let (work, own) = (&peers.works[key], measure());
        let goal = |value: f64| format!("{value} | {:.2}", work.ratio(own, value));
        let first = format!("{name} | {own:.1} {} | {} | {}", work.unit, goal(work.wanted), goal(work.limit));
        for (k, (peer, figure)) in work.peers.iter().enumerate() {
            let figure = figure.as_f64().expect("a peer's figure is a number");
            let left = if k == 0 { first.as_str() } else { "| | | | |" };
            println!("| {left} | {peer} | {figure} | {:.2} |", work.ratio(own, figure));
        }
    }
}

/// The median time of the work in seconds, of enough runs to outlast a disturbance.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < 15 || start.elapsed().as_secs_f64() < 1.0 {
        let from = Instant::now();
        work();
        times.push(from.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Million vertices a second.
fn skinning() -> f64 {
    let ((mesh, pose), mut skin) = (skinned::scene(), Skin::default());
    let prepared = LinearBlend::new(&mesh);
    let seconds = median(|| {
        prepared.skin(black_box(&pose), &mut skin);
        black_box(&skin);
    });
    skinned::VERTICES as f64 * 1e-6 / seconds
}

/// Nanoseconds a joint.
fn forward() -> f64 {
    let frames = 64;
    let (skeleton, clip) = tree::scene(frames);
    let prepared = Forward::new(&skeleton, &clip);
    let seconds = median(|| {
        prepared.for_each(|block| {
            black_box(block.lanes());
        });
    });
    seconds * 1e9 / (frames * tree::JOINTS) as f64
}

/// Microseconds a step, of many in a row: one alone is shorter than the clock is fine.
fn step(joints: usize, kind: ConstraintKind) -> f64 {
    let steps = 100;
    let (articulation, mut states) = chain::chain(joints, kind);
    let mut stepper = Stepper::new(&articulation, &states, Integrator::Note, Stabilization::None);
    let seconds = median(|| {
        // Too small a step to move far: the same work however often it runs.
        (0..steps).for_each(|_| stepper.step(black_box(&articulation), &mut states, 1e-9));
    });
    seconds * 1e6 / steps as f64
}
