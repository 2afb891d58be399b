//! Bends the neck where the head is in the floor, after retargeting.
//!
//! A head is larger than the performer's on many characters. The neck bends first; what it does not raise, the pelvis does
//! ([`SupportPoints::lowest_of_body`]). Space: model space, Y up. Units: metres, radians.

use super::envelope::envelope;
use super::leg_pair::{LegPair, mean_length};
use super::settings::Settings;
use super::timeline::Timeline;
use crate::body::SupportPoints;
use crate::kinematics::map_frames_towards;
use crate::math::{Quat, Vec3, exp, same_hemisphere};
use crate::model::{ModelPose, Motion};

/// The motion with its neck bent where the head is in the floor, by a smooth upper envelope of the least angles.
pub fn raise_head(
    mut motion: Motion,
    skin: &SupportPoints,
    time: &Timeline,
    pairs: &[LegPair],
    settings: &Settings,
) -> Motion {
    let Some(head) = &skin.head else { return motion };
    let skeleton = motion.character.skeleton();
    let floor = -settings.penetration * mean_length(pairs);
    let above = skeleton.parent(head.pivot);
    let least =
        map_frames_towards(skeleton, &motion.clip, head.joints(), |model| head.least_bend(model, floor));
    let least = &least[..time.unknowns()];
    if least.iter().all(|angle| *angle <= 0.0) {
        return motion;
    }
    // The axis, and the rotation of the joint above the neck.
    let of = |model: &ModelPose| -> (Vec3, Quat) {
        let rotation = above.map_or(Quat::identity(), |joint| model.joint(joint).rotation);
        (head.axis(model).unwrap_or_default(), rotation)
    };
    let frames = map_frames_towards(skeleton, &motion.clip, head.joints(), of);
    let angles = envelope(least, &time.cut, time.cycle, time.reach(settings.body_raise_time));
    for (f, (axis, above)) in frames.iter().enumerate() {
        let angle = angles[time.unknown(f)];
        if angle > 0.0 {
            let own = &mut motion.clip.rotations_mut(f)[head.pivot.index()];
            let bent = exp(&(above.inverse() * axis * angle)) * *own;
            *own = same_hemisphere(bent, own);
        }
    }
    motion
}
