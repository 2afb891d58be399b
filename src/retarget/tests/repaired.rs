//! Broken maps are repaired by following only what the program prints: every first line that is offered for a key is taken.

use crate::made_bodies::{ADULT, bones};
use posemill::math::{Quat, Transform, Vec3};
use posemill::model::{
    Assignment, Character, Clip, Finger, Joint, JointId, ModelPose, Motion, Rig, Role, Side, Skeleton,
};
use posemill::retarget::{JointMap, Retarget, RootScale, draft, gaps, map, warnings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The made body with five fingers of three joints on each hand, its joints named by `name`.
fn body(name: &dyn Fn(Role) -> String) -> Character {
    let made = bones(&ADULT);
    let mut joints = made.skeleton().joints().to_vec();
    let mut roles: Vec<Role> = made.skeleton().ids().map(|id| made.rig.role(id).unwrap()).collect();
    for side in Side::BOTH {
        let s = side.sign();
        for (finger, z) in Finger::ALL.into_iter().zip([0.05, 0.03, 0.01, -0.01, -0.03]) {
            let mut parent = made.rig.joint(Role::Hand(side)).unwrap();
            let thumb = finger == Finger::Thumb;
            let (knuckle, bone) = match thumb {
                true => (Vec3::new(0.03 * s, 0.0, z), Vec3::new(0.02 * s, 0.0, 0.02)),
                false => (Vec3::new(0.09 * s, 0.0, z), Vec3::new(0.03 * s, 0.0, 0.0)),
            };
            for n in 0..3 {
                let at = if n == 0 { knuckle } else { bone };
                joints.push(Joint::new("", Some(parent), Transform::from_translation(at)));
                parent = JointId::new(joints.len() - 1);
                roles.push(Role::Finger(side, finger, n));
            }
        }
    }
    for (joint, role) in joints.iter_mut().zip(&roles) {
        joint.name = name(*role);
        joint.file_name = Some(joint.name.clone());
    }
    let assigned = |(k, role): (usize, &Role)| (*role, Assignment::new(JointId::new(k), 1.0, "its name"));
    let roles: Vec<_> = roles.iter().enumerate().map(assigned).collect();
    Character { rig: Rig::new(Skeleton::new(joints).unwrap(), roles), ..made }
}

fn take() -> Character {
    Character { name: "take".into(), ..body(&|role| format!("jnt_{role}")) }
}

/// The target, whose joints are named by `name` and whose roles are those of `change`; `None` removes a role.
fn robot(
    name: &dyn Fn(Role) -> String,
    change: &dyn Fn(Role, Assignment) -> Option<(Role, Assignment)>,
) -> Character {
    let whole = body(name);
    let roles = whole.rig.assignments().filter_map(|(r, a)| change(r, a.clone()));
    Character { name: "robot".into(), rig: whole.rig.with_roles(roles.collect::<Vec<_>>()), ..whole }
}

fn plain(role: Role) -> String {
    format!("b:{role}")
}

/// Joint names without sense, each different.
fn nonsense(role: Role) -> String {
    let text = role.to_string();
    text.bytes().map(|b| char::from(b'a' + (b.wrapping_mul(7) % 26))).chain(['q', 'x']).collect::<String>()
        + &text.len().to_string()
}

/// The map file with the first line that is offered for every key, as someone edits it who knows nothing about rigs.
fn followed(text: &str) -> String {
    let mut taken = BTreeSet::new();
    let mut edit = |line: &str| {
        let offered = line.strip_prefix("# ").filter(|l| l.contains("_roles.") || l.starts_with("swap_"));
        let offered = offered.filter(|l| l.contains(" = "));
        match offered.and_then(|l| Some((l, l.split_once(" = ")?.0.to_owned()))) {
            Some((l, key)) if taken.insert(key.clone()) => l.to_owned(),
            _ => line.to_owned(),
        }
    };
    text.lines().map(|l| edit(l) + "\n").collect()
}

/// Joint by joint what drives the target, and the roles of the target's rig.
fn result(map: &JointMap, target: &Rig) -> (BTreeMap<JointId, JointId>, BTreeMap<JointId, Role>) {
    let pairs = map.pairs.iter().map(|p| (p.target, p.source)).collect();
    (pairs, target.assignments().map(|(role, a)| (a.joint, role)).collect())
}

/// A robot whose map is wrong, and how many warnings it gets at most.
fn broken() -> Vec<(&'static str, Character)> {
    let left = Side::Left;
    let keep = |r: Role, a: Assignment| Some((r, a));
    let thighs_missing =
        robot(&plain, &|r, a| keep(r, a).filter(|_| !matches!(r, Role::UpperLeg(_) | Role::Hips)));
    // The right joint is the second best.
    let odd = |r: Role, a: Assignment, swap: [Role; 2], sure: f64| {
        let whole = body(&plain).rig;
        let other = swap.iter().find(|s| **s != r).filter(|_| swap.contains(&r));
        match other {
            Some(other) => {
                let own = whole.joint(r).unwrap();
                let joint = whole.joint(*other).unwrap();
                let a =
                    Assignment::new(joint, sure, "it hangs there").with_runner_up(Some((own, sure - 0.1)));
                Some((r, a))
            }
            None => keep(r, a),
        }
    };
    let doubtful = robot(&plain, &|r, a| odd(r, a, [Role::LowerArm(left), Role::UpperArm(left)], 0.45));
    let fingers_missing = robot(&nonsense, &|r, a| keep(r, a).filter(|_| !matches!(r, Role::Finger(..))));
    let sides = robot(&plain, &|r, a| Some((r.mirrored(), Assignment { confidence: 0.9, ..a })));
    let whole = body(&plain).rig;
    let neck_for_head = robot(&plain, &|r, a| match r {
        Role::Head => {
            Some((r, Assignment::new(whole.joint(Role::Neck(0)).unwrap(), 0.9, "the trunk ends in it")))
        }
        Role::Neck(_) => None,
        _ => keep(r, a),
    });
    let doubtful_fingers = robot(&plain, &|r, a| match r {
        Role::Finger(s, ..) if s == left => Some((r, Assignment { confidence: 0.45, ..a })),
        _ => keep(r, a),
    });
    vec![
        ("hips and thighs missing", thighs_missing),
        ("upper arm and forearm exchanged in doubt", doubtful),
        ("fingers without roles", fingers_missing),
        ("sides exchanged against the names", sides),
        ("the neck taken for the head", neck_for_head),
        ("fingers in doubt", doubtful_fingers),
    ]
}

#[test]
fn broken_maps_are_repaired_by_following_what_is_printed() {
    let source = take();
    for (what, target) in broken() {
        let named = if what.contains("without roles") {
            robot(&nonsense, &|r, a| Some((r, a)))
        } else {
            robot(&plain, &|r, a| Some((r, a)))
        };
        let right = result(&map(&source, &named).unwrap(), &named.rig);
        let draft = draft(&source, &target);
        let before = result(&draft.map, &target.rig);
        assert!(before != right || what == "fingers in doubt", "{what}: nothing is broken");
        assert!(draft.refused.is_some() || !warnings(&draft.gaps).is_empty(), "{what}: silence");
        let text = followed(&draft.to_toml(&source, &target));
        let (read, s, t) = JointMap::read(&text, "map.toml", &source, &target)
            .unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
        assert_eq!(result(&read, &t), right, "{what}\n{text}");
        assert_eq!(gaps(&read, (&source, &s), (&target, &t)), [], "{what}\n{text}");
    }
}

#[test]
fn a_role_below_the_confidence_that_needs_no_check_is_a_warning_always() {
    let source = take();
    for confidence in [0.3, 0.5, 0.69, Assignment::DOUBTFUL, 0.9] {
        for role in [
            Role::Head,
            Role::Foot(Side::Left),
            Role::Spine(1),
            Role::Toes(Side::Right),
            Role::Finger(Side::Left, Finger::Ring, 1),
        ] {
            let target =
                robot(&plain, &|r, a| Some((r, if r == role { Assignment { confidence, ..a } } else { a })));
            let all = warnings(&gaps(
                &map(&source, &target).unwrap(),
                (&source, &source.rig),
                (&target, &target.rig),
            ));
            let line = format!("target_roles.{role} = \"b:{role}\"");
            let told = all.iter().filter(|w| w.code == "retarget-guess" && w.fix.as_deref() == Some(&line));
            assert_eq!(told.count(), usize::from(confidence < Assignment::DOUBTFUL), "{role} {confidence}");
        }
    }
}

/// A body whose left is at its right, since every name says so, moves like the right one once the sides are swapped.
#[test]
fn swapped_sides_move_as_if_they_had_been_right() {
    let source = take();
    let pose = |angle: f64| {
        let mut pose = source.skeleton().rest_pose();
        for (role, axis) in
            [(Role::UpperArm(Side::Left), Vec3::z()), (Role::LowerLeg(Side::Right), Vec3::x())]
        {
            let joint = source.rig.joint(role).unwrap();
            pose.local_mut()[joint.index()].rotation =
                Quat::from_axis_angle(&posemill::math::UnitVec3::new_normalize(axis), angle);
        }
        pose
    };
    let clip = Clip::from_poses("wave", 30.0, source.skeleton(), &[pose(0.0), pose(0.4), pose(0.8)]);
    let motion = Motion::new(Arc::new(source.clone()), clip);
    let moved = |target: &Character, text: &str| {
        let (map, s, t) = JointMap::read(text, "map.toml", &source, target).unwrap();
        let target = Arc::new(Character { rig: t, ..target.clone() });
        let onto = posemill::body::CharacterBody::new(&target);
        let from = posemill::body::CharacterBody::of(&motion.character, &s);
        let retarget = Retarget::between(&from, &onto, &map, RootScale::Legs);
        let moved = retarget.apply(&motion);
        let last = moved.clip.pose(target.skeleton(), 2);
        ModelPose::of(target.skeleton(), &last)
    };
    let right = robot(&plain, &|r, a| Some((r, a)));
    let swapped = robot(&plain, &|r, a| Some((r.mirrored(), a)));
    let (a, b) = (moved(&right, ""), moved(&swapped, "swap_target_sides = true\n"));
    let wrong = moved(&swapped, "");
    let apart = |a: &ModelPose, b: &ModelPose| {
        right.skeleton().ids().map(|id| (a.position(id) - b.position(id)).norm()).fold(0.0, f64::max)
    };
    assert!(apart(&a, &b) < 1e-9, "{}", apart(&a, &b));
    assert!(apart(&a, &wrong) > 0.1, "the test has no effect");
}

/// The character with two ears, which have no role.
fn with_ears(character: &Character) -> Character {
    let mut joints = character.skeleton().joints().to_vec();
    for (name, x) in [("ear_l", 0.1), ("ear_r", -0.1)] {
        let at = Transform::from_translation(Vec3::new(x, 0.1, 0.0));
        joints.push(Joint {
            file_name: Some(name.into()),
            ..Joint::new(name, character.rig.joint(Role::Head), at)
        });
    }
    let roles: Vec<_> = character.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    Character { rig: Rig::new(Skeleton::new(joints).unwrap(), roles), ..character.clone() }
}

#[test]
fn joints_that_are_paired_by_their_names_change_sides_with_the_others() {
    let (source, target) = (with_ears(&take()), with_ears(&robot(&plain, &|r, a| Some((r, a)))));
    let written = draft(&source, &target).to_toml(&source, &target);
    let ear = |c: &Character, side: &str| c.skeleton().find(&format!("ear_{side}")).unwrap();
    for (keys, crossed) in [
        ("", false),
        ("swap_source_sides = true\n", true),
        ("swap_target_sides = true\n", true),
        ("swap_source_sides = true\nswap_target_sides = true\n", false),
    ] {
        for pairs in ["", written.as_str()] {
            let text = format!("{keys}{pairs}");
            let (map, ..) = JointMap::read(&text, "map.toml", &source, &target).unwrap();
            for (side, other) in [("l", "r"), ("r", "l")] {
                let driver = map.driving(ear(&target, side)).map(|p| p.source);
                let wanted = ear(&source, if crossed { other } else { side });
                assert_eq!(
                    driver,
                    Some(wanted),
                    "{keys:?} with{} pairs",
                    if pairs.is_empty() { "out" } else { "" }
                );
            }
        }
    }
}

#[test]
fn a_role_that_no_joint_fits_is_told_without_a_line_that_names_one() {
    let joint = Joint { file_name: Some("box".into()), ..Joint::new("box", None, Transform::identity()) };
    let target = Character::new("thing", Rig::new(Skeleton::new(vec![joint]).unwrap(), Vec::new()));
    let draft = draft(&take(), &target);
    let text = draft.to_toml(&take(), &target);
    assert!(
        !text.contains("JOINT") && !draft.refused.as_ref().unwrap().to_string().contains("JOINT"),
        "{text}"
    );
    assert!(text.contains("assign it as `target_roles.left_upper_leg`"), "{text}");
}

#[test]
fn arms_and_legs_that_are_exchanged_in_doubt_are_exchanged_by_the_lines_that_are_printed() {
    let (source, whole) = (take(), body(&plain).rig);
    let other = |role: Role| match role {
        Role::UpperLeg(s) => Role::UpperArm(s),
        Role::LowerLeg(s) => Role::LowerArm(s),
        Role::Foot(s) => Role::Hand(s),
        Role::UpperArm(s) => Role::UpperLeg(s),
        Role::LowerArm(s) => Role::LowerLeg(s),
        Role::Hand(s) => Role::Foot(s),
        Role::Hips => Role::Spine(1),
        Role::Spine(1) => Role::Hips,
        same => same,
    };
    let core = |role: Role| !matches!(role, Role::Finger(..) | Role::Toes(_) | Role::Head | Role::Neck(_));
    for (confidence, told) in [(0.67, true), (Assignment::DOUBTFUL, false)] {
        let target = robot(&plain, &|role, _| {
            let joint = whole.joint(other(role)).unwrap();
            core(role).then(|| (role, Assignment::new(joint, confidence, "the shape of the joint tree")))
        });
        let draft = draft(&source, &target);
        let gap = draft.gaps.iter().find(|gap| gap.message.contains("if they are exchanged"));
        assert_eq!(gap.is_some(), told);
        let Some(gap) = gap else { continue };
        assert!(draft.to_toml(&source, &target).contains("if they are exchanged"));
        let text = gap.fix.clone().unwrap();
        let (_, _, rig) = JointMap::read(&text, "map.toml", &source, &target).unwrap();
        for (role, a) in whole.assignments().filter(|(role, _)| core(*role)) {
            assert_eq!(rig.joint(role), Some(a.joint), "{role}");
        }
    }
}
