//! `jump.bvh`: a jump forward whose hips fly along a known parabola.
//!
//! Between take-off at frame 120 and landing at frame 170 (100 frames per second, `s` seconds after take-off):
//! `y = TAKE_OFF[0] + V_UP s - G s^2 / 2`, `z = TAKE_OFF[1] + V_AHEAD s`, `x = 0`. Before and after, the feet stand:
//! they roll over the ball to take off, and from the ball to the sole to land.
//!
//! Convention: names as in Unreal's mannequin, an A-pose at rest, metres, order YXZ.

use super::actor::{Actor, Side, turned};
use super::bvh::{Convention, Positions, Take, named, write};
use super::curve::{hermite, through, with_slopes};
use posemill::math::{Transform, Vec2, Vec3};

const RATE: f64 = 100.0;
const FRAMES: usize = 300;

/// Gravity, metres per second squared.
const G: f64 = 9.81;
/// Seconds at take-off, and in the air.
const START: f64 = 1.2;
const AIR: f64 = 0.5;
/// Height and progress of the hips at take-off and at landing, metres.
const TAKE_OFF: [f64; 2] = [0.97, 0.14];
const LANDING: [f64; 2] = [0.88, 0.74];
/// The velocity at take-off that leads from one to the other.
const V_UP: f64 = (LANDING[0] - TAKE_OFF[0]) / AIR + G * AIR / 2.0;
const V_AHEAD: f64 = (LANDING[1] - TAKE_OFF[1]) / AIR;
/// How far the feet come.
const DISTANCE: f64 = 0.74;

/// Progress and height of the hips.
fn hips(actor: &Actor, time: f64) -> Vec2<f64> {
    let s = time - START;
    if (0.0..=AIR).contains(&s) {
        return Vec2::new(TAKE_OFF[1] + V_AHEAD * s, TAKE_OFF[0] + V_UP * s - G * s * s / 2.0);
    }
    let stand = actor.hips_height() - 0.006;
    let end = START + AIR;
    let height = [
        [0.3, stand, 0.0],
        [0.85, 0.63, 0.0],
        [START, TAKE_OFF[0], V_UP],
        [end, LANDING[0], V_UP - G * AIR],
        [end + 0.33, 0.6, 0.0],
        [2.7, stand, 0.0],
    ];
    let progress = [
        [0.3, 0.0, 0.0],
        [0.85, -0.06, 0.0],
        [START, TAKE_OFF[1], V_AHEAD],
        [end, LANDING[1], V_AHEAD * 0.35],
        [end + 0.33, DISTANCE - 0.02, 0.0],
        [2.7, DISTANCE, 0.0],
    ];
    Vec2::new(with_slopes(&progress, time), with_slopes(&height, time))
}

/// The pitch of both feet in degrees, toes up positive.
fn pitch(time: f64) -> f64 {
    let end = START + AIR;
    with_slopes(
        &[
            [0.92, 0.0, 0.0],
            [START, -56.0, -300.0],
            [START + 0.08, -66.0, 0.0],
            [end, -22.0, 240.0],
            [end + 0.1, 0.0, 0.0],
        ],
        time,
    )
}

/// Progress and height of the ankles while the feet stand, before the flight or after it.
fn standing_ankle(actor: &Actor, time: f64) -> Vec2<f64> {
    let ball = actor.ball(Side::Left);
    let (s, c) = pitch(time).to_radians().sin_cos();
    let turned = Vec2::new(c * ball.z - s * ball.y, s * ball.z + c * ball.y);
    let begun = if time > START + AIR / 2.0 { DISTANCE } else { 0.0 };
    Vec2::new(begun + ball.z, actor.ankle_height() + ball.y) - turned
}

