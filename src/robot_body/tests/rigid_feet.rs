//! Legs that end in their knees, as those of Gymnasium's humanoid do.

use super::altered;
use crate::math::{Transform, Vec3, exp};
use crate::model::{Asset, Role, Side};
use crate::robot_body::RobotBody;

const BOX: &str = "<geom type=\"box\" size=\"0.095 0.035 0.012\" pos=\"0.045 0 -0.018\"/>";

/// The shipped humanoid without ankles, its feet of another shape.
fn without_ankles(foot: &str) -> Asset {
    let joints = ["left", "right"].map(|side| {
        [
            format!("<joint name=\"{side}_ankle_roll_joint\" axis=\"1 0 0\" range=\"-20 20\"/>"),
            format!("<joint name=\"{side}_ankle_pitch_joint\" axis=\"0 1 0\" range=\"-50 35\"/>"),
        ]
    });
    let mut changes: Vec<(&str, &str)> = joints.iter().flatten().map(|joint| (joint.as_str(), "")).collect();
    changes.push((BOX, foot));
    altered(&changes)
}

fn body(asset: &Asset) -> RobotBody {
    RobotBody::of(asset.character.robot.as_ref().unwrap()).unwrap()
}

/// The origin of the foot is 0.33 m below the knee, the lowest point 0.36 m.
#[test]
fn a_leg_ends_in_its_knee_and_stands_on_its_lowest_shape() {
    let spheres = without_ankles("<geom size=\"0.05\" pos=\"0 0 0.02\"/>");
    let capsules = without_ankles("<geom type=\"capsule\" size=\"0.03\" fromto=\"-0.04 0 0 0.12 0 0\"/>");
    let boxes = without_ankles(BOX);
    for (asset, radius, shin, height, length) in [
        (&spheres, 0.05, 0.31, 0.05, 0.0),
        (&capsules, 0.03, 0.33, 0.03, 0.16),
        (&boxes, 0.0, 0.348, 0.012, 0.19),
    ] {
        let body = body(asset);
        for (leg, sole) in body.limbs.legs.iter().zip(&body.soles) {
            assert!(leg.ends_in_middle() && !sole.has_ankle && sole.measured);
            assert!((sole.radius - radius).abs() < 1e-9);
            assert!((leg.lengths[1] - shin).abs() < 1e-6, "the shin is {} m long", leg.lengths[1]);
            let down = body.zero.links[leg.lower].rotation * leg.lower_direction;
            assert!(-down.z > 1.0 - 1e-6, "the shin points to {down:?}");
            assert!((sole.height - height).abs() < 1e-6, "{}", sole.height);
            assert!(((sole.ball - sole.heel).norm() - length).abs() < 1e-6);
            let low = sole.lowest(&body.zero.links[sole.link], |p| p.z) - body.zero.anchors[leg.middle].z;
            assert!((low + 0.36).abs() < 1e-6, "{low}");
        }
        let foot = asset.character.rig.joint(Role::Foot(Side::Left)).unwrap();
        assert_eq!(asset.character.skeleton().joints()[foot.index()].name, "left_foot");
        assert!(!asset.warnings.has("robot-no-humanoid") && !asset.warnings.has("robot-front"));
    }
}

/// The shins of a robot without ankles stay out of the floor and of each other as other parts do.
#[test]
fn a_shin_with_its_foot_is_among_the_parts_that_collide() {
    let body = body(&without_ankles("<geom size=\"0.05\" pos=\"0 0 0.02\"/>"));
    for leg in &body.limbs.legs {
        assert_eq!(body.capsules.iter().filter(|c| c.link == leg.lower || c.link == leg.end).count(), 2);
    }
    assert!(body.capsules.iter().all(|capsule| !capsule.is_foot));
}

#[test]
fn a_leg_without_ankle_and_foot_is_refused_for_that() {
    let asset = without_ankles("");
    let mut robot = (**asset.character.robot.as_ref().unwrap()).clone();
    robot.links.iter_mut().for_each(|link| link.shapes.clear());
    let error = RobotBody::of(&std::sync::Arc::new(robot)).unwrap_err();
    assert_eq!(error, "a leg has neither an ankle nor a shape that is its foot");
}

/// A sphere that rolls without slipping moves on, and what touches the floor rests.
#[test]
fn a_foot_that_rolls_does_not_slide() {
    let body = body(&without_ankles("<geom size=\"0.05\" pos=\"0 0 0.02\"/>"));
    let sole = &body.soles[0];
    let before = Transform::identity();
    let moved = |translation: Vec3| Transform::new(exp(&(Vec3::y() * 0.1)), translation);
    // The centre stays where it is while the foot rotates about it, then moves on by the length of the arc.
    let about = sole.heel - moved(Vec3::zeros()).point(&sole.heel);
    let spins = sole.slide(&sole.heel, [&before, &moved(about)]);
    assert!((spins + Vec3::x() * 0.005).norm() < 1e-9, "{spins:?}");
    let rolls = sole.slide(&sole.heel, [&before, &moved(about + Vec3::x() * 0.005)]);
    assert!(rolls.norm() < 1e-9, "{rolls:?}");
}
