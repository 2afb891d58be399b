//! Finds when the feet of a take can stand on the floor, and whether they ever do.
//!
//! Nothing of a body is below the floor on which it stands: while hands or head bear the pelvis, well below it and below a foot,
//! as in a handstand, that foot is in the air, however low it is compared with the rest of the take. The floor of a take is at
//! height 0, as for captures, where its feet stay well above that height and either never rest, as in a flight or a swing from a
//! bar, or belong to a body that never stands up, as on a chair, or that a seat or a bar bears ([`BearingJoints`]).
//! Space: model space, Y up. Units: metres, seconds; lengths and speeds in leg lengths.

use super::ground_slopes::{can_be_uneven, uneven_ground};
use super::seat_or_bar::BearingJoints;
use super::short_dips::short_dips;
use super::standing_foot::{LegPath, bearing};
use crate::anatomy::on_four_legs;
use crate::body::CharacterBody;
use crate::kinematics::{map_frames_towards, sunk_shots};
use crate::math::{Vec3, percentile, smoothstep};
use crate::model::{JointId, ModelPose, Motion, Role, Side, UnevenGround};
use crate::signal::distinct_frames;
use std::ops::Range;

/// Height of a foot, and of the pelvis, above the lowest of hands, head and pelvis from which the foot is in the air: twice the
/// height of an ankle above its sole, so that bodies that lie, crawl or touch the floor keep their feet on it. In 60 takes
/// pitched by 110 to 180 degrees, half of them throughout, 72.0 % of all feet are in the air; 72.2 with 0.1, 71.4 with 0.25.
pub(super) const ABOVE: f64 = 0.15;
/// The same from which a foot moves as one with a body that is raised out of the floor: a foot that changed between standing and
/// moving within a smaller interval would jump.
const CARRIED: f64 = 0.45;
/// By so much less a foot counts as above a pelvis that is on the floor: a body that lies with its legs straight up.
const LEGS_UP: f64 = 0.35;
/// The percentile of heights that counts as the floor: lower ones are noise.
pub const FLOOR_PERCENTILE: f64 = 0.03;
/// Distance up to which the joints of a frame repeat those of another, metres: 0.1 mm/s at 120 Hz, and the rounding of 32 bits within
/// 8 m of the origin.
pub const REPEATED: f64 = 1e-6;
/// Height above the floor below which a point of a foot may touch it, leg lengths.
pub const NEAR_FLOOR: f64 = 0.03;
/// Speed below which a low foot rests, leg lengths per second: a foot that kicks, or passes the lowest point of a swing, is
/// slower for a twentieth of a second at most (2 Hz, 0.2 leg lengths).
pub(super) const RESTING: f64 = 0.3;
/// Time for which a foot rests that stands, seconds: the stance of a sprint is 0.1.
const REST_TIME: f64 = 0.06;
/// Share of frames with a low foot from which a floor carries it although it never rests, as on a skateboard: 0.11 to 0.19 in flights
/// and in swings by 43 degrees.
const LOW_SHARE: f64 = 0.4;
/// Height of the hip joints above the ankles below which a body sits or lies: less than a deep crouch from which it walks.
pub(super) const FOLDED: f64 = 0.75;
/// Height of the soles above height 0 from which feet may be in the air throughout. The ankles of eleven captures that stand are
/// 0.03 to 0.17 above it; runs on the spot, whose feet never rest and are low in 0.21 to 0.32 of the frames, stand on height 0 as well.
const RAISED: f64 = 0.15;
/// The same in heights of an ankle above its sole: joints of a thick body stay as far above the floor on which it lies as its feet
/// are thick. The ankles of a short one (0.32 leg lengths above its soles) that lies on its back are 1.7 higher than standing.
const THICK: f64 = 2.0;
/// Depth of a body below height 0 from which its floor is there: files that have the pelvis at height 0.
const SUNK: f64 = 0.2;
/// The share of a take between two cuts that tells its ground.
const ONE_SHOT: f64 = 0.9;

/// The joints of a body that tell where it stands.
#[derive(Clone, Debug)]
pub(crate) struct FootingJoints {
    /// Hip, ankle and toes (the ankle, if there are none) of the legs; no legs of a quadruped.
    legs: Vec<(Side, [JointId; 3])>,
    /// Pelvis, head, elbows and hands.
    others: Vec<JointId>,
    bearing: Option<BearingJoints>,
    /// Length of the legs, and heights of an ankle and of a toe joint above their sole.
    leg_length: f64,
    ankle: f64,
    toes: f64,
    /// The up direction in the space of each foot.
    foot_up: Vec<Vec3>,
}

