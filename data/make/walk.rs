//! `walk.bvh`: four strides of natural walking from published joint angles, on feet that do not slide.
//!
//! In stance the foot rolls exactly: about the heel until it lies flat, then about the ball. From the ankle that
//! this gives, the published knee angle is a leg length, and so the height of the pelvis over its even progress;
//! both legs' answers, weighted by their share of the load, become two harmonics of the step. In swing the ankle
//! follows the published angles down from that pelvis, with a cubic that closes the gaps at toe-off and heel
//! contact, and a lift that clears the ground. The legs are then solved for these feet: the contact is exact,
//! and where the published curves disagree with the stride (they span a shorter step), the stride wins.
//! Sagittal plane: `x` forward, `y` up, metres.

use super::actor::{Actor, Side, turned};
use super::bvh::{Convention, Positions, Take, named, write};
use super::curve::{hermite, smooth};
use super::gait::{self, FRAMES_PER_STRIDE, STRIDE};
use posemill::math::{Transform, Vec2, Vec3};
use std::f64::consts::TAU;

const STRIDES: usize = 4;
/// Half the distance between the feet, metres.
const HALF_WIDTH: f64 = 0.06;
/// How much higher than by the published angles the foot swings at its highest, metres: its toes clear the ground by a
/// centimetre (1.3 cm, Winter 1992, Foot trajectory in human gait).
const LIFT: f64 = 0.045;

/// `v` in the sagittal plane (`x` forward, `y` up), pitched by `degrees`, forward-up positive.
fn pitched(v: Vec2<f64>, degrees: f64) -> Vec2<f64> {
    let (s, c) = degrees.to_radians().sin_cos();
    Vec2::new(c * v.x - s * v.y, s * v.x + c * v.y)
}

/// The walk in the sagittal plane, for a leg whose heel strikes at phase 0 above `z = 0`.
struct Sagittal {
    actor: Actor,
    /// Mean, cosine and sine amplitudes of two harmonics of the step: progress and height of the hip joints.
    sway: [Vec2<f64>; 5],
}

impl Sagittal {
    fn new(actor: Actor) -> Self {
        let mut walk = Self { actor, sway: [Vec2::zeros(); 5] };
        // Progress is even; its lead over the feet is the one that comes closest to the published angles.
        let mut best = f64::INFINITY;
        let mut chosen = walk.sway;
        for millimetres in (-320..=-200).step_by(5) {
            walk.sway[0].x = f64::from(millimetres) / 1000.0;
            let heights = walk.mean(5, Self::height_over_stance_foot);
            walk.sway.iter_mut().zip(heights).for_each(|(s, height)| s.y = height);
            walk.lower_until_the_knees_bend();
            let miss = walk.miss();
            if miss < best {
                (best, chosen) = (miss, walk.sway);
            }
        }
        walk.sway = chosen;
        walk
    }

    /// The mean square of what the solved hip and knee angles miss of the published ones.
    fn miss(&self) -> f64 {
        let [a, b] = self.actor.leg();
        let frame = |f: usize| {
            let phase = f as f64 / FRAMES_PER_STRIDE as f64;
            let reach = self.ankle(phase) - self.hip(phase);
            let d = reach.norm().min(a + b);
            let angle = |near: f64, far: f64| {
                ((near * near + d * d - far * far) / (2.0 * near * d)).clamp(-1.0, 1.0).acos()
            };
            let hip = reach.x.atan2(-reach.y) + angle(a, b);
            let knee = angle(a, b) + angle(b, a);
            let [published_hip, published_knee, _] = gait::angles(phase).map(f64::to_radians);
            (hip - published_hip).powi(2) + (knee - published_knee).powi(2)
        };
        (0..FRAMES_PER_STRIDE).map(frame).sum::<f64>() / FRAMES_PER_STRIDE as f64
    }

    /// The first `terms` amplitudes of what both legs answer, the other half a stride away, by their load.
    fn mean(&self, terms: usize, answer: impl Fn(&Self, f64) -> f64) -> Vec<f64> {
        let n = FRAMES_PER_STRIDE;
        let mut amplitudes = vec![0.0; terms];
        for frame in 0..n {
            let phase = frame as f64 / n as f64;
            let legs = [phase, (phase + 0.5).rem_euclid(1.0)];
            let total: f64 = legs.iter().map(|&leg| load(leg)).sum();
            let standing = legs.iter().filter(|&&leg| load(leg) > 0.0);
            let mixed = standing.map(|&leg| load(leg) * answer(self, leg)).sum::<f64>() / total;
            for (k, (amplitude, basis)) in amplitudes.iter_mut().zip(basis(phase)).enumerate() {
                *amplitude += mixed * basis * if k == 0 { 1.0 } else { 2.0 } / n as f64;
            }
        }
        amplitudes
    }

