//! The up axis of takes: those that lie keep theirs, those with Z up over Y-up offsets are set upright.

use super::rest_pose::{Axes, axes, rewritten};
use crate::development_data::data;
use posemill::import::{self, ImportOptions, UpAxis};
use posemill::math::{Quat, Transform, Vec3, exp};
use posemill::model::{Asset, Character, Clip, Joint, JointId, ModelPose, Motion, Rig, Role, Side, Skeleton};
use std::f64::consts::{FRAC_PI_2, TAU};
use std::path::PathBuf;
use std::sync::Arc;

/// Number of windows into which takes are cut: as many as in the report of takes that were rotated.
const WINDOWS: usize = 12;

fn shipped(name: &str) -> Motion {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data").join(name);
    import::load(&path, &ImportOptions::default()).unwrap().motion(0).unwrap()
}

/// The take with the world of each frame transformed.
fn moved(motion: &Motion, world: impl Fn(usize) -> Transform) -> Motion {
    let mut clip = motion.clip.clone();
    assert_eq!(clip.translated()[0], JointId::new(0), "the root travels");
    for f in 0..clip.frames() {
        let at = world(f) * Transform::new(clip.rotations(f)[0], clip.translations(f)[0]);
        clip.rotations_mut(f)[0] = at.rotation;
        clip.translations_mut(f)[0] = at.translation;
    }
    Motion::new(Arc::clone(&motion.character), clip)
}

/// The same motion over offsets along X, as many exports have them: a rest pose that tells nothing.
fn along_x(motion: &Motion) -> Motion {
    rewritten(motion, &axes(&motion.character, Axes::Rig))
}

/// The take written as BVH and read again.
fn read_again(motion: &Motion) -> Motion {
    read_with(motion, &ImportOptions::default()).motion(0).unwrap()
}

fn read_with(motion: &Motion, options: &ImportOptions) -> Asset {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("take.bvh");
    std::fs::write(&path, posemill::export::bvh::write(motion, &Default::default())).unwrap();
    import::load(&path, options).unwrap()
}

