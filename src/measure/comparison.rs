//! Distances between two motions of one skeleton: joint positions, rotations, end effectors.
//!
//! The formulas are those of [`MEASURES`](super::MEASURES). Frames beyond the shorter motion are left out. Units: metres of the
//! common height, radians.

use super::catalogue::metric;
use super::metric_context::MetricContext;
use crate::kinematics::{FramePoses, Towards};
use crate::math::{Quat, RigidFit, Vec3, percentile_in_place};
use crate::model::{JointId, ModelPose, Motion, Role};
use crate::report::Metric;

/// How far `motion` is from `direct`, and the mean distance of their joints in every frame; `None` where skeletons or
/// rates differ.
pub fn comparison(
    context: &MetricContext,
    motion: &Motion,
    direct: &Motion,
) -> Option<(Vec<Metric>, Vec<f64>)> {
    let skeleton = context.character().skeleton();
    let same = motion.clip.sample_rate == direct.clip.sample_rate
        && direct.character.skeleton().parents() == skeleton.parents();
    let frames = motion.clip.frames().min(direct.clip.frames());
    if !same || frames == 0 {
        return None;
    }
    let all = [skeleton, direct.character.skeleton()].map(|skeleton| Towards::new(skeleton, skeleton.ids()));
    let mut poses = [(motion, &all[0]), (direct, &all[1])].map(|(m, all)| FramePoses::new(all, &m.clip));
    let mut sums = Sums::default();
    let mut places: Vec<(Vec3, Vec3)> = Vec::with_capacity(context.joints.len());
    let mut apart = Vec::with_capacity(frames);
    let (upper, fingers) = head_and_fingers(context);
    let (mut head_angles, mut finger_angles) = (Vec::new(), Vec::new());
    let count = context.joints.len() as f64;
    for frame in 0..frames {
        let model: (&ModelPose, &ModelPose) = poses.each_mut().map(|poses| poses.at(frame)).into();
        let place = |id| (model.0.position(id) * context.scale, model.1.position(id) * context.scale);
        places.clear();
        places.extend(context.joints.iter().map(|id| place(*id)));
        let root = place(context.root);
        let between = root.0 - root.1;
        let (mut global, mut local) = (0.0, 0.0);
        for (x, y) in &places {
            let away = x - y;
            let aligned = away - between;
            global += away.norm();
            local += aligned.norm();
            sums.square += away.norm_squared();
            sums.square_local += aligned.norm_squared();
        }
        apart.push(global / count);
        sums.global += global;
        sums.local += local;
        if global > 0.0 {
            sums.aligned += procrustes(&places);
        }
        let angle = |a: &Quat, b: &Quat| if a == b { 0.0 } else { a.angle_to(b) };
        for &id in &context.joints {
            let k = id.index();
            sums.rotation += angle(&motion.clip.rotations(frame)[k], &direct.clip.rotations(frame)[k]);
            sums.rotation_global += angle(&model.0.joint(id).rotation, &model.1.joint(id).rotation);
        }
        let of_model = |id: &JointId| angle(&model.0.joint(*id).rotation, &model.1.joint(*id).rotation);
        head_angles.extend(upper.iter().map(of_model).reduce(f64::max));
        let (result_rotations, direct_rotations) =
            (motion.clip.rotations(frame), direct.clip.rotations(frame));
        let of_joint = |id: &JointId| angle(&result_rotations[id.index()], &direct_rotations[id.index()]);
        finger_angles.extend(fingers.iter().map(of_joint).reduce(f64::max));
        sums.ends += context.ends.iter().map(|id| end(model, *id)).sum::<f64>() * context.scale;
    }
    let entries = frames as f64 * count;
    let tall = crate::body::COMMON_HEIGHT;
    let mut found = vec![
        metric("mpjpe", sums.global / entries),
        metric("mpjpe_root", sums.local / entries),
        metric("mpjpe_pa", sums.aligned / entries),
        metric("rotation_error", sums.rotation / entries),
        metric("rotation_error_global", sums.rotation_global / entries),
        metric("san_error", sums.square / (3.0 * entries * tall * tall)),
        metric("san_error_local", sums.square_local / (3.0 * entries * tall * tall)),
    ];
    for (name, mut angles) in [("head_orientation_p95", head_angles), ("finger_error_p95", finger_angles)] {
        if !angles.is_empty() {
            found.push(metric(name, percentile_in_place(&mut angles, 0.95)));
        }
    }
    if !context.ends.is_empty() {
        let ends = frames as f64 * context.ends.len() as f64;
        found.push(metric("end_effector_error", sums.ends / ends / tall));
    }
    Some((found, apart))
}

/// The joints of head and neck, and those of the fingers.
fn head_and_fingers(context: &MetricContext) -> (Vec<JointId>, Vec<JointId>) {
    let (mut head, mut fingers) = (Vec::new(), Vec::new());
    for (role, assigned) in context.character().rig.assignments() {
        match role {
            Role::Head | Role::Neck(_) => head.push(assigned.joint),
            Role::Finger(..) => fingers.push(assigned.joint),
            _ => {}
        }
    }
    (head, fingers)
}

#[derive(Default)]
struct Sums {
    global: f64,
    local: f64,
    aligned: f64,
    square: f64,
    square_local: f64,
    rotation: f64,
    rotation_global: f64,
    ends: f64,
}

fn end(model: (&ModelPose, &ModelPose), id: JointId) -> f64 {
    (model.0.position(id) - model.1.position(id)).norm()
}

/// The sum of the distances of pairs after the rotation, scale and translation of the first ones that bring them
/// nearest to the second ones in the least-squares sense.
fn procrustes(pairs: &[(Vec3, Vec3)]) -> f64 {
    let RigidFit { rotation, scale, from, to } = RigidFit::of(pairs.iter().map(|(x, y)| (*x, *y, 1.0)));
    pairs.iter().map(|(x, y)| (rotation * (x - from) * scale - (y - to)).norm()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn similar_figures_coincide(
            points in proptest::collection::vec(proptest::array::uniform3(-1.0..1.0f64), 3..20),
            turn in proptest::array::uniform3(-3.0..3.0f64),
            shift in proptest::array::uniform3(-3.0..3.0f64),
            scale in 0.1..5.0f64,
        ) {
            let pair = |p: &[f64; 3]| {
                let x = Vec3::from(*p);
                (x, exp(&Vec3::from(turn)) * x * scale + Vec3::from(shift))
            };
            let pairs: Vec<_> = points.iter().map(pair).collect();
            prop_assert!(procrustes(&pairs) < 1e-6);
        }
    }
}
