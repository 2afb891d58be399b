//! Takes whose skeleton ends with the shins: a character stands as on the take that has feet.

use super::helpers::shipped;
use super::posed::{take, transfer};
use crate::lowest_skin::lowest_skin;
use posemill::body::CharacterBody;
use posemill::contacts::{ContactOptions, detect};
use posemill::math::{Mat4, Transform, Vec3, median};
use posemill::model::{
    Assignment, Binding, Character, Clip, ContactPart, Joint, JointId, Mesh, Motion, Pose, Rig, Role, Side,
    Skeleton,
};
use std::sync::Arc;

/// The take without ankle joints and what is below them, as a file has it whose shins end where they were.
fn without_feet(take: &Motion) -> Motion {
    let (old, rig) = (take.character.skeleton(), &take.character.rig);
    let feet = Side::BOTH.map(|side| rig.joint(Role::Foot(side)).unwrap());
    let of_foot = |id: JointId| feet.iter().any(|foot| *foot == id || old.is_ancestor(*foot, id));
    let kept: Vec<JointId> = old.ids().filter(|id| !of_foot(*id)).collect();
    let new = |id: JointId| kept.iter().position(|k| *k == id).map(JointId::new);
    let joint = |id: &JointId| {
        let foot = feet.iter().find(|foot| old.parent(**foot) == Some(*id));
        let own = old.joint(*id).clone();
        let tip = foot.map(|foot| old.joint(*foot).rest.translation).or(own.tip);
        Joint { parent: own.parent.and_then(new), tip, ..own }
    };
    let skeleton = Skeleton::new(kept.iter().map(joint).collect()).unwrap();
    let roles = rig
        .assignments()
        .filter_map(|(role, own)| Some((role, Assignment { joint: new(own.joint)?, ..own.clone() })));
    let rig = Rig::new(skeleton, roles.collect::<Vec<_>>());
    let pose = |f: usize| {
        let pose = take.clip.pose(old, f);
        Pose::new(kept.iter().map(|id| *pose.joint(*id)).collect())
    };
    let poses: Vec<Pose> = (0..take.clip.frames()).map(pose).collect();
    let clip = Clip::from_poses("without feet", take.clip.sample_rate, rig.skeleton(), &poses);
    let character = Character { rig, bind: None, document: None, ..(*take.character).clone() };
    Motion::new(Arc::new(character), clip)
}

#[test]
fn a_take_without_ankle_joints_stands_on_the_ends_of_its_shins() {
    let whole = take("walk.bvh");
    let footless = without_feet(&whole);
    for file in ["robot.glb", "mannequin.glb"] {
        let target = shipped(file).character;
        let [feet, shins] = [&whole, &footless].map(|take| transfer(take, &target).apply(take));
        let body = CharacterBody::new(&target);
        let lowest = |motion: &Motion, f: usize| {
            let model = motion.model_pose(f);
            let soles = body.contact_points().iter().filter(|point| point.part.of_foot());
            soles.map(|point| model.joint(point.joint).point(&point.at).y).fold(f64::MAX, f64::min)
        };
        let apart = |f: usize| (lowest(&shins, f) - lowest(&feet, f)).abs();
        let apart: Vec<f64> = (0..whole.clip.frames()).map(apart).collect();
        let most = apart.iter().copied().fold(0.0, f64::max);
        let middle = median(apart);
        assert!(middle < 0.01 && most < 0.05, "{file}: {middle} m in the middle, {most} m at most");
    }
    // And it has contacts, which tell it so.
    let [feet, shins] = [&whole, &footless].map(|take| {
        let found = detect(take, &ContactOptions::default());
        let heel = |f: usize| Side::BOTH.iter().any(|side| found.rests(ContactPart::Heel(*side), f));
        (0..take.clip.frames()).filter(|f| heel(*f)).count()
    });
    assert!(2 * shins > feet, "heels rest in {shins} frames, with feet in {feet}");
}

