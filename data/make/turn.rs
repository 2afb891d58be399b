//! `turn.bvh`: a turn on the spot to the left, all the way round in nine steps.
//!
//! Convention: names as in Poser and DAZ, decimetres, several rotation orders, 30 frames per second, CRLF line
//! ends, and six channels on every joint, rotations first, whose positions are *added* to the OFFSET: zeros
//! everywhere except at the root, whose OFFSET is its rest height.

use super::actor::{Actor, Side, turned};
use super::bvh::{Convention, Positions, Take, named, write};
use super::curve::smooth;
use posemill::math::{Transform, Vec3};
use std::f64::consts::PI;

const RATE: f64 = 30.0;
/// Seconds per step, and of rest before and after.
const STEP: f64 = 0.5;
const REST: f64 = 0.5;
/// The foot that steps and the heading it turns to, in degrees.
const STEPS: [(Side, f64); 9] = [
    (Side::Left, 45.0),
    (Side::Right, 90.0),
    (Side::Left, 135.0),
    (Side::Right, 180.0),
    (Side::Left, 225.0),
    (Side::Right, 270.0),
    (Side::Left, 315.0),
    (Side::Right, 360.0),
    (Side::Left, 360.0),
];

/// The heading and the lift of a foot.
fn foot(side: Side, time: f64) -> [f64; 2] {
    let mut heading = 0.0;
    for (k, (stepping, goal)) in STEPS.iter().enumerate() {
        let t = (time - REST - k as f64 * STEP) / STEP;
        if *stepping != side || t <= 0.0 {
            continue;
        }
        // Double support takes the first and the last tenth of a step.
        let t = ((t - 0.1) / 0.8).clamp(0.0, 1.0);
        if t < 1.0 {
            return [heading + (goal - heading) * smooth(t), 0.07 * (PI * t).sin().powi(2)];
        }
        heading = *goal;
    }
    [heading, 0.0]
}

fn perform() -> Take {
    let actor = Actor::new(1.75);
    let mut poses = Vec::new();
    let seconds = 2.0 * REST + STEPS.len() as f64 * STEP;
    for frame in 0..=(seconds * RATE) as usize {
        let time = frame as f64 / RATE;
        let mut acting = actor.stand();
        let feet = Side::BOTH.map(|side| foot(side, time));
        let place =
            |side: Side, heading: f64| turned(0.0, heading, 0.0) * Vec3::new(0.1 * side.sign(), 0.0, 0.0);
        let [left, right] = [place(Side::Left, feet[0][0]), place(Side::Right, feet[1][0])];
        // The hips face between the feet and lean over the one that stands.
        let heading = (feet[0][0] + feet[1][0]) / 2.0;
        let lean = 3.0 * (feet[1][1] - feet[0][1]);
        let at = (left + right) / 2.0 + (left - right) * (lean / 2.0);
        let height = actor.hips_height() - 0.018;
        acting.hips(Transform::new(turned(0.0, heading, 0.0), Vec3::new(at.x, height, at.z)));
        // The head looks where the next step will lead.
        let ahead = 22.0 * smooth(time / REST) * smooth((seconds - REST - STEP - time) / STEP);
        acting.turn("spine_1", turned(1.0, 0.2 * ahead, 0.0));
        acting.turn("spine_3", turned(1.0, 0.2 * ahead, 0.0));
        acting.turn("neck", turned(0.0, 0.2 * ahead, 0.0));
        acting.turn("head", turned(0.0, 0.4 * ahead, 0.0));
        for (side, ([heading, lift], at)) in Side::BOTH.into_iter().zip(feet.into_iter().zip([left, right])) {
            acting.plant(side, [at.x, at.z], lift, heading);
            acting.arm(side, [80.0 * lean * side.sign(), 12.0], 18.0);
        }
        poses.push(acting.pose);
    }
    Take { actor, poses }
}

/// The text of the file.
pub fn turn() -> String {
    let take = perform();
    let middle =
        [["hips", "hip"], ["spine_1", "abdomen"], ["spine_3", "chest"], ["neck", "neck"], ["head", "head"]];
    let sides = [
        ["clavicle", "Collar"],
        ["upper_arm", "Shldr"],
        ["forearm", "ForeArm"],
        ["hand", "Hand"],
        ["thigh", "Thigh"],
        ["shank", "Shin"],
        ["foot", "Foot"],
        ["toes", "Toe"],
    ];
    let spell = |side: Side, name: &str| format!("{}{name}", if side == Side::Left { "l" } else { "r" });
    let mut joints = named("YZX", &middle, &sides, spell);
    for (_, name, order) in &mut joints {
        if name.ends_with("Shldr") || name.ends_with("ForeArm") {
            *order = "ZXY";
        } else if name.ends_with("Shin") || name.ends_with("Foot") {
            *order = "XYZ";
        }
    }
    let how = Convention {
        joints,
        rest: take.actor.skeleton.rest_pose(),
        units_per_metre: 10.0,
        z_up: false,
        positions: Positions::EveryJointAdded,
        decimals: [5, 3],
        frame_time: "0.0333333",
        line_end: "\r\n",
    };
    write(&take, &how)
}
