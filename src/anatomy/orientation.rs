//! Detects the up axis and the front of a file from a rest pose and from a motion.

use super::figure_measures::middle;
use super::up_axis::proves_up;
use crate::math::{Quat, Vec3, arc, from_columns};
use crate::model::{Clip, JointId, ModelPose, Rig, Role, Side};

/// Least share of the line between the hip joints that is perpendicular to the up axis: else the figure lies on its side,
/// and the front is undefined.
const LEAST_SIDEWAYS: f64 = 0.2;
/// Frames of a clip that are sampled for its up axis: an average does not change with more.
const SAMPLES: usize = 64;
/// Height above the lowest one, in distances from feet to hips, up to which the lower foot is near the ground.
const NEAR_GROUND: f64 = 0.4;
/// Share of the frames in which the lower foot must be near the ground.
const GROUNDED: f64 = 0.7;
/// Mean component of the leg direction along the rest pose's up axis above which that axis is kept.
const ALONG_REST: f64 = 0.5;
/// Mean component of the leg direction along another axis that is required of a new up axis.
const ALONG_OTHER: f64 = 0.75;

/// Relation between the axes of a file and the normal form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orientation {
    /// Normal form (Y up, facing +Z) from the axes of the rest pose.
    pub normal_from_rest: Quat,
    /// The up axis of the rest pose in the file's axes.
    pub up: Vec3,
}

/// Detects up axis and front of a rest pose with unknown axes; `None` without legs.
///
/// `up` is the up axis where the format or the user defines it; a detected one is rounded to the file's axes. The
/// front is exactly perpendicular to the line of the hip joints, or rounded to the file's axes with `snap`: for formats
/// that define a front, where a small angle is a property of the figure.
pub fn orientation(rig: &Rig, rest: &ModelPose, up: Option<Vec3>, snap: bool) -> Option<Orientation> {
    let position = |role| rig.joint(role).map(|id| rest.position(id));
    let mean = |role| middle(rig, rest, role);
    let hips = mean(Role::UpperLeg)?;
    let low = mean(Role::Foot).or_else(|| mean(Role::LowerLeg))?;
    // A body without head and arms may have hands alone; shins that spread above the hips then say nothing about up.
    let high =
        position(Role::Head).or_else(|| mean(Role::UpperArm)).or_else(|| mean(Role::Hand)).unwrap_or(hips);
    let up = up.unwrap_or_else(|| nearest_axis(&((hips - low) + (high - hips))));
    let mut left = position(Role::UpperLeg(Side::Left))? - position(Role::UpperLeg(Side::Right))?;
    if left.norm() < 1e-6 * (hips - low).norm() {
        left = position(Role::LowerLeg(Side::Left))? - position(Role::LowerLeg(Side::Right))?;
    }
    let across = left - up * left.dot(&up);
    if across.norm() < LEAST_SIDEWAYS * left.norm() {
        return None;
    }
    let left = if snap { nearest_axis(&across) } else { across.try_normalize(1e-12)? };
    // Columns are +X (left), +Y (up), +Z (front) in the file's axes; the inverse maps the file to normal form.
    let normal_from_rest = from_columns(&left, &up, &left.cross(&up)).inverse();
    Some(Orientation { normal_from_rest, up })
}

/// The signed coordinate axis nearest to `v`.
pub(super) fn nearest_axis(v: &Vec3) -> Vec3 {
    let k = v.iamax();
    let mut axis = Vec3::zeros();
    axis[k] = if v[k] < 0.0 { -1.0 } else { 1.0 };
    axis
}

