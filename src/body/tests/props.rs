//! What one arm holds does not thicken the arms.

use crate::made_bodies::{ADULT, body, tube};
use posemill::body::CharacterBody;
use posemill::math::{Transform, Vec3};
use posemill::model::{Character, Joint, JointId, Rig, Role, Side, Skeleton};
use std::sync::Arc;

/// A straight prop of these half lengths and radii at a joint of the left arm.
type Prop = (Role, Vec3, [f64; 2]);

/// The body with a prop.
fn with_prop(prop: Option<Prop>) -> CharacterBody {
    let mut character: Character = body(&ADULT);
    if let Some((role, half, thickness)) = prop {
        let joint = character.rig.joint(role).unwrap();
        let pose = character.skeleton().rest_model_pose();
        let wrist = pose.position(character.rig.joint(Role::Hand(Side::Left)).unwrap());
        let middle = (pose.position(joint) + wrist) * 0.5 + Vec3::z() * 0.07;
        let mesh = tube(&character, joint, middle - half, middle + half, thickness);
        character.meshes.push(mesh);
    }
    CharacterBody::new(&Arc::new(character))
}

/// The radii of the forearms.
fn radii(prop: Option<Prop>) -> [f64; 4] {
    with_prop(prop).surface().unwrap().arm
}

/// A sword that is skinned to the hand may be in the floor: no arm is turned over for it.
#[test]
fn a_sword_is_no_hand_that_stays_out_of_the_floor() {
    let sword = (Role::Hand(Side::Left), Vec3::y() * 0.8, [0.02; 2]);
    let [bare, armed] = [None, Some(sword)].map(|prop| {
        let body = with_prop(prop);
        body.support_points().lowest_of_hands(body.reference_pose())
    });
    assert!((bare - armed).abs() < 0.2, "{bare} m, with a sword {armed} m");
}

#[test]
fn a_shield_or_a_staff_on_one_arm_does_not_thicken_both() {
    let own = radii(None);
    let shield = (Role::LowerArm(Side::Left), Vec3::y() * 0.25, [0.22, 0.015]);
    let staff = (Role::Hand(Side::Left), Vec3::y() * 0.8, [0.02; 2]);
    for (name, prop) in [("shield", shield), ("staff", staff)] {
        let with = radii(Some(prop));
        assert_eq!(with == own, name == "staff", "the {name}: {with:?}, without {own:?}");
        for (point, (with, without)) in with.iter().zip(own).enumerate() {
            let off = (with / without - 1.0).abs();
            assert!(off < 0.13, "{name}, point {point}: {with} m instead of {without} m");
        }
    }
}

#[test]
fn what_a_hand_holds_is_no_hand() {
    let own = with_prop(None);
    for half in [Vec3::y() * 0.8, Vec3::z() * 0.5, Vec3::x() * 0.4] {
        let armed = with_prop(Some((Role::Hand(Side::Left), half, [0.02; 2])));
        assert_eq!(own.surface().unwrap().hands, armed.surface().unwrap().hands, "{half:?}");
    }
}

/// The body with a joint without a role on its chest, and skin on it from there to `to`.
fn with_appendage(to: Option<Vec3>) -> CharacterBody {
    let plain: Character = body(&ADULT);
    let rig = &plain.rig;
    let spine = rig.assignments().filter(|(role, _)| matches!(role, Role::Spine(_))).map(|(_, of)| of.joint);
    let chest = spine.last().unwrap();
    let mut joints = plain.skeleton().joints().to_vec();
    joints.push(Joint::new("appendage", Some(chest), Transform::identity()));
    let roles: Vec<_> = rig.assignments().map(|(role, of)| (role, of.clone())).collect();
    let mut character =
        Character { rig: Rig::new(Skeleton::new(joints).unwrap(), roles), bind: None, ..plain.clone() };
    let joint = JointId::new(plain.skeleton().len());
    if let Some(to) = to {
        let from = character.skeleton().rest_model_pose().position(joint);
        let mesh = tube(&character, joint, from, from + to, [0.1, 0.1]);
        character.meshes.push(mesh);
    }
    CharacterBody::new(&Arc::new(character))
}

#[test]
fn wings_are_no_chest_that_arms_stay_out_of_and_a_belly_is() {
    let own = with_appendage(None);
    let like = |to: Vec3| with_appendage(Some(to)).surface().unwrap().has_skin_of(own.surface().unwrap());
    assert!(like(Vec3::new(1.0, 0.2, -0.2)), "wings");
    assert!(!like(Vec3::new(0.0, 0.0, 0.35)), "a belly");
}
