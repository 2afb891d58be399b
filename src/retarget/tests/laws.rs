//! Properties of the direct transfer for any two bodies, on synthetic bodies: identity, invariance, directions, lengths.

use posemill::anatomy::{JointNames, Vocabulary, detect_roles, detect_roles_from};
use posemill::math::{Quat, Transform, Vec3, angle_between, exp};
use posemill::model::{
    Assignment, Character, Clip, Joint, JointId, ModelPose, Motion, Pose, Rig, Role, Side, Skeleton,
};
use posemill::retarget::{MapError, Retarget, RootScale, map};
use std::sync::Arc;

/// A body: names, parents and rest positions in metres, facing +Z, arms `arm_angle` below the horizontal.
struct Body {
    names: fn(&str) -> String,
    spine: usize,
    height: f64,
    arm_angle: f64,
    /// Whether joints get odd local axes.
    twisted_axes: bool,
    feet_under_root: bool,
}

const PLAIN: Body = Body {
    names: mixamo,
    spine: 3,
    height: 1.7,
    arm_angle: 0.0,
    twisted_axes: false,
    feet_under_root: false,
};

fn mixamo(part: &str) -> String {
    let (side, rest) = part.split_once('.').unwrap_or(("", part));
    let side = match side {
        "l" => "Left",
        "r" => "Right",
        _ => "",
    };
    let word = match rest {
        "thigh" => "UpLeg",
        "shin" => "Leg",
        "foot" => "Foot",
        "toe" => "ToeBase",
        "clavicle" => "Shoulder",
        "upper_arm" => "Arm",
        "forearm" => "ForeArm",
        "hand" => "Hand",
        "hips" => "Hips",
        "neck" => "Neck",
        "head" => "Head",
        spine => return spine.replace("spine", "Spine"),
    };
    format!("mixamorig:{side}{word}")
}

fn blender(part: &str) -> String {
    match part.split_once('.') {
        Some((side, rest)) => format!("DEF-{rest}.{}", side.to_uppercase()),
        None => part.to_owned(),
    }
}

impl Body {
    fn skeleton(&self) -> Skeleton {
        let h = self.height / 1.7;
        let mut list: Vec<(String, Option<usize>, Vec3)> = Vec::new();
        let mut add = |name: &str, parent: Option<usize>, p: [f64; 3]| {
            list.push(((self.names)(name), parent, Vec3::from(p) * h));
            list.len() - 1
        };
        let ground = self.feet_under_root.then(|| add("root", None, [0.0, 0.0, 0.0]));
        let hips = add("hips", ground, [0.0, 0.95, 0.0]);
        let mut chest = hips;
        for n in 0..self.spine {
            let y = 1.0 + 0.35 * (n + 1) as f64 / self.spine as f64;
            chest = add(&format!("spine{n}"), Some(chest), [0.0, y, -0.01]);
        }
        let neck = add("neck", Some(chest), [0.0, 1.45, 0.0]);
        add("head", Some(neck), [0.0, 1.55, 0.02]);
        for (side, sign) in [("l", 1.0), ("r", -1.0)] {
            let part = |p: &str| format!("{side}.{p}");
            let (c, s) = (self.arm_angle.cos(), self.arm_angle.sin());
            let arm = |d: f64| [sign * (0.16 + d * c), 1.42 - d * s, -0.01];
            let clavicle = add(&part("clavicle"), Some(chest), [sign * 0.04, 1.40, 0.0]);
            let upper = add(&part("upper_arm"), Some(clavicle), arm(0.0));
            let fore = add(&part("forearm"), Some(upper), arm(0.28));
            add(&part("hand"), Some(fore), arm(0.53));
            let thigh = add(&part("thigh"), Some(hips), [sign * 0.1, 0.9, 0.0]);
            let shin = add(&part("shin"), Some(thigh), [sign * 0.1, 0.48, 0.01]);
            let foot = add(&part("foot"), ground.or(Some(shin)), [sign * 0.1, 0.08, -0.02]);
            add(&part("toe"), Some(foot), [sign * 0.11, 0.02, 0.12]);
        }
        let axes = |k: usize| {
            let wild =
                Vec3::new((k as f64 * 1.7).sin(), (k as f64 * 2.3).cos(), (k as f64 * 0.9).sin()) * 2.0;
            if self.twisted_axes && k > 0 { exp(&wild) } else { Quat::identity() }
        };
        let model: Vec<Transform> =
            list.iter().enumerate().map(|(k, (_, _, p))| Transform::new(axes(k), *p)).collect();
        let joints = list.iter().enumerate().map(|(k, (name, parent, _))| {
            let rest = parent.map_or(model[k], |p| model[p].inverse() * model[k]);
            Joint::new(name, parent.map(JointId::new), rest)
        });
        Skeleton::new(joints.collect()).unwrap()
    }

