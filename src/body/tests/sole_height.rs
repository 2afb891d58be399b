//! The height of the soles in the reference pose.

use posemill::body::CharacterBody;
use posemill::import::{ImportOptions, load};
use posemill::model::{Character, Rig, Role};
use std::sync::Arc;

#[test]
fn soles_are_the_surface_of_the_feet_on_thick_paws_too() {
    let Some(folder) = crate::development_data::data() else { return };
    let wolf = load(folder.join("gltf/quaternius/Wolf.glb"), &ImportOptions::default()).unwrap().character;
    // It stands on the floor and is 2.3 m tall. Where its paws, which are joints beside the legs, are not known, its soles are
    // the ends of the legs on the thickness of the paws.
    let is_paw = |role: &Role| matches!(role, Role::Toes(_) | Role::Hand(_));
    let roles = wolf.rig.assignments().map(|(role, a)| (role, a.clone())).filter(|(role, _)| !is_paw(role));
    let rig = Rig::new(wolf.skeleton().clone(), roles.collect::<Vec<_>>());
    for character in [Arc::clone(&wolf), Arc::new(Character { rig, ..(*wolf).clone() })] {
        let height = CharacterBody::new(&character).sole_height().unwrap();
        assert!(height.abs() < 0.02, "{height} m");
    }
}
