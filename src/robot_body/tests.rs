//! Roles are read off the shape, whatever the names are.

mod meshes;
mod rigid_feet;

use super::{RobotBody, RobotLimb};
use crate::import::{ImportOptions, from_bytes, load};
use crate::math::{Quat, Vec3, nearest_points_of_segments};
use crate::model::{Asset, Robot, Role, Side};
use std::path::Path;
use std::sync::Arc;

fn robot(path: &Path) -> Arc<Robot> {
    load(path, &ImportOptions::default()).unwrap().character.robot.clone().unwrap()
}

/// Robots of the development data and the names of the links before and after knee and elbow of the left side.
#[test]
fn limbs_of_real_robots_are_found_without_their_names() {
    let Some(data) = crate::development_data::data() else { return };
    let expected = [
        ["left_hip_yaw_link", "left_knee_link", "left_ankle_roll_link"],
        ["left_shoulder_yaw_link", "left_elbow_link", "left_wrist_yaw_link"],
    ];
    for file in [
        "dcc/robots/mjlab_g1.xml",
        "later/mjcf/unitree_g1_mocap_29dof.xml",
        "later/urdf/unitree_g1_29dof.urdf",
    ] {
        let named = robot(&data.join(file));
        let mut nameless = (*named).clone();
        nameless.links.iter_mut().enumerate().for_each(|(k, link)| link.name = format!("l{k}"));
        nameless.hinges.iter_mut().enumerate().for_each(|(k, hinge)| hinge.name = format!("h{k}"));
        let body = RobotBody::of(&Arc::new(nameless)).unwrap();
        let limbs = [&body.limbs.legs[0], body.limbs.arms[0].as_ref().unwrap()];
        for (limb, expected) in limbs.into_iter().zip(expected) {
            let found = [limb.upper, limb.lower, limb.end].map(|link| named.links[link].name.as_str());
            assert_eq!(found, expected, "{file}");
            assert!(limb.side == Side::Left && limb.bends);
        }
        assert_eq!(named.links[body.limbs.pelvis()].name, "pelvis");
        assert_eq!(named.links[body.limbs.torso()].name, "torso_link");
        // Thigh and shin are 0.33 and 0.32 m, the ankle is 4 cm above the sole.
        assert!((body.leg_length - 0.64).abs() < 0.03, "{file}: {}", body.leg_length);
        for sole in body.soles.iter().filter(|sole| sole.measured) {
            assert!((0.02..0.07).contains(&sole.height), "{file}: {}", sole.height);
        }
    }
}

#[test]
fn a_robots_legs_are_as_long_as_a_take_as_they_are_as_a_target() {
    let made = crate::made_walk::shipped("humanoid.xml");
    let real = crate::development_data::data().into_iter().flat_map(|data| {
        ["dcc/robots/mjlab_g1.xml", "later/urdf/unitree_g1_29dof.urdf"].map(|file| data.join(file))
    });
    for path in std::iter::once(made).chain(real) {
        let asset = load(&path, &ImportOptions::default()).unwrap();
        let body = RobotBody::of(asset.character.robot.as_ref().unwrap()).unwrap();
        let (rig, pose) = (&asset.character.rig, asset.character.skeleton().rest_model_pose());
        for (side, limb) in Side::BOTH.into_iter().zip(&body.limbs.legs) {
            let at =
                [Role::UpperLeg(side), Role::LowerLeg(side)].map(|r| pose.position(rig.joint(r).unwrap()));
            let off = ((at[1] - at[0]).norm() - limb.lengths[0]).abs();
            assert!(off < 0.02 * body.leg_length, "{}: the thigh is off by {off} m", path.display());
        }
    }
}