/// The largest difference of the height of a joint over the lowest one, metres.
fn heights_differ(a: &Motion, b: &Motion) -> f64 {
    let heights = |m: &Motion, f: usize| {
        let pose = m.model_pose(f);
        let heights: Vec<f64> = pose.joints().iter().map(|t| t.translation.y).collect();
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        heights.into_iter().map(move |h| h - low).collect::<Vec<_>>()
    };
    let of = |f: usize| {
        heights(a, f).into_iter().zip(heights(b, f)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    (0..a.clip.frames()).map(of).fold(0.0, f64::max)
}

/// The number of windows of a take, of `frames` frames each, whose up axis is not read as it is written.
fn rotated(motion: &Motion, frames: usize, as_written: &Motion) -> usize {
    let last = motion.clip.frames() - frames;
    let wrong = |k: usize| {
        let start = k * last / (WINDOWS - 1);
        let part = |m: &Motion| m.part(start..start + frames);
        heights_differ(&part(motion), &read_again(&part(as_written))) > 0.05
    };
    (0..WINDOWS).filter(|k| wrong(*k)).count()
}

/// A rotation about a horizontal axis through the ground under the middle of the feet at the first frame, by `angle`; what goes
/// below the ground lifts the body.
fn laid_down(motion: &Motion, axis: Vec3, angle: impl Fn(usize) -> f64) -> Motion {
    let tilted = moved(motion, |f| Transform::from_rotation(exp(&(axis * angle(f)))));
    let low = |f: usize| {
        let pose = tilted.model_pose(f);
        pose.joints().iter().map(|t| t.translation.y).fold(f64::INFINITY, f64::min)
    };
    moved(&tilted, |f| Transform::from_translation(Vec3::y() * (0.03 - low(f))))
}

#[test]
fn a_body_that_lies_keeps_lying() {
    let stand = shipped("wave.bvh");
    let mut tried = 0;
    for (axis, angle) in [(Vec3::x(), -FRAC_PI_2), (Vec3::x(), FRAC_PI_2), (Vec3::z(), FRAC_PI_2)] {
        let lying = laid_down(&stand, axis, |_| angle);
        for frames in [1, 2, 12, 60] {
            assert_eq!(rotated(&lying, frames, &lying), 0, "{frames} frames about {axis:?} by {angle}");
            let baked = along_x(&lying);
            assert_eq!(
                rotated(&lying, frames, &baked),
                0,
                "{frames} frames about {axis:?} by {angle}, along X"
            );
            tried += 2 * WINDOWS;
        }
    }
    println!("{tried} windows of lying takes, none rotated");
}

#[test]
fn a_get_up_is_read_as_it_is_written_in_every_window() {
    let stand = shipped("wave.bvh");
    let end = stand.clip.frames() as f64;
    // Lies for a half of the take, then rises.
    let angle = |f: usize| -FRAC_PI_2 * (2.0 - 2.0 * f as f64 / end).clamp(0.0, 1.0);
    let get_up = laid_down(&stand, Vec3::x(), angle);
    for frames in [12, 30, 60] {
        assert_eq!(rotated(&get_up, frames, &get_up), 0, "{frames} frames");
        assert_eq!(rotated(&get_up, frames, &along_x(&get_up)), 0, "{frames} frames, along X");
    }
}

#[test]
fn z_up_over_y_up_offsets_is_set_upright_for_any_heading() {
    for name in ["walk.bvh", "turn.bvh"] {
        let take = shipped(name);
        for heading in [0.0, 0.125, 0.25, 0.5, 0.7].map(|part| part * TAU) {
            let z_up = Transform::from_rotation(exp(&(Vec3::x() * FRAC_PI_2)) * exp(&(Vec3::y() * heading)));
            let made = moved(&take, |_| z_up);
            let off = heights_differ(&take, &read_again(&made));
            assert!(off < 0.01, "{name} with heading {heading}: {off} m");
            let off = heights_differ(&take, &read_again(&along_x(&made)));
            assert!(off < 0.05, "{name} with heading {heading}, along X: {off} m");
        }
    }
}

#[test]
fn a_body_that_walks_while_it_lies_is_stood_up_with_the_key_that_keeps_it() {
    let take = shipped("walk.bvh");
    let made = moved(&take, |_| Transform::from_rotation(exp(&(Vec3::x() * -FRAC_PI_2))));
    let stood = read_with(&made, &ImportOptions::default());
    let warning = stood.warnings.iter().find(|warning| warning.code == "bvh-two-worlds").unwrap();
    assert!(warning.message.contains("the motion is stood up (`--set input.up=y` keeps it as it is"));
    assert!(heights_differ(&take, &stood.motion(0).unwrap()) < 0.01);
    let kept = read_with(&made, &ImportOptions { up: Some(UpAxis::Y), ..ImportOptions::default() });
    assert!(!kept.warnings.has("bvh-two-worlds"));
    assert!(heights_differ(&made, &kept.motion(0).unwrap()) < 0.01);
}

#[test]
fn real_files_with_another_up_axis_are_set_upright() {
    let Some(data) = data() else { return };
    for name in ["bvh/fair1/dab.bvh", "bvh/fair1/zombie.bvh", "bvh/makehuman/walk1.bvh"] {
        let asset = import::load(data.join(name), &ImportOptions::default()).unwrap();
        let motion = asset.motion(0).unwrap();
        let rig = &motion.character.rig;
        let [foot, head] = [Role::Foot(Side::Left), Role::Head].map(|role| rig.joint(role).unwrap());
        for f in 0..motion.clip.frames() {
            let pose = motion.model_pose(f);
            let up = pose.position(head) - pose.position(foot);
            assert!(up.y > 0.7 * up.norm(), "{name}, frame {f}: {up:?}");
        }
    }
}

/// The take over a rest pose that is rotated as a whole; the world of every frame stays.
fn over_rotated_rest(motion: &Motion, by: Quat) -> Motion {
    let own = motion.character.skeleton();
    let joints = own.joints().iter().map(|joint| {
        let turned = joint.parent.map_or(joint.rest.translation, |_| by * joint.rest.translation);
        Joint { rest: Transform::new(Quat::identity(), turned), ..joint.clone() }
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let poses = (0..motion.clip.frames()).map(|f| {
        let model = motion.model_pose(f);
        let turned = own.ids().map(|id| {
            let at = model.joint(id);
            Transform::new(at.rotation * by.inverse(), at.translation)
        });
        ModelPose::new(turned.collect()).to_local(&skeleton)
    });
    let clip = Clip::from_poses("take", motion.clip.sample_rate, &skeleton, &poses.collect::<Vec<_>>());
    let kept = motion.character.rig.assignments().map(|(role, own)| (role, own.clone()));
    let rig = Rig::new(skeleton, kept.collect::<Vec<_>>());
    Motion::new(Arc::new(Character { rig, calibration: None, ..(*motion.character).clone() }), clip)
}

#[test]
fn a_rest_pose_on_its_side_or_upside_down_lays_no_take_down() {
    for name in ["squat.bvh", "turn.bvh", "walk.bvh"] {
        let take = shipped(name);
        for by in [Vec3::z() * FRAC_PI_2, -Vec3::z() * FRAC_PI_2, Vec3::z() * 2.0 * FRAC_PI_2] {
            let off = heights_differ(&take, &read_again(&over_rotated_rest(&take, exp(&by))));
            assert!(off < 0.01, "{name} over a rest pose rotated by {by:?}: {off} m");
        }
    }
}
