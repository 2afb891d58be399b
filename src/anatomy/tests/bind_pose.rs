//! Characters whose node pose differs from their bind pose: fists, and props that were skinned elsewhere.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use posemill::anatomy::Figure;
use posemill::import::{self, ImportOptions};
use posemill::math::{Quat, Vec3, exp};
use posemill::model::{Asset, CalibrationSource, Role, Side};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The mannequin that the project makes, its document edited.
pub(super) fn mannequin(edit: impl FnOnce(&mut Value)) -> Asset {
    let bytes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mannequin.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let binary = &bytes[20 + length + 8..];
    let uri = |bytes: &[u8]| format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes));
    document["buffers"][0]["uri"] = json!(uri(binary));
    edit(&mut document);
    let text = document.to_string();
    import::from_bytes(text.as_bytes(), "edited", Some("gltf"), None, &ImportOptions::default()).unwrap()
}

fn node(document: &Value, name: &str) -> usize {
    let nodes = document["nodes"].as_array().unwrap();
    nodes.iter().position(|n| n["name"] == name).unwrap_or_else(|| panic!("{name}"))
}

/// Rotates a node at rest by `degrees` about its own axes.
fn rotate(document: &mut Value, name: &str, degrees: [f64; 3]) {
    let k = node(document, name);
    let q = document["nodes"][k]["rotation"].as_array().cloned();
    let q = q.map_or_else(Quat::identity, |q| {
        let [x, y, z, w] = [0, 1, 2, 3].map(|i| q[i].as_f64().unwrap());
        Quat::new_normalize(posemill::math::RawQuat::new(w, x, y, z))
    });
    let q = q * exp(&(Vec3::from(degrees) * std::f64::consts::PI / 180.0));
    document["nodes"][k]["rotation"] = json!([q.i, q.j, q.k, q.w]);
}

const FINGERS: [&str; 5] = ["thumb", "index", "middle", "ring", "pinky"];

/// Fists, hanging arms and bent knees at rest.
pub(super) fn idle(document: &mut Value) {
    for side in ["l", "r"] {
        for finger in FINGERS {
            for n in 1..=3 {
                rotate(document, &format!("{finger}_0{n}_{side}"), [0.0, 75.0, 20.0]);
            }
        }
        rotate(document, &format!("upper_arm_{side}"), [10.0, 0.0, 65.0]);
        rotate(document, &format!("calf_{side}"), [25.0, 0.0, 0.0]);
        rotate(document, &format!("thigh_{side}"), [-20.0, 0.0, 0.0]);
    }
}

/// How far the bind poses of two assets differ, metres.
fn apart(a: &Asset, b: &Asset) -> f64 {
    let pose = |asset: &Asset| asset.character.bind.clone().expect("the bind pose is kept");
    let (a, b) = (pose(a), pose(b));
    let pairs = a.joints().iter().zip(b.joints());
    pairs.map(|(a, b)| (a.translation - b.translation).norm()).fold(0.0, f64::max)
}

#[test]
fn fists_at_rest_do_not_outvote_the_body() {
    let (whole, fists) = (mannequin(|_| {}), mannequin(idle));
    assert!(apart(&whole, &fists) < 1e-4, "{}", apart(&whole, &fists));
    assert_eq!(fists.character.calibration_source(), CalibrationSource::Bind);
}

/// Puts a node without transform between every joint and its children.
fn separate(document: &mut Value) {
    let joints: Vec<u64> =
        document["skins"][0]["joints"].as_array().unwrap().iter().map(|j| j.as_u64().unwrap()).collect();
    let nodes = document["nodes"].as_array_mut().unwrap();
    for joint in joints {
        let joint = joint as usize;
        if nodes[joint].get("children").is_none() {
            continue;
        }
        let name = format!("{}_offset", nodes[joint]["name"].as_str().unwrap());
        let between = json!({ "name": name, "children": nodes[joint]["children"].take() });
        nodes.push(between);
        let between = nodes.len() - 1;
        nodes[joint]["children"] = json!([between]);
    }
}

/// How far the joints of `plain` are from those of the same names in the bind pose of `other`, metres and radians.
pub(super) fn off(plain: &Asset, other: &Asset) -> [f64; 2] {
    let bind = |asset: &Asset| asset.character.bind.clone().expect("the bind pose is kept");
    let (a, b) = (bind(plain), bind(other));
    let skeleton = plain.character.skeleton();
    let pairs = skeleton.ids().map(|id| {
        let there = other.character.skeleton().find(&skeleton.joint(id).name).unwrap();
        (a.joint(id), b.joint(there))
    });
    pairs.fold([0.0, 0.0], |[far, turned], (a, b)| {
        let distance = (a.translation - b.translation).norm();
        [far.max(distance), turned.max(a.rotation.angle_to(&b.rotation))]
    })
}

#[test]
fn a_body_saved_lying_or_looking_back_is_bound_as_it_stands() {
    let plain = mannequin(|_| {});
    let rotations =
        [[30.0, 0.0, 0.0], [-90.0, 0.0, 0.0], [0.0, 46.0, 0.0], [0.0, 180.0, 0.0], [0.0, 0.0, 100.0]];
    for posed in [false, true] {
        for degrees in rotations {
            let other = mannequin(|document| {
                rotate(document, "hips", degrees);
                if posed {
                    idle(document);
                }
            });
            let off = off(&plain, &other);
            assert!(off.iter().all(|off| *off < 1e-4), "{degrees:?} posed {posed}: {off:?}");
            assert!(!other.warnings.has("gltf-bind-unusable"));
        }
    }
}

