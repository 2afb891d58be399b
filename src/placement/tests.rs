//! Laws of the placement of arms, on made bodies and on the shipped characters.

use super::ArmPlacement;
use super::direct_arm::PALM;
use super::surface_pair::skin_around;
use crate::made_bodies::{ADULT, Build, GESTURES, body, bones, perform};
use posemill::body::{CharacterBody, HandShape, PartSegment, TouchedPart};
use posemill::export::{self, Format};
use posemill::import::{self, ImportOptions};
use posemill::math::{Mat4, Quat, Transform, Vec3, exp, slerp};
use posemill::model::{Character, Clip, JointId, Motion, Pose, Rig, Role, Side, Skeleton};
use posemill::retarget::{Retarget, RootScale, map};
use std::sync::Arc;

const STOUT: Build = Build { girth: 1.5, ..ADULT };

/// The direct transfer with legs, and the same with its arms placed.
fn placed(motion: &Motion, target: &Arc<Character>) -> [Motion; 2] {
    let source = &motion.character;
    let found = map(source, target).unwrap();
    let rigs = (&source.rig, &target.rig);
    let retargeted = Retarget::new(source, Arc::clone(target), &found, rigs, RootScale::Legs).apply(motion);
    let arms = ArmPlacement::new(&CharacterBody::new(source), &CharacterBody::new(target)).unwrap();
    let (placed, _) = arms.apply(motion, retargeted.clone());
    placed.check().unwrap();
    [retargeted, placed]
}

/// The largest difference of local rotations, of quaternion components.
fn apart(a: &Motion, b: &Motion) -> f64 {
    let far = |(a, b): (&Quat, &Quat)| (a.coords - b.coords).norm().min((a.coords + b.coords).norm());
    a.clip.all_rotations().iter().zip(&b.clip.all_rotations()).map(far).fold(0.0, f64::max)
}

/// The same motion on another character with the same joints.
fn on(motion: &Motion, character: Character) -> Motion {
    Motion::new(Arc::new(character), motion.clip.clone())
}

/// The motion with its root moved in every frame.
fn carried(motion: &Motion, by: impl Fn(usize) -> Transform) -> Motion {
    let skeleton = motion.character.skeleton();
    let poses: Vec<Pose> = (0..motion.clip.frames())
        .map(|f| {
            let mut pose = motion.clip.pose(skeleton, f);
            pose.local_mut()[0] = by(f) * *pose.joint(JointId::new(0));
            pose
        })
        .collect();
    let clip = Clip::from_poses("carried", motion.clip.sample_rate, skeleton, &poses);
    Motion::new(Arc::clone(&motion.character), clip)
}

#[test]
fn an_own_clip_stays_as_it_is_with_and_without_the_sources_skin() {
    let own = Arc::new(body(&ADULT));
    for gesture in GESTURES {
        let motion = perform(&own, gesture);
        let [retargeted, result] = placed(&motion, &own);
        assert!(apart(&retargeted, &result) < 1e-12, "{gesture:?}");
        let [retargeted, result] = placed(&on(&motion, bones(&ADULT)), &own);
        assert!(apart(&retargeted, &result) < 1e-12, "{gesture:?}, without skin");
    }
}

#[test]
fn arms_far_from_the_body_are_the_direct_transfer() {
    let source = Arc::new(body(&ADULT));
    let target = Arc::new(body(&Build { arms: 1.2, girth: 1.3, ..ADULT }));
    let skeleton = source.skeleton();
    let waving = |f: usize| {
        let mut pose = skeleton.rest_pose();
        for side in Side::BOTH {
            let arm = source.rig.joint(Role::UpperArm(side)).unwrap();
            pose.local_mut()[arm.index()].rotation = exp(&(Vec3::z() * (0.5 * libm::sin(0.1 * f as f64))));
        }
        pose
    };
    let poses: Vec<Pose> = (0..90).map(waving).collect();
    let motion = Motion::new(Arc::clone(&source), Clip::from_poses("aside", 60.0, skeleton, &poses));
    let [retargeted, result] = placed(&motion, &target);
    assert_eq!(retargeted.clip, result.clip);
}

/// A character and its motion `factor` times as large.
fn scaled(motion: &Motion, factor: f64) -> Motion {
    let from = &motion.character;
    let mut joints = from.skeleton().joints().to_vec();
    joints.iter_mut().for_each(|joint| joint.rest.translation *= factor);
    let roles: Vec<_> = from.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let mut to = Character::new("scaled", Rig::new(Skeleton::new(joints).unwrap(), roles));
    to.meshes = from.meshes.clone();
    for binding in to.meshes.iter_mut().flat_map(|mesh| &mut mesh.bindings) {
        binding.joint_from_mesh = Mat4::new_scaling(factor) * binding.joint_from_mesh;
    }
    let mut motion = on(motion, to);
    motion.clip.all_translations_mut().iter_mut().for_each(|v| *v *= factor);
    motion
}

