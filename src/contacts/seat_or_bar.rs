//! Detects whether a body above the floor of its take is supported by a seat or a bar instead of its feet.
//!
//! A body that stands has its centre of mass above its feet; of one that sits still it is behind them, or hips and knees are bent
//! throughout and it does not lie. One that hangs has its hands above its head, where they rest, and its feet point down.
//! Space: model space, Y up. Units: metres, seconds; lengths and speeds in leg lengths where stated.

use super::footing::FOOT_REST_SPEED;
use crate::body::segment_table;
use crate::kinematics::map_frames_towards;
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Motion, Rig, Role, Side};
use std::f64::consts::TAU;

/// Share of the frames in which a body that sits or hangs does so: it may shift, and reach out with a hand.
const MOSTLY: f64 = 0.6;
/// Horizontal distance of the centre of mass from the feet from which they do not bear the body, leg lengths: with half of it, bodies
/// that crouch with their weight on their heels count as well, with twice as much, those with their feet half under a high stool do not.
const OUTSIDE: f64 = 0.12;
/// The same while hips and knees are bent throughout and it does not lie: feet that rest under the seat are below the centre of mass,
/// near their heels or toes; of a body that crouches it is in the middle between its feet (-0.12).
const UNDER_SEAT: f64 = -0.05;
/// Least height of the hips and of a knee above the ankles while a body sits, leg lengths: it is lower where a body sits, kneels or
/// lies on the floor, which may be anywhere.
const SEATED: [f64; 2] = [0.3, 0.25];
/// Angle by which feet point down further than at rest, radians (20 degrees): feet that hang freely do by 30 to 50 degrees.
const POINTED: f64 = 0.35;
/// Length of heel behind the ankle and of toes before their joint, as a share of the distance between the two.
const ENDS: f64 = 0.5;
/// Directions in which the centre of mass is compared with the feet: its distance is underestimated by 2 % at most.
const DIRECTIONS: usize = 16;
/// Shares of the mass of trunk with head, a thigh, a shin with foot, and an arm.
const MASSES: [f64; 4] = [
    segment_table::PELVIS.mass + segment_table::CHEST_AND_ABDOMEN.mass + segment_table::HEAD_AND_NECK,
    segment_table::THIGH.mass,
    segment_table::SHIN.mass + segment_table::FOOT.mass,
    segment_table::UPPER_ARM.mass + segment_table::FOREARM.mass + segment_table::HAND.mass,
];

/// The joints by which the support of a body is detected.
#[derive(Clone, Debug)]
pub(super) struct BearingJoints {
    pelvis: JointId,
    head: JointId,
    /// Hip, knee and ankle of both legs.
    legs: [[JointId; 3]; 2],
    /// Toes of both feet, else their ends in the space of the ankle.
    toes: [(JointId, Vec3); 2],
    /// Elbow and hand of both arms.
    arms: [[JointId; 2]; 2],
    /// Angle by which both feet point down in the reference pose.
    slope: [f64; 2],
}

/// A frame of a body.
struct BearingFrame {
    mass: Vec3,
    pelvis: Vec3,
    feet: [[Vec3; 2]; 2],
    hands: [Vec3; 2],
    /// Heights of the lower hip above the higher ankle, and of the lower knee.
    seat: [f64; 2],
    /// Whether both hands are above the head and both feet point down.
    reaches_up: bool,
}

impl BearingJoints {
    /// Those of a rig in its reference pose with this up direction; `None` where one is missing.
    pub fn of(rig: &Rig, pose: &ModelPose, up: &Vec3) -> Option<BearingJoints> {
        let leg = |side: Side| {
            let [hip, knee, ankle] =
                [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|role| rig.joint(role));
            Some([hip?, knee?, ankle?])
        };
        let toes = |[_, _, ankle]: [JointId; 3], side: Side| {
            let end = rig.skeleton().joint(ankle).tip.unwrap_or_default();
            rig.joint(Role::Toes(side)).map_or((ankle, end), |toes| (toes, Vec3::zeros()))
        };
        let arm = |side: Side| Some([rig.joint(Role::LowerArm(side))?, rig.joint(Role::Hand(side))?]);
        let legs = [leg(Side::Left)?, leg(Side::Right)?];
        let toes = [toes(legs[0], Side::Left), toes(legs[1], Side::Right)];
        let slope = [0, 1].map(|k| {
            let (joint, end) = toes[k];
            slope(&(pose.joint(joint).point(&end) - pose.position(legs[k][2])), up)
        });
        Some(BearingJoints {
            pelvis: rig.joint(Role::Hips)?,
            head: rig.joint(Role::Head)?,
            arms: [arm(Side::Left)?, arm(Side::Right)?],
            legs,
            toes,
            slope,
        })
    }

