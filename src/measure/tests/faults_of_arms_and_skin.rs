//! A fault that is made on purpose is seen by its own measure, and by no other one: arms, skin, head, falls.

use super::fault_scene::{
    Scene, asset, changed, in_air, joint, pose_at, rotate, shaking_head, standing, swivelled,
};
use posemill::math::{DEGREE, Quat, Vec3, exp, slerp};
use posemill::measure::{MetricContext, assess_against};
use posemill::model::{Character, Clip, Contacts, Finger, JointId, ModelPose, Motion, Role, Side};
use std::sync::Arc;

#[test]
fn an_elbow_that_pops_in_one_frame() {
    let scene = Scene::walk();
    let bent = |motion: &Motion| {
        let elbow = joint(motion, Role::LowerArm(Side::Left));
        changed(motion, |_, pose| {
            rotate(&motion.character, pose, elbow, exp(&(Vec3::x() * (-60.0 * DEGREE))))
        })
    };
    let direct = bent(&shaking_head(&scene.direct));
    let scene = Scene { direct, ..scene };
    let pops =
        swivelled(&scene.direct, 20, [Role::UpperArm(Side::Left), Role::Hand(Side::Left)], 14.0 * DEGREE);
    assert_eq!(scene.added(&pops), ["elbow_pop"]);
}

#[test]
fn an_elbow_does_not_pop_over_a_cut_of_the_take() {
    let scene = Scene::walk();
    const CUT: usize = 20;
    let with_cut = |motion: &Motion| {
        let elbow = joint(motion, Role::LowerArm(Side::Left));
        changed(motion, |frame, pose| {
            rotate(&motion.character, pose, elbow, exp(&(Vec3::x() * (-60.0 * DEGREE))));
            if frame >= CUT {
                rotate(&motion.character, pose, JointId::new(0), exp(&(Vec3::y() * (90.0 * DEGREE))));
            }
        })
    };
    let (take, direct) = (with_cut(&scene.take), with_cut(&shaking_head(&scene.direct)));
    assert_eq!(posemill::kinematics::cuts(&take), [CUT]);
    let scene = Scene { take, direct, ..scene };
    let arm = [Role::UpperArm(Side::Left), Role::Hand(Side::Left)];
    let of = |frame: usize| {
        let both =
            [14.0, -14.0].map(|angle| scene.added(&swivelled(&scene.direct, frame, arm, angle * DEGREE)));
        both.concat()
    };
    assert_eq!(of(CUT), [""; 0]);
    assert!(of(CUT + 5).contains(&"elbow_pop".to_owned()));
}

#[test]
fn a_knee_that_pops_in_one_frame() {
    let scene = Scene::walk();
    let scene = Scene { direct: shaking_head(&scene.direct), ..scene };
    let legs = [Role::UpperLeg(Side::Left), Role::Foot(Side::Left)];
    // Where the leg swings its knee is bent most.
    let bend = |f: usize| {
        let model = pose_at(&scene.direct, f);
        let [a, b, c] = [Role::UpperLeg(Side::Left), Role::LowerLeg(Side::Left), Role::Foot(Side::Left)]
            .map(|role| model.position(joint(&scene.direct, role)));
        (b - a).angle(&(c - b))
    };
    let most = (5..scene.direct.clip.frames() - 5).max_by(|a, b| bend(*a).total_cmp(&bend(*b))).unwrap();
    let pops = swivelled(&scene.direct, most, legs, 24.0 * DEGREE);
    assert_eq!(scene.added(&pops), ["knee_pop"]);
}

#[test]
fn a_foot_that_turns_away_from_that_of_the_take_in_the_air() {
    let scene = Scene::walk();
    let (side, labels) = (Side::Right, scene.labels.clone().unwrap());
    let foot = joint(&scene.direct, Role::Foot(side));
    let turned = changed(&scene.direct, |f, pose| {
        rotate(
            &scene.direct.character,
            pose,
            foot,
            exp(&(Vec3::y() * (18.0 * DEGREE * in_air(&labels, side, f)))),
        );
    });
    assert_eq!(scene.added(&turned), ["foot_orientation_p95"]);
}

#[test]
fn a_head_that_looks_elsewhere_and_fingers_that_bend_where_the_hand_was_open() {
    let scene = Scene::walk();
    let faults = [
        (Role::Head, Vec3::y(), ["head_orientation_p95"]),
        (Role::Finger(Side::Right, Finger::Index, 1), Vec3::x(), ["finger_error_p95"]),
    ];
    for (role, axis, seen) in faults {
        let joint = joint(&scene.direct, role);
        let turned = changed(&scene.direct, |_, pose| {
            rotate(&scene.direct.character, pose, joint, exp(&(axis * (15.0 * DEGREE))))
        });
        assert_eq!(scene.added(&turned), seen);
    }
}

