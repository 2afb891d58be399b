//! Recognizes a take of the very robot that it goes onto: its motion stays as it is.

use crate::math::{Quat, Transform};
use crate::model::{Character, Clip, JointId, ModelPose, Motion, Rig, Robot, RobotMotion, Skeleton};
use crate::parallel;
use std::sync::Arc;

/// Joints of a table are at those of the robot if they are nearer than this, metres: tables and models are rounded to tenths of it.
const SAME_PLACE: f64 = 1e-3;

/// The motion of a take of this robot; `None` of other takes.
pub(super) fn motion_of_same(robot: &Arc<Robot>, take: &Motion) -> Option<RobotMotion> {
    match &take.character.robot {
        Some(theirs) if theirs.links == robot.links && theirs.hinges == robot.hinges => {
            RobotMotion::of(take).ok()
        }
        Some(_) => None,
        None => RobotMotion::of(&with_hinges(robot, take)?).ok(),
    }
}

/// A take of a table or scene, which knows no hinges, as one of the robot whose joints it has: the same names, at the same places. The axes
/// of its joints are those of the robot, or differ from them in every frame as in its rest pose: BVH has none but those of the world there.
fn with_hinges(robot: &Arc<Robot>, take: &Motion) -> Option<Motion> {
    let (skeleton, theirs) = (robot.skeleton().ok()?, take.character.skeleton());
    if skeleton.len() != theirs.len() {
        return None;
    }
    let ids: Vec<JointId> =
        skeleton.joints().iter().map(|joint| theirs.find(&joint.name)).collect::<Option<_>>()?;
    let (zero, rest) = (skeleton.rest_model_pose(), theirs.rest_model_pose());
    let own_axes: Vec<Quat> = (skeleton.ids().zip(&ids))
        .map(|(own, id)| rest.joint(*id).rotation.inverse() * zero.joint(own).rotation)
        .collect();
    let pose_with = |axes: &[Quat], frame: usize| {
        let placed = take.model_pose(frame);
        let joint = |(id, axes): (&JointId, &Quat)| {
            let joint = placed.joint(*id);
            Transform::new(joint.rotation * axes, joint.translation)
        };
        let pose = ModelPose::new(ids.iter().zip(axes).map(joint).collect()).to_local(&skeleton);
        is_at_joints(robot, &skeleton, pose.local()).then_some(pose)
    };
    // Any other skeleton is told by its first frame.
    let plain = vec![Quat::identity(); ids.len()];
    let axes = [plain, own_axes].into_iter().find(|axes| pose_with(axes, 0).is_some())?;
    let pose = |frame: usize| pose_with(&axes, frame);
    let poses = parallel::map(take.clip.frames(), 1, pose).into_iter().collect::<Option<Vec<_>>>()?;
    let clip = Clip::from_poses(&take.clip.name, take.clip.sample_rate, &skeleton, &poses);
    let rig = Rig::new(skeleton, Vec::new());
    let character = Character { robot: Some(Arc::clone(robot)), ..Character::new(&robot.name, rig) };
    Some(Motion::new(Arc::new(character), clip))
}

/// Whether joints are where the robot has them on their parents. Slides move theirs.
fn is_at_joints(robot: &Robot, skeleton: &Skeleton, local: &[Transform]) -> bool {
    let (joints, _) = robot.joints();
    let slides =
        |id: JointId| robot.hinges.iter().zip(&joints).any(|(hinge, joint)| hinge.slides && *joint == id);
    skeleton.ids().skip(1).all(|id| {
        let off = local[id.index()].translation - skeleton.joint(id).rest.translation;
        off.norm() < SAME_PLACE || slides(id)
    })
}
