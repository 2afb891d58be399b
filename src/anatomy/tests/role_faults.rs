//! Faults that detection of roles had, each on a body made for it.

use super::super::on_four_legs;
use super::shape_bodies::{Made, expect_person, person, without_extremities};
use posemill::anatomy::{DetectedRig, JointNames, ShapeEvidence, Vocabulary, detect_roles_from};
use posemill::math::{Vec3, exp};
use posemill::model::{Clip, Pose, Rig, Role, Side, Skeleton};

fn detected(skeleton: Skeleton, evidence: &ShapeEvidence) -> DetectedRig {
    let rest = skeleton.rest_model_pose();
    let names = JointNames::of(&skeleton, Vocabulary::built_in());
    detect_roles_from(&names, skeleton, &rest, &[], Some(evidence))
}

fn named(rig: &Rig, role: Role) -> String {
    rig.joint(role).map_or_else(|| "none".into(), |id| rig.skeleton().joint(id).name.clone())
}

/// The joints of both legs of an animal with a hip bone, by their names without a side: hip bone and thigh are as long as thigh and
/// shin of a person, so that the shape takes the joint of the thigh for the knee.
const PAWS: [(&str, [f64; 3]); 5] = [
    ("Hip", [0.08, 1.0, 0.0]),
    ("Thigh", [0.1, 0.62, 0.0]),
    ("Shin", [0.1, 0.24, 0.0]),
    ("Foot", [0.1, 0.09, 0.0]),
    ("Toe", [0.1, 0.02, 0.05]),
];

/// An upright animal that walks on its toes and faces -Z, and the rotations about its left of thigh, shin and foot as it
/// crouches: the thigh swings forwards, the knee bends backwards, the hock forwards.
fn digitigrade() -> (Made, Clip) {
    let mut m = Made::default();
    m.add("Hips", None, [0.0, 1.0, 0.0]);
    m.chain("Spine", "Hips", &[[0.0, 1.15, 0.0], [0.0, 1.35, 0.0]]);
    m.add("Neck", Some("Spine1"), [0.0, 1.5, 0.0]);
    m.add("Head", Some("Neck"), [0.0, 1.6, -0.02]);
    for (side, sign) in [("Left", -1.0), ("Right", 1.0)] {
        let mut above = "Hips".to_owned();
        for (part, [x, y, z]) in PAWS {
            let name = format!("{side}{part}");
            m.add(&name, Some(&above), [sign * x, y, -z]);
            above = name;
        }
        let mut above = "Spine1".to_owned();
        for (part, at) in
            [("UpperArm", [0.2, 1.4, 0.0]), ("ForeArm", [0.45, 1.4, 0.0]), ("Hand", [0.7, 1.4, 0.0])]
        {
            let name = format!("{side}{part}");
            m.add(&name, Some(&above), [sign * at[0], at[1], at[2]]);
            above = name;
        }
    }
    let skeleton = m.skeleton(|_, what| what.to_owned());
    let poses: Vec<Pose> = (0..40)
        .map(|frame| {
            let mut pose = skeleton.rest_pose();
            for side in ["Left", "Right"] {
                for (part, angle) in [("Thigh", -1.6), ("Shin", 1.2), ("Foot", -0.6)] {
                    let id = skeleton.find(&format!("{side}{part}")).unwrap();
                    let angle = angle * f64::from(frame) / 40.0;
                    pose.local_mut()[id.index()].rotation = exp(&(Vec3::x() * -angle));
                }
            }
            pose
        })
        .collect();
    let clip = Clip::from_poses("crouch", 30.0, &skeleton, &poses);
    (m, clip)
}

#[test]
fn limbs_without_names_are_found_beside_two_named_shoulders() {
    let m = person();
    // `Shoulder` may be the collar bone or the upper arm; no other joint of a limb has a name.
    let name = |n: usize, what: &str| match what {
        "l_arm0" => "LeftShoulder".to_owned(),
        "r_arm0" => "RightShoulder".to_owned(),
        _ if what.contains("arm") || what.contains("leg") => format!("q{n}"),
        "neck1" => "Head".to_owned(),
        _ => what.to_owned(),
    };
    let rig = detected(m.skeleton(name), &ShapeEvidence::default()).rig;
    for (side, s) in [(Side::Left, "l"), (Side::Right, "r")] {
        for (role, what) in [
            (Role::Clavicle(side), "arm0"),
            (Role::UpperArm(side), "arm1"),
            (Role::Hand(side), "arm3"),
            (Role::UpperLeg(side), "leg0"),
            (Role::Foot(side), "leg2"),
        ] {
            let found = rig.joint(role).map(|id| m.0[id.index()].0.as_str());
            assert_eq!(found, Some(format!("{s}_{what}").as_str()), "{role}");
        }
    }
}

