//! Where the program stands: its throughput beside that of others, one line a work and peer.
//!
//! What others reach, what is wanted and what the machine allows is read from `peers.json`, which says when and where
//! it was measured: on another machine the ratios are only a hint. Ratios above 1 mean that the program is the faster.
//! One thread, unless a row says otherwise. The least of the runs stands beside their median: where the two are far
//! apart something else was running. All input is made here, the same every time, but for the recorded take.

#[path = "scenes/chain.rs"]
mod chain;
#[path = "summary/files.rs"]
mod files;
#[path = "summary/kernels.rs"]
mod kernels;
#[path = "summary/pipelines.rs"]
mod pipelines;
#[path = "summary/processes.rs"]
mod processes;
#[path = "scenes/robot.rs"]
mod robot;
#[path = "scenes/skinned.rs"]
mod skinned;
#[path = "scenes/take.rs"]
mod take;
#[path = "summary/timing.rs"]
mod timing;
#[path = "scenes/tree.rs"]
mod tree;
#[path = "scenes/walk.rs"]
mod walks;

use posemill::dynamics::ConstraintKind::{Ball, Hinge};
use serde::Deserialize;
use std::collections::BTreeMap;

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
    limit: Option<f64>,
    /// Whoever does the same; none where nobody was measured.
    peers: serde_json::Map<String, serde_json::Value>,
}

impl Work {
    /// How many times as fast the program is as one with this figure.
    fn ratio(&self, own: f64, other: f64) -> f64 {
        if self.more_is_better { own / other } else { other / own }
    }
}

/// The work's key in the file, its name, and how it is measured: the figure of the median run and of the best.
type Row = (&'static str, &'static str, fn() -> [f64; 2]);

const ROWS: [Row; 22] = [
    ("gltf_read", "glTF read, 60 joints, 10,000 frames, to a clip", files::gltf_read),
    ("skinning", "skinning of 20,000 vertices, positions and normals", || {
        kernels::skinning(skinned::VERTICES)
    }),
    ("skinning_small", "the same of 2,000, which stay in the cache", || kernels::skinning(2_000)),
    ("bvh_clip", "BVH to a finished clip, 60 joints, 10,000 frames", files::bvh_to_clip),
    ("bvh_numbers", "BVH text to numbers, 60 joints, 10,000 frames", files::bvh_to_numbers),
    ("bvh_two_threads", "BVH to a finished clip, two threads", files::bvh_on_two_threads),
    ("forward", "forward kinematics of 60 joints, 64 frames", kernels::forward),
    ("body_inside", "whole body, 14 tasks, 35 dofs, to 1 mm", || {
        kernels::whole_body(0.9, &kernels::MILLIMETRE)
    }),
    ("body_beyond", "whole body, targets beyond limits", || kernels::whole_body(1.3, &kernels::TEN)),
    ("hinge16", "step of a chain of 16 hinges", || kernels::step(16, Hinge)),
    ("hinge256", "step of a chain of 256 hinges", || kernels::step(256, Hinge)),
    ("ball64", "step of a chain of 64 balls", || kernels::step(64, Ball)),
    ("ball256", "step of a chain of 256 balls", || kernels::step(256, Ball)),
    ("gltf_write", "GLB write of that clip, in memory", files::gltf_write),
    ("bvh_glb_process", "BVH of 10,000 frames to skinned GLB, process", processes::bvh_to_glb),
    ("glb_bvh_process", "GLB of 10,000 frames to BVH, process", processes::glb_to_bvh),
    ("default_pipeline", pipelines::TAKE, pipelines::default_pipeline),
    ("settle", "settle, a walk of 52 joints", pipelines::settle),
    ("settle_two_threads", "settle, two threads", pipelines::settle_on_two_threads),
    ("batch", "200 BVH files of 244,000 frames to GLB, process", processes::batch),
    ("version", "`posemill --version`, process", processes::version),
    ("onto_mannequin", "100 frames onto the mannequin, process", processes::onto_mannequin),
];

fn main() {
    // `cargo test --benches` only asks whether it starts.
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    // `cargo bench --bench summary -- bvh` measures only the rows with this in their key.
    let wanted = std::env::args().skip(1).find(|a| !a.starts_with("--")).unwrap_or_default();
    let peers: Peers = serde_json::from_str(include_str!("peers.json")).expect("peers.json fits its type");
    println!("Others: {}, {}, {}.\n", peers.measured, peers.machine, peers.source);
    println!("| work | now | best run | wanted | ratio | limit | ratio | peer | its figure | ratio |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (key, name, measure) in ROWS.into_iter().filter(|(key, ..)| key.contains(&wanted)) {
        let (work, [own, best]) = (&peers.works[key], measure());
        let beside = |value: f64| format!("{value} | {:.2}", work.ratio(own, value));
        let limit = work.limit.map_or_else(|| "| ".to_owned(), beside);
        let mut first =
            format!("{name} | {own:.3} {} | {best:.3} | {} | {limit}", work.unit, beside(work.wanted));
        if work.peers.is_empty() {
            println!("| {first} | | | |");
        }
        for (peer, figure) in &work.peers {
            let figure = figure.as_f64().expect("a peer's figure is a number");
            println!("| {first} | {peer} | {} |", beside(figure));
            first = "| | | | | |".to_owned();
        }
    }
}
