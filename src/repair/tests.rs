//! Laws of the repair: a clean take is returned bit for bit, a damaged one is nearer to the truth and never farther,
//! and what is irrelevant (orientation, position, size, side) has no effect.

mod doubtful_faults;
mod floor_faults;
mod getting_up;
mod joint_faults;

use crate::damages::{Damage, damaged, distance, moved};
use crate::development_data::data;
use crate::humanoids::{CHARACTERS, TAKES};
use posemill::export::ExportOptions;
use posemill::import::{ImportOptions, load};
use posemill::math::{Transform, Vec3, exp};
use posemill::model::{Motion, Rig, Role, Side, Skeleton};
use posemill::pipeline::{Pipeline, save};
use posemill::repair::{Faults, RepairedMotion, repair_motion};
use posemill::report::Report;
use posemill::stages::{MirrorConfig, Setting, StageConfig};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Farther from the truth than this is harm, centimetres.
const HARM: f64 = 0.01;

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn motions(path: &Path) -> Vec<Motion> {
    let asset = load(path, &ImportOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    asset.clips.iter().map(|clip| Motion::new(Arc::clone(&asset.character), clip.clone())).collect()
}

fn take(path: &Path) -> Motion {
    motions(path).remove(0)
}

fn walk() -> Motion {
    take(&shipped("walk.bvh"))
}

pub(super) fn repaired(motion: &Motion) -> RepairedMotion {
    let result = repair_motion(motion.clone(), &Faults::default());
    result.motion.check().unwrap();
    result
}

/// The takes of `data/`, without faults by construction.
const SHIPPED: [&str; 5] = ["walk.bvh", "wave.bvh", "squat.bvh", "jump.bvh", "turn.bvh"];

#[test]
fn a_clean_take_is_returned_bit_for_bit() {
    let mut clean: Vec<PathBuf> = SHIPPED.iter().map(|name| shipped(name)).collect();
    if let Some(folder) = data() {
        clean.extend(TAKES.iter().chain(CHARACTERS).map(|name| folder.join(name)));
    }
    for path in clean {
        for motion in motions(&path) {
            let found = repaired(&motion);
            let name = format!("{} {}: {:?}", path.display(), motion.clip.name, found.findings);
            assert!(found.motion == motion, "{name}");
            assert!(found.findings.iter().all(|f| f.left.is_some()), "{name}");
            assert!(found.nearest.iter().all(|m| m.value <= 1.0), "{name}");
            assert!(found.findings.iter().all(|f| f.fault != "drift"), "{name}");
        }
    }
}

/// A damage, and the largest share of the error that may remain: in the mean over the takes, and in the worst of
/// them.
///
/// Reached on 13 takes, mean and worst: raise 0.22, 1; drift up 0.03, 1 (two takes are too short); step 0.02, 0.08;
/// hold 0.17, 0.76; noise 0.45, 0.52 and 0.38, 0.45; jitter 0.42, 0.6; spikes 0.03, 0.5; swap 0.01, 0.1; blip 0.01,
/// 0.1; stutter 0.5, 1. Errors without evidence stay and are reported.
const SAMPLE: [(Damage, f64, f64); 15] = [
    (Damage::Raise(0.1), 0.35, 1.0),
    (Damage::Raise(-0.1), 0.35, 1.0),
    (Damage::DriftUp(0.03), 0.1, 1.0),
    (Damage::Drift(0.03), 0.7, 1.0),
    (Damage::Step(0.1), 0.05, 0.15),
    (Damage::StepUp(0.1), 0.1, 1.0),
    (Damage::Hold(10), 0.5, 1.0),
    (Damage::Noise(1.0), 0.6, 0.8),
    (Damage::Jitter(5.0), 0.6, 0.8),
    (Damage::Spikes(60.0), 0.2, 1.0),
    (Damage::Swap(3), 0.1, 0.5),
    (Damage::Flip(180.0, 12), 0.1, 0.5),
    (Damage::Flip(165.0, usize::MAX / 2), 0.1, 0.5),
    (Damage::Blip(0.15), 0.1, 1.0),
    (Damage::Stutter, 0.7, 1.0),
];

/// Takes that are damaged: of `data/` and of the development data, of 24 to 120 frames a second.
pub(super) fn truths() -> Vec<(String, Motion)> {
    let mut paths: Vec<PathBuf> = SHIPPED.iter().map(|name| shipped(name)).collect();
    if let Some(folder) = data() {
        let real = [
            "bvh/bvh-toolbox/walk01.bvh",
            "bvh/fair1/dab.bvh",
            "bvh/mocapbank/test_mocapbank.bvh",
            "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh",
            "bvh/cmu/jumping_jacks.bvh",
        ];
        paths.extend(real.iter().map(|name| folder.join(name)));
    }
    paths.iter().map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), take(path))).collect()
}