#[test]
fn size_place_and_heading_do_not_matter() {
    let source = Arc::new(body(&ADULT));
    let target = Arc::new(body(&STOUT));
    let mut moved = 0.0_f64;
    for gesture in GESTURES {
        let motion = perform(&source, gesture);
        let [retargeted, result] = placed(&motion, &target);
        moved = moved.max(apart(&retargeted, &result));
        let [_, large] = placed(&scaled(&motion, 3.0), &target);
        assert!(apart(&result, &large) < 1e-6, "{gesture:?}: {}", apart(&result, &large));
        let arms = ArmPlacement::new(&CharacterBody::new(&source), &CharacterBody::new(&target)).unwrap();
        let elsewhere = |_: usize| Transform::new(exp(&(Vec3::y() * 0.8)), Vec3::new(3.0, 0.0, -2.0));
        let [a, b] = [&motion, &retargeted].map(|m| carried(m, elsewhere));
        let (there, _) = arms.apply(&a, b);
        let expected = carried(&result, elsewhere);
        assert!(apart(&there, &expected) < 1e-9, "{gesture:?}: {}", apart(&there, &expected));
    }
    assert!(moved > 0.02, "nothing to see");
}

#[test]
fn a_loop_closes_wherever_it_starts() {
    let (source, target) = (Arc::new(body(&ADULT)), Arc::new(body(&STOUT)));
    let motion = perform(&source, GESTURES[1]);
    let [_, result] = placed(&motion, &target);
    let period = motion.clip.frames() - 1;
    assert_eq!(result.clip.rotations(0).len(), result.clip.rotations(period).len());
    assert!(
        result
            .clip
            .rotations(0)
            .iter()
            .zip(result.clip.rotations(period).iter())
            .map(|(a, b)| (a.coords - b.coords).norm())
            .fold(0.0, f64::max)
            < 1e-9
    );
    let later: Vec<Pose> =
        (0..=period).map(|f| motion.clip.pose(source.skeleton(), (f + 50) % period)).collect();
    let later = Motion::new(Arc::clone(&source), Clip::from_poses("later", 60.0, source.skeleton(), &later));
    let [_, other] = placed(&later, &target);
    for f in 0..period {
        for (a, b) in other.clip.rotations(f).iter().zip(result.clip.rotations((f + 50) % period).iter()) {
            assert!(a.angle_to(b) < 1e-6);
        }
    }
}

/// A gesture that is repeated until it is solved in windows: where they meet it is as everywhere else.
#[test]
fn a_long_take_is_the_same_where_its_windows_meet() {
    let (source, target) = (Arc::new(body(&ADULT)), Arc::new(body(&STOUT)));
    let motion = perform(&source, GESTURES[1]);
    let period = motion.clip.frames() - 1;
    // More than two windows of 2,048 frames with 210 on either side; the last frame is not the first, so that it is no cycle.
    let frames = 4500 / period * period + period / 2;
    let poses: Vec<Pose> = (0..frames).map(|f| motion.clip.pose(source.skeleton(), f % period)).collect();
    let long = Motion::new(Arc::clone(&source), Clip::from_poses("long", 60.0, source.skeleton(), &poses));
    let [retargeted, result] = placed(&long, &target);
    assert!(apart(&retargeted, &result) > 0.05, "nothing to see");
    for f in 300..frames - 300 - period {
        for (a, b) in result.clip.rotations(f).iter().zip(result.clip.rotations(f + period).iter()) {
            assert!(a.angle_to(b) < 1e-6, "frame {f}: {}", a.angle_to(b));
        }
    }
}

