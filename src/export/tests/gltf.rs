//! glTF export: what goes in comes out again, and the character's own file stays as it was.
//!
//! `POSEMILL_KEEP=FOLDER` keeps the files written here, for validators and other programs to look at.

use crate::development_data::data;
use indexmap::IndexMap;
use posemill::export::{GltfOptions, GltfOutput, write_gltf};
use posemill::gltf_document::Chunks;
use posemill::import::GltfFile;
use posemill::kinematics::figure_size;
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{Asset, Character, Clip, Container, Joint, JointId, ModelPose, Motion, Rig, Skeleton};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fs;
use std::path::{Path, PathBuf};

fn real_files() -> Vec<PathBuf> {
    let Some(data) = data() else { return Vec::new() };
    let mut found = Vec::new();
    let mut folders = vec![data.join("gltf"), data.join("derived"), data.join("vrm")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| ["glb", "gltf", "vrm", "vrma"].iter().any(|x| e == *x))
            {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() >= 30);
    found
}

fn asset(path: &Path, turn: Quat) -> Asset {
    let file = GltfFile::read(&fs::read(path).unwrap(), path.parent()).unwrap();
    file.into_asset(path.file_name().unwrap().to_string_lossy(), [], turn)
}

fn keep(kind: &str, name: &str, output: &GltfOutput) {
    let Some(folder) = std::env::var_os("POSEMILL_KEEP").map(PathBuf::from) else { return };
    let folder = folder.join(kind);
    fs::create_dir_all(&folder).unwrap();
    let extension = if output.container == Container::Glb { "glb" } else { "gltf" };
    fs::write(folder.join(format!("{name}.{extension}")), &output.bytes).unwrap();
    for (path, bytes) in &output.resources {
        fs::write(folder.join(path), bytes).unwrap();
    }
}

