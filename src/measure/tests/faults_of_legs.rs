//! A fault that is made on purpose is seen by its own measure, and by no other one: legs, feet and floor.

use super::fault_scene::{Scene, changed, in_air, joint, pose_at, resting, rotate, standing, swivelled};
use posemill::math::{DEGREE, Vec3, exp, smoothstep};
use posemill::measure::{Reading, assess, assess_against};
use posemill::model::{ContactPart, Contacts, Hold, ModelPose, Motion, Pose, Role, Side};
use std::sync::Arc;

/// The motion at another place in each frame.
fn moved(motion: &Motion, place: impl Fn(usize) -> Vec3) -> Motion {
    changed(motion, |f, pose| pose.local_mut()[0].translation += place(f))
}

/// Bends a knee by more, in its own plane, forward by `forward`; the foot keeps its rotation.
fn bend(motion: &Motion, pose: &mut Pose, side: Side, [thigh, shin]: [f64; 2]) {
    let [hip, knee, ankle] =
        [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|r| joint(motion, r));
    let model = |pose: &Pose| ModelPose::of(motion.character.skeleton(), pose);
    let kept = model(pose).joint(ankle).rotation;
    let left = model(pose).position(joint(motion, Role::UpperLeg(Side::Left)));
    let axis = (left - model(pose).position(joint(motion, Role::UpperLeg(Side::Right)))).normalize();
    rotate(&motion.character, pose, hip, exp(&(axis * thigh)));
    rotate(&motion.character, pose, knee, exp(&(axis * shin)));
    let back = kept * model(pose).joint(ankle).rotation.inverse();
    rotate(&motion.character, pose, ankle, back);
}

#[test]
fn a_leg_that_leans_on_its_knee_goes_where_the_skin_of_the_knee_is() {
    let scene = resting();
    let over = |turned: Side, labelled: bool| {
        let leg = joint(&scene.direct, Role::UpperLeg(turned));
        let result = changed(&scene.direct, |_, pose| {
            rotate(&scene.direct.character, pose, leg, exp(&(Vec3::x() * (-14.0 * DEGREE))))
        });
        let mut labels = scene.labels.clone().unwrap();
        if labelled {
            let hold = Hold { frames: 0..scene.direct.clip.frames(), height: 0.0, slide: 0.0 };
            labels.set(ContactPart::Knee(Side::Left), vec![hold]);
        }
        let take = (&scene.of_take, &scene.take);
        let made = assess_against(&scene.context, &result, Some(&labels), take, &scene.direct);
        made.metrics.iter().any(|m| m.name == "limb_error_p95" && Reading::from(m).over())
    };
    assert!(over(Side::Left, false) && over(Side::Right, true));
    assert!(!over(Side::Left, true));
}

#[test]
fn a_foot_that_slides_without_a_take_beside_it() {
    let scene = resting();
    let over = |motion: &Motion| -> Vec<String> {
        let made = assess(&scene.context, motion, scene.labels.as_ref(), None);
        made.metrics.iter().filter(|m| Reading::from(*m).over()).map(|m| m.name.clone()).collect()
    };
    assert_eq!(over(&scene.direct), Vec::<String>::new());
    // 0.12 m/s.
    assert_eq!(over(&moved(&scene.direct, |f| Vec3::x() * (0.004 * f as f64))), ["foot_slide_p95"]);
}

#[test]
fn a_foot_with_a_spur_that_is_in_the_floor_beside_the_points_of_its_sole() {
    let scene = resting();
    let mut character = (*scene.direct.character).clone();
    let foot = character.rig.joint(Role::Foot(Side::Left)).unwrap();
    // The outermost vertex, 0.4 m farther out.
    let (mut outermost, mut at) = (f32::MIN, None);
    for (k, mesh) in character.meshes.iter().enumerate() {
        for (vertex, position) in mesh.positions.iter().enumerate() {
            let of_foot = mesh.in_heaviest_joint(vertex).is_some_and(|(id, _)| id == foot);
            if of_foot && position[0] > outermost {
                (outermost, at) = (position[0], Some((k, vertex)));
            }
        }
    }
    let (mesh, vertex) = at.expect("skin of the foot");
    character.meshes[mesh].positions[vertex][0] += 0.4;
    let spurred = Motion { character: Arc::new(character), ..scene.direct };
    let contacts = Some(posemill::contacts::detect(&spurred, &Default::default()));
    let scene = Scene::own(Motion { contacts, ..spurred });
    let rolled = changed(&scene.direct, |_, pose| {
        rotate(&scene.direct.character, pose, foot, exp(&(Vec3::z() * (-12.0 * DEGREE))));
    });
    assert_eq!(scene.added_to_both(&rolled), ["body_skin_below_floor"]);
}