#[test]
fn a_hand_that_turns_away_from_that_of_the_take() {
    let scene = Scene::walk();
    let [elbow, hand] =
        [Role::LowerArm(Side::Right), Role::Hand(Side::Right)].map(|role| joint(&scene.direct, role));
    // About the forearm: wrist and fingers' directions hardly change.
    let turned = changed(&scene.direct, |_, pose| {
        let model = ModelPose::of(scene.direct.character.skeleton(), pose);
        let along = (model.position(hand) - model.position(elbow)).normalize();
        rotate(&scene.direct.character, pose, hand, exp(&(along * (18.0 * DEGREE))));
    });
    assert_eq!(scene.added(&turned), ["hand_orientation_p95"]);
}

/// The upper arm hangs as before, the forearm is rotated in some frames by this share of the way to where it points through the belly to
/// the other side.
fn into_the_belly(scene: &Scene, share: f64, when: impl Fn(usize) -> bool) -> Motion {
    let elbow = joint(&scene.direct, Role::LowerArm(Side::Left));
    changed(&scene.direct, |frame, pose| {
        if !when(frame) {
            return;
        }
        let model = ModelPose::of(scene.direct.character.skeleton(), pose);
        let rig = &scene.direct.character.rig;
        let [elbow_at, wrist, hip] =
            [elbow, rig.joint(Role::Hand(Side::Left)).unwrap(), rig.joint(Role::Hips).unwrap()]
                .map(|id| model.position(id));
        let wanted = (hip + Vec3::y() * 0.1 - elbow_at).normalize();
        let turn = Quat::rotation_between(&(wrist - elbow_at), &wanted).unwrap();
        rotate(&scene.direct.character, pose, elbow, slerp(&Quat::identity(), &turn, share));
    })
}

#[test]
fn an_arm_in_the_body() {
    let scene = Scene::walk();
    let seen = |share: f64| scene.added_to_both(&into_the_belly(&scene, share, |_| true));
    assert_eq!(seen(1.0), ["arm_in_body", "arm_through_body"]);
    // On the way there, in one pose that is held, there is more of the arm just below the skin than deep in the body.
    let mut pose = scene.direct.character.skeleton().rest_pose();
    scene.direct.clip.read_pose(0, &mut pose);
    let clip = Clip::from_poses("held", 30.0, scene.direct.character.skeleton(), &vec![pose; 60]);
    let held = Scene::own(Motion { clip, ..scene.direct.clone() });
    let shallow = |k: u32| held.added_to_both(&into_the_belly(&held, f64::from(k) / 40.0, |_| true));
    assert!((1..40).any(|k| shallow(k) == ["arm_in_body"]));
}

#[test]
fn an_arm_in_the_body_for_a_tenth_of_a_second() {
    let scene = Scene::walk();
    // Three frames at 30 Hz, wherever they are.
    for start in 40..46 {
        let through = into_the_belly(&scene, 1.0, |frame| (start..start + 3).contains(&frame));
        assert_eq!(scene.added_to_both(&through), ["arm_through_body"], "from frame {start}");
    }
}

#[test]
fn a_touch_that_is_lost() {
    // The left hand goes to the face: of many rotations of the upper arm and bends of the elbow the one that brings it nearest
    // to the front of the head.
    let stand = standing();
    let [shoulder, elbow, hand, head] =
        [Role::UpperArm(Side::Left), Role::LowerArm(Side::Left), Role::Hand(Side::Left), Role::Head]
            .map(|role| joint(&stand, role));
    let posed = |swing: f64, raise: f64, bend: f64| {
        let mut pose = stand.character.skeleton().rest_pose();
        stand.clip.read_pose(0, &mut pose);
        rotate(&stand.character, &mut pose, shoulder, exp(&(Vec3::z() * raise)) * exp(&(Vec3::y() * swing)));
        let model = ModelPose::of(stand.character.skeleton(), &pose);
        let arm = model.position(hand) - model.position(shoulder);
        let axis = arm.cross(&(model.position(head) - model.position(shoulder))).normalize();
        rotate(&stand.character, &mut pose, elbow, exp(&(axis * bend)));
        (pose, axis)
    };
    let steps = |from: f64, to: f64| (0..12).map(move |k| (from + (to - from) * k as f64 / 11.0) * DEGREE);
    let mut best = (f64::INFINITY, [0.0; 3]);
    for swing in steps(-90.0, 0.0) {
        for raise in steps(-40.0, 60.0) {
            for bend in steps(60.0, 140.0) {
                let model = ModelPose::of(stand.character.skeleton(), &posed(swing, raise, bend).0);
                let wanted = model.position(head) + Vec3::new(0.0, 0.08, 0.14);
                let away = (model.position(hand) - wanted).norm();
                if away < best.0 {
                    best = (away, [swing, raise, bend]);
                }
            }
        }
    }
    let [swing, raise, bend] = best.1;
    // The hand keeps its rotation.
    let bent_less = |by: f64| {
        let (mut pose, axis) = posed(swing, raise, bend - by);
        rotate(&stand.character, &mut pose, hand, exp(&(axis * by)));
        let clip = Clip::from_poses("touch", 30.0, stand.character.skeleton(), &vec![pose; 60]);
        Motion { clip, ..stand.clone() }
    };
    let scene = Scene::own(bent_less(0.0));
    // A hand that touches is turned no otherwise than the take's.
    let turned = changed(&scene.direct, |_, pose| {
        let model = ModelPose::of(scene.direct.character.skeleton(), pose);
        let along = (model.position(hand) - model.position(elbow)).normalize();
        rotate(&scene.direct.character, pose, hand, exp(&(along * (18.0 * DEGREE))));
    });
    assert_eq!(scene.added(&turned), ["hand_orientation_p95"]);
    assert_eq!(
        scene.added(&bent_less(35.0 * DEGREE)),
        ["self_contact_lost"],
        "hand {} m from the face",
        best.0
    );
}