/// Progress and height of the ankles.
fn ankle(actor: &Actor, time: f64) -> Vec2<f64> {
    let end = START + AIR;
    if !(START..end).contains(&time) {
        return standing_ankle(actor, time);
    }
    // In the air the ankle moves with the hips, from where it was beneath them to where it will be, tucked between.
    let h = 1e-5;
    let below = |t: f64| standing_ankle(actor, t) - hips(actor, t);
    let (off, before, on, after) = (below(START), below(START - h), below(end), below(end + h));
    let t = (time - START) / AIR;
    // The legs trail their own momentum for a moment only: a share of the slopes.
    let slopes = [(off - before) / h * AIR * 0.3, (after - on) / h * AIR * 0.3];
    let value = |k: usize| hermite(t, [off[k], slopes[0][k]], [on[k], slopes[1][k]]);
    let tuck = 16.0 * (t * (1.0 - t)).powi(2);
    hips(actor, time) + Vec2::new(value(0) - 0.05 * tuck, value(1) + 0.16 * tuck)
}

fn perform() -> Take {
    let actor = Actor::new(1.70);
    let mut poses = Vec::new();
    for frame in 0..=FRAMES {
        let time = frame as f64 / RATE;
        let mut acting = actor.stand();
        let at = hips(&actor, time);
        let lean = through(
            &[[0.3, 0.0], [0.85, 36.0], [1.2, 4.0], [1.45, 8.0], [1.7, 16.0], [2.03, 34.0], [2.7, 0.0]],
            time,
        );
        acting.hips(Transform::new(turned(0.6 * lean, 0.0, 0.0), Vec3::new(0.0, at.y, at.x)));
        acting.turn("spine_1", turned(0.25 * lean, 0.0, 0.0));
        acting.turn("spine_2", turned(0.25 * lean, 0.0, 0.0));
        acting.turn("neck", turned(-0.35 * lean, 0.0, 0.0));
        acting.turn("head", turned(-0.35 * lean, 0.0, 0.0));
        let forward = through(
            &[[0.3, 4.0], [0.85, -45.0], [1.2, 125.0], [1.45, 120.0], [1.7, 75.0], [2.05, 20.0], [2.7, 4.0]],
            time,
        );
        let elbow = through(&[[0.3, 12.0], [0.85, 20.0], [1.2, 30.0], [1.7, 25.0], [2.7, 12.0]], time);
        let foot = ankle(&actor, time);
        let flying = time > START && time < START + AIR;
        let rotation = turned(-pitch(time), 0.0, 0.0);
        // The toes stay flat on the ground, and come to the line of the foot in the air.
        let t = ((time - START) / AIR).clamp(0.0, 1.0);
        let share = if flying { 16.0 * (t * (1.0 - t)).powi(2) } else { 0.0 };
        let toes = turned(-pitch(time) * share, 0.0, 0.0);
        for side in Side::BOTH {
            acting.arm(side, [forward, 10.0], elbow);
            let at = Vec3::new(0.1 * side.sign(), foot.y, foot.x);
            acting.leg(side, Transform::new(rotation, at), Vec3::z(), toes);
        }
        poses.push(acting.pose);
    }
    Take { actor, poses }
}

/// The text of the file.
pub fn jump() -> String {
    let take = perform();
    let middle = [
        ["hips", "pelvis"],
        ["spine_1", "spine_01"],
        ["spine_2", "spine_02"],
        ["spine_3", "spine_03"],
        ["neck", "neck_01"],
        ["head", "head"],
    ];
    let sides = [
        ["clavicle", "clavicle"],
        ["upper_arm", "upperarm"],
        ["forearm", "lowerarm"],
        ["hand", "hand"],
        ["thigh", "thigh"],
        ["shank", "calf"],
        ["foot", "foot"],
        ["toes", "ball"],
    ];
    let mut rest = take.actor.stand();
    for side in Side::BOTH {
        rest.arm(side, [0.0, 45.0], 0.0);
    }
    let how = Convention {
        joints: named("YXZ", &middle, &sides, |side, name| side.named(name)),
        rest: rest.pose,
        units_per_metre: 1.0,
        z_up: false,
        positions: Positions::RootFromOrigin,
        decimals: [6, 3],
        frame_time: "0.01",
        line_end: "\n",
    };
    write(&take, &how)
}