#[test]
fn repair_brings_a_damaged_take_nearer_to_the_truth_and_is_idempotent() {
    let truths = truths();
    for (damage, mean, worst) in SAMPLE {
        let (mut before, mut after) = (0.0, 0.0);
        for (name, truth) in &truths {
            let bad = damaged(truth, damage);
            let found = repaired(&bad);
            let [was, is] = [&bad, &found.motion].map(|motion| distance(truth, motion));
            println!("{damage:?} {name}: {was:.3} cm to {is:.3} cm");
            assert!(is <= was + HARM, "{damage:?} {name}: {was} cm to {is} cm: {:?}", found.findings);
            assert!(is <= worst * was + HARM, "{damage:?} {name}: {was} cm to {is} cm: {:?}", found.findings);
            (before, after) = (before + was, after + is);
            assert!(repaired(&found.motion).motion == found.motion, "{damage:?} {name}: a second time");
            let fixed = found.findings.iter().any(|f| f.left.is_none());
            assert_eq!(fixed, found.motion != bad, "{damage:?} {name}: findings and motion disagree");
        }
        assert!(after <= mean * before, "{damage:?}: {before} cm to {after} cm over all takes");
    }
}

#[test]
fn a_standing_rest_pose_gives_the_level_within_a_centimetre() {
    for name in ["turn.bvh", "squat.bvh"] {
        let truth = take(&shipped(name));
        for by in [0.1, -0.1] {
            let found = repaired(&damaged(&truth, Damage::Raise(by)));
            let off = distance(&truth, &found.motion);
            assert!(off < 1.0, "{name} by {by}: {off} cm: {:?}", found.findings);
        }
    }
}

#[test]
fn high_ankles_are_no_level_where_the_rest_pose_says_nothing() {
    // The ankles of a figure with large feet: 40 % up the shins. Its rest pose hangs in the air.
    let mut tall = walk();
    let mut character = (*tall.character).clone();
    let mut joints = character.skeleton().joints().to_vec();
    joints[0].rest.translation.y += 0.3;
    for side in Side::BOTH {
        let [foot, toes] = [Role::Foot(side), Role::Toes(side)].map(|r| character.rig.joint(r).unwrap());
        let up = joints[foot.index()].rest.translation * 0.4;
        joints[foot.index()].rest.translation -= up;
        let inside = joints[foot.index()].rest.rotation.inverse() * up;
        joints[toes.index()].rest.translation += inside;
    }
    let roles = character.rig.assignments().map(|(role, a)| (role, a.clone())).collect::<Vec<_>>();
    character.rig = Rig::new(Skeleton::new(joints).unwrap(), roles);
    tall.character = Arc::new(character);
    let found = repaired(&tall);
    assert!(found.findings.iter().all(|f| f.fault != "level"), "{:?}", words(&found));
}

