//! A robot of 29 limited hinges on a floating pelvis, as large as the one that other people's solvers are timed on, and
//! 14 position and orientation tasks a frame.

use posemill::ik::{Freedom, Limit, Mechanism, Range, Task};
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Joint, JointId, ModelPose, Pose, Skeleton};

/// The joints with tasks: pelvis, chest, then thigh, knee and foot of each leg, upper arm, elbow and hand of each arm.
const BODIES: [usize; 14] = [0, 15, 3, 4, 6, 9, 10, 12, 18, 19, 22, 25, 26, 29];

/// Axes, offsets from the joint before in metres and ranges in radians: a leg, the waist, an arm.
type Hinge = ([f64; 3], [f64; 3], [f64; 2]);
const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const LEG: [Hinge; 6] = [
    (X, [0.09, -0.08, 0.0], [-2.0, 0.8]),
    (Z, [0.0, -0.03, 0.0], [-0.5, 0.7]),
    (Y, [0.0, -0.03, 0.0], [-0.9, 0.9]),
    (X, [0.0, -0.34, 0.0], [0.0, 2.3]),
    (X, [0.0, -0.36, 0.0], [-0.8, 0.6]),
    (Z, [0.0, -0.02, 0.0], [-0.3, 0.3]),
];
const WAIST: [Hinge; 3] = [
    (Y, [0.0, 0.06, 0.0], [-0.8, 0.8]),
    (Z, [0.0, 0.04, 0.0], [-0.5, 0.5]),
    (X, [0.0, 0.04, 0.0], [-0.4, 0.9]),
];
const ARM: [Hinge; 7] = [
    (X, [0.17, 0.28, 0.0], [-2.6, 1.2]),
    (Z, [0.02, 0.0, 0.0], [-0.3, 1.9]),
    (Y, [0.0, -0.08, 0.0], [-1.3, 1.3]),
    (X, [0.0, -0.2, 0.0], [-2.2, 0.0]),
    (Y, [0.0, -0.12, 0.0], [-1.5, 1.5]),
    (X, [0.0, -0.1, 0.0], [-0.7, 0.7]),
    (Z, [0.0, -0.02, 0.0], [-0.7, 0.7]),
];

/// The robot, its pose in the middle of every range, and the tasks of so many frames at 30 a second. Every hinge swings
/// through `share` of its range: beyond 1 the targets are out of reach.
pub fn scene(frames: usize, share: f64) -> (Mechanism, Pose, Vec<Vec<Task>>) {
    let limbs: [(usize, f64, &[Hinge]); 5] =
        [(0, 1.0, &LEG), (0, -1.0, &LEG), (0, 1.0, &WAIST), (15, 1.0, &ARM), (15, -1.0, &ARM)];
    let mut joints = vec![Joint::new("pelvis", None, Transform::identity())];
    let mut hinges = Vec::new();
    for (root, side, limb) in limbs {
        for (k, (axis, offset, range)) in limb.iter().enumerate() {
            let parent = JointId::new(if k == 0 { root } else { joints.len() - 1 });
            let offset = Vec3::new(offset[0] * side, offset[1], offset[2]);
            let name = format!("hinge {}", joints.len());
            joints.push(Joint::new(name, Some(parent), Transform::from_translation(offset)));
            // What turns about X is alike on both sides.
            hinges.push((Vec3::from(*axis) * if *axis == X { 1.0 } else { side }, *range));
        }
    }
    let skeleton = Skeleton::new(joints).expect("parents first");
    let freedoms = std::iter::once(Freedom::Free).chain(hinges.iter().map(|(axis, _)| Freedom::Hinge(*axis)));
    let mut mechanism = Mechanism::new(&skeleton, freedoms);
    for (k, (_, [low, high])) in hinges.iter().enumerate() {
        mechanism = mechanism.with_limit(JointId::new(k + 1), Limit::Range(Range::new(*low, *high)));
    }
    let pose = |time: f64, share: f64| {
        let mut pose = skeleton.rest_pose();
        pose.local_mut()[0] = Transform::new(exp(&(Vec3::y() * 0.5 * time.sin())), Vec3::z() * time);
        for (k, (axis, [low, high])) in hinges.iter().enumerate() {
            let swing = share * (time * (1.0 + 0.1 * k as f64) + k as f64).sin();
            let angle = (low + high) / 2.0 + (high - low) / 2.0 * swing;
            pose.local_mut()[k + 1].rotation = exp(&(axis * angle));
        }
        pose
    };
    let tasks = |frame: usize| {
        let goal = ModelPose::of(&skeleton, &pose(frame as f64 / 30.0, share));
        let both = |body: usize| {
            let (joint, goal) = (JointId::new(body), goal.joints()[body]);
            [Task::position(joint, goal.translation), Task::orientation(joint, goal.rotation).weigh(0.25)]
        };
        BODIES.into_iter().flat_map(both).collect()
    };
    let tasks = (0..frames).map(tasks).collect();
    (mechanism, pose(0.0, 0.0), tasks)
}
