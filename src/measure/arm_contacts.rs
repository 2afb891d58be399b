//! Hands at the body: which touches of the take a result keeps, and when an arm holds a contact or a leg leans on its knee.
//!
//! Distances are those between capsules of both bodies, measured alike; a source without skin has the girths of an adult.
//! Nothing that places hands takes part. Units: metres of the common height, radians.

use super::catalogue::metric;
use super::metric_context::MetricContext;
use crate::body::{BodyPart, Capsule};
use crate::kinematics::forward;
use crate::math::{Vec3, nearest_points_of_segments};
use crate::model::{ContactPart, Contacts, ModelPose, Motion, Role, Side};
use crate::report::Metric;
use std::ops::Range;

/// Sampling rate, hertz: a touch that matters lasts longer than its period.
const SAMPLES: f64 = 15.0;
/// A hand nearer than this to another part touches it, metres. Chosen: its capsule is the palm's, and flexed fingers reach about so far
/// beyond it.
const TOUCH: f64 = 0.04;
/// A touch is kept if the distance grows by less than this, metres: beyond it one sees between hand and body.
const KEPT: f64 = 0.05;
/// A hand nearer than this may be moved to keep its distance from the body, metres. Chosen: about the width of a hand.
const NEAR: f64 = 0.088;
/// A forearm within this angle of straight down hangs: the hand is beside hip and thigh without touching them on purpose.
const HANGING: f64 = std::f64::consts::FRAC_PI_4;
/// Time in which an arm or a knee goes to the floor and leaves it, seconds: that of a step.
const BLEND: f64 = 0.4;
/// The shortest time of touching that is judged, seconds: two samples are no touch.
const SHORTEST: f64 = 0.5;

/// What a hand can touch: head, trunk, the other hand and forearm, the thighs.
const GROUPS: usize = 6;

/// The distances of one hand from what it can touch, and the smallest distance of forearm and hand from trunk, head and thighs.
#[derive(Clone, Copy, Debug)]
struct ArmGaps {
    touch: [f64; GROUPS],
    /// The distance of the hand from the nearest part of the body.
    near: f64,
    inside: f64,
}

/// The arms of a take and of its result over time.
#[derive(Clone, Debug, Default)]
pub struct ArmContacts {
    /// Frames from one sample to the next.
    stride: usize,
    /// By side and sample, whether the arm holds a contact as the take's does, or is pushed out of the body.
    held: [Vec<bool>; 2],
    /// By side, the frames in which it leans on the floor.
    leaning: [Vec<Range<usize>>; 2],
    /// By side, the frames in which the leg leans on its knee.
    kneeling: [Vec<Range<usize>>; 2],
    /// Number of touches of the take by hand, part and sample, and of those that the result loses.
    touches: usize,
    lost: usize,
    /// Samples per second.
    rate: f64,
}

impl ArmContacts {
    /// The arms of `source`, its direct transfer `direct`, and `motion`, which are in step; nothing for bodies without arms.
    pub fn of(
        context: &MetricContext,
        (take_context, source): (&MetricContext, &Motion),
        direct: &Motion,
        motion: &Motion,
    ) -> Self {
        let rate = motion.clip.sample_rate;
        let stride = (rate / SAMPLES).round().max(1.0) as usize;
        let mut made = Self { stride, rate: rate / stride as f64, ..Self::default() };
        let all = [(take_context, source), (context, direct), (context, motion)];
        let frames = all.iter().map(|(_, m)| m.clip.frames()).min().unwrap_or(0);
        let mut poses = all.map(|(_, m)| m.character.skeleton().rest_pose());
        let mut models = all.map(|(_, m)| m.character.skeleton().rest_model_pose());
        for frame in (0..frames).step_by(stride) {
            for (((_, m), pose), model) in all.iter().zip(&mut poses).zip(&mut models) {
                forward(m.character.skeleton(), &m.clip, frame, pose, model);
            }
            let [from, direct, result] = [0, 1, 2].map(|k| gaps(all[k].0, &models[k]));
            for side in 0..2 {
                let (Some(from), Some(direct), Some(result)) = (from[side], direct[side], result[side])
                else {
                    continue;
                };
                // A touch that is lost has a measure of its own.
                let touches = from.touch.iter().any(|gap| *gap < TOUCH);
                // A hand that is farther from the body than the direct transfer's holds nothing there.
                let near = from.near < NEAR && result.near < direct.near.max(NEAR) + KEPT;
                let pushed_out = direct.inside < 0.0 && result.inside < NEAR;
                made.held[side].push(touches || near || pushed_out);
                for (there, here) in from.touch.iter().zip(&result.touch).filter(|(there, _)| **there < TOUCH)
                {
                    made.touches += usize::from(here.is_finite());
                    made.lost += usize::from(here.is_finite() && *here > KEPT + there.max(0.0));
                }
            }
        }
        made
    }

