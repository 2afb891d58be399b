//! Poses that are held: what they repeat says nothing more about floor and feet.

use super::helpers::shipped;
use super::posed::{position, take, transfer};
use posemill::model::{Clip, Motion, Pose, Role, Side};
use std::sync::Arc;

/// The take with these frames one after the other.
fn with_frames(take: &Motion, frames: impl Iterator<Item = usize>) -> Motion {
    let skeleton = take.character.skeleton();
    let poses: Vec<Pose> = frames.map(|f| take.clip.pose(skeleton, f)).collect();
    Motion::new(
        Arc::clone(&take.character),
        Clip::from_poses("held", take.clip.sample_rate, skeleton, &poses),
    )
}

#[test]
fn a_pose_that_is_held_at_an_end_moves_no_frame_of_the_take() {
    let walk = take("walk.bvh");
    // From and to the middle of a step.
    let (first, last) = (70, 385);
    let plain = with_frames(&walk, first..last);
    let held = |f: usize| (first + f).saturating_sub(60).clamp(first, last - 1);
    let held = with_frames(&walk, (0..last - first + 180).map(held));
    for file in ["robot.glb", "mannequin.glb"] {
        let target = shipped(file).character;
        let [alone, result] = [&plain, &held].map(|take| transfer(take, &target).apply(take));
        for role in [Role::Hips, Role::Foot(Side::Left), Role::Toes(Side::Right)] {
            for f in 0..result.clip.frames() {
                let own = f.saturating_sub(60).min(last - first - 1);
                let apart = (position(&result, f, role) - position(&alone, own, role)).norm();
                assert!(apart < 1e-9, "{file}, {role:?} in frame {f}: {apart} m");
            }
        }
    }
}

#[test]
fn a_pose_that_is_held_inside_of_a_take_does_not_change_its_height() {
    let walk = take("walk.bvh");
    let frames = walk.clip.frames();
    // Six seconds on the ball of a foot, in the middle of a walk of four.
    let (at, long) = (200, 720);
    let held = |f: usize| if f < at { f } else { f.saturating_sub(long).max(at) };
    let held = with_frames(&walk, (0..frames + long).map(held));
    for file in ["robot.glb", "mannequin.glb"] {
        let target = shipped(file).character;
        let [plain, result] = [&walk, &held].map(|take| transfer(take, &target).apply(take));
        for f in (0..60).chain(frames - 60..frames) {
            let own = if f < at { f } else { f + long };
            let higher = (position(&result, own, Role::Hips) - position(&plain, f, Role::Hips)).y;
            assert!(higher.abs() < 1e-3, "{file}, frame {f}: {higher} m");
        }
    }
}
