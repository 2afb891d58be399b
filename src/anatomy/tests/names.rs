//! Detection by names: words of the user, hands of all kinds, and the time for many names.

use posemill::anatomy::{JointNames, Vocabulary, Word, detect_roles, detect_roles_from};
use posemill::math::{Transform, Vec3};
use posemill::model::{Joint, JointId, Rig, Skeleton};
use std::time::Instant;

/// A skeleton from `(name, parent, position)` in model space.
fn skeleton(joints: &[(String, Option<usize>, [f64; 3])]) -> Skeleton {
    let list = joints.iter().map(|(name, parent, at)| {
        let origin = parent.map_or(Vec3::zeros(), |p| Vec3::from(joints[p].2));
        let rest = Transform::from_translation(Vec3::from(*at) - origin);
        Joint::new(name.clone(), parent.map(JointId::new), rest)
    });
    Skeleton::new(list.collect()).unwrap()
}

fn role(rig: &Rig, name: &str) -> Option<String> {
    let id = rig.skeleton().find(name)?;
    rig.role(id).map(|r| r.to_string())
}

type Joints = Vec<(String, Option<usize>, [f64; 3])>;

/// Legs, trunk and arms in T-pose; `hand` names the joints from the wrist on, by side.
fn body(arm: [&str; 4]) -> Joints {
    let mut joints: Joints = Vec::new();
    let mut add = |name: String, parent: Option<usize>, at: [f64; 3]| {
        joints.push((name, parent, at));
        joints.len() - 1
    };
    let hips = add("Hips".into(), None, [0.0, 1.0, 0.0]);
    let chest = add("Chest".into(), Some(hips), [0.0, 1.3, 0.0]);
    let neck = add("Neck".into(), Some(chest), [0.0, 1.5, 0.0]);
    add("Head".into(), Some(neck), [0.0, 1.6, 0.0]);
    for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
        let mut above = hips;
        for (name, y) in [("UpLeg", 0.95), ("Leg", 0.5), ("Foot", 0.1)] {
            above = add(format!("{side}{name}"), Some(above), [0.1 * x, y, 0.0]);
        }
        let mut above = chest;
        for (name, at) in arm.iter().zip([0.05, 0.2, 0.5, 0.75]) {
            above = add(format!("{side}{name}"), Some(above), [at * x, 1.45, 0.0]);
        }
    }
    joints
}

const ARM: [&str; 4] = ["Shoulder", "Arm", "ForeArm", "Hand"];

/// Adds a chain to the left hand: names, and the distance of each joint from the wrist.
fn finger(joints: &mut Joints, z: f64, chain: &[(&str, f64)]) {
    let mut above = joints.iter().position(|j| j.0 == "LeftHand").unwrap();
    for (name, far) in chain {
        joints.push((format!("Left{name}"), Some(above), [0.75 + far, 1.45, z]));
        above = joints.len() - 1;
    }
}

#[test]
fn the_user_adds_words() {
    let tree = skeleton(&body(["Flunke", "Zampa1", "Zampa2", "Pratze"]));
    let rest = tree.rest_model_pose();
    let rig = detect_roles(tree.clone(), &rest, &[]);
    assert_eq!(role(&rig, "LeftPratze"), None);
    let user_words =
        [("flunke", "clavicle"), ("zampa1", "upper_arm"), ("Zampa 2", "lower_arm"), ("PRATZE", "hand")];
    let words: Vec<Word> = user_words.iter().map(|(word, part)| Word::new(word, part).unwrap()).collect();
    let rig = detect_roles_from(
        &JointNames::of(&tree, &Vocabulary::built_in().with(&words)),
        tree,
        &rest,
        &[],
        None,
    )
    .rig;
    assert_eq!(role(&rig, "LeftFlunke").as_deref(), Some("left_clavicle"));
    assert_eq!(role(&rig, "RightZampa1").as_deref(), Some("right_upper_arm"));
    assert_eq!(role(&rig, "RightZampa2").as_deref(), Some("right_lower_arm"));
    assert_eq!(role(&rig, "LeftPratze").as_deref(), Some("left_hand"));
}

