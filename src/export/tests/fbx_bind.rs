//! The pose of the nodes of a new FBX file, its keys and their interpolation: what they change and what not.

use crate::fbx_reader::{at, open, place};
use crate::made_walk::shipped;
use posemill::export::{ExportOptions, FbxBind, FbxOptions, Format, save};
use posemill::import::{self, Calibrate, ImportOptions};
use posemill::kinematics::figure_size;
use posemill::math::{Quat, Vec3};
use posemill::model::{Clip, Motion};
use std::sync::Arc;

fn write(motion: &Motion, fbx: FbxOptions) -> Vec<u8> {
    let options = ExportOptions { fbx, stem: "x".into(), ..ExportOptions::default() };
    save(std::slice::from_ref(motion), Format::FBX, &options).unwrap().0.swap_remove(0).bytes
}

/// The largest distance between joints of the motion and nodes of the file, metres, over all frames.
fn error(motion: &Motion, bytes: &[u8]) -> f64 {
    let scene = open(bytes);
    let skeleton = motion.character.skeleton();
    let mut worst = 0.0f64;
    for frame in 0..motion.clip.frames() {
        let time = motion.clip.start + frame as f64 / motion.clip.sample_rate;
        let (now, pose) = (at(&scene, 0, time), motion.model_pose(frame));
        for id in skeleton.ids() {
            let name = skeleton.joint(id).name.as_str();
            let node = now.nodes.iter().find(|n| n.element.name.as_ref() == name);
            let off = node.map(|n| (place(&n.node_to_world) - pose.position(id)).norm());
            worst = worst.max(off.unwrap_or(0.0));
        }
    }
    worst
}

#[test]
fn a_degenerate_rest_pose_is_written_as_the_t_pose_and_the_motion_stays() {
    let estimated = ImportOptions { calibration: Calibrate::Motion, ..ImportOptions::default() };
    for name in ["walk.bvh", "jump.bvh"] {
        let motion = import::load(shipped(name), &estimated).unwrap().motion(0).unwrap();
        let calibration = motion.character.calibration.as_ref().unwrap();
        let size = figure_size(motion.character.skeleton());
        let rest = FbxOptions { bind: FbxBind::Rest, ..FbxOptions::default() };
        let (posed, at_rest) = (write(&motion, FbxOptions::default()), write(&motion, rest));
        assert_ne!(posed, at_rest);
        for bytes in [&posed, &at_rest] {
            let off = error(&motion, bytes);
            assert!(off < 1e-5 * size, "{name}: {off}");
        }
        let scene = open(&posed);
        let skeleton = motion.character.skeleton();
        for id in skeleton.ids() {
            let name = skeleton.joint(id).name.as_str();
            let Some(node) = scene.nodes.iter().find(|n| n.element.name.as_ref() == name) else { continue };
            let off = (place(&node.node_to_world) - calibration.pose.position(id)).norm();
            assert!(off < 1e-5 * size, "{name}: {off}");
        }
        // A pose that the user takes as it is stays.
        let as_it_is = ImportOptions { calibration: Calibrate::Rest, ..ImportOptions::default() };
        let plain = import::load(shipped(name), &as_it_is).unwrap().motion(0).unwrap();
        assert_eq!(write(&plain, FbxOptions::default()), write(&plain, rest));
    }
}

