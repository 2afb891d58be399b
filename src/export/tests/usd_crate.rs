//! Binary USD (a crate) holds what the text holds, and files of usd-core are read as their text.
//!
//! `tests/fixtures/usd/two_joints.usdc` and `two_joints_0_4.usdc` are `two_joints.usda`, written again by usd-core 26.11 in the
//! versions 0.8 and 0.4 of the format.

use super::surfaces::rich;
use crate::made_walk::{carried, take};
use crate::zip_entries::entries;
use posemill::export::{ExportOptions, Format, save};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::{Clip, Motion};
use std::fs;
use std::path::Path;

fn written(motions: &[Motion], format: &str) -> Vec<u8> {
    let options = ExportOptions { stem: "clip".into(), ..ExportOptions::default() };
    save(motions, Format::of(format).unwrap(), &options).unwrap().0.swap_remove(0).bytes
}

/// Everything that is read, as the bytes of a GLB.
fn read(bytes: &[u8], suffix: &str) -> Vec<u8> {
    let asset = from_bytes(bytes, "again", Some(suffix), None, &ImportOptions::default()).unwrap();
    let motions: Vec<Motion> = (0..asset.clips.len()).map(|k| asset.motion(k).unwrap()).collect();
    assert!(!motions.is_empty());
    written(&motions, "glb")
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/usd").join(name)).unwrap()
}

#[test]
fn a_crate_reads_back_as_the_text_does() {
    let walk = carried(&take("walk.bvh"));
    let mut again = walk.clone();
    again.clip.name = "again".into();
    for motions in [vec![walk, again], vec![rich()]] {
        let text = read(&written(&motions, "usda"), "usda");
        for format in ["usdc", "usd", "usdz"] {
            assert!(text == read(&written(&motions, format), format), "{format}");
        }
        assert_eq!(written(&motions, "usd"), written(&motions, "usdc"));
        assert_eq!(written(&motions, "usdc"), written(&motions, "usdc"));
        let package = written(&motions, "usdz");
        let layer = &entries(&package)[0];
        assert!(layer.name == "scene.usdc" && layer.bytes.starts_with(b"PXR-USDC"));
    }
}

#[test]
fn crates_of_usd_core_read_as_their_text() {
    let text = read(&fixture("two_joints.usda"), "usda");
    for name in ["two_joints.usdc", "two_joints_0_4.usdc"] {
        // The name of a file does not decide what it is.
        assert!(text == read(&fixture(name), "usd"), "{name}");
    }
}

#[test]
fn crates_without_a_skeleton_of_unknown_versions_and_damaged_ones_are_refused() {
    let whole = fixture("two_joints.usdc");
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = whole.clone();
        change(&mut bytes);
        from_bytes(&bytes, "a", None, None, &ImportOptions::default())
            .map_or_else(|e| e.to_string(), |_| "read".into())
    };
    let contents = u64::from_le_bytes(whole[16..24].try_into().unwrap()) as usize;
    for (change, said) in [
        (
            &(|b: &mut Vec<u8>| b[9] = 14) as &dyn Fn(&mut Vec<u8>),
            "it is of version 0.14; 0.4 to 0.13 are read",
        ),
        (&|b: &mut Vec<u8>| b[16..24].fill(0xFF), "binary USD, table of contents"),
        (&|b: &mut Vec<u8>| b[contents] = 0xFF, "255 sections are more than a crate has"),
        (&|b: &mut Vec<u8>| b[contents + 8] = b'X', "the section TOKENS is missing"),
        (&|b: &mut Vec<u8>| b.truncate(40), "binary USD, table of contents"),
    ] {
        let message = refused(change);
        assert!(message.contains(said) && message.contains("usdcat in.usdc -o out.usda"), "{message}");
    }
    // Every section says how many rows it has first: more than any file holds.
    for row in 0..6 {
        let at = contents + 8 + 32 * row + 16;
        let begin = u64::from_le_bytes(whole[at..at + 8].try_into().unwrap()) as usize;
        for count in [u64::MAX, 1 << 40, 1 << 20] {
            let message =
                refused(&|b: &mut Vec<u8>| b[begin..begin + 8].copy_from_slice(&count.to_le_bytes()));
            assert_ne!(message, "read", "section {row}, {count} rows");
        }
    }
}

#[test]
fn a_pose_that_is_held_is_written_once() {
    let walk = take("walk.bvh");
    let frames = |count: usize, distinct: usize| {
        let clip = &walk.clip;
        let rows = || (0..count).map(|f| f % distinct);
        let rotations = rows().flat_map(|f| clip.rotations(f).to_vec()).collect();
        let translations = rows().flat_map(|f| clip.translations(f).to_vec()).collect();
        let joints = walk.character.skeleton().len();
        let translated = clip.translated().to_vec();
        let clip = Clip::new("long", clip.sample_rate, joints, rotations, translated, translations);
        written(&[Motion::new(walk.character.clone(), clip)], "usdc").len()
    };
    // Time and two samples of 8 bytes each for a frame, and no more.
    let (short, long) = (frames(10, 10), frames(5010, 10));
    assert!((long - short) as f64 / 5000.0 < 24.5, "{short} {long}");
    let joints = walk.character.skeleton().len();
    assert!(frames(40, 40) - frames(20, 20) > 20 * 28 * joints);
}