#[test]
fn joints_in_the_palm_and_tips_are_no_fingers() {
    // With a tip: the thumb has four joints too.
    let mut tips = body(ARM);
    finger(&mut tips, 0.0, &[("Index1", 0.09), ("Index2", 0.13), ("Index3", 0.16), ("Index4", 0.18)]);
    finger(&mut tips, 0.04, &[("Thumb1", 0.03), ("Thumb2", 0.06), ("Thumb3", 0.09), ("Thumb4", 0.11)]);
    // With a palm joint, which the little finger lacks in position but not in number.
    let mut palm = body(ARM);
    finger(&mut palm, 0.0, &[("Index1", 0.03), ("Index2", 0.09), ("Index3", 0.13), ("Index4", 0.16)]);
    finger(&mut palm, -0.02, &[("Little1", 0.03), ("Little2", 0.09), ("Little3", 0.12)]);
    finger(&mut palm, 0.04, &[("Thumb1", 0.03), ("Thumb2", 0.06), ("Thumb3", 0.09)]);
    for (joints, index, little) in [(tips, "LeftIndex1", None), (palm, "LeftIndex2", Some("LeftLittle2"))] {
        let tree = skeleton(&joints);
        let rest = tree.rest_model_pose();
        let rig = detect_roles(tree, &rest, &[]);
        assert_eq!(role(&rig, index).as_deref(), Some("left_index_0"));
        assert_eq!(role(&rig, "LeftThumb1").as_deref(), Some("left_thumb_0"));
        if let Some(little) = little {
            assert_eq!(role(&rig, little).as_deref(), Some("left_little_0"));
            assert_eq!(role(&rig, "LeftIndex1"), None);
        } else {
            assert_eq!(role(&rig, "LeftIndex4"), None);
        }
    }
}

#[test]
fn numbers_of_joints_are_no_numbers_of_fingers() {
    let mut joints = body(ARM);
    finger(&mut joints, 0.0, &[("Finger_01", 0.09), ("Finger_02", 0.13), ("Finger_03", 0.16)]);
    let tree = skeleton(&joints);
    let rest = tree.rest_model_pose();
    let rig = detect_roles(tree, &rest, &[]);
    assert!(["LeftFinger_01", "LeftFinger_02", "LeftFinger_03"].iter().all(|n| role(&rig, n).is_none()));
}

#[test]
fn what_a_tool_adds_to_all_names_changes_no_role() {
    let mut joints = body(ARM);
    finger(&mut joints, 0.0, &[("FingerBase", 0.05), ("HandIndex1", 0.09), ("HandIndex2", 0.13)]);
    finger(&mut joints, 0.04, &[("HandThumb1", 0.03), ("HandThumb2", 0.06)]);
    // MakeHuman's stubs.
    finger(&mut joints, 0.02, &[("Carpal", 0.02)]);
    joints.last_mut().unwrap().0 = "__Thumb1_L".into();
    let roles = |joints: &Joints| -> Vec<Option<String>> {
        let tree = skeleton(joints);
        let rig = detect_roles(tree.clone(), &tree.rest_model_pose(), &[]);
        joints.iter().map(|(name, ..)| role(&rig, name)).collect()
    };
    let plain = roles(&joints);
    assert!(plain.contains(&Some("left_index_1".into())) && plain.last() == Some(&None), "{plain:?}");
    for (before, after) in [("rig_", ""), ("Character1_", ""), ("mixamorig1:", ""), ("", ".001"), ("", "_2")]
    {
        let mut renamed = joints.clone();
        renamed.iter_mut().for_each(|joint| joint.0 = format!("{before}{}{after}", joint.0));
        assert_eq!(roles(&renamed), plain, "{before} {after}");
    }
}

#[test]
fn a_joint_that_carries_a_finger_is_none() {
    for base in ["HandMiddle1", "FingerBase", "HandPalm"] {
        let mut joints = body(ARM);
        finger(&mut joints, 0.0, &[(base, 0.05), ("HandIndex1", 0.09), ("HandIndex2", 0.13)]);
        let tree = skeleton(&joints);
        let rig = detect_roles(tree.clone(), &tree.rest_model_pose(), &[]);
        assert_eq!(role(&rig, &format!("Left{base}")), None, "{base}");
        assert_eq!(role(&rig, "LeftHandIndex1").as_deref(), Some("left_index_0"), "{base}");
    }
}

