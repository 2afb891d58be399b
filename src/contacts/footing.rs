//! Finds when the feet of a take can stand on the floor, and whether they ever do.
//!
//! If hands or head are well below both the pelvis and a foot, as in a handstand, they carry the body and that foot is in the air,
//! even if it is low compared with the rest of the take. The floor of a take is at
//! height 0, as for captures, where its feet stay well above that height and either never rest, as in a flight or a swing from a
//! bar, or belong to a body that never stands up, as on a chair, or that a seat or a bar bears ([`BearingJoints`]).
//! Space: model space, Y up. Units: metres, seconds; lengths and speeds in leg lengths.

use super::ground_slopes::{can_be_uneven, uneven_ground};
use super::seat_or_bar::BearingJoints;
use super::short_dips::dips_of_feet;
use super::standing_foot::{LegPath, without_held_up};
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
pub(super) const LEAST_HEIGHT_IN_AIR: f64 = 0.15;
/// Above this height a foot rises together with a body that is raised out of the floor; between [`LEAST_HEIGHT_IN_AIR`] and this,
/// by a share. Within a narrower range feet would jump.
const FULLY_WITH_BODY: f64 = 0.45;
/// A foot above a pelvis that lies on the floor counts as this much lower: a body on its back with its legs straight up.
const LEGS_UP_TOLERANCE: f64 = 0.35;
/// The percentile of heights that counts as the floor: lower ones are noise.
pub const FLOOR_PERCENTILE: f64 = 0.03;
/// Distance up to which the joints of a frame repeat those of another, metres: 0.1 mm/s at 120 Hz, and the rounding of 32 bits within
/// 8 m of the origin.
pub const REPEAT_TOLERANCE: f64 = 1e-6;
/// Height above the floor below which a point of a foot may touch it, leg lengths.
pub const NEAR_FLOOR: f64 = 0.03;
/// Speed below which a low foot rests, leg lengths per second: a foot that kicks, or passes the lowest point of a swing, is
/// slower for a twentieth of a second at most (2 Hz, 0.2 leg lengths).
pub(super) const FOOT_REST_SPEED: f64 = 0.3;
/// Time for which a foot rests that stands, seconds: the stance of a sprint is 0.1.
const REST_TIME: f64 = 0.06;
/// Share of frames with a low foot from which a floor carries it although it never rests, as on a skateboard: 0.11 to 0.19 in flights
/// and in swings by 43 degrees.
const LOW_SHARE: f64 = 0.4;
/// Shortest take of which that share tells anything, seconds. In half of it a body falls by 5 cm from the top of a flight; in less, its
/// feet are within [`NEAR_FLOOR`] of their lowest in more than that share of the frames.
const SHARE_TIME: f64 = 0.2;
/// Height of the hip joints above the ankles below which a body sits or lies: less than a deep crouch from which it walks.
pub(super) const LEAST_UPRIGHT_HEIGHT: f64 = 0.75;
/// Height of the soles above height 0 from which feet may be in the air throughout. The ankles of eleven captures that stand are
/// 0.03 to 0.17 above it; runs on the spot, whose feet never rest and are low in 0.21 to 0.32 of the frames, stand on height 0 as well.
const LEAST_SOLE_HEIGHT: f64 = 0.15;
/// The same limit in multiples of the ankle's height above the sole: the joints of a thick body that lies on the floor are about
/// that far above it. The ankles of a short one (0.32 leg lengths above its soles) that lies on its back are 1.7 higher than standing.
const LEAST_SOLE_HEIGHT_PER_ANKLE: f64 = 2.0;
/// If a body is deeper than this below height 0, its lowest joints are the floor: files that have the pelvis at height 0.
const LEAST_SUNK_DEPTH: f64 = 0.2;
/// The share of a take between two cuts that tells its ground.
const LEAST_SHOT_SHARE: f64 = 0.9;