#[test]
fn a_planted_foot_that_slips_from_where_it_is_in_the_take() {
    let scene = Scene::walk();
    let rate = scene.direct.clip.sample_rate;
    // 2 cm in a tenth of a second, twice a second: 0.2 m/s, and 4 cm/s in the mean.
    let slips = |f: usize| {
        let time = 2.0 * f as f64 / rate;
        Vec3::x() * (0.02 * (time.floor() + smoothstep((time.fract() * 5.0).min(1.0))))
    };
    assert_eq!(scene.added(&moved(&scene.direct, slips)), ["rest_slip_p95"]);
}

#[test]
fn a_planted_foot_that_slides_steadily_away() {
    let scene = Scene::walk();
    // 0.12 m/s, which a frame of a good result may reach.
    let slides = |f: usize| Vec3::x() * (0.12 * f as f64 / scene.direct.clip.sample_rate);
    assert_eq!(scene.added(&moved(&scene.direct, slides)), ["rest_drift"]);
}

#[test]
fn a_planted_foot_that_faces_elsewhere() {
    let scene = resting();
    let foot = scene.direct.character.rig.joint(Role::Foot(Side::Left)).unwrap();
    let mut turned = scene.direct.clone();
    for f in 0..turned.clip.frames() {
        let model = turned.model_pose(f).joint(foot).rotation;
        let about = model.inverse() * exp(&(Vec3::y() * 0.6)) * model;
        turned.clip.rotations_mut(f)[foot.index()] *= about;
    }
    assert_eq!(scene.added(&turned), ["foot_orientation_p95"]);
}

#[test]
fn a_foot_that_stands_on_its_edge_is_no_better_for_a_direct_transfer_that_does_too() {
    let scene = resting();
    let foot = joint(&scene.direct, Role::Foot(Side::Left));
    let tilted = changed(&scene.direct, |_, pose| {
        rotate(&scene.direct.character, pose, foot, exp(&(Vec3::z() * (24.0 * DEGREE))));
    });
    assert_eq!(scene.added(&tilted), ["sole_tilt_p50"]);
    assert_eq!(scene.added_to_both(&tilted), ["sole_tilt_p50"]);
}

#[test]
fn a_foot_that_lies_behind_its_knee_does_not_stand() {
    let scene = resting();
    let knee = joint(&scene.direct, Role::LowerLeg(Side::Left));
    let kneels = changed(&scene.direct, |_, pose| {
        rotate(&scene.direct.character, pose, knee, exp(&(Vec3::x() * (85.0 * DEGREE))));
    });
    let scene = Scene::own(Motion { contacts: scene.labels.clone(), ..kneels });
    assert!(!scene.over(&scene.direct, &scene.direct).contains("sole_tilt_p50"));
}

#[test]
fn feet_in_the_floor() {
    let scene = resting();
    assert_eq!(scene.added(&moved(&scene.direct, |_| Vec3::y() * -0.02)), ["penetration_max"]);
}

#[test]
fn feet_that_never_reach_the_floor() {
    let scene = resting();
    assert_eq!(scene.added(&moved(&scene.direct, |_| Vec3::y() * 0.05)), ["float_share"]);
}

#[test]
fn planted_feet_that_rise_and_sink_where_those_of_the_take_do_not() {
    // Slowly up by 2.6 cm and down again in a third of the time.
    let scene = Scene::walk();
    let third = scene.direct.clip.frames() / 3;
    let up = |f: usize| 0.013 * (1.0 - libm::cos(std::f64::consts::TAU * f.min(third) as f64 / third as f64));
    assert_eq!(scene.added(&moved(&scene.direct, |f| Vec3::y() * up(f))), ["clearance_error_p95"]);
}

#[test]
fn legs_that_are_not_straight_where_those_of_the_take_are() {
    let scene = resting();
    let bent = changed(&scene.direct, |_, pose| {
        for side in Side::BOTH {
            bend(&scene.direct, pose, side, [-2.5 * DEGREE, 5.0 * DEGREE]);
        }
    });
    assert_eq!(scene.added(&bent), ["straight_leg_bend_p90"]);
}

#[test]
fn a_knee_that_is_bent_further_in_one_swing() {
    let scene = Scene::walk();
    let (side, labels) = (Side::Left, scene.labels.clone().unwrap());
    // The longest time in the air.
    let air: Vec<usize> =
        (0..scene.direct.clip.frames()).filter(|f| in_air(&labels, side, *f) > 0.0).collect();
    let swings: Vec<&[usize]> = air.chunk_by(|a, b| a + 1 == *b).collect();
    let swing = swings[1..swings.len() - 1].iter().max_by_key(|s| s.len()).unwrap();
    let share = |f: usize| {
        let k = swing.iter().position(|g| *g == f)?;
        Some(0.5 * (1.0 - libm::cos(std::f64::consts::TAU * k as f64 / (swing.len() - 1) as f64)))
    };
    let bent = changed(&scene.direct, |f, pose| {
        if let Some(share) = share(f) {
            bend(&scene.direct, pose, side, [-9.0 * DEGREE * share, 18.0 * DEGREE * share]);
        }
    });
    assert_eq!(scene.added(&bent), ["knee_error_max"]);
}

