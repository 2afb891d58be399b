//! Weights of morph targets follow their names from take to character.

use crate::made_figure::figure;
use crate::model::{AnimatedProperty, BodyMass, Character, Mesh, MorphTarget, PropertyTrack};
use crate::retarget::morph_weights::transferred;

fn face(node: &str, names: &[&str]) -> Mesh {
    let morph = |name: &&str| MorphTarget { name: (*name).into(), weight: 0.25, offsets: Vec::new() };
    Mesh { node: node.into(), morphs: names.iter().map(morph).collect(), ..Mesh::default() }
}

fn with(meshes: Vec<Mesh>) -> Character {
    let (bind, calibration, document) = (None, None, None);
    Character {
        name: "hero".into(),
        rig: figure(),
        bind,
        calibration,
        meshes,
        document,
        robot: None,
        mass: BodyMass::default(),
    }
}

fn track(node: &str, width: usize, values: &[f32]) -> PropertyTrack {
    let property = AnimatedProperty::Weights;
    PropertyTrack { node: node.into(), property, width, values: values.to_vec() }
}

#[test]
fn weights_follow_the_names_of_the_targets() {
    let take = with(vec![face("Face", &["JawOpen", "EyeBlinkLeft"])]);
    let hero = with(vec![
        face("Head", &["smile", "fcl.eyeBlink_Left", "jawOpen"]),
        face("Teeth", &["jawOpen"]),
        face("Hat", &["wind"]),
    ]);
    let tracks = [track("Face", 2, &[0.1, 0.2, 0.3, 0.4])];
    let there = transferred(&tracks, &take, &hero);
    assert_eq!(there, [track("Head", 3, &[0.25, 0.2, 0.1, 0.25, 0.4, 0.3]), track("Teeth", 1, &[0.1, 0.3])]);
}

#[test]
fn what_fits_as_it_is_stays_as_it_is() {
    let hero = with(vec![face("Face", &["a", "b"])]);
    let tracks = [track("Face", 2, &[0.1, 0.2])];
    assert_eq!(transferred(&tracks, &hero, &hero), tracks);
    let numbered = with(vec![face("Face", &["target_0", "target_1"])]);
    let three = with(vec![face("Head", &["target_0", "target_1", "target_2"])]);
    assert_eq!(transferred(&tracks, &numbered, &three), tracks);
    // Without names, and without a place.
    assert_eq!(transferred(&tracks, &with(vec![]), &hero), tracks);
    let other = [track("Other", 3, &[0.1, 0.2, 0.3])];
    assert_eq!(transferred(&other, &with(vec![]), &hero), other);
    let moved = PropertyTrack { property: AnimatedProperty::Scale, width: 3, ..other[0].clone() };
    assert_eq!(transferred(std::slice::from_ref(&moved), &hero, &hero), [moved]);
}
