//! Models and motions with known truth, from a second small writer.

mod small_writer;

use crate::export::{ExportOptions, Format, save};
use crate::import::{ImportOptions, from_bytes};
use crate::math::{Vec3, exp, log};
use crate::model::{Asset, Character, Clip, Motion, Role, Side};
use small_writer::{Model, MotionFile};
use std::sync::Arc;

fn read(bytes: &[u8], extension: &str) -> Asset {
    let asset = from_bytes(bytes, "dance", Some(extension), None, &ImportOptions::default()).unwrap();
    asset.character.check().unwrap();
    asset
}

/// The motion of a file on the model next to it.
fn on_model(model: &Model, motion: &MotionFile) -> Motion {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dance.pmx"), model.bytes()).unwrap();
    let options = ImportOptions::default();
    let asset = from_bytes(&motion.bytes(), "dance", Some("vmd"), Some(folder.path()), &options).unwrap();
    let motion = asset.motion(0).unwrap();
    motion.check().unwrap();
    motion
}

fn position(motion: &Motion, frame: usize, bone: &str) -> Vec3 {
    let joint = motion.character.skeleton().find(bone).unwrap_or_else(|| panic!("no joint {bone}"));
    motion.model_pose(frame).position(joint)
}

#[test]
fn a_model_has_its_joints_roles_mesh_and_morph_targets() {
    for utf8 in [false, true] {
        let asset = read(&Model { utf8, ..Model::body() }.bytes(), "pmx");
        let rig = &asset.character.rig;
        let name = |role| rig.skeleton().joint(rig.joint(role).unwrap()).name.clone();
        assert_eq!(name(Role::Hips), "下半身");
        assert_eq!(name(Role::UpperLeg(Side::Left)), "左足");
        // Left is at +X, and 20 units are 1.6 m.
        let hip = rig.skeleton().rest_model_pose().position(rig.joint(Role::UpperLeg(Side::Left)).unwrap());
        assert!((hip - Vec3::new(0.08, 0.8, 0.0)).norm() < 1e-6, "{hip}");
        let mesh = &asset.character.meshes[0];
        let targets: Vec<&str> = mesh.morphs.iter().map(|m| m.name.as_str()).collect();
        assert_eq!((mesh.material.name.as_str(), targets), ("肌", vec!["あ"]));
        assert!(
            mesh.morphs[0].offsets.iter().any(|o| (o[1] - 0.08).abs() < 1e-6 && (o[2] + 0.16).abs() < 1e-6)
        );
        // Its triangles face outwards: the normal of the file is (0, 0, -1), towards the viewer.
        let [a, b, c] = mesh.triangles[0].map(|v| Vec3::from(mesh.positions[v as usize].map(f64::from)));
        assert!((b - a).cross(&(c - a)).z > 0.0);
    }
}

#[test]
fn curves_and_the_mirrored_axes_are_those_of_the_file() {
    let mut motion = MotionFile::default();
    // x = t^3, y = 1 - (1-t)^3 for X, a straight line for Y and Z; at an eighth of the time half of the way and more.
    let ease = [[0, 127, 0, 127], [20, 20, 107, 107], [20, 20, 107, 107], [20, 20, 107, 107]];
    motion.key("センター", 0, [0.0; 3], [0.0, 0.0, 0.0, 1.0], ease);
    motion.key("センター", 8, [1.0, 2.0, 4.0], [0.0, 0.0, 0.0, 1.0], ease);
    motion.key("頭", 0, [0.0; 3], [0.6, 0.0, 0.0, 0.8], ease);
    let motion = on_model(&Model::body(), &motion);
    assert_eq!((motion.clip.sample_rate, motion.clip.frames()), (30.0, 9));
    let moved = (position(&motion, 1, "センター") - position(&motion, 0, "センター")) / 0.08;
    assert!((moved - Vec3::new(0.875, 0.25, -0.5)).norm() < 1e-6, "{moved}");
    let head = motion.character.skeleton().find("頭").unwrap();
    let turned = log(&motion.clip.rotations(5)[head.index()]);
    assert!((turned + Vec3::x() * 2.0 * 0.6_f64.atan2(0.8)).norm() < 1e-6, "{turned}");
}