#[test]
fn right_names_of_an_animal_on_its_toes_keep_their_sides() {
    let (m, clip) = digitigrade();
    let evidence = ShapeEvidence { mass: None, clip: Some(&clip), ..Default::default() };
    // By shape alone the hip is a knee, which shows the wrong front.
    let blind = detected(m.skeleton(|n, _| format!("b{n:04}")), &evidence);
    let knee = blind.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
    assert_eq!(m.0[knee.index()].0, "RightThigh", "the test has no effect");
    let found = detected(m.skeleton(|_, what| what.to_owned()), &evidence);
    assert!(!found.warnings.has("sides-swapped"));
    assert_eq!(named(&found.rig, Role::LowerLeg(Side::Left)), "LeftShin");
    assert_eq!(named(&found.rig, Role::Foot(Side::Right)), "RightFoot");
    assert_eq!(named(&found.rig, Role::Hand(Side::Right)), "RightHand");
}

#[test]
fn joints_without_skin_below_the_foot_are_no_toes() {
    // The toes of a file that a tool has exported: leaf nodes without skin, behind the heels.
    let mut m = person();
    let toes = m.0.iter().position(|j| j.0 == "l_leg3").unwrap();
    let mirrored = m.0.iter().position(|j| j.0 == "r_leg3").unwrap();
    for k in [toes, mirrored] {
        m.0[k].2.z = -0.25;
    }
    m.chains("pole", ["l_leg2", "r_leg2"], &[[0.1, 0.09, -0.3]]);
    let words = |n: usize, what: &str| {
        let side = if what.starts_with("l_") { "left" } else { "right" };
        match what.split_once('_').map_or(what, |w| w.1) {
            "leg0" => format!("{side}_thigh"),
            "leg1" => format!("{side}_shin"),
            "leg2" => format!("{side}_foot"),
            "arm1" => format!("{side}_upper_arm"),
            "arm2" => format!("{side}_forearm"),
            "arm3" => format!("{side}_hand"),
            _ => format!("b{n:04}"),
        }
    };
    // The feet are rigid: the shins move their skin.
    let bare = |what: &str| ["leg2", "leg3", "pole0"].iter().any(|end| what.ends_with(end));
    let mass: Vec<f64> = m.0.iter().map(|j| if bare(&j.0) { 0.0 } else { 1.0 }).collect();
    let evidence = ShapeEvidence { mass: Some(&mass), clip: None, ..Default::default() };
    let found = detected(m.skeleton(words), &evidence);
    assert!(!found.warnings.has("sides-swapped"));
    assert_eq!(named(&found.rig, Role::LowerLeg(Side::Left)), "left_shin");
    assert_eq!(found.rig.joint(Role::Toes(Side::Left)), None);
}

#[test]
fn ends_of_bones_that_a_tool_has_turned_around_do_not_exchange_the_sides_of_names() {
    // Blender writes leaf nodes without skin of a glTF behind their joints.
    let m = without_extremities(3);
    let words = |_: usize, what: &str| match what.split_once('_') {
        Some((side, part)) if part.starts_with("leg") => {
            format!(
                "{}.{}",
                ["UpperLeg", "LowerLeg", "Foot"][usize::from(part.as_bytes()[3] - b'0')],
                side.to_uppercase()
            )
        }
        Some((side, part)) => {
            format!(
                "{}.{}",
                ["Shoulder", "UpperArm", "LowerArm", "Hand"][usize::from(part.as_bytes()[3] - b'0')],
                side.to_uppercase()
            )
        }
        None => what.to_owned(),
    };
    let mut joints = m.skeleton(words).joints().to_vec();
    for joint in joints.iter_mut().filter(|joint| joint.name.starts_with("Foot")) {
        joint.tip = Some(Vec3::new(0.0, -0.02, -0.27));
    }
    let mass = vec![1.0; joints.len()];
    let evidence = ShapeEvidence { mass: Some(&mass), ..Default::default() };
    let found = detected(Skeleton::new(joints.clone()).unwrap(), &evidence);
    assert!(!found.warnings.has("sides-swapped"), "{:?}", found.warnings);
    assert_eq!(named(&found.rig, Role::LowerLeg(Side::Left)), "LowerLeg.L");
    // Without a skin the ends are all that shows where feet point.
    let found = detected(Skeleton::new(joints).unwrap(), &ShapeEvidence::default());
    assert!(found.warnings.has("sides-swapped"));
}