#[test]
fn thick_feet_are_no_level_where_the_rest_pose_stands_on_them() {
    // The robot's toe joints are 3.5 cm above its soles, on legs of 47 cm; as BVH it has no skin that says so.
    let pipeline = Pipeline::standard(shipped("robot.glb")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in SHIPPED {
        let path = folder.path().join(name);
        let result = pipeline.apply(take(&shipped(name))).unwrap().0;
        save(&[result], &path, &ExportOptions::default()).unwrap();
        let stands = take(&path);
        let level = |motion: &Motion| {
            let nearest = repaired(motion).nearest;
            nearest.iter().find(|m| m.name == "repair_level").map_or(0.0, |m| m.value)
        };
        assert!(level(&stands) < 0.5, "{name}: {}", level(&stands));
        let lowered = repaired(&damaged(&stands, Damage::Raise(0.2)));
        assert!(lowered.findings.iter().any(|f| f.fault == "level" && f.left.is_none()), "{name}");
        assert!(
            distance(&stands, &lowered.motion) < 1.5,
            "{name}: {} cm",
            distance(&stands, &lowered.motion)
        );
    }
}

#[test]
fn deleted_frames_are_reported_and_not_filled() {
    for (name, truth) in truths().iter().filter(|t| t.0.starts_with("mixamo") || t.0 == "walk.bvh") {
        let bad = damaged(truth, Damage::Drop(30));
        let found = repaired(&bad);
        assert!(found.motion == bad, "{name}: {:?}", found.findings);
        let cut = found.findings.iter().find(|f| f.fault == "cut").expect("a cut is reported");
        assert_eq!(cut.frames[0], truth.clip.frames() / 2, "{name}");
    }
}

/// A take with several faults at once, so that a law holds for more than one step.
fn several() -> Motion {
    let bad = damaged(&damaged(&walk(), Damage::Step(0.1)), Damage::Spikes(60.0));
    damaged(&damaged(&bad, Damage::Raise(0.15)), Damage::Noise(1.0))
}

/// The greatest distance between two motions of one body, metres.
fn apart(a: &Motion, b: &Motion) -> f64 {
    let (a, b) = (crate::damages::places(a), crate::damages::places(b));
    let all = a.iter().zip(&b).flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (a - b).norm()));
    all.fold(0.0, f64::max)
}

fn words(result: &RepairedMotion) -> Vec<(&'static str, [usize; 2])> {
    result.findings.iter().map(|f| (f.fault, f.frames)).collect()
}

#[test]
fn repair_is_equivariant_under_rotation_and_translation() {
    let transformed = |motion: &Motion| {
        let by = Transform::new(exp(&(Vec3::y() * 1.1)), Vec3::new(3.0, 0.0, -7.0));
        let mut transformed = motion.clone();
        for f in 0..motion.clip.frames() {
            let root = Transform::new(motion.clip.rotations(f)[0], motion.clip.translations(f)[0]);
            let root = by * root;
            transformed.clip.rotations_mut(f)[0] = root.rotation;
            transformed.clip.translations_mut(f)[0] = root.translation;
        }
        crate::damages::continuous(&mut transformed.clip);
        transformed
    };
    let bad = several();
    let (plain, other) = (repaired(&bad), repaired(&transformed(&bad)));
    assert_eq!(words(&plain), words(&other));
    let off = apart(&transformed(&plain.motion), &other.motion);
    // The error of an iterative geometric median.
    assert!(off < 1e-7, "{off}");
}

#[test]
fn a_body_of_another_size_is_repaired_alike() {
    let text = std::fs::read(shipped("walk.bvh")).unwrap();
    let of_unit = |units: f64| {
        let options = ImportOptions { units: Some(units), ..ImportOptions::default() };
        let asset = posemill::import::from_file(&text, &shipped("walk.bvh"), &options).unwrap();
        asset.motion(0).unwrap()
    };
    let mend_of = |motion: &Motion| {
        let bad = damaged(&damaged(motion, Damage::Step(0.1)), Damage::Raise(0.15));
        repaired(&damaged(&bad, Damage::Noise(1.0)))
    };
    let (person, child) = (mend_of(&of_unit(0.01)), mend_of(&of_unit(0.004)));
    assert_eq!(words(&person), words(&child));
    // Positions are compared in metres of one leg.
    let off = apart(&person.motion, &child.motion);
    assert!(off < 1e-9, "{off}");
}

