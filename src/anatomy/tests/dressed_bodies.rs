//! Named bodies with what characters wear and carry, with helper joints, and with other roots: each is whole.

use super::shape_bodies::{Made, expect_person, person};
use posemill::anatomy::{DetectedRig, JointNames, ShapeEvidence, Vocabulary, detect_roles_from};
use posemill::model::{Role, Side, Skeleton};

/// The name of a joint of `person`, with a word for its part, and `L` or `R` for the left and right of the name.
fn name(what: &str, [left, right]: [&str; 2]) -> String {
    let (side, part) = match what.split_once('_') {
        Some(("l", part)) => (format!("_{left}"), part),
        Some(("r", part)) => (format!("_{right}"), part),
        _ => (String::new(), what),
    };
    let word = match part {
        "hips" => "Pelvis",
        "leg0" => "Thigh",
        "leg1" => "Shin",
        "leg2" => "Foot",
        "leg3" => "Toes",
        "arm0" => "Clavicle",
        "arm1" => "UpperArm",
        "arm2" => "Forearm",
        "arm3" => "Hand",
        "neck0" => "Neck",
        "neck1" => "Head",
        other => other,
    };
    format!("{word}{side}")
}

/// Detects the roles; a first joint called `Root` is the one that import adds to files of several roots.
fn detected(m: &Made, sides: [&str; 2]) -> DetectedRig {
    let mut joints = m.skeleton(|_, what| name(what, sides)).joints().to_vec();
    joints[0].file_name.take_if(|name| name == "Root");
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = skeleton.rest_model_pose();
    let names = JointNames::of(&skeleton, Vocabulary::built_in());
    detect_roles_from(&names, skeleton, &rest, &[], Some(&ShapeEvidence::default()))
}

/// Every core role is on its joint and no other joint has one; the sides may be exchanged in the names.
fn expect_whole(m: &Made, case: &str, sides: [&str; 2]) -> DetectedRig {
    let found = detected(m, sides);
    let what = |role: Role| found.rig.joint(role).map_or("none", |id| m.0[id.index()].0.as_str());
    let mut wanted = vec![
        (Role::Hips, "hips".to_owned()),
        (Role::Head, "neck1".to_owned()),
        (Role::Neck(0), "neck0".to_owned()),
        (Role::Spine(0), "spine0".to_owned()),
        (Role::Spine(2), "spine2".to_owned()),
    ];
    for (side, s) in [(Side::Left, "l"), (Side::Right, "r")] {
        for (k, role) in [Role::UpperLeg, Role::LowerLeg, Role::Foot, Role::Toes].into_iter().enumerate() {
            wanted.push((role(side), format!("{s}_leg{k}")));
        }
        for (k, role) in [Role::Clavicle, Role::UpperArm, Role::LowerArm, Role::Hand].into_iter().enumerate()
        {
            wanted.push((role(side), format!("{s}_arm{k}")));
        }
    }
    for (role, joint) in &wanted {
        assert_eq!(what(*role), joint, "{case}: {role}");
    }
    let finger = |role: &Role| matches!(role, Role::Finger(..));
    let more = found.rig.assignments().filter(|(role, _)| !finger(role) && *role != Role::Spine(1));
    assert_eq!(more.count(), wanted.len(), "{case}: {:?}", found.rig.assignments().collect::<Vec<_>>());
    found
}

/// Moves the children of a joint below another one.
fn hang(m: &mut Made, children: &[&str], below: &str) {
    let at = m.0.iter().position(|j| j.0 == below).unwrap();
    m.0.iter_mut().filter(|j| children.contains(&j.0.as_str())).for_each(|j| j.1 = Some(at));
}

/// Puts a new joint between a joint and its parent.
fn put_before(m: &mut Made, new: &str, child: &str, at: [f64; 3]) {
    let k = m.0.iter().position(|j| j.0 == child).unwrap();
    let above = m.0[k].1;
    m.0.insert(k, (new.to_owned(), above, at.into()));
    m.0[k + 1..].iter_mut().filter(|j| j.1 >= Some(k)).for_each(|j| j.1 = j.1.map(|p| p + 1));
    m.0[k + 1].1 = Some(k);
}

#[test]
fn a_skirt_is_no_pair_of_legs() {
    let mut m = person();
    for (k, angle) in [0.3, 1.2, 2.0, 2.8].into_iter().enumerate() {
        let (x, z) = (0.2 * f64::sin(angle), 0.2 * f64::cos(angle));
        let cloth: Vec<[f64; 3]> = (0..4).map(|n| [x, 0.95 - 0.2 * f64::from(n), z]).collect();
        m.chains(&format!("Skirt_{k}_"), ["hips", "hips"], &cloth);
    }
    expect_whole(&m, "a skirt", ["L", "R"]);
}