    fn character(&self) -> Character {
        let skeleton = self.skeleton();
        let rest = skeleton.rest_model_pose();
        let rig = detect_roles(skeleton, &rest, &[]);
        Character::new("body", rig)
    }
}

/// A clip in which every joint rotates smoothly and the hips travel.
fn dance(character: &Arc<Character>, frames: usize) -> Motion {
    let skeleton = character.skeleton();
    let hips = character.rig.joint(Role::Hips).unwrap();
    let poses: Vec<Pose> = (0..frames)
        .map(|f| {
            let mut pose = skeleton.rest_pose();
            let t = f as f64 / 10.0;
            for id in skeleton.ids() {
                let k = id.index() as f64;
                let turn =
                    Vec3::new((t + k).sin(), (0.7 * t + 2.0 * k).sin(), (1.3 * t + 3.0 * k).cos()) * 0.5;
                let local = &mut pose.local_mut()[id.index()];
                if Some(id) == Some(hips) || skeleton.is_ancestor(hips, id) {
                    local.rotation *= exp(&turn);
                }
            }
            pose.local_mut()[hips.index()].translation += Vec3::new(t.sin(), 0.1 * t.cos(), 0.4 * t);
            pose
        })
        .collect();
    let mut clip = Clip::from_poses("dance", 30.0, skeleton, &poses);
    posemill::signal::fix_hemispheres(&mut clip);
    Motion::new(Arc::clone(character), clip)
}

fn retarget(motion: &Motion, target: &Arc<Character>) -> Motion {
    let source = &motion.character;
    let found = map(source, target).unwrap();
    let ready =
        Retarget::new(source, Arc::clone(target), &found, (&source.rig, &target.rig), RootScale::Legs);
    // These properties are those of the direct transfer; the tests of `legs` cover legs.
    let result = ready.direct_transfer(motion);
    result.check().unwrap();
    result
}

/// The largest distance between the joints of two motions of one skeleton, in metres.
fn apart(a: &Motion, b: &Motion) -> f64 {
    assert_eq!(a.clip.frames(), b.clip.frames());
    let frames = 0..a.clip.frames();
    let pairs = frames.flat_map(|f| {
        let (a, b) = (a.model_pose(f), b.model_pose(f));
        a.joints()
            .iter()
            .zip(b.joints())
            .map(|(a, b)| (a.translation - b.translation).norm())
            .collect::<Vec<_>>()
    });
    pairs.fold(0.0, f64::max)
}

fn segments() -> Vec<(Role, Role)> {
    let limb = |s| {
        [
            (Role::UpperArm(s), Role::LowerArm(s)),
            (Role::LowerArm(s), Role::Hand(s)),
            (Role::UpperLeg(s), Role::LowerLeg(s)),
            (Role::LowerLeg(s), Role::Foot(s)),
        ]
    };
    Side::BOTH.into_iter().flat_map(limb).collect()
}

/// The largest angle between the limb directions of source and result, in radians.
fn limb_error(source: &Motion, result: &Motion) -> f64 {
    let mut worst: f64 = 0.0;
    for frame in 0..source.clip.frames() {
        let (a, b) = (source.model_pose(frame), result.model_pose(frame));
        for (from, to) in segments() {
            let direction = |m: &Motion, pose: &ModelPose| {
                let rig = &m.character.rig;
                pose.position(rig.joint(to).unwrap()) - pose.position(rig.joint(from).unwrap())
            };
            worst = worst.max(angle_between(&direction(source, &a), &direction(result, &b)));
        }
    }
    worst
}

