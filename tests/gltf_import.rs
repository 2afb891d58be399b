//! glTF import held against Blender, against broken files, and against its own promises.

mod development_data;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use development_data::data;
use posemill::import::GltfFile;
use posemill::math::{Quat, RawQuat, Vec3, same_hemisphere};
use posemill::model::{Asset, ModelPose};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| ["glb", "gltf", "vrm", "vrma"].iter().any(|x| e == *x)) {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Result<GltfFile, String> {
    GltfFile::read(&fs::read(path).unwrap(), path.parent()).map_err(|e| e.to_string())
}

fn check(asset: &Asset) {
    asset.character.check().unwrap();
    for clip in 0..asset.clips.len() {
        asset.motion(clip).unwrap().check().unwrap();
    }
}

#[test]
fn joints_are_where_blender_has_them() {
    let Some(data) = data() else { return };
    let mut sources = Vec::new();
    for folder in ["gltf", "derived"] {
        files(&data.join(folder), &mut sources);
    }
    let mut references: Vec<_> =
        fs::read_dir(data.join("reference")).unwrap().map(|e| e.unwrap().path()).collect();
    references.sort();
    let mut compared = 0;
    for reference in references.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let truth: Value = serde_json::from_slice(&fs::read(reference).unwrap()).unwrap();
        let Some(name) = truth["source"]["file"].as_str().filter(|_| truth["source"]["kind"] == "gltf")
        else {
            continue;
        };
        let path = sources.iter().find(|p| p.file_name().is_some_and(|n| n == name)).unwrap();
        let file = read(path).unwrap();
        let worst = worst_difference(&file, &truth);
        println!("{name}: {worst:.2e} of the figure");
        assert!(worst < 2e-5, "{name}: {worst:e}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}

/// The largest distance to Blender's joints over all samples, relative to the size of the figure.
fn worst_difference(file: &GltfFile, truth: &Value) -> f64 {
    let clip_index = truth["animation"]["index"].as_u64();
    let joints = truth["joints"].as_array().unwrap();
    let mut worst: f64 = 0.0;
    for sample in truth["samples"].as_array().unwrap() {
        let pose = match clip_index {
            None => file.skeleton.rest_model_pose(),
            Some(i) => {
                let clip = &file.clips[i as usize];
                let time = sample["time"].as_f64().unwrap();
                let frame = (time - clip.start) * clip.sample_rate;
                assert!(
                    (frame - frame.round()).abs() < 0.1,
                    "{time} s is no frame at {} Hz",
                    clip.sample_rate
                );
                ModelPose::of(&file.skeleton, &clip.pose(&file.skeleton, frame.round() as usize))
            }
        };
        let truths = sample["positions"].as_array().unwrap();
        let point = |p: &Value| {
            let p = p.as_array()?;
            Some(Vec3::new(p[0].as_f64()?, p[1].as_f64()?, p[2].as_f64()?))
        };
        let all: Vec<Vec3> = truths.iter().filter_map(point).collect();
        let low = all.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
        let high = all.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
        for (joint, p) in joints.iter().zip(truths) {
            let node = joint["node"].as_u64().unwrap() as usize;
            let id = file.document.nodes.iter().position(|n| *n == Some(node)).unwrap();
            let Some(p) = point(p) else { continue };
            worst = worst.max((pose.joints()[id].translation - p).norm() / (high - low).norm());
        }
    }
    worst
}

#[test]
fn every_real_file_is_read_and_keeps_the_promises() {
    let Some(data) = data() else { return };
    let mut paths = Vec::new();
    for folder in ["gltf", "derived", "vrm"] {
        files(&data.join(folder), &mut paths);
    }
    assert!(paths.len() >= 30, "{}", paths.len());
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = read(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let rates: Vec<_> = file.clips.iter().map(|c| (c.frames(), c.sample_rate)).collect();
        println!(
            "{name}: {} joints, {} meshes, bind {}, clips {rates:?}, {} translated",
            file.skeleton.len(),
            file.meshes.len(),
            file.bind.is_some(),
            file.clips.first().map_or(0, |c| c.translated().len()),
        );
        for w in file.warnings.iter() {
            println!("    {} x{} at {}: {}", w.code, w.count, w.first, w.message);
        }
        check(&file.into_asset(name, [], Quat::from_euler_angles(0.0, 1.0, 0.0)));
    }
}

#[test]
fn broken_files_give_an_error_or_a_result_that_keeps_the_promises() {
    let Some(data) = data() else { return };
    let mut paths = Vec::new();
    files(&data.join("corpus"), &mut paths);
    assert!(paths.len() >= 120, "{}", paths.len());
    for path in paths {
        let name = path.strip_prefix(&data).unwrap().display().to_string();
        match read(&path) {
            Ok(file) => {
                println!("{name}: read, {} joints, {} clips", file.skeleton.len(), file.clips.len());
                check(&file.into_asset("broken", [], Quat::identity()));
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
}

#[test]
fn quantised_and_plain_skins_bind_alike() {
    let Some(data) = data() else { return };
    let plain = read(&data.join("gltf/khronos/cesium_man.gltf")).unwrap();
    let packed = read(&data.join("derived/cesium-man-gltfpack-quantized.glb")).unwrap();
    // The packer renumbers nodes and drops names; a joint is known by where it was bound.
    let places = |file: &GltfFile| -> Vec<Vec3> {
        file.bind.as_ref().unwrap().joints().iter().map(|t| t.translation).collect()
    };
    let (plain, packed) = (places(&plain), places(&packed));
    let far = plain.iter().map(|p| packed.iter().map(|q| (p - q).norm()).fold(f64::INFINITY, f64::min));
    let worst = far.fold(0.0, f64::max);
    assert!(worst < 0.03, "{worst} m");
}

#[cfg(feature = "meshopt")]
#[test]
fn packed_meshes_and_animations_are_those_of_the_plain_file() {
    let Some(data) = data() else { return };
    let plain = read(&data.join("derived/cesium-man-gltfpack-quantized.glb")).unwrap();
    let path = data.join("derived/cesium-man-gltfpack-meshopt.glb");
    let packed = read(&path).unwrap();
    assert!(!packed.warnings.has("gltf-packed-clip") && !packed.warnings.has("gltf-mesh-unreadable"));
    let (a, b) = (&plain.meshes[0], &packed.meshes[0]);
    assert_eq!((a.positions.len(), a.triangles.len()), (b.positions.len(), b.triangles.len()));
    // The packer orders corners anew: a corner is known by where it is.
    let corners = |mesh: &posemill::model::Mesh| {
        let mut all: Vec<[i64; 3]> =
            mesh.positions.iter().map(|p| p.map(|x| (f64::from(x) * 1e5).round() as i64)).collect();
        all.sort_unstable();
        all
    };
    assert_eq!(corners(a), corners(b));
    let (a, b) = (&plain.clips[0], &packed.clips[0]);
    assert_eq!((a.frames(), a.joints()), (b.frames(), b.joints()));
    let turned =
        a.all_rotations().iter().zip(&b.all_rotations()).map(|(a, b)| a.angle_to(b)).fold(0.0, f64::max);
    println!("rotations differ by {turned:.1e} rad at most");
    assert!(turned < 2e-3, "{turned}");
    let whole = fs::read(&path).unwrap();
    let mut seed = 3u64;
    for _ in 0..200 {
        let mut bytes = whole.clone();
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let at = (seed >> 33) as usize % bytes.len();
        bytes[at] = (seed >> 20) as u8;
        if let Ok(file) = GltfFile::read(&bytes, None) {
            check(&file.into_asset("packed", [], Quat::identity()));
        }
    }
}

#[test]
fn a_bound_character_stands_upright_where_its_nodes_do_not() {
    let Some(data) = data() else { return };
    for (name, left, right, foot, head) in [
        ("gltf/gdquest/mannequiny-0.3.0.glb", "hand.l", "hand.r", "foot.l", "head"),
        ("gltf/quaternius/KnightCharacter.glb", "Palm.L", "Palm.R", "Foot.L", "Head"),
    ] {
        let file = read(&data.join(name)).unwrap();
        let bind = file.bind.as_ref().unwrap();
        let at = |n: &str| bind.position(file.skeleton.find(n).unwrap_or_else(|| panic!("{n} of {name}")));
        let (left, right) = (at(left), at(right));
        let height = at(head).y - at(foot).y;
        println!("{name}: left {left:?} right {right:?} height {height}");
        // The knight's own hands differ by a thousandth of his height.
        assert!(
            (left.x + right.x).abs() < 5e-3 * height && (left.y - right.y).abs() < 5e-3 * height,
            "{name}"
        );
        assert!(height > 0.5 && at(foot).y.abs() < 0.2 * height, "{name}");
    }
}

/// A file of two joints, the upper one above the lower, which turn by these keys at 60 Hz.
fn turning(keys: &[[f32; 4]]) -> Vec<u8> {
    let times: Vec<f32> = (0..keys.len()).map(|k| (k as f64 / 60.0) as f32).collect();
    let numbers = times.iter().chain(keys.as_flattened());
    let bytes: Vec<u8> = numbers.flat_map(|x| x.to_le_bytes()).collect();
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&bytes));
    let (count, at) = (keys.len(), 4 * keys.len());
    let channel =
        |node: usize| serde_json::json!({"sampler": 0, "target": {"node": node, "path": "rotation"}});
    serde_json::json!({
        "asset": {"version": "2.0"},
        "nodes": [{"name": "upper", "children": [1]}, {"name": "lower", "translation": [0, 1, 0]}],
        "scenes": [{"nodes": [0]}],
        "buffers": [{"byteLength": bytes.len(), "uri": uri}],
        "bufferViews": [{"buffer": 0, "byteLength": bytes.len()}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": count, "type": "SCALAR"},
            {"bufferView": 0, "byteOffset": at, "componentType": 5126, "count": count, "type": "VEC4"}
        ],
        "animations": [{"samplers": [{"input": 0, "output": 1}], "channels": [channel(0), channel(1)]}]
    })
    .to_string()
    .into_bytes()
}

#[test]
fn rotations_stay_in_the_hemisphere_of_the_frame_before_on_any_number_of_threads() {
    // Signs come and go, also where blocks of frames meet; half turns stand at right angles, whatever came before.
    let key = |k: usize| {
        let turn = [0.3, 0.7, -0.4, 0.2 + 1e-3 * k as f32];
        let q = if k % 97 < 2 { [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]][k % 97] } else { turn };
        q.map(|x| if k * k % 7 < 3 || k.is_multiple_of(256) { -x } else { x })
    };
    let keys: Vec<[f32; 4]> = (0..1500).map(key).collect();
    let file = turning(&keys);
    let mut expected: Vec<Quat> = Vec::new();
    for [x, y, z, w] in keys.iter().map(|q| q.map(f64::from)) {
        let q = Quat::new_normalize(RawQuat::new(w, x, y, z));
        expected.push(expected.last().map_or(q, |before| same_hemisphere(q, before)));
    }
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let read = pool.install(|| GltfFile::read(&file, None)).unwrap();
        let (clip, lower) = (&read.clips[0], read.skeleton.find("lower").unwrap());
        assert_eq!((clip.frames(), clip.sample_rate), (keys.len(), 60.0));
        for (frame, expected) in expected.iter().enumerate() {
            // Rotations that differ in their sign are equal, their numbers are not.
            let found = clip.rotations(frame)[lower.index()].coords;
            assert_eq!(found, expected.coords, "frame {frame}, {threads} threads");
        }
    }
}

/// Two joints, the lower of which moves along Y by 1 at each of these times.
fn moving(times: &[f32]) -> Vec<u8> {
    let places = (0..times.len()).flat_map(|k| [0.0, k as f32, 0.0]);
    let bytes: Vec<u8> = times.iter().copied().chain(places).flat_map(f32::to_le_bytes).collect();
    let (n, start, length) = (times.len(), 4 * times.len(), bytes.len());
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"name":"a","children":[1]}},{{"name":"b","translation":[0,1,0]}}],
"buffers":[{{"byteLength":{length},"uri":"data:application/octet-stream;base64,{}"}}],"bufferViews":[{{"buffer":0,"byteLength":{length}}}],
"accessors":[{{"bufferView":0,"componentType":5126,"count":{n},"type":"SCALAR","min":[0],"max":[1]}},
{{"bufferView":0,"byteOffset":{start},"componentType":5126,"count":{n},"type":"VEC3"}}],
"animations":[{{"samplers":[{{"input":0,"output":1}}],"channels":[{{"sampler":0,"target":{{"node":1,"path":"translation"}}}}]}}]}}"#,
        STANDARD.encode(&bytes)
    )
    .into_bytes()
}