    /// The height of the hip joint above the ground with the published knee angle, where progress is known.
    fn height_over_stance_foot(&self, phase: f64) -> f64 {
        let ankle = self.stance_ankle(phase);
        let ahead = STRIDE * phase + self.sway[0].x - ankle.x;
        ankle.y + (self.leg(phase).norm_squared() - ahead * ahead).max(0.0).sqrt()
    }

    /// The pelvis sinks by as much as the longest reach asks: the knee stays bent by 8 degrees in this plane, and a little less in space.
    fn lower_until_the_knees_bend(&mut self) {
        let [a, b] = self.actor.leg();
        let longest = (a * a + b * b + 2.0 * a * b * 8f64.to_radians().cos()).sqrt();
        for _ in 0..40 {
            let excess = (0..FRAMES_PER_STRIDE)
                .map(|f| {
                    let phase = f as f64 / FRAMES_PER_STRIDE as f64;
                    (self.ankle(phase) - self.hip(phase)).norm() - longest
                })
                .fold(0.0, f64::max);
            self.sway[0].y -= excess;
        }
    }

    /// Midway between the hip joints, at a phase of the left foot's stride.
    fn pelvis(&self, phase: f64) -> Vec2<f64> {
        let sway: Vec2<f64> = basis(phase).iter().zip(&self.sway).map(|(b, s)| s * *b).sum();
        Vec2::new(STRIDE * phase, 0.0) + sway
    }

    /// The hip joint of the leg whose stride it is: the pelvis turns it ahead and lifts it.
    fn hip(&self, phase: f64) -> Vec2<f64> {
        let half = self.actor.skeleton.joint(self.actor.joint("thigh_l")).rest.translation.x;
        let [ahead, up] = pelvis_turns(phase).map(|degrees| half * degrees.to_radians().sin());
        self.pelvis(phase) + Vec2::new(ahead, up)
    }

    /// The vector from the hip to the ankle by the published angles.
    fn leg(&self, phase: f64) -> Vec2<f64> {
        let [hip, knee, _] = gait::angles(phase);
        let [a, b] = self.actor.leg();
        pitched(Vec2::new(0.0, -a), hip) + pitched(Vec2::new(0.0, -b), hip - knee)
    }

    /// The ankle of a foot that rolls about the heel until it lies flat, and about the ball once the heel rises.
    fn stance_ankle(&self, phase: f64) -> Vec2<f64> {
        let pitch = gait::foot_pitch(phase);
        let flat = |v: Vec3| Vec2::new(v.z, v.y);
        let (heel, ball) = (flat(self.actor.heel()), flat(self.actor.ball(Side::Left)));
        let at_heel = Vec2::zeros();
        let at_ball = at_heel - heel + ball;
        if phase < gait::HEEL_OFF { at_heel - pitched(heel, pitch) } else { at_ball - pitched(ball, pitch) }
    }

    /// The ankle at a phase from 0 to 1, of the stride that starts with heel contact at `z = 0`.
    fn ankle(&self, phase: f64) -> Vec2<f64> {
        if phase <= gait::TOE_OFF {
            return self.stance_ankle(phase);
        }
        let h = 1e-5;
        let span = 1.0 - gait::TOE_OFF;
        let free = |p: f64| self.hip(p) + self.leg(p);
        // What is missing from the free leg to the ground at both ends, with its slope.
        let at_off = self.stance_ankle(gait::TOE_OFF) - free(gait::TOE_OFF);
        let before = self.stance_ankle(gait::TOE_OFF - h) - free(gait::TOE_OFF - h);
        let next = Vec2::new(STRIDE, 0.0);
        let at_strike = self.stance_ankle(0.0) + next - free(1.0);
        let after = self.stance_ankle(h) + next - free(1.0 + h);
        let slope_off = (at_off - before) / h * span;
        let slope_strike = (after - at_strike) / h * span;
        let t = (phase - gait::TOE_OFF) / span;
        let close = |k: usize| hermite(t, [at_off[k], slope_off[k]], [at_strike[k], slope_strike[k]]);
        // Zero with zero slope at both ends.
        let lift = LIFT * 16.0 * (t * (1.0 - t)).powi(2);
        free(phase) + Vec2::new(close(0), close(1) + lift)
    }
}

/// How much of the body a leg carries: it takes over until 14 % and hands over from 50 % on.
fn load(phase: f64) -> f64 {
    smooth(phase / 0.14) * smooth((gait::TOE_OFF - phase) / 0.12)
}

/// How far the pelvis turns its left side ahead, and up, in degrees, at a phase of the left foot's stride: ahead
/// as that foot lands, up while it carries.
fn pelvis_turns(phase: f64) -> [f64; 2] {
    [5.0 * (TAU * phase).cos(), 2.5 * (TAU * (phase - 0.2)).cos()]
}

