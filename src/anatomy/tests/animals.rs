//! Animals: the roles that they have, and which of them may take the motion of which.

use super::shape_bodies::{Made, animal, person};
use posemill::anatomy::{DetectedRig, JointNames, ShapeEvidence, Vocabulary, detect_roles_from};
use posemill::model::{Character, Clip, Motion, Role, Side};
use posemill::retarget::{MapError, Retarget, RootScale, map, postures_differ};
use std::sync::Arc;

fn detected(m: &Made) -> DetectedRig {
    let skeleton = m.skeleton(|_, what| what.to_owned());
    let rest = skeleton.rest_model_pose();
    let names = JointNames::of(&skeleton, Vocabulary::built_in());
    detect_roles_from(&names, skeleton, &rest, &[], Some(&ShapeEvidence::default()))
}

fn expect(m: &Made, wanted: &[(Role, &str)]) {
    let rig = detected(m).rig;
    for (role, joint) in wanted {
        let found = rig.joint(*role).map_or("none", |id| m.0[id.index()].0.as_str());
        assert_eq!(found, *joint, "{role}");
    }
}

/// Chains on both sides, each joint with its name before the side.
fn limbs(m: &mut Made, above: &str, parts: &[(&str, [f64; 3])]) {
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        let mut above = above.to_owned();
        for (part, [x, y, z]) in parts {
            let name = format!("{part}_{side}");
            m.add(&name, Some(&above), [sign * x, *y, *z]);
            above = name;
        }
    }
}

/// A Tyrannosaurus: level trunk, two legs, arms a quarter as long.
fn tyrannosaurus() -> Made {
    let mut m = Made::default();
    m.add("Pelvis", None, [0.0, 3.0, 0.0]);
    m.chain("Spine", "Pelvis", &[[0.0, 3.1, 0.8], [0.0, 3.2, 1.6]]);
    m.add("Neck", Some("Spine1"), [0.0, 3.6, 2.2]);
    m.add("Head", Some("Neck"), [0.0, 4.0, 2.6]);
    let leg = [("Thigh", [0.4, 2.9, 0.0]), ("Shin", [0.4, 1.8, 0.5]), ("Foot", [0.4, 0.6, -0.1])];
    limbs(&mut m, "Pelvis", &leg);
    let arm = [("UpperArm", [0.4, 2.8, 1.6]), ("ForeArm", [0.4, 2.5, 1.7]), ("Hand", [0.4, 2.3, 1.8])];
    limbs(&mut m, "Spine1", &arm);
    m.chain("Tail", "Pelvis", &[[0.0, 3.0, -0.8], [0.0, 3.0, -1.6], [0.0, 3.0, -2.4]]);
    m
}

#[test]
fn a_bird_has_wings_for_arms() {
    let mut m = Made::default();
    m.add("Hips", None, [0.0, 0.5, 0.0]);
    m.chain("Spine", "Hips", &[[0.0, 0.55, 0.1], [0.0, 0.6, 0.2]]);
    m.chain("Neck", "Spine1", &[[0.0, 0.75, 0.28], [0.0, 0.85, 0.3]]);
    m.add("Head", Some("Neck1"), [0.0, 0.95, 0.33]);
    m.add("Beak", Some("Head"), [0.0, 0.94, 0.43]);
    let leg = [
        ("Thigh", [0.08, 0.45, 0.0]),
        ("Shin", [0.08, 0.3, 0.08]),
        ("Foot", [0.08, 0.1, -0.02]),
        ("Toe", [0.08, 0.02, 0.06]),
    ];
    limbs(&mut m, "Hips", &leg);
    let wing = [("Wing1", [0.1, 0.62, 0.18]), ("Wing2", [0.35, 0.65, 0.15]), ("Wing3", [0.6, 0.64, 0.12])];
    limbs(&mut m, "Spine1", &wing);
    m.chain("Tail", "Hips", &[[0.0, 0.5, -0.1], [0.0, 0.48, -0.2], [0.0, 0.46, -0.3]]);
    expect(
        &m,
        &[
            (Role::Hips, "Hips"),
            (Role::Neck(1), "Neck1"),
            (Role::Head, "Head"),
            (Role::UpperLeg(Side::Left), "Thigh_L"),
            (Role::Toes(Side::Right), "Toe_R"),
            (Role::UpperArm(Side::Left), "Wing1_L"),
            (Role::LowerArm(Side::Left), "Wing2_L"),
            (Role::Hand(Side::Right), "Wing3_R"),
            (Role::Tail(2), "Tail2"),
        ],
    );
}

