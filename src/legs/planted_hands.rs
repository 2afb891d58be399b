//! Plants hands on the floor where those of the take rest on it, as in a crawl.
//!
//! The body travels by the ratio of the legs, so arms of other proportions would drag their hands over the floor. The equations are
//! those of feet, with a body that is already placed: near the floor a hand may deviate from the take's, scaled, in proportion to its
//! own speed, so that a hand at rest keeps its place, and between two stances the offset changes smoothly. Only arms move, and hands
//! keep their rotations. Space: model space, Y up. Units: metres, seconds.

use super::equations::{Equations, LegTerms, SolePoint, stiffness};
use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, limb_poses};
use super::settings::Settings;
use super::soft_knee::{MAX_BEND, direction, knee_directions, solve_limbs};
use super::timeline::{PLANTED_SPEED, TOGETHER, Timeline};
use super::write_clip::{SolvedFrames, write};
use crate::anatomy::on_four_legs;
use crate::body::CharacterBody;
use crate::kinematics::map_frames_towards;
use crate::math::{Vec3, smoothstep};
use crate::model::{ContactPart, JointId, ModelPose, Motion, Side};
use crate::parallel;

/// Height of a hand above the lowest joint of the body up to which the floor bears it, leg lengths: wrists of flat hands are 0.07 above
/// the floor, and knees, ankles and toes that bear the body with them 0 to 0.05. At half the wrists of flat hands lose most of their
/// weight; at double hands of a deep squat have it.
const ON_FLOOR: f64 = 0.1;
/// The height over which the weight falls to zero, leg lengths: a stance fades in and out over some frames.
const LEAVES_FLOOR: f64 = 0.1;
/// Time for which a hand rests that stands on the floor, seconds: the stance of a fast crawl is five times as long.
const STANCE_TIME: f64 = 0.1;
/// Displacement of the body that costs 1, leg lengths: so little that the shoulders stay where they are.
const BODY_DISPLACEMENT: f64 = 1e-5;
/// Upper bound of the stiffness of a straight arm: that of front legs, so that a stance keeps its place for 1.5 s or more. With that
/// of hind legs (12) it would for 0.4 s, with 1 straight arms would bend as readily as they swing.
const STIFFNESS: f64 = 3.0;
/// Share of its length from which an arm reaches less far than asked for, and the one that it does not exceed (a bend of 20 degrees),
/// unless it already does. Without them elbows of short arms in a fast crawl change by 20 degrees in a frame of 60 Hz instead of 14.
const REACH: [f64; 2] = [0.93, 0.985];
/// Displacements below this are not applied, metres.
const STILL: f64 = 1e-6;

/// An arm on both bodies.
#[derive(Clone, Debug)]
pub struct ArmPair {
    /// The arm of the source.
    pub source: LimbChain,
    /// The arm of the target.
    pub target: LimbChain,
}

impl ArmPair {
    /// The arms that both bodies have; none of quadrupeds, whose front legs are solved as legs.
    pub fn of(source: &CharacterBody, target: &CharacterBody) -> Vec<ArmPair> {
        if [source, target].iter().any(|body| on_four_legs(body.rig(), body.reference_pose())) {
            return Vec::new();
        }
        let pair = |side: Side| {
            Some(ArmPair { source: LimbChain::arm(source, side)?, target: LimbChain::arm(target, side)? })
        };
        Side::BOTH.into_iter().filter_map(pair).collect()
    }

    /// The point of the palm on source and target, in the spaces of their joints.
    fn palms(&self) -> Option<[(JointId, Vec3); 2]> {
        let palm = |chain: &LimbChain| {
            let sole = chain.soles.iter().find(|(part, ..)| *part == ContactPart::Hand(chain.side))?;
            Some((sole.1, sole.2))
        };
        Some([palm(&self.source)?, palm(&self.target)?])
    }
}

/// The hands of a take that rests them on the floor.
#[derive(Clone, Debug)]
pub struct PlantedHands {
    arms: Vec<PlantedHand>,
}

