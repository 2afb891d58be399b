//! Weights of morph targets follow their names from take to character.

use crate::made_figure::figure;
use crate::model::{AnimatedProperty, BodyMass, Character, Mesh, MorphTarget, PropertyTrack};
use crate::retarget::morph_weights::{lost_weights, transferred};

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
fn sides_and_numbers_behind_a_dot_belong_to_the_name() {
    let names =
        ["Blink.L", "Blink.R", "Smile.L", "Key.001", "Key.002", "Face.jawOpen", "Jaw.Left", "Eye.Left"];
    let take = with(vec![face("Face", &names)]);
    let mut turned = names;
    turned.reverse();
    turned[2] = "JawOpen";
    let hero = with(vec![face("Head", &turned)]);
    let values: Vec<f32> = (1..=8).map(|k| k as f32 / 10.0).collect();
    let there = transferred(&[track("Face", 8, &values)], &take, &hero);
    let reversed: Vec<f32> = values.iter().rev().copied().collect();
    assert_eq!(there, [track("Head", 8, &reversed)]);
}

#[test]
fn weights_that_move_and_have_no_target_are_named() {
    let take = with(vec![face("Face", &["jawOpen", "cheekPuff", "tongueOut"])]);
    let hero = with(vec![face("Head", &["jawOpen", "smile"])]);
    let tracks = [track("Face", 3, &[0.1, 0.0, 0.3, 0.1, 0.0, 0.0])];
    let said = lost_weights(&tracks, &take, &hero);
    assert_eq!(said.as_deref(), Some("`hero` has no morph target for 1 weight: `tongueOut`"));
    assert_eq!(lost_weights(&tracks, &take, &take), None);
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

#[test]
fn japanese_targets_play_on_faces_of_arkit_vrm_and_vroid() {
    let take = with(vec![face("Face", &["あ", "まばたき", "ウィンク右", "怒り", "はぅ"])]);
    let tracks = [track("Face", 5, &[0.1, 0.2, 0.6, 0.4, 0.5, 0.3, 0.7, 0.6, 0.8, 0.9])];
    let played = |names: &[&str]| {
        let there = transferred(&tracks, &take, &with(vec![face("Head", names)]));
        let [track] = there.as_slice() else { panic!("{there:?}") };
        assert_eq!((track.node.as_str(), track.width), ("Head", names.len()));
        track.values.clone()
    };
    // A wink and a blink close the eye as far as the greater of them; what has no counterpart keeps its weight.
    let arkit = played(&[
        "jawOpen",
        "eyeBlinkLeft",
        "eyeBlinkRight",
        "browDownLeft",
        "browDownRight",
        "noseSneerLeft",
    ]);
    assert_eq!(arkit, [0.1, 0.2, 0.6, 0.4, 0.4, 0.25, 0.3, 0.7, 0.7, 0.8, 0.8, 0.25]);
    let vrm = played(&["aa", "blink", "blinkRight", "angry"]);
    assert_eq!(vrm, [0.1, 0.2, 0.6, 0.4, 0.3, 0.7, 0.6, 0.8]);
    let vroid = played(&[
        "Face.M_F00_000_00_Fcl_MTH_A",
        "Face.M_F00_000_00_Fcl_MTH_Angry",
        "Face.M_F00_000_00_Fcl_BRW_Angry",
    ]);
    assert_eq!(vroid, [0.1, 0.25, 0.4, 0.3, 0.25, 0.8]);
    // A face of one eye's shape only does not blink by half, and a target of the same name comes first.
    let partly = played(&["eyeBlinkLeft", "まばたき", "mouthPucker", "あ", "jawOpen"]);
    assert_eq!(partly, [0.25, 0.2, 0.25, 0.1, 0.25, 0.25, 0.7, 0.25, 0.3, 0.25]);
}
