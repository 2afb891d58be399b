//! Acclaim skeletons and motions: a real take against the BVH of the same take, laws, damaged files.

mod development_data;

use development_data::data;
use posemill::import::{ImportOptions, from_bytes, load};
use posemill::math::Vec3;
use posemill::model::{Asset, Motion, Role, Side};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Metres per unit of CMU's files.
const CMU_UNIT: f64 = 0.0254 / 0.45;

const ASF: &str = "# made for a test\n:version 1.10\n:name V\n:units\n mass 1.0\n length 0.45\n angle deg\n:root\n order TX TY TZ RX RY RZ\n \
    axis XYZ\n position 0 0 0\n orientation 0 0 0\n:bonedata\n\
    begin\n name spine\n direction 0 1 0\n length 9\n axis 0 0 20 XYZ\n dof rx ry rz\n limits (-20 45)\n (-30 30)\n (-30 30)\n end\n\
    begin\n name head\n direction 0.6 0.8 0\n length 4\n axis 30 10 20 XYZ\n dof rx rz\n end\n\
    :hierarchy\n begin\n root spine\n spine head\n end\n";
const AMC: &str = "#!OML:ASF somewhere\n:FULLY-SPECIFIED\n:DEGREES\n11\nroot 1 20 3 10 20 30\nspine 5 6 7\nhead 40 50\n\
    12\nroot 1 21 3 10 20 31\nspine 5 6 8\nhead 41 51\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

fn check(asset: &Asset) {
    asset.character.check().unwrap();
    (0..asset.clips.len()).for_each(|k| asset.motion(k).unwrap().check().unwrap());
}

fn place(motion: &Motion, frame: usize, joint: &str) -> Vec3 {
    let id = motion.character.skeleton().find(joint).unwrap_or_else(|| panic!("no joint {joint}"));
    motion.model_pose(frame).position(id)
}

fn take(data: &Path) -> PathBuf {
    data.join("later/asf-amc/01_01.amc")
}

/// What the joints of the ASF are called in the BVH.
const LEGS: &[(&str, &str)] = &[
    ("root", "Hips"),
    ("lfemur", "LeftUpLeg"),
    ("ltibia", "LeftLeg"),
    ("lfoot", "LeftFoot"),
    ("ltoes", "LeftToeBase"),
    ("rfemur", "RightUpLeg"),
    ("rtibia", "RightLeg"),
    ("rfoot", "RightFoot"),
    ("rtoes", "RightToeBase"),
    ("lowerback", "LowerBack"),
    ("upperback", "Spine"),
    ("thorax", "Spine1"),
];
const ABOVE_THORAX: &[(&str, &str)] = &[
    ("lowerneck", "Neck"),
    ("upperneck", "Neck1"),
    ("head", "Head"),
    ("lclavicle", "LeftShoulder"),
    ("lhumerus", "LeftArm"),
    ("lradius", "LeftForeArm"),
    ("lwrist", "LeftHand"),
    ("rclavicle", "RightShoulder"),
    ("rhumerus", "RightArm"),
    ("rradius", "RightForeArm"),
    ("rwrist", "RightHand"),
];
const HANDS: &[(&str, &str, &str, &str)] = &[
    ("lwrist", "LeftHand", "lhand", "LeftFingerBase"),
    ("lwrist", "LeftHand", "lthumb", "LThumb"),
    ("rwrist", "RightHand", "rhand", "RightFingerBase"),
    ("rwrist", "RightHand", "rthumb", "RThumb"),
];

