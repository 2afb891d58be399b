//! One human body under the names that tools and people give its joints: who is taken for what?
//!
//! `cargo test --test conventions -- --nocapture` prints the table, and below it every joint that is taken for
//! something else than it is. The conventions lie in `tests/conventions/`, the format is told in `named_body`. With
//! `POSEMILL_CONVENTIONS=folder` the bodies are written there, to be looked at.

mod named_body;

use named_body::{Convention, conventions};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::Role;
use std::collections::BTreeSet;

/// The texts, by family.
const TEXTS: &[&str] = &[
    include_str!("conventions/characters.txt"),
    include_str!("conventions/engines.txt"),
    include_str!("conventions/studios.txt"),
    include_str!("conventions/capture.txt"),
    include_str!("conventions/languages.txt"),
    include_str!("conventions/games.txt"),
    include_str!("conventions/tools.txt"),
];

/// Conventions that are whole today: every role where it belongs and none elsewhere, from GLB and from BVH alike.
const WHOLE: usize = 138;

/// How a convention was understood from one format.
struct Verdict {
    core: [usize; 2],
    fingers: [usize; 2],
    extra: usize,
    faults: Vec<String>,
}

impl Verdict {
    fn whole(&self) -> bool {
        self.faults.is_empty()
    }

    /// `core fingers extra`, each right of all.
    fn row(&self) -> String {
        let [core, all] = self.core;
        let [fingers, of] = self.fingers;
        format!("{core:>2} of {all:>2} {fingers:>2} of {of:>2} {:>3}", self.extra)
    }
}

/// Finger joints are counted by themselves.
fn is_finger(role: &str) -> bool {
    ["thumb", "index", "middle", "ring", "little"].iter().any(|f| role.contains(&format!("_{f}_")))
}

fn judge(convention: &Convention, bytes: &[u8], extension: &str) -> Verdict {
    let asset = from_bytes(bytes, "body", Some(extension), None, &ImportOptions::default())
        .unwrap_or_else(|e| panic!("{} as {extension}: {e}", convention.name));
    let rig = &asset.character.rig;
    let mut verdict = Verdict { core: [0; 2], fingers: [0; 2], extra: 0, faults: Vec::new() };
    for joint in &convention.joints {
        let id = rig
            .skeleton()
            .ids()
            .find(|&id| rig.skeleton().joint(id).file_name.as_deref() == Some(joint.name.as_str()));
        let id = id.unwrap_or_else(|| panic!("{}: `{}` is lost in {extension}", convention.name, joint.name));
        let found = rig.role(id).map(|r| r.to_string());
        let right = found == joint.role || (joint.optional && found.is_none());
        match &joint.role {
            Some(role) if !joint.optional => {
                let count = if is_finger(role) { &mut verdict.fingers } else { &mut verdict.core };
                count[1] += 1;
                count[0] += usize::from(right);
            }
            _ => verdict.extra += usize::from(!right),
        }
        if !right {
            let word = |r: &Option<String>| r.clone().unwrap_or_else(|| "nothing".into());
            verdict.faults.push(format!(
                "`{}` is {}, taken for {}",
                joint.name,
                word(&joint.role),
                word(&found)
            ));
        }
    }
    verdict
}

#[test]
fn the_truth_is_a_truth() {
    for convention in TEXTS.iter().flat_map(|text| conventions(text)) {
        let mut seen = BTreeSet::new();
        for joint in &convention.joints {
            let (name, joint_name) = (&convention.name, &joint.name);
            assert!(seen.insert(joint_name.clone()), "{name}: two joints `{joint_name}`");
            let Some(role) = &joint.role else { continue };
            assert!(role.parse::<Role>().is_ok(), "{name}: `{joint_name}` is `{role}`");
            assert!(joint.optional || seen.insert(format!("= {role}")), "{name}: two joints are {role}");
        }
    }
}

#[test]
fn a_body_is_understood_whatever_its_joints_are_called() {
    let all: Vec<Convention> = TEXTS.iter().flat_map(|text| conventions(text)).collect();
    let names: BTreeSet<&str> = all.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names.len(), all.len(), "two conventions of one name");
    let mut whole = 0;
    let mut faults = String::new();
    let mut sums = [[0; 2]; 2];
    println!("{:<44} GLB core  fingers extra   BVH core  fingers extra", "convention");
    for convention in &all {
        let [glb, bvh] = [(convention.glb(), "glb"), (convention.bvh(), "bvh")].map(|(bytes, extension)| {
            if let Ok(folder) = std::env::var("POSEMILL_CONVENTIONS") {
                std::fs::write(format!("{folder}/{}.{extension}", convention.name), &bytes).unwrap();
            }
            judge(convention, &bytes, extension)
        });
        let mark = if glb.whole() && bvh.whole() { "whole" } else { "" };
        whole += usize::from(!mark.is_empty());
        println!("{:<44} {}   {}   {mark}", convention.name, glb.row(), bvh.row());
        for verdict in [&glb, &bvh] {
            for (sum, count) in sums.iter_mut().zip([verdict.core, verdict.fingers]) {
                *sum = [sum[0] + count[0], sum[1] + count[1]];
            }
        }
        // The two formats mostly agree: what is wrong in both is told once.
        for (format, verdict, other) in [("GLB", &glb, &bvh), ("BVH", &bvh, &glb)] {
            for fault in &verdict.faults {
                if !other.faults.contains(fault) {
                    faults += &format!("{} ({format} only): {fault}\n", convention.name);
                } else if format == "GLB" {
                    faults += &format!("{}: {fault}\n", convention.name);
                }
            }
        }
    }
    let [core, fingers] = sums;
    println!(
        "whole: {whole} of {}; core roles {core:?}, fingers {fingers:?}, right of all in both formats",
        all.len()
    );
    println!("\n{faults}");
    assert!(whole >= WHOLE, "{whole} of {} are whole, {WHOLE} were", all.len());
}
