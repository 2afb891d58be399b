//! Laws that hold for every stage, or for pairs of stages.

use super::super::*;
use super::scenes::{run, walk, walker};
use crate::math::{Quat, Vec3, exp};
use crate::model::{
    AnimatedProperty, Assignment, Character, ContactPart, Joint, JointId, ModelPose, Motion, PropertyTrack,
    Rig, Skeleton,
};
use crate::perturbed::Noise;
use crate::report::Report;
use crate::seeds::{below, for_seeds};
use crate::signal::fix_hemispheres;
use std::sync::Arc;

/// The motion after a stage with its default keys; the character is its own retarget target.
fn after(entry: &StageEntry, motion: &Motion) -> Result<Motion, StageError> {
    let written = entry.read(&[]).unwrap();
    let mut setting = Setting::new(Arc::clone(&motion.character), "");
    setting.target = Some(Arc::clone(&motion.character));
    let result = written.resolve(&setting)?.apply(motion.clone(), &mut Report::default())?;
    result.check().unwrap_or_else(|fault| panic!("{}: {fault}", entry.name));
    Ok(result)
}

/// Largest distance between equally named joints, metres, over all frames.
fn distance(a: &Motion, b: &Motion) -> f64 {
    assert_eq!(a.clip.frames(), b.clip.frames());
    let partner: Vec<JointId> = b
        .character
        .skeleton()
        .joints()
        .iter()
        .map(|j| a.character.skeleton().find(&j.name).unwrap())
        .collect();
    let frame = |f: usize| {
        let (x, y) = (a.model_pose(f), b.model_pose(f));
        let pairs = partner.iter().zip(y.joints());
        pairs.map(|(&id, t)| (x.position(id) - t.translation).norm()).fold(0.0, f64::max)
    };
    (0..a.clip.frames()).map(frame).fold(0.0, f64::max)
}

/// Frames of all contact labels.
fn labels(motion: &Motion) -> Vec<(ContactPart, Vec<std::ops::Range<usize>>)> {
    let contacts = motion.contacts.iter();
    let of = |c: &crate::model::Contacts| {
        let parts: Vec<_> = c.parts().collect();
        parts.into_iter().map(|p| (p, c.holds(p).iter().map(|h| h.frames.clone()).collect())).collect()
    };
    contacts.flat_map(|c| -> Vec<_> { of(c) }).collect()
}

/// The motion rotated by `yaw` about the vertical axis and then shifted; its hips are the root.
fn placed(motion: &Motion, yaw: f64, shift: Vec3) -> Motion {
    let mut placed = motion.clone();
    let rotation = exp(&(Vec3::y() * yaw));
    for f in 0..motion.clip.frames() {
        let hips = &mut placed.clip.rotations_mut(f)[0];
        *hips = rotation * *hips;
        let root = &mut placed.clip.translations_mut(f)[0];
        *root = rotation * *root + shift;
    }
    fix_hemispheres(&mut placed.clip);
    placed
}

/// The same motion on a skeleton with the joints in the order `order` (new to old) and other names.
fn rebuilt(motion: &Motion, order: &[usize], rename: impl Fn(&str) -> String) -> Motion {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let mut new = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, &old)| new[old] = k);
    let joint = |&old: &usize| {
        let joint = &skeleton.joints()[old];
        Joint::new(rename(&joint.name), joint.parent.map(|p| JointId::new(new[p.index()])), joint.rest)
    };
    let joints = Skeleton::new(order.iter().map(joint).collect()).unwrap();
    let roles = motion.character.rig.assignments().map(|(role, a)| {
        (role, Assignment::new(JointId::new(new[a.joint.index()]), a.confidence, a.reason.clone()))
    });
    let character =
        Character::new(motion.character.name.clone(), Rig::new(joints, roles.collect::<Vec<_>>()));
    let mut rotations = Vec::new();
    for f in 0..clip.frames() {
        rotations.extend(order.iter().map(|&old| clip.rotations(f)[old]));
    }
    let translated: Vec<JointId> = clip.translated().iter().map(|id| JointId::new(new[id.index()])).collect();
    let mut rebuilt = crate::model::Clip::new(
        clip.name.clone(),
        clip.sample_rate,
        order.len(),
        rotations,
        translated,
        clip.all_translations().to_vec(),
    );
    rebuilt.start = clip.start;
    Motion::new(Arc::new(character), rebuilt)
}

