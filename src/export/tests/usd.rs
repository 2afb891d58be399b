//! USD export: the text holds what the program knows, and moves the skin as the program does.

use super::moved_skin::moved;
use crate::development_data::data;
use crate::made_walk::{carried, shipped, take};
use crate::zip_entries::entries;
use posemill::export::{ExportOptions, Format, OutputFile, save};
use posemill::import;
use posemill::kinematics::figure_size;
use posemill::math::{Mat4, Quat, RawQuat, Transform, Vec3, exp, same_hemisphere};
use posemill::model::{Character, Clip, ModelPose, Motion};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

fn written(motions: &[Motion], format: &str) -> Vec<OutputFile> {
    let options = ExportOptions { stem: "clip".into(), ..ExportOptions::default() };
    save(motions, Format::of(format).unwrap(), &options).unwrap().0
}

fn usda(motions: &[Motion]) -> String {
    String::from_utf8(written(motions, "usda").swap_remove(0).bytes).unwrap()
}

/// The prims of a stage: path, and its attributes by name, as written. Samples have the name `attribute@time`.
fn prims(text: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut found: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let (mut path, mut samples) = (Vec::new(), None::<String>);
    for line in text.lines().map(str::trim) {
        let here = format!("/{}", path.join("/"));
        if let Some(head) = line.strip_prefix("def ") {
            path.push(head.split('"').nth(1).unwrap().to_owned());
            found.insert(format!("/{}", path.join("/")), BTreeMap::new());
        } else if line == "}" {
            if samples.take().is_none() {
                path.pop();
            }
        } else if let (Some(name), Some((time, value))) = (&samples, line.split_once(": ")) {
            found.get_mut(&here).unwrap().insert(format!("{name}@{time}"), value.to_owned());
        } else if let Some((name, value)) = line.split_once(" = ") {
            let name = name.split(' ').next_back().unwrap();
            match (name.strip_suffix(".timeSamples"), found.get_mut(&here)) {
                (Some(name), _) => samples = Some(name.to_owned()),
                (None, Some(prim)) => drop(prim.insert(name.to_owned(), value.to_owned())),
                (None, None) => {}
            }
        }
    }
    assert!(path.is_empty(), "as many ends as beginnings");
    found
}

fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|c: char| "[](), ".contains(c)).filter(|w| !w.is_empty());
    parts.map_while(|w| w.parse().ok()).collect()
}

fn matrices(text: &str) -> Vec<Mat4<f64>> {
    // Rows of theirs are columns of ours.
    numbers(text).chunks_exact(16).map(Mat4::from_column_slice).collect()
}