#[test]
fn an_insect_walks_on_its_hind_legs_and_has_forelegs() {
    let mut m = Made::default();
    m.add("Body", None, [0.0, 0.3, 0.0]);
    m.add("Thorax", Some("Body"), [0.0, 0.3, 0.2]);
    m.add("Head", Some("Thorax"), [0.0, 0.32, 0.4]);
    for (which, above, z) in [("Back", "Body", -0.1), ("Mid", "Body", 0.1), ("Front", "Thorax", 0.3)] {
        let leg = [
            (format!("{which}_Thigh"), [0.08, 0.3, z]),
            (format!("{which}_Shin"), [0.3, 0.45, 1.5 * z]),
            (format!("{which}_Foot"), [0.5, 0.03, 2.0 * z]),
        ];
        let leg: Vec<(&str, [f64; 3])> = leg.iter().map(|(name, at)| (name.as_str(), *at)).collect();
        limbs(&mut m, above, &leg);
    }
    expect(
        &m,
        &[
            (Role::Hips, "Body"),
            (Role::Head, "Head"),
            (Role::UpperLeg(Side::Left), "Back_Thigh_L"),
            (Role::Foot(Side::Right), "Back_Foot_R"),
            (Role::UpperArm(Side::Left), "Front_Thigh_L"),
            (Role::Hand(Side::Right), "Front_Foot_R"),
        ],
    );
    let rig = detected(&m).rig;
    let middle = m.0.iter().position(|j| j.0 == "Mid_Shin_L").unwrap();
    assert_eq!(rig.role(posemill::model::JointId::new(middle)), None);
}

#[test]
fn a_dinosaur_has_short_arms_a_neck_and_a_tail() {
    expect(
        &tyrannosaurus(),
        &[
            (Role::Hips, "Pelvis"),
            (Role::Spine(1), "Spine1"),
            (Role::Neck(0), "Neck"),
            (Role::Head, "Head"),
            (Role::UpperLeg(Side::Left), "Thigh_L"),
            (Role::Foot(Side::Right), "Foot_R"),
            (Role::UpperArm(Side::Left), "UpperArm_L"),
            (Role::Hand(Side::Right), "Hand_R"),
            (Role::Tail(2), "Tail2"),
        ],
    );
}

/// A snake of so many joints between root and head, and of as many in the tail.
fn snake(joints: u8) -> Made {
    let mut m = Made::default();
    m.add("Root", None, [0.0, 0.1, 0.0]);
    let at = |k: u8| [0.0, 0.1, f64::from(k) / f64::from(joints)];
    m.chain("Spine", "Root", &(1..joints).map(at).collect::<Vec<_>>());
    m.add("Neck", Some(&format!("Spine{}", joints - 2)), at(joints));
    m.add("Head", Some("Neck"), at(joints + 1));
    m.chain(
        "Tail",
        "Root",
        &(1..=joints).map(|k| at(k).map(|x| if x == 0.1 { x } else { -x })).collect::<Vec<_>>(),
    );
    m
}

#[test]
fn a_snake_has_a_trunk_a_head_and_a_tail_and_moves_a_longer_one() {
    let (short, long) = (snake(8), snake(13));
    let wanted =
        [(Role::Spine(0), "Spine0"), (Role::Neck(0), "Neck"), (Role::Head, "Head"), (Role::Tail(7), "Tail7")];
    expect(&short, &wanted);
    let [short, long] = [short, long].map(|m| Arc::new(Character::new("snake", detected(&m).rig)));
    assert_eq!(short.rig.joint(Role::Hips), None);
    assert_eq!(map(&short, &long).unwrap().pairs.len(), long.skeleton().len());
    // Onto itself every frame is the same.
    let pairs = map(&short, &short).unwrap();
    let mut bent = short.skeleton().rest_pose();
    for joint in ["Root", "Spine3", "Tail2"] {
        let id = short.skeleton().find(joint).unwrap();
        bent.local_mut()[id.index()].rotation =
            posemill::math::exp(&posemill::math::Vec3::new(0.1, 0.4, 0.0));
    }
    let poses = [short.skeleton().rest_pose(), bent.clone(), bent];
    let motion = Motion::new(Arc::clone(&short), Clip::from_poses("winds", 30.0, short.skeleton(), &poses));
    let moved = Retarget::new(&short, Arc::clone(&short), &pairs, (&short.rig, &short.rig), RootScale::Legs)
        .direct_transfer(&motion);
    for id in short.skeleton().ids() {
        let [a, b] = [&moved, &motion].map(|m| m.model_pose(1).position(id));
        assert!((a - b).norm() < 1e-9, "{id:?}: {a} {b}");
    }
    let human = Character::new("human", detected(&tyrannosaurus()).rig);
    assert!(matches!(map(&human, &short), Err(MapError::Missing(_))));
}