/// When feet can stand, and the floor of a take in which they never do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footing {
    /// How far each foot is above what bears the body instead, leg lengths, by frame: see [`ABOVE`].
    above: Vec<(Side, Vec<f64>)>,
    floor: Option<f64>,
    /// The ground under feet that stand at several heights; `None` of level ground.
    pub uneven: Option<UnevenGround>,
    /// Whether a seat or a bar bears the body above the floor, so that its feet say nothing about it.
    pub held: bool,
    /// Whether no foot of the take stands, and hands, head or pelvis are on that floor for most of it.
    pub lies: bool,
}

/// A frame: hip, ankle and toes of each leg, and the lowest height of the rest.
pub(super) type FootingFrame = (Vec<[Vec3; 3]>, f64);

impl FootingJoints {
    /// Those of a body.
    pub fn of(body: &CharacterBody) -> FootingJoints {
        let (rig, pose) = (body.rig(), body.reference_pose());
        let joints = |side: Side| {
            let [hip, ankle] = [Role::UpperLeg(side), Role::Foot(side)].map(|role| rig.joint(role));
            let toes = rig.joint(Role::Toes(side)).or(ankle);
            Some((side, [hip?, ankle?, toes?]))
        };
        let upright = !on_four_legs(rig, pose);
        let legs: Vec<_> = Side::BOTH.into_iter().filter_map(joints).filter(|_| upright).collect();
        let arms = Side::BOTH.into_iter().flat_map(|side| [Role::LowerArm(side), Role::Hand(side)]);
        let others = [Role::Hips, Role::Head].into_iter().chain(arms).filter_map(|role| rig.joint(role));
        // Thigh plus shin, also of a body that sits in its reference pose.
        let bones = |side: Side| {
            let joints = [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|r| rig.joint(r));
            let at = [joints[0]?, joints[1]?, joints[2]?].map(|joint| pose.position(joint));
            Some((at[1] - at[0]).norm() + (at[2] - at[1]).norm())
        };
        let lengths: Vec<f64> = legs.iter().filter_map(|(side, _)| bones(*side)).collect();
        let leg_length = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        let (up, sole) = body.figure().map_or((Vec3::y(), 0.0), |figure| (figure.up, figure.sole));
        let above_sole = |joint: usize| {
            let heights = legs.iter().map(|(_, leg)| (pose.position(leg[joint]).dot(&up) - sole).max(0.0));
            heights.sum::<f64>() / legs.len().max(1) as f64
        };
        let foot_up = legs.iter().map(|(_, [_, foot, _])| pose.joint(*foot).rotation.inverse() * up);
        FootingJoints {
            others: others.collect(),
            bearing: BearingJoints::of(rig, pose, &up),
            leg_length,
            ankle: above_sole(1),
            toes: above_sole(2),
            foot_up: foot_up.collect(),
            legs,
        }
    }