/// The joints of a body that tell where it stands.
#[derive(Clone, Debug)]
pub(crate) struct FootingJoints {
    /// Hip, ankle and toes (the ankle, if there are none) of the legs; no legs of a quadruped.
    legs: Vec<(Side, [JointId; 3])>,
    /// Pelvis, head, elbows and hands.
    arms_head_pelvis: Vec<JointId>,
    bearing: Option<BearingJoints>,
    leg_length: f64,
    /// Heights of an ankle and of a toe joint above their sole.
    ankle_above_sole: f64,
    toes_above_sole: f64,
    /// The up direction in the space of each foot.
    foot_up: Vec<Vec3>,
}

/// When feet can stand, and the floor of a take in which they never do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Footing {
    /// Height of each foot above the lowest of hands, head and pelvis, leg lengths, by frame: see [`LEAST_HEIGHT_IN_AIR`].
    above_support: Vec<(Side, Vec<f64>)>,
    floor: Option<f64>,
    /// The ground under feet that stand at several heights; `None` for level ground.
    pub uneven: Option<UnevenGround>,
    /// Whether a seat or a bar bears the body above the floor, so that its feet say nothing about it.
    pub borne_by_seat_or_bar: bool,
    /// Whether no foot of the take stands, and hands, head or pelvis are on that floor for most of it.
    pub lies_on_floor: bool,
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
        let arms_head_pelvis =
            [Role::Hips, Role::Head].into_iter().chain(arms).filter_map(|role| rig.joint(role));
        // Thigh plus shin, also of a body that sits in its reference pose.
        let leg_bones_length = |side: Side| {
            let joints = [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)].map(|r| rig.joint(r));
            let positions =
                [joints[0]?, joints[1]?, joints[2]?].map(|joint_of_leg| pose.position(joint_of_leg));
            Some((positions[1] - positions[0]).norm() + (positions[2] - positions[1]).norm())
        };
        let leg_lengths: Vec<f64> = legs.iter().filter_map(|(side, _)| leg_bones_length(*side)).collect();
        let leg_length = leg_lengths.iter().sum::<f64>() / leg_lengths.len().max(1) as f64;
        let (up, sole) = body.figure().map_or((Vec3::y(), 0.0), |figure| (figure.up, figure.sole));
        let height_above_sole = |joint_of_leg: usize| {
            let heights =
                legs.iter().map(|(_, leg)| (pose.position(leg[joint_of_leg]).dot(&up) - sole).max(0.0));
            heights.sum::<f64>() / legs.len().max(1) as f64
        };
        let foot_up = legs.iter().map(|(_, [_, foot, _])| pose.joint(*foot).rotation.inverse() * up);
        FootingJoints {
            arms_head_pelvis: arms_head_pelvis.collect(),
            bearing: BearingJoints::of(rig, pose, &up),
            leg_length,
            ankle_above_sole: height_above_sole(1),
            toes_above_sole: height_above_sole(2),
            foot_up: foot_up.collect(),
            legs,
        }
    }

    /// When the feet of a motion can stand; `shots` are the spans of frames between cuts.
    pub fn footing(&self, motion: &Motion, shots: &[Range<usize>]) -> Footing {
        if self.legs.is_empty() || self.leg_length < 1e-6 || motion.clip.frames() == 0 {
            return Footing::default();
        }
        let joints = self.legs.iter().flat_map(|(_, leg)| *leg).chain(self.arms_head_pelvis.iter().copied());
        let read_frame = |model: &ModelPose| -> FootingFrame {
            let legs = self.legs.iter().map(|(_, leg)| leg.map(|joint| model.position(joint)));
            let lowest = self.arms_head_pelvis.iter().map(|joint| model.position(*joint).y);
            (legs.collect(), lowest.fold(f64::INFINITY, f64::min))
        };
        let frames = map_frames_towards(motion.character.skeleton(), &motion.clip, joints, read_frame);
        let heights_of_leg = |leg_index: usize| -> Vec<f64> {
            let height = |(legs, lowest_other): &FootingFrame| {
                let hips = legs.iter().map(|leg| leg[0].y).sum::<f64>() / legs.len() as f64;
                let foot = lower_of_ankle_and_toes(&legs[leg_index]);
                let [foot, hips] = [foot, hips].map(|height| (height - lowest_other) / self.leg_length);
                foot.min(hips).max(foot - LEGS_UP_TOLERANCE)
            };
            frames.iter().map(height).collect()
        };
        let legs = self.legs.iter().enumerate();
        let above_support: Vec<_> = legs.map(|(index, (side, _))| (*side, heights_of_leg(index))).collect();
        let mut distinct = distinct_frames(frames.len(), |a, b| repeats(&frames[a], &frames[b]));
        for dip_frames in self.dips(&frames, shots, motion.clip.sample_rate) {
            distinct.iter_mut().zip(dip_frames).for_each(|(distinct, dip)| *distinct &= !dip);
        }
        let (floor, borne_by_seat_or_bar) = self.floor((&frames, &distinct), &above_support, shots, motion);
        let counted_frames = || frames.iter().zip(&distinct).filter(|(_, distinct)| **distinct);
        let in_air = LEAST_HEIGHT_IN_AIR * self.leg_length;
        let on_floor = |height: f64| {
            counted_frames().filter(|((_, lowest_other), _)| lowest_other - height < in_air).count()
        };
        let lies_on_floor = floor.is_some_and(|height| 2 * on_floor(height) > counted_frames().count());
        let uneven = match floor {
            Some(_) => None,
            None => self.uneven_ground(&frames, &above_support, shots, motion),
        };
        Footing { above_support, floor, uneven, borne_by_seat_or_bar, lies_on_floor }
    }

    /// In which frames the lowest ankle, and in which the lowest toes, are in the floor ([`dips_of_feet`]).
    fn dips(&self, frames: &[FootingFrame], shots: &[Range<usize>], rate: f64) -> [Vec<bool>; 2] {
        let heights = |leg_index: usize, joint: usize| -> Vec<f64> {
            frames.iter().map(|(legs, _)| legs[leg_index][joint].y).collect()
        };
        let feet: Vec<[Vec<f64>; 2]> =
            (0..self.legs.len()).map(|leg_index| [1, 2].map(|joint| heights(leg_index, joint))).collect();
        dips_of_feet(&feet, shots, self.leg_length, rate)
    }

    /// The ground under feet that stand at several heights.
    fn uneven_ground(
        &self,
        frames: &[FootingFrame],
        above_support: &[(Side, Vec<f64>)],
        shots: &[Range<usize>],
        motion: &Motion,
    ) -> Option<UnevenGround> {
        let shot = shots.iter().max_by_key(|shot| shot.len())?;
        if self.legs.len() < Side::BOTH.len() || (shot.len() as f64) < LEAST_SHOT_SHARE * frames.len() as f64
        {
            return None;
        }
        let path_of_leg = |leg_index: usize| LegPath {
            side: self.legs[leg_index].0,
            leg_index,
            frames,
            above_support: &above_support[leg_index].1,
            shot,
            sample_rate: motion.clip.sample_rate,
            leg_length: self.leg_length,
        };
        let stances = (0..self.legs.len()).flat_map(|leg_index| path_of_leg(leg_index).stands());
        let mut stances = without_held_up(stances.collect(), self.leg_length);
        if !can_be_uneven(&stances, self.leg_length) {
            return None;
        }
        let ankles = self.legs.iter().map(|(_, leg)| leg[1]);
        let foot_up_directions = |model: &ModelPose| -> Vec<Vec3> {
            let legs = self.legs.iter().zip(&self.foot_up);
            legs.map(|((_, leg), foot_up)| model.joint(leg[1]).rotation * foot_up).collect()
        };
        let foot_ups =
            map_frames_towards(motion.character.skeleton(), &motion.clip, ankles, foot_up_directions);
        for stance in &mut stances {
            let leg_index = self.legs.iter().position(|(side, _)| *side == stance.side).unwrap_or(0);
            stance.slope = path_of_leg(leg_index).slope(stance, |f| foot_ups[f][leg_index]);
        }
        uneven_ground(&stances, self.leg_length, self.toes_above_sole)
    }

    /// The floor of a take in which no foot stands, and whether a seat or a bar bears the body; `None` if a foot stands. Only
    /// `distinct` frames count.
    fn floor(
        &self,
        (frames, distinct): (&[FootingFrame], &[bool]),
        above_support: &[(Side, Vec<f64>)],
        shots: &[Range<usize>],
        motion: &Motion,
    ) -> (Option<f64>, bool) {
        let lowest_ankle = |shot: &Range<usize>| {
            let frames_of_shot = shot.clone().filter(|f| distinct[*f]);
            let heights = frames_of_shot.flat_map(|f| frames[f].0.iter().map(|leg| leg[1].y));
            percentile(&heights.collect::<Vec<f64>>(), FLOOR_PERCENTILE)
        };
        let sunk_parts = sunk_shots(shots, lowest_ankle, self.leg_length);
        let is_counted = |f: &usize| distinct[*f] && !sunk_parts.iter().any(|(shot, _)| shot.contains(f));
        let counted: Vec<usize> = (0..frames.len()).filter(is_counted).collect();
        let can_stand = |leg_index: usize, f: usize| above_support[leg_index].1[f] < LEAST_HEIGHT_IN_AIR;
        let lowest_level = |joint: usize| {
            let of_frame = |f: &usize| {
                let legs = frames[*f].0.iter().enumerate();
                legs.filter(|(index, _)| can_stand(*index, *f))
                    .map(|(_, leg)| leg[joint].y)
                    .collect::<Vec<_>>()
            };
            let heights: Vec<f64> = counted.iter().flat_map(of_frame).collect();
            (!heights.is_empty()).then(|| percentile(&heights, FLOOR_PERCENTILE))
        };
        let mut borne_by_seat_or_bar = false;
        let stands = lowest_level(1).zip(lowest_level(2)).is_some_and(|(ankle_level, toe_level)| {
            let is_near_floor = |leg_index: usize, f: usize| {
                let [_, ankle, toes] = &frames[f].0[leg_index];
                let height = (ankle.y - ankle_level).min(toes.y - toe_level);
                can_stand(leg_index, f) && height < NEAR_FLOOR * self.leg_length
            };
            let least_for_ankle = LEAST_SOLE_HEIGHT_PER_ANKLE * self.ankle_above_sole;
            let least_height = (LEAST_SOLE_HEIGHT * self.leg_length).max(least_for_ankle);
            if ankle_level - self.ankle_above_sole < least_height {
                return true;
            }
            let leg_indices = 0..self.legs.len();
            let upright = LEAST_UPRIGHT_HEIGHT * self.leg_length;
            let is_folded = |f: &usize| frames[*f].0.iter().all(|leg| leg[0].y - leg[1].y < upright);
            let always_folded = counted.iter().all(is_folded);
            let bearing = self.bearing.as_ref().filter(|_| leg_indices.len() == Side::BOTH.len());
            borne_by_seat_or_bar = bearing.is_some_and(|joints| {
                joints.bear_body(motion, &counted, (self.leg_length, always_folded), is_near_floor)
            });
            if always_folded || borne_by_seat_or_bar {
                return false;
            }
            let near_floor = |f: &&usize| leg_indices.clone().any(|k| is_near_floor(k, **f));
            let near_floor_frames = counted.iter().filter(near_floor).count();
            let rests =
                |k: usize| self.rests(frames, k, |f| is_near_floor(k, f), shots, motion.clip.sample_rate);
            let is_low = near_floor_frames as f64 >= LOW_SHARE * counted.len() as f64;
            let is_long = counted.len() as f64 >= SHARE_TIME * motion.clip.sample_rate;
            is_low && is_long || leg_indices.clone().any(rests)
        });
        let lowest_joint = |f: &usize| {
            let (legs, lowest_other) = &frames[*f];
            legs.iter().map(lower_of_ankle_and_toes).fold(*lowest_other, f64::min)
        };
        let body_floor = percentile(&counted.iter().map(lowest_joint).collect::<Vec<_>>(), FLOOR_PERCENTILE);
        let floor = if body_floor < -LEAST_SUNK_DEPTH * self.leg_length { body_floor } else { 0.0 };
        ((!stands).then_some(floor), borne_by_seat_or_bar)
    }

    /// Whether ankle or toes of a leg rest while they are low.
    fn rests(
        &self,
        frames: &[FootingFrame],
        leg_index: usize,
        is_near_floor: impl Fn(usize) -> bool,
        shots: &[Range<usize>],
        rate: f64,
    ) -> bool {
        let largest_step = FOOT_REST_SPEED * self.leg_length / rate;
        let rests_to_next_frame = |joint: usize, f: usize| {
            let [at, next] = [f, f + 1].map(|f| frames[f].0[leg_index][joint]);
            is_near_floor(f) && is_near_floor(f + 1) && (next - at).norm() < largest_step
        };
        [1, 2].into_iter().any(|joint| {
            shots.iter().any(|shot| {
                let mut resting_run = 0;
                (shot.start..shot.end.saturating_sub(1)).any(|f| {
                    resting_run = if rests_to_next_frame(joint, f) { resting_run + 1 } else { 0 };
                    resting_run as f64 >= REST_TIME * rate
                })
            })
        })
    }
}

