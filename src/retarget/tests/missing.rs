//! What a joint map leaves out is reported once, with lines that fix it in the map file; what is harmless is not reported.

use crate::development_data::data;
use crate::humanoids::{CHARACTERS, TAKES};
use crate::made_bodies::{ADULT, bones};
use posemill::anatomy::detect_roles;
use posemill::import::{ImportOptions, from_bytes, load};
use posemill::model::{Assignment, Character, Joint, JointId, Mesh, MorphTarget, Rig, Role, Side, Skeleton};
use posemill::retarget::map_gaps::{Gap, MapEnd};
use posemill::retarget::{JointMap, MapError, draft, gaps, map, warnings};
use std::collections::BTreeSet;

const BOTH: [MapEnd; 2] = [MapEnd::Source, MapEnd::Target];

/// The synthetic body with other joint names and all its roles.
fn renamed(name: &str, prefix: &str) -> Character {
    let made = bones(&ADULT);
    let rename = |j: &Joint| Joint {
        name: format!("{prefix}{}", j.name),
        file_name: Some(format!("{prefix}{}", j.name)),
        ..j.clone()
    };
    let skeleton = Skeleton::new(made.skeleton().joints().iter().map(rename).collect()).unwrap();
    let roles: Vec<_> = made.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    Character { name: name.into(), rig: Rig::new(skeleton, roles), ..made }
}

/// The character with all its joints but without these roles.
fn unknown(character: &Character, roles: &[Role]) -> Character {
    let kept = character.rig.assignments().filter(|(r, _)| !roles.contains(r)).map(|(r, a)| (r, a.clone()));
    Character { rig: character.rig.with_roles(kept), ..character.clone() }
}

