//! A tree of 60 joints and a clip in which all of them turn.

use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Clip, Joint, JointId, Skeleton};

/// How many joints it has.
pub const JOINTS: usize = 60;

/// Five chains of twelve joints, four of them from one place of the first.
pub fn scene(frames: usize) -> (Skeleton, Clip) {
    let v = |s: f64| Vec3::new((3.1 * s).sin(), (5.3 * s).cos(), (7.7 * s).sin());
    let parent =
        |i: usize| (i > 0).then(|| JointId::new(if i.is_multiple_of(12) { 3.min(i - 1) } else { i - 1 }));
    let joint =
        |i: usize| Joint::new(format!("j{i}"), parent(i), Transform::from_translation(v(i as f64) * 0.1));
    let skeleton = Skeleton::new((0..JOINTS).map(joint).collect()).expect("parents first");
    let rotations = (0..JOINTS * frames).map(|k| exp(&v(k as f64 * 0.37))).collect();
    let path = (0..frames).map(|f| v(f as f64 * 0.01)).collect();
    let clip = Clip::new("bench", 60.0, JOINTS, rotations, vec![JointId::new(0)], path);
    (skeleton, clip)
}
