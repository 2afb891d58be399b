//! Numbers that are not finite in a file: what goes out has none, and a warning says what was repaired.

use super::surfaces::rich;
use crate::gltf_document::Chunks;
use crate::made_walk::shipped;
use base64::prelude::{BASE64_STANDARD, Engine};
use posemill::export::{ExportOptions, Format, save};
use posemill::import::{self, ImportError, ImportOptions};
use posemill::math::{Quat, RawQuat};
use posemill::model::{Asset, Clip, Mesh, Motion};
use serde_json::Value;
use std::sync::Arc;

fn read(bytes: &[u8]) -> Result<Asset, ImportError> {
    import::from_bytes(bytes, "odd", Some("fbx"), None, &ImportOptions::default())
}

/// The accessors of 32-bit floats in a GLB with a number that is not finite, or with a limit that is none.
fn odd_floats(glb: &[u8]) -> Vec<String> {
    let chunks = Chunks::open(glb).unwrap();
    let json: Value = serde_json::from_str(chunks.json).unwrap();
    let bin = chunks.bin.unwrap();
    let number = |v: &Value, key: &str| v[key].as_u64().unwrap_or(0) as usize;
    let odd = |accessor: &&Value| {
        let limits = ["min", "max"].iter().filter_map(|key| accessor[key].as_array()).flatten();
        let view = &json["bufferViews"][number(accessor, "bufferView")];
        let begin = number(view, "byteOffset");
        let floats = bin[begin..begin + number(view, "byteLength")].chunks_exact(4);
        let finite = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).abs() < 1e30;
        number(accessor, "componentType") == 5126
            && !(limits.clone().all(Value::is_number) && floats.clone().all(finite))
    };
    json["accessors"].as_array().unwrap().iter().filter(odd).map(Value::to_string).collect()
}

fn bytes_of(motion: &Motion, format: Format) -> Vec<u8> {
    let options = ExportOptions { stem: "odd".into(), ..ExportOptions::default() };
    save(std::slice::from_ref(motion), format, &options).unwrap().0.swap_remove(0).bytes
}

/// The FBX file of the rich character with one change, which the writer does not check.
fn damaged(change: impl Fn(&mut Motion, &mut [Mesh])) -> Vec<u8> {
    let mut motion = rich();
    let mut hero = (*motion.character).clone();
    let mut meshes = std::mem::take(&mut hero.meshes);
    change(&mut motion, &mut meshes);
    hero.meshes = meshes;
    motion.character = Arc::new(hero);
    bytes_of(&motion, Format::FBX)
}

#[test]
fn numbers_that_are_not_finite_are_repaired_when_fbx_is_read() {
    type Change = fn(&mut Mesh, f32);
    let changes: [(&str, Change); 6] = [
        ("position", |m, x| m.positions[7][1] = x),
        ("normal", |m, x| m.normals[7][0] = x),
        ("texture coordinate", |m, x| m.texcoords[7][0] = x),
        ("further texture coordinate", |m, x| m.further_texcoords[0][7][1] = x),
        ("colour", |m, x| m.colors[7][2] = x),
        ("displacement", |m, x| m.morphs[7].offsets[7][2] = x),
    ];
    for (what, change) in changes {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let asset = read(&damaged(|_, meshes| change(&mut meshes[0], value))).unwrap();
            let motion = asset.motion(0).unwrap();
            motion.check().unwrap();
            let said = asset.warnings.has("fbx-not-finite");
            // A normal is made anew, an infinite colour is full, and the writer leaves out displacements that compare as 0.
            let unwritten = what == "displacement" && value.is_nan();
            let silent = what == "normal" || unwritten || (what == "colour" && !value.is_nan());
            assert_eq!(said, !silent, "{what} {value}: {:?}", asset.warnings);
            assert_eq!(odd_floats(&bytes_of(&motion, Format::GLB)), Vec::<String>::new(), "{what} {value}");
            if said && value.is_nan() {
                // What was repaired is repaired in FBX, too.
                let again = read(&bytes_of(&motion, Format::FBX)).unwrap();
                assert!(!again.warnings.has("fbx-not-finite"), "{what} {value}: {:?}", again.warnings);
            }
        }
    }
    let whole = read(&damaged(|_, _| {})).unwrap();
    assert!(!whole.warnings.has("fbx-not-finite"));
    assert!(whole.character.document.as_ref().unwrap().fbx.is_some());
    let damaged = read(&damaged(|_, meshes| meshes[0].positions[7][1] = f32::NAN)).unwrap();
    let faces = |asset: &Asset| asset.character.meshes.iter().map(|m| m.triangles.len()).sum::<usize>();
    let around = rich().character.meshes[0].triangles.iter().filter(|t| t.contains(&7)).count();
    assert_eq!(faces(&damaged) + around, faces(&whole), "only the triangles of the vertex are left out");
}

#[test]
fn a_skin_bound_by_numbers_that_are_not_finite_loses_that_joint_only() {
    let bytes = damaged(|_, meshes| {
        meshes.iter_mut().for_each(|m| m.bindings[1].joint_from_mesh[(0, 3)] = f64::NAN);
    });
    let asset = read(&bytes).unwrap();
    assert!(asset.warnings.has("fbx-not-finite"), "{:?}", asset.warnings);
    assert!(!asset.character.meshes.is_empty());
    let motion = asset.motion(0).unwrap();
    motion.check().unwrap();
    assert_eq!(odd_floats(&bytes_of(&motion, Format::GLB)), Vec::<String>::new());
}