/// Two seconds of slow squats of the mannequin at 30 Hz, the feet where they are.
fn squats() -> Scene {
    let scene = resting();
    let deep = changed(&scene.direct, |f, pose| {
        let angle =
            25.0 * DEGREE * (1.0 - libm::cos(std::f64::consts::TAU * f as f64 / 60.0)) + 10.0 * DEGREE;
        let foot = joint(&scene.direct, Role::Foot(Side::Left));
        let at = |pose: &Pose| ModelPose::of(scene.direct.character.skeleton(), pose).position(foot);
        let before = at(pose);
        for side in Side::BOTH {
            bend(&scene.direct, pose, side, [-0.5 * angle, angle]);
        }
        let moved = before - at(pose);
        pose.local_mut()[0].translation += moved;
    });
    Scene::own(Motion { contacts: scene.labels.clone(), ..deep })
}

#[test]
fn a_knee_that_shakes() {
    let scene = squats();
    let shaking = (0..60).fold(scene.direct.clone(), |motion, f| {
        let angle = if f % 2 == 0 { 0.5 * DEGREE } else { -0.5 * DEGREE };
        swivelled(&motion, f, [Role::UpperLeg(Side::Left), Role::Foot(Side::Left)], angle)
    });
    assert_eq!(scene.added(&shaking), ["knee_jerk_ratio"]);
}

#[test]
fn a_foot_that_shakes() {
    let scene = Scene::walk();
    // Hands that shake more, in take and result.
    let hands = changed(&scene.direct, |f, pose| {
        for side in Side::BOTH {
            let angle = if f % 2 == 0 { 12.0 * DEGREE } else { -12.0 * DEGREE };
            rotate(
                &scene.direct.character,
                pose,
                joint(&scene.direct, Role::LowerArm(side)),
                exp(&(Vec3::x() * angle)),
            );
        }
    });
    let labels = scene.labels.clone().unwrap();
    let scene = Scene { direct: hands, ..scene };
    let shaking = changed(&scene.direct, |f, pose| {
        for side in Side::BOTH {
            let angle = if f % 2 == 0 { 2.5 * DEGREE } else { -2.5 * DEGREE };
            bend(&scene.direct, pose, side, [0.0, angle * in_air(&labels, side, f)]);
        }
    });
    assert_eq!(scene.added(&shaking), ["foot_jerk_ratio"]);
}

/// The height of a body that is thrown up at 9.81 m/s, at 30 Hz, times `scale`, from 20 cm above the floor.
fn thrown(f: usize, scale: f64) -> Vec3 {
    let t = f as f64 / 30.0;
    Vec3::y() * (scale * 9.81 * t * (2.0 - t) * 0.5 + 0.2)
}

#[test]
fn a_body_that_rolls_above_the_floor_where_its_take_rolls_on_it() {
    // Both fly as bodies do, the result 40 cm above the take.
    let (stand, contacts) = (standing(), Some(Contacts::new(0.0, [])));
    let scene = Scene::own(Motion { contacts, ..moved(&stand, |f| thrown(f, 1.0)) });
    assert_eq!(scene.added(&moved(&stand, |f| thrown(f, 1.0) + Vec3::y() * 0.4)), ["flight_height_p95"]);
}

#[test]
fn a_body_that_floats_down_where_its_take_falls() {
    let (stand, contacts) = (standing(), Some(Contacts::new(0.0, [])));
    let scene = Scene::own(Motion { contacts, ..moved(&stand, |f| thrown(f, 1.0)) });
    assert_eq!(scene.added(&moved(&stand, |f| thrown(f, 0.3))), ["flight_error"]);
}

#[test]
fn one_foot_stands_where_it_stood() {
    // What the squats of these tests are: nothing is wrong with them.
    let scene = squats();
    let foot = |f: usize| pose_at(&scene.direct, f).position(joint(&scene.direct, Role::Foot(Side::Left)));
    assert!((0..60).all(|f| (foot(f) - foot(0)).norm() < 1e-9));
    let none: Vec<String> = Vec::new();
    assert_eq!(scene.over(&scene.direct, &scene.direct).into_iter().collect::<Vec<_>>(), none);
}

#[test]
fn a_loop_that_does_not_close() {
    let scene = squats();
    let (head, last) = (joint(&scene.direct, Role::Head), scene.direct.clip.frames() - 1);
    let open = changed(&scene.direct, |f, pose| {
        let angle = 6.0 * DEGREE * (1.0 - (last - f).min(20) as f64 / 20.0);
        rotate(&scene.direct.character, pose, head, exp(&(Vec3::y() * angle)));
    });
    assert_eq!(scene.added(&open), ["loop_seam"]);
}
