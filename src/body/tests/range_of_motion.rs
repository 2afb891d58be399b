//! Where the joints of a made figure may turn, by the published mobilities.

use crate::made_figure::figure;
use posemill::anatomy::detect_roles;
use posemill::body::range_of_motion;
use posemill::ik::SwingTwist;
use posemill::math::{Transform, Vec3, arc, exp, log};
use posemill::model::{Joint, JointId, Rig, Role, Side, Skeleton};

/// Whether a turn in model axes away from rest is inside the ellipse of swings.
fn allows(rig: &Rig, role: Role, turn: Vec3) -> bool {
    let rest = rig.skeleton().rest_model_pose();
    let id = rig.joint(role).unwrap();
    let range = range_of_motion(rig, &rest, id).unwrap();
    // All joints of the made body rest unturned, so that model axes are joint axes.
    let limit = SwingTwist::from(range);
    let [first, second, _] = limit.angles(&exp(&turn));
    let kept = limit.nearest([first, second, 0.0]);
    (kept[0] - first).abs() < 1e-9 && (kept[1] - second).abs() < 1e-9
}

#[test]
fn knees_elbows_and_legs_bend_the_way_people_do() {
    let rig = figure();
    for s in Side::BOTH {
        let sign = s.sign();
        // The shin swings backwards, the thigh forwards, the forearm forwards.
        assert!(allows(&rig, Role::LowerLeg(s), Vec3::x() * 1.5));
        assert!(!allows(&rig, Role::LowerLeg(s), Vec3::x() * -0.5));
        assert!(allows(&rig, Role::UpperLeg(s), Vec3::x() * -1.5));
        assert!(!allows(&rig, Role::UpperLeg(s), Vec3::x() * 1.0));
        assert!(allows(&rig, Role::LowerArm(s), Vec3::y() * (-1.5 * sign)));
        assert!(!allows(&rig, Role::LowerArm(s), Vec3::y() * (0.5 * sign)));
        // The hand goes 20 degrees to the thumb, which points forward, and 30 away from it.
        let hand = |degrees: f64| allows(&rig, Role::Hand(s), Vec3::y() * (-sign * degrees.to_radians()));
        assert!(hand(19.0) && !hand(21.0) && hand(-29.0) && !hand(-31.0));
        // Legs spread by 45 degrees and cross by 30; arms hang down and reach up.
        assert!(allows(&rig, Role::UpperLeg(s), Vec3::z() * (0.7 * sign)));
        assert!(!allows(&rig, Role::UpperLeg(s), Vec3::z() * (-0.7 * sign)));
        assert!(allows(&rig, Role::UpperArm(s), Vec3::z() * (-1.6 * sign)));
        assert!(allows(&rig, Role::UpperArm(s), Vec3::z() * (1.5 * sign)));
        assert!(!allows(&rig, Role::UpperArm(s), Vec3::z() * (1.7 * sign)));
    }
    // The hanging arm goes back by 60 degrees and not by 75.
    for (degrees, allowed) in [(59.0_f64, true), (75.0, false)] {
        let back = exp(&(Vec3::x() * degrees.to_radians())) * -Vec3::y();
        let turn = log(&arc(&Vec3::x(), &back, &Vec3::y()));
        assert_eq!(allows(&rig, Role::UpperArm(Side::Left), turn), allowed, "{degrees}");
    }
    // One of two spine joints may do all of the bending, 80 degrees forwards and 25 backwards.
    assert!(
        allows(&rig, Role::Spine(0), Vec3::x() * 1.39) && !allows(&rig, Role::Spine(0), Vec3::x() * 1.41)
    );
    assert!(!allows(&rig, Role::Spine(1), Vec3::x() * -0.45));
}

#[test]
fn a_foot_that_hangs_on_the_root_has_no_range_until_it_is_told_one() {
    let mut joints: Vec<Joint> = figure().skeleton().joints().to_vec();
    let foot = joints.iter().position(|j| j.name == "LeftFoot").unwrap();
    let toes = joints.iter().position(|j| j.name == "LeftToeBase").unwrap();
    joints[foot].parent = Some(JointId::new(0));
    joints[foot].rest = Transform::from_translation(Vec3::new(0.1, -0.86, 0.0));
    let skeleton = Skeleton::new(joints).unwrap();
    let rest = skeleton.rest_model_pose();
    let rig = detect_roles(skeleton, &rest, &[]);
    assert_eq!(rig.joint(Role::Foot(Side::Left)), Some(JointId::new(foot)));
    assert_eq!(range_of_motion(&rig, &rest, JointId::new(foot)), None);
    assert!(range_of_motion(&rig, &rest, JointId::new(toes)).is_some());
    assert!(range_of_motion(&rig, &rest, rig.joint(Role::Foot(Side::Right)).unwrap()).is_some());
}

#[test]
fn a_hand_bends_about_the_axes_that_the_forearm_has_turned() {
    let rig = figure();
    let rest = rig.skeleton().rest_model_pose();
    let range = range_of_motion(&rig, &rest, rig.joint(Role::Hand(Side::Left)).unwrap()).unwrap();
    let limit = SwingTwist::from(range);
    // The palm turned up, then the hand bent by 70 degrees: that is bending, whatever the turn.
    let turned = exp(&(range.axis * 1.4)) * exp(&(range.first * 1.2));
    let found = limit.angles(&(range.reference * turned));
    assert!((found[0] - 1.2).abs() < 1e-9 && found[1].abs() < 1e-9 && (found[2] - 1.4).abs() < 1e-9);
}