/// One of them.
#[derive(Clone, Debug)]
struct PlantedHand {
    chain: LimbChain,
    /// The weight of its contact in every frame, 0 to 1.
    weight: Vec<f64>,
    /// Wrist and palm, as far as both bodies have them.
    points: Vec<HandPoint>,
}

/// A point of a hand.
#[derive(Clone, Debug)]
struct HandPoint {
    /// Its joint on the target and its position there; `None` for the wrist.
    palm: Option<(JointId, Vec3)>,
    /// Its positions in the take, scaled.
    at: Vec<Vec3>,
}

impl PlantedHands {
    /// The planted hands of a take whose path over the ground and whose heights are scaled by these factors; `None` where no hand comes
    /// near the floor. `legs` are the source's.
    pub fn of(
        motion: &Motion,
        (arms, legs): (&[ArmPair], &[&LimbChain]),
        [across, up]: [f64; 2],
    ) -> Option<PlantedHands> {
        if arms.is_empty() || legs.is_empty() {
            return None;
        }
        let leg_length = legs.iter().map(|leg| leg.length()).sum::<f64>() / legs.len() as f64;
        let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
        let wrists: Vec<JointId> = arms.iter().map(|arm| arm.source.foot).collect();
        let of_legs: Vec<JointId> = legs.iter().flat_map(|leg| leg.joints()).collect();
        let above_floor = |model: &ModelPose| {
            let height = |joint: &JointId| model.position(*joint).y;
            let lowest = wrists.iter().chain(&of_legs).map(height).fold(f64::INFINITY, f64::min);
            let above = |wrist| (height(wrist) - lowest) / leg_length;
            [0, 1].map(|k| wrists.get(k).map_or(f64::INFINITY, above))
        };
        let joints = wrists.iter().chain(&of_legs).copied();
        let heights = map_frames_towards(skeleton, clip, joints, above_floor);
        let weight_at = |height: f64| 1.0 - smoothstep((height - ON_FLOOR) / LEAVES_FLOOR);
        let near_floor = |k: usize| heights.iter().any(|heights| weight_at(heights[k]) > 0.0);
        let planted = arms.iter().enumerate().filter(|(k, _)| near_floor(*k));
        let scaled = |at: Vec3| Vec3::new(across * at.x, up * at.y, across * at.z);
        let hand = |(k, pair): (usize, &ArmPair)| {
            let wrist = |model: &ModelPose| scaled(model.position(pair.source.foot));
            let at = map_frames_towards(skeleton, clip, [pair.source.foot], wrist);
            let mut points = vec![HandPoint { palm: None, at }];
            if let Some([(joint, own), palm]) = pair.palms() {
                let at = |model: &ModelPose| scaled(model.joint(joint).point(&own));
                let at = map_frames_towards(skeleton, clip, [joint], at);
                points.push(HandPoint { palm: Some(palm), at });
            }
            let own = heights.iter().map(|heights| heights[k]).collect::<Vec<f64>>();
            let weight = own.iter().map(|height| weight_at(*height)).collect();
            let rests = |f: usize| {
                let step = (points[0].at[(f + 1).min(own.len() - 1)] - points[0].at[f]).norm();
                own[f] < ON_FLOOR && step * clip.sample_rate < PLANTED_SPEED * across * leg_length
            };
            let weight = of_stances(weight, rests, (STANCE_TIME * clip.sample_rate).ceil() as usize)?;
            Some(PlantedHand { chain: pair.target.clone(), weight, points })
        };
        let hands: Vec<PlantedHand> = planted.filter_map(hand).collect();
        (!hands.is_empty()).then_some(PlantedHands { arms: hands })
    }

