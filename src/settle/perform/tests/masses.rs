//! The mass of a body: forces are in proportion to it, and the skin is a witness of its distribution.

use super::scene::{hit_along, loaded, shipped};
use crate::math::Vec3;
use crate::model::{BodyMass, MassShares, Motion, Role};
use crate::settle::perform::performer::Controls;
use crate::settle::perform::{ClipForces, OnFall, PerformOptions, PerformingBody, perform};
use std::path::Path;
use std::sync::Arc;

/// The motion of a body of another mass.
fn with_mass(motion: &Motion, kilograms: Option<f64>, shares: MassShares) -> Motion {
    let mut motion = motion.clone();
    Arc::make_mut(&mut motion.character).mass = BodyMass { kilograms, shares };
    motion
}

#[test]
fn four_times_the_mass_takes_four_times_the_force_and_the_blow() {
    let motion = shipped("walk.bvh", Some("mannequin.glb"));
    let heavy = with_mass(&motion, Some(280.0), MassShares::Table);
    let (light, massive) = (ClipForces::of(&motion).unwrap(), ClipForces::of(&heavy).unwrap());
    assert_eq!((light.mass, massive.mass), (70.0, 280.0));
    // Four and its root are exact in binary: nothing but the mass has changed.
    for (a, b) in light.frames.iter().zip(&massive.frames) {
        let scaled = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).all(|(a, b)| a * 4.0 == *b);
        assert!(
            scaled(&a.torques, &b.torques)
                && scaled(&a.feet, &b.feet)
                && scaled(&a.unexplained, &b.unexplained)
        );
        assert_eq!((a.power * 4.0, a.energy.map(|e| e * 4.0)), (b.power, b.energy));
        assert_eq!((a.unexplained_share, a.pressure), (b.unexplained_share, b.pressure));
    }
    let blow = Vec3::new(-30.0, 0.0, 10.0);
    let plain = hit_along(&motion, 1.0, blow, Controls::default());
    let same = hit_along(&heavy, 1.0, blow * 4.0, Controls::default());
    assert!(
        plain.motion != motion && plain.motion.clip == same.motion.clip,
        "four times the blow on four times the mass"
    );
    let less = hit_along(&heavy, 1.0, blow, Controls::default());
    let ratio = less.hits[0].peak / plain.hits[0].peak;
    assert!((0.2..0.35).contains(&ratio), "the same blow moves four times the mass {ratio} times as far");
}

#[test]
fn an_undisturbed_clip_stays_bit_for_bit_with_any_mass_and_distribution() {
    let motion = shipped("walk.bvh", Some("robot.glb"));
    for (mass, shares) in
        [(Some(7.3), MassShares::Table), (Some(310.0), MassShares::Skin), (None, MassShares::Skin)]
    {
        let other = with_mass(&motion, mass, shares);
        let controls = Controls { strength: 1e6, ..Controls::default() };
        let options = PerformOptions { controls, hits: Vec::new(), on_fall: OnFall::Refuse };
        assert!(perform(&other, &options).unwrap().motion == other, "{mass:?} {shares:?}");
    }
}

#[test]
fn a_skin_that_is_not_closed_is_no_witness_and_that_is_reported() {
    let bare = with_mass(&shipped("walk.bvh", None), None, MassShares::Skin);
    let body = PerformingBody::of(&bare.character, &bare.clip).unwrap().0;
    let told = body.doubtful_masses(&bare.character).unwrap();
    assert!(told.contains("not closed"), "{told}");
    let plain = shipped("walk.bvh", None);
    assert_eq!(body.doubtful_masses(&plain.character), None, "nobody asked for the skin");
}

/// Characters, and whether they are built like people.
const BUILT: [(&str, bool); 6] = [
    ("gltf/quaternius/Casual_man.glb", true),
    ("gltf/gdquest/mannequiny-0.3.0.glb", true),
    ("gltf/quaternius/KnightCharacter.glb", false),
    ("gltf/raylib/robot.glb", false),
    ("gltf/kaykit/manny_med_mod.gltf", false),
    ("gltf/khronos/cesium_man.gltf", false),
];

#[test]
fn bodies_that_are_not_built_like_people_are_reported_and_can_have_the_masses_of_their_skin() {
    let Some(data) = crate::development_data::data() else { return };
    for (hero, like_people) in BUILT {
        let motion = loaded(Path::new("data/walk.bvh"), Some(&data.join(hero)));
        let head = |motion: &Motion| {
            let (body, _) = PerformingBody::of(&motion.character, &motion.clip).unwrap();
            let is_head = |b: &usize| matches!(body.parts[body.tops[*b]].kind, Role::Head | Role::Neck(_));
            let links = body.tree.links();
            let head: f64 = (0..links.len()).filter(is_head).map(|b| links[b].mass).sum();
            (head, links.iter().map(|link| link.mass).sum::<f64>(), body.doubtful_masses(&motion.character))
        };
        let (table, all, doubt) = head(&motion);
        println!("{hero}: {doubt:?}");
        assert_eq!(doubt.is_none(), like_people, "{hero}: {doubt:?}");
        let of_skin = with_mass(&motion, None, MassShares::Skin);
        let (skin, sum, none) = head(&of_skin);
        println!("  head {table:.1} kg, by skin {skin:.1}");
        assert!((all - 70.0).abs() < 1e-9 && (sum - 70.0).abs() < 1e-9 && none.is_none());
        assert!(skin > table && (like_people || skin > 2.0 * table), "{hero}: {table} and {skin} kg");
        // The law of identity does not ask how a body is built.
        let controls = Controls { strength: 1e6, ..Controls::default() };
        let options = PerformOptions { controls, hits: Vec::new(), on_fall: OnFall::Refuse };
        assert!(perform(&of_skin, &options).unwrap().motion == of_skin, "{hero}");
    }
}
