//! Two people in one file: the roles are those of the first, and the other is named.

use crate::anatomy::Vocabulary;
use crate::import::rig_detection::{RigClues, detect_rig};
use posemill::import::{ImportOptions, from_bytes};
use posemill::report::Warning;

/// The walk of `data/` twice in one file; the toes of the first have a name that says nothing, the second has names without prefix.
fn two_people() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/walk.bvh");
    let text = std::fs::read_to_string(path).unwrap();
    let (hierarchy, motion) = text.trim_start_matches("HIERARCHY").split_once("MOTION").unwrap();
    let (first, second) = (hierarchy.replace("ToeBase", "Tip"), hierarchy.replace("mixamorig:", ""));
    let rows: Vec<String> = motion
        .lines()
        .skip(3)
        .filter(|row| !row.is_empty())
        .take(60)
        .map(|row| format!("{row} {row}"))
        .collect();
    format!(
        "HIERARCHY{first}{second}MOTION\nFrames: {}\nFrame Time: 0.008333\n{}\n",
        rows.len(),
        rows.join("\n")
    )
}

#[test]
fn the_roles_are_all_of_the_first_person_or_of_the_one_asked_for() {
    all_of("mixamorig:Hips", None, Some("input.body=\"Hips\""));
    all_of("Hips", Some("LeftHand"), Some("input.body=\"mixamorig:Hips\""));
    all_of("mixamorig:Hips", Some("mixamorig:LeftHand"), None);
    // A joint that no body has, and one that all have.
    for wrong in ["nobody", "root"] {
        let found = all_of("mixamorig:Hips", Some(wrong), None);
        assert!(found.iter().any(|w| w.code == "body-not-found" && w.message.contains(wrong)), "{found:?}");
    }
}

/// Reads two people with this joint asked for: every role is below these hips, and the warning names the others.
fn all_of(hips: &str, asked: Option<&str>, hint: Option<&str>) -> Vec<Warning> {
    let text = two_people();
    let options = ImportOptions { body: asked.map(str::to_owned), ..ImportOptions::default() };
    let asset = from_bytes(text.as_bytes(), "two", Some("bvh"), None, &options).unwrap();
    let rig = &asset.character.rig;
    let first = rig.skeleton().find(hips).unwrap();
    for (role, at) in rig.assignments() {
        assert!(
            rig.skeleton().is_ancestor(first, at.joint),
            "{role}: {}",
            rig.skeleton().joint(at.joint).name
        );
    }
    assert!(rig.assignments().count() >= 20, "{:?}", rig.assignments().collect::<Vec<_>>());
    let other = asset.warnings.iter().find(|w| w.code == "second-body").unwrap();
    assert!(hint.is_none_or(|hint| other.message.contains(hint)), "{}", other.message);
    asset.warnings.iter().cloned().collect()
}

#[test]
fn a_skeleton_that_moves_no_skin_is_not_the_body() {
    let text = two_people();
    let asset = from_bytes(text.as_bytes(), "two", Some("bvh"), None, &ImportOptions::default()).unwrap();
    let skeleton = asset.character.skeleton();
    let hips = ["mixamorig:Hips", "Hips"].map(|name| skeleton.find(name).unwrap());
    // Whether the first and the second have skin, and which is the body.
    for (skins, body) in [([true, true], 0), ([true, false], 0), ([false, true], 1), ([false, false], 0)] {
        let of = |id| [0, 1].into_iter().find(|k| id == hips[*k] || skeleton.is_ancestor(hips[*k], id));
        let mass: Vec<f64> = skeleton.ids().map(|id| of(id).map_or(0.0, |k| f64::from(skins[k]))).collect();
        let found = detect_rig(&RigClues {
            skeleton,
            rest: &skeleton.rest_model_pose(),
            bound: false,
            humanoid: &[],
            mass: Some(&mass),
            rigid: false,
            trees: &[],
            clips: &[],
            up: None,
            vocabulary: Vocabulary::built_in(),
            mirrored: false,
            body: None,
        });
        let joints: Vec<_> = found.rig.assignments().map(|(_, assigned)| of(assigned.joint)).collect();
        assert!(joints.len() >= 20 && joints.iter().all(|k| *k == Some(body)), "{skins:?}: {joints:?}");
        assert!(found.warnings.has("second-body"));
    }
}

#[test]
fn the_body_that_the_clip_moves_is_the_one_that_is_used() {
    let text = two_people();
    let (hierarchy, motion) = text.split_once("MOTION").unwrap();
    let rows: Vec<Vec<&str>> = motion.lines().skip(3).map(|row| row.split(' ').collect()).collect();
    let half = rows[0].len() / 2;
    // Which of the two keep the pose of their first frame.
    for (still, hips) in
        [([false, false], "mixamorig:Hips"), ([true, false], "Hips"), ([true, true], "mixamorig:Hips")]
    {
        let held = |row: &Vec<&str>| {
            let one = |k: usize| if still[k] { &rows[0] } else { row };
            format!("{} {}\n", one(0)[..half].join(" "), one(1)[half..].join(" "))
        };
        let rows: String = rows.iter().map(held).collect();
        let text = format!("{hierarchy}MOTION\nFrames: 60\nFrame Time: 0.008333\n{rows}");
        let asset = from_bytes(text.as_bytes(), "two", Some("bvh"), None, &ImportOptions::default()).unwrap();
        let rig = &asset.character.rig;
        let found = rig.joint(crate::model::Role::Hips).unwrap();
        assert_eq!(rig.skeleton().joint(found).name, hips, "{still:?}");
    }
}
