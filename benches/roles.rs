//! How long it takes to find out what joints are for, by their names (skeletons of a hundred to ten thousand joints), and
//! to read a calibration pose off a motion.

use divan::{Bencher, black_box};
use posemill::anatomy::{detect_roles, rest_from_motion};
use posemill::import::{self, ImportOptions};
use posemill::math::{Transform, Vec3};
use posemill::model::{Clip, Joint, JointId, Skeleton};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

fn main() {
    divan::main();
}

/// A body without fingers, and strands of fifty joints below its joints: hair, fingers, names that no one knows.
fn shaggy(joints: usize) -> Skeleton {
    let mut list: Vec<Joint> = Vec::new();
    let mut add = |name: String, parent: Option<usize>, at: [f64; 3]| {
        let rest = Transform::from_translation(Vec3::from(at));
        list.push(Joint::new(name, parent.map(JointId::new), rest));
        list.len() - 1
    };
    let hips = add("Hips".into(), None, [0.0, 1.0, 0.0]);
    let chest = add("Chest".into(), Some(hips), [0.0, 0.3, 0.0]);
    let neck = add("Neck".into(), Some(chest), [0.0, 0.2, 0.0]);
    let mut last = add("Head".into(), Some(neck), [0.0, 0.1, 0.0]);
    for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
        last = hips;
        for name in ["UpLeg", "Leg", "Foot"] {
            last = add(format!("{side}{name}"), Some(last), [x, -0.4, 0.0]);
        }
        last = chest;
        for name in ["Shoulder", "Arm", "ForeArm", "Hand"] {
            last = add(format!("{side}{name}"), Some(last), [2.0 * x, 0.0, 0.0]);
        }
    }
    let body = last + 1;
    for n in body..joints {
        let parent = if n % 50 == 0 { n / 50 % body } else { last };
        let name = match n % 3 {
            0 => format!("strand_{n}_curlOfHairLeft{n}"),
            1 => format!("LeftHandIndex{n}"),
            _ => format!("fzg{n}wrkl"),
        };
        last = add(name, Some(parent), [0.0, 0.0, 0.01]);
    }
    Skeleton::new(list).expect("parents stand first and names are their own")
}

#[divan::bench(args = [100, 1_000, 10_000])]
fn by_names(bencher: Bencher, joints: usize) {
    let skeleton = shaggy(joints);
    let rest = skeleton.rest_model_pose();
    bencher.with_inputs(|| skeleton.clone()).bench_values(|s| detect_roles(s, black_box(&rest), &[]));
}

/// The calibration pose of a walk of 1,000 frames on 53 joints, 30 of them fingers.
#[divan::bench]
fn pose_from_motion(bencher: Bencher) {
    let load = |name: &str| import::load(name, &ImportOptions::default()).expect("it is shipped");
    let (walk, target) =
        (load("data/walk.bvh").motion(0).expect("a clip"), load("data/mannequin.glb").character);
    let map = map(&walk.character, &target).expect("both are people");
    let rigs = (&walk.character.rig, &target.rig);
    let short =
        Retarget::new(&walk.character, Arc::clone(&target), &map, rigs, RootScale::Legs).apply(&walk).clip;
    let frames: Vec<usize> = (0..1000).map(|f| f % short.frames()).collect();
    let rotations = frames.iter().flat_map(|f| short.rotations(*f).to_vec()).collect();
    let translations = frames.iter().flat_map(|f| short.translations(*f).to_vec()).collect();
    let translated = short.translated().to_vec();
    let long = Clip::new("long", short.sample_rate, short.joints(), rotations, translated, translations);
    bencher.bench_local(|| rest_from_motion(black_box(&target.rig), &[&long], Some(Vec3::y())));
}