#[test]
fn key_times_that_repeat_are_reported() {
    let said = |times: &[f32]| {
        let options = posemill::import::ImportOptions::default();
        let asset = posemill::import::from_bytes(&moving(times), "a", Some("gltf"), None, &options).unwrap();
        asset.warnings.iter().find(|w| w.code == "gltf-key-repeats").map(|w| w.message.clone())
    };
    assert_eq!(said(&[0.0, 0.5, 1.0]), None);
    assert_eq!(said(&[0.0]), None);
    assert!(said(&[0.0, 0.5, 0.5, 1.0]).unwrap().starts_with("1 of 4 key times"));
    assert!(said(&[0.0; 5]).unwrap().starts_with("4 of 5 key times"));
}

/// The mannequin whose skin was bound in a space that is turned about the vertical by these degrees.
fn turned_skin(degrees: f64) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb");
    let mut bytes = fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let json = word(12);
    let document: Value = serde_json::from_slice(&bytes[20..20 + json]).unwrap();
    let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let accessor = &document["accessors"][number(&document["skins"][0]["inverseBindMatrices"])];
    let view = &document["bufferViews"][number(&accessor["bufferView"])];
    let first = 28 + json + number(&view["byteOffset"]) + number(&accessor["byteOffset"]);
    let (sin, cos) = degrees.to_radians().sin_cos();
    for matrix in bytes[first..first + 64 * number(&accessor["count"])].chunks_exact_mut(64) {
        let m: Vec<f64> =
            matrix.chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap()))).collect();
        for row in 0..4 {
            let (x, z) = (m[row], m[8 + row]);
            for (column, value) in [(0, cos * x + sin * z), (2, cos * z - sin * x)] {
                let at = 4 * (4 * column + row);
                matrix[at..at + 4].copy_from_slice(&(value as f32).to_le_bytes());
            }
        }
    }
    bytes
}

#[test]
fn a_skin_that_was_bound_facing_aside_does_not_turn_the_body() {
    let toes = |degrees: f64| -> Vec3 {
        let file = GltfFile::read(&turned_skin(degrees), None).unwrap();
        let asset = file.into_asset("turned", [], Quat::identity());
        let pose = asset.character.reference_pose();
        let at = |name: &str| pose.position(asset.character.skeleton().find(name).unwrap());
        at("toes_l") - at("foot_l")
    };
    let plain = toes(0.0);
    assert!(plain.z > 0.05, "{plain:?}");
    for degrees in [180.0, 90.0, -90.0, 37.0] {
        let off = (toes(degrees) - plain).norm();
        assert!(off < 1e-3, "{degrees} degrees: {off} m");
    }
}