/// At 240 Hz every sixth frame is solved: the same arms as at 60 Hz, and as smooth.
#[test]
fn a_take_of_many_frames_a_second_has_the_same_arms() {
    let (source, target) = (Arc::new(body(&ADULT)), Arc::new(body(&STOUT)));
    for (gesture, frames) in [(GESTURES[1], 0), (GESTURES[1], 100), (GESTURES[0], 0)] {
        let motion = perform(&source, gesture);
        let frames = if frames == 0 { motion.clip.frames() } else { frames };
        let [few, many] = [1, 4].map(|times| {
            let pose = |f: usize| {
                let (before, share) = (f / times, (f % times) as f64 / times as f64);
                let ends =
                    [before, (before + 1).min(frames - 1)].map(|f| motion.clip.pose(source.skeleton(), f));
                let mut pose = ends[0].clone();
                for (own, later) in pose.local_mut().iter_mut().zip(ends[1].local()) {
                    own.rotation = slerp(&own.rotation, &later.rotation, share);
                    own.translation += (later.translation - own.translation) * share;
                }
                pose
            };
            let poses: Vec<Pose> = (0..=(frames - 1) * times).map(pose).collect();
            let clip = Clip::from_poses("take", 60.0 * times as f64, source.skeleton(), &poses);
            placed(&Motion::new(Arc::clone(&source), clip), &target)
        });
        let moved = apart(&few[0], &few[1]);
        assert!(moved > 0.05, "nothing to see");
        let mut far: f64 = 0.0;
        for f in 0..frames {
            far = few[1]
                .clip
                .rotations(f)
                .iter()
                .zip(many[1].clip.rotations(4 * f).iter())
                .map(|(a, b)| a.angle_to(b))
                .fold(far, f64::max);
        }
        assert!(far < 0.004, "{far}");
        // The change of a rotation from frame to frame changes as little as between the fewer frames.
        let bend = |motion: &Motion, f: usize| {
            let rows = [f, f + 1, f + 2].map(|frame| motion.clip.rotations(frame));
            let at = |joint: usize| rows.each_ref().map(|row| row[joint].coords);
            let bends = (0..rows[0].len()).map(at).map(|[a, b, c]| (a - b * 2.0 + c).norm());
            bends.fold(0.0, f64::max)
        };
        let most =
            |motion: &Motion| (0..motion.clip.frames() - 2).map(|f| bend(motion, f)).fold(0.0, f64::max);
        assert!(most(&many[1]) < 0.5 * most(&few[1]), "{} {}", most(&many[1]), most(&few[1]));
    }
}

#[test]
fn nothing_is_carried_over_a_cut() {
    let (source, target) = (Arc::new(body(&ADULT)), Arc::new(body(&STOUT)));
    let [first, second] = [GESTURES[1], GESTURES[0]].map(|gesture| perform(&source, gesture));
    let half = |m: &Motion, frames: std::ops::Range<usize>, at: Vec3| {
        let poses = frames.map(|f| m.clip.pose(source.skeleton(), f));
        poses
            .map(|mut pose| {
                pose.local_mut()[0].translation += at;
                pose
            })
            .collect::<Vec<_>>()
    };
    let motion = |poses: &[Pose]| {
        Motion::new(Arc::clone(&source), Clip::from_poses("cut", 60.0, source.skeleton(), poses))
    };
    let before = half(&first, 0..60, Vec3::zeros());
    let after = half(&second, 30..90, Vec3::x() * 4.0);
    let whole = motion(&[before.clone(), after].concat());
    assert_eq!(crate::kinematics::cuts(&whole), [60]);
    let arms = ArmPlacement::new(&CharacterBody::new(&source), &CharacterBody::new(&target)).unwrap();
    let on_target = |m: &Motion| Motion::new(Arc::clone(&target), m.clip.clone());
    let [whole, alone] = [whole, motion(&before)].map(|m| arms.apply(&m, on_target(&m)).0);
    for f in 0..60 {
        for (a, b) in whole.clip.rotations(f).iter().zip(alone.clip.rotations(f).iter()) {
            assert!((a.coords - b.coords).norm() < 1e-12);
        }
    }
}

/// The rotation of both bones of an arm from each frame to the next, degrees.
fn bone_steps(motion: &Motion, side: Side) -> Vec<f64> {
    let poses: Vec<_> = (0..motion.clip.frames()).map(|f| motion.model_pose(f)).collect();
    let at = |f: usize, role| poses[f].position(motion.character.rig.joint(role).unwrap());
    let bones = |f: usize| {
        let [a, b, c] = [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)].map(|r| at(f, r));
        [b - a, c - b]
    };
    let step = |f: usize| {
        let angle = |k: usize| posemill::math::angle_between(&bones(f)[k], &bones(f + 1)[k]).to_degrees();
        angle(0).max(angle(1))
    };
    (0..poses.len() - 1).map(step).collect()
}