/// The points of all meshes at a time code of one animation, by the rules of UsdSkel.
fn points(stage: &BTreeMap<String, BTreeMap<String, String>>, clip: &str, time: &str) -> Vec<Vec<Vec3>> {
    let animation = &stage[&format!("/Root/Character/Skeleton/{clip}")];
    let sample = |name: &str| {
        let at = |time: &str| animation.get(&format!("{name}@{time}"));
        numbers(at(time).or(at("0")).unwrap_or_else(|| &animation[name]))
    };
    let (places, turns) = (sample("translations"), sample("rotations"));
    let local = places.chunks_exact(3).zip(turns.chunks_exact(4)).map(|(p, q)| {
        let turn = Quat::from_quaternion(RawQuat::new(q[0], q[1], q[2], q[3]));
        Transform::new(turn, Vec3::from_column_slice(p)).to_matrix()
    });
    let joints: Vec<&str> = animation["joints"].split('"').skip(1).step_by(2).collect();
    let mut model: Vec<Mat4<f64>> = Vec::new();
    for (joint, local) in joints.iter().zip(local) {
        let above = joint.rsplit_once('/').map(|(above, _)| joints.iter().position(|j| *j == above).unwrap());
        model.push(above.map_or(local, |k| model[k] * local));
    }
    assert_eq!(model.len(), joints.len());
    let words = |text: &str| text.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<String>>();
    let shapes = animation.get("blendShapes").map_or(Vec::new(), |text| words(text));
    let amounts = if shapes.is_empty() { Vec::new() } else { sample("blendShapeWeights") };
    assert_eq!(shapes.len(), amounts.len());
    let mesh = |prim: &BTreeMap<String, String>| {
        let skeleton = prim["skel:skeleton"].trim_matches(['<', '>']);
        let bind = matrices(&stage[skeleton]["bindTransforms"]);
        assert_eq!(matrices(&stage[skeleton]["restTransforms"]).len(), joints.len());
        let mut points = numbers(&prim["points"]);
        let names = prim.get("skel:blendShapes").map_or(Vec::new(), |text| words(text));
        let targets = prim.get("skel:blendShapeTargets").map_or("", |text| text.trim_matches(['[', ']']));
        for (name, target) in names.iter().zip(targets.split(", ")) {
            let amount = amounts[shapes.iter().position(|s| s == name).unwrap()];
            let shape = &stage[target.trim_matches(['<', '>'])];
            let places = numbers(&shape["pointIndices"]);
            for (place, by) in places.iter().zip(numbers(&shape["offsets"]).chunks_exact(3)) {
                (0..3).for_each(|k| points[3 * *place as usize + k] += amount * by[k]);
            }
        }
        let indices = numbers(&prim["primvars:skel:jointIndices"]);
        let weights = numbers(&prim["primvars:skel:jointWeights"]);
        let width = indices.len() / (points.len() / 3);
        let moved = |(v, p): (usize, &[f64])| {
            let p = Vec3::from_column_slice(p);
            let part = |k: usize| {
                let joint = indices[v * width + k] as usize;
                let moved = model[joint] * bind[joint].try_inverse().unwrap();
                moved.transform_point(&p.into()).coords * weights[v * width + k]
            };
            (0..width).map(part).sum::<Vec3>()
        };
        points.chunks_exact(3).enumerate().map(moved).collect::<Vec<Vec3>>()
    };
    let skinned =
        |prim: &&BTreeMap<String, String>| prim.contains_key("points") && prim.contains_key("skel:skeleton");
    stage.values().filter(skinned).map(mesh).collect()
}

/// A motion in which every joint turns, and the first moves.
fn waving(character: &Arc<Character>, frames: usize) -> Motion {
    let skeleton = character.skeleton();
    let poses = (0..frames).map(|f| {
        let mut pose = skeleton.rest_pose();
        for (j, t) in pose.local_mut().iter_mut().enumerate() {
            let s = j as f64 + 0.3 * f as f64;
            t.rotation *= exp(&(Vec3::new(s.sin(), (1.7 * s).cos(), (0.6 * s).sin()) * 0.4));
        }
        pose.local_mut()[0].translation += Vec3::new(0.1, 0.02, 0.05) * f as f64;
        pose
    });
    let mut clip = Clip::from_poses("waving", 30.0, skeleton, &poses.collect::<Vec<_>>());
    for f in 1..clip.frames() {
        let before = clip.rotations(f - 1).to_vec();
        clip.rotations_mut(f).iter_mut().zip(before).for_each(|(q, b)| *q = same_hemisphere(*q, &b));
    }
    Motion::new(Arc::clone(character), clip)
}

/// The greatest distance of a written point from that of the program at four frames, relative to the figure.
fn off(motion: &Motion) -> f64 {
    let stage = prims(&usda(std::slice::from_ref(motion)));
    let size = figure_size(motion.character.skeleton());
    let last = motion.clip.frames() - 1;
    let clip = stage["/Root/Character/Skeleton"]["skel:animationSource"].trim_matches(['<', '>']);
    let clip = clip.rsplit_once('/').unwrap().1;
    let [low, high]: [Vec3; 2] = {
        let extent = numbers(&stage["/Root/Character"]["extent"]);
        [Vec3::from_column_slice(&extent[..3]), Vec3::from_column_slice(&extent[3..])]
    };
    let mut worst: f64 = 0.0;
    for frame in [0, last / 3, last / 2, last] {
        let found = points(&stage, clip, &frame.to_string());
        // Prims stand in the order of their names here, and have several primitives: each is where some of ours begin.
        let (mut ours, mut begins) = (Vec::new(), Vec::new());
        for mesh in &motion.character.meshes {
            begins.push(ours.len());
            ours.extend(moved(mesh, motion, frame));
        }
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), ours.len());
        for mesh in &found {
            let apart = |begin: &usize| {
                let other = ours.get(*begin..*begin + mesh.len())?;
                Some(mesh.iter().zip(other).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / size)
            };
            worst = worst.max(begins.iter().filter_map(apart).fold(f64::INFINITY, f64::min));
            for p in mesh {
                assert!((0..3).all(|k| p[k] > low[k] - 1e-4 * size && p[k] < high[k] + 1e-4 * size));
            }
        }
    }
    worst
}

