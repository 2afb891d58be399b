//! Formats that state their unit are read as they say, whatever the unit that the user names.

use crate::export::{ExportOptions, Format, save};
use crate::import::{ImportOptions, UpAxis, from_bytes, load};
use crate::made_bodies::{ADULT, bones};
use crate::made_walk::{carried, shipped, take};
use crate::math::Transform;
use crate::model::{Character, Clip, Joint, Motion, Rig, Skeleton};
use std::sync::Arc;

#[test]
fn a_unit_for_takes_is_reported_for_a_take_that_states_its_own() {
    let centimetres = ImportOptions { units: Some(0.01), ..ImportOptions::default() };
    let bytes = save(&[carried(&take("walk.bvh"))], Format::GLB, &ExportOptions::default()).unwrap().0;
    let read = |options| from_bytes(&bytes[0].bytes, "walk", Some("glb"), None, options).unwrap();
    let (plain, named) = (read(&ImportOptions::default()), read(&centimetres));
    assert!(named.warnings.has("units-stated") && !plain.warnings.has("units-stated"));
    assert_eq!(named.character.skeleton(), plain.character.skeleton(), "the same metres");
    // Beside takes of another format a character without clips is not meant.
    assert!(!load(shipped("mannequin.glb"), &centimetres).unwrap().warnings.has("units-stated"));
}

#[test]
fn an_up_axis_for_takes_is_reported_for_a_take_that_states_its_own() {
    for format in [Format::GLB, Format::of("csv").unwrap()] {
        let bytes = save(&[take("walk.bvh")], format, &ExportOptions::default()).unwrap().0;
        let read = |up| {
            let options = ImportOptions { up, ..ImportOptions::default() };
            from_bytes(&bytes[0].bytes, "walk", Some(format.name), None, &options).unwrap()
        };
        let (plain, z) = (read(None), read(Some(UpAxis::Z)));
        assert!(z.warnings.has("up-stated"), "{}", format.name);
        assert!(!plain.warnings.has("up-stated") && !read(Some(UpAxis::Y)).warnings.has("up-stated"));
        assert_eq!(z.character.skeleton(), plain.character.skeleton(), "read as it says");
    }
}

#[test]
fn a_figure_that_a_wrong_unit_makes_a_giant_or_a_mite_is_reported() {
    let person = bones(&ADULT);
    for (scale, odd) in [(1.0, false), (5.0, false), (100.0, true), (0.01, true)] {
        let joints = person.skeleton().joints().iter().map(|joint| {
            let rest = Transform::new(joint.rest.rotation, joint.rest.translation * scale);
            Joint { rest, ..joint.clone() }
        });
        let skeleton = Skeleton::new(joints.collect()).unwrap();
        let clip = Clip::from_poses("rest", 30.0, &skeleton, &[skeleton.rest_pose()]);
        let roles: Vec<_> = person.rig.assignments().map(|(role, a)| (role, a.clone())).collect();
        let character = Arc::new(Character::new("person", Rig::new(skeleton, roles)));
        let bytes = save(&[Motion::new(character, clip)], Format::GLB, &ExportOptions::default()).unwrap().0;
        let read =
            from_bytes(&bytes[0].bytes, "person", Some("glb"), None, &ImportOptions::default()).unwrap();
        assert_eq!(read.warnings.has("size-odd"), odd, "{scale} times as large: {:?}", read.warnings);
    }
}
