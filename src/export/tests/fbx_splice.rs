//! Clips added to the FBX file that a character came in: what was there stays byte for byte, old clips do not move, the
//! new one is what it should be; what cannot take a clip becomes a new file and says so.

use crate::development_data::data;
use crate::fbx_reader::{Raw, at, open, place, records};
use posemill::export::{self, Format};
use posemill::import;
use posemill::kinematics::figure_size;
use posemill::math::{Vec3, exp};
use posemill::model::{Asset, Character, Clip, ModelPose, Motion, Skeleton};
use posemill::report::Warnings;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Files of three exporters and of one version of each: Maya, 3ds Max, MotionBuilder, Blender; Y and Z up, centimetres,
/// metres and inches, inherited scale.
fn files() -> Vec<(String, Vec<u8>, Asset)> {
    let Some(data) = data() else { return Vec::new() };
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in ["dcc/fbx", "later/fbx"] {
        let Ok(entries) = fs::read_dir(data.join(folder)) else { continue };
        paths.extend(entries.map(|e| e.unwrap().path()));
    }
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        let asset = import::load(&path, &import::ImportOptions::default()).ok()?;
        Some((path.file_stem().unwrap().to_string_lossy().into_owned(), bytes, asset))
    };
    paths.into_iter().filter_map(read).collect()
}

fn is_binary_7(bytes: &[u8]) -> bool {
    bytes.starts_with(b"Kaydara") && u32::from_le_bytes(bytes[23..27].try_into().unwrap()) >= 7000
}

fn write(motions: &[Motion], replace: bool) -> (Vec<u8>, Warnings) {
    let options = export::ExportOptions {
        replace_animations: replace,
        stem: "x".into(),
        ..export::ExportOptions::default()
    };
    let (mut files, warnings) = export::save(motions, Format::FBX, &options).unwrap();
    (files.remove(0).bytes, warnings)
}

fn keep(name: &str, bytes: &[u8], motion: &Motion) {
    let Some(folder) = std::env::var_os("POSEMILL_KEEP").map(PathBuf::from) else { return };
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.fbx")), bytes).unwrap();
    let options = export::ExportOptions {
        replace_animations: true,
        stem: "x".into(),
        ..export::ExportOptions::default()
    };
    let (glb, _) = export::save(std::slice::from_ref(motion), Format::GLB, &options).unwrap();
    fs::write(folder.join(format!("{name}.glb")), &glb[0].bytes).unwrap();
}

/// The size of the figure; one joint alone has none.
fn size(skeleton: &Skeleton) -> f64 {
    Some(figure_size(skeleton)).filter(|size| *size > 0.0).unwrap_or(1.0)
}

/// A clip in which every joint sways about an axis of its own and the root walks.
fn sway(character: &Arc<Character>) -> Motion {
    let skeleton = character.skeleton();
    let size = size(skeleton);
    let poses: Vec<_> = (0..31)
        .map(|frame| {
            let time = f64::from(frame) / 30.0;
            let mut pose = skeleton.rest_pose();
            for (n, local) in pose.local_mut().iter_mut().enumerate() {
                let phase = n as f64;
                let axis = Vec3::new(phase.sin(), (1.7 * phase).cos(), (2.3 * phase).sin());
                local.rotation *= exp(&(axis * 0.4 * (2.0 * time + phase).sin()));
            }
            pose.local_mut()[0].translation += Vec3::new(0.0, 0.1, 0.3) * size * time;
            pose
        })
        .collect();
    Motion::new(Arc::clone(character), Clip::from_poses("posemill sway", 30.0, skeleton, &poses))
}