/// Parents first, the children of every joint in reverse order.
fn reversed_siblings(skeleton: &Skeleton) -> Vec<usize> {
    let (mut order, mut open) = (Vec::new(), vec![JointId::new(0)]);
    while let Some(id) = open.pop() {
        order.push(id.index());
        open.extend(skeleton.children(id));
    }
    order
}

fn weights(motion: &Motion) -> PropertyTrack {
    let values = (0..motion.clip.frames() * 2).map(|k| k as f32 * 0.25).collect();
    PropertyTrack { node: "face".into(), property: AnimatedProperty::Weights, width: 2, values }
}

/// A body that falls onto a floor goes on in another way after the smallest change, and its friction has four sides.
const FALLS: &str = "ragdoll";

#[test]
fn every_stage_accepts_clips_of_any_length_or_says_why_not() {
    for entry in STAGES {
        for frames in [0, 1, 2, 3, 7] {
            for root in [true, false] {
                match after(entry, &walk(frames, root)) {
                    Ok(result) => assert_eq!(result.clip.joints(), result.character.skeleton().len()),
                    Err(error) => {
                        let text = error.to_string();
                        assert!(!text.is_empty() && !text.ends_with('.'), "{}: {text}", entry.name);
                        assert!(!text.starts_with(char::is_uppercase), "{}: {text}", entry.name);
                    }
                }
            }
        }
    }
}

#[test]
fn every_stage_gives_the_same_bits_twice_and_on_any_number_of_threads() {
    let motion = walker(61);
    for entry in STAGES {
        let Ok(once) = after(entry, &motion) else { continue };
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let again = pool.install(|| after(entry, &motion)).unwrap();
            assert!(once.clip == again.clip && once.contacts == again.contacts, "{}, {threads}", entry.name);
        }
    }
}

#[test]
fn where_a_performance_is_and_faces_changes_no_stage() {
    let motion = walk(60, false);
    for entry in STAGES.iter().filter(|entry| entry.name != FALLS) {
        let Ok(result) = after(entry, &motion) else { continue };
        // A mirror reflects where the performance is, too.
        let side = if entry.name == "mirror" { -1.0 } else { 1.0 };
        for (yaw, shift) in [(0.0, Vec3::new(3.5, 0.0, -2.25)), (1.9, Vec3::zeros()), (-0.7, Vec3::x())] {
            let there = after(entry, &placed(&motion, yaw, shift)).unwrap();
            assert_eq!(labels(&there), labels(&result), "{}", entry.name);
            let shift = Vec3::new(side * shift.x, shift.y, shift.z);
            let off = distance(&placed(&result, side * yaw, shift), &there);
            assert!(off < 1e-6, "{}: {off} m for yaw {yaw}, shift {shift:?}", entry.name);
        }
    }
}

#[test]
fn order_of_siblings_and_joint_names_change_no_stage() {
    let motion = walk(50, false);
    let order = reversed_siblings(motion.character.skeleton());
    let plain: Vec<usize> = (0..order.len()).collect();
    assert!(order != plain);
    for entry in STAGES.iter().filter(|entry| entry.name != FALLS) {
        let Ok(result) = after(entry, &motion) else { continue };
        let reordered = after(entry, &rebuilt(&motion, &order, str::to_owned)).unwrap();
        assert_eq!(labels(&reordered), labels(&result), "{}", entry.name);
        let off = distance(&result, &reordered);
        assert!(off < 1e-9, "{}: {off} m after reordering siblings", entry.name);
        // Sides stay readable: joints without a role are mirrored by name.
        let rename = |name: &str| format!("joint {name}");
        let renamed = after(entry, &rebuilt(&motion, &plain, rename)).unwrap();
        assert_eq!(renamed.clip.all_rotations(), result.clip.all_rotations(), "{}", entry.name);
        assert_eq!(renamed.clip.all_translations(), result.clip.all_translations(), "{}", entry.name);
    }
}

#[test]
fn every_stage_keeps_the_weights_of_a_face() {
    let mut motion = walker(45);
    motion.clip.property_tracks = vec![weights(&motion)];
    let setting = Setting::new(Arc::clone(&motion.character), "");
    let setting = Setting { target: Some(Arc::clone(&motion.character)), ..setting };
    for entry in STAGES {
        let Ok(stage) = entry.read(&[]).unwrap().resolve(&setting) else { continue };
        let mut report = Report::default();
        let Ok(result) = stage.apply(motion.clone(), &mut report) else { continue };
        assert_eq!(result.clip.name, motion.clip.name, "{}", entry.name);
        let [track] = result.clip.property_tracks.as_slice() else { panic!("{} lost a track", entry.name) };
        assert_eq!((track.node.as_str(), track.width), ("face", 2), "{}", entry.name);
        assert_eq!(track.values.len(), 2 * result.clip.frames(), "{}", entry.name);
    }
}