/// The forearm is the last link, and its hinge is at its origin: where it ends is known from its shape alone.
#[test]
fn an_arm_without_a_hand_link_ends_where_its_shape_does() {
    let mut robot = (*robot(&crate::made_walk::shipped("humanoid.xml"))).clone();
    let whole = RobotBody::of(&Arc::new(robot.clone())).unwrap().limbs.arms[0].clone().unwrap();
    assert_eq!(robot.links[whole.lower].name, "left_forearm");
    // The wrists and hands are cut off, which are the last three links and hinges of each arm.
    let gone =
        ["wrist_yaw", "wrist_roll", "hand"].map(|name| [format!("left_{name}"), format!("right_{name}")]);
    let kept: Vec<usize> = (0..robot.links.len())
        .filter(|&k| !gone.iter().flatten().any(|name| *name == robot.links[k].name))
        .collect();
    let place = |link: usize| kept.iter().position(|&k| k == link);
    robot.hinges.retain(|hinge| place(hinge.link).is_some());
    robot.hinges.iter_mut().for_each(|hinge| hinge.link = place(hinge.link).unwrap());
    let links: Vec<_> = kept.iter().map(|&k| robot.links[k].clone()).collect();
    robot.links = links;
    robot.links.iter_mut().for_each(|link| link.parent = link.parent.map(|parent| place(parent).unwrap()));
    let cut = RobotBody::of(&Arc::new(robot.clone())).unwrap().limbs.arms[0].clone().unwrap();
    assert_eq!(robot.links[cut.lower].name, "left_forearm");
    assert!((cut.lower_direction - whole.lower_direction).norm() < 1e-9 && !cut.bends);
}

/// Arms that touch the trunk or the thighs while they hang would be held off it in every walk.
#[test]
fn no_parts_of_the_shipped_robot_touch_while_its_arms_hang() {
    let body = RobotBody::of(&robot(&crate::made_walk::shipped("humanoid.xml"))).unwrap();
    let name = |k: usize| &body.robot.links[body.capsules[k].link].name;
    assert!(!body.pairs.is_empty());
    for &[a, b] in &body.pairs {
        let ends = [a, b].map(|k| {
            let capsule = &body.capsules[k];
            capsule.ends.map(|end| body.zero.links[capsule.link].point(&end))
        });
        let [p, q] = nearest_points_of_segments(&ends[0], &ends[1]);
        let gap = (p - q).norm() - body.capsules[a].radius - body.capsules[b].radius;
        // A centimetre is left to swing.
        assert!(gap > 0.01, "{} and {}: {gap} m", name(a), name(b));
    }
}

/// The shipped robot with some of its text replaced.
fn altered(changes: &[(&str, &str)]) -> Asset {
    let mut text = std::fs::read_to_string(crate::made_walk::shipped("humanoid.xml")).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    from_bytes(text.as_bytes(), "humanoid", Some("xml"), None, &ImportOptions::default()).unwrap()
}

/// A chain of bodies with a hinge each, the first at `at`, the others 3 cm farther along `step`.
fn chain(name: &str, count: usize, at: &str, step: &str) -> String {
    let axes = ["0 1 0", "0 0 1", "1 0 0"];
    let link = |k: usize| {
        let (at, axis) = (if k == 0 { at } else { step }, axes[k % 3]);
        let joint = format!("<joint name=\"{name}{k}_joint\" axis=\"{axis}\" range=\"-30 30\"/>");
        format!("<body name=\"{name}{k}\" pos=\"{at}\">{joint}")
    };
    (0..count).map(link).collect::<String>() + &"</body>".repeat(count)
}

/// The names of the links of all limbs, and the lengths of their segments in micrometres.
fn limbs(asset: &Asset) -> Vec<(Vec<String>, [i64; 2])> {
    let robot = asset.character.robot.as_ref().unwrap();
    let body = RobotBody::of(robot).unwrap();
    let limbs = body.limbs.legs.iter().map(Some).chain(body.limbs.arms.iter().map(Option::as_ref));
    let shown = |limb: &RobotLimb| {
        let links = [limb.base, limb.upper, limb.lower, limb.end];
        let names = links.map(|link| robot.links[link].name.clone()).to_vec();
        (names, limb.lengths.map(|length| (length * 1e6).round() as i64))
    };
    limbs.map(|limb| limb.map_or_else(Default::default, shown)).collect()
}

