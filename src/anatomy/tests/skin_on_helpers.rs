//! Characters whose skin is on helpers of their joints, and characters that lie in their file.

use super::bind_pose::{idle, mannequin, off};
use posemill::anatomy::Figure;
use posemill::math::Vec3;
use posemill::model::{Asset, JointId};
use serde_json::{Value, json};

/// Gives every joint of the skin a leaf without transform, which takes its place in the skin.
fn with_skin_on_leaves(document: &mut Value) {
    let joints = document["skins"][0]["joints"].take();
    let joints: Vec<usize> = serde_json::from_value(joints).unwrap();
    let nodes = document["nodes"].as_array_mut().unwrap();
    let mut leaves = Vec::new();
    for joint in joints {
        leaves.push(nodes.len());
        nodes.push(json!({ "name": format!("{}_DEF", nodes[joint]["name"].as_str().unwrap()) }));
        let mut children = nodes[joint]["children"].as_array().cloned().unwrap_or_default();
        children.insert(0, json!(leaves.last()));
        nodes[joint]["children"] = json!(children);
    }
    document["skins"][0]["joints"] = json!(leaves);
    document["skins"][0].as_object_mut().unwrap().remove("skeleton");
}

fn role(asset: &Asset, id: JointId) -> Option<String> {
    asset.character.rig.role(id).map(|role| role.to_string())
}

#[test]
fn joints_whose_skin_is_on_leaves_have_the_roles_and_the_bind_pose() {
    let plain = mannequin(|_| {});
    for posed in [false, true] {
        let other = mannequin(|document| {
            if posed {
                idle(document);
            }
            with_skin_on_leaves(document);
        });
        let (a, b) = (plain.character.skeleton(), other.character.skeleton());
        assert_eq!(2 * a.len(), b.len());
        for id in a.ids() {
            let name = &a.joint(id).name;
            let own = b.find(name).unwrap();
            assert_eq!(role(&plain, id), role(&other, own), "{name}");
            assert_eq!(role(&other, b.find(&format!("{name}_DEF")).unwrap()), None, "{name}");
        }
        let off = off(&plain, &other);
        assert!(off.iter().all(|off| *off < 1e-4), "posed {posed}: {off:?}");
    }
}

#[test]
fn a_character_that_lies_in_its_file_is_compared_as_it_stands() {
    let plain = mannequin(|_| {});
    for [x, z] in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]] {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let lying = mannequin(|document| {
            let tops = document["scenes"][0]["nodes"].take();
            let nodes = document["nodes"].as_array_mut().unwrap();
            nodes.push(json!({ "rotation": [half * x, 0.0, half * z, half], "children": tops }));
            let top = nodes.len() - 1;
            document["scenes"][0]["nodes"] = json!([top]);
        });
        assert!(lying.warnings.has("rest-lies") && !plain.warnings.has("rest-lies"));
        let [a, b] = [&plain, &lying].map(|asset| asset.character.reference_pose());
        let up = Figure::of(&lying.character.rig, &b).unwrap().up;
        assert_eq!(up, Vec3::y());
        let height =
            |id: JointId| [&a, &b].map(|pose| pose.position(id).y - pose.position(JointId::new(0)).y);
        for id in plain.character.skeleton().ids() {
            let [wanted, found] = height(id);
            assert!((wanted - found).abs() < 1e-4, "{x} {z}, joint {}: {wanted} {found}", id.index());
        }
    }
}
