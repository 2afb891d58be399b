//! Laws of a performance on the project's own takes and characters.

use super::scene::{Scene, chest_hit, shipped};
use crate::settle::perform::performer::Controls;
use crate::settle::perform::step_contacts::Terms;

const ALL: Terms =
    Terms { explain: true, tissue: true, stops: true, floor: true, compliance: true, touch: true };

/// The largest deviation over a whole clip that nothing disturbs.
fn drift(scene: &Scene, controls: Controls) -> f64 {
    let mut performer = scene.performer(controls, 0);
    let mut worst = 0.0_f64;
    while performer.step < scene.reference.steps() {
        performer.advance(&[]);
        let e = performer.deviation();
        worst = e.angular.iter().map(|e| e.norm()).fold(worst.max(e.linear.norm()), f64::max);
    }
    worst
}

#[test]
fn the_undisturbed_clip_is_a_solution_with_every_term_on_and_off() {
    let terms = [
        ALL,
        Terms { explain: false, ..ALL },
        Terms { tissue: false, ..ALL },
        Terms { stops: false, ..ALL },
        Terms { floor: false, ..ALL },
        Terms { compliance: false, ..ALL },
        Terms { touch: false, ..ALL },
    ];
    for (take, hero) in [
        ("walk.bvh", None),
        ("jump.bvh", None),
        ("walk.bvh", Some("mannequin.glb")),
        ("jump.bvh", Some("robot.glb")),
    ] {
        let scene = Scene::of(&shipped(take, hero));
        for terms in terms {
            let worst = drift(&scene, Controls { terms, ..Controls::default() });
            println!("{take} {hero:?} {terms:?}: {worst:.1e}");
            assert!(worst < 1e-9, "{take} on {hero:?} with {terms:?}: {worst} m or rad");
        }
    }
}

#[test]
fn a_hit_is_felt_and_recovered_from() {
    for (take, hero) in [("walk.bvh", None), ("walk.bvh", Some("mannequin.glb"))] {
        let motion = shipped(take, hero);
        for size in [20.0, 50.0] {
            let done = chest_hit(&motion, 1.0, size);
            let hit = &done.hits[0];
            println!("{take} {hero:?} {size}: {hit:?} left {:?}", done.left);
            assert!(done.fell.is_none() && hit.peak > 0.01 && hit.back);
        }
    }
}
