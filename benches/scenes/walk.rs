//! The walk that is shipped, on and on, and a walk that was recorded.

use posemill::contacts::{ContactOptions, detect};
use posemill::import;
use posemill::model::{Asset, Clip, Contacts, Motion};
use posemill::retarget::{Retarget, RootScale, map};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn load(path: &Path) -> Asset {
    import::load(path, &import::ImportOptions::default()).expect("the file can be read")
}

/// A file of `data/`.
pub fn shipped(name: &str) -> Asset {
    load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name))
}

/// The made walk.
pub fn shipped_walk() -> Motion {
    shipped("walk.bvh").motion(0).expect("it holds a clip")
}

/// A recorded walk of 31 joints, where the development data are.
pub fn recorded() -> Option<Motion> {
    let data = std::env::var_os("POSEMILL_DATA").map_or_else(|| "../shared/data".into(), PathBuf::from);
    let path = data.join("bvh/cmu/01_01.bvh");
    path.is_file().then(|| load(&path).motion(0).expect("it holds a clip"))
}

/// The motion, which ends as it begins, so many times one after the other.
pub fn on_and_on(motion: &Motion, rounds: usize) -> Motion {
    let (clip, frames) = (&motion.clip, motion.clip.frames() - 1);
    let way: Vec<_> = clip
        .translations(frames)
        .iter()
        .zip(clip.translations(0))
        .map(|(last, first)| last - first)
        .collect();
    let (mut rotations, mut translations) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        for frame in 0..frames {
            rotations.extend_from_slice(&clip.rotations(frame));
            let here = clip.translations(frame).iter().zip(&way);
            translations.extend(here.map(|(at, way)| at + way * round as f64));
        }
    }
    let (joints, translated) = (clip.joints(), clip.translated().to_vec());
    let clip = Clip::new(clip.name.clone(), clip.sample_rate, joints, rotations, translated, translations);
    Motion::new(Arc::clone(&motion.character), clip)
}

/// The walk on the mannequin, on and on.
pub fn walk_on_and_on(rounds: usize) -> (Motion, Contacts) {
    let (take, hero) = (shipped("walk.bvh"), shipped("mannequin.glb"));
    let joint_map = map(&take.character, &hero.character).expect("both are bodies");
    let rigs = (&take.character.rig, &hero.character.rig);
    let retarget =
        Retarget::new(&take.character, Arc::clone(&hero.character), &joint_map, rigs, RootScale::Legs);
    let motion = on_and_on(&retarget.apply(&take.motion(0).expect("it holds a clip")), rounds);
    let contacts = detect(&motion, &ContactOptions::default());
    (motion, contacts)
}