/// A toy: a trunk on two blocks, whose joints are beside a pelvis that is low. What joins trunk and blocks moves with both alike.
fn toy() -> Arc<Character> {
    let joints = [
        ("pelvis", None, [0.0, 0.2, 0.0]),
        ("chest", Some(0), [0.0, 0.6, 0.0]),
        ("thigh_l", Some(0), [0.0; 3]),
        ("block_l", Some(2), [0.5, 0.15, 0.0]),
        ("thigh_r", Some(0), [0.0; 3]),
        ("block_r", Some(4), [-0.5, 0.15, 0.0]),
    ];
    let joint = |(name, parent, [x, y, z]): &(&str, Option<usize>, [f64; 3])| {
        Joint::new(*name, parent.map(JointId::new), Transform::from_translation(Vec3::new(*x, *y, *z)))
    };
    let skeleton = Skeleton::new(joints.iter().map(joint).collect()).unwrap();
    let (left, right) = (Side::Left, Side::Right);
    let roles = [
        (Role::Hips, 0),
        (Role::Spine(0), 1),
        (Role::UpperLeg(left), 2),
        (Role::LowerLeg(left), 3),
        (Role::UpperLeg(right), 4),
        (Role::LowerLeg(right), 5),
    ];
    let roles = roles.map(|(role, joint)| (role, Assignment::new(JointId::new(joint), 1.0, "made")));
    let rig = Rig::new(skeleton, roles);
    let stand = rig.skeleton().rest_model_pose();
    let bindings = rig.skeleton().ids().map(|id| Binding {
        joint: id,
        joint_from_mesh: stand.joint(id).inverse().to_matrix() * Mat4::identity(),
    });
    let (mut mesh, mut add) = (Mesh { bindings: bindings.collect(), ..Mesh::default() }, Vec::new());
    for z in [-0.4, 0.4] {
        for x in [0.2, 0.5, 0.8] {
            for y in [0.0, 0.5] {
                let shared = if x == 0.2 { 0.5 } else { 0.9 };
                add.extend([(3, shared, [x, y, z]), (5, shared, [-x, y, z])]);
            }
        }
        add.extend([(1, 1.0, [0.5, 1.8, z]), (1, 1.0, [-0.5, 1.8, z])]);
    }
    for (joint, weight, at) in add {
        mesh.positions.push(at);
        mesh.joints.push([joint, 0, 0, 0]);
        mesh.weights.push([weight, 1.0 - weight, 0.0, 0.0]);
    }
    Arc::new(Character { meshes: vec![mesh], ..Character::new("toy", rig) })
}

#[test]
fn a_toy_whose_legs_have_no_feet_stands_on_its_skin_and_its_thighs_stay_beside_it() {
    let whole = take("walk.bvh");
    let target = toy();
    let transfer = transfer(&whole, &target);
    let result = transfer.apply(&whole);
    let source = CharacterBody::new(&whole.character);
    let apart = |f: usize| {
        let model = whole.model_pose(f);
        let soles = source.contact_points().iter().filter(|point| point.part.of_foot());
        let sole = soles.map(|point| model.joint(point.joint).point(&point.at).y).fold(f64::MAX, f64::min);
        lowest_skin(&result, f) - transfer.scale() * sole
    };
    let apart: Vec<f64> = (0..whole.clip.frames()).map(apart).collect();
    let most = apart.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let middle = median(apart);
    assert!(middle.abs() < 0.01 && most < 0.05, "{middle} m in the middle, {most} m at most");
    let rises = |f: usize| {
        let model = result.model_pose(f);
        Side::BOTH.map(|side| {
            let [hip, knee] = [Role::UpperLeg(side), Role::LowerLeg(side)]
                .map(|role| model.position(target.rig.joint(role).unwrap()));
            knee.y - hip.y
        })
    };
    let lowest = (0..whole.clip.frames()).flat_map(rises).fold(f64::INFINITY, f64::min);
    assert!(lowest > -0.1, "a knee is {lowest} m above its hip");
}