#[test]
fn frames_that_are_not_finite_repeat_the_previous_one() {
    let bytes = damaged(|motion, _| {
        let odd = RawQuat::new(f64::NAN, 0.0, 0.0, 0.0);
        motion.clip.rotations_mut(2)[3] = Quat::new_unchecked(odd);
        motion.clip.property_tracks[0].values[45] = f32::NAN;
    });
    let asset = read(&bytes).unwrap();
    let motion = asset.motion(0).unwrap();
    motion.check().unwrap();
    assert!(asset.warnings.has("fbx-not-finite"), "{:?}", asset.warnings);
    assert_eq!(odd_floats(&bytes_of(&motion, Format::GLB)), Vec::<String>::new());
}

/// A GLB of the repository in which one number of an attribute, or of the bind matrices, is not finite.
fn damaged_glb(name: &str, attribute: &str, value: f32) -> Option<Vec<u8>> {
    let mut bytes = std::fs::read(shipped(name)).unwrap();
    let chunks = Chunks::open(&bytes).unwrap();
    let json: Value = serde_json::from_str(chunks.json).unwrap();
    let accessor = match attribute {
        "inverseBindMatrices" => &json["skins"][0][attribute],
        _ => &json["meshes"][0]["primitives"][0]["attributes"][attribute],
    };
    let accessor = &json["accessors"][accessor.as_u64()? as usize];
    if accessor["componentType"] != 5126 {
        return None;
    }
    let number = |v: &Value, key: &str| v[key].as_u64().unwrap_or(0) as usize;
    let view = &json["bufferViews"][number(accessor, "bufferView")];
    let stride = number(view, "byteStride");
    let stride = if stride == 0 { number(view, "byteLength") / number(accessor, "count") } else { stride };
    let bin = bytes.len() - chunks.bin.unwrap().len().next_multiple_of(4);
    let at = bin + number(view, "byteOffset") + number(accessor, "byteOffset") + 3 * stride + 4;
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    Some(bytes)
}

#[test]
fn numbers_that_are_not_finite_are_repaired_in_a_glb() {
    let mut tried = 0;
    for name in ["mannequin.glb", "robot.glb"] {
        for attribute in ["POSITION", "NORMAL", "TEXCOORD_0", "WEIGHTS_0", "inverseBindMatrices"] {
            for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38] {
                let Some(bytes) = damaged_glb(name, attribute, value) else { continue };
                let options = ImportOptions::default();
                let asset = import::from_bytes(&bytes, "odd", Some("glb"), None, &options).unwrap();
                assert!(asset.warnings.has("gltf-not-finite"), "{name} {attribute}: {:?}", asset.warnings);
                assert!(!asset.character.meshes.is_empty());
                asset.character.check().unwrap();
                let skeleton = asset.character.skeleton();
                let clip = Clip::from_poses("still", 30.0, skeleton, &[skeleton.rest_pose()]);
                let written = bytes_of(&Motion::new(asset.character.clone(), clip), Format::GLB);
                assert_eq!(odd_floats(&written), Vec::<String>::new(), "{name} {attribute} {value}");
                tried += 1;
            }
        }
        let whole = std::fs::read(shipped(name)).unwrap();
        let asset =
            import::from_bytes(&whole, "whole", Some("glb"), None, &ImportOptions::default()).unwrap();
        assert!(!asset.warnings.has("gltf-not-finite"));
        assert_eq!(*asset.character.document.as_ref().unwrap().bytes, whole);
    }
    assert!(tried >= 12, "{tried}");
}

#[test]
fn numbers_that_are_not_finite_are_repaired_in_buffers_beside_a_gltf_and_inside_it() {
    for attribute in ["POSITION", "WEIGHTS_0", "inverseBindMatrices"] {
        let glb = damaged_glb("mannequin.glb", attribute, f32::NAN).unwrap();
        let chunks = Chunks::open(&glb).unwrap();
        let bin = chunks.bin.unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a mesh.bin"), bin).unwrap();
        let inside = format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(bin));
        for uri in ["a%20mesh.bin", &inside] {
            let mut json: Value = serde_json::from_str(chunks.json).unwrap();
            json["buffers"][0]["uri"] = uri.into();
            let (text, options) = (json.to_string(), ImportOptions::default());
            let read =
                import::from_bytes(text.as_bytes(), "odd", Some("gltf"), Some(folder.path()), &options);
            let asset = read.unwrap();
            assert!(asset.warnings.has("gltf-not-finite"), "{attribute} {uri:.10}: {:?}", asset.warnings);
            asset.character.check().unwrap();
            let skeleton = asset.character.skeleton();
            let clip = Clip::from_poses("still", 30.0, skeleton, &[skeleton.rest_pose()]);
            let motion = Motion::new(asset.character.clone(), clip);
            assert_eq!(odd_floats(&bytes_of(&motion, Format::GLB)), Vec::<String>::new(), "{attribute}");
            // The files of a `.gltf` are written too: read again, nothing is left to repair.
            let options = ExportOptions { stem: "odd".into(), ..ExportOptions::default() };
            let (files, _) = save(&[motion], Format::GLTF, &options).unwrap();
            let out = tempfile::tempdir().unwrap();
            files.iter().for_each(|f| std::fs::write(out.path().join(&f.name), &f.bytes).unwrap());
            let again = import::load(out.path().join("odd.gltf"), &ImportOptions::default()).unwrap();
            assert!(!again.warnings.has("gltf-not-finite"), "{attribute} {uri:.10}: {:?}", again.warnings);
        }
        assert_eq!(std::fs::read(folder.path().join("a mesh.bin")).unwrap(), bin, "the source stays");
    }
}