/// The largest distance of a joint from where the motion has it, relative to the figure.
fn distance(bytes: &[u8], name: &str, motion: &Motion) -> f64 {
    let scene = open(bytes);
    let stack = scene.anim_stacks.iter().position(|s| *s.element.name == *name).expect("the clip is there");
    let begin = scene.anim_stacks[stack].time_begin;
    let (character, clip) = (&motion.character, &motion.clip);
    let skeleton = character.skeleton();
    let back = character.document.as_ref().unwrap().model_from_file.inverse();
    let (mut far, mut found): (f64, usize) = (0.0, 0);
    for frame in [0, clip.frames() / 3, clip.frames() / 2, clip.frames() - 1] {
        let there = at(&scene, stack, begin + frame as f64 / clip.sample_rate);
        let pose = ModelPose::of(skeleton, &clip.pose(skeleton, frame));
        for (joint, wanted) in skeleton.joints().iter().zip(pose.joints()) {
            let Some(name) = joint.file_name.as_ref().filter(|n| !n.is_empty()) else { continue };
            let wanted = back * wanted.translation;
            let named = there.nodes.iter().filter(|n| *n.element.name == **name);
            // Names may be repeated in a file: the joint is at one of them. The scene itself has none.
            let off = named.map(|n| (place(&n.node_to_world) - wanted).norm()).min_by(f64::total_cmp);
            let Some(off) = off else { continue };
            found += 1;
            far = far.max(off / size(skeleton));
        }
    }
    assert!(found >= 4, "joints are found by name");
    far
}

/// Every node's place in some frames of every clip, by the name of the clip.
fn clips(bytes: &[u8]) -> Vec<(String, Vec<Vec3>)> {
    let scene = open(bytes);
    let stacks = scene.anim_stacks.iter().enumerate();
    stacks
        .map(|(n, stack)| {
            let times =
                (0..4).map(|k| stack.time_begin + (stack.time_end - stack.time_begin) * f64::from(k) / 3.0);
            let nodes = times.flat_map(|time| {
                at(&scene, n, time).nodes.iter().map(|n| place(&n.node_to_world)).collect::<Vec<_>>()
            });
            (stack.element.name.to_string(), nodes.collect())
        })
        .collect()
}

fn objects(bytes: &[u8]) -> Vec<Raw> {
    records(bytes).0.child("Objects").unwrap().children.clone()
}

#[test]
fn what_was_there_stays_and_the_new_clip_is_right() {
    let (mut spliced, mut files_seen) = (0, 0);
    for (name, bytes, asset) in files() {
        files_seen += 1;
        let motion = sway(&asset.character);
        let (added, warnings) = write(std::slice::from_ref(&motion), false);
        assert_eq!(write(std::slice::from_ref(&motion), false).0, added, "{name}: the same bytes twice");
        keep(&name, &added, &motion);
        let rebuilt = warnings.iter().find(|w| w.code == "fbx-rebuilt");
        if let Some(rebuilt) = rebuilt {
            println!("{name}: {}", rebuilt.message);
            assert!(!is_binary_7(&bytes), "{name}");
            continue;
        }
        spliced += 1;
        let far = distance(&added, "posemill sway", &motion);
        let ((old, code), (new, code_after)) = (records(&bytes), records(&added));
        assert_eq!(code, code_after, "{name}: the bytes that belong to the file's own stamps");
        let lists = ["Objects", "Connections", "Takes"];
        for (before, after) in old.children.iter().zip(&new.children) {
            assert_eq!((&before.name, &before.properties), (&after.name, &after.properties));
            if before.name == b"Definitions" {
                continue;
            }
            assert_eq!(before.children[..], after.children[..before.children.len()], "{name}");
            let grows = lists.iter().any(|list| list.as_bytes() == before.name);
            assert!(grows || before.children.len() == after.children.len(), "{name}");
        }
        let old_ids: Vec<i64> = ["Objects", "Documents"]
            .iter()
            .filter_map(|l| old.child(l))
            .flat_map(|l| &l.children)
            .filter_map(|o| o.ids().first().copied())
            .collect();
        let count = old.child("Objects").unwrap().children.len();
        let new_ids = objects(&added)[count..].iter().filter_map(|o| o.ids().first().copied()).min().unwrap();
        assert!(old_ids.iter().all(|id| *id < new_ids), "{name}");
        let (before, after) = (clips(&bytes), clips(&added));
        assert_eq!(before[..], after[..before.len()], "{name}: old clips");
        assert_eq!(after.len(), before.len() + 1);
        println!(
            "{name}: {} objects added, new clip {far:.1e} of the figure, {} old clips",
            objects(&added).len() - count,
            before.len()
        );
        assert!(far < 1e-5, "{name}: {far:.1e}");
    }
    assert!(files_seen == 0 || spliced >= 8, "{spliced} of {files_seen}");
}

