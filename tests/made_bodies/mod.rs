//! Bodies of any build with skin of known girth, and gestures of their hands.

#![allow(dead_code, reason = "every test takes what it needs")]

use posemill::body::{BodyPart, Capsule, capsules};
use posemill::ik::bend_limb;
use posemill::math::{Transform, Vec3, arc};
use posemill::model::{
    Assignment, Binding, Character, Clip, Joint, JointId, Material, Mesh, ModelPose, Motion, Pose, Rig, Role,
    Side, Skeleton,
};
use std::sync::Arc;

/// How a body is built, as factors of an adult's measures.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub legs: f64,
    pub arms: f64,
    pub trunk: f64,
    pub girth: f64,
}

pub const ADULT: Build = Build { legs: 1.0, arms: 1.0, trunk: 1.0, girth: 1.0 };

/// A standing body with stretched arms and without skin.
pub fn bones(build: &Build) -> Character {
    let leg = 0.9 * build.legs;
    let up = |y: f64| leg + y * build.trunk;
    let mut joints: Vec<(Role, usize, Vec3)> = vec![
        (Role::Hips, 0, Vec3::new(0.0, up(0.05), 0.0)),
        (Role::Spine(0), 0, Vec3::new(0.0, up(0.2), 0.0)),
        (Role::Spine(1), 1, Vec3::new(0.0, up(0.4), 0.0)),
        (Role::Neck(0), 2, Vec3::new(0.0, up(0.6), 0.0)),
        (Role::Head, 3, Vec3::new(0.0, up(0.7), 0.0)),
    ];
    for side in Side::BOTH {
        let s = side.sign();
        let arm = |x: f64| Vec3::new(s * (0.2 + x * build.arms), up(0.54), 0.0);
        joints.push((Role::UpperArm(side), 2, arm(0.0)));
        joints.push((Role::LowerArm(side), joints.len() - 1, arm(0.3)));
        joints.push((Role::Hand(side), joints.len() - 1, arm(0.55)));
        let shin = Vec3::new(0.1 * s, 0.53 * leg, 0.0);
        joints.push((Role::UpperLeg(side), 0, Vec3::new(0.1 * s, leg, 0.0)));
        joints.push((Role::LowerLeg(side), joints.len() - 1, shin));
        joints.push((Role::Foot(side), joints.len() - 1, Vec3::new(0.1 * s, 0.09 * leg, 0.0)));
        joints.push((Role::Toes(side), joints.len() - 1, Vec3::new(0.1 * s, 0.0, 0.15)));
    }
    let made = joints.iter().enumerate().map(|(k, (role, parent, at))| {
        let parent = (k > 0).then_some(*parent);
        let at = at - parent.map_or(Vec3::zeros(), |p| joints[p].2);
        Joint::new(role.to_string(), parent.map(JointId::new), Transform::from_translation(at))
    });
    let skeleton = Skeleton::new(made.collect()).unwrap();
    let roles =
        joints.iter().enumerate().map(|(k, (role, _, _))| (*role, Assignment::new(JointId::new(k), 1.0, "")));
    let rig = Rig::new(skeleton, roles.collect::<Vec<_>>());
    Character::new("made", rig)
}

/// The same in skin: tubes around trunk, head and limbs.
pub fn body(build: &Build) -> Character {
    let mut made = bones(build);
    let g = build.girth;
    let rest = made.skeleton().rest_model_pose();
    let joint = |role| made.rig.joint(role).unwrap();
    let at = |role| rest.position(joint(role));
    let mut meshes = Vec::new();
    let low = at(Role::Hips) - Vec3::y() * 0.15;
    let trunk = [Role::Hips, Role::Spine(0), Role::Spine(1)].map(joint);
    let heights = [low, at(Role::Spine(0)), at(Role::Spine(1)), at(Role::Neck(0))];
    for (k, id) in trunk.into_iter().enumerate() {
        meshes.push(tube(&made, id, heights[k], heights[k + 1], [0.16 * g, 0.12 * g]));
    }
    let head = at(Role::Head);
    meshes.push(tube(&made, joint(Role::Head), head, head + Vec3::y() * 0.24, [0.09; 2]));
    for side in Side::BOTH {
        let mut limb =
            |from, to, radius: f64| meshes.push(tube(&made, joint(from), at(from), at(to), [radius; 2]));
        limb(Role::UpperArm(side), Role::LowerArm(side), 0.05 * g.sqrt());
        limb(Role::LowerArm(side), Role::Hand(side), 0.04);
        limb(Role::UpperLeg(side), Role::LowerLeg(side), 0.08 * g);
        limb(Role::LowerLeg(side), Role::Foot(side), 0.05);
        let wrist = at(Role::Hand(side));
        let tip = wrist + Vec3::x() * (0.19 * side.sign());
        meshes.push(tube(&made, joint(Role::Hand(side)), wrist, tip, [0.015, 0.04]));
    }
    made.meshes = meshes;
    made
}