/// The largest relative change of a body segment's length against the rest pose.
fn stretch(motion: &Motion) -> f64 {
    let rig = &motion.character.rig;
    let rest = rig.skeleton().rest_model_pose();
    let mut worst: f64 = 0.0;
    for frame in 0..motion.clip.frames() {
        let pose = motion.model_pose(frame);
        for (from, to) in segments() {
            let (a, b) = (rig.joint(from).unwrap(), rig.joint(to).unwrap());
            let length = |p: &ModelPose| (p.position(b) - p.position(a)).norm();
            worst = worst.max((length(&pose) / length(&rest) - 1.0).abs());
        }
    }
    worst
}

#[test]
fn a_rig_onto_itself_is_the_identity() {
    for body in [
        PLAIN,
        Body { twisted_axes: true, ..PLAIN },
        Body { feet_under_root: true, twisted_axes: true, ..PLAIN },
    ] {
        let motion = dance(&Arc::new(body.character()), 20);
        let result = retarget(&motion, &motion.character);
        // A foot under the root does not follow its shin in this clip, which is transferred as well.
        assert!(apart(&motion, &result) < 1e-9, "{}", apart(&motion, &result));
    }
}

#[test]
fn limbs_point_where_the_source_points_and_keep_their_length() {
    let motion = dance(&Arc::new(PLAIN.character()), 20);
    for target in [
        Body { names: blender, height: 1.2, ..PLAIN },
        Body { arm_angle: 0.8, twisted_axes: true, ..PLAIN },
        Body { names: blender, spine: 1, arm_angle: 1.5, ..PLAIN },
        Body { names: blender, spine: 5, height: 2.4, twisted_axes: true, feet_under_root: true, ..PLAIN },
    ] {
        let result = retarget(&motion, &Arc::new(target.character()));
        assert!(limb_error(&motion, &result) < 1e-9, "{}", limb_error(&motion, &result));
        assert!(stretch(&result) < 1e-9, "{}", stretch(&result));
    }
}

#[test]
fn a_foot_under_the_root_follows_its_shin() {
    let motion = dance(&Arc::new(PLAIN.character()), 10);
    let target = Body { names: blender, feet_under_root: true, twisted_axes: true, ..PLAIN };
    let result = retarget(&motion, &Arc::new(target.character()));
    let rig = &result.character.rig;
    let (shin, foot) = (rig.joint(Role::LowerLeg(Side::Left)), rig.joint(Role::Foot(Side::Left)));
    let rest = rig.skeleton().rest_model_pose();
    let within = |p: &ModelPose| p.joint(shin.unwrap()).inverse().point(&p.position(foot.unwrap()));
    for frame in 0..result.clip.frames() {
        assert!((within(&result.model_pose(frame)) - within(&rest)).norm() < 1e-9);
    }
}

#[test]
fn size_and_names_of_the_source_do_not_matter() {
    let target = Arc::new(Body { names: blender, twisted_axes: true, arm_angle: 0.7, ..PLAIN }.character());
    let motion = dance(&Arc::new(PLAIN.character()), 12);
    let expected = retarget(&motion, &target);

    let renamed = Arc::new(Body { names: blender, ..PLAIN }.character());
    let same = Motion::new(renamed, motion.clip.clone());
    assert!(apart(&expected, &retarget(&same, &target)) < 1e-9);

    let large = Arc::new(Body { height: 170.0, ..PLAIN }.character());
    let mut clip = motion.clip.clone();
    clip.all_translations_mut().iter_mut().for_each(|v| *v *= 100.0);
    let scaled = retarget(&Motion::new(large, clip), &target);
    assert!(apart(&expected, &scaled) < 1e-9, "{}", apart(&expected, &scaled));
}

