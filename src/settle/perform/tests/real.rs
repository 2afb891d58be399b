//! Performances of recorded takes, on their own bodies and on others: figures and laws.

use super::scene::{Scene, cut, hit_along, loaded};
use crate::math::Vec3;
use crate::model::Motion;
use crate::settle::perform::performer::Controls;
use crate::settle::perform::{OnFall, PerformOptions, PerformedClip, perform};
use std::path::Path;

/// Takes with the seconds that are used of them.
const DEVELOPMENT: [(&str, &str, f64, f64); 4] = [
    ("walk", "bvh/pymo/AV_8Walk_Meredith_HVHA_Rep1.bvh", 0.5, 6.5),
    ("jacks", "bvh/cmu/jumping_jacks.bvh", 0.0, 4.1),
    ("jump", "bvh/cmu/01_01.bvh", 0.5, 7.5),
    ("box", "bvh/assimp/Boxing_Toes.bvh", 2.0, 8.0),
];

/// Moments of hits as shares of the clip, and their directions.
const HITS: [(f64, [f64; 3]); 3] =
    [(0.2, [1.0, 0.0, 0.0]), (0.45, [0.0, 0.0, -1.0]), (0.65, [-0.7, 0.0, -0.7])];

pub fn takes(data: &Path) -> Vec<(&'static str, Motion)> {
    DEVELOPMENT
        .iter()
        .map(|(name, file, a, b)| (*name, cut(&loaded(&data.join(file), None), *a, *b)))
        .collect()
}

/// The 12 performances with hits of one size.
fn twelve(
    takes: &[(&'static str, Motion)],
    size: f64,
    controls: Controls,
) -> Vec<(&'static str, PerformedClip)> {
    let mut all = Vec::new();
    for (name, motion) in takes {
        for (share, along) in HITS {
            let time = motion.clip.duration() * share;
            all.push((*name, hit_along(motion, time, Vec3::from(along) * size, controls)));
        }
    }
    all
}

fn median(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (0.5 * (values[n / 2] + values[(n - 1) / 2]), values[n - 1])
}

/// A take without hits.
fn quiet(motion: &Motion, controls: Controls) -> PerformedClip {
    perform(motion, &PerformOptions { controls, hits: Vec::new(), on_fall: OnFall::Refuse }).unwrap()
}

/// Characters of different build.
const HEROES: [&str; 6] = [
    "gltf/quaternius/Casual_man.glb",
    "gltf/quaternius/KnightCharacter.glb",
    "gltf/raylib/robot.glb",
    "gltf/kaykit/manny_med_mod.gltf",
    "gltf/khronos/cesium_man.gltf",
    "derived/makehuman-base-default-rig.glb",
];

#[test]
fn recorded_takes_on_six_characters_stay_bit_for_bit() {
    let Some(data) = crate::development_data::data() else { return };
    let mut tried = 0;
    for (name, file, from, to) in DEVELOPMENT {
        for hero in HEROES {
            let motion = cut(&loaded(&data.join(file), Some(&data.join(hero))), from, to);
            // Bounded muscles that never reach their bound: the whole clip is simulated.
            let done = quiet(&motion, Controls { strength: 1e6, ..Controls::default() });
            println!("{name} on {hero}: {:.1e} m", done.largest);
            assert!(done.motion == motion, "{name} on {hero}: {} m", done.largest);
            tried += 1;
        }
    }
    assert_eq!(tried, 24);
}

#[test]
fn hits_on_recorded_takes_are_recovered_from() {
    let Some(data) = crate::development_data::data() else { return };
    let takes = takes(&data);
    for (name, done) in twelve(&takes, 20.0, Controls::default()) {
        let hit = &done.hits[0];
        assert!(done.fell.is_none() && hit.peak > 0.02, "{name}");
        assert!(hit.back_after < 0.85 && hit.slip < 0.02, "{name}: {} s, {} m", hit.back_after, hit.slip);
    }
    let harder = twelve(&takes, 50.0, Controls::default());
    assert!(harder.iter().all(|(_, done)| done.fell.is_none()));
    let pinned = twelve(&takes, 50.0, Controls { assist: f64::INFINITY, ..Controls::default() });
    let (after, _) = median(pinned.iter().map(|(_, done)| done.hits[0].back_after).collect());
    assert!(after < 1.0, "{after} s");
}

#[test]
fn recorded_takes_are_solutions() {
    let Some(data) = crate::development_data::data() else { return };
    for (name, motion) in takes(&data) {
        let scene = Scene::of(&motion);
        let start = std::time::Instant::now();
        let mut performer = scene.performer(Controls::default(), 0);
        let mut worst = 0.0_f64;
        while performer.step < scene.reference.steps() {
            performer.advance(&[]);
            let e = performer.deviation();
            worst = e.angular.iter().map(|e| e.norm()).fold(worst.max(e.linear.norm()), f64::max);
        }
        let each = start.elapsed().as_secs_f64() / scene.reference.steps() as f64;
        println!(
            "{name}: {worst:.1e} in {} steps of {} bodies, {:.0} us a step",
            scene.reference.steps(),
            scene.body.tops.len(),
            each * 1e6
        );
        assert!(worst < 1e-9, "{name}: {worst} m or rad");
    }
}

#[test]
fn clips_are_performed_with_help_of_a_tenth_of_the_weight() {
    let Some(data) = crate::development_data::data() else { return };
    for (name, motion) in takes(&data) {
        let done = quiet(&motion, Controls { assist: 0.1, residual: 0.0, ..Controls::default() });
        println!("{name}: mean {:.4} m, largest {:.3} m", done.mean, done.largest);
        assert!(done.mean < 0.008, "{name}: {} m", done.mean);
    }
}
