//! The figure that stands for a skeleton without skin: one head, level feet, any rest pose.

use crate::made_bodies::{ADULT, bones};
use crate::math::{Quat, Transform, Vec3};
use crate::model::{
    Assignment, Calibration, CalibrationSource, Character, Clip, Joint, JointId, Motion, Rig, Role, Side,
    Skeleton,
};
use crate::render::figure::{FigurePart, lengths_of, parts};
use std::sync::Arc;

/// The made body with eyes, a crown and ends of toes, as some exporters write them, standing.
fn motion(change: &dyn Fn(Character) -> Character) -> Motion {
    let made = bones(&ADULT);
    let mut joints = made.skeleton().joints().to_vec();
    let head = made.rig.joint(Role::Head).unwrap();
    let ends = [
        ("eye_l", head, [0.03, 0.08, 0.1]),
        ("eye_r", head, [-0.03, 0.08, 0.1]),
        ("crown", head, [0.0, 0.2, 0.0]),
    ];
    let toes = Side::BOTH.map(|s| {
        (
            if s == Side::Left { "toe_end_l" } else { "toe_end_r" },
            made.rig.joint(Role::Toes(s)).unwrap(),
            [0.0, 0.07, 0.0],
        )
    });
    for (name, parent, at) in ends.into_iter().chain(toes) {
        joints.push(Joint::new(name, Some(parent), Transform::from_translation(Vec3::from(at))));
    }
    let roles: Vec<_> = made.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    let character = change(Character { rig: Rig::new(Skeleton::new(joints).unwrap(), roles), ..made });
    let skeleton = character.skeleton();
    let pose = character.reference_pose().to_local(skeleton);
    let clip = Clip::from_poses("stand", 30.0, skeleton, &[pose]);
    Motion::new(Arc::new(character), clip)
}

fn drawn(motion: &Motion) -> Vec<FigurePart> {
    parts(motion, &lengths_of(motion))
}

#[test]
fn a_head_with_eyes_and_ends_is_one_upright_head_and_toes_are_level() {
    let motion = motion(&|c| c);
    let rig = &motion.character.rig;
    let below = |id: JointId, role: Role| {
        let top = rig.joint(role).unwrap();
        id == top || rig.skeleton().is_ancestor(top, id)
    };
    let all = drawn(&motion);
    let heads: Vec<&FigurePart> = all.iter().filter(|p| below(p.joint, Role::Head)).collect();
    assert_eq!(heads.len(), 1);
    let up = (heads[0].to - heads[0].from).normalize();
    assert!(up.y > 0.999, "{up:?}");
    for side in Side::BOTH {
        let toes: Vec<&FigurePart> = all.iter().filter(|p| below(p.joint, Role::Toes(side))).collect();
        assert_eq!(toes.len(), 1);
        assert!((toes[0].to - toes[0].from).normalize().z > 0.5);
    }
}

#[test]
fn the_figure_of_a_degenerate_rest_pose_is_that_of_its_calibration_pose() {
    let good = motion(&|c| c);
    // The same body, whose joints rest turned by a quarter about an axis; the reference pose knows better.
    let turned = motion(&|c| {
        let upright = c.skeleton().rest_model_pose();
        let quarter = Quat::from_axis_angle(&Vec3::z_axis(), std::f64::consts::FRAC_PI_2);
        let joints = c.skeleton().joints().iter().map(|j| Joint {
            rest: Transform::new(quarter * j.rest.rotation, j.rest.translation),
            ..j.clone()
        });
        let roles: Vec<_> = c.rig.assignments().map(|(r, a)| (r, a.clone())).collect();
        let rig = Rig::new(Skeleton::new(joints.collect()).unwrap(), roles);
        let calibration = Calibration { pose: upright, from: CalibrationSource::Motion, joints: Vec::new() };
        Character { rig, calibration: Some(calibration), ..c }
    });
    for (a, b) in drawn(&good).iter().zip(&drawn(&turned)) {
        assert_eq!(a.joint, b.joint);
        assert!((a.from - b.from).norm() + (a.to - b.to).norm() < 1e-9);
    }
}

/// The joints of a robot are at its hinges; its shapes stand where the links have them.
#[test]
fn a_robot_is_drawn_by_the_capsules_of_its_links() {
    let path = crate::made_walk::shipped("humanoid.xml");
    let character = crate::import::load(path, &crate::import::ImportOptions::default()).unwrap().character;
    let robot = character.robot.clone().unwrap();
    let pose = character.reference_pose().to_local(character.skeleton());
    let motion =
        Motion::new(Arc::clone(&character), Clip::from_poses("", 30.0, character.skeleton(), &[pose]));
    let parts = drawn(&motion);
    let found = crate::model::RobotMotion::of(&motion).unwrap();
    let links = robot.links_in_world(found.base[0], found.values(0));
    let (_, joints) = robot.joints();
    let mut drawn_links = 0;
    for (link, place) in robot.links.iter().zip(&links).filter(|(link, _)| !link.shapes.is_empty()) {
        let id = joints[robot.links.iter().position(|other| other.name == link.name).unwrap()];
        let own: Vec<&FigurePart> = parts.iter().filter(|part| part.joint == id).collect();
        let near = link.shapes.iter().all(|shape| {
            // From X front, Z up to Y up, facing +Z.
            let at = place.point(&shape.link_from_shape.translation);
            let at = Vec3::new(at.y, at.z, at.x);
            // Of a box there are several, side by side.
            let near = if matches!(shape.form, crate::model::Form::Box { .. }) { 0.1 } else { 1e-9 };
            own.iter().any(|part| ((part.from + part.to) / 2.0 - at).norm() < near)
        });
        assert!(near, "{}", link.name);
        drawn_links += 1;
    }
    assert!(drawn_links > 10 && parts.len() >= drawn_links);
}

/// A robot whose base is its chest, from which arms, head and hips hang.
#[test]
fn arms_that_do_not_hang_on_the_hips_are_drawn() {
    let from_chest = motion(&|made| {
        let (rig, pose) = (&made.rig, made.skeleton().rest_model_pose());
        let chest = *rig.chain(Role::Spine).last().unwrap();
        let mut joints = vec![Joint::new("trunk", None, Transform::from_translation(pose.position(chest)))];
        for id in made.skeleton().ids() {
            let joint = made.skeleton().joint(id);
            let parent = joint.parent.filter(|parent| *parent != chest);
            let from =
                if parent.is_some() { joint.rest } else { pose.joint(chest).inverse() * *pose.joint(id) };
            let parent = parent.map_or(0, |parent| parent.index() + 1);
            joints.push(Joint::new(&joint.name, Some(JointId::new(parent)), from));
        }
        let roles = rig.assignments().filter(|(_, a)| a.joint != chest);
        let roles =
            roles.map(|(r, a)| (r, Assignment { joint: JointId::new(a.joint.index() + 1), ..a.clone() }));
        let roles: Vec<_> = roles.collect();
        Character { rig: Rig::new(Skeleton::new(joints).unwrap(), roles), ..made }
    });
    let rig = &from_chest.character.rig;
    for side in Side::BOTH {
        let arm = [Role::UpperArm(side), Role::LowerArm(side)].map(|role| rig.joint(role).unwrap());
        assert!(arm.iter().all(|joint| drawn(&from_chest).iter().any(|part| part.joint == *joint)));
    }
    assert!(drawn(&from_chest).iter().all(|part| part.joint.index() > 0), "the base itself gets no part");
}