    /// When the feet of a motion can stand; `shots` are the spans of frames between cuts.
    pub fn footing(&self, motion: &Motion, shots: &[Range<usize>]) -> Footing {
        if self.legs.is_empty() || self.leg_length < 1e-6 || motion.clip.frames() == 0 {
            return Footing::default();
        }
        let joints = self.legs.iter().flat_map(|(_, leg)| *leg).chain(self.others.iter().copied());
        let frame = |model: &ModelPose| -> FootingFrame {
            let legs = self.legs.iter().map(|(_, leg)| leg.map(|joint| model.position(joint)));
            let lowest = self.others.iter().map(|joint| model.position(*joint).y);
            (legs.collect(), lowest.fold(f64::INFINITY, f64::min))
        };
        let frames = map_frames_towards(motion.character.skeleton(), &motion.clip, joints, frame);
        let above = |k: usize| -> Vec<f64> {
            let above = |(legs, others): &FootingFrame| {
                let hips = legs.iter().map(|leg| leg[0].y).sum::<f64>() / legs.len() as f64;
                let [foot, hips] = [lower(&legs[k]), hips].map(|height| (height - others) / self.leg_length);
                foot.min(hips).max(foot - LEGS_UP)
            };
            frames.iter().map(above).collect()
        };
        let above: Vec<_> = self.legs.iter().enumerate().map(|(k, (side, _))| (*side, above(k))).collect();
        let mut distinct = distinct_frames(frames.len(), |a, b| repeats(&frames[a], &frames[b]));
        for joint in [1, 2] {
            let lowest = frames
                .iter()
                .map(|(legs, _)| legs.iter().map(|leg| leg[joint].y).fold(f64::INFINITY, f64::min));
            let dips =
                short_dips(&lowest.collect::<Vec<f64>>(), shots, self.leg_length, motion.clip.sample_rate);
            distinct.iter_mut().zip(dips).for_each(|(distinct, dip)| *distinct &= !dip);
        }
        let (floor, held) = self.floor((&frames, &distinct), &above, shots, motion);
        let counted = || frames.iter().zip(&distinct).filter(|(_, distinct)| **distinct);
        let on_floor =
            |height: f64| counted().filter(|((_, low), _)| low - height < ABOVE * self.leg_length).count();
        let lies = floor.is_some_and(|height| 2 * on_floor(height) > counted().count());
        let uneven = match floor {
            Some(_) => None,
            None => self.uneven_ground(&frames, &above, shots, motion),
        };
        Footing { above, floor, uneven, held, lies }
    }

    /// The ground under feet that stand at several heights.
    fn uneven_ground(
        &self,
        frames: &[FootingFrame],
        above: &[(Side, Vec<f64>)],
        shots: &[Range<usize>],
        motion: &Motion,
    ) -> Option<UnevenGround> {
        let shot = shots.iter().max_by_key(|shot| shot.len())?;
        if self.legs.len() < Side::BOTH.len() || (shot.len() as f64) < ONE_SHOT * frames.len() as f64 {
            return None;
        }
        let path = |k: usize| LegPath {
            side: self.legs[k].0,
            leg_index: k,
            frames,
            above: &above[k].1,
            shot,
            rate: motion.clip.sample_rate,
            leg_length: self.leg_length,
        };
        let mut feet =
            bearing((0..self.legs.len()).flat_map(|k| path(k).stands()).collect(), self.leg_length);
        if !can_be_uneven(&feet, self.leg_length) {
            return None;
        }
        let ankles = self.legs.iter().map(|(_, leg)| leg[1]);
        let up = |model: &ModelPose| -> Vec<Vec3> {
            let legs = self.legs.iter().zip(&self.foot_up);
            legs.map(|((_, leg), up)| model.joint(leg[1]).rotation * up).collect()
        };
        let ups = map_frames_towards(motion.character.skeleton(), &motion.clip, ankles, up);
        for foot in &mut feet {
            let k = self.legs.iter().position(|(side, _)| *side == foot.side).unwrap_or(0);
            foot.slope = path(k).slope(foot, |f| ups[f][k]);
        }
        uneven_ground(&feet, self.leg_length, self.toes)
    }