#[test]
fn a_second_joint_at_one_place_changes_no_chain() {
    let plain = body(ARM);
    for (below, above) in [("Neck", "Head"), ("Chest", "Neck")] {
        let mut joints = plain.clone();
        let at = joints.iter().position(|j| j.0 == below).unwrap();
        let place = joints[at].2;
        // Everything that hung on the joint hangs on the new one, which follows it in the list.
        joints.iter_mut().skip(at + 1).for_each(|joint| {
            joint.1 = joint.1.map(|parent| if parent >= at { parent + 1 } else { parent });
        });
        joints.insert(at + 1, (format!("{below}Again"), Some(at), place));
        assert!(joints.iter().any(|j| j.0 == above && j.1 == Some(at + 1)));
        let tree = skeleton(&joints);
        let rig = detect_roles(tree.clone(), &tree.rest_model_pose(), &[]);
        assert_eq!(role(&rig, &format!("{below}Again")), None);
        for (name, ..) in &plain {
            let tree = skeleton(&plain);
            let before = detect_roles(tree.clone(), &tree.rest_model_pose(), &[]);
            assert_eq!(role(&rig, name), role(&before, name), "{name}, with two of {below}");
        }
    }
}

#[test]
fn ten_thousand_names_are_read_once_each() {
    let mut joints = body(ARM);
    // Chains of fifty below every joint of the body, and one that is as deep as all of them together.
    let roots = joints.len();
    for n in 0..5_000 {
        let parent = if n % 50 == 0 { (n / 50) % roots } else { joints.len() - 1 };
        joints.push((format!("strand_{n}_curlOfHairLeft{n}"), Some(parent), [0.0, 1.0, 0.001 * n as f64]));
    }
    for n in 0..5_000 {
        joints.push((format!("LeftHandIndex{n}"), Some(joints.len() - 1), [0.0, 1.0, 0.001 * n as f64]));
    }
    let tree = skeleton(&joints);
    let rest = tree.rest_model_pose();
    let start = Instant::now();
    let rig = detect_roles(tree, &rest, &[]);
    println!("{} joints are detected in {:?}", joints.len(), start.elapsed());
    assert_eq!(role(&rig, "LeftForeArm").as_deref(), Some("left_lower_arm"));
    assert_eq!(role(&rig, "LeftHandIndex7"), None);
}

#[test]
fn a_list_of_joints_without_a_tree_is_whole() {
    let mut tree = body(ARM);
    tree.insert(1, ("Spine".into(), Some(0), [0.0, 1.15, 0.02]));
    tree.iter_mut().skip(3).for_each(|j| j.1 = j.1.map(|p| if p >= 1 { p + 1 } else { p }));
    tree[2].1 = Some(1);
    finger(&mut tree, 0.0, &[("HandIndex1", 0.09), ("HandIndex2", 0.13), ("HandIndex3", 0.16)]);
    finger(&mut tree, 0.04, &[("HandThumb1", 0.03), ("HandThumb2", 0.06), ("HandThumb3", 0.09)]);
    // Curled.
    finger(&mut tree, -0.02, &[("HandRing1", 0.09), ("HandRing2", 0.12), ("HandRing3", 0.07)]);
    let whole = skeleton(&tree);
    let rest = whole.rest_model_pose();
    let whole = detect_roles(whole, &rest, &[]);
    // Below the root that import adds, and below one of the file; in another order.
    for root in [None, Some("Root".to_owned())] {
        let mut list: Joints = vec![("Root".into(), None, [0.0; 3])];
        list.extend(tree.iter().rev().map(|(name, _, at)| (format!("{name}_DEF"), Some(0), *at)));
        let mut joints = skeleton(&list).joints().to_vec();
        joints[0].file_name = root;
        let listed = Skeleton::new(joints).unwrap();
        let rest = listed.rest_model_pose();
        let rig = detect_roles(listed, &rest, &[]);
        for (name, ..) in &tree {
            assert_eq!(role(&rig, &format!("{name}_DEF")), role(&whole, name), "{name}");
        }
    }
}