/// A hand of fingers and a foot of toes end the limb; what is short, or in the middle, or alone, is no arm.
#[test]
fn what_grows_out_of_a_robot_leaves_its_limbs_as_they_are() {
    let plain = limbs(&altered(&[]));
    let after = |link: &str, beside: String| {
        let text = std::fs::read_to_string(crate::made_walk::shipped("humanoid.xml")).unwrap();
        let start = text.find(&format!("<body name=\"{link}\"")).unwrap();
        let end = start + text[start..].find("/>").unwrap() + 2;
        (text[start..end].to_owned(), text[start..end].to_owned() + &beside)
    };
    let both = |part: &str, beside: &dyn Fn(&str) -> String| {
        ["left", "right"].map(|side| after(&format!("{side}_{part}"), beside(side))).to_vec()
    };
    let pair = |side: &str, name: &str, count: usize, at: f64| {
        ["0.02", "-0.02"]
            .map(|y| chain(&format!("{side}_{name}{y}"), count, &format!("{at} {y} 0"), "0.03 0 0"))
            .concat()
    };
    let hand = |side: &str| {
        chain(&format!("{side}_thumb"), 3, "0.06 0.02 0", "0.03 0 0") + &pair(side, "finger", 2, 0.1)
    };
    type Case = (&'static str, Vec<(String, String)>, &'static str);
    let cases: [Case; 9] = [
        (
            "mitten",
            both("hand", &|side| chain(&format!("{side}_mitten"), 1, "0 0 -0.1", "0 0 0")),
            "2 of fingers",
        ),
        (
            "one finger",
            both("hand", &|side| chain(&format!("{side}_f"), 3, "0 0 -0.1", "0 0 -0.03")),
            "6 of fingers",
        ),
        ("gripper", both("hand", &|side| pair(side, "jaw", 1, 0.1)), "4 of fingers"),
        ("fingers", both("hand", &hand), "14 of fingers"),
        ("split toes", both("foot", &|side| pair(side, "toe", 1, 0.1)), "4 of toes"),
        ("toes", both("foot", &|side| chain(&format!("{side}_toe"), 1, "0.1 0 0", "0 0 0")), "2 of toes"),
        (
            "eyes",
            vec![after(
                "chest",
                chain("l", 3, "0.1 0.04 0.45", "0.03 0 0") + &chain("r", 3, "0.1 -0.04 0.45", "0.03 0 0"),
            )],
            "`l0_joint`",
        ),
        ("antenna", vec![after("chest", chain("pack", 3, "-0.2 0.1 0.5", "0 0 0.1"))], "`pack0_joint`"),
        ("tail", vec![after("pelvis", chain("tail", 4, "-0.1 0 -0.1", "-0.1 0 -0.2"))], "`tail0_joint`"),
    ];
    for (case, changes, undriven) in cases {
        let changes: Vec<(&str, &str)> = changes.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let asset = altered(&changes);
        assert_eq!(limbs(&asset), plain, "{case}");
        let soles = RobotBody::of(asset.character.robot.as_ref().unwrap()).unwrap().soles;
        assert!(soles.iter().all(|sole| sole.measured), "{case}: the feet have their boxes");
        let said: Vec<_> = asset.warnings.iter().map(|w| format!("{}: {}", w.code, w.message)).collect();
        let found = said.iter().any(|w| w.starts_with("robot-undriven") && w.contains(undriven));
        assert!(found, "{case}: {said:?}");
    }
}