#[test]
fn an_arm_that_passes_through_straight_does_not_flip() {
    let (source, target) = (Arc::new(body(&ADULT)), Arc::new(body(&STOUT)));
    let skeleton = source.skeleton();
    // Arms hang at the thighs; the elbow goes from 40 degrees to 1 beyond straight and back.
    let hanging = |f: usize| {
        let mut pose = skeleton.rest_pose();
        for side in Side::BOTH {
            let joint = |role| source.rig.joint(role).unwrap().index();
            let bend = 0.35 + 0.37 * libm::cos(0.06 * f as f64);
            pose.local_mut()[joint(Role::UpperArm(side))].rotation = exp(&(Vec3::z() * (-1.5 * side.sign())));
            pose.local_mut()[joint(Role::LowerArm(side))].rotation =
                exp(&(Vec3::y() * (-bend * side.sign())));
        }
        pose
    };
    let poses: Vec<Pose> = (0..200).map(hanging).collect();
    let motion = Motion::new(Arc::clone(&source), Clip::from_poses("straight", 60.0, skeleton, &poses));
    let [retargeted, result] = placed(&motion, &target);
    assert!(apart(&retargeted, &result) > 0.02, "nothing to see");
    for side in Side::BOTH {
        for (f, (a, b)) in bone_steps(&retargeted, side).iter().zip(bone_steps(&result, side)).enumerate() {
            assert!(b < 1.2 * a + 1.0, "{side:?} {f}: {a} {b}");
        }
    }
}

/// The share of the vertices of hands and forearms inside the elliptic tube of the trunk, in per cent.
fn inside(motion: &Motion, girth: f64) -> f64 {
    let rig = &motion.character.rig;
    let (mut count, mut all) = (0.0, 0.0);
    for f in (0..motion.clip.frames()).step_by(5) {
        let pose = motion.model_pose(f);
        let hips = pose.joint(rig.joint(Role::Hips).unwrap());
        for mesh in &motion.character.meshes {
            let binding = &mesh.bindings[0];
            let arm = Side::BOTH.iter().any(|s| {
                [Role::Hand(*s), Role::LowerArm(*s)].iter().any(|r| rig.joint(*r) == Some(binding.joint))
            });
            for p in mesh.positions.iter().filter(|_| arm) {
                let p = Vec3::new(p[0].into(), p[1].into(), p[2].into());
                let p = pose
                    .joint(binding.joint)
                    .point(&binding.joint_from_mesh.transform_point(&p.into()).coords);
                let p = hips.inverse().point(&p);
                let across = (p.x / (0.16 * girth)).powi(2) + (p.z / (0.12 * girth)).powi(2);
                all += 1.0;
                count += f64::from(u8::from(across < 1.0 && (-0.15..0.55).contains(&p.y)));
            }
        }
    }
    100.0 * count / all
}

#[test]
fn arms_go_no_deeper_into_a_stout_body() {
    let source = Arc::new(body(&ADULT));
    let target = Arc::new(body(&STOUT));
    let skeleton = source.skeleton();
    let hanging = |f: usize| {
        let mut pose = skeleton.rest_pose();
        for side in Side::BOTH {
            let joint = |role| source.rig.joint(role).unwrap().index();
            let swing = exp(&(Vec3::x() * (0.3 * libm::sin(0.05 * f as f64))));
            pose.local_mut()[joint(Role::UpperArm(side))].rotation =
                swing * exp(&(Vec3::z() * (-1.5 * side.sign())));
        }
        pose
    };
    let poses: Vec<Pose> = (0..130).map(hanging).collect();
    let motion = Motion::new(Arc::clone(&source), Clip::from_poses("hanging", 60.0, skeleton, &poses));
    let [retargeted, result] = placed(&motion, &target);
    let (before, after) = (inside(&retargeted, 1.5), inside(&result, 1.5));
    println!("arm vertices inside: {before:.1} % to {after:.1} %");
    // The trunk is as wide as the shoulders: elbows that hang from them stay a little inside.
    assert!(before > 10.0 && after < 0.25 * before, "{before} {after}");
}

/// The largest rotation between two motions of one character, over joints with a role, degrees.
fn turned(a: &Motion, b: &Motion) -> f64 {
    let rig = &a.character.rig;
    let mut worst = 0.0_f64;
    for f in 0..a.clip.frames() {
        let [a, b] = [a, b].map(|m| m.model_pose(f));
        for (_, assigned) in rig.assignments() {
            let [a, b] = [&a, &b].map(|pose| pose.joint(assigned.joint).rotation);
            worst = worst.max(a.angle_to(&b).to_degrees());
        }
    }
    worst
}

/// The motion written as BVH and read again.
fn through_bvh(motion: &Motion) -> Motion {
    let options = export::ExportOptions::default();
    let (files, _) = export::save(std::slice::from_ref(motion), Format::BVH, &options).unwrap();
    let options = ImportOptions::default();
    import::from_bytes(&files[0].bytes, "back", Some("bvh"), None, &options).unwrap().motion(0).unwrap()
}