#[test]
fn toes_of_a_figure_of_rigid_parts_need_no_part() {
    let m = person();
    let mass: Vec<f64> = m.0.iter().map(|j| if j.0.ends_with("leg3") { 0.0 } else { 1.0 }).collect();
    for rigid in [true, false] {
        let evidence = ShapeEvidence { mass: Some(&mass), rigid, ..Default::default() };
        let found = detected(m.skeleton(|n, _| format!("b{n:04}")), &evidence);
        let toes = found.rig.joint(Role::Toes(Side::Left)).map(|id| m.0[id.index()].0.as_str());
        assert_eq!(toes, rigid.then_some("l_leg3"));
    }
}

#[test]
fn a_role_that_a_name_only_guesses_is_told() {
    for (thigh, told) in [("thigh", false), ("jambe.001", true)] {
        let words = |n: usize, what: &str| {
            let side = if what.starts_with("l_") { "gauche" } else { "droite" };
            match what.split_once('_').map_or(what, |w| w.1) {
                "leg0" => format!("{thigh}.{side}"),
                "leg1" => format!("jambe.{side}"),
                "leg2" => format!("pied.{side}"),
                _ => format!("b{n:04}"),
            }
        };
        let m = person();
        let rest = m.skeleton(words);
        let names = JointNames::of(&rest, Vocabulary::built_in());
        let pose = rest.rest_model_pose();
        let found = detect_roles_from(&names, rest, &pose, &[], None);
        assert_eq!(
            found.warnings.has("roles-doubtful"),
            told,
            "{:?}",
            found.rig.assignments().collect::<Vec<_>>()
        );
    }
}

#[test]
fn tips_are_recognised_before_joints_are_counted() {
    // No names, no skin, no end markers: one more joint at the end of every chain.
    let mut m = person();
    for k in 1..=4 {
        let z = 0.05 - 0.02 * f64::from(k);
        m.chains(
            &format!("tip{k}_"),
            [&format!("l_finger{k}_2"), &format!("r_finger{k}_2")],
            &[[0.865, 1.45, z]],
        );
    }
    m.chains("thumb_tip", ["l_thumb2", "r_thumb2"], &[[0.775, 1.4, 0.085]]);
    m.chains("toe_tip", ["l_leg3", "r_leg3"], &[[0.1, 0.02, 0.2]]);
    m.add("head_leaf", Some("neck1"), [0.0, 1.75, 0.02]);
    expect_person(&m, "tips");
}

#[test]
fn a_beak_is_no_arm() {
    let mut m = Made::default();
    m.add("body", None, [0.0, 0.5, 0.0]);
    m.chain("neck", "body", &[[0.0, 0.6, 0.1], [0.0, 0.7, 0.15], [0.0, 0.8, 0.2]]);
    for (side, sign) in [("l", 1.0), ("r", -1.0)] {
        let mut above = "body".to_owned();
        for (k, y, z) in [(0, 0.45, 0.0), (1, 0.3, 0.06), (2, 0.1, -0.04), (3, 0.02, 0.06)] {
            let name = format!("{side}{k}");
            m.add(&name, Some(&above), [sign * 0.08, y, z]);
            above = name;
        }
        let mut above = "neck2".to_owned();
        for (k, z) in [(0, 0.25), (1, 0.45), (2, 0.65)] {
            let name = format!("mouth_{side}_{k}");
            m.add(&name, Some(&above), [sign * 0.05, 0.8, z]);
            above = name;
        }
    }
    let found = detected(m.skeleton(|_, what| what.to_owned()), &ShapeEvidence::default());
    for side in Side::BOTH {
        assert_eq!(
            found.rig.joint(Role::UpperArm(side)),
            None,
            "{}",
            named(&found.rig, Role::UpperArm(side))
        );
    }
}