/// Where a wrist has two hinges, a finger without a fork before it is known by its name, or by sliding.
#[test]
fn a_finger_after_a_short_wrist_is_known_by_its_name_or_by_sliding() {
    let ends = |name: &str, kind: &str| {
        let mut changes = Vec::new();
        for side in ["left", "right"] {
            let wrist = format!("<joint name=\"{side}_wrist_pitch_joint\" axis=\"0 1 0\" range=\"-60 60\"/>");
            let range = if kind == "slide" { "0 0.03" } else { "-60 60" };
            let link = format!(
                "<body name=\"{side}_{name}\" pos=\"0 0 -0.1\"><joint name=\"{side}_{name}_joint\" type=\"{kind}\" axis=\"0 1 0\" \
                 range=\"{range}\"/><geom size=\"0.01\"/></body>"
            );
            changes.push((wrist, link));
        }
        let changes: Vec<(&str, &str)> = changes.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let asset = altered(&changes);
        let names = limbs(&asset).into_iter().skip(2).map(|(names, _)| names[3].clone());
        (names.collect::<Vec<_>>(), asset.warnings.has("robot-undriven"))
    };
    let wrists = vec!["left_wrist_roll".to_owned(), "right_wrist_roll".to_owned()];
    assert_eq!(ends("index_finger", "hinge"), (wrists.clone(), true));
    assert_eq!(ends("jaw", "slide"), (wrists, true));
    // Without a witness it is the third hinge of the wrist.
    assert_eq!(ends("tool", "hinge"), (vec!["left_tool".to_owned(), "right_tool".to_owned()], false));
}

#[test]
fn a_robot_without_arms_is_one_whose_arms_are_missed() {
    let text = std::fs::read_to_string(crate::made_walk::shipped("humanoid.xml")).unwrap();
    let start = text.find("<body name=\"left_shoulder_pitch\"").unwrap();
    let text = text[..start].to_owned() + "</body></body></body></body></worldbody></mujoco>";
    let asset = from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap();
    assert!(limbs(&asset)[2..].iter().all(|arm| arm.0.is_empty()));
    assert!(asset.warnings.has("robot-no-arms"));
    assert!(!altered(&[]).warnings.has("robot-no-arms"));
}

/// Without its elbow an arm is one segment: the line between two hinges of its shoulder is none.
#[test]
fn an_arm_without_an_elbow_is_missed_and_said() {
    let text = std::fs::read_to_string(crate::made_walk::shipped("humanoid.xml")).unwrap();
    let fixed = |line: &&str| {
        !(line.contains("<joint name=\"left_") && ["elbow", "wrist"].iter().any(|part| line.contains(part)))
    };
    let text: Vec<&str> = text.lines().filter(fixed).collect();
    let bytes = text.join("\n").into_bytes();
    let asset = from_bytes(&bytes, "r", Some("xml"), None, &ImportOptions::default()).unwrap();
    let arms: Vec<bool> = limbs(&asset)[2..].iter().map(|arm| arm.0.is_empty()).collect();
    assert_eq!(arms, [true, false]);
    let said = asset.warnings.iter().find(|w| w.code == "robot-no-arms").unwrap();
    assert!(said.message.contains("only the right arm"), "{}", said.message);
}

/// A robot of which only the meshes' names are there: where its forearms end follows from their mass.
#[test]
fn an_arm_whose_last_shape_is_a_mesh_ends_beyond_the_centre_of_its_mass() {
    let arm = |name: &str, y: f64, inertial: &str| {
        let hinge =
            |axis: &str, k: usize| format!("<joint name=\"{name}{k}\" axis=\"{axis}\" range=\"-90 90\"/>");
        format!(
            "<body name=\"{name}_upper\" pos=\"0 {y} 0.5\">{}{}{}<body name=\"{name}_lower\" pos=\"0 0 -0.2\">{inertial}{}</body></body>",
            hinge("0 1 0", 0),
            hinge("1 0 0", 1),
            hinge("0 0 1", 2),
            hinge("0 1 0", 3)
        )
    };
    let text = std::fs::read_to_string(crate::made_walk::shipped("humanoid.xml")).unwrap();
    let armless = &text[..text.find("<body name=\"left_shoulder_pitch\"").unwrap()];
    let lengths = |inertial: &str| {
        let arms = arm("a", 0.2, inertial) + &arm("b", -0.2, inertial);
        let text = format!("{armless}{arms}</body></body></body></body></worldbody></mujoco>");
        let asset = from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap();
        limbs(&asset)[2].1
    };
    assert_eq!(lengths("<inertial pos=\"0.1 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>"), [200_000, 200_000]);
    assert_eq!(lengths(""), [0, 0], "nothing says where the forearm ends");
}