/// The character in a file that was saved in a frame of some clip: its rest pose is not its bind pose.
fn saved_in_a_pose(hero: &Character) -> Character {
    let mut joints = hero.skeleton().joints().to_vec();
    for (k, joint) in joints.iter_mut().enumerate().skip(1) {
        let axis = Vec3::new(libm::sin(k as f64), 0.3, libm::cos(k as f64));
        joint.rest.rotation *= exp(&(axis * 0.5));
    }
    let roles: Vec<_> = hero.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
    let bind = Some(hero.reference_pose());
    Character { rig: Rig::new(Skeleton::new(joints).unwrap(), roles), bind, ..hero.clone() }
}

#[test]
fn a_result_as_bvh_comes_back_onto_its_character() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| import::load(root.join("data").join(file), &ImportOptions::default()).unwrap();
    for (take, hero) in [
        ("wave.bvh", "mannequin.glb"),
        ("squat.bvh", "mannequin.glb"),
        ("walk.bvh", "robot.glb"),
        ("jump.bvh", "robot.glb"),
    ] {
        let (take, hero) = (read(take).motion(0).unwrap(), read(hero).character);
        for hero in [Arc::clone(&hero), Arc::new(saved_in_a_pose(&hero))] {
            let [_, result] = placed(&take, &hero);
            let back = through_bvh(&result);
            let found = map(&back.character, &hero).unwrap();
            let rigs = (&back.character.rig, &hero.rig);
            let retarget = Retarget::new(&back.character, Arc::clone(&hero), &found, rigs, RootScale::Legs);
            assert!(retarget.has_same_bones());
            let worst = turned(&result, &retarget.apply(&back));
            assert!(worst < 0.001, "{worst} degrees");
            // The path is that of the result: no floor is looked for.
            let hips = hero.rig.joint(Role::Hips).unwrap();
            let far = |f: usize, m: &Motion| m.model_pose(f).position(hips);
            let again = retarget.apply(&back);
            let moved = (0..result.clip.frames()).map(|f| (far(f, &result) - far(f, &again)).norm());
            assert!(moved.fold(0.0, f64::max) < 1e-4);
        }
    }
}

#[test]
fn other_bodies_have_other_bones() {
    let source = Arc::new(bones(&ADULT));
    let has_same_bones = |target: Character| {
        let target = Arc::new(target);
        let found = map(&source, &target).unwrap();
        let rigs = (&source.rig, &target.rig);
        Retarget::new(&source, Arc::clone(&target), &found, rigs, RootScale::Legs).has_same_bones()
    };
    assert!(has_same_bones(body(&ADULT)) && has_same_bones(body(&STOUT)));
    assert!(!has_same_bones(body(&Build { arms: 1.02, ..ADULT })));
}

#[test]
fn a_thumb_that_passes_beside_a_limb_is_not_in_it() {
    let known = CharacterBody::new(&Arc::new(body(&ADULT)));
    let (surface, landmarks) = (known.surface().unwrap(), known.landmarks().unwrap());
    let pose = landmarks.at(known.reference_pose());
    let thigh = PartSegment::of(TouchedPart::Thigh(0), &pose, &surface.lengths);
    let middle = thigh.start + thigh.along * 0.5;
    // A thumb that reaches 6 cm towards the line of the thigh, 9 cm ahead of the palm, and one 9 cm along the thigh.
    let thumbs = [Vec3::new(-0.06, 0.01, 0.09), Vec3::new(-0.06, 0.09, 0.01)];
    let [ahead, along] = thumbs.map(|thumb| {
        let aside = thumb.cross(&Vec3::y()).normalize() * 0.001;
        let skin = (0..52).map(|k| ([Vec3::zeros(), thumb, aside, -aside][k % 4], 1e-4)).collect::<Vec<_>>();
        let mut surface = surface.clone();
        surface.hands[0] = HandShape::of(&skin, &[Vec3::zeros(), Vec3::y() * 9.0], 0.03);
        let mut pose = pose;
        pose.hands[0] = Quat::identity();
        let (around, thick) =
            skin_around(&surface, &pose, (0, PALM), &(middle + Vec3::x() * 0.14), thigh.line());
        assert_eq!(thick, 0.0);
        around.distance
    });
    assert!((ahead - 0.08_f64.hypot(0.09)).abs() < 1e-6, "{ahead}");
    assert!((along - 0.08_f64.hypot(0.01)).abs() < 1e-6, "{along}");
}
