//! `squat.bvh`: three squats with the arms stretched forward.
//!
//! Convention: Biovision's names and ZXY order, inches, 60 frames per second; the root's OFFSET is its rest
//! height, and its position channels are absolute all the same.

use super::actor::{Actor, Side, turned};
use super::bvh::{Convention, Positions, Take, named, write};
use posemill::math::{Transform, Vec3};
use std::f64::consts::TAU;

const RATE: f64 = 60.0;
const SECONDS: f64 = 2.0;
const SQUATS: usize = 3;

fn perform() -> Take {
    let actor = Actor::new(1.82);
    let mut poses = Vec::new();
    for frame in 0..=SQUATS * (RATE * SECONDS) as usize {
        let time = frame as f64 / RATE;
        let depth = (1.0 - (TAU * time / SECONDS).cos()) / 2.0;
        let mut acting = actor.stand();
        let at = Vec3::new(0.0, actor.hips_height() - 0.008 - 0.4 * depth, -0.17 * depth);
        acting.hips(Transform::new(turned(28.0 * depth, 0.0, 0.0), at));
        acting.turn("spine_2", turned(8.0 * depth, 0.0, 0.0));
        acting.turn("neck", turned(-14.0 * depth, 0.0, 0.0));
        acting.turn("head", turned(-14.0 * depth, 0.0, 0.0));
        for side in Side::BOTH {
            acting.plant(side, [0.14 * side.sign(), 0.0], 0.0, 12.0 * side.sign());
            // The trunk leans, so the arms rise further to end level.
            acting.arm(side, [4.0 + 120.0 * depth, 8.0], 12.0 - 6.0 * depth);
        }
        poses.push(acting.pose);
    }
    Take { actor, poses }
}

/// The text of the file.
pub fn squat() -> String {
    let take = perform();
    let middle = [["hips", "Hips"], ["spine_2", "Chest"], ["neck", "Neck"], ["head", "Head"]];
    let sides = [
        ["clavicle", "Collar"],
        ["upper_arm", "Shoulder"],
        ["forearm", "Elbow"],
        ["hand", "Wrist"],
        ["thigh", "Hip"],
        ["shank", "Knee"],
        ["foot", "Ankle"],
    ];
    let how = Convention {
        joints: named("ZXY", &middle, &sides, |side, name| format!("{side:?}{name}")),
        rest: take.actor.skeleton.rest_pose(),
        units_per_metre: 1.0 / 0.0254,
        z_up: false,
        positions: Positions::RootAbsolute,
        decimals: [4, 3],
        frame_time: "0.016667",
        line_end: "\n",
    };
    write(&take, &how)
}