/// The character without the joints of these roles and their descendants.
fn cut(character: &Character, roles: &[Role]) -> Character {
    let skeleton = character.skeleton();
    let gone: Vec<JointId> = roles.iter().filter_map(|r| character.rig.joint(*r)).collect();
    let kept: Vec<JointId> =
        skeleton.ids().filter(|&id| gone.iter().all(|&g| g != id && !skeleton.is_ancestor(g, id))).collect();
    let new = |id: JointId| kept.iter().position(|&k| k == id).map(JointId::new);
    let joints = kept.iter().map(|&id| {
        let joint = skeleton.joint(id).clone();
        Joint { parent: joint.parent.and_then(new), ..joint }
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let roles = character
        .rig
        .assignments()
        .filter_map(|(role, a)| Some((role, Assignment { joint: new(a.joint)?, ..a.clone() })));
    let rig = Rig::new(skeleton, roles.collect::<Vec<_>>());
    Character { rig, bind: None, meshes: Vec::new(), document: None, ..character.clone() }
}

fn found(source: &Character, target: &Character) -> Vec<Gap> {
    let map = map(source, target).unwrap();
    gaps(&map, (source, &source.rig), (target, &target.rig))
}

/// Joints of a robot's shoulders and wrists have no roles, and none of them is its head: the chest drives that.
#[test]
fn no_joint_of_an_arm_is_proposed_as_a_head() {
    let [robot, hero] = ["humanoid.xml", "robot.glb"].map(|name| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
        load(path, &ImportOptions::default()).unwrap().character
    });
    let gaps = found(&robot, &hero);
    let head = gaps.iter().find(|gap| gap.role == Role::Head).unwrap();
    assert_eq!((head.end, head.candidates.len()), (MapEnd::Source, 0));
    assert_eq!(head.fix.as_deref(), Some("[[pair]]\nsource = \"chest\"\ntarget = \"Head\""));
}

/// The file with the lines of these gaps added: roles above the pairs, pairs below.
fn with_fixes(text: &str, gaps: &[Gap]) -> String {
    let lines: Vec<&String> = gaps.iter().filter_map(|g| g.fix.as_ref()).collect();
    let of = |pairs: bool| -> String {
        lines.iter().filter(|l| l.starts_with("[[") == pairs).map(|l| format!("{l}\n")).collect()
    };
    of(false) + text + "\n" + &of(true)
}

/// The gaps that are left with the lines of the gaps in the file.
fn after_fixing(source: &Character, target: &Character) -> (Vec<Gap>, JointMap, Rig, Rig) {
    let draft = draft(source, target);
    let text = with_fixes(&draft.to_toml(source, target), &draft.gaps);
    let (map, s, t) =
        JointMap::read(&text, "map.toml", source, target).unwrap_or_else(|e| panic!("{e}\n{text}"));
    (gaps(&map, (source, &s), (target, &t)), map, s, t)
}

fn limbs() -> Vec<Vec<Role>> {
    let arm = |s| vec![Role::UpperArm(s), Role::LowerArm(s), Role::Hand(s)];
    let (l, r) = (Side::Left, Side::Right);
    let mut limbs = vec![arm(l), arm(r), [arm(l), arm(r)].concat(), vec![Role::Head]];
    limbs.extend(Side::BOTH.map(|s| vec![Role::LowerLeg(s), Role::Foot(s)]));
    limbs.extend([Role::LowerArm(l), Role::Hand(r), Role::LowerLeg(l), Role::Foot(r)].map(|r| vec![r]));
    limbs
}

#[test]
fn a_role_that_one_side_lacks_is_reported_once_with_the_line_that_fixes_it() {
    let whole = [renamed("walk", "jnt_"), renamed("robot", "b:")];
    for roles in limbs() {
        for end in BOTH {
            let mut pair = whole.clone();
            pair[end as usize] = unknown(&whole[end as usize], &roles);
            let [source, target] = &pair;
            let reported: Vec<(Role, MapEnd)> =
                found(source, target).iter().map(|g| (g.role, g.end)).collect();
            let expected: Vec<(Role, MapEnd)> = roles.iter().map(|r| (*r, end)).collect();
            assert_eq!(reported, expected);
            let (left, map, s, t) = after_fixing(source, target);
            assert_eq!(left, [], "{roles:?} {end}");
            for role in &roles {
                assert_eq!(s.joint(*role), whole[0].rig.joint(*role), "{role} of {end}");
                assert_eq!(t.joint(*role), whole[1].rig.joint(*role), "{role} of {end}");
                assert!(map.driving(t.joint(*role).unwrap()).is_some());
            }
        }
    }
}

#[test]
fn a_missing_limb_is_reported_and_may_follow_its_parent() {
    let (walk, robot) = (renamed("walk", "jnt_"), renamed("robot", "b:"));
    let arm = [Role::UpperArm(Side::Left), Role::LowerArm(Side::Left), Role::Hand(Side::Left)];
    for (first, roles) in [(arm[0], &arm[..]), (arm[2], &arm[2..]), (Role::Head, &[Role::Head][..])] {
        let (armless, target) = (cut(&walk, &[first]), &robot);
        let reported: Vec<Role> = found(&armless, target).iter().map(|g| g.role).collect();
        assert_eq!(reported, roles);
        let (left, map, _, t) = after_fixing(&armless, target);
        assert_eq!(left, [], "{first}");
        for role in roles {
            assert!(map.driving(t.joint(*role).unwrap()).is_some(), "{role}");
        }
        // The target has no joint that could be driven: reported, and no line would help.
        let reported = found(&walk, &cut(&robot, &[first]));
        assert_eq!(reported.iter().map(|g| g.role).collect::<Vec<_>>(), roles);
        assert!(reported.iter().all(|g| g.fix.is_none() && g.candidates.is_empty()));
    }
}

#[test]
fn what_is_harmless_is_silent() {
    let (walk, robot) = (renamed("walk", "jnt_"), renamed("robot", "b:"));
    assert_eq!(found(&walk, &robot), []);
    let toes = Side::BOTH.map(Role::Toes);
    for (source, target) in [(cut(&walk, &toes), robot.clone()), (walk.clone(), cut(&robot, &toes))] {
        assert_eq!(found(&source, &target), []);
    }
    // The neck of the target follows chest and head.
    let neck = unknown(&robot, &[Role::Neck(0)]);
    assert_eq!(found(&walk, &neck).iter().map(|g| g.role).collect::<Vec<_>>(), [Role::Neck(0)]);
    let without = |c: &Character| {
        let head = c.rig.joint(Role::Head).unwrap().index();
        let neck = c.rig.joint(Role::Neck(0)).unwrap();
        let mut joints = c.skeleton().joints().to_vec();
        joints[head].parent = joints[neck.index()].parent;
        let skeleton = Skeleton::new(joints).unwrap();
        let roles: Vec<_> = c.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
        cut(&Character { rig: Rig::new(skeleton, roles), ..c.clone() }, &[Role::Neck(0)])
    };
    assert_eq!(found(&without(&walk), &robot), []);
    assert_eq!(found(&walk, &without(&robot)), []);
}

#[test]
fn the_draft_without_hips_reads_back_once_its_lines_are_filled_in() {
    let whole = [renamed("walk", "jnt_"), renamed("robot", "b:")];
    let all: Vec<Role> = whole[0].rig.assignments().map(|a| a.0).collect();
    let required = [Role::Hips, Role::UpperLeg(Side::Left), Role::UpperLeg(Side::Right)];
    for roles in [&required[..1], &required[1..2], &required[..], &all[..]] {
        for end in BOTH {
            let mut pair = whole.clone();
            pair[end as usize] = unknown(&whole[end as usize], roles);
            let [source, target] = &pair;
            let draft = draft(source, target);
            let missing: Vec<Role> = required.into_iter().filter(|r| roles.contains(r)).collect();
            match &draft.refused {
                Some(MapError::Missing(wanted)) => {
                    assert_eq!(wanted.iter().map(|w| w.role).collect::<Vec<_>>(), missing);
                }
                other => panic!("{other:?}"),
            }
            let (left, _, s, t) = after_fixing(source, target);
            let left: Vec<Role> = left.iter().map(|g| g.role).collect();
            assert_eq!(left, [], "{} roles of {end}", roles.len());
            for role in required {
                assert_eq!(s.joint(role), whole[0].rig.joint(role), "{role}");
                assert_eq!(t.joint(role), whole[1].rig.joint(role), "{role}");
            }
            // Lines may be added one at a time: the file stays readable.
            let one = &draft.gaps[..1];
            let text = with_fixes(&draft.to_toml(source, target), one);
            match JointMap::read(&text, "map.toml", source, target) {
                Ok(_) => assert_eq!(missing.len(), 1),
                Err(MapError::Missing(wanted)) => assert_eq!(wanted.len(), missing.len() - 1),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_guess_is_reported_with_the_second_best() {
    let (walk, robot) = (renamed("walk", "jnt_"), renamed("robot", "b:"));
    let unsure = |role: Role, confidence: f64| {
        let second = robot.skeleton().find("b:left_toes").map(|id| (id, 0.3));
        let roles = robot.rig.assignments().map(|(r, a)| match r == role {
            true => (
                r,
                Assignment { confidence, reason: "it hangs there".into(), ..a.clone() }
                    .with_runner_up(second),
            ),
            false => (r, a.clone()),
        });
        Character { rig: robot.rig.with_roles(roles.collect::<Vec<_>>()), ..robot.clone() }
    };
    let head = Role::Head;
    assert_eq!(found(&walk, &unsure(head, Assignment::DOUBTFUL)), []);
    let doubtful = found(&walk, &unsure(head, Assignment::SURE));
    assert!(doubtful[0].message.contains("confidence 0.50 of at least 0.70"), "{}", doubtful[0].message);
    let reported = found(&walk, &unsure(head, 0.4));
    assert_eq!(
        reported[0].message,
        "`b:head` is only a guess for `head` of `robot`, confidence 0.40 of at least 0.50: it hangs there; the second-best \
         is `b:left_toes` with 0.30"
    );
    assert_eq!(reported[0].fix.as_deref(), Some("target_roles.head = \"b:left_toes\""));
    let codes: Vec<&str> = warnings(&reported).iter().map(|w| w.code).collect();
    assert_eq!(codes, ["retarget-guess"]);
    let error = map(&walk, &unsure(Role::Hips, 0.2)).unwrap_err().to_string();
    assert!(
        error.contains("; the nearest to `hips` is `b:hips` with confidence 0.20: it hangs there"),
        "{error}"
    );
}

#[test]
fn a_bone_that_a_map_leaves_out_is_reported_with_its_pair() {
    let (walk, robot) = (renamed("walk", "jnt_"), renamed("robot", "b:"));
    let mut left_out = map(&walk, &robot).unwrap();
    left_out.pairs.retain(|pair| pair.role != Some(Role::LowerLeg(Side::Left)));
    let found = gaps(&left_out, (&walk, &walk.rig), (&robot, &robot.rig));
    let fix =
        "[[pair]]\nrole = \"left_lower_leg\"\nsource = \"jnt_left_lower_leg\"\ntarget = \"b:left_lower_leg\"";
    assert_eq!(found.iter().map(|gap| gap.fix.as_deref()).collect::<Vec<_>>(), [Some(fix)]);
    assert_eq!(
        found[0].message,
        "the map has no pair for `left_lower_leg` of `robot`: `b:left_lower_leg` keeps its rest pose"
    );
}

#[test]
fn names_add_no_line_to_a_map_file() {
    let (walk, robot) = (renamed("walk\n[[pair]]", "a\n\u{1b}[2J"), renamed("robot", "\"\\\u{202e}"));
    let armless = unknown(&walk, &[Role::LowerArm(Side::Left)]);
    let text = draft(&armless, &robot).to_toml(&armless, &robot);
    assert!(!text.contains(['\u{1b}', '\u{202e}']));
    let (left, ..) = after_fixing(&armless, &robot);
    assert_eq!(left, []);
    for warning in warnings(&found(&armless, &robot)).iter() {
        assert!(!warning.message.contains(['\n', '\u{1b}', '\u{202e}']), "{}", warning.message);
        assert_eq!(warning.fix.as_ref().unwrap().lines().count(), 1);
    }
}

#[test]
fn every_refusal_says_why_and_what_to_do() {
    let (walk, robot) = (renamed("walk", "jnt_"), renamed("robot", "b:"));
    let legless = unknown(&robot, &[Role::UpperLeg(Side::Left), Role::UpperLeg(Side::Right)]);
    assert_eq!(
        map(&walk, &legless).unwrap_err().to_string(),
        "the target `robot` has no joint that is surely its `left_upper_leg`, `right_upper_leg`\n  \
         hint: write a file with these lines and the candidate joints with `posemill map`; put the right ones in and \
         pass it with `--map`, or as `map` of the stage `retarget`\n  \
         target_roles.left_upper_leg = \"b:left_upper_leg\"\n  \
         target_roles.right_upper_leg = \"b:right_upper_leg\""
    );
    let legs = MapError::BodyPlan { quadruped: "wolf".into(), biped: "walk".into() };
    assert_eq!(
        legs.to_string(),
        "`wolf` goes on four legs and `walk` on two\n  hint: pass a map with `--map` that pairs the joints"
    );
    assert_eq!(legs.sentence(), "`wolf` goes on four legs and `walk` on two");
    let nothing =
        MapError::NothingShared { source_name: "a".into(), target_name: "b".into(), shared: 1, joints: 9 };
    assert_eq!(
        nothing.to_string(),
        "`a` and `b` have no body parts and only 1 of 9 joint names in common\n  hint: pass a map with `--map` that pairs \
         the joints"
    );
    let faulty = "source_roles.hip = \"jnt_hips\"\ntarget_roles.head = \"b:haed\"\n[[pair]]\nsource = \"jnt_head\"\n\
                  target = \"b:head\"\nblend_share = 2\n[[pair]]\nsource = \"jnt_head\"\ntarget = \"b:head\"\n";
    assert_eq!(
        JointMap::read(faulty, "map.toml", &walk, &robot).unwrap_err().to_string(),
        "map.toml:1: `hip` is no role; did you mean `hips`?\n  hint: the file has more faults\n  \
         map.toml:2: there is no joint `b:haed` in `robot`; did you mean `b:head`?\n  \
         map.toml:6: `blend_share` is 2, allowed is 0 to 1\n  \
         map.toml:9: target joint `b:head` is driven twice: remove one of the two pairs"
    );
    let other = "[[pair]]\nsource = \"jnt_head\"\ntarget = \"b:head\"\n[[pair]]\nrole = \"hips\"\n\
                 source = \"jnt_hips\"\ntarget = \"b:head\"\n";
    assert_eq!(
        JointMap::read(other, "map.toml", &walk, &robot).unwrap_err().to_string(),
        "map.toml:7: target joint `b:head` is driven twice: remove one of the two pairs, or write `b:hips`, the `hips` of \
         `robot`"
    );
    let twice = "source_roles.head = \"jnt_neck_0\"\n[[pair]]\nrole = \"head\"\nsource = \"jnt_head\"\n\
                 target = \"b:head\"\n";
    assert_eq!(
        JointMap::read(twice, "map.toml", &walk, &robot).unwrap_err().to_string(),
        "map.toml:4: `head` is assigned to another joint than `jnt_head` above: remove one of the two"
    );
}

/// Characters whose skeleton lacks a core part, or whose names hide it: reports on them are correct.
const INCOMPLETE: &[&str] = &["greenman"];

#[test]
fn good_pairs_of_real_files_are_silent() {
    let Some(folder) = data() else { return };
    let read = |file: &&str| load(folder.join(file), &ImportOptions::default()).unwrap().character;
    let (takes, characters): (Vec<_>, Vec<_>) =
        (TAKES.iter().map(read).collect(), CHARACTERS.iter().map(read).collect());
    let mut reported = BTreeSet::new();
    for source in &takes {
        for target in characters.iter().filter(|c| !INCOMPLETE.contains(&c.name.as_str())) {
            for gap in found(source, target) {
                reported.insert(gap.message);
            }
        }
    }
    assert!(reported.is_empty(), "{reported:#?}");
}

#[test]
fn real_characters_with_nonsense_names_of_a_limb_are_fixed_by_the_reported_lines() {
    let Some(folder) = data() else { return };
    let walk = load(folder.join("bvh/cmu/01_01.bvh"), &ImportOptions::default()).unwrap().character;
    let (mut lost, mut right) = (0, 0);
    for file in CHARACTERS {
        let whole = load(folder.join(file), &ImportOptions::default()).unwrap().character;
        // `armature_transform` lies on its side, so its left and right are undefined.
        if INCOMPLETE.contains(&whole.name.as_str()) || whole.name == "armature_transform" {
            continue;
        }
        for roles in limbs() {
            let hidden: Vec<JointId> = roles.iter().filter_map(|r| whole.rig.joint(*r)).collect();
            let mut joints = whole.skeleton().joints().to_vec();
            for (k, id) in hidden.iter().enumerate() {
                joints[id.index()].name = format!("qx{k}zw");
            }
            let skeleton = Skeleton::new(joints).unwrap();
            let rig = detect_roles(skeleton, &whole.reference_pose(), &[]);
            let odd = Character { rig, ..(*whole).clone() };
            if map(&walk, &odd).is_err() {
                continue;
            }
            let missing: Vec<Role> = roles.iter().copied().filter(|r| odd.rig.joint(*r).is_none()).collect();
            let reported = found(&walk, &odd);
            for role in &missing {
                assert_eq!(
                    reported.iter().filter(|g| g.role == *role).count(),
                    1,
                    "{file} {role}: {reported:#?}"
                );
            }
            let (left, _, _, t) = after_fixing(&walk, &odd);
            let reported: Vec<Role> = reported.iter().filter(|g| g.fix.is_some()).map(|g| g.role).collect();
            assert!(left.iter().all(|g| !reported.contains(&g.role)), "{file}: {left:#?}");
            lost += missing.len();
            right += missing.iter().filter(|r| t.joint(**r) == whole.rig.joint(**r)).count();
        }
    }
    println!("{right} of {lost} lines name the very joint");
    assert!(right * 10 >= lost * 9, "{right} of {lost} lines name the very joint");
}

#[test]
fn a_face_onto_a_character_without_its_morph_targets_is_told_which_ones_it_has() {
    let table = "Timecode,BlendShapeCount,jawOpen,smile\n00:00:00:00.0,2,0.1,0.2\n00:00:00:01.0,2,0.3,0.2\n";
    let face = from_bytes(table.as_bytes(), "face", Some("csv"), None, &ImportOptions::default()).unwrap();
    let mut hero = renamed("robot", "h_");
    let said = map(&face.character, &hero).unwrap_err().to_string();
    let wanted = "`face` is a take of a face (`jawOpen`, `smile`), and `robot` has no morph targets";
    assert!(said.starts_with(wanted), "{said}");
    let morphs = vec![MorphTarget { name: "frown".into(), ..MorphTarget::default() }];
    hero.meshes.push(Mesh { morphs, ..Mesh::default() });
    let said = map(&face.character, &hero).unwrap_err().to_string();
    assert!(said.contains("`robot` has `frown`"), "{said}");
}

#[test]
fn a_mesh_without_a_skin_is_told_that_it_has_no_skeleton() {
    let zeros = "A".repeat(48);
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"name":"statue","mesh":0}}],"meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,{zeros}"}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[0,0,0]}}]}}"#
    );
    let statue =
        from_bytes(text.as_bytes(), "statue", Some("gltf"), None, &ImportOptions::default()).unwrap();
    assert_eq!(statue.character.meshes.len(), 1);
    let said = map(&renamed("take", "t_"), &statue.character).unwrap_err();
    assert!(matches!(said, MapError::NoSkeleton { end: MapEnd::Target, .. }), "{said}");
    assert!(said.to_string().contains("no mesh of it has a skin"), "{said}");
    // Rigid parts on a chain of joints are a body.
    let rigid = renamed("robot", "r_");
    let roleless = unknown(&rigid, &rigid.rig.assignments().map(|(r, _)| r).collect::<Vec<_>>());
    let said = map(&renamed("take", "t_"), &roleless).unwrap_err();
    assert!(matches!(said, MapError::Missing(_)), "{said}");
}
