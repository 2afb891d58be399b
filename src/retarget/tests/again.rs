//! A result, written in any format that keeps rotations and read again, performed by the character that performed it: the same
//! motion. And a cut is where it was after a way through FBX.

use crate::development_data::data;
use posemill::export::{ExportOptions, FORMATS, save};
use posemill::import::{ImportOptions, from_bytes, load};
use posemill::math::{Quat, Vec3};
use posemill::model::{Asset, Character, Clip, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::Path;
use std::sync::Arc;

fn read(path: &Path) -> Asset {
    load(path, &ImportOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn onto(source: &Motion, target: &Arc<Character>) -> Motion {
    let found = map(&source.character, target).unwrap();
    let rigs = (&source.character.rig, &target.rig);
    Retarget::new(&source.character, Arc::clone(target), &found, rigs, RootScale::Legs).apply(source)
}

/// The motion written in a format and read again.
fn through(motion: &Motion, format: &str) -> Motion {
    let found = FORMATS.iter().find(|f| f.name == format).unwrap();
    let options = ExportOptions { stem: "again".into(), ..ExportOptions::default() };
    let (files, _) = save(std::slice::from_ref(motion), *found, &options).unwrap();
    let asset = from_bytes(&files[0].bytes, "again", Some(format), None, &ImportOptions::default()).unwrap();
    asset.motion(asset.meant).unwrap()
}

/// The largest differences of two motions of one character: degrees of a joint in model space, metres.
fn apart(a: &Motion, b: &Motion) -> (f64, f64) {
    let mut most = (0.0_f64, 0.0_f64);
    for f in 0..a.clip.frames() {
        let (a, b) = (a.model_pose(f), b.model_pose(f));
        for (x, y) in a.joints().iter().zip(b.joints()) {
            most.0 = most.0.max(x.rotation.angle_to(&y.rotation).to_degrees());
            most.1 = most.1.max((x.translation - y.translation).norm());
        }
    }
    most
}

#[test]
fn a_result_that_is_retargeted_again_is_itself() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let mut takes = vec![shipped.join("walk.bvh"), shipped.join("squat.bvh")];
    let mut characters = vec![shipped.join("mannequin.glb"), shipped.join("robot.glb")];
    if let Some(data) = data() {
        takes.push(data.join("bvh/mocapbank/test_mocapbank.bvh"));
        // One has limbs in pieces; one no head, no arms, and sockets beside its body.
        let others = ["kaykit/manny_med_mod.gltf", "quaternius/KnightCharacter.glb", "raylib/greenman.glb"];
        characters.extend(others.map(|file| data.join("gltf").join(file)));
    }
    for character in &characters {
        let target = read(character).character;
        let rest = target.skeleton().rest_model_pose();
        let heights = rest.joints().iter().map(|joint| joint.translation.y);
        // Of a person; feet that are apart from their shins are put back to a millimetre.
        let size = heights.fold(0.0, f64::max) / 1.75;
        for take in &takes {
            let result = onto(&read(take).motion(0).unwrap(), &target);
            // The skin of the knight, whose limbs are apart, is measured in another pose where the file has other bind matrices.
            let in_pieces = character.ends_with("KnightCharacter.glb");
            let formats = if in_pieces { &["npz", "bvh"][..] } else { &["npz", "bvh", "fbx", "usdc"] };
            for format in formats {
                let (degrees, metres) = apart(&result, &onto(&through(&result, format), &target));
                let what = format!("{} on {} as {format}", take.display(), character.display());
                assert!(degrees < 0.05 && metres < 1e-3 * size, "{what}: {degrees} degrees, {metres} m");
            }
        }
    }
}

#[test]
fn the_first_frame_after_a_cut_is_its_own_in_fbx() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let walk = read(&shipped.join("walk.bvh")).motion(0).unwrap();
    let clip = &walk.clip;
    let half = clip.frames() / 2;
    let order = || (half..clip.frames()).chain(0..half);
    let rotations: Vec<Quat> = order().flat_map(|f| clip.rotations(f).to_vec()).collect();
    let translations: Vec<Vec3> = order().flat_map(|f| clip.translations(f).to_vec()).collect();
    // Rates that FBX cannot state exactly: frame times of BVH files with four and five decimals.
    for rate in [1.0 / 0.0083, 1.0 / 0.03333, 30.0] {
        let cut = Clip::new(
            "cut",
            rate,
            clip.joints(),
            rotations.clone(),
            clip.translated().to_vec(),
            translations.clone(),
        );
        let take = Motion::new(Arc::clone(&walk.character), cut);
        let back = through(&take, "fbx");
        assert_eq!(back.clip.frames(), take.clip.frames(), "{rate} Hz");
        for f in 0..take.clip.frames() {
            let (a, b) = (take.model_pose(f), back.model_pose(f));
            for id in take.character.skeleton().ids() {
                let name = &take.character.skeleton().joint(id).name;
                let other = back.character.skeleton().find(name).unwrap();
                let off = (a.position(id) - b.position(other)).norm();
                assert!(off < 1e-3, "{rate} Hz, frame {f}, {name}: {off} m");
            }
        }
    }
}
