//! What a glTF take moves beside joints (morph weights, nodes that are none) reaches a character that has nodes of the same
//! names, through retargeting and through stages; elsewhere a warning tells of it.

use posemill::export::{self, Format, GltfOptions, write_gltf};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::{AnimatedProperty, Asset, Clip};
use posemill::pipeline::{Pipeline, PipelineConfig};
use posemill::stages::STAGES;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const FRAMES: usize = 31;

/// The weights of a frame.
fn weights(frame: usize) -> [f32; 2] {
    let t = frame as f32 / 30.0;
    [t * t, 1.0 - t]
}

fn chunks(bytes: &[u8]) -> (Value, Vec<u8>) {
    let size = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let json = size(12);
    let bin = size(20 + json);
    (serde_json::from_slice(&bytes[20..20 + json]).unwrap(), bytes[28 + json..][..bin].to_vec())
}

fn glb(json: &Value, mut bin: Vec<u8>) -> Vec<u8> {
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut file = b"glTF".to_vec();
    file.extend([2, (28 + text.len() + bin.len()) as u32].iter().flat_map(|n| n.to_le_bytes()));
    file.extend((text.len() as u32).to_le_bytes());
    file.extend(b"JSON");
    file.extend(text);
    file.extend((bin.len() as u32).to_le_bytes());
    file.extend(b"BIN\0");
    file.extend(bin);
    file
}

/// A character of the repository with a `Face` of `targets` morph targets; where it is a take, also with an animation.
fn with_face(name: &str, targets: usize, take: bool) -> Vec<u8> {
    let file = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)).unwrap();
    let (mut json, mut bin) = chunks(&file);
    let mut accessor = |json: &mut Value, kind: &str, count: usize, values: &[f32], bounds: Value| -> usize {
        bin.resize(bin.len().next_multiple_of(4), 0);
        let view = json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": 4 * values.len()});
        values.iter().for_each(|x| bin.extend(x.to_le_bytes()));
        let views = json["bufferViews"].as_array_mut().unwrap();
        views.push(view);
        let mut item =
            json!({"bufferView": views.len() - 1, "componentType": 5126, "count": count, "type": kind});
        if let (Some(item), Some(bounds)) = (item.as_object_mut(), bounds.as_object()) {
            item.extend(bounds.clone());
        }
        let all = json["accessors"].as_array_mut().unwrap();
        all.push(item);
        all.len() - 1
    };
    let bounds = json!({"min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0]});
    let corners =
        accessor(&mut json, "VEC3", 3, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], bounds.clone());
    let shapes: Vec<Value> = vec![json!({"POSITION": corners}); targets];
    let mesh = json!({"primitives": [{"attributes": {"POSITION": corners}, "targets": shapes}]});
    json["meshes"].as_array_mut().unwrap().push(mesh);
    let mesh = json["meshes"].as_array().unwrap().len() - 1;
    let nodes = json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({"name": "Face", "mesh": mesh}));
    let face = nodes.len() - 1;
    json["scenes"][0]["nodes"].as_array_mut().unwrap().push(json!(face));
    if take {
        let joint = json["skins"][0]["joints"][0].as_u64().unwrap();
        let rest =
            json["nodes"][joint as usize].get("rotation").cloned().unwrap_or(json!([0.0, 0.0, 0.0, 1.0]));
        let rest: Vec<f32> = serde_json::from_value(rest).unwrap();
        let times: Vec<f32> = (0..FRAMES).map(|f| f as f32 / 30.0).collect();
        let turns: Vec<f32> = (0..FRAMES).flat_map(|_| rest.clone()).collect();
        let faces: Vec<f32> = (0..FRAMES).flat_map(weights).collect();
        let places: Vec<f32> = (0..FRAMES).flat_map(|f| [f as f32, 0.0, 1.0]).collect();
        let end = json!({"min": [0.0], "max": [times[FRAMES - 1]]});
        let input = accessor(&mut json, "SCALAR", FRAMES, &times, end);
        let turns = accessor(&mut json, "VEC4", FRAMES, &turns, json!({}));
        let faces = accessor(&mut json, "SCALAR", 2 * FRAMES, &faces, json!({}));
        let places = accessor(&mut json, "VEC3", FRAMES, &places, json!({}));
        json["animations"] = json!([{
            "name": "talk",
            "samplers": [{"input": input, "output": turns}, {"input": input, "output": faces}, {"input": input, "output": places}],
            "channels": [
                {"sampler": 0, "target": {"node": joint, "path": "rotation"}},
                {"sampler": 1, "target": {"node": face, "path": "weights"}},
                {"sampler": 2, "target": {"node": face, "path": "translation"}},
            ],
        }]);
    }
    json["buffers"][0]["byteLength"] = json!(bin.len().next_multiple_of(4));
    glb(&json, bin)
}

fn read(bytes: &[u8]) -> Asset {
    let asset = from_bytes(bytes, "take", Some("glb"), None, &ImportOptions::default()).unwrap();
    (0..asset.clips.len()).for_each(|k| asset.motion(k).unwrap().check().unwrap());
    asset
}