#[test]
fn nodes_without_skin_between_joints_keep_the_bind_pose() {
    let plain = mannequin(|_| {});
    for posed in [false, true] {
        let other = mannequin(|document| {
            if posed {
                idle(document);
            }
            separate(document);
        });
        let off = off(&plain, &other);
        assert!(off.iter().all(|off| *off < 1e-4), "posed {posed}: {off:?}");
    }
}

/// Adds a skin for `joint`, before or behind the body's, whose mesh was bound around the origin.
fn prop(document: &mut Value, joints: &[&str], first: bool) {
    let mut matrices: Vec<u8> = Vec::new();
    for _ in joints {
        // The identity, one metre down.
        for (i, x) in [1.0_f32, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 1.0]
            .into_iter()
            .enumerate()
        {
            // Each joint elsewhere, so that the skin has bones of its own length.
            let x = if i == 12 { x + 0.5 * (matrices.len() / 64) as f32 } else { x };
            matrices.extend(x.to_le_bytes());
        }
    }
    let push = |list: &mut Value, value: Value| {
        list.as_array_mut().unwrap().push(value);
        list.as_array().unwrap().len() - 1
    };
    let uri = format!("data:application/octet-stream;base64,{}", STANDARD.encode(&matrices));
    let buffer = push(&mut document["buffers"], json!({ "byteLength": matrices.len(), "uri": uri }));
    let view = json!({ "buffer": buffer, "byteLength": matrices.len() });
    let view = push(&mut document["bufferViews"], view);
    let accessor =
        json!({ "bufferView": view, "componentType": 5126, "count": joints.len(), "type": "MAT4" });
    let accessor = push(&mut document["accessors"], accessor);
    let nodes: Vec<usize> = joints.iter().map(|name| node(document, name)).collect();
    let skin = json!({ "name": "prop", "joints": nodes, "inverseBindMatrices": accessor });
    let skins = document["skins"].as_array_mut().unwrap();
    skins.insert(if first { 0 } else { skins.len() }, skin);
    if first {
        for node in document["nodes"].as_array_mut().unwrap() {
            if let Some(skin) = node.get("skin").and_then(Value::as_u64) {
                node["skin"] = json!(skin + 1);
            }
        }
    }
}

#[test]
fn a_prop_that_was_skinned_in_its_own_origin_does_not_move_the_body() {
    let whole = mannequin(|_| {});
    let sole = |asset: &Asset| {
        let pose = asset.character.reference_pose();
        Figure::of(&asset.character.rig, &pose).expect("it has legs").sole
    };
    for (joints, first) in [
        (&["hand_r"][..], true),
        (&["hand_r"][..], false),
        (&["hand_r", "lower_arm_r"][..], true),
        (&["hips", "hand_r"][..], true),
        (&["hips", "spine_01", "hand_r"][..], true),
    ] {
        for posed in [false, true] {
            let held = mannequin(|document| {
                if posed {
                    idle(document);
                }
                prop(document, joints, first);
            });
            let off = apart(&whole, &held);
            assert!(off < 1e-4, "{joints:?}, first {first}, posed {posed}: {off}");
            assert!((sole(&whole) - sole(&held)).abs() < 1e-4);
        }
    }
}

/// Puts a node with a scale of -1 along X above everything.
fn mirror(document: &mut Value) {
    let tops = document["scenes"][0]["nodes"].take();
    let nodes = document["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "name": "mirror", "scale": [-1.0, 1.0, 1.0], "children": tops }));
    let top = nodes.len() - 1;
    document["scenes"][0]["nodes"] = json!([top]);
}

/// Exchanges `_l` and `_r` at the end of all names.
fn swap_names(document: &mut Value) {
    for node in document["nodes"].as_array_mut().unwrap() {
        let Some(name) = node["name"].as_str().map(str::to_owned) else { continue };
        let swapped = match (name.strip_suffix("_l"), name.strip_suffix("_r")) {
            (Some(stem), _) => format!("{stem}_r"),
            (_, Some(stem)) => format!("{stem}_l"),
            _ => continue,
        };
        node["name"] = json!(swapped);
    }
}

#[test]
fn a_mirrored_body_is_bound_as_the_mirror_image_and_has_its_own_sides() {
    let plain = mannequin(|_| {});
    for posed in [false, true] {
        for swapped in [false, true] {
            let mirrored = mannequin(|document| {
                if posed {
                    idle(document);
                }
                if swapped {
                    swap_names(document);
                }
                mirror(document);
            });
            let pose = |asset: &Asset| asset.character.bind.clone().expect("the bind pose is kept");
            for (a, b) in pose(&plain).joints().iter().zip(pose(&mirrored).joints()) {
                let image = Vec3::new(-a.translation.x, a.translation.y, a.translation.z);
                let off = (image - b.translation).norm();
                assert!(off < 1e-4, "posed {posed}: {off} m from the mirror image");
            }
            // Left is where +X is, whatever the names say.
            let (rig, pose) = (&mirrored.character.rig, pose(&mirrored));
            for role in [Role::UpperLeg(Side::Left), Role::Hand(Side::Left), Role::Foot(Side::Left)] {
                assert!(pose.position(rig.joint(role).unwrap()).x > 0.0, "posed {posed}: {role}");
            }
            assert_eq!(mirrored.warnings.has("sides-swapped"), !swapped, "posed {posed}");
        }
    }
}