const BASE: &str = "<body name=\"pelvis\" pos=\"0 0 0.74\">";

/// The shipped robot with its base rotated in the file, w x y z.
fn rotated(quat: &str, more: &[(&str, &str)]) -> Asset {
    let base = format!("<body name=\"pelvis\" pos=\"0 0 0.74\" quat=\"{quat}\">");
    altered(&[&[(BASE, base.as_str())], more].concat())
}

/// Yaw, lying on the back and on a side, upside down, and Y up: each is turned to where the shipped robot looks.
#[test]
fn a_base_that_does_not_stand_and_look_to_the_front_is_turned() {
    let plain = altered(&[]);
    let nameless = [("left_", "a"), ("right_", "b")];
    for (quat, code) in [
        ("1 0 0 0", None),
        ("0.99999 0 0 0.00001", None),
        ("0.965925826 0 0 0.258819045", Some("robot-front")),
        ("0.707106781 0 0 0.707106781", Some("robot-front")),
        ("0 0 0 1", Some("robot-front")),
        ("0.707106781 0 0.707106781 0", Some("robot-upright")),
        ("0.707106781 0.707106781 0 0", Some("robot-upright")),
        ("0.5 0.5 0.5 0.5", Some("robot-upright")),
        ("0 1 0 0", Some("robot-upright")),
        ("0 0 1 0", Some("robot-upright")),
    ] {
        for more in [&[][..], &nameless] {
            let asset = rotated(quat, more);
            let robot = asset.character.robot.as_ref().unwrap();
            if more.is_empty() {
                assert_eq!(limbs(&asset), limbs(&plain), "{quat}");
            }
            let (body, expected) =
                (RobotBody::of(robot).unwrap(), RobotBody::of(plain.character.robot.as_ref().unwrap()));
            let expected = expected.unwrap();
            for (link, other) in body.zero.links.iter().zip(&expected.zero.links) {
                assert!((link.translation - other.translation).norm() < 1e-4, "{quat} {more:?}");
            }
            let codes: Vec<_> =
                asset.warnings.iter().map(|w| w.code).filter(|c| *c != "robot-undriven").collect();
            assert_eq!(codes, code.into_iter().collect::<Vec<_>>(), "{quat} {more:?}");
        }
    }
}

