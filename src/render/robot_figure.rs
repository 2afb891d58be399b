//! Parts of a robot: capsules around the shapes of its links.

use super::figure::{FigurePart, color, nearest_role};
use crate::model::{ModelPose, Rig, Robot};
use crate::robot_body::shape_capsules;

/// Whether a robot has shapes to draw: those that are meshes are not read.
pub(super) fn has_shapes(robot: &Robot) -> bool {
    robot.links.iter().any(|link| !link.shapes.is_empty())
}

/// The parts of a robot in the pose `rest` of its skeleton.
pub(super) fn robot_parts(robot: &Robot, rig: &Rig, rest: &ModelPose) -> Vec<FigurePart> {
    let (_, joints) = robot.joints();
    let of_link = |link: usize| {
        let (joint, origin) = (joints[link], robot.joint_in_link(link));
        let shapes = robot.links[link].shapes.iter();
        shapes.flat_map(move |shape| shape_capsules(link, shape)).map(move |capsule| {
            let [from, to] = capsule.ends.map(|end| rest.joint(joint).point(&(end - origin)));
            let radii = [capsule.radius; 2];
            FigurePart { joint, from, to, radii, flat: 1.0, color: color(nearest_role(rig, joint)) }
        })
    };
    (0..robot.links.len()).flat_map(of_link).collect()
}