#[test]
fn a_fish_whose_spine_leads_to_its_tail_has_both() {
    let mut m = Made::default();
    m.add("Root", None, [0.0; 3]);
    m.chain("Spine", "Root", &[[0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, -0.5]]);
    m.add("Tail", Some("Spine2"), [0.0, 0.0, -1.0]);
    m.add("Head", Some("Spine0"), [0.0, 0.0, 0.8]);
    m.chains("Flipper", ["Spine0", "Spine0"], &[[0.2, 0.0, 0.4], [0.5, 0.0, 0.4]]);
    expect(
        &m,
        &[
            (Role::Spine(0), "Spine0"),
            (Role::Head, "Head"),
            (Role::Tail(0), "Spine1"),
            (Role::Tail(2), "Tail"),
        ],
    );
}

#[test]
fn a_trunk_behind_the_head_is_a_spine() {
    let body: Vec<[f64; 3]> = (1..6).map(|k| [0.0, 0.1, -0.1 * f64::from(k)]).collect();
    let mut m = Made::default();
    m.add("Head", None, [0.0, 0.1, 0.0]);
    m.chain("Spine", "Head", &body);
    expect(&m, &[(Role::Head, "Head"), (Role::Spine(0), "Spine0"), (Role::Spine(4), "Spine4")]);
    // Head and trunk on one root.
    let mut ray = Made::default();
    ray.add("Root", None, [0.0, 0.1, 0.0]);
    ray.chain("Spine", "Root", &body);
    ray.add("Tail", Some("Spine4"), [0.0, 0.1, -0.7]);
    ray.add("Head", Some("Root"), [0.0, 0.1, 0.2]);
    expect(&ray, &[(Role::Head, "Head"), (Role::Spine(4), "Spine4"), (Role::Tail(0), "Tail")]);
}

#[test]
fn a_snake_is_paired_joint_by_joint_with_one_of_the_same_names_only() {
    let snake = |prefix: &str| {
        let mut m = Made::default();
        m.add(&format!("{prefix}head"), None, [0.0, 0.1, 0.0]);
        let body: Vec<[f64; 3]> = (1..20).map(|k| [0.0, 0.1, -0.1 * f64::from(k)]).collect();
        m.chain(&format!("{prefix}coil"), &format!("{prefix}head"), &body);
        Character::new("snake", detected(&m).rig)
    };
    let (a, b) = (snake(""), snake("viper_"));
    assert_eq!(map(&a, &a).unwrap().pairs.len(), 20);
    assert!(map(&a, &b).is_ok() || matches!(map(&a, &b), Err(MapError::NothingShared { .. })));
    let human = Character::new("human", detected(&tyrannosaurus()).rig);
    assert!(matches!(map(&human, &a), Err(MapError::Missing(_))));
}

#[test]
fn a_level_trunk_and_an_upright_one_are_compared_with_a_warning_and_four_legs_and_two_are_refused() {
    let character = |name: &str, rig| Arc::new(Character::new(name, rig));
    let blind = |m: &Made| {
        let skeleton = m.skeleton(|n, _| format!("b{n:04}"));
        let rest = skeleton.rest_model_pose();
        posemill::anatomy::detect_roles(skeleton, &rest, &[])
    };
    let (rex, human, dog) = (
        character("rex", detected(&tyrannosaurus()).rig),
        character("human", blind(&person())),
        character("dog", blind(&animal())),
    );
    let told = |a: &Character, b: &Character| postures_differ((a, &a.rig), (b, &b.rig));
    for (a, b, level) in
        [(&rex, &human, true), (&human, &rex, true), (&human, &human, false), (&rex, &rex, false)]
    {
        let pairs = map(a, b).unwrap();
        assert!(pairs.pairs.len() >= 14, "{:?}", pairs.pairs);
        let said = told(a, b);
        assert_eq!(said.is_some(), level, "{said:?}");
        assert!(said.is_none_or(|s| s.starts_with("`rex` stands with a level trunk and `human` upright")));
        // At rest each keeps its own posture.
        let pose = a.skeleton().rest_pose();
        let clip = Clip::from_poses("rest", 30.0, a.skeleton(), &[pose.clone(), pose.clone(), pose]);
        let moved = Retarget::new(a, Arc::clone(b), &pairs, (&a.rig, &b.rig), RootScale::Legs)
            .direct_transfer(&Motion::new(Arc::clone(a), clip));
        let chest = |at: &posemill::model::ModelPose| {
            let [low, high] =
                [Role::Hips, Role::Spine(1)].map(|role| at.position(b.rig.joint(role).unwrap()));
            (high - low).normalize()
        };
        let bent = chest(&moved.model_pose(1)).angle(&chest(&b.skeleton().rest_model_pose())).to_degrees();
        assert!(bent < 1.0, "{bent} degrees");
    }
    for (a, b) in [(&dog, &human), (&human, &dog), (&dog, &rex)] {
        let refused = map(a, b).unwrap_err();
        assert!(matches!(refused, MapError::BodyPlan { .. }), "{refused}");
        assert!(refused.sentence().starts_with("`dog` goes on four legs and"), "{refused}");
    }
}