#[test]
fn stages_that_select_or_label_do_nothing_the_second_time() {
    let motion = walker(61);
    for name in ["trim", "resample", "repair", "contacts", "ground", "foot_lock", "reduce", "root_motion"] {
        let entry = STAGES.iter().find(|s| s.name == name).unwrap();
        let Ok(once) = after(entry, &motion) else { continue };
        let twice = after(entry, &once).unwrap();
        assert_eq!(labels(&twice), labels(&once), "{name}");
        assert!(twice.clip == once.clip, "{name}: {} m", distance(&once, &twice));
    }
}

#[test]
fn root_motion_taken_away_stays_away() {
    for yaw in [true, false] {
        let config = RootMotionConfig {
            mode: super::super::root_motion::RootMotionMode::InPlace,
            yaw: Some(yaw),
            yaw_cutoff_hz: 1.5,
        };
        for root in [true, false] {
            let once = run(&config, walk(60, root)).unwrap();
            let twice = run(&config, once.clone()).unwrap();
            assert!(distance(&once, &twice) < 1e-9);
            let hips = once.character.skeleton().find("hips").unwrap();
            let (first, last) = (once.model_pose(0).position(hips), once.model_pose(59).position(hips));
            assert!((first - last).xz().norm() < 1e-9, "{first:?} {last:?}");
        }
    }
}

#[test]
fn trims_compose_and_the_parts_are_the_whole() {
    for_seeds(40, |noise| {
        let frames = 2 + below(noise, 60);
        let motion = walker(frames);
        let first = below(noise, frames);
        let last = first + below(noise, frames - first);
        let trim =
            |from, to| TrimConfig { start_frame: Some(from), end_frame: Some(to), ..TrimConfig::default() };
        let part = run(&trim(first, last), motion.clone()).unwrap();
        assert_eq!(part.clip.frames(), last - first + 1);
        let inner = below(noise, part.clip.frames());
        let direct = run(&trim(first + inner, last), motion.clone()).unwrap();
        assert_eq!(run(&trim(inner, usize::MAX), part).unwrap(), direct);
        if first > 0 {
            let head = run(&trim(0, first - 1), motion.clone()).unwrap();
            let tail = run(&trim(first, usize::MAX), motion.clone()).unwrap();
            let joined = head.clip.followed_by(std::iter::once(tail.clip), frames);
            assert_eq!(joined.all_rotations(), motion.clip.all_rotations());
            assert_eq!(joined.all_translations(), motion.clip.all_translations());
        }
    });
}

#[test]
fn mirroring_commutes_with_trimming_filtering_and_resampling() {
    let motion = walker(41);
    let trim = TrimConfig { start_frame: Some(7), end_frame: Some(30), ..TrimConfig::default() };
    let mirror = MirrorConfig::default();
    let cut = run(&trim, run(&mirror, motion.clone()).unwrap()).unwrap();
    assert!(distance(&cut, &run(&mirror, run(&trim, motion.clone()).unwrap()).unwrap()) < 1e-12);
    let filter = FilterConfig::default();
    let calm = run(&filter, run(&mirror, motion.clone()).unwrap()).unwrap();
    assert!(distance(&calm, &run(&mirror, run(&filter, motion.clone()).unwrap()).unwrap()) < 1e-9);
    let resample = ResampleConfig { rate_hz: 48.0, ..ResampleConfig::default() };
    let fast = run(&resample, run(&mirror, motion.clone()).unwrap()).unwrap();
    assert!(distance(&fast, &run(&mirror, run(&resample, motion).unwrap()).unwrap()) < 1e-9);
}

#[test]
fn a_multiple_of_the_rate_holds_every_old_frame() {
    let motion = walker(25);
    for factor in [2, 3, 5] {
        for rotations in [
            super::super::resample::RotationsBetween::Smooth,
            super::super::resample::RotationsBetween::Linear,
        ] {
            let up = ResampleConfig { rate_hz: 30.0 * factor as f64, rotations, band_limit: false };
            let fast = run(&up, motion.clone()).unwrap();
            assert_eq!(fast.clip.frames(), 24 * factor + 1);
            for f in 0..25 {
                assert_eq!(fast.clip.rotations(f * factor), motion.clip.rotations(f));
                assert_eq!(fast.clip.translations(f * factor), motion.clip.translations(f));
            }
            let down = ResampleConfig { rate_hz: 30.0, rotations, band_limit: false };
            assert_eq!(run(&down, fast).unwrap().clip, motion.clip);
        }
    }
}