#[test]
fn replacing_leaves_the_new_clip_alone() {
    for (name, bytes, asset) in files() {
        if !is_binary_7(&bytes) || asset.clips.len() < 2 {
            continue;
        }
        let motion = sway(&asset.character);
        let (replaced, warnings) = write(std::slice::from_ref(&motion), true);
        assert!(!warnings.has("fbx-rebuilt"), "{name}");
        let scene = open(&replaced);
        assert_eq!(scene.anim_stacks.len(), 1, "{name}");
        assert!(distance(&replaced, "posemill sway", &motion) < 1e-5, "{name}");
        // What is no animation stays, and nothing points at what is gone.
        let animation = |o: &&Raw| o.name.starts_with(b"Animation");
        let kept =
            |bytes: &[u8]| objects(bytes).iter().filter(|o| !animation(o)).cloned().collect::<Vec<_>>();
        assert_eq!(kept(&bytes), kept(&replaced), "{name}");
        let ids: Vec<i64> = objects(&replaced).iter().filter_map(|o| o.ids().first().copied()).collect();
        let (top, _) = records(&replaced);
        let (old, _) = records(&bytes);
        let gone: Vec<i64> =
            objects(&bytes).iter().filter(animation).filter_map(|o| o.ids().first().copied()).collect();
        assert!(gone.len() > 10 && old.child("Connections").unwrap().children.len() > gone.len());
        for connection in &top.child("Connections").unwrap().children {
            let stale = |id: &i64| gone.contains(id) && !ids.contains(id);
            assert!(!connection.ids().iter().any(stale), "{name}");
        }
    }
}

#[test]
fn a_clip_of_the_file_itself_comes_out_as_it_was() {
    for (name, bytes, asset) in files() {
        let Some(motion) = asset.motion(0).filter(|m| is_binary_7(&bytes) && m.clip.frames() > 1) else {
            continue;
        };
        let (added, warnings) = write(std::slice::from_ref(&motion), false);
        assert!(!warnings.has("fbx-rebuilt") && !warnings.has("fbx-rate"), "{name}");
        let scene = open(&added);
        let names: Vec<String> = scene.anim_stacks.iter().map(|s| s.element.name.to_string()).collect();
        let mut apart = names.clone();
        apart.sort();
        apart.dedup();
        assert_eq!(apart.len(), names.len(), "{name}: {names:?}");
        let far = distance(&added, names.last().unwrap(), &motion);
        println!("{name}: {far:.1e}");
        assert!(far < 1e-5, "{name}: {far:.1e}");
    }
}

#[test]
fn a_damaged_file_is_rebuilt_and_never_a_panic() {
    let Some((_, bytes, asset)) =
        files().into_iter().find(|(name, ..)| name == "blender_340_y_up_7400_binary")
    else {
        return;
    };
    let motion = sway(&asset.character);
    let damaged = |bytes: Vec<u8>| {
        let mut character = Character::clone(&motion.character);
        character.document.as_mut().unwrap().fbx = Some(bytes.into());
        let motion = Motion::new(Arc::new(character), motion.clip.clone());
        let (written, warnings) = write(std::slice::from_ref(&motion), false);
        open(&written);
        warnings.has("fbx-rebuilt")
    };
    assert!(!damaged(bytes.clone()));
    let records = bytes.len() - 160;
    for k in 0..60 {
        assert!(damaged(bytes[..records * k / 60].to_vec()), "cut {k} of 60");
    }
    // Single bytes anywhere, by a fixed sequence of numbers (Knuth's multiplier).
    let mut state: u64 = 1;
    let mut rebuilt = 0;
    for _ in 0..300 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut changed = bytes.clone();
        changed[(state >> 33) as usize % bytes.len()] = (state >> 24) as u8;
        rebuilt += usize::from(damaged(changed));
    }
    println!("{rebuilt} of 300 changed files were rebuilt");
}

#[test]
fn an_untouched_file_leaves_as_it_came() {
    for (_, bytes, asset) in files() {
        let motions: Vec<Motion> = (0..asset.clips.len()).filter_map(|n| asset.motion(n)).collect();
        if motions.is_empty() || !is_binary_7(&bytes) {
            continue;
        }
        let options = export::ExportOptions {
            clips_inside: true,
            stem: "x".into(),
            ..export::ExportOptions::default()
        };
        let (files, warnings) = export::save(&motions, Format::FBX, &options).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(files[0].bytes, bytes);
    }
}