fn read_back(output: &GltfOutput, turn: Quat) -> Asset {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in &output.resources {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let file = GltfFile::read(&output.bytes, Some(folder.path())).unwrap();
    file.into_asset("back", [], turn)
}

/// Largest distance of a joint relative to the figure, and largest angle of one, over all frames. A root that
/// the import added has no node that could carry its motion; the joints below it do. The name of `b` may have a number more,
/// where the file has an animation of that name already.
fn difference(skeleton: &Skeleton, a: &Clip, b: &Clip) -> (f64, f64) {
    assert_eq!(a.frames(), b.frames());
    let numbered = b.name.strip_prefix(&format!("{}_", a.name)).is_some_and(|n| n.parse::<u32>().is_ok());
    assert!(b.name == a.name || numbered, "{} {}", a.name, b.name);
    assert!((a.sample_rate / b.sample_rate - 1.0).abs() < 1e-5, "{} {}", a.sample_rate, b.sample_rate);
    assert!((a.start - b.start).abs() < 1e-6);
    let size = figure_size(skeleton);
    let (mut off, mut turned): (f64, f64) = (0.0, 0.0);
    for frame in 0..a.frames() {
        let [a, b] = [a, b].map(|c| ModelPose::of(skeleton, &c.pose(skeleton, frame)));
        let added = usize::from(skeleton.joints()[0].file_name.is_none());
        for (a, b) in a.joints().iter().zip(b.joints()).skip(added) {
            off = off.max((a.translation - b.translation).norm() / size);
            turned = turned.max(a.rotation.angle_to(&b.rotation));
        }
    }
    (off, turned)
}

fn top_level(bytes: &[u8]) -> IndexMap<String, Box<RawValue>> {
    serde_json::from_str(Chunks::open(bytes).unwrap().json).unwrap()
}

/// Keys that export may touch.
const TOUCHED: &[&str] = &["buffers", "bufferViews", "accessors", "animations"];

#[test]
fn what_is_written_reads_back_and_nothing_else_changes() {
    let turn = exp(&Vec3::new(0.0, 2.0, 0.0));
    for path in real_files() {
        let asset = asset(&path, turn);
        let document = asset.character.document.as_ref().unwrap();
        let output = write_gltf(&asset.character, &asset.clips, &GltfOptions::default()).unwrap();
        keep("append", &asset.character.name, &output);
        let back = read_back(&output, turn);
        let skeleton = asset.character.skeleton();
        let tops = |s: &Skeleton| s.joints().iter().map(|j| j.name.clone()).collect::<Vec<_>>();
        assert_eq!(tops(skeleton), tops(back.character.skeleton()));
        assert_eq!(back.clips.len(), 2 * asset.clips.len());
        let mut worst = (0.0f64, 0.0f64);
        for (a, b) in asset.clips.iter().zip(&back.clips[asset.clips.len()..]) {
            let (off, turned) = difference(skeleton, a, b);
            worst = (worst.0.max(off), worst.1.max(turned));
        }
        println!("{}: {:.1e} of the figure, {:.1e} rad", asset.character.name, worst.0, worst.1);
        assert!(worst.0 < 1e-6, "{}: {:e}", path.display(), worst.0);
        assert!(worst.1 < 1e-5, "{}: {:e} rad", path.display(), worst.1);

        let replaced_matrix = output.warnings.has("gltf-matrix-replaced");
        let (before, after) = (top_level(&document.bytes), top_level(&output.bytes));
        for (key, value) in &before {
            let free = TOUCHED.contains(&key.as_str()) || (replaced_matrix && key == "nodes");
            assert!(free || after[key].get() == value.get(), "{}: `{key}` changed", path.display());
            if ["bufferViews", "accessors"].contains(&key.as_str()) {
                let kept = value.get().trim_end_matches(']').trim_end();
                assert!(after[key].get().starts_with(kept), "{}: `{key}` changed", path.display());
            }
        }
        if asset.clips.is_empty() {
            assert_eq!(output.bytes, &document.bytes[..], "{}", path.display());
        }
    }
}

#[test]
fn a_clip_at_rest_becomes_one_still_track() {
    for path in real_files() {
        let asset = asset(&path, Quat::identity());
        let skeleton = asset.character.skeleton();
        let clip = Clip::from_poses("still", 30.0, skeleton, &vec![skeleton.rest_pose(); 5]);
        let output =
            write_gltf(&asset.character, &[clip], &GltfOptions { replace: true, ..GltfOptions::default() })
                .unwrap();
        keep("rest", &asset.character.name, &output);
        let back = read_back(&output, Quat::identity());
        assert_eq!(back.clips.len(), 1);
        assert_eq!(back.clips[0].frames(), 5);
        for frame in 0..5 {
            let pose = back.clips[0].pose(skeleton, frame);
            let model = ModelPose::of(skeleton, &pose);
            for (a, b) in model.joints().iter().zip(skeleton.rest_model_pose().joints()) {
                assert!(
                    (a.translation - b.translation).norm() <= 1e-6 * figure_size(skeleton),
                    "{}",
                    path.display()
                );
            }
        }
        let animations: Vec<serde_json::Value> =
            serde_json::from_str(top_level(&output.bytes)["animations"].get()).unwrap();
        assert_eq!(animations[0]["channels"].as_array().unwrap().len(), 1, "{}", path.display());
    }
}

/// A wave that turns every joint and moves the root: nothing the file's own clips would do.
fn wave(skeleton: &Skeleton, frames: usize, rate: f64) -> Clip {
    let size = figure_size(skeleton);
    let pose = |frame: usize| {
        let mut pose = skeleton.rest_pose();
        for (k, t) in pose.local_mut().iter_mut().enumerate() {
            let phase = frame as f64 * 0.11 + k as f64;
            t.rotation =
                exp(&(Vec3::new(phase.sin(), (1.3 * phase).cos(), (0.7 * phase).sin()) * 0.5)) * t.rotation;
        }
        pose.local_mut()[0].translation += Vec3::new(0.01, 0.002, -0.005) * (size * frame as f64);
        pose
    };
    let poses: Vec<_> = (0..frames).map(pose).collect();
    let mut clip = Clip::from_poses("wave", rate, skeleton, &poses);
    // Poses come one by one; a clip keeps each joint's quaternions in one hemisphere.
    for frame in 1..frames {
        let before = clip.rotations(frame - 1).to_vec();
        for (q, b) in clip.rotations_mut(frame).iter_mut().zip(&before) {
            *q = posemill::math::same_hemisphere(*q, b);
        }
    }
    clip
}

#[test]
fn every_character_plays_a_foreign_motion_exactly_in_either_container() {
    let turn = exp(&Vec3::new(0.0, -1.0, 0.0));
    for path in real_files() {
        let asset = asset(&path, turn);
        let skeleton = asset.character.skeleton();
        let clip = wave(skeleton, 40, 24000.0 / 1001.0);
        for container in [Container::Glb, Container::Gltf] {
            let options = GltfOptions { replace: true, container: Some(container), ..GltfOptions::default() };
            let output = write_gltf(&asset.character, std::slice::from_ref(&clip), &options).unwrap();
            keep(
                if container == Container::Glb { "wave-glb" } else { "wave-gltf" },
                &asset.character.name,
                &output,
            );
            let back = read_back(&output, turn);
            assert_eq!(back.clips.len(), 1);
            let (off, turned) = difference(skeleton, &clip, &back.clips[0]);
            println!("{}: {off:.1e} of the figure, {turned:.1e} rad", asset.character.name);
            assert!(off < 1e-6, "{}: {off:e}", path.display());
            assert!(turned < 1e-5, "{}: {turned:e} rad", path.display());
            let (before, after) = (&asset.character, &back.character);
            assert_eq!(before.bind.is_some(), after.bind.is_some(), "{}", path.display());
            assert_eq!(before.meshes.len(), after.meshes.len(), "{}", path.display());
            for (a, b) in before.meshes.iter().zip(&after.meshes) {
                assert_eq!((&a.positions, &a.material, &a.weights), (&b.positions, &b.material, &b.weights));
            }
            back.motion(0).unwrap().check().unwrap();
        }
    }
}

fn stick_figure() -> Character {
    let mut hips = Joint::new("Hips", None, Transform::from_translation(Vec3::new(0.1, 1.0, 0.0)));
    hips.rest.rotation = exp(&Vec3::new(0.2, -0.3, 0.1));
    let up = Transform::new(exp(&Vec3::new(0.0, 0.0, 0.4)), Vec3::new(0.0, 0.5, 0.0));
    let mut head = Joint::new("Head \"quoted\"", Some(JointId::new(0)), up);
    head.tip = Some(Vec3::new(0.0, 0.2, 0.0));
    let leg =
        Joint::new("Leg", Some(JointId::new(0)), Transform::from_translation(Vec3::new(0.2, -0.5, 0.0)));
    let skeleton = Skeleton::new(vec![hips, head, leg]).unwrap();
    Character::new("stick", Rig::new(skeleton, []))
}

#[test]
fn a_skeleton_without_a_document_becomes_visible() {
    let character = stick_figure();
    let clips = [wave(character.skeleton(), 300, 1.0 / 0.0083333), wave(character.skeleton(), 20, 60.0)];
    let output = write_gltf(&character, &clips, &GltfOptions::default()).unwrap();
    keep("visible", "stick", &output);
    let back = read_back(&output, Quat::identity());
    assert_eq!(back.character.skeleton().joints()[1].name, "Head \"quoted\"");
    let json: Value = serde_json::from_str(Chunks::open(&output.bytes).unwrap().json).unwrap();
    let corners = &json["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
    assert_eq!(json["accessors"][corners.as_u64().unwrap() as usize]["count"], 3 * 8 * 4);
    // A picture of the skeleton is neither a skin nor a pose for one, and the ends of bones come back.
    assert!(back.character.meshes.is_empty() && back.character.bind.is_none());
    let tips = |c: &Character| c.skeleton().joints().iter().map(|j| j.tip).collect::<Vec<_>>();
    let (before, after) = (tips(&character), tips(&back.character));
    assert_eq!(before[0], after[0]);
    assert!((before[1].unwrap() - after[1].unwrap()).norm() < 1e-7);
    for (a, b) in clips.iter().zip(&back.clips) {
        let (off, turned) = difference(character.skeleton(), a, b);
        assert!(off < 1e-6 && turned < 1e-6, "{off:e} {turned:e}");
    }
}

#[test]
fn every_cut_of_a_file_is_an_error_or_a_result_that_keeps_the_promises() {
    let character = stick_figure();
    let output =
        write_gltf(&character, &[wave(character.skeleton(), 3, 30.0)], &GltfOptions::default()).unwrap();
    let gltf = GltfOptions { container: Some(Container::Gltf), ..GltfOptions::default() };
    let text = write_gltf(&character, &[wave(character.skeleton(), 3, 30.0)], &gltf).unwrap();
    for whole in [&output.bytes, &text.bytes] {
        for cut in 0..whole.len() {
            let cut = &whole[..cut];
            assert!(GltfFile::read(cut, None).is_err(), "cut at {}", cut.len());
        }
    }
    // A damaged byte may go unnoticed, but nothing breaks a promise.
    let mut read = 0;
    for at in 0..output.bytes.len() {
        let mut bytes = output.bytes.clone();
        bytes[at] ^= 0x15;
        if let Ok(file) = GltfFile::read(&bytes, None) {
            let asset = file.into_asset("damaged", [], Quat::identity());
            asset.character.check().unwrap();
            (0..asset.clips.len()).for_each(|c| asset.motion(c).unwrap().check().unwrap());
            read += 1;
        }
    }
    assert!(read > 0);
}

#[test]
fn a_tolerance_leaves_keys_out_and_keeps_every_joint_within_it() {
    let Some(folder) = data() else { return };
    let take = posemill::import::load(folder.join("bvh/cmu/01_01.bvh"), &Default::default()).unwrap();
    let mut motion = take.motion(0).unwrap();
    let size = |clips: &[Clip]| write_gltf(&motion.character, clips, &GltfOptions::default()).unwrap().bytes;
    let full = size(std::slice::from_ref(&motion.clip));
    motion.clip.tolerance = Some(0.01);
    let small = write_gltf(&motion.character, &[&motion.clip], &GltfOptions::default()).unwrap().bytes;
    println!("{} bytes become {}", full.len(), small.len());
    assert!(small.len() * 2 < full.len(), "{} of {}", small.len(), full.len());

    let back = posemill::import::from_bytes(&small, "take", Some("glb"), None, &Default::default()).unwrap();
    let back = back.motion(0).unwrap();
    let at = |m: &Motion, frame: usize| m.model_pose(frame);
    let mut compared = 0;
    for frame in 0..motion.clip.frames() {
        // The sparse clip may come in at another rate: frames are compared where both have one.
        let other = ((motion.clip.time(frame) - back.clip.start) * back.clip.sample_rate).round() as usize;
        if other >= back.clip.frames() || (back.clip.time(other) - motion.clip.time(frame)).abs() > 1e-5 {
            continue;
        }
        compared += 1;
        let (a, b) = (at(&motion, frame), at(&back, other));
        for id in motion.character.skeleton().ids() {
            let there = back.character.skeleton().find(&motion.character.skeleton().joint(id).name).unwrap();
            assert!((a.position(id) - b.position(there)).norm() < 0.0101, "frame {frame}");
        }
    }
    assert!(compared > 20, "{compared} frames could be compared");
}

/// Programs choose animations by their names.
#[test]
fn added_animations_have_names_of_their_own() {
    let character = stick_figure();
    let clip = wave(character.skeleton(), 5, 30.0);
    let named = |name: &str| {
        let mut clip = clip.clone();
        clip.name = name.to_owned();
        clip
    };
    let names = |output: &GltfOutput| {
        let clips = GltfFile::read(&output.bytes, None).unwrap().clips;
        clips.into_iter().map(|clip| clip.name).collect::<Vec<_>>()
    };
    let first = write_gltf(&character, &[named("walk"), named("run")], &GltfOptions::default()).unwrap();
    assert!(first.warnings.is_empty());
    let file = GltfFile::read(&first.bytes, None).unwrap();
    let own = file.into_asset("own", [], Quat::identity()).character;
    let clips = ["walk", "walk", "jump", "", ""].map(named);
    let again = write_gltf(&own, &clips, &GltfOptions::default()).unwrap();
    assert_eq!(names(&again)[..5], ["walk", "run", "walk_2", "walk_3", "jump"]);
    let said: Vec<_> = again.warnings.iter().filter(|w| w.code == "gltf-clip-renamed").collect();
    assert!(said.len() == 1 && said[0].count == 2 && said[0].message.contains("`walk_2`"), "{said:?}");
    let replace = GltfOptions { replace: true, ..GltfOptions::default() };
    assert_eq!(names(&write_gltf(&own, &clips[..1], &replace).unwrap()), ["walk"]);
}
