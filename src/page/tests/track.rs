//! Packed clips: every frame of them to a tolerance, and what the page reports of those that exceed their share.

use crate::made_bodies::{ADULT, bones};
use crate::math::{Vec3, exp};
use crate::model::{Clip, ModelPose, Motion, Pose};
use crate::page::packed::{Store, unpacked_curves, unpacked_f32s};
use crate::page::track::{Cut, SkinReach, packed_track};
use crate::perturbed::Noise;
use crate::render::surfaces;
use serde_json::Value;
use std::sync::Arc;

/// An adult whose joints all rotate, as quickly as people do and with the noise of a capture.
fn dancer(rate: f64, frames: usize, noise: f64) -> Motion {
    let mut random = Noise(1);
    let body = Arc::new(bones(&ADULT));
    let joints = body.skeleton().len();
    let rotation = |k: usize| {
        let (frame, joint) = (k / joints, k % joints);
        let time = frame as f64 / rate;
        let angle = 0.6 * (time * (2.0 + 0.1 * joint as f64)).sin() + noise * random.normal();
        exp(&(Vec3::new(0.6, 0.2, 0.77) * angle))
    };
    let rotations = (0..joints * frames).map(rotation).collect();
    Motion::new(body, Clip::new("dance", rate, joints, rotations, Vec::new(), Vec::new()))
}

/// The largest error of a joint in the frames that the player has, metres, and the packed clip.
fn error(motion: &Motion) -> (f64, Value, Option<Cut>, usize) {
    let skeleton = motion.character.skeleton();
    let reach = SkinReach::of(&motion.character.rig, &surfaces(motion));
    let mut store = Store::default();
    let (value, cut) = packed_track(&motion.clip, &reach, (25_000, 3_000_000), &mut store);
    let whole = |key: &str| value[key].as_u64().unwrap() as usize;
    let (stride, fine) = (whole("stride"), whole("fine"));
    let turning: Vec<usize> = serde_json::from_value(value["turning"].clone()).unwrap();
    let rows = motion.clip.frames().div_ceil(stride);
    let curves = unpacked_curves(&store, &value["rotations"], (rows, 3 * turning.len()), fine);
    let steps = unpacked_f32s(&store, &value["steps"]);
    let mut worst: f64 = 0.0;
    for row in 0..rows {
        let pose = motion.clip.pose(skeleton, row * stride);
        let mut local = pose.local().to_vec();
        for (k, joint) in turning.iter().enumerate() {
            let at = 3 * (row * turning.len() + k);
            let vector = Vec3::new(curves[at], curves[at + 1], curves[at + 2]) * f64::from(steps[k]);
            local[*joint].rotation = motion.clip.rotations(0)[*joint] * exp(&vector);
        }
        let model = |pose: &Pose| ModelPose::of(skeleton, pose);
        let (a, b) = (model(&pose), model(&Pose::new(local)));
        let off = skeleton.ids().map(|id| (a.position(id) - b.position(id)).norm());
        worst = off.fold(worst, f64::max);
    }
    (worst, value, cut, store.size())
}

#[test]
fn every_frame_of_ten_seconds_is_kept_to_two_millimetres_at_any_rate() {
    for rate in [30.0, 60.0, 120.00005] {
        let (worst, value, cut, size) = error(&dancer(rate, (10.0 * rate) as usize, 0.0));
        println!("{rate} Hz: {:.2} mm, {size} bytes", worst * 1e3);
        assert_eq!((value["stride"].as_u64(), cut), (Some(1), None));
        assert!(worst < 0.003 && size < 25_000, "{worst} {size}");
    }
}

#[test]
fn a_clip_that_exceeds_its_share_is_coarser_and_the_page_reports_it() {
    let (worst, _, cut, size) = error(&dancer(120.0, 1200, 0.01));
    let cut = cut.expect("noise does not pack");
    println!("{:.2} mm, {size} bytes: {}", worst * 1e3, cut.of("clip"));
    assert!(cut.rounded.is_some() && size < 27_000, "{cut:?} {size}");
    let several = Cut { stride: 3, rounded: Some(3.96) };
    let text = "The player moves the take in steps of 4.0 mm and keeps every third frame of the take.";
    assert_eq!(several.of("take"), text);
}