#[test]
fn resampling_keeps_duration_within_a_frame_at_any_rate() {
    for_seeds(60, |noise| {
        let frames = 1 + below(noise, 80);
        let rate_hz = 1.0 + (noise.even() * 239.0).round();
        let motion = walker(frames);
        let config = ResampleConfig { rate_hz, ..ResampleConfig::default() };
        let clip = run(&config, motion.clone()).unwrap().clip;
        let lost = motion.clip.duration() - clip.duration();
        assert!((-1e-9..1.0 / rate_hz).contains(&lost), "{frames} frames at {rate_hz} Hz lose {lost} s");
        assert_eq!(clip.rotations(0), motion.clip.rotations(0));
    });
}

#[test]
fn filtered_translations_add_and_scale() {
    let noisy = |seed: u64| {
        let (mut noise, mut motion) = (Noise(seed), walker(70));
        motion.clip.all_translations_mut().iter_mut().for_each(|t| *t += noise.vector(0.02));
        motion
    };
    for kind in
        [super::super::filter::FilterKind::Butterworth, super::super::filter::FilterKind::SavitzkyGolay]
    {
        let config = FilterConfig { kind, ..FilterConfig::default() };
        let (a, b) = (noisy(1), noisy(2));
        let mut both = a.clone();
        let pairs = both.clip.all_translations_mut().iter_mut().zip(b.clip.all_translations());
        pairs.for_each(|(x, y)| *x = *x * 3.0 - y * 2.0);
        let [a, b, both] = [a, b, both].map(|m| run(&config, m).unwrap());
        let pairs = a.clip.all_translations().iter().zip(b.clip.all_translations());
        let expected = pairs.map(|(x, y)| x * 3.0 - y * 2.0);
        let off = expected.zip(both.clip.all_translations()).map(|(x, y)| (x - y).norm()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{kind:?}: {off}");
    }
}

#[test]
fn a_lower_cutoff_leaves_less_acceleration() {
    let mut motion = walker(90);
    let mut noise = Noise(5);
    motion.clip.all_translations_mut().iter_mut().for_each(|t| *t += noise.vector(0.01));
    let acceleration = |hz: f64| {
        let config = FilterConfig { cutoff_hz: hz, extremity_cutoff_hz: hz, ..FilterConfig::default() };
        let clip = run(&config, motion.clone()).unwrap().clip;
        clip.all_translations().windows(3).map(|w| (w[0] - w[1] * 2.0 + w[2]).norm_squared()).sum::<f64>()
    };
    let all: Vec<f64> = [14.0, 10.0, 6.0, 3.0, 1.0].map(acceleration).to_vec();
    assert!(all.is_sorted_by(|a, b| a > b), "{all:?}");
}

#[test]
fn extraction_moves_the_root_and_leaves_every_other_joint_in_model_space() {
    let motion = walker(50);
    let hips = motion.character.skeleton().find("hips").unwrap();
    for yaw_cutoff_hz in [0.0, 0.5, 4.0] {
        let mode = super::super::root_motion::RootMotionMode::Extract;
        let result = run(&RootMotionConfig { mode, yaw: Some(true), yaw_cutoff_hz }, motion.clone()).unwrap();
        for f in 0..50 {
            let (a, b): (ModelPose, ModelPose) = (motion.model_pose(f), result.model_pose(f));
            for (x, y) in a.joints().iter().zip(b.joints()).skip(1) {
                assert!((x.translation - y.translation).norm() < 1e-9);
                assert!(x.rotation.angle_to(&y.rotation) < 1e-7);
            }
            let root = b.position(JointId::new(0));
            assert!((root - a.position(hips)).xz().norm() < 1e-9 && root.y.abs() < 1e-12);
            let up: Quat = b.joint(JointId::new(0)).rotation;
            assert!((up * Vec3::y() - Vec3::y()).norm() < 1e-9);
        }
    }
}

#[test]
fn a_reduction_records_the_tolerance_and_nothing_else() {
    for_seeds(10, |noise| {
        let tolerance_m = 0.01 * noise.even();
        let motion = walker(20);
        let mut result = run(&ReduceConfig { tolerance_m }, motion.clone()).unwrap();
        assert_eq!(result.clip.tolerance, Some(tolerance_m));
        result.clip.tolerance = motion.clip.tolerance;
        assert_eq!(result, motion);
    });
}