    /// The floor of a take in which no foot stands, and whether a seat or a bar bears the body; `None` if a foot stands. Only
    /// `distinct` frames count.
    fn floor(
        &self,
        (frames, distinct): (&[FootingFrame], &[bool]),
        above: &[(Side, Vec<f64>)],
        shots: &[Range<usize>],
        motion: &Motion,
    ) -> (Option<f64>, bool) {
        let lowest_ankle = |shot: &Range<usize>| {
            let own = shot.clone().filter(|f| distinct[*f]);
            let heights = own.flat_map(|f| frames[f].0.iter().map(|leg| leg[1].y));
            percentile(&heights.collect::<Vec<f64>>(), FLOOR_PERCENTILE)
        };
        let sunk = sunk_shots(shots, lowest_ankle, self.leg_length);
        let counts = |f: &usize| distinct[*f] && !sunk.iter().any(|(shot, _)| shot.contains(f));
        let counted: Vec<usize> = (0..frames.len()).filter(counts).collect();
        let able = |k: usize, f: usize| above[k].1[f] < ABOVE;
        let level = |joint: usize| {
            let of_frame = |f: &usize| {
                let legs = frames[*f].0.iter().enumerate();
                legs.filter(|(k, _)| able(*k, *f)).map(|(_, leg)| leg[joint].y).collect::<Vec<_>>()
            };
            let heights: Vec<f64> = counted.iter().flat_map(of_frame).collect();
            (!heights.is_empty()).then(|| percentile(&heights, FLOOR_PERCENTILE))
        };
        let mut held = false;
        let stands = level(1).zip(level(2)).is_some_and(|levels| {
            let low = |k: usize, f: usize| {
                let leg = &frames[f].0[k];
                able(k, f) && (leg[1].y - levels.0).min(leg[2].y - levels.1) < NEAR_FLOOR * self.leg_length
            };
            if levels.0 - self.ankle < (RAISED * self.leg_length).max(THICK * self.ankle) {
                return true;
            }
            let legs = 0..self.legs.len();
            let folded =
                |f: &usize| frames[*f].0.iter().all(|leg| leg[0].y - leg[1].y < FOLDED * self.leg_length);
            let folded = counted.iter().all(folded);
            let bearing = self.bearing.as_ref().filter(|_| legs.len() == Side::BOTH.len());
            held =
                bearing.is_some_and(|joints| joints.held(motion, &counted, (self.leg_length, folded), low));
            if folded || held {
                return false;
            }
            let many = counted.iter().filter(|f| legs.clone().any(|k| low(k, **f))).count();
            many as f64 >= LOW_SHARE * counted.len() as f64
                || legs.clone().any(|k| self.rests(frames, k, |f| low(k, f), shots, motion.clip.sample_rate))
        });
        let lowest = |(legs, others): &FootingFrame| legs.iter().map(lower).fold(*others, f64::min);
        let bottom =
            percentile(&counted.iter().map(|f| lowest(&frames[*f])).collect::<Vec<_>>(), FLOOR_PERCENTILE);
        ((!stands).then_some(if bottom < -SUNK * self.leg_length { bottom } else { 0.0 }), held)
    }

    /// Whether ankle or toes of a leg rest while they are low.
    fn rests(
        &self,
        frames: &[FootingFrame],
        leg_index: usize,
        low: impl Fn(usize) -> bool,
        shots: &[Range<usize>],
        rate: f64,
    ) -> bool {
        let most = RESTING * self.leg_length / rate;
        let still = |joint: usize, f: usize| {
            let [at, next] = [f, f + 1].map(|f| frames[f].0[leg_index][joint]);
            low(f) && low(f + 1) && (next - at).norm() < most
        };
        [1, 2].into_iter().any(|joint| {
            shots.iter().any(|shot| {
                let mut run = 0;
                (shot.start..shot.end.saturating_sub(1)).any(|f| {
                    run = if still(joint, f) { run + 1 } else { 0 };
                    run as f64 >= REST_TIME * rate
                })
            })
        })
    }
}

impl Footing {
    /// Whether the foot of a side can stand on the floor in a frame.
    pub fn can_stand(&self, side: Side, frame: usize) -> bool {
        self.floor.is_none() && self.above(side, frame).is_none_or(|above| above < ABOVE)
    }

    /// By which share of a height a foot is raised where the body is: 0 of a foot that can stand, 1 of one that is far above hands,
    /// head or pelvis.
    pub fn raised_with_body(&self, side: Side, frame: usize) -> f64 {
        self.above(side, frame).map_or(0.0, |above| smoothstep((above - ABOVE) / (CARRIED - ABOVE)))
    }

    /// Height of the floor under a take in which no foot stands; `None` if one does.
    pub fn floor(&self) -> Option<f64> {
        self.floor
    }

    /// Whether no foot can stand in a frame.
    pub fn in_air(&self, frame: usize) -> bool {
        !self.above.is_empty() && Side::BOTH.into_iter().all(|side| !self.can_stand(side, frame))
    }

    /// How far the foot of a side is above what bears the body instead, leg lengths.
    fn above(&self, side: Side, frame: usize) -> Option<f64> {
        let (_, above) = self.above.iter().find(|(own, _)| *own == side)?;
        above.get(frame).copied()
    }
}

/// Whether the joints of two frames are the same.
fn repeats((a, low): &FootingFrame, (b, other): &FootingFrame) -> bool {
    let mut apart = a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).norm());
    (low == other || (low - other).abs() < REPEATED) && apart.all(|apart| apart < REPEATED)
}

/// The height of the lower one of ankle and toes.
fn lower([_, ankle, toes]: &[Vec3; 3]) -> f64 {
    ankle.y.min(toes.y)
}