    fn frame(&self, model: &ModelPose) -> BearingFrame {
        let at = |joint: JointId| model.position(joint);
        let [trunk, thigh, shin, arm] = MASSES;
        let (pelvis, head) = (at(self.pelvis), at(self.head));
        let hands = self.arms.map(|arm| at(arm[1]));
        let feet = [0, 1].map(|k| {
            let (joint, end) = self.toes[k];
            [at(self.legs[k][2]), model.joint(joint).point(&end)]
        });
        let mut mass = pelvis.lerp(&head, 0.5) * trunk;
        mass += self.arms.map(|[elbow, _]| at(elbow) * arm).iter().sum::<Vec3>();
        for [hip, knee, ankle] in self.legs.map(|leg| leg.map(at)) {
            mass += hip.lerp(&knee, 0.5) * thigh + knee.lerp(&ankle, 0.5) * shin;
        }
        let lowest =
            |joint: usize| self.legs.iter().map(|leg| at(leg[joint]).y).fold(f64::INFINITY, f64::min);
        let ankles = feet.iter().map(|[ankle, _]| ankle.y).fold(f64::NEG_INFINITY, f64::max);
        let seat = [0, 1].map(|joint| lowest(joint) - ankles);
        let pointed = |([ankle, toes], at_rest): (&[Vec3; 2], &f64)| {
            slope(&(toes - ankle), &Vec3::y()) > at_rest + POINTED
        };
        let reaches_up =
            hands.iter().all(|hand| hand.y > head.y) && feet.iter().zip(&self.slope).all(pointed);
        BearingFrame { mass, pelvis, feet, hands, seat, reaches_up }
    }

    /// Whether something else than the feet bears the body in most of these frames. `always_folded` tells whether hips and knees are
    /// bent in all of them, `is_near_floor` whether a leg's foot is low in a frame.
    pub fn bear_body(
        &self,
        motion: &Motion,
        counted: &[usize],
        (leg_length, always_folded): (f64, bool),
        is_near_floor: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let limbs = self.legs.iter().flatten().chain(self.arms.iter().flatten());
        let ends = self.toes.iter().map(|(joint, _)| joint).chain([&self.pelvis, &self.head]);
        let joints = limbs.chain(ends).copied();
        let frames =
            map_frames_towards(motion.character.skeleton(), &motion.clip, joints, |model| self.frame(model));
        // A pelvis or a hand rests below the speed of a foot that rests.
        let largest_step = FOOT_REST_SPEED * leg_length / motion.clip.sample_rate;
        let still = |f: usize, of: fn(&BearingFrame) -> [Vec3; 2]| {
            let (here, next) = (&frames[f], &frames[(f + 1).min(frames.len() - 1)]);
            of(here).iter().zip(&of(next)).all(|(a, b)| (b - a).norm() < largest_step)
        };
        let hangs = |f: usize| frames[f].reaches_up && still(f, |frame| frame.hands);
        let sits = |f: usize| {
            let near_floor = (0..self.legs.len()).filter(|k| is_near_floor(*k, f));
            let soles: Vec<Vec3> = near_floor.flat_map(|k| sole(&frames[f].feet[k])).collect();
            let [hips, knees] = frames[f].seat.map(|height| height / leg_length);
            let seated = always_folded && knees > SEATED[1];
            let least = if seated { UNDER_SEAT } else { OUTSIDE };
            hips > SEATED[0]
                && !soles.is_empty()
                && outside(&frames[f].mass, &soles) > least * leg_length
                && still(f, |frame| [frame.pelvis; 2])
        };
        let mostly = |holds: &dyn Fn(usize) -> bool| {
            counted.iter().filter(|f| holds(**f)).count() as f64 >= MOSTLY * counted.len() as f64
        };
        mostly(&hangs) || mostly(&sits)
    }
}

/// The angle by which a direction points down; 0 without one.
fn slope(direction: &Vec3, up: &Vec3) -> f64 {
    direction.try_normalize(1e-9).map_or(0.0, |unit| libm::asin((-unit.dot(up)).clamp(-1.0, 1.0)))
}

/// Heel and tip of a foot with these positions of ankle and toes.
fn sole([ankle, toes]: &[Vec3; 2]) -> [Vec3; 2] {
    [ankle.lerp(toes, -ENDS), ankle.lerp(toes, 1.0 + ENDS)]
}

/// The horizontal distance of a point from the convex hull of others; negative inside of it.
fn outside(at: &Vec3, points: &[Vec3]) -> f64 {
    let distance = |k: usize| {
        let (sin, cos) = libm::sincos(TAU * k as f64 / DIRECTIONS as f64);
        let along = |p: &Vec3| p.x * cos + p.z * sin;
        along(at) - points.iter().map(along).fold(f64::NEG_INFINITY, f64::max)
    };
    (0..DIRECTIONS).map(distance).fold(f64::NEG_INFINITY, f64::max)
}
