//! How many roles are right with each weight halved and doubled: the table of weights is set on development bodies and conventions.

use super::super::role_weights::{WEIGHTS, tried};
use super::super::{HumanoidMap, JointNames, ShapeEvidence, Vocabulary, detect_roles_from, skin_mass};
use crate::development_data::data;
use crate::named_body::{Convention, conventions};
use posemill::import::{self, ImportOptions};
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Asset, Joint, ModelPose, Role, Skeleton};
use std::f64::consts::FRAC_PI_2;
use std::path::{Path, PathBuf};

/// Share of all roles that another value of one weight may gain: below it a change is a matter of a single body.
const GAIN: f64 = 0.01;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() && !path.ends_with("corpus") {
            files(&path, found);
        } else if ["bvh", "glb", "gltf", "vrm"].contains(&extension) {
            found.push(path);
        }
    }
}

/// Whether a role counts: fingers are found by other means than weights.
fn counts(role: Role) -> bool {
    !matches!(role, Role::Finger(..))
}

/// Roles of a character that its shape alone gives right, without names, seen from the side so that the format shows no front.
fn by_shape(asset: &Asset) -> [usize; 2] {
    let (rig, skeleton) = (&asset.character.rig, asset.character.skeleton());
    let joints = skeleton.joints().iter().enumerate();
    let blind = joints.map(|(n, joint)| Joint { name: format!("b{n:04}"), ..joint.clone() }).collect();
    let blind = Skeleton::new(blind).unwrap();
    let aside = Transform::from_rotation(exp(&(Vec3::y() * FRAC_PI_2)));
    let rest = asset.character.reference_pose();
    let rest = ModelPose::new(rest.joints().iter().map(|joint| aside * *joint).collect());
    let mass = skin_mass(&asset.character.meshes, skeleton.len());
    let evidence = ShapeEvidence { mass: mass.as_deref(), clip: asset.clips.first(), ..Default::default() };
    let names = JointNames::of(&blind, Vocabulary::built_in());
    let none: &HumanoidMap = &[];
    let found = detect_roles_from(&names, blind, &rest, none, Some(&evidence)).rig;
    let truth = || rig.assignments().filter(|(role, _)| counts(*role));
    [truth().filter(|(role, a)| found.joint(*role) == Some(a.joint)).count(), truth().count()]
}

/// Roles of a convention that are right.
fn by_names(convention: &Convention, bytes: &[u8]) -> [usize; 2] {
    let asset = import::from_bytes(bytes, "body", Some("glb"), None, &ImportOptions::default()).unwrap();
    let rig = &asset.character.rig;
    let mut sum = [0; 2];
    for joint in convention.joints.iter().filter(|joint| !joint.optional) {
        let Some(role) = joint.role.as_ref().and_then(|role| role.parse().ok()).filter(|r| counts(*r)) else {
            continue;
        };
        let found = rig.joint(role).and_then(|id| rig.skeleton().joint(id).file_name.as_deref());
        sum[0] += usize::from(found == Some(joint.name.as_str()));
        sum[1] += 1;
    }
    sum
}

#[test]
#[ignore = "takes a minute: to be run when a weight is changed"]
fn no_weight_is_better_halved_or_doubled() {
    let mut found = Vec::new();
    if let Some(folder) = data() {
        files(&folder, &mut found);
    }
    let read = |path: &PathBuf| import::load(path, &ImportOptions::default()).ok();
    let assets: Vec<Asset> = found.iter().filter_map(read).collect();
    let texts = [
        include_str!("../../../tests/conventions/characters.txt"),
        include_str!("../../../tests/conventions/engines.txt"),
        include_str!("../../../tests/conventions/capture.txt"),
        include_str!("../../../tests/conventions/games.txt"),
        include_str!("../../../tests/conventions/tools.txt"),
    ];
    let named: Vec<(Convention, Vec<u8>)> =
        texts.iter().flat_map(|text| conventions(text)).map(|c| (c.clone(), c.glb())).collect();
    let right = || {
        let add = |sum: [usize; 2], one: [usize; 2]| [sum[0] + one[0], sum[1] + one[1]];
        let shape = assets.iter().map(by_shape).fold([0; 2], add);
        let names = named.iter().map(|(c, bytes)| by_names(c, bytes)).fold([0; 2], add);
        [shape, names]
    };
    let [shape, names] = right();
    let (base, all) = (shape[0] + names[0], shape[1] + names[1]);
    println!("as they are: {} of {} by shape, {} of {} by names", shape[0], shape[1], names[0], names[1]);
    println!("{:<16} {:>6}  halved: shape names  doubled: shape names", "weight", "value");
    for (k, (name, value)) in WEIGHTS.iter().enumerate() {
        let [half, double] = [0.5, 2.0].map(|factor| {
            tried::set(k, factor);
            right()
        });
        tried::set(k, 1.0);
        let row = |[shape, names]: [[usize; 2]; 2]| format!("{:>13} {:>5}", shape[0], names[0]);
        println!("{name:<16} {value:>6} {} {}", row(half), row(double));
        for [shape, names] in [half, double] {
            let gain = (shape[0] + names[0]) as f64 - base as f64;
            assert!(gain <= GAIN * all as f64, "{name} is better with another value: {gain} roles");
        }
    }
}