/// Normal form from the world axes of the motion, which may differ from those of the rest pose: some files have a Z-up
/// motion over Y-up offsets.
///
/// The axes of the rest pose are kept unless the figure clearly stands along another axis (on average over the clip the
/// direction of its legs has a component of at least 0.75 along that axis and of at most 0.5 along the rest pose's up
/// axis, and its lower foot stays near one height) and the ground proves that this axis is up: a figure that lies, or sits
/// with its legs stretched out, is along another axis too. Over a rest pose that lies along X or upside down, +Y needs no proof.
pub fn motion_up(rig: &Rig, clip: &Clip, rest: &Orientation) -> Quat {
    let skeleton = rig.skeleton();
    let ids = |role: fn(Side) -> Role| Some([rig.joint(role(Side::Left))?, rig.joint(role(Side::Right))?]);
    let (Some(thighs), Some(feet)) = (ids(Role::UpperLeg), ids(Role::Foot).or_else(|| ids(Role::LowerLeg)))
    else {
        return rest.normal_from_rest;
    };
    let step = (clip.frames() / SAMPLES).max(1);
    let mut pose = skeleton.rest_pose();
    let mut stands = Vec3::zeros();
    let (mut size, mut samples) = (0.0, 0.0);
    let mut soles = Vec::new();
    for frame in (0..clip.frames()).step_by(step) {
        clip.read_pose(frame, &mut pose);
        let model = ModelPose::of(skeleton, &pose);
        let middle = |ids: [JointId; 2]| (model.position(ids[0]) + model.position(ids[1])) * 0.5;
        let legs = middle(thighs) - middle(feet);
        stands += legs.try_normalize(1e-12).unwrap_or_default();
        size += legs.norm();
        samples += 1.0;
        soles.push([model.position(feet[0]), model.position(feet[1])]);
    }
    if samples == 0.0 {
        return rest.normal_from_rest;
    }
    let (stands, size) = (stands / samples, size / samples);
    let other = nearest_axis(&stands);
    let along_other = stands.dot(&other);
    // Along the true up axis the lower foot stays near one height.
    let heights: Vec<f64> = soles.iter().map(|[a, b]| a.dot(&other).min(b.dot(&other))).collect();
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let near_ground = heights.iter().filter(|&&h| h - low < NEAR_GROUND * size).count() as f64 / samples;
    // No world has another axis up than Y or Z: a rest pose along one is a figure laid down in it, in a world of Y up.
    let laid_in_rest = other == Vec3::y() && rest.up != Vec3::y() && rest.up != Vec3::z();
    if stands.dot(&rest.up) > ALONG_REST
        || other == rest.up
        || along_other < ALONG_OTHER
        || near_ground < GROUNDED
        || !(laid_in_rest || proves_up(rig, &[clip], &rest.up, &other))
    {
        return rest.normal_from_rest;
    }
    arc(&other, &Vec3::y(), &Vec3::x())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::{Assignment, Joint, Skeleton};

    #[test]
    fn hands_say_where_up_is_in_a_body_without_head_and_arms_whose_shins_are_above_its_hips() {
        // Hips, two thighs in its middle, shins to the sides and above, hands.
        let [l, r] = Side::BOTH;
        let parts = [
            (Role::Hips, Vec3::new(0.0, 0.2, -0.9)),
            (Role::UpperLeg(l), Vec3::new(0.0, 0.2, 0.0)),
            (Role::LowerLeg(l), Vec3::new(0.5, 0.33, 0.0)),
            (Role::UpperLeg(r), Vec3::new(0.0, 0.2, 0.0)),
            (Role::LowerLeg(r), Vec3::new(-0.5, 0.33, 0.0)),
            (Role::Hand(l), Vec3::new(0.8, 0.76, 0.0)),
            (Role::Hand(r), Vec3::new(-0.8, 0.76, 0.0)),
        ];
        let joint = |(k, (role, at)): (usize, &(Role, Vec3))| {
            let parent = (k > 0).then(|| JointId::new(if k == 2 || k == 4 { k - 1 } else { 0 }));
            let above = parent.map_or(Vec3::zeros(), |p| parts[p.index()].1);
            Joint::new(role.to_string(), parent, Transform::from_translation(at - above))
        };
        let skeleton = Skeleton::new(parts.iter().enumerate().map(joint).collect()).unwrap();
        let rest = skeleton.rest_model_pose();
        let roles = parts.iter().enumerate();
        let roles = roles.map(|(k, (role, _))| (*role, Assignment::new(JointId::new(k), 1.0, "made")));
        let rig = Rig::new(skeleton, roles.collect::<Vec<_>>());
        let found = orientation(&rig, &rest, None, true).unwrap();
        assert_eq!(found.up, Vec3::y());
        assert!(found.normal_from_rest.angle() < 1e-9);
    }

    #[test]
    fn nearest_axes_keep_their_sign() {
        assert_eq!(nearest_axis(&Vec3::new(0.1, -2.0, 1.0)), -Vec3::y());
    }
}
