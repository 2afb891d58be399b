//! Laws of all formats: round trips through the importer, equal bytes on every run and thread, exact counts.

use crate::made_bodies::{ADULT, bones};
use crate::perturbed::Noise;
use crate::seeds::{below, for_seeds};
use crate::signal::fix_hemispheres;
use posemill::export::{ExportError, ExportOptions, FORMATS, Format, save};
use posemill::import::{ImportOptions, from_bytes};
use posemill::math::exp;
use posemill::model::{Character, Clip, JointId, Motion, Pose};
use std::sync::Arc;

/// A standing figure whose joints and hips wander.
fn wandering(noise: &mut Noise, frames: usize) -> Motion {
    let character = Arc::new(bones(&ADULT));
    let mut pose: Pose = character.skeleton().rest_pose();
    let poses: Vec<Pose> = (0..frames)
        .map(|_| {
            let local = pose.local_mut();
            local.iter_mut().for_each(|t| t.rotation *= exp(&noise.vector(0.02)));
            local[0].translation += noise.vector(0.01);
            pose.clone()
        })
        .collect();
    let mut clip = Clip::from_poses("wander", 60.0, character.skeleton(), &poses);
    fix_hemispheres(&mut clip);
    Motion::new(character, clip)
}

fn options() -> ExportOptions {
    ExportOptions { stem: "wander".into(), ..ExportOptions::default() }
}

fn written(motion: &Motion, format: Format) -> Option<Vec<u8>> {
    let files = save(std::slice::from_ref(motion), format, &options()).ok()?.0;
    Some(files.into_iter().next()?.bytes)
}

/// Formats that the importer reads with their skeleton, and how exact their positions are, metres.
fn read_again() -> Vec<(Format, f64)> {
    let all = [("glb", 1e-5), ("bvh", 1e-4), ("fbx", 1e-4)];
    let found = all.into_iter().filter_map(|(name, off)| Some((Format::of(name)?, off)));
    found.filter(|(format, _)| cfg!(feature = "fbx") || format.name != "fbx").collect()
}

fn read(bytes: &[u8], format: Format) -> Motion {
    let asset = from_bytes(bytes, "wander", Some(format.name), None, &ImportOptions::default()).unwrap();
    let motion = asset.motion(0).unwrap();
    motion.check().unwrap();
    motion
}

/// Largest distance of equally named joints over all frames, metres.
fn distance(a: &Motion, b: &Motion) -> f64 {
    let names = a.character.skeleton().joints().iter().map(|j| j.name.as_str());
    let partner: Vec<JointId> = names.map(|n| b.character.skeleton().find(n).expect(n)).collect();
    let frame = |f: usize| {
        let (x, y) = (a.model_pose(f), b.model_pose(f));
        let pairs = x.joints().iter().zip(&partner);
        pairs.map(|(t, &id)| (t.translation - y.position(id)).norm()).fold(0.0, f64::max)
    };
    (0..a.clip.frames()).map(frame).fold(0.0, f64::max)
}

#[test]
fn what_is_written_reads_back_with_every_joint_where_it_was() {
    for (format, exact) in read_again() {
        for_seeds(3, |noise| {
            let frames = 2 + below(noise, 60);
            let motion = wandering(noise, frames);
            let back = read(&written(&motion, format).unwrap(), format);
            assert_eq!(back.clip.frames(), frames, "{format:?}");
            assert!((back.clip.sample_rate - 60.0).abs() < 1e-3, "{format:?}: {}", back.clip.sample_rate);
            let off = distance(&motion, &back);
            assert!(off < exact, "{format:?}: {off} m");
        });
    }
}

#[test]
fn a_second_round_trip_changes_nothing_more_than_the_first() {
    for (format, exact) in read_again() {
        let motion = wandering(&mut Noise(7), 30);
        let once = read(&written(&motion, format).unwrap(), format);
        let twice = read(&written(&once, format).unwrap(), format);
        assert_eq!(twice.character.skeleton().len(), once.character.skeleton().len(), "{format:?}");
        assert!(distance(&once, &twice) < exact, "{format:?}: {} m", distance(&once, &twice));
    }
}

#[test]
fn every_format_writes_the_same_bytes_on_any_number_of_threads_and_changes_no_input() {
    let motion = wandering(&mut Noise(3), 40);
    let before = motion.clone();
    for &format in FORMATS {
        let Some(bytes) = written(&motion, format) else { continue };
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(
                pool.install(|| written(&motion, format)) == Some(bytes.clone()),
                "{format:?}, {threads}"
            );
        }
        assert!(!bytes.is_empty());
    }
    assert_eq!(motion, before);
}

#[test]
fn formats_of_one_clip_refuse_two_and_all_refuse_none() {
    let motion = wandering(&mut Noise(4), 5);
    for &format in FORMATS {
        assert!(matches!(save(&[], format, &options()), Err(ExportError::Empty)), "{format:?}");
        let two = save(&[motion.clone(), motion.clone()], format, &options());
        let refused = matches!(two, Err(ExportError::OneClip { .. }));
        assert_eq!(refused, !format.several, "{format:?}: {:?}", two.err());
        assert_eq!(Format::of(&format.name.to_uppercase()), Some(format));
    }
}

#[test]
fn more_frames_take_more_bytes_and_the_step_is_the_same() {
    for name in ["csv", "bvh"] {
        let format = Format::of(name).unwrap();
        let lines = |frames: usize| {
            let text =
                String::from_utf8(written(&wandering(&mut Noise(6), frames), format).unwrap()).unwrap();
            text.lines().count()
        };
        let counts: Vec<usize> = [10, 20, 30].map(lines).to_vec();
        assert_eq!(counts[1] - counts[0], counts[2] - counts[1], "{name}: {counts:?}");
        assert!(counts[1] > counts[0], "{name}");
    }
}

#[test]
fn an_output_does_not_depend_on_the_name_of_the_character_in_memory() {
    let motion = wandering(&mut Noise(8), 12);
    let character = Character { name: "other".into(), ..(*motion.character).clone() };
    let other = Motion { character: Arc::new(character), ..motion.clone() };
    for name in ["bvh", "csv"] {
        let format = Format::of(name).unwrap();
        assert!(written(&motion, format) == written(&other, format), "{name}");
    }
}