#[test]
fn a_foot_is_at_its_goal_and_copies_follow_until_the_chain_is_off() {
    let mut motion = MotionFile::default();
    motion.straight("左足ＩＫ", 0, [0.0, 3.0, -2.0], [0.0, 0.0, 0.0, 1.0]);
    motion.straight("左足ＩＫ", 10, [0.5, 2.0, 3.0], [0.0, 0.0, 0.0, 1.0]);
    motion.straight("腰", 0, [0.0; 3], [0.0, 0.3, 0.0, 0.95]);
    motion.chains.push((6, vec![("左足ＩＫ", false)]));
    let motion = on_model(&Model::body(), &motion);
    for frame in 0..=10 {
        let (ankle, goal) = (position(&motion, frame, "左足首"), position(&motion, frame, "左足ＩＫ"));
        let copy = position(&motion, frame, "左足首D");
        assert!((copy - ankle).norm() < 1e-9, "{frame}: {copy} {ankle}");
        assert_eq!((ankle - goal).norm() < 1e-6, frame < 6, "{frame}: {ankle} {goal}");
        // What cancels the waist keeps the leg where it was.
        let hip = position(&motion, frame, "左足");
        let knee = motion.character.skeleton().find("左ひざ").unwrap();
        let bent = log(&motion.clip.rotations(frame)[knee.index()]);
        assert!(bent.x >= 0.0 && bent.y.abs() + bent.z.abs() < 1e-9, "{bent}");
        assert!((hip.y - 0.8).abs() < 1e-6);
    }
}

#[test]
fn weights_of_targets_and_groups_arrive_with_and_without_a_model() {
    let mut motion = MotionFile::default();
    motion.weights = vec![("あ", 0, 0.0), ("あ", 4, 0.5), ("両方", 0, 0.5)];
    let moved = on_model(&Model::body(), &motion);
    let track = &moved.clip.property_tracks[0];
    // The group moves the target by half of its weight.
    assert_eq!(track.values, [0.25, 0.375, 0.5, 0.625, 0.75]);
    let figure = read(&motion.bytes(), "vmd");
    assert!(figure.warnings.has("vmd-figure"));
    let mesh = &figure.character.meshes[0];
    assert_eq!(mesh.morphs.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["あ", "両方"]);
    assert_eq!(figure.clips[0].property_tracks[0].values[8..], [0.5, 0.5]);
}