#[test]
fn a_take_is_where_the_bvh_of_the_same_take_has_it_in_every_frame() {
    let Some(data) = data() else { return };
    let amc = load(take(&data), &ImportOptions::default()).unwrap();
    check(&amc);
    let options = ImportOptions { units: Some(CMU_UNIT), ..ImportOptions::default() };
    let bvh = load(data.join("bvh/cmu/01_01.bvh"), &options).unwrap();
    let (amc, bvh) = (amc.motion(0).unwrap(), bvh.motion(0).unwrap());
    // The BVH has a T-pose before the first frame.
    assert_eq!(amc.clip.frames() + 1, bvh.clip.frames());
    let mut worst = [0.0f64; 3];
    for frame in 0..amc.clip.frames() {
        let (a, b) = (amc.model_pose(frame), bvh.model_pose(frame + 1));
        let at_a = |name: &str| a.position(amc.character.skeleton().find(name).unwrap());
        let at_b = |name: &str| b.position(bvh.character.skeleton().find(name).unwrap());
        for (x, y) in LEGS {
            worst[0] = worst[0].max((at_a(x) - at_b(y)).norm());
        }
        // The converter that made the BVH drops the length of a bone that branches: what hangs from the thorax starts where
        // the thorax starts, and what hangs from a wrist where that does. Nothing else differs.
        let thorax = at_a("lowerneck") - at_a("thorax");
        for (x, y) in ABOVE_THORAX {
            worst[1] = worst[1].max((at_a(x) - at_b(y) - thorax).norm());
        }
        for (wrist, other_wrist, x, y) in HANDS {
            worst[2] = worst[2].max((at_b(other_wrist) - at_b(y)).norm());
            assert!((at_a(x) - at_a(wrist)).norm() > 0.05);
        }
    }
    println!(
        "trunk and legs {:.1e} m, arms and head {:.1e} m, wrists of no length {:.1e} m",
        worst[0], worst[1], worst[2]
    );
    assert!(worst[0] < 1e-4 && worst[1] < 1e-4 && worst[2] < 1e-9);
}

#[test]
fn a_real_skeleton_is_understood_and_a_take_says_where_it_is_from() {
    let Some(data) = data() else { return };
    let skeleton = load(data.join("later/asf-amc/01.asf"), &ImportOptions::default()).unwrap();
    check(&skeleton);
    assert!(skeleton.clips.is_empty());
    let rig = &skeleton.character.rig;
    for (role, name) in [
        (Role::Hips, "root"),
        (Role::UpperLeg(Side::Left), "lfemur"),
        (Role::Foot(Side::Right), "rfoot"),
        (Role::UpperArm(Side::Right), "rhumerus"),
        (Role::Head, "head"),
    ] {
        assert_eq!(rig.joint(role).map(|id| rig.skeleton().joint(id).name.as_str()), Some(name));
    }
    let take = load(take(&data), &ImportOptions::default()).unwrap();
    assert!(take.warnings.has("amc-rate"));
    assert_eq!((take.clips[0].sample_rate, take.companions[0].0.as_str()), (120.0, "01.asf"));
    assert_eq!(take.character.skeleton(), skeleton.character.skeleton());
}

#[test]
fn the_skeleton_is_found_by_subject_or_told() {
    let beside = folder(&[("s_1_a.amc", AMC), ("s.asf", ASF)]);
    let path = beside.path().join("s_1_a.amc");
    let found = load(&path, &ImportOptions::default()).unwrap();
    check(&found);
    assert_eq!(found.companions.len(), 1);
    let elsewhere = folder(&[("other.asf", ASF)]);
    let told = ImportOptions {
        skeleton: Some(elsewhere.path().join("other.asf")),
        rate: Some(60.0),
        ..ImportOptions::default()
    };
    let told = load(&path, &told).unwrap();
    assert_eq!((told.clips[0].sample_rate, told.companions.len()), (60.0, 0));
    assert!(!told.warnings.has("amc-rate"));
    assert_eq!(told.clips[0].all_rotations(), found.clips[0].all_rotations());
    let alone = folder(&[("01_02.amc", AMC)]);
    let said = load(alone.path().join("01_02.amc"), &ImportOptions::default()).unwrap_err().to_string();
    assert!(said.contains("`01_02.asf`, `01.asf`") && said.contains("input.skeleton"), "{said}");
    // Reading twice is the same to the bit.
    assert_eq!(load(&path, &ImportOptions::default()).unwrap(), found);
}