#[test]
fn a_fist_is_a_hand() {
    let names = ["Fist.L", "UpperArm.L", "LowerArm.L"].map(|n| n.to_owned());
    let mut m = Made::default();
    m.add("Hips", None, [0.0, 1.0, 0.0]);
    m.add("Chest", Some("Hips"), [0.0, 1.3, 0.0]);
    m.add(&names[1], Some("Chest"), [0.2, 1.4, 0.0]);
    m.add(&names[2], Some(&names[1]), [0.45, 1.4, 0.0]);
    m.add(&names[0], Some(&names[2]), [0.7, 1.4, 0.0]);
    let found = detected(m.skeleton(|_, what| what.to_owned()), &ShapeEvidence::default());
    assert_eq!(named(&found.rig, Role::Hand(Side::Left)), "Fist.L");
}

#[test]
fn short_arms_are_no_forelegs() {
    // A Tyrannosaurus: level trunk, two legs, arms a quarter as long.
    let mut m = Made::default();
    m.add("Pelvis", None, [0.0, 3.0, 0.0]);
    m.chain("Spine", "Pelvis", &[[0.0, 3.1, 0.8], [0.0, 3.2, 1.6]]);
    m.add("Neck", Some("Spine1"), [0.0, 3.6, 2.2]);
    m.add("Head", Some("Neck"), [0.0, 4.0, 2.6]);
    for (side, sign) in [("Left", 1.0), ("Right", -1.0)] {
        let chain = |m: &mut Made, above: &str, parts: &[(&str, [f64; 3])]| {
            let mut above = above.to_owned();
            for (part, [x, y, z]) in parts {
                let name = format!("{side}{part}");
                m.add(&name, Some(&above), [sign * x, *y, *z]);
                above = name;
            }
        };
        chain(
            &mut m,
            "Pelvis",
            &[("Thigh", [0.4, 2.9, 0.0]), ("Shin", [0.4, 1.8, 0.5]), ("Foot", [0.4, 0.6, -0.1])],
        );
        chain(
            &mut m,
            "Spine1",
            &[("UpperArm", [0.4, 2.8, 1.6]), ("ForeArm", [0.4, 2.5, 1.7]), ("Hand", [0.4, 2.3, 1.8])],
        );
    }
    let skeleton = m.skeleton(|_, what| what.to_owned());
    let rest = skeleton.rest_model_pose();
    let found = detected(skeleton, &ShapeEvidence::default());
    assert_eq!(named(&found.rig, Role::Hand(Side::Left)), "LeftHand");
    assert!(!on_four_legs(&found.rig, &rest));
}

#[test]
fn a_half_whose_names_have_left_and_right_exchanged_is_found() {
    let m = person();
    let words = |swapped: &'static str| {
        move |n: usize, what: &str| {
            let Some((side, part)) = what.split_once('_') else { return what.to_owned() };
            let name = match part {
                "leg0" => "UpLeg",
                "leg1" => "Leg",
                "leg2" => "Foot",
                "leg3" => "ToeBase",
                "arm0" => "Shoulder",
                "arm1" => "Arm",
                "arm2" => "ForeArm",
                "arm3" => "Hand",
                _ => return format!("b{n:04}"),
            };
            let left = (side == "l") != part.starts_with(swapped);
            format!("{}{name}", if left { "Left" } else { "Right" })
        }
    };
    let joint = |found: &DetectedRig, role: Role| m.0[found.rig.joint(role).unwrap().index()].0.clone();
    for swapped in ["none", "leg", "arm"] {
        let found = detected(m.skeleton(words(swapped)), &ShapeEvidence::default());
        assert_eq!(found.warnings.has("sides-swapped"), swapped != "none", "{swapped}: {:?}", found.warnings);
        for (side, s) in [(Side::Left, "l"), (Side::Right, "r")] {
            for (role, what) in [
                (Role::UpperLeg(side), "leg0"),
                (Role::Foot(side), "leg2"),
                (Role::UpperArm(side), "arm1"),
                (Role::Hand(side), "arm3"),
            ] {
                assert_eq!(joint(&found, role), format!("{s}_{what}"), "{swapped}: {role}");
            }
        }
    }
}
