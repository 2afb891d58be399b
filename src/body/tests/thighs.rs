//! The skin of a leg is where it is, on every side of the leg, and rotates with the thigh.

use crate::made_bodies::{ADULT, body, tube};
use posemill::body::{CharacterBody, PartSegment, TouchedPart};
use posemill::math::{Quat, Vec3, exp};
use posemill::model::{Character, ModelPose, Role, Side};
use std::sync::Arc;

/// The radius of the skin of the thighs of `character` in four directions, outwards, back, inwards and front of the body before the
/// thighs were rotated by `turn` (of the right one: its mirror image), left and right, metres.
fn radii(character: &Arc<Character>, turn: &Vec3) -> [[f64; 4]; 2] {
    let known = CharacterBody::new(character);
    let (landmarks, surface) = (known.landmarks().unwrap(), known.surface().unwrap());
    let skeleton = character.skeleton();
    let mut pose = skeleton.rest_pose();
    let turns: [Quat; 2] = [exp(turn), exp(&Vec3::new(turn.x, -turn.y, -turn.z))];
    for (side, turn) in Side::BOTH.into_iter().zip(turns) {
        let thigh = character.rig.joint(Role::UpperLeg(side)).unwrap();
        pose.local_mut()[thigh.index()].rotation = turn;
    }
    let at = landmarks.at(&ModelPose::of(skeleton, &pose));
    [0, 1].map(|k| {
        let part = TouchedPart::Thigh(k);
        let segment = PartSegment::of(part, &at, &surface.lengths);
        let out = Vec3::x() * Side::BOTH[k].sign();
        [out, -Vec3::z(), -out, Vec3::z()]
            .map(|d| surface.radius(part, 0.5, &segment.components(&(turns[k] * d))))
    })
}

/// An adult whose thighs are tubes of these radii, four centimetres out of the bone's line and two ahead of it.
fn with_thighs(thick: [f64; 2]) -> Arc<Character> {
    let mut made = body(&ADULT);
    let pose = made.skeleton().rest_model_pose();
    let thighs = Side::BOTH.map(|s| made.rig.joint(Role::UpperLeg(s)).unwrap());
    made.meshes.retain(|mesh| !thighs.contains(&mesh.bindings[0].joint));
    for ((side, thigh), thick) in Side::BOTH.into_iter().zip(thighs).zip(thick) {
        let off = Vec3::new(0.04 * side.sign(), 0.0, 0.02);
        let knee = made.rig.joint(Role::LowerLeg(side)).unwrap();
        let ends = [thigh, knee].map(|id| pose.position(id) + off);
        made.meshes.push(tube(&made, thigh, ends[0], ends[1], [thick; 2]));
    }
    Arc::new(made)
}

#[test]
fn the_skin_of_a_thigh_is_thick_on_the_side_where_it_is_and_turns_with_it() {
    let made = with_thighs([0.08; 2]);
    for turn in [Vec3::zeros(), Vec3::y() * 1.2, Vec3::z() * 1.5, Vec3::x() * -1.4, Vec3::new(0.6, 0.7, 0.8)]
    {
        for radii in radii(&made, &turn) {
            // Where the tube is from the bone: 4 cm and 2 cm off a circle of 8 cm.
            for (radius, expected) in radii.into_iter().zip([0.117, 0.049, 0.037, 0.089]) {
                assert!((radius - expected).abs() < 0.008, "{turn:?}: {radii:.3?} m");
            }
        }
    }
}

#[test]
fn a_holster_on_one_thigh_is_not_on_the_other() {
    let [left, right] = radii(&with_thighs([0.12, 0.08]), &Vec3::zeros());
    // The right thigh as above, the left one of a circle of 12 cm.
    for (radii, expected) in [(left, [0.159, 0.092, 0.079, 0.132]), (right, [0.117, 0.049, 0.037, 0.089])] {
        for (radius, expected) in radii.into_iter().zip(expected) {
            assert!((radius - expected).abs() < 0.008, "{radii:.3?} m");
        }
    }
}