#[test]
fn a_motion_written_and_read_again_is_the_same() {
    let mut motion = MotionFile::default();
    for (k, bone) in
        ["センター", "腰", "下半身", "上半身", "左足", "左ひざ", "頭", "左足D", "両目"].iter().enumerate()
    {
        let angle = 0.1 + 0.05 * k as f32;
        motion.straight(bone, 0, [0.0; 3], [angle.sin(), 0.0, 0.0, angle.cos()]);
        motion.straight(bone, 12, [0.0; 3], [0.0, angle.sin(), 0.0, angle.cos()]);
    }
    motion.straight("センター", 12, [1.0, -2.0, 3.0], [0.0, 0.0, 0.0, 1.0]);
    // A still ending.
    motion.straight("センター", 20, [1.0, -2.0, 3.0], [0.0, 0.0, 0.0, 1.0]);
    motion.straight("右足ＩＫ", 0, [0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 1.0]);
    motion.chains.push((0, vec![("左足ＩＫ", false)]));
    motion.weights = vec![("あ", 0, 0.25), ("あ", 12, 1.0)];
    let first = on_model(&Model::body(), &motion);
    let format = Format::of("vmd").unwrap();
    let (files, warnings) = save(std::slice::from_ref(&first), format, &ExportOptions::default()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dance.pmx"), Model::body().bytes()).unwrap();
    let options = ImportOptions::default();
    let again = from_bytes(&files[0].bytes, "dance", Some("vmd"), Some(folder.path()), &options).unwrap();
    let again = again.motion(0).unwrap();
    assert_eq!((again.clip.frames(), &again.clip.property_tracks), (21, &first.clip.property_tracks));
    for frame in 0..21 {
        let (a, b) = (first.model_pose(frame), again.model_pose(frame));
        // What chains pull is where they pulled it, without them.
        for joint in first.character.skeleton().ids() {
            let name = &first.character.skeleton().joint(joint).name;
            let off = (a.position(joint) - b.position(joint)).norm();
            let turned = log(&(a.joint(joint).rotation.inverse() * b.joint(joint).rotation)).norm();
            assert!(off < 1e-5 && turned < 1e-5, "frame {frame}, {name}: {off} m, {turned} rad");
        }
    }
}

#[test]
fn another_character_moves_the_bones_of_the_figure() {
    // It stands in its T-pose, then raises its left arm.
    let rig = crate::made_figure::figure();
    let rest = rig.skeleton().rest_pose();
    let clip = Clip::from_poses("wave", 30.0, rig.skeleton(), &[rest.clone(), rest]);
    let mut motion = Motion::new(Arc::new(Character::new("figure", rig)), clip);
    let arm = motion.character.rig.joint(Role::UpperArm(Side::Left)).unwrap();
    let up = exp(&(Vec3::z() * 0.5));
    let q = &mut motion.clip.rotations_mut(1)[arm.index()];
    *q = up * *q;
    let (files, warnings) =
        save(&[motion.clone()], Format::of("vmd").unwrap(), &ExportOptions::default()).unwrap();
    assert!(warnings.has("vmd-figure"));
    let played = read(&files[0].bytes, "vmd").motion(0).unwrap();
    let direction = |m: &Motion, frame: usize| {
        let rig = &m.character.rig;
        let at = |role| m.model_pose(frame).position(rig.joint(role).unwrap());
        (at(Role::LowerArm(Side::Left)) - at(Role::UpperArm(Side::Left))).normalize()
    };
    for frame in 0..2 {
        let (a, b) = (direction(&motion, frame), direction(&played, frame));
        assert!((a - b).norm() < 1e-6, "frame {frame}: {a} {b}");
    }
}

#[test]
fn every_cut_of_both_files_is_a_message_or_a_motion() {
    let mut motion = MotionFile::default();
    motion.straight("左足ＩＫ", 3, [0.0, 3.0, -2.0], [0.0, 0.0, 0.0, 1.0]);
    motion.weights = vec![("あ", 0, 0.25)];
    motion.chains.push((0, vec![("左足ＩＫ", false)]));
    for (bytes, extension) in [(Model::body().bytes(), "pmx"), (motion.bytes(), "vmd")] {
        let mut whole = Vec::new();
        for cut in 0..bytes.len() {
            match from_bytes(&bytes[..cut], "cut", Some(extension), None, &ImportOptions::default()) {
                Ok(asset) => {
                    whole.push(cut);
                    // Without the 34 bytes of visibility and chains.
                    assert!(asset.warnings.has("vmd-short") || cut + 34 == bytes.len(), "{extension} {cut}");
                }
                Err(error) => assert!(error.to_string().contains("hint"), "{extension} {cut}: {error}"),
            }
        }
        // A motion may end before the camera, the light, the shadow and the chains.
        assert_eq!(whole.len(), if extension == "vmd" { 4 } else { 0 }, "{extension}: {whole:?}");
    }
}

#[test]
fn faults_are_told_with_their_byte() {
    let message = |bytes: &[u8], extension: &str| {
        let error = from_bytes(bytes, "odd", Some(extension), None, &ImportOptions::default());
        error.map(|_| ()).unwrap_err().to_string()
    };
    let mut claims = MotionFile::default().bytes();
    claims[50..54].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(message(&claims, "vmd").starts_with("byte 50: the file ends within the keys of bones"));
    let empty = message(&MotionFile::default().bytes(), "vmd");
    assert!(empty.starts_with("the motion has no keys of bones or morph targets, 0 of a camera"), "{empty}");
    let mut late = MotionFile::default();
    late.straight("頭", u32::MAX, [0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    assert!(message(&late.bytes(), "vmd").contains("4294967296 frames"), "{}", message(&late.bytes(), "vmd"));
    let none = message(&Model { bones: Vec::new(), ..Model::body() }.bytes(), "pmx");
    assert!(none.starts_with("the model has no bones"), "{none}");
    let mut circle = Model::body();
    circle.bones[0].parent = Some("頭");
    assert!(message(&circle.bytes(), "pmx").contains("form a circle"));
    let mut version = Model::body().bytes();
    version[4..8].copy_from_slice(&3.0_f32.to_le_bytes());
    assert!(message(&version, "pmx").starts_with("byte 4: version 3 of the format is not known"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dance.pmx"), b"PMX ").unwrap();
    let mut motion = MotionFile::default();
    motion.straight("頭", 0, [0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    let options = ImportOptions::default();
    let error = from_bytes(&motion.bytes(), "dance", Some("vmd"), Some(folder.path()), &options).unwrap_err();
    assert!(error.to_string().contains("dance.pmx` of the motion: byte 4: the file ends within the header"));
}

#[test]
fn a_tolerance_leaves_out_keys_and_keeps_every_bone_within_it() {
    let mut motion = crate::made_walk::take("walk.bvh");
    let mut written = |tolerance: Option<f64>| {
        motion.clip.tolerance = tolerance;
        let files = save(&[motion.clone()], Format::of("vmd").unwrap(), &ExportOptions::default()).unwrap().0;
        files.into_iter().next().unwrap().bytes
    };
    let whole = written(None);
    let played = read(&whole, "vmd").motion(0).unwrap();
    let mut bytes = whole.len();
    for tolerance in [0.002, 0.02] {
        let file = written(Some(tolerance));
        assert!(file.len() < bytes, "{} of {bytes} bytes at {tolerance} m", file.len());
        bytes = file.len();
        let reduced = read(&file, "vmd").motion(0).unwrap();
        assert_eq!(reduced.clip.frames(), played.clip.frames());
        let off = |frame: usize| {
            let [a, b] = [&played, &reduced].map(|motion| motion.model_pose(frame));
            let pairs = a.joints().iter().zip(b.joints());
            pairs.map(|(a, b)| (a.translation - b.translation).norm()).fold(0.0, f64::max)
        };
        let most = (0..played.clip.frames()).map(off).fold(0.0, f64::max);
        assert!(most > 0.0 && most <= tolerance, "{most} m at {tolerance} m");
    }
}
