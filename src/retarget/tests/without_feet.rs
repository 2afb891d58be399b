//! Takes whose skeleton ends with the shins: a character stands as on the take that has feet.

use super::helpers::shipped;
use super::posed::{take, transfer};
use posemill::body::CharacterBody;
use posemill::contacts::{ContactOptions, detect};
use posemill::math::median;
use posemill::model::{
    Assignment, Character, Clip, ContactPart, Joint, JointId, Motion, Pose, Rig, Role, Side, Skeleton,
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