/// One, and two harmonics of the step, which is half a stride.
fn basis(phase: f64) -> [f64; 5] {
    let a = 2.0 * TAU * phase;
    [1.0, a.cos(), a.sin(), (2.0 * a).cos(), (2.0 * a).sin()]
}

/// The take and the labels of every frame: left heel, left ball, right heel, right ball.
fn perform() -> (Take, Vec<[bool; 4]>) {
    let walk = Sagittal::new(Actor::new(1.78));
    let (mut poses, mut labels) = (Vec::new(), Vec::new());
    for frame in 0..=STRIDES * FRAMES_PER_STRIDE {
        let stride = frame as f64 / FRAMES_PER_STRIDE as f64;
        let actor = &walk.actor;
        let mut acting = actor.stand();
        let wave = |shift: f64| (TAU * (stride - shift)).cos();
        let middle = walk.pelvis(stride);
        // The pelvis also moves over the standing foot; the spine turns against it.
        let [ahead, up] = pelvis_turns(stride);
        let pelvis = turned(0.0, -ahead, 0.0) * turned(0.0, 0.0, up);
        let socket = actor.skeleton.joint(actor.joint("thigh_l")).rest.translation;
        let at = Vec3::new(0.018 * wave(0.3), middle.y - socket.y, middle.x);
        acting.hips(Transform::new(pelvis, at));
        acting.turn("spine_1", turned(2.0, 2.5 * wave(0.0), 0.0) * turned(0.0, 0.0, -1.5 * wave(0.2)));
        acting.turn("spine_2", turned(1.0, 2.5 * wave(0.0), -wave(0.2)));
        acting.turn("spine_3", turned(0.0, 2.5 * wave(0.0), 0.0));
        acting.turn("neck", turned(-1.0, -1.5 * wave(0.0), 0.0));
        acting.turn("head", turned(-2.0, -2.0 * wave(0.0), 0.0));
        let mut touching = [false; 4];
        for (side, shift) in [(Side::Left, 0.0), (Side::Right, 0.5)] {
            // The arm swings against the leg of its side; the elbow bends as it comes forward.
            let swing = -wave(shift + 0.03);
            acting.arm(side, [4.0 + 19.0 * swing, 9.0], 20.0 + 12.0 * swing);
            let local = stride + shift;
            let (phase, begun) = (local.rem_euclid(1.0), local.floor() - shift);
            let ankle = walk.ankle(phase);
            let pitch = gait::foot_pitch(phase);
            let foot = Transform::new(
                turned(-pitch, 0.0, 0.0),
                Vec3::new(HALF_WIDTH * side.sign(), ankle.y, ankle.x + STRIDE * begun),
            );
            // The toes lie flat while the ball carries, and come back to the line of the foot in the air.
            let air = (phase - gait::TOE_OFF) / 0.15;
            let share = if phase < gait::FLAT { 1.0 } else { smooth(air) };
            acting.leg(side, foot, Vec3::z(), turned(-pitch * share, 0.0, 0.0));
            let [heel, ball] = gait::contact(phase);
            let first = if side == Side::Left { 0 } else { 2 };
            touching[first..first + 2].copy_from_slice(&[heel, ball]);
        }
        poses.push(acting.pose);
        labels.push(touching);
    }
    (Take { actor: walk.actor, poses }, labels)
}

/// `walk.bvh` and `walk.contacts.csv`.
pub fn walk() -> [String; 2] {
    let (take, labels) = perform();
    let middle = [
        ["hips", "mixamorig:Hips"],
        ["spine_1", "mixamorig:Spine"],
        ["spine_2", "mixamorig:Spine1"],
        ["spine_3", "mixamorig:Spine2"],
        ["neck", "mixamorig:Neck"],
        ["head", "mixamorig:Head"],
    ];
    let sides = [
        ["clavicle", "Shoulder"],
        ["upper_arm", "Arm"],
        ["forearm", "ForeArm"],
        ["hand", "Hand"],
        ["thigh", "UpLeg"],
        ["shank", "Leg"],
        ["foot", "Foot"],
        ["toes", "ToeBase"],
    ];
    let how = Convention {
        joints: named("ZXY", &middle, &sides, |side, name| format!("mixamorig:{side:?}{name}")),
        rest: take.actor.skeleton.rest_pose(),
        units_per_metre: 100.0,
        z_up: false,
        positions: Positions::RootFromOrigin,
        decimals: [4, 3],
        frame_time: "0.00833333",
        line_end: "\n",
    };
    let mut csv = String::from("frame,left_heel,left_ball,right_heel,right_ball\n");
    for (frame, label) in labels.iter().enumerate() {
        let row: Vec<String> = label.iter().map(|&on| u8::from(on).to_string()).collect();
        csv.push_str(&format!("{frame},{}\n", row.join(",")));
    }
    [write(&take, &how), csv]
}