#[test]
fn a_mirrored_take_gives_the_mirrored_result() {
    let mirrored = |motion: &Motion| {
        let setting = Setting::new(Arc::clone(&motion.character), "");
        let stage = MirrorConfig::default().resolve(&setting).unwrap();
        stage.apply(motion.clone(), &mut Report::default()).unwrap()
    };
    let bad = several();
    let (plain, other) = (repaired(&bad), repaired(&mirrored(&bad)));
    let off = apart(&mirrored(&plain.motion), &other.motion);
    assert!(off < 1e-6, "{off} {:?} {:?}", words(&plain), words(&other));
}

#[test]
fn nothing_is_filtered_across_a_cut() {
    // The walk, and then the walk again: a cut between two strides that differ.
    let walk = walk();
    let frames = walk.clip.frames();
    let noisy = damaged(&walk, Damage::Noise(2.0));
    let end = walk.part(0..frames - 37);
    let joined = |first: &Motion, second: &Motion| {
        let (a, b) = (&first.clip, &second.clip);
        let rotations = [a.all_rotations(), b.all_rotations()].concat();
        let places = [a.all_translations(), b.all_translations()].concat();
        let mut joined = first.clone();
        joined.clip = posemill::model::Clip::new(
            "",
            a.sample_rate,
            a.joints(),
            rotations,
            a.translated().to_vec(),
            places,
        );
        crate::damages::continuous(&mut joined.clip);
        joined
    };
    let bad = joined(&end, &noisy);
    let found = repair_motion(bad.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
    assert!(
        found.findings.iter().any(|f| f.fault == "cut" && f.frames[0] == frames - 37),
        "{:?}",
        words(&found)
    );
    assert!(found.findings.iter().any(|f| f.fault == "noise"));
    for f in 0..frames - 37 {
        assert_eq!(found.motion.clip.rotations(f), bad.clip.rotations(f), "frame {f}");
        assert_eq!(found.motion.clip.translations(f), bad.clip.translations(f), "frame {f}");
    }
}

#[test]
fn without_legs_the_signal_is_repaired_and_the_floor_reported_unknown() {
    let mut bad = damaged(&damaged(&walk(), Damage::Raise(0.3)), Damage::Spikes(60.0));
    let mut character = (*bad.character).clone();
    character.rig = Rig::new(character.skeleton().clone(), []);
    bad.character = Arc::new(character);
    let found = repaired(&bad);
    let spikes = found.findings.iter().filter(|f| f.fault == "spike" && f.left.is_none()).count();
    assert_eq!(spikes, 6, "{:?}", words(&found));
    let floor = found.findings.iter().find(|f| f.fault == "floor").expect("the floor is reported");
    assert!(floor.left.as_ref().unwrap().contains("no two legs"), "{floor:?}");
    assert!(found.findings.iter().all(|f| f.fault != "level"));
}

#[test]
fn a_group_of_faults_that_is_not_selected_is_not_tested() {
    let bad = damaged(&damaged(&walk(), Damage::Raise(0.3)), Damage::Spikes(60.0));
    let signal = repair_motion(bad.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
    assert!(signal.findings.iter().all(|f| f.fault == "spike"), "{:?}", words(&signal));
    let floor = repair_motion(bad.clone(), &Faults { signal: false, ..Faults::default() });
    assert_eq!(words(&floor), [("level", [0, bad.clip.frames()])]);
}

/// A joint that flips by half a turn about an axis of its own is turned back, and no other joint is touched.
#[test]
fn a_joint_that_flips_is_turned_back_and_is_no_cut() {
    let walk = walk();
    let frames = walk.clip.frames();
    let left = Side::Left;
    let cases = [
        (Role::Toes(left), 40..frames),
        (Role::Foot(left), 0..frames - 40),
        (Role::Hand(left), 30..45),
        (Role::LowerLeg(left), 60..63),
        (Role::UpperArm(left), frames - 60..frames),
        (Role::Head, 0..50),
    ];
    for (role, span) in cases {
        let joint = walk.character.rig.joint(role).unwrap().index();
        for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
            let case = format!("{role} about {axis:?}, {span:?}");
            let mut bad = walk.clone();
            for f in span.clone() {
                bad.clip.rotations_mut(f)[joint] *= exp(&(axis * std::f64::consts::PI));
            }
            crate::damages::continuous(&mut bad.clip);
            assert!(posemill::kinematics::cuts(&bad).is_empty(), "{case}");
            let found = repaired(&bad);
            assert_eq!(words(&found), [("flip", [span.start, span.end])], "{case}");
            for f in 0..frames {
                for (k, (a, b)) in
                    walk.clip.rotations(f).iter().zip(found.motion.clip.rotations(f).iter()).enumerate()
                {
                    let off = a.angle_to(b).to_degrees();
                    let limit = if k == joint { 1.0 } else { 1e-6 };
                    assert!(off < limit, "{case}: joint {k}, frame {f}: {off} degrees");
                }
            }
        }
    }
}

#[test]
fn stepped_animation_is_not_changed() {
    let mut stepped = walk();
    for first in (20..stepped.clip.frames() - 12).step_by(12) {
        crate::damages::held(&mut stepped, first, 5);
    }
    let found = repair_motion(stepped.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
    assert!(found.motion == stepped, "{:?}", words(&found));
    assert!(found.findings.iter().any(|f| f.fault == "held" && f.left.is_some()), "{:?}", words(&found));
}

#[test]
fn a_take_that_repeats_every_second_frame_is_not_changed() {
    for (name, truth) in truths() {
        let mut doubled = truth.clone();
        for f in (1..doubled.clip.frames()).step_by(2) {
            crate::damages::held(&mut doubled, f, 1);
        }
        let found = repaired(&doubled);
        assert!(found.motion == doubled, "{name}: {:?}", words(&found));
        assert!(
            found.findings.iter().any(|f| f.fault == "held" && f.left.is_some()),
            "{name}: {:?}",
            words(&found)
        );
    }
}

#[test]
fn single_copies_of_frames_are_filled_where_the_body_moves() {
    for (name, truth) in truths() {
        let mut copied = truth.clone();
        for f in (30..copied.clip.frames() - 10).step_by(23) {
            crate::damages::held(&mut copied, f, 1);
        }
        let found = repair_motion(copied.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
        let clean = repair_motion(truth.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
        let [was, is] = [&copied, &found.motion].map(|motion| distance(&clean.motion, motion));
        println!("{name}: {was:.4} cm to {is:.4} cm");
        assert!(is < 0.5 * was, "{name}: {was} cm to {is} cm: {:?}", words(&found));
    }
}

/// Every `step`th frame of a take, at the rate that keeps its speed.
pub(super) fn decimated(motion: &Motion, step: usize) -> Motion {
    let clip = &motion.clip;
    let frames: Vec<usize> = (0..clip.frames()).step_by(step).collect();
    let rotations = frames.iter().flat_map(|f| clip.rotations(*f).to_vec()).collect();
    let places = frames.iter().flat_map(|f| clip.translations(*f).to_vec()).collect();
    let rate = clip.sample_rate / step as f64;
    let tracks = clip.translated().to_vec();
    let mut slow = motion.clone();
    slow.clip = posemill::model::Clip::new("", rate, clip.joints(), rotations, tracks, places);
    crate::damages::continuous(&mut slow.clip);
    slow
}

#[test]
fn recorded_takes_at_low_rates_stay() {
    // Quick motion at a low rate looks like noise; the feet of the walk that rest tell it at 24 and at 20 frames a second.
    for (name, truth) in truths() {
        for rate in [30.0, 24.0, 20.0] {
            let every = ((truth.clip.sample_rate / rate).round() as usize).max(1);
            let slow = decimated(&truth, every);
            let found =
                repair_motion(slow.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
            assert!(found.motion == slow, "{name} at {rate}: {:?}", words(&found));
        }
    }
}

#[test]
fn hands_of_takes_cut_to_any_window_stay() {
    // A boxer's wrists and the hands of a dab do not pause in a few seconds, as those of the whole take do.
    let boxer = data().map(|folder| ("boxer".to_owned(), take(&folder.join("bvh/assimp/Boxing_Toes.bvh"))));
    for (name, truth) in truths().into_iter().chain(boxer) {
        let frames = truth.clip.frames();
        for seconds in [1.5, 3.0, 6.0] {
            let length = ((seconds * truth.clip.sample_rate).round() as usize).min(frames);
            for k in 0..8 {
                let start = (frames - length) * k / 7;
                let window = truth.part(start..start + length);
                let off = Faults { floor: false, legs: false, ..Faults::default() };
                let noisy = repair_motion(window, &off).findings;
                let noisy: Vec<_> = noisy.iter().filter(|f| f.fault == "noise" && f.left.is_none()).collect();
                assert!(noisy.is_empty(), "{name}, {seconds} s from frame {start}: {noisy:?}");
            }
        }
    }
}

#[test]
fn a_leap_from_standing_is_no_step() {
    // As in hand-made clips: from one frame to the next at 8 m/s, and on.
    let wave = take(&shipped("wave.bvh"));
    let (rate, frames) = (wave.clip.sample_rate, wave.clip.frames());
    let leap = moved(&wave, |f| {
        let s = f.saturating_sub(frames / 2) as f64 / rate;
        Vec3::y() * (8.0 * s - 20.0 * s * s).max(0.0)
    });
    let found = repair_motion(leap.clone(), &Faults { floor: false, legs: false, ..Faults::default() });
    assert!(found.motion == leap, "{:?}", words(&found));
}

#[test]
fn walking_in_place_stays_in_place() {
    let walk = walk();
    let (rate, frames) = (walk.clip.sample_rate, walk.clip.frames());
    let metre = crate::damages::metre(&walk);
    let at = |f: usize| walk.clip.translations(f)[0];
    let velocity = (at(frames - 1) - at(0)) / ((frames - 1) as f64 / rate) / metre;
    let spot = moved(&walk, |f| -Vec3::new(velocity.x, 0.0, velocity.z) * (f as f64 / rate));
    let found = repaired(&spot);
    assert!(found.motion == spot, "{:?}", words(&found));
    // At a sixth of the pace feet are as slow as a drift.
    let mut slow = spot.clone();
    slow.clip.sample_rate /= 6.0;
    let found = repaired(&slow);
    assert!(!words(&found).iter().any(|w| w.0 == "drift" || w.0 == "path_scale"), "{:?}", words(&found));
}

#[test]
fn a_jump_onto_a_box_is_no_drift_and_no_step() {
    // The flight is from frame 120 to 170; meanwhile the body comes to be half a metre higher.
    let jump = take(&shipped("jump.bvh"));
    let raised = |f: usize| {
        let u = ((f as f64 - 125.0) / 40.0).clamp(0.0, 1.0);
        0.5 * u * u * (3.0 - 2.0 * u)
    };
    let onto = moved(&jump, |f| Vec3::y() * raised(f));
    let found = repaired(&onto);
    assert!(found.motion == onto, "{:?}", words(&found));
    assert!(found.nearest.iter().any(|m| m.name == "repair_vertical_drift"), "the floor is tested");
}