    /// The motion, frame for frame that of the take, with its hands planted; `leg_length` is that of its legs.
    pub fn planted(&self, motion: Motion, time: &Timeline, leg_length: f64, settings: &Settings) -> Motion {
        let settings =
            Settings { root_displacement: BODY_DISPLACEMENT, stiffness_cap: STIFFNESS, ..*settings };
        let chains: Vec<&LimbChain> = self.arms.iter().map(|hand| &hand.chain).collect();
        let mut poses = limb_poses(&motion, &chains);
        let terms = |(hand, poses): (&PlantedHand, &Vec<LimbPose>)| LegTerms {
            direct_offset: vec![Vec3::zeros(); time.frames],
            stiffness: parallel::map_each(poses, TOGETHER, |pose| {
                stiffness(pose.hip_knee_ankle(), settings.stiffness_cap)
            }),
            weight: hand.weight.clone(),
            points: hand.points.iter().map(|p| p.terms(hand, poses, time, leg_length, &settings)).collect(),
        };
        let terms: Vec<LegTerms> = self.arms.iter().zip(&poses).map(terms).collect();
        let solution = Equations::new(time, &terms, leg_length, &settings).solve(None);
        drop(terms);
        let offsets = |f: usize| &solution[f][1..=chains.len()];
        let still = |f: usize| offsets(f).iter().all(|offset| offset.norm() < STILL);
        let ends = |k: usize, f: usize, pose: &LimbPose| {
            let [shoulder, _, wrist] = pose.hip_knee_ankle();
            let goal = || within_reach(pose, wrist + offsets(f)[k], settings.slip_weight);
            (!still(f)).then(|| [shoulder, goal()])
        };
        let elbows = knee_directions(&poses);
        solve_limbs(&chains, &mut poses, &elbows, MAX_BEND, &settings, ends);
        write(motion, &SolvedFrames { legs: &chains, poses: &poses, body: &[], still: &still })
    }
}

/// The weights of the spans of frames near the floor in which the hand rests for `least` frames on end; others become zero, so that a
/// hand that swings past the floor is not moved. `None` without such a span.
fn of_stances(mut weight: Vec<f64>, rests: impl Fn(usize) -> bool, least: usize) -> Option<Vec<f64>> {
    let (mut any, mut start) = (false, 0);
    while start < weight.len() {
        let end = (start..weight.len()).find(|f| weight[*f] == 0.0).unwrap_or(weight.len());
        let mut run = 0;
        let stands = (start..end).any(|f| {
            run = if rests(f) { run + 1 } else { 0 };
            run >= least
        });
        any |= stands;
        if !stands {
            weight[start..end].fill(0.0);
        }
        start = end + 1;
    }
    any.then_some(weight)
}

/// The goal of a wrist, drawn nearer to the shoulder where the arm would be nearly straight and is less so in `pose`: an elbow that
/// comes to straight pops. What is left of the error is one of height more than one over the ground.
fn within_reach(pose: &LimbPose, goal: Vec3, slip_weight: f64) -> Vec3 {
    let [shoulder, elbow, wrist] = pose.hip_knee_ankle();
    let arm = (elbow - shoulder).norm() + (wrist - elbow).norm();
    let own = (wrist - shoulder).norm() / arm;
    let (reach, [onset, most]) = ((goal - shoulder).norm() / arm, REACH.map(|reach| reach.max(own)));
    if reach <= onset || most <= onset {
        return goal;
    }
    let nearer = most - (most - onset) * libm::exp((onset - reach) / (most - onset));
    let away = (goal - shoulder) / (reach * arm);
    shoulder + direction(&away, [reach * arm, nearer * arm], slip_weight) * (nearer * arm)
}

impl HandPoint {
    /// The point in the equations.
    fn terms(
        &self,
        hand: &PlantedHand,
        poses: &[LimbPose],
        time: &Timeline,
        leg_length: f64,
        settings: &Settings,
    ) -> SolePoint {
        let at = |pose: &LimbPose| match &self.palm {
            Some((joint, own)) => pose.sole(&hand.chain, *joint, own),
            None => pose.foot.translation,
        };
        let misfit = poses.iter().zip(&self.at).map(|(pose, goal)| at(pose) - goal).collect();
        let mut speed = time.speeds(|f| self.at[f], settings.speed_window);
        speed.iter_mut().for_each(|v| *v /= leg_length);
        SolePoint { misfit, speed, nearness: vec![0.0; time.frames] }
    }
}