#[test]
fn skins_of_the_shipped_characters_move_as_they_do_here() {
    for name in ["mannequin.glb", "robot.glb", "tailed.glb"] {
        let hero = import::load(shipped(name), &import::ImportOptions::default()).unwrap().character;
        let off = off(&waving(&hero, 7));
        println!("{name}: {off:.1e} of the figure");
        assert!(off < 1e-6, "{name}: {off:.1e}");
    }
    let off = off(&carried(&take("walk.bvh")));
    assert!(off < 1e-6, "walk: {off:.1e}");
}

#[test]
fn skins_of_real_characters_move_as_they_do_here() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for folder in ["gltf", "derived", "vrm"] {
        let pattern = data.join(folder).join("**/*");
        for path in glob::glob(&pattern.to_string_lossy()).unwrap().flatten() {
            let kinds = ["glb", "gltf", "vrm"];
            if !path.extension().is_some_and(|e| kinds.iter().any(|k| e == *k)) {
                continue;
            }
            let Ok(asset) = import::load(&path, &import::ImportOptions::default()) else { continue };
            if asset.character.meshes.is_empty() {
                continue;
            }
            let off = off(&waving(&asset.character, 5));
            println!("{off:.1e} of the figure: {}", path.display());
            assert!(off < 2e-6, "{}: {off:.1e}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 10);
}

#[test]
fn a_stage_says_what_it_holds() {
    let motion = carried(&take("walk.bvh"));
    let text = usda(std::slice::from_ref(&motion));
    let stage = prims(&text);
    let skeleton = motion.character.skeleton();
    let (frames, joints) = (motion.clip.frames(), skeleton.len());
    let rate = motion.clip.sample_rate.round();
    for said in ["defaultPrim = \"Root\"", "metersPerUnit = 1", "upAxis = \"Y\""] {
        assert!(text.contains(said), "{said}");
    }
    assert!(text.contains(&format!("endTimeCode = {}\n", frames - 1)));
    assert!(text.contains(&format!("timeCodesPerSecond = {rate}\n")));
    let animation = stage.iter().find(|(path, _)| path.starts_with("/Root/Character/Skeleton/")).unwrap().1;
    let samples = |name: &str| animation.keys().filter(|k| k.starts_with(&format!("{name}@"))).count();
    assert_eq!((samples("rotations"), samples("translations")), (frames, frames));
    assert_eq!(numbers(&animation["scales"]).len(), 3 * joints);
    assert_eq!(numbers(&animation["rotations@0"]).len(), 4 * joints);
    let names: Vec<&str> =
        stage["/Root/Character/Skeleton"]["jointNames"].split('"').skip(1).step_by(2).collect();
    assert!(names.iter().eq(skeleton.joints().iter().map(|j| &j.name)));
    let triangles: usize = motion.character.meshes.iter().map(|m| m.triangles.len()).sum();
    let faces = stage.values().filter_map(|p| p.get("faceVertexCounts")).map(|f| numbers(f).len());
    assert_eq!(faces.sum::<usize>(), triangles);
    assert_eq!(text, usda(&[motion]), "same bytes twice");
}

#[test]
fn takes_without_a_skin_are_a_skeleton_and_its_animation() {
    let text = usda(&[take("walk.bvh")]);
    let stage = prims(&text);
    assert!(stage.keys().eq([
        "/Root",
        "/Root/Character",
        "/Root/Character/Skeleton",
        "/Root/Character/Skeleton/walk"
    ]));
}

#[test]
fn several_clips_are_animations_side_by_side_and_the_first_is_bound() {
    let hero = import::load(shipped("robot.glb"), &import::ImportOptions::default()).unwrap().character;
    let mut motions = vec![waving(&hero, 3), waving(&hero, 9), waving(&hero, 4)];
    motions[1].clip.name = "2. Sprung \"hoch\"".into();
    motions[1].clip.sample_rate = 60.0;
    let stage = prims(&usda(&motions));
    let source = &stage["/Root/Character/Skeleton"]["skel:animationSource"];
    assert_eq!(source, "</Root/Character/Skeleton/waving>");
    let second = &stage["/Root/Character/Skeleton/_2__Sprung__hoch_"];
    assert!(second.contains_key("rotations@0.5") && second.contains_key("rotations@4"));
    assert!(stage.contains_key("/Root/Character/Skeleton/waving_2"));
}

#[test]
fn a_package_is_aligned_and_begins_with_the_stage() {
    let character = data().map(|d| d.join("gltf/khronos/cesium_man.gltf")).filter(|p| p.exists());
    let path = character.unwrap_or_else(|| shipped("mannequin.glb"));
    let hero = import::load(&path, &import::ImportOptions::default()).unwrap().character;
    let motion = waving(&hero, 3);
    let package = written(std::slice::from_ref(&motion), "usdz").swap_remove(0);
    assert_eq!(package.name, "clip.usdz");
    assert_eq!(package, written(std::slice::from_ref(&motion), "usdz")[0]);
    let beside = written(&[motion], "usda");
    let entries = entries(&package.bytes);
    assert_eq!(entries.len(), beside.len());
    for (k, (entry, file)) in entries.iter().zip(&beside).enumerate() {
        assert!(entry.at % 64 == 0 && entry.stored);
        match k {
            0 => assert!(entry.name == "scene.usdc" && entry.bytes.starts_with(b"PXR-USDC")),
            _ => {
                let name = Path::new(&file.name).file_name().unwrap().to_str().unwrap();
                assert_eq!(entry.name, format!("textures/{name}"));
                assert_eq!(entry.bytes, file.bytes);
                assert!(String::from_utf8_lossy(&beside[0].bytes).contains(&format!("@./{}@", file.name)));
            }
        }
    }
}

#[test]
fn meshes_that_were_bound_elsewhere_get_a_skeleton_of_their_own() {
    let hero = import::load(shipped("mannequin.glb"), &import::ImportOptions::default()).unwrap().character;
    let mut hero = (*hero).clone();
    let mut other = hero.meshes[0].clone();
    // As if this one had been bound with every joint turned and the mesh in centimetres.
    for (k, binding) in other.bindings.iter_mut().enumerate() {
        let turned = Transform::new(exp(&Vec3::new(0.3 * k as f64, 0.1, -0.2)), Vec3::new(0.1, 0.0, 0.2));
        binding.joint_from_mesh = turned.to_matrix() * binding.joint_from_mesh * 0.01;
        binding.joint_from_mesh[(3, 3)] = 1.0;
    }
    other.positions.truncate(other.positions.len());
    hero.meshes.push(other);
    let motion = waving(&Arc::new(hero), 5);
    let stage = prims(&usda(std::slice::from_ref(&motion)));
    assert!(stage.contains_key("/Root/Character/Skeleton_2"));
    assert!(off(&motion) < 1e-6);
}

#[test]
fn rest_and_bind_are_those_of_the_character() {
    let motion = carried(&take("walk.bvh"));
    let stage = prims(&usda(std::slice::from_ref(&motion)));
    let skeleton = motion.character.skeleton();
    let rest = matrices(&stage["/Root/Character/Skeleton"]["restTransforms"]);
    for (joint, found) in skeleton.joints().iter().zip(&rest) {
        assert!((joint.rest.to_matrix() - found).amax() < 1e-15);
    }
    let bind: ModelPose = motion.character.bind.clone().unwrap();
    let found = matrices(&stage["/Root/Character/Skeleton"]["bindTransforms"]);
    for (joint, found) in bind.joints().iter().zip(&found) {
        assert!((joint.to_matrix() - found).amax() < 1e-15);
    }
}
