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

/// The motion with its neck bending where the head is in the floor, by a smooth upper envelope of the least angles.
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
    // The axis, in the space of the joint above the neck.
    let of = |model: &ModelPose| -> Vec3 {
        let rotation = above.map_or(Quat::identity(), |joint| model.joint(joint).rotation);
        rotation.inverse() * head.axis(model).unwrap_or_default()
    };
    let axes = map_frames_towards(skeleton, &motion.clip, head.joints(), of);
    let bends = bends(least, &axes, time, time.reach(settings.body_raise_time));
    for f in 0..motion.clip.frames() {
        let bend = bends[time.unknown(f)];
        if bend != Vec3::zeros() {
            let own = &mut motion.clip.rotations_mut(f)[head.pivot.index()];
            let rotated = exp(&bend) * *own;
            *own = same_hemisphere(rotated, own);
        }
    }
    motion
}

/// Smooth rotation vectors of the least angles about these axes. The axis of a frame is the mean of those around it in which the
/// head is in the floor: its own would flip where the head passes over its neck, as in a roll.
fn bends(least: &[f64], axes: &[Vec3], time: &Timeline, reach: usize) -> Vec<Vec3> {
    let smooth = |needed: &[f64]| envelope(needed, &time.is_cut, time.cycle, reach);
    let angles = smooth(least);
    let [ahead, back] = [1.0, -1.0].map(|sign: f64| {
        [0, 1, 2].map(|k| {
            let part = |(angle, axis): (&f64, &Vec3)| (sign * angle * axis[k]).max(0.0);
            smooth(&least.iter().zip(axes).map(part).collect::<Vec<f64>>())
        })
    });
    let bend = |(f, angle): (usize, &f64)| {
        let mean = Vec3::from([0, 1, 2].map(|k| ahead[k][f] - back[k][f]));
        mean.try_normalize(1e-9).unwrap_or_default() * *angle
    };
    angles.iter().enumerate().map(bend).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_that_rolls_over_its_neck_turns_smoothly() {
        let frames = 40;
        let time = Timeline { frames, cycle: false, is_cut: vec![false; frames - 1], dt: 1.0 / 30.0 };
        // The head is in the floor until it is straight above its neck, where its own axis flips.
        let least: Vec<f64> = (0..frames).map(|f| if (10..20).contains(&f) { 0.6 } else { 0.0 }).collect();
        let axes: Vec<Vec3> = (0..frames).map(|f| if f < 20 { Vec3::x() } else { -Vec3::x() }).collect();
        let bends = bends(&least, &axes, &time, 3);
        let step = bends.windows(2).map(|w| (w[1] - w[0]).norm()).fold(0.0, f64::max);
        assert!(step < 0.25, "{step} radians in a frame");
        assert!((10..20).all(|f| (bends[f] - Vec3::x() * 0.6).norm() < 1e-12));
        assert!(bends[0] == Vec3::zeros() && bends[39] == Vec3::zeros());
    }
}