#[test]
fn the_first_frames_of_a_take_do_not_matter() {
    let target = Arc::new(Body { names: blender, arm_angle: 0.7, ..PLAIN }.character());
    let motion = dance(&Arc::new(PLAIN.character()), 12);
    let whole = retarget(&motion, &target);
    let part = retarget(&motion.part(5..motion.clip.frames()), &target);
    for frame in 0..part.clip.frames() {
        for (a, b) in part.model_pose(frame).joints().iter().zip(whole.model_pose(frame + 5).joints()) {
            assert!((a.translation - b.translation).norm() < 1e-12);
        }
    }
}

/// The line from the middle of the hip joints to the middle of the shoulders as moved by the chest.
fn trunk_line(motion: &Motion, frame: usize) -> Vec3 {
    let rig = &motion.character.rig;
    let (rest, pose) = (rig.skeleton().rest_model_pose(), motion.model_pose(frame));
    let chest = *rig.chain(Role::Spine).last().unwrap();
    let middle = |p: &ModelPose, role: fn(Side) -> Role| {
        Side::BOTH.map(|s| p.position(rig.joint(role(s)).unwrap())).iter().sum::<Vec3>() * 0.5
    };
    let shoulders = rest.joint(chest).inverse().point(&middle(&rest, Role::UpperArm));
    pose.joint(chest).point(&shoulders) - middle(&pose, Role::UpperLeg)
}

#[test]
fn the_trunk_leans_as_the_source_for_any_number_of_spine_joints_and_the_head_keeps_its_gaze() {
    let motion = dance(&Arc::new(PLAIN.character()), 12);
    let away = |m: &Motion, frame: usize, role: Role| {
        let joint = m.character.rig.joint(role).unwrap();
        let rest = m.character.skeleton().rest_model_pose();
        m.model_pose(frame).joint(joint).rotation * rest.joint(joint).rotation.inverse()
    };
    for spine in [2, 4, 5, 9] {
        let target = Arc::new(Body { names: blender, spine, twisted_axes: true, ..PLAIN }.character());
        let result = retarget(&motion, &target);
        for frame in 0..12 {
            let miss = angle_between(&trunk_line(&motion, frame), &trunk_line(&result, frame));
            assert!(miss < 1e-3, "{spine} spine joints, frame {frame}: {miss}");
            for role in [Role::Hips, Role::Head, Role::UpperArm(Side::Left), Role::Clavicle(Side::Right)] {
                let turn = away(&motion, frame, role).angle_to(&away(&result, frame, role));
                assert!(turn < 1e-7, "{spine} spine joints: {role} {turn}");
            }
        }
    }
}

#[test]
fn a_trunk_that_leans_as_the_source_already_is_not_turned() {
    let motion = dance(&Arc::new(PLAIN.character()), 12);
    let small = Arc::new(Body { names: blender, height: 1.1, twisted_axes: true, ..PLAIN }.character());
    let result = retarget(&motion, &small);
    for role in [Role::Spine(0), Role::Spine(1), Role::Spine(2)] {
        for frame in 0..12 {
            let away = |m: &Motion| {
                let joint = m.character.rig.joint(role).unwrap();
                let rest = m.character.skeleton().rest_model_pose();
                m.model_pose(frame).joint(joint).rotation * rest.joint(joint).rotation.inverse()
            };
            assert!(away(&motion).angle_to(&away(&result)) < 1e-7, "{role}");
        }
    }
}

#[test]
fn a_trunk_changes_smoothly_with_its_source() {
    // A bow to 80 degrees and back in two seconds: no step of the result is much larger than the source's.
    let mut motion = dance(&Arc::new(PLAIN.character()), 60);
    let spine: Vec<JointId> = motion.character.rig.chain(Role::Spine);
    for frame in 0..60 {
        let bent = 0.7 - 0.7 * (frame as f64 * std::f64::consts::TAU / 60.0).cos();
        let row = motion.clip.rotations_mut(frame);
        row.fill(Quat::identity());
        spine.iter().for_each(|id| row[id.index()] = exp(&(Vec3::x() * (bent / 3.0))));
    }
    // A single joint near the top has little leverage on the line and must not rotate wildly.
    for spine in [1, 2, 5] {
        let target = Arc::new(Body { names: blender, spine, ..PLAIN }.character());
        let result = retarget(&motion, &target);
        let poses: Vec<ModelPose> = (0..60).map(|f| result.model_pose(f)).collect();
        for id in target.rig.chain(Role::Spine) {
            let steps = poses.windows(2).map(|w| w[0].joint(id).rotation.angle_to(&w[1].joint(id).rotation));
            let largest = steps.fold(0.0, f64::max);
            assert!(largest < 0.15, "{spine} spine joints, {id:?}: {largest}");
        }
    }
}