/// Names that say nothing, or are those of lumbar vertebrae by chance (`l1` to `l5`), in whatever axes the base has.
#[test]
fn a_robot_whose_names_say_nothing_does_not_stand_on_its_arms() {
    let Some(data) = crate::development_data::data() else { return };
    let file = data.join("later/urdf/unitree_g1_29dof.urdf");
    let (text, plain) = (std::fs::read_to_string(&file).unwrap(), robot(&file));
    let turns = ["1.570796 0 0", "-1.570796 0 0", "0 1.570796 0", "0 -1.570796 0", "3.141593 0 0", "0 0 1"];
    for (name, rpy) in turns.map(|rpy| ("part", rpy)).into_iter().chain([("l", "0 0 0")]) {
        let mut named = text.clone();
        for (k, link) in
            text.split("<link name=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).enumerate()
        {
            named = named.replace(&format!("\"{link}\""), &format!("\"{name}{k}\""));
        }
        let mount = format!(
            "<link name=\"mount\"/><joint name=\"mount\" type=\"fixed\"><parent link=\"mount\"/><child link=\"{name}1\"/>\
             <origin rpy=\"{rpy}\"/></joint></robot>"
        );
        // The first link is in a comment.
        let named = named
            .replace("</robot>", &mount)
            .replace("_joint\"", "\"")
            .replace("left_", "a")
            .replace("right_", "b");
        let asset =
            from_bytes(named.as_bytes(), "g1", Some("urdf"), None, &ImportOptions::default()).unwrap();
        let (body, own) =
            (RobotBody::of(asset.character.robot.as_ref().unwrap()).unwrap(), RobotBody::of(&plain).unwrap());
        assert!((body.leg_length - own.leg_length).abs() < 1e-6, "{name} {rpy}: {}", body.leg_length);
        assert!(body.limbs.arms.iter().all(Option::is_some), "{name} {rpy}");
    }
}

/// Feet and knees outvote names; feet and knees that contradict each other leave the base as it is. Both are said.
#[test]
fn witnesses_of_the_front_that_contradict_each_other_are_reported() {
    let mirrored = [("left_", "swap_"), ("right_", "left_"), ("swap_", "right_")];
    let asset = rotated("1 0 0 0", &mirrored);
    assert!(asset.warnings.has("robot-sides"));
    let body = RobotBody::of(asset.character.robot.as_ref().unwrap()).unwrap();
    assert!(body.limbs.legs[0].root.y > 0.0 && body.zero.links[0].rotation.angle() < 1e-9);
    let backwards = [("pos=\"0.045 0 -0.018\"", "pos=\"-0.045 0 -0.018\""), ("left_", "a"), ("right_", "b")];
    let asset = rotated("1 0 0 0", &backwards);
    assert!(asset.warnings.has("robot-sides"));
}

#[test]
fn legs_that_are_named_as_arms_are_reported() {
    let legs = [
        ("thigh", "upperarm"),
        ("shin", "fore_arm"),
        ("ankle", "wrist_"),
        ("foot", "hand_"),
        ("hip", "shoulder_"),
    ];
    assert!(altered(&legs).warnings.has("robot-names"));
    assert!(!altered(&[]).warnings.has("robot-names"));
}

#[test]
fn four_legs_are_refused_with_the_reason() {
    let leg = |name: &str, x: f64, y: f64| {
        let hinge =
            |k: usize, axis: &str| format!("<joint name=\"{name}{k}\" axis=\"{axis}\" range=\"-90 90\"/>");
        format!(
            "<body name=\"{name}\" pos=\"{x} {y} 0\">{}{}<body name=\"{name}_shin\" pos=\"0 0 -0.2\">{}<body name=\"{name}_foot\" pos=\"0 0 -0.2\">\
             <geom size=\"0.02\"/></body></body></body>",
            hinge(0, "1 0 0"),
            hinge(1, "0 1 0"),
            hinge(2, "0 1 0")
        )
    };
    let legs = [(0.2, 0.1), (0.2, -0.1), (-0.2, 0.1), (-0.2, -0.1)];
    let legs: String = legs.iter().enumerate().map(|(k, (x, y))| leg(&format!("leg{k}"), *x, *y)).collect();
    let text =
        format!("<mujoco><worldbody><body name=\"trunk\"><freejoint/>{legs}</body></worldbody></mujoco>");
    let asset = from_bytes(text.as_bytes(), "dog", Some("xml"), None, &ImportOptions::default()).unwrap();
    let robot = asset.character.robot.clone().unwrap();
    let error = crate::robot_retarget::RobotRetarget::new(&robot).unwrap_err().to_string();
    assert!(error.contains("four legs"), "{error}");
}

/// Arms that hang reach down as legs do: a robot that ends at the waist would stand on its hands.
#[test]
fn a_robot_that_is_an_upper_body_is_refused_and_not_stood_on_its_arms() {
    let text = std::fs::read_to_string(crate::made_walk::shipped("humanoid.xml")).unwrap();
    let [legs, trunk] =
        ["left_hip_pitch", "waist_yaw"].map(|body| text.find(&format!("<body name=\"{body}\"")).unwrap());
    let upper = text[..legs].to_owned() + &text[trunk..];
    let refused = |text: &str| {
        let asset = from_bytes(text.as_bytes(), "r", Some("xml"), None, &ImportOptions::default()).unwrap();
        let robot = asset.character.robot.clone().unwrap();
        crate::robot_retarget::RobotRetarget::new(&robot).err().map(|error| error.to_string())
    };
    assert!(refused(&upper).unwrap().contains("two limbs are arms"));
    assert_eq!(refused(&text), None);
}

/// Upside down its arms reach down and have an elbow each.
#[test]
fn a_robot_without_a_knee_is_refused_and_not_stood_on_its_arms() {
    let Some(data) = crate::development_data::data() else { return };
    let text = std::fs::read_to_string(data.join("later/mjcf/unitree_g1_mocap_29dof.xml")).unwrap();
    for knees in [&["left_knee_joint"][..], &["right_knee_joint"], &["left_knee_joint", "right_knee_joint"]] {
        let fixed = |line: &&str| !knees.iter().any(|knee| line.contains(knee));
        let bytes = text.lines().filter(fixed).collect::<Vec<_>>().join("\n").into_bytes();
        let asset = from_bytes(&bytes, "g1", Some("xml"), None, &ImportOptions::default()).unwrap();
        let robot = asset.character.robot.clone().unwrap();
        let error = crate::robot_retarget::RobotRetarget::new(&robot).unwrap_err().to_string();
        assert!(error.contains("a leg has no knee"), "{knees:?}: {error}");
    }
}

/// Y up in the file, arms that end in a fork of fingers, clavicles of two hinges, names that witness it.
#[test]
fn the_humanoid_of_dm_control_has_the_limbs_that_its_names_say() {
    let Some(data) = crate::development_data::data() else { return };
    let asset =
        load(data.join("later/mjcf/dm_control-humanoid_CMU_V2020.xml"), &ImportOptions::default()).unwrap();
    let names: Vec<_> = limbs(&asset).into_iter().map(|(names, _)| names[1..].join(" ")).collect();
    let expected = |side: &str| {
        [format!("{side}femur {side}tibia {side}foot"), format!("{side}humerus {side}radius {side}hand")]
    };
    let [[a, b], [c, d]] = [expected("l"), expected("r")];
    assert_eq!(names, [a, c, b, d]);
    assert!(asset.warnings.has("robot-upright") && !asset.warnings.has("robot-names"));
}

/// Legs that are spread in the zero pose have soles that are not level.
#[test]
fn a_sole_is_the_same_however_its_foot_is_tilted_in_the_zero_pose() {
    let plain = RobotBody::of(&robot(&crate::made_walk::shipped("humanoid.xml"))).unwrap();
    let mut tilted = (*plain.robot).clone();
    let turn = Quat::from_axis_angle(&Vec3::y_axis(), 0.2) * Quat::from_axis_angle(&Vec3::x_axis(), 0.15);
    for sole in &plain.soles {
        tilted.links[sole.link].parent_from_link.rotation *= turn;
    }
    let tilted = RobotBody::of(&Arc::new(tilted)).unwrap();
    for (own, other) in plain.soles.iter().zip(&tilted.soles) {
        assert_eq!(own.level, Quat::identity());
        assert!((other.level.angle() - turn.angle()).abs() < 0.01, "{}", other.level.angle());
        for corner in other.corners {
            let near = own.corners.iter().map(|known| (known - corner).norm()).fold(f64::MAX, f64::min);
            assert!(near < 0.005, "a corner is {near} m off");
        }
        assert!((own.height - other.height).abs() < 0.002, "{} {}", own.height, other.height);
    }
}
