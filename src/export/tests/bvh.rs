//! BVH files that this program writes, read back.

use posemill::export::{ExportOptions, FORMATS, save};
use posemill::import::bvh;
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Character, Clip, Joint, JointId, ModelPose, Motion, Rig, Skeleton};

#[test]
fn several_roots_are_written_in_the_world_whatever_the_bind_pose_of_the_added_one() {
    let at = |x: f64, parent: Option<usize>| {
        let rest = Transform::from_translation(Vec3::new(x, 0.0, 0.0));
        Joint {
            file_name: parent.map(|_| format!("at {x}")),
            ..Joint::new(format!("{x}"), parent.map(JointId::new), rest)
        }
    };
    let joints = vec![at(0.0, None), at(1.0, Some(0)), at(2.0, Some(0)), at(0.5, Some(1))];
    let skeleton = Skeleton::new(joints).unwrap();
    let turns = [Vec3::zeros(), Vec3::y(), Vec3::z(), Vec3::x() + Vec3::z()].map(|v| exp(&v));
    let clip = Clip::new("two", 30.0, 4, turns.to_vec(), Vec::new(), Vec::new());
    let mut character = Character::new("two", Rig::new(skeleton, []));
    let mut bind = character.skeleton().rest_model_pose();
    bind.joints_mut()[0] = Transform::from_rotation(exp(&(1.2 * Vec3::x())));
    character.bind = Some(bind);
    let motion = Motion::new(character.into(), clip);
    let format = *FORMATS.iter().find(|format| format.name == "bvh").unwrap();
    let motions = std::slice::from_ref(&motion);
    let written = save(motions, format, &ExportOptions::default()).unwrap().0.swap_remove(0).bytes;
    let again = bvh::read(&written, &Default::default()).unwrap();
    let pose = ModelPose::of(&again.skeleton, &again.clip.pose(&again.skeleton, 0));
    for name in ["at 1", "at 2", "at 0.5"] {
        let own = motion
            .character
            .skeleton()
            .ids()
            .find(|id| motion.character.skeleton().joint(*id).file_name.as_deref() == Some(name));
        let there = motion.model_pose(0).position(own.unwrap());
        let found = 0.01 * pose.position(again.skeleton.find(name).unwrap());
        assert!((there - found).norm() < 1e-5, "{name}: {there:?} {found:?}");
    }
}