#[test]
fn strides_scale_with_the_legs_and_heights_from_the_ground() {
    let motion = dance(&Arc::new(PLAIN.character()), 12);
    let small = Arc::new(Body { names: blender, height: 0.85, ..PLAIN }.character());
    let result = retarget(&motion, &small);
    let pelvis = |m: &Motion, frame: usize| {
        let thigh = |s| m.model_pose(frame).position(m.character.rig.joint(Role::UpperLeg(s)).unwrap());
        (thigh(Side::Left) + thigh(Side::Right)) * 0.5
    };
    for frame in 0..12 {
        assert!((pelvis(&result, frame) - pelvis(&motion, frame) * 0.5).norm() < 1e-9);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let motion = dance(&Arc::new(PLAIN.character()), 300);
    let target = Arc::new(Body { names: blender, arm_angle: 0.7, ..PLAIN }.character());
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| retarget(&motion, &target))
    };
    assert!(with(1).clip == with(2).clip);
}

#[test]
fn a_body_without_legs_is_refused_with_the_line_to_add() {
    let mut joints = PLAIN.skeleton().joints().to_vec();
    for joint in &mut joints {
        joint.name = joint.name.replace("UpLeg", "Pillar");
    }
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = skeleton.rest_model_pose();
    // By names alone: the shape of the tree would identify the legs.
    let names = JointNames::of(&skeleton, Vocabulary::built_in());
    let rig = detect_roles_from(&names, skeleton, &rest, &[], None).rig;
    let broken = Character { rig, ..PLAIN.character() };
    let error = map(&PLAIN.character(), &broken).unwrap_err();
    let MapError::Missing(wanted) = &error else { panic!("{error:?}") };
    assert_eq!(wanted.iter().map(|w| w.role).collect::<Vec<_>>(), Side::BOTH.map(Role::UpperLeg));
    let line = "target_roles.left_upper_leg = \"mixamorig:LeftPillar\"";
    assert!(error.to_string().contains(line), "{error}");
}

#[test]
fn the_map_reads_back_as_it_was_written_and_can_be_edited() {
    use posemill::retarget::JointMap;
    let (s, t) = (PLAIN.character(), Body { names: blender, spine: 1, ..PLAIN }.character());
    let found = map(&s, &t).unwrap();
    let text = found.to_toml(&s, &t);
    let (read, ..) = JointMap::read(&text, "map.toml", &s, &t).unwrap();
    let facts = |m: &JointMap| {
        m.pairs.iter().map(|p| (p.role, p.source, p.target, p.blend.map(|b| b.0))).collect::<Vec<_>>()
    };
    assert_eq!(facts(&found), facts(&read));

    let wrong = text.replace("target = \"DEF-shin.L\"", "target = \"DEF-shinn.L\"");
    let error = JointMap::read(&wrong, "map.toml", &s, &t).unwrap_err().to_string();
    let line = wrong.lines().position(|l| l.contains("DEF-shinn.L")).unwrap() + 1;
    assert_eq!(
        error,
        format!(
            "map.toml:{line}: there is no joint `DEF-shinn.L` in `{}`; did you mean `DEF-shin.L`?",
            t.name
        )
    );

    let told = "target_roles.left_toes = \"DEF-foot.L\"\n";
    let (_, _, rig) = JointMap::read(told, "map.toml", &s, &t).unwrap();
    assert_eq!(rig.joint(Role::Toes(Side::Left)), rig.skeleton().find("DEF-foot.L"));
}