/// An open tube about a line in model space, moved by one joint, as coarse as such meshes come; `radii` lie up and
/// across for a tube along X, across and ahead for one along Y.
pub fn tube(character: &Character, joint: JointId, from: Vec3, to: Vec3, radii: [f64; 2]) -> Mesh {
    let rest = character.skeleton().rest_model_pose();
    let axis = (to - from).normalize();
    let p = if axis.x.abs() > 0.5 { Vec3::y() } else { Vec3::x() };
    let q = Vec3::z();
    let mut mesh = Mesh { material: Material::default(), ..Mesh::default() };
    let sides = 24;
    for end in [from, to] {
        for k in 0..sides {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / sides as f64).sin_cos();
            let v = end + p * (cos * radii[0]) + q * (sin * radii[1]);
            mesh.positions.push([v.x as f32, v.y as f32, v.z as f32]);
            mesh.joints.push([0; 4]);
            mesh.weights.push([1.0, 0.0, 0.0, 0.0]);
        }
    }
    for k in 0..sides as u32 {
        let (a, b) = (k, (k + 1) % sides as u32);
        let up = sides as u32;
        mesh.triangles.extend([[a, b, a + up], [b, b + up, a + up]]);
    }
    let joint_from_mesh = rest.joint(joint).inverse().to_matrix();
    mesh.bindings.push(Binding { joint, joint_from_mesh });
    mesh
}

pub fn capsule(all: &[Capsule], part: BodyPart) -> Capsule {
    *all.iter().find(|c| c.part == part).unwrap_or_else(|| panic!("no {part}"))
}

/// What the hands of a clip do.
#[derive(Clone, Copy, Debug)]
pub enum Gesture {
    Clap,
    HandOnHip,
    HandToHead,
    HandToThigh,
}

pub const GESTURES: [Gesture; 4] =
    [Gesture::Clap, Gesture::HandOnHip, Gesture::HandToHead, Gesture::HandToThigh];

/// Two seconds at 60 Hz: the hands come from free air, touch for half a second, and go back.
pub fn perform(character: &Arc<Character>, gesture: Gesture) -> Motion {
    let skeleton = character.skeleton();
    let all = capsules(character, &character.rig);
    let rest = skeleton.rest_model_pose();
    let ends = |part| capsule(&all, part).ends(&rest);
    let radius = |part| capsule(&all, part).radius;
    let palm = |side: Side, pose: &ModelPose| {
        let [a, b] = capsule(&all, BodyPart::Hand(side)).ends(pose);
        (a + b) * 0.5
    };
    let hand = radius(BodyPart::Hand(Side::Left));
    let chest = ends(BodyPart::Ribs)[0].y;
    // For each hand: where it touches, and the way from there into free air.
    let touch = |side: Side| -> Option<(Vec3, Vec3)> {
        let s = side.sign();
        let beside = |part: BodyPart, way: Vec3| {
            let [a, b] = ends(part);
            let end = if (b - a).dot(&way) > 0.0 { b } else { a };
            (end + way * (radius(part) + hand), way)
        };
        match gesture {
            Gesture::Clap => Some((Vec3::new(s * hand, chest, 0.35), Vec3::x() * s)),
            Gesture::HandOnHip => Some(beside(BodyPart::Waist, Vec3::x() * s)),
            Gesture::HandToHead if side == Side::Right => {
                Some(beside(BodyPart::Head, Vec3::new(-0.8, 0.0, 0.6)))
            }
            Gesture::HandToThigh => {
                let [a, b] = ends(BodyPart::UpperLeg(side));
                let out = Vec3::new(0.6 * s, 0.0, 0.8);
                let place = a + (b - a) * 0.1 + out * (radius(BodyPart::UpperLeg(side)) + hand);
                Some((place, out))
            }
            Gesture::HandToHead => None,
        }
    };
    let fingers = |side: Side| match gesture {
        Gesture::Clap => Vec3::new(0.0, 0.5, 1.0),
        Gesture::HandOnHip => Vec3::new(0.0, -0.2, 1.0),
        Gesture::HandToHead => Vec3::new(-0.2 * side.sign(), 1.0, 0.2),
        Gesture::HandToThigh => Vec3::new(0.0, -1.0, 0.1),
    };
    let frame = |frame: usize| -> Pose {
        let time = frame as f64 / 60.0;
        let x = ((time - 1.0).abs() - 0.25).max(0.0) / 0.75;
        let apart = 0.35 * (x * x * (3.0 - 2.0 * x));
        let mut pose = skeleton.rest_pose();
        for side in Side::BOTH {
            let Some((at, way)) = touch(side) else { continue };
            let wrist = character.rig.joint(Role::Hand(side)).unwrap();
            let straight = Vec3::x() * side.sign();
            pose.local_mut()[wrist.index()].rotation = arc(&straight, &fingers(side), &Vec3::y());
            let model = ModelPose::of(skeleton, &pose);
            let target = model.position(wrist) + at + way * apart - palm(side, &model);
            let pole = Vec3::new(0.3 * side.sign(), -0.4, -1.0);
            bend_limb(skeleton, &mut pose, wrist, &target, Some(pole), 0.0);
        }
        pose
    };
    let poses: Vec<Pose> = (0..=120).map(frame).collect();
    Motion::new(Arc::clone(character), Clip::from_poses("gesture", 60.0, skeleton, &poses))
}
