//! The table of losses in `docs/formats.md`, held against a file with everything: what a row does not name arrives, and what it
//! names does not.

use super::surfaces::{picture, rich};
use posemill::export::{ExportError, ExportOptions, FORMATS, Format, save};
use posemill::import::{ImportOptions, from_bytes};
use posemill::model::{AnimatedProperty, Motion, PropertyTrack, TextureMap};
use std::sync::Arc;

const TABLE: &str = include_str!("../../../docs/formats.md");

/// What the table says a format loses.
fn row(format: &Format) -> &'static str {
    let title = match format.name {
        "glb" | "gltf" => "glTF",
        "vrm" => "VRM 0",
        "vrma" => "VRM animation",
        "fbx" => "FBX",
        "usda" | "usdc" | "usd" | "usdz" => "USD",
        "bvh" => "BVH",
        "npz" => "posemill's arrays",
        "pkl" => "Robot motions",
        "vmd" => "MikuMikuDance motions",
        "npy" => "positions of points",
        _ => "posemill's tables",
    };
    let line = TABLE.lines().find(|line| line.starts_with(&format!("| {title}"))).unwrap();
    line.trim_end_matches([' ', '|']).rsplit('|').next().unwrap()
}

/// The character with everything, with an occlusion map, weights of morph targets and a lamp that moves.
fn everything() -> Motion {
    let mut motion = rich();
    let mut hero = (*motion.character).clone();
    hero.meshes[0].material.occlusion_map =
        Some(TextureMap { texture: picture([9, 9, 9]), set: 0, wrap: Default::default() });
    hero.meshes[0].material.base_color = [0.5, 0.25, 1.0, 1.0];
    motion.character = Arc::new(hero);
    let property = AnimatedProperty::Translation;
    let values = vec![0.5; 3 * motion.clip.frames()];
    motion.clip.property_tracks.push(PropertyTrack { node: "Lamp".into(), property, width: 3, values });
    motion
}

#[test]
fn the_table_of_losses_is_true() {
    let motion = everything();
    let face = rich();
    let options = ExportOptions { stem: "all".into(), ..ExportOptions::default() };
    for format in FORMATS.iter().filter(|f| !["glb", "gltf", "vrm", "vrma", "pkl", "npy"].contains(&f.name)) {
        let row = row(format);
        let written = save(std::slice::from_ref(&motion), *format, &options).unwrap();
        let (bytes, warnings) = (&written.0[0].bytes, written.1);
        let everything = format.name == "csv";
        // Animation of nodes that are no joints.
        assert!(warnings.has("carried-dropped"), "{}", format.name);
        assert!(everything || row.contains("nodes that are no joints"), "{}: {row}", format.name);
        // Weights of morph targets.
        let weights = save(std::slice::from_ref(&face), *format, &options).unwrap().1;
        assert_eq!(weights.has("carried-dropped"), !format.morphs, "{}", format.name);
        assert_eq!(everything || row.contains("morph targets"), !format.morphs, "{}: {row}", format.name);
        // Several clips.
        let several = save(&[motion.clone(), motion.clone()], *format, &options);
        assert_eq!(several.is_ok(), format.several, "{}", format.name);
        assert_eq!(row.contains("one clip per file"), !format.several, "{}: {row}", format.name);
        assert!(format.several || matches!(several, Err(ExportError::OneClip { .. })));
        // Surfaces.
        let occlusion = warnings.has("fbx-occlusion");
        assert_eq!(row.contains("occlusion"), occlusion, "{}: {row}", format.name);
        assert_eq!(
            row.contains("factors beside textures"),
            warnings.has("fbx-factor"),
            "{}: {row}",
            format.name
        );
        let colours = warnings.has("usd-colours");
        assert_eq!(row.contains("vertex colours"), colours, "{}: {row}", format.name);
        let lists = ["def Mesh", "Geometry", "TEXCOORD"];
        let named = lists.iter().any(|word| bytes.windows(word.len()).any(|w| w == word.as_bytes()));
        // Binary USD compresses its words.
        let has_skin = named || format.name.starts_with("usd") && has_meshes(bytes);
        assert_eq!(everything || row.contains("skin, materials"), !has_skin, "{}: {row}", format.name);
    }
}

fn has_meshes(usd: &[u8]) -> bool {
    let asset = from_bytes(usd, "again", Some("usd"), None, &ImportOptions::default()).unwrap();
    !asset.character.meshes.is_empty()
}

#[test]
fn the_losses_of_the_program_are_those_of_the_table() {
    for format in FORMATS {
        let table = row(format);
        for part in format.loses.split([';', ',']).flat_map(|part| part.split(" and ")) {
            let part = part.trim().trim_start_matches("for characters not from FBX: ");
            let known = part.starts_with("one clip") || table.contains(part) || table.contains("nothing");
            assert!(known || table.contains("everything"), "{}: `{part}` is not in `{table}`", format.name);
        }
    }
}

#[test]
fn every_track_that_is_not_written_is_counted() {
    let mut motion = everything();
    let lamp = motion.clip.property_tracks.last().unwrap().clone();
    motion.clip.property_tracks.push(PropertyTrack { node: "Door".into(), ..lamp });
    let kept = motion.clip.property_tracks.iter().filter(|t| t.property == AnimatedProperty::Weights).count();
    let options = ExportOptions { stem: "all".into(), ..ExportOptions::default() };
    let count = |name: &str| {
        let format = FORMATS.iter().find(|f| f.name == name).unwrap();
        let warnings = save(std::slice::from_ref(&motion), *format, &options).unwrap().1;
        warnings.iter().find(|w| w.code == "carried-dropped").unwrap().count
    };
    assert_eq!((count("usda"), count("bvh")), (2, 2 + kept));
}

#[test]
fn clips_of_the_character_that_its_new_file_lacks_are_reported() {
    let format = |name: &str| *FORMATS.iter().find(|f| f.name == name).unwrap();
    let written = |motion: &Motion, name: &str| {
        save(std::slice::from_ref(motion), format(name), &ExportOptions::default()).unwrap()
    };
    let own = written(&rich(), "glb").0.swap_remove(0).bytes;
    let hero = from_bytes(&own, "hero", Some("glb"), None, &ImportOptions::default()).unwrap();
    let mut motion = hero.motion(0).unwrap();
    let told = |motion: &Motion, name: &str| written(motion, name).1.has("own-clips-dropped");
    assert!(!told(&motion, "fbx"));
    motion.clip.name = "another".into();
    for (name, lost) in [("fbx", true), ("usdc", true), ("glb", false), ("bvh", false)] {
        assert_eq!(told(&motion, name), lost, "{name}");
    }
}