#[test]
fn a_chain_of_thousands_of_joints_is_carried_over_in_no_time() {
    // No cost may be quadratic in the depth: a hostile file has thousands of joints in one chain.
    let joints: Vec<Joint> = (0..4000)
        .map(|k: usize| {
            let rest = Transform::from_translation(Vec3::new(0.0, 0.01, 0.0));
            Joint::new(format!("link{k}"), k.checked_sub(1).map(JointId::new), rest)
        })
        .collect();
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = skeleton.rest_model_pose();
    let poses = vec![skeleton.rest_pose(); 2];
    let clip = Clip::from_poses("still", 30.0, &skeleton, &poses);
    let rig = detect_roles(skeleton, &rest, &[]);
    let chain = Arc::new(Character { rig, ..PLAIN.character() });
    let motion = Motion::new(Arc::clone(&chain), clip);
    assert!(apart(&motion, &retarget(&motion, &chain)) < 1e-9);
}

#[test]
fn a_map_file_tells_how_far_joints_turn_and_its_faults_name_the_line() {
    use posemill::retarget::JointMap;
    let (s, t) = (PLAIN.character(), PLAIN.character());
    let read = |text: &str| JointMap::read(text, "map.toml", &s, &t);
    let (_, source, target) = read("[limits.left_upper_arm]\nabduction = 120\nrotation = 30\n").unwrap();
    let arm = Role::UpperArm(Side::Left);
    let told = target.mobility_override(arm).unwrap();
    assert!(
        (told.side[1].to_degrees() - 30.0).abs() < 1e-9 && (told.twist[0].to_degrees() + 30.0).abs() < 1e-9
    );
    assert_eq!(source.mobility_override(arm), None);
    let fault = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        fault("[limits.head]\nflexion = 10\nabduction = 9\n"),
        "map.toml:3: `head` has no `abduction`, allowed are `flexion`, `extension`, `lateral_flexion`, `rotation`"
    );
    assert_eq!(fault("[limits.hips]\nflexion = 10\n"), "map.toml:2: `hips` has no range of motion");
    assert_eq!(fault("[limits.hip]\nflexion = 10\n"), "map.toml:1: `hip` is no role; did you mean `hips`?");
}

#[test]
fn arms_that_hang_elsewhere_in_the_file_go_with_the_chest_where_nothing_drives_their_collar_bones() {
    // Collar bones and arms are children of the root in the file, and the source has no collar bones.
    let part = |skeleton: &Skeleton, change: &dyn Fn(&mut Joint, &str)| {
        let mut joints = skeleton.joints().to_vec();
        joints.iter_mut().for_each(|joint| {
            let name = joint.name.clone();
            change(joint, &name);
        });
        Skeleton::new(joints).unwrap()
    };
    let understood = |skeleton: Skeleton| {
        let rest = skeleton.rest_model_pose();
        // By names alone: the shape of the tree would identify the collar bones.
        let names = JointNames::of(&skeleton, Vocabulary::built_in());
        let rig = detect_roles_from(&names, skeleton, &rest, &[], None).rig;
        Arc::new(Character { rig, ..PLAIN.character() })
    };
    let bare = part(&PLAIN.skeleton(), &|joint, name| {
        joint.name = name.replace("Shoulder", "Bump");
    });
    let pieces = Body { names: blender, feet_under_root: true, ..PLAIN }.skeleton();
    let model = pieces.rest_model_pose();
    let pieces = part(&pieces, &|joint, name| {
        if name.contains("clavicle") || name.contains("upper_arm") {
            let at = model.joint(pieces.find(name).unwrap());
            joint.rest = model.joint(JointId::new(0)).inverse() * *at;
            joint.parent = Some(JointId::new(0));
        }
    });
    let (source, target) = (understood(bare), understood(pieces));
    assert_eq!(source.rig.joint(Role::Clavicle(Side::Left)), None);
    let result = retarget(&dance(&source, 12), &target);
    let rest = target.skeleton().rest_model_pose();
    let chest = *target.rig.chain(Role::Spine).last().unwrap();
    let arm = target.rig.joint(Role::UpperArm(Side::Left)).unwrap();
    let within = |p: &ModelPose| p.joint(chest).inverse().point(&p.position(arm));
    for frame in 0..12 {
        let away = (within(&result.model_pose(frame)) - within(&rest)).norm();
        assert!(away < 1e-9, "{away} m in frame {frame}");
    }
}