#[test]
fn fewer_keys_stay_within_the_tolerance() {
    let motion = import::load(shipped("walk.bvh"), &ImportOptions::default()).unwrap().motion(0).unwrap();
    let whole = write(&motion, FbxOptions::default());
    for tolerance in [0.01, 0.1, 1.0] {
        let thin = write(&motion, FbxOptions { tolerance, ..FbxOptions::default() });
        assert!(thin.len() < whole.len(), "{tolerance}: {} of {}", thin.len(), whole.len());
        let (before, after) = (open(&whole), open(&thin));
        for frame in 0..motion.clip.frames() {
            let time = motion.clip.start + frame as f64 / motion.clip.sample_rate;
            for (a, b) in before.nodes.iter().zip(&after.nodes) {
                let local = |scene: &ufbx::SceneRoot, node: &ufbx::Node| {
                    ufbx::evaluate_transform(&scene.anim_stacks[0].anim, node, time)
                };
                let (a, b) = (local(&before, a), local(&after, b));
                let moved = [a.translation.x - b.translation.x, a.translation.y - b.translation.y];
                // Centimetres, as in the file.
                assert!(moved.iter().all(|d| d.abs() <= 0.1001 * tolerance + 1e-5), "{frame}: {moved:?}");
                // Three angles, each within the tolerance.
                let (p, q) = (a.rotation, b.rotation);
                let dot = (p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w).abs().min(1.0);
                let angle = (2.0 * dot.acos()).to_degrees();
                assert!(angle <= 3.0 * tolerance + 0.01, "{frame}: {angle} degrees at {tolerance}");
            }
        }
    }
}

/// A clip that jumps to another place and pose in its middle.
fn with_a_cut() -> Motion {
    let motion = import::load(shipped("walk.bvh"), &ImportOptions::default()).unwrap().motion(0).unwrap();
    let frames = motion.clip.frames();
    let n = motion.clip.joints();
    let mut clip: Clip = motion.clip.clone();
    let turn = Quat::from_axis_angle(&Vec3::y_axis(), 1.5);
    for frame in frames / 2..frames {
        for (joint, rotation) in clip.rotations_mut(frame).iter_mut().enumerate().take(n) {
            let extra = Quat::from_axis_angle(&Vec3::x_axis(), 0.3);
            *rotation = if joint == 0 { turn * *rotation } else { *rotation * extra };
        }
        clip.translations_mut(frame).iter_mut().for_each(|t| t.x += 0.8);
    }
    Motion::new(Arc::clone(&motion.character), clip)
}

#[test]
fn the_frame_before_a_cut_is_held() {
    let motion = with_a_cut();
    let cuts = posemill::kinematics::cuts(&motion);
    assert_eq!(cuts, [motion.clip.frames() / 2]);
    let scene = open(&write(&motion, FbxOptions::default()));
    let hips = scene.nodes.iter().find(|n| n.parent.as_ref().is_some_and(|p| p.is_root)).unwrap();
    let rate = motion.clip.sample_rate;
    let x = |time: f64| ufbx::evaluate_transform(&scene.anim_stacks[0].anim, hips, time).translation.x;
    let before = motion.clip.start + (cuts[0] - 1) as f64 / rate;
    // Centimetres, as in the file; its times are those of a nominal rate.
    let moved = |frames: f64| (x(before + frames / rate) - x(before)).abs();
    assert!(moved(0.9) < 0.01, "nothing between the two: {}", moved(0.9));
    assert!(moved(1.01) > 50.0, "{}", moved(1.01));
    assert!(moved(-0.5) > 0.01, "elsewhere there is: {}", moved(-0.5));
}

#[test]
fn keys_between_frames_are_reported_with_the_stage_that_avoids_them() {
    let mut motion = import::load(shipped("walk.bvh"), &ImportOptions::default()).unwrap().motion(0).unwrap();
    for (rate, written) in [(24.0, "24"), (24.0 / 1.001, "23.976"), (30.0 / 1.001, "29.97")] {
        motion.clip.sample_rate = rate;
        let bytes = write(&motion, FbxOptions::default());
        let hero = import::from_bytes(&bytes, "hero", Some("fbx"), None, &ImportOptions::default()).unwrap();
        let mut fast = hero.motion(0).unwrap();
        let said = |motion: &Motion| {
            let options = ExportOptions { stem: "x".into(), ..ExportOptions::default() };
            format!("{:?}", save(std::slice::from_ref(motion), Format::FBX, &options).unwrap().1)
        };
        assert!(!said(&fast).contains("fbx-rate"), "{}", said(&fast));
        fast.clip.sample_rate = 120.0;
        assert!(said(&fast).contains(&format!("rate_hz = {written}\"")), "{}", said(&fast));
    }
}
