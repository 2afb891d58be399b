//! `wave.bvh`: someone stands, looks to the right and waves, fingers included.
//!
//! Convention: names as in the CMU conversions, Z up in rest and motion (facing -Y), order XYZ, a unit of
//! 1/0.45 inch, 60 frames per second.

use super::actor::{Actor, Side, turned};
use super::bvh::{Convention, Positions, Take, named, write};
use super::curve::{smooth, through};
use posemill::math::{Transform, Vec3, slerp};
use std::f64::consts::TAU;

const RATE: f64 = 60.0;
const SECONDS: f64 = 4.0;

fn perform() -> Take {
    let actor = Actor::new(1.66);
    let mut poses = Vec::new();
    for frame in 0..(RATE * SECONDS) as usize {
        let time = frame as f64 / RATE;
        let mut acting = actor.stand();
        let raised = smooth((time - 0.4) / 0.6) * smooth((3.6 - time) / 0.6);
        let sway = (TAU * time / SECONDS).sin();
        let breath = (TAU * time / 2.0).sin();
        let at = Vec3::new(
            0.02 * raised + 0.004 * sway,
            actor.hips_height() - 0.007 - 0.002 * breath,
            0.003 * sway,
        );
        acting.hips(Transform::new(turned(0.0, 2.0 * sway, 0.0), at));
        acting.turn("spine_1", turned(1.0, 0.0, -1.5 * raised));
        acting.turn("spine_2", turned(breath, 0.0, 0.0));
        acting.turn("spine_3", turned(0.0, -4.0 * raised, 2.0 * raised));
        let look = through(&[[0.2, 0.0], [0.8, -28.0], [1.8, -24.0], [3.0, -30.0], [3.7, 0.0]], time);
        acting.turn("neck", turned(0.0, 0.35 * look, 0.0));
        acting.turn("head", turned(-4.0 * raised, 0.65 * look, 5.0 * raised));
        for side in Side::BOTH {
            acting.plant(side, [0.1 * side.sign(), 0.0], 0.0, 9.0 * side.sign());
            for (joint, curl) in [("fingers_1", 12.0), ("fingers_2", 18.0), ("thumb_1", 5.0)] {
                acting.turn(&side.named(joint), turned(0.0, 0.0, -curl * side.sign()));
            }
        }
        // The elbow waves twice a second; the wrist follows late, the fingers later still.
        let beat = |late: f64| raised * (TAU * 1.75 * (time - 0.9 - late)).sin();
        let arm = |joint: &str| acting.pose.joint(actor.joint(joint)).rotation;
        let (upper, fore) = (arm("upper_arm_r"), arm("forearm_r"));
        acting.turn("upper_arm_r", slerp(&upper, &turned(-82.0, 22.0, -8.0 - 2.0 * beat(0.0)), raised));
        acting.turn("forearm_r", slerp(&fore, &turned(0.0, 72.0 + 22.0 * beat(0.0), 0.0), raised));
        acting.turn("clavicle_r", turned(0.0, 0.0, -9.0 * raised));
        acting.turn("hand_r", turned(0.0, 14.0 * beat(0.06), 6.0 * raised));
        acting.turn("fingers_1_r", turned(0.0, 0.0, 12.0 - 8.0 * raised + 9.0 * beat(0.1)));
        acting.turn("fingers_2_r", turned(0.0, 0.0, 18.0 - 12.0 * raised + 12.0 * beat(0.13)));
        acting.turn("thumb_1_r", turned(0.0, -12.0 * raised, 5.0));
        poses.push(acting.pose);
    }
    Take { actor, poses }
}

/// The text of the file.
pub fn wave() -> String {
    let take = perform();
    let middle = [
        ["hips", "Hips"],
        ["spine_1", "LowerBack"],
        ["spine_2", "Spine"],
        ["spine_3", "Spine1"],
        ["neck", "Neck"],
        ["head", "Head"],
    ];
    let sides = [
        ["thigh", "UpLeg"],
        ["shank", "Leg"],
        ["foot", "Foot"],
        ["toes", "ToeBase"],
        ["clavicle", "Shoulder"],
        ["upper_arm", "Arm"],
        ["forearm", "ForeArm"],
        ["hand", "Hand"],
        ["fingers_1", "FingerBase"],
        ["fingers_2", "HandIndex1"],
        ["thumb_1", "Thumb"],
    ];
    let spell = |side: Side, name: &str| match (side, name) {
        (Side::Left, "Thumb") => "LThumb".to_owned(),
        (Side::Right, "Thumb") => "RThumb".to_owned(),
        _ => format!("{side:?}{name}"),
    };
    let how = Convention {
        joints: named("XYZ", &middle, &sides, spell),
        rest: take.actor.skeleton.rest_pose(),
        units_per_metre: 0.45 / 0.0254,
        z_up: true,
        positions: Positions::RootFromOrigin,
        decimals: [5, 3],
        frame_time: ".0166667",
        line_end: "\n",
    };
    write(&take, &how)
}