#[test]
fn a_second_body_and_what_is_far_away_stay_where_they_rest() {
    let (plain, known) = (PLAIN.skeleton(), PLAIN.character());
    let root = JointId::new(0);
    let mut joints = vec![Joint::new("root", None, Transform::identity())];
    // A second body within reach of the first one's hands.
    for (suffix, aside) in [("", 0.0), (".001", 0.6)] {
        let first = joints.len();
        for joint in plain.joints() {
            let mut rest = joint.rest;
            rest.translation.x += if joint.parent.is_none() { aside } else { 0.0 };
            let parent = joint.parent.map_or(root, |p| JointId::new(first + p.index()));
            joints.push(Joint::new(format!("{}{suffix}", joint.name), Some(parent), rest));
        }
    }
    let at = |x, y| Transform::new(Quat::identity(), Vec3::new(x, y, 0.0));
    let (prop, hat) = (JointId::new(joints.len()), JointId::new(joints.len() + 1));
    joints.push(Joint::new("prop", Some(root), at(3.0, 1.0)));
    joints.push(Joint::new("hat", Some(root), at(0.0, 1.8)));
    let roles = known
        .rig
        .assignments()
        .map(|(role, own)| (role, Assignment::new(JointId::new(own.joint.index() + 1), 1.0, "")));
    let rig = Rig::new(Skeleton::new(joints).unwrap(), roles.collect::<Vec<_>>());
    let target = Arc::new(Character { rig, ..known.clone() });
    let result = retarget(&dance(&Arc::new(known), 12), &target);
    let rest = target.skeleton().rest_model_pose();
    let head = target.rig.joint(Role::Head).unwrap();
    let on_head = |pose: &ModelPose| pose.joint(head).inverse().point(&pose.position(hat));
    for frame in 0..12 {
        let pose = result.model_pose(frame);
        let second = (plain.len() + 1..=2 * plain.len()).map(JointId::new);
        for id in second.chain([prop]) {
            let moved = (pose.position(id) - rest.position(id)).norm();
            assert!(moved < 1e-9, "{} in frame {frame}: {moved} m", target.skeleton().joint(id).name);
        }
        assert!((on_head(&pose) - on_head(&rest)).norm() < 1e-9);
    }
}

/// A character whose figure, trunk and legs alike, is tilted by `by` about its feet in the rest pose.
fn tilted(character: &Character, by: Quat) -> Arc<Character> {
    let mut joints = character.skeleton().joints().to_vec();
    joints[0].rest = Transform::from_rotation(by) * joints[0].rest;
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = skeleton.rest_model_pose();
    Arc::new(Character { rig: detect_roles(skeleton, &rest, &[]), ..character.clone() })
}

#[test]
fn a_rest_pose_that_is_tilted_as_a_whole_tilts_no_trunk() {
    let (upright, motion) = (Arc::new(PLAIN.character()), dance(&Arc::new(PLAIN.character()), 12));
    let plain = retarget(&motion, &upright);
    for by in [Vec3::x() * 0.35, -Vec3::x() * 0.5, Vec3::z() * 0.3] {
        let by = exp(&by);
        let onto = retarget(&motion, &tilted(&upright, by));
        // The same motion over the tilted rest pose: rotations in a clip are not relative to it.
        let from = retarget(&Motion::new(tilted(&upright, by), motion.clip.clone()), &upright);
        for frame in 0..12 {
            let wanted = trunk_line(&plain, frame);
            for result in [&onto, &from] {
                let off = angle_between(&wanted, &trunk_line(result, frame));
                assert!(off < 0.02, "{by:?}, frame {frame}: {off} rad");
            }
        }
    }
}