#[test]
fn a_skin_that_is_torn() {
    let scene = Scene::walk();
    let mut character = (*scene.direct.character).clone();
    let (root, elbow) = (JointId::new(0), joint(&scene.direct, Role::LowerArm(Side::Left)));
    for mesh in &mut character.meshes {
        let find = |joint: JointId| mesh.bindings.iter().position(|b| b.joint == joint);
        let Some(of_elbow) = find(elbow) else { continue };
        let of_root = find(root).unwrap_or_else(|| {
            let bind = character.bind.as_ref().unwrap();
            let mut binding = mesh.bindings[of_elbow].clone();
            let moved = bind.joint(root).inverse() * *bind.joint(elbow);
            binding.joint_from_mesh = moved.to_matrix() * binding.joint_from_mesh;
            binding.joint = root;
            mesh.bindings.push(binding);
            mesh.bindings.len() - 1
        });
        for joints in &mut mesh.joints {
            joints.iter_mut().filter(|j| usize::from(**j) == of_elbow).for_each(|j| *j = of_root as u16);
        }
    }
    let character = Arc::new(character);
    let context = MetricContext::new(&character);
    let torn = Motion { character, ..scene.direct.clone() };
    let before = scene.over(&scene.direct, &scene.direct);
    let scene = Scene { context, direct: torn.clone(), ..scene };
    let after = scene.over(&torn, &torn);
    assert_eq!(after.difference(&before).cloned().collect::<Vec<_>>(), ["skin_stretch"]);
}

#[test]
fn a_head_below_the_floor() {
    // Lying on its back, and the head bent back through the floor.
    let stand = standing();
    let lying = changed(&stand, |_, pose| {
        rotate(&stand.character, pose, JointId::new(0), exp(&(Vec3::x() * (-90.0 * DEGREE))));
        pose.local_mut()[0].translation.y += 0.3;
    });
    let lowest = |motion: &Motion| {
        let context = MetricContext::new(&motion.character);
        context.lowest.lowest(&pose_at(motion, 0))
    };
    let on_floor = changed(&lying, |_, pose| pose.local_mut()[0].translation.y -= lowest(&lying));
    let neck = joint(&stand, Role::Head);
    let through = changed(&on_floor, |_, pose| {
        rotate(&stand.character, pose, neck, exp(&(Vec3::x() * (-50.0 * DEGREE))));
    });
    let labels = Contacts::new(0.0, []);
    let scene = Scene { labels: Some(labels), ..Scene::own(on_floor) };
    assert_eq!(scene.added_to_both(&through), ["body_skin_below_floor"]);
}

#[test]
fn a_body_half_as_tall_falls_as_its_take_does() {
    // A throw of the mannequin, and of its skeleton at half the size along a path of half the size.
    let thrown = |stand: &Motion, scale: f64| {
        changed(stand, |frame, pose| {
            let t = frame as f64 / 30.0;
            pose.local_mut()[0].translation.y += scale * (9.81 * t * (2.0 - t) * 0.5 + 0.2);
        })
    };
    let of_size = |scale: f64| {
        let whole = asset("mannequin.glb").character;
        let mut joints = whole.skeleton().joints().to_vec();
        joints.iter_mut().for_each(|joint| joint.rest.translation *= scale);
        let skeleton = posemill::model::Skeleton::new(joints).unwrap();
        let rig =
            posemill::model::Rig::new(skeleton, whole.rig.assignments().map(|(role, a)| (role, a.clone())));
        let character = Arc::new(Character::new("bones", rig));
        let pose = character.skeleton().rest_pose();
        let clip = Clip::from_poses("stand", 30.0, character.skeleton(), &vec![pose; 60]);
        Motion::new(character, clip)
    };
    let (take, result) = (thrown(&of_size(1.0), 1.0), thrown(&of_size(0.5), 0.5));
    let [of_take, context] = [&take, &result].map(|m| MetricContext::new(&m.character));
    let labels = Some(Contacts::new(0.0, []));
    let take = Motion { contacts: labels.clone(), ..take };
    let made = assess_against(&context, &result, labels.as_ref(), (&of_take, &take), &result);
    let error = made.metrics.iter().find(|m| m.name == "flight_error").unwrap();
    assert!(error.value < 0.01 && error.take.unwrap() < 0.01, "{error:?}");
    // The same path on the whole body is a fall at half the gravity.
    let slow = thrown(&of_size(1.0), 0.5);
    let made = assess_against(&of_take, &slow, labels.as_ref(), (&of_take, &take), &slow);
    let error = made.metrics.iter().find(|m| m.name == "flight_error").unwrap();
    assert!((error.value - 0.5).abs() < 0.01, "{error:?}");
}