impl Footing {
    /// Whether the foot of a side can stand on the floor in a frame.
    pub fn can_stand(&self, side: Side, frame: usize) -> bool {
        self.floor.is_none() && self.above(side, frame).is_none_or(|above| above < LEAST_HEIGHT_IN_AIR)
    }

    /// By which share of a height a foot is raised where the body is: 0 of a foot that can stand, 1 of one that is far above hands,
    /// head or pelvis.
    pub fn raised_with_body(&self, side: Side, frame: usize) -> f64 {
        let range = FULLY_WITH_BODY - LEAST_HEIGHT_IN_AIR;
        self.above(side, frame).map_or(0.0, |above| smoothstep((above - LEAST_HEIGHT_IN_AIR) / range))
    }

    /// Height of the floor under a take in which no foot stands; `None` if one does.
    pub fn floor(&self) -> Option<f64> {
        self.floor
    }

    /// Whether no foot can stand in a frame.
    pub fn in_air(&self, frame: usize) -> bool {
        !self.above_support.is_empty() && Side::BOTH.into_iter().all(|side| !self.can_stand(side, frame))
    }

    /// Height of the foot of a side above the lowest of hands, head and pelvis, leg lengths.
    fn above(&self, side: Side, frame: usize) -> Option<f64> {
        let (_, above) = self.above_support.iter().find(|(of, _)| *of == side)?;
        above.get(frame).copied()
    }
}

/// Whether the joints of two frames are the same.
fn repeats((first, first_lowest): &FootingFrame, (second, second_lowest): &FootingFrame) -> bool {
    let mut distances = first.iter().flatten().zip(second.iter().flatten()).map(|(a, b)| (a - b).norm());
    (first_lowest == second_lowest || (first_lowest - second_lowest).abs() < REPEAT_TOLERANCE)
        && distances.all(|distance| distance < REPEAT_TOLERANCE)
}

/// The height of the lower one of ankle and toes.
fn lower_of_ankle_and_toes([_, ankle, toes]: &[Vec3; 3]) -> f64 {
    ankle.y.min(toes.y)
}
