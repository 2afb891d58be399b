//! Formats that state their unit are read as they say, whatever the unit that the user names.

use crate::export::{ExportOptions, Format, save};
use crate::import::{ImportOptions, from_bytes, load};
use crate::made_walk::{carried, shipped, take};

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