#[test]
fn bones_end_where_the_formula_of_the_format_puts_them() {
    let folder = folder(&[("a.amc", AMC), ("a.asf", ASF)]);
    let motion = load(folder.path().join("a.amc"), &ImportOptions::default()).unwrap().motion(0).unwrap();
    let euler = |x: f64, y: f64, z: f64| {
        let about = |axis: Vec3, degrees: f64| posemill::math::exp(&(axis * degrees.to_radians()));
        about(Vec3::z(), z) * about(Vec3::y(), y) * about(Vec3::x(), x)
    };
    let root = euler(10.0, 20.0, 30.0);
    let (c1, c2) = (euler(0.0, 0.0, 20.0), euler(30.0, 10.0, 20.0));
    let spine = root * c1 * euler(5.0, 6.0, 7.0) * c1.inverse();
    let head = spine * c2 * euler(40.0, 0.0, 50.0) * c2.inverse();
    let at = Vec3::new(1.0, 20.0, 3.0) * CMU_UNIT;
    let neck = at + spine * Vec3::new(0.0, 9.0, 0.0) * CMU_UNIT;
    let crown = neck + head * Vec3::new(2.4, 3.2, 0.0) * CMU_UNIT;
    assert!((place(&motion, 0, "spine") - at).norm() < 1e-12);
    assert!((place(&motion, 0, "head") - neck).norm() < 1e-12);
    let skeleton = motion.character.skeleton();
    let id = skeleton.find("head").unwrap();
    let tip = motion.model_pose(0).joint(id).point(&skeleton.joint(id).tip.unwrap());
    assert!((tip - crown).norm() < 1e-12);
}

/// A stream of numbers that is the same in every run.
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *seed >> 33
}

#[test]
fn damaged_files_give_an_error_or_a_motion_that_keeps_the_promises() {
    let folder = folder(&[("a.asf", ASF)]);
    let options = ImportOptions { skeleton: Some(folder.path().join("a.asf")), ..ImportOptions::default() };
    let mut seed = 17;
    let mut read = 0;
    for (text, extension) in [(AMC, "amc"), (ASF, "asf")] {
        let whole = text.as_bytes();
        let mut damaged: Vec<Vec<u8>> =
            (0..whole.len()).step_by(3).map(|cut| whole[..cut].to_vec()).collect();
        for _ in 0..400 {
            let mut bytes = whole.to_vec();
            let at = random(&mut seed) as usize % bytes.len();
            bytes[at] = random(&mut seed) as u8;
            damaged.push(bytes);
        }
        for bytes in damaged {
            if let Ok(asset) = from_bytes(&bytes, "a", Some(extension), None, &options) {
                check(&asset);
                read += 1;
            }
        }
    }
    assert!(read > 100, "{read}");
    let Some(data) = data() else { return };
    let real = fs::read(take(&data)).unwrap();
    let real = &real[..40_000];
    let options =
        ImportOptions { skeleton: Some(data.join("later/asf-amc/01.asf")), ..ImportOptions::default() };
    for _ in 0..200 {
        let mut bytes = real.to_vec();
        let at = random(&mut seed) as usize % bytes.len();
        bytes[at] = random(&mut seed) as u8;
        bytes.truncate(10_000 + random(&mut seed) as usize % 30_000);
        if let Ok(asset) = from_bytes(&bytes, "01_01", Some("amc"), None, &options) {
            check(&asset);
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn a_skeleton_without_motion_changes_its_format() {
    let folder = folder(&[("v.asf", ASF)]);
    let run = |output: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_posemill"));
        command.current_dir(folder.path()).args(["convert", "v.asf", "-o", output]).output().unwrap()
    };
    for output in ["v.glb", "v.fbx", "v.usda", "v.bvh"] {
        let done = run(output);
        assert!(done.status.success(), "{output}: {}", String::from_utf8_lossy(&done.stderr));
    }
    for output in ["v.glb", "v.fbx", "v.bvh"] {
        let asset = load(folder.path().join(output), &ImportOptions::default()).unwrap();
        for name in ["root", "spine", "head"] {
            assert!(asset.character.skeleton().find(name).is_some(), "{output}: {name}");
        }
        // A BVH file is a take: it has the rest pose as its only frame.
        let frames: Vec<usize> = asset.clips.iter().map(|clip| clip.frames()).collect();
        assert_eq!(frames, if output == "v.bvh" { vec![1] } else { Vec::new() }, "{output}");
    }
}