fn assert_carried(clip: &Clip) {
    let of = |property| clip.property_tracks.iter().find(|c| c.property == property).expect("it is carried");
    let (face, place) = (of(AnimatedProperty::Weights), of(AnimatedProperty::Translation));
    assert_eq!((face.node.as_str(), face.width, clip.frames()), ("Face", 2, FRAMES));
    for frame in 0..FRAMES {
        assert!(face.frame(frame).iter().zip(weights(frame)).all(|(a, b)| (a - b).abs() < 1e-6), "{frame}");
        assert!((place.frame(frame)[0] - frame as f32).abs() < 1e-4, "{frame}");
    }
}

#[test]
fn a_take_reads_and_writes_what_it_moves_beside_joints() {
    let asset = read(&with_face("robot.glb", 2, true));
    assert_carried(&asset.clips[0]);
    let written =
        write_gltf(&asset.character, &asset.clips, &GltfOptions { replace: true, ..GltfOptions::default() })
            .unwrap();
    assert!(!written.warnings.has("carried-dropped"));
    let back = read(&written.bytes);
    assert_eq!(back.clips.len(), 1);
    assert_carried(&back.clips[0]);
    let again =
        write_gltf(&asset.character, &asset.clips, &GltfOptions { replace: true, ..GltfOptions::default() })
            .unwrap();
    assert_eq!(written.bytes, again.bytes);
    // Parts and other rates keep them in step.
    let part = asset.motion(0).unwrap().part(10..20);
    part.check().unwrap();
    assert_eq!(part.clip.property_tracks[0].frame(0), weights(10));
    let text = "[[stage]]\nuse = \"resample\"\nrate_hz = 60.0\n";
    let config = PipelineConfig::parse("p.toml", text, &[], STAGES).unwrap();
    let pipeline = Pipeline::new(&config, Path::new(""), None).unwrap();
    let (motion, _) = pipeline.apply(asset.motion(0).unwrap()).unwrap();
    motion.check().unwrap();
    let face = motion.clip.property_tracks.iter().find(|c| c.property == AnimatedProperty::Weights).unwrap();
    assert!((face.frame(21)[1] - (weights(10)[1] + weights(11)[1]) / 2.0).abs() < 1e-6);
    // A format without morphs says that it has none.
    let bvh =
        export::save(&[asset.motion(0).unwrap()], Format::BVH, &export::ExportOptions::default()).unwrap();
    assert!(bvh.1.has("carried-dropped"));
}

#[test]
fn a_character_with_a_face_of_the_same_name_gets_the_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("take.glb"), with_face("robot.glb", 2, true)).unwrap();
    fs::write(path("same.glb"), with_face("mannequin.glb", 2, false)).unwrap();
    fs::write(path("other.glb"), with_face("mannequin.glb", 3, false)).unwrap();
    let run = |onto: &str, out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_posemill"));
        let arguments = ["retarget", "take.glb", "--onto", onto, "-o", out];
        let output = command.current_dir(&folder).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        (read(&fs::read(path(out)).unwrap()), said)
    };
    let (same, said) = run("same.glb", "out.glb");
    assert_carried(&same.clips[0]);
    assert!(!said.contains("were omitted"), "{said}");
    // Another number of morph targets is another face; where the node is, it still moves.
    let (other, said) = run("other.glb", "odd.glb");
    assert_eq!(other.clips[0].property_tracks.len(), 1);
    assert!(said.contains("has no nodes of these names"), "{said}");
}

#[test]
fn a_take_of_a_face_alone_is_a_clip() {
    let (mut json, bin) = chunks(&with_face("robot.glb", 2, true));
    let channels = json["animations"][0]["channels"].as_array_mut().unwrap();
    channels.retain(|channel| channel["target"]["path"] == "weights");
    let asset = read(&glb(&json, bin.clone()));
    assert!(!asset.warnings.has("gltf-clip-without-joints"), "{:?}", asset.warnings);
    let motion = asset.motion(0).unwrap();
    let face = &motion.clip.property_tracks[0];
    assert_eq!((motion.clip.frames(), face.node.as_str(), face.width), (FRAMES, "Face", 2));
    for frame in 0..FRAMES {
        assert!(face.frame(frame).iter().zip(weights(frame)).all(|(a, b)| (a - b).abs() < 1e-6), "{frame}");
        let rest = motion.character.skeleton().rest_model_pose();
        let now = motion.model_pose(frame);
        let off = rest.joints().iter().zip(now.joints()).map(|(a, b)| (a.translation - b.translation).norm());
        assert!(off.fold(0.0, f64::max) < 1e-6, "the body rests");
    }
    let options = GltfOptions { replace: true, ..GltfOptions::default() };
    let back = read(&write_gltf(&asset.character, &asset.clips, &options).unwrap().bytes);
    assert_eq!(back.clips[0].property_tracks, motion.clip.property_tracks);
    // Neither joints nor morph targets: no clip.
    json["animations"][0]["channels"] = json!([{ "sampler": 2, "target": {
        "node": json["nodes"].as_array().unwrap().len() - 1, "path": "translation" } }]);
    let asset = read(&glb(&json, bin));
    assert!(asset.clips.is_empty() && asset.warnings.has("gltf-clip-without-joints"));
}