#[test]
fn weapons_are_no_hands() {
    let mut m = person();
    m.chain("Sword", "r_arm3", &[[-0.75, 1.45, 0.05], [-0.75, 1.45, 0.5], [-0.75, 1.45, 1.0]]);
    m.chain("Hand_Shield", "l_arm3", &[[0.72, 1.4, 0.0], [0.72, 1.2, 0.0]]);
    m.chain("Bow_Upper", "l_arm2", &[[0.5, 1.6, 0.0], [0.5, 1.9, 0.0]]);
    m.chain("Weapon_R", "spine2", &[[-0.1, 1.3, -0.2], [-0.1, 1.0, -0.2]]);
    expect_whole(&m, "weapons", ["L", "R"]);
}

/// A person below the last joint of `m`, with the spine beside the pelvis.
fn pelvis_beside_spine(mut m: Made) -> Made {
    let (first, top) = (m.0.len(), m.0[m.0.len() - 1].0.clone());
    let moved = |a: Option<usize>| Some(a.map_or(first - 1, |a| a + first));
    m.0.extend(person().0.into_iter().map(|(what, above, at)| (what, moved(above), at)));
    hang(&mut m, &["spine0"], &top);
    m
}

#[test]
fn a_centre_of_mass_carries_pelvis_and_spine() {
    let mut m = Made::default();
    m.add("Root", None, [0.0; 3]);
    m.add("COM", Some("Root"), [0.0, 1.0, 0.0]);
    expect_whole(&pelvis_beside_spine(m), "a centre of mass", ["L", "R"]);
}

#[test]
fn pelvis_and_spine_that_are_both_roots_of_the_file_are_one_body() {
    let mut m = Made::default();
    m.add("Root", None, [0.0; 3]);
    let m = pelvis_beside_spine(m);
    expect_whole(&m, "two roots", ["L", "R"]);
    expect_person(&m, "two roots without names");
}

#[test]
fn twist_and_helper_joints_are_no_parts() {
    let mut m = person();
    m.chains("UpperArm_Twist", ["l_arm1", "r_arm1"], &[[0.3, 1.45, -0.025]]);
    m.chains("Forearm_Twist", ["l_arm2", "r_arm2"], &[[0.57, 1.45, -0.025]]);
    m.chains("Thigh_Twist", ["l_leg0", "r_leg0"], &[[0.1, 0.7, 0.0]]);
    m.chains("Knee_Helper", ["l_leg0", "r_leg0"], &[[0.1, 0.52, 0.05]]);
    m.chains("IK_Foot", ["hips", "hips"], &[[0.1, 0.09, -0.02]]);
    m.chains("IK_Hand", ["hips", "hips"], &[[0.7, 1.45, -0.02]]);
    // The second half of a bone, in line.
    for (foot, x) in [("l_leg2", 0.1), ("r_leg2", -0.1)] {
        put_before(&mut m, &format!("{}_Shin_Twist", &foot[..1]), foot, [x, 0.3, 0.0]);
    }
    expect_whole(&m, "helpers", ["L", "R"]);
}

#[test]
fn names_on_the_other_side_are_told_and_the_sides_of_the_body_used() {
    let m = person();
    let right = expect_whole(&m, "right names", ["L", "R"]);
    assert!(!right.warnings.has("sides-swapped"));
    let mirrored = expect_whole(&m, "mirrored names", ["R", "L"]);
    assert!(mirrored.warnings.has("sides-swapped"));
}

#[test]
fn sides_that_the_shape_contradicts_less_clearly_are_those_of_the_names_with_a_warning() {
    // Feet that point down show no front: thumbs and knees remain.
    let mut m = person();
    m.0.iter_mut().filter(|j| j.0.ends_with("_leg3")).for_each(|j| j.2.z = -0.02);
    for (sides, said) in [(["L", "R"], false), (["R", "L"], true)] {
        let found = detected(&m, sides);
        assert!(!found.warnings.has("sides-swapped"));
        assert_eq!(found.warnings.has("sides-doubtful"), said, "{sides:?}");
        let shin = found.rig.joint(Role::LowerLeg(Side::Left)).unwrap();
        assert_eq!(m.0[shin.index()].0, if said { "r_leg1" } else { "l_leg1" });
    }
}
