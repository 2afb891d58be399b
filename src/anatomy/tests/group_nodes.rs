//! Group nodes above joints, in characters and in takes: they get no role, and joints keep theirs.

use super::bind_pose::mannequin;
use posemill::import::{self, ImportOptions};
use posemill::model::{Asset, JointId, Role};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn role(asset: &Asset, id: JointId) -> Option<Role> {
    asset.character.rig.role(id)
}

/// Asserts that all joints of `plain` have the same roles in `grouped`, and no others have one.
fn assert_same_roles(plain: &Asset, grouped: &Asset) {
    let (a, b) = (plain.character.skeleton(), grouped.character.skeleton());
    assert!(a.len() < b.len());
    for id in a.ids() {
        let name = &a.joint(id).name;
        assert_eq!(role(plain, id), role(grouped, b.find(name).unwrap()), "{name}");
    }
    let known = |asset: &Asset| asset.character.rig.assignments().count();
    assert_eq!(known(plain), known(grouped));
}

/// Puts a node without transform above each of these joints, at its place, named by `name`.
fn with_groups(document: &mut Value, wanted: impl Fn(&str) -> bool, name: impl Fn(&str) -> String) {
    let nodes = document["nodes"].as_array_mut().unwrap();
    for joint in 0..nodes.len() {
        let own = nodes[joint]["name"].as_str().unwrap_or_default().to_owned();
        if !wanted(&own) {
            continue;
        }
        let group = nodes.len();
        let above = nodes.iter().position(|node| {
            node["children"].as_array().is_some_and(|children| children.contains(&json!(joint)))
        });
        let children = nodes[above.unwrap()]["children"].as_array_mut().unwrap();
        children.iter_mut().filter(|child| **child == json!(joint)).for_each(|child| *child = json!(group));
        let mut node = nodes[joint].clone();
        node["name"] = json!(name(&own));
        node["children"] = json!([joint]);
        for key in ["translation", "rotation", "scale", "matrix"] {
            nodes[joint].as_object_mut().unwrap().remove(key);
        }
        nodes.push(node);
    }
}

#[test]
fn joints_below_group_nodes_keep_their_roles() {
    let plain = mannequin(|_| {});
    let has_role = |name: &str| {
        let joint = plain.character.skeleton().find(name);
        joint.is_some_and(|joint| role(&plain, joint).is_some_and(|role| role != Role::Hips))
    };
    let namings: [fn(&str) -> String; 4] = [
        |own| format!("{own}_grp"),
        |own| format!("{own}Null"),
        |own| format!("{own}_$AssimpFbx$_PreRotation"),
        |own| format!("group{}", own.len()),
    ];
    for name in namings {
        let wants: [fn(&str) -> bool; 4] =
            [|_| true, |own| own.contains("neck"), |own| own.contains("head"), |own| own.contains("foot")];
        for wanted in wants {
            let other = mannequin(|document| with_groups(document, |own| has_role(own) && wanted(own), name));
            assert_same_roles(&plain, &other);
        }
    }
}

/// A BVH file with a joint that does not move above each joint but the root, at its place or at that of its parent.
fn take_with_groups(text: &str, at_parent: bool) -> String {
    let (hierarchy, motion) = text.split_once("MOTION").unwrap();
    let mut out = String::new();
    // The groups that are open at each depth, and whether a channel is of a group.
    let (mut open, mut of_group) = (Vec::new(), Vec::new());
    let mut group = false;
    for line in hierarchy.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["JOINT", name] => {
                out += &format!("JOINT {name}_zero\n");
                group = true;
                open.push(name.to_owned());
            }
            ["ROOT" | "End", _] => {
                out += &format!("{line}\n");
                open.push(String::new());
            }
            ["OFFSET", x, y, z] if group => {
                let [outer, inner] = if at_parent {
                    ["0 0 0".to_owned(), format!("{x} {y} {z}")]
                } else {
                    [format!("{x} {y} {z}"), "0 0 0".to_owned()]
                };
                let name = open.last().unwrap();
                out += &format!(
                    "OFFSET {outer}\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT {name}\n{{\nOFFSET {inner}\n"
                );
                of_group.extend([true; 3]);
                group = false;
            }
            ["CHANNELS", count, ..] => {
                out += &format!("{line}\n");
                of_group.extend(vec![false; count.parse().unwrap()]);
            }
            ["}"] => out += if open.pop().unwrap().is_empty() { "}\n" } else { "}\n}\n" },
            _ => out += &format!("{line}\n"),
        }
    }
    out += "MOTION";
    for line in motion.split_inclusive('\n') {
        let mut values = line.split_whitespace();
        if values.clone().count() + of_group.iter().filter(|group| **group).count() != of_group.len() {
            out += line;
            continue;
        }
        let row: Vec<&str> =
            of_group.iter().map(|group| if *group { "0" } else { values.next().unwrap() }).collect();
        out += &format!("{}\n", row.join(" "));
    }
    out
}

#[test]
fn joints_of_takes_below_group_nodes_keep_their_roles() {
    for file in ["walk.bvh", "wave.bvh"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(file)).unwrap();
        let read = |text: &str| {
            import::from_bytes(text.as_bytes(), "take", Some("bvh"), None, &ImportOptions::default()).unwrap()
        };
        let plain = read(&text);
        for at_parent in [false, true] {
            assert_same_roles(&plain, &read(&take_with_groups(&text, at_parent)));
        }
    }
}
