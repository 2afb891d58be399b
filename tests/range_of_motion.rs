//! Where the joints of a made figure may turn, by the published mobilities.

mod made_figure;

use made_figure::figure;
use posemill::anatomy::range_of_motion;
use posemill::math::{Vec3, exp, log, swing_twist};
use posemill::model::{Rig, Role, Side};

/// Whether a turn in model axes away from rest is inside the box of swings.
fn allows(rig: &Rig, role: Role, turn: Vec3) -> bool {
    let rest = rig.skeleton().rest_model_pose();
    let id = rig.joint(role).unwrap();
    let range = range_of_motion(rig, &rest, id).unwrap();
    // All joints of the made body rest unturned, so that model axes are joint axes.
    let (swing, _) = swing_twist(&(range.reference.inverse() * exp(&turn)), &range.axis);
    let swing = log(&swing);
    let inside = |x: f64, [low, high]: [f64; 2]| low - 1e-9 <= x && x <= high + 1e-9;
    inside(swing.dot(&range.first), range.swing[0])
        && inside(swing.dot(&range.axis.cross(&range.first)), range.swing[1])
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
    // Two spine joints share 80 degrees of bending forwards and 25 backwards.
    assert!(
        allows(&rig, Role::Spine(0), Vec3::x() * 0.69) && !allows(&rig, Role::Spine(0), Vec3::x() * 0.71)
    );
    assert!(!allows(&rig, Role::Spine(1), Vec3::x() * -0.3));
}