    /// Adds the contacts with the floor that are labelled: an arm or a knee that leans on it goes where that is.
    pub fn with_labels(mut self, contacts: Option<&Contacts>) -> Self {
        let labelled = |parts: &[ContactPart]| -> Vec<Range<usize>> {
            let holds = parts.iter().flat_map(|part| contacts.map_or(&[][..], |c| c.holds(*part)));
            holds.map(|hold| hold.frames.clone()).collect()
        };
        for (k, side) in Side::BOTH.into_iter().enumerate() {
            self.leaning[k] = labelled(&[ContactPart::Hand(side), ContactPart::Elbow(side)]);
            self.kneeling[k] = labelled(&[ContactPart::Knee(side)]);
        }
        self
    }

    /// Whether the arm of this side leans on the floor around this frame.
    pub fn leans(&self, side: usize, frame: usize) -> bool {
        self.is_around(&self.leaning[side], frame)
    }

    /// Whether the arm of this side holds a contact around this frame, or would be in the body.
    pub fn holds(&self, side: usize, frame: usize) -> bool {
        if self.leans(side, frame) {
            return true;
        }
        let sample = frame / self.stride.max(1);
        let at = |k: usize| self.held[side].get(k).copied().unwrap_or(false);
        at(sample) || at(sample + 1)
    }

    /// Whether the leg of this side leans on its knee around this frame: how far that is above the floor depends on the skin, and the
    /// foot stays where it is.
    pub fn kneels(&self, side: usize, frame: usize) -> bool {
        self.is_around(&self.kneeling[side], frame)
    }

    /// Whether a contact with the floor is held in this frame, or a limb goes there or leaves it.
    fn is_around(&self, holds: &[Range<usize>], frame: usize) -> bool {
        let blend = (BLEND * self.rate) as usize * self.stride;
        holds.iter().any(|r| frame + blend >= r.start && frame < r.end + blend)
    }

    /// The share of the take's touches that the result loses; `None` where the take does not touch itself.
    pub fn lost(&self) -> Option<Metric> {
        let enough = self.touches as f64 >= SHORTEST * self.rate;
        enough.then(|| metric("self_contact_lost", self.lost as f64 / self.touches as f64))
    }
}

/// Distance between two capsules; negative where they overlap.
fn gap(a: &(Capsule, [Vec3; 2]), b: &(Capsule, [Vec3; 2])) -> f64 {
    let [p, q] = nearest_points_of_segments(&a.1, &b.1);
    (p - q).norm() - a.0.radius - b.0.radius
}

/// The gaps of both arms in one pose; `None` for a side without an arm.
fn gaps(context: &MetricContext, model: &ModelPose) -> [Option<ArmGaps>; 2] {
    let placed: Vec<(Capsule, [Vec3; 2])> =
        context.body.capsules().iter().map(|c| (*c, c.ends(model))).collect();
    Side::BOTH.map(|side| {
        let find = |part: BodyPart| placed.iter().find(|c| c.0.part == part);
        let (hand, fore) = (find(BodyPart::Hand(side))?, find(BodyPart::LowerArm(side))?);
        let rig = context.body.rig();
        let [elbow, wrist] = [Role::LowerArm(side), Role::Hand(side)].map(|r| rig.joint(r));
        let along = model.position(wrist?) - model.position(elbow?);
        let hanging = -along.y > along.norm() * libm::cos(HANGING);
        let mut found =
            ArmGaps { touch: [f64::INFINITY; GROUPS], near: f64::INFINITY, inside: f64::INFINITY };
        for other in &placed {
            use BodyPart::{
                Chest, Foot, Hand, Head, LowerArm, LowerLeg, Neck, Pelvis, Ribs, UpperLeg, Waist,
            };
            let group = match other.0.part {
                Head | Neck => 0,
                Waist | Ribs | Chest => 1,
                Pelvis if !hanging => 1,
                Hand(s) if s != side => 2,
                LowerArm(s) if s != side => 3,
                UpperLeg(s) if !hanging => 4 + s.index(),
                Pelvis | UpperLeg(_) | LowerLeg(_) | Foot(_) => GROUPS,
                _ => continue,
            };
            let near = gap(hand, other) * context.scale;
            if let Some(touch) = found.touch.get_mut(group) {
                *touch = touch.min(near);
            }
            found.near = found.near.min(near);
            // A hanging arm in a wide hip is pushed out of it too.
            if !matches!(group, 2 | 3) && !matches!(other.0.part, LowerLeg(_) | Foot(_)) {
                found.inside = found.inside.min(near).min(gap(fore, other) * context.scale);
            }
        }
        Some(found)
    })
}
