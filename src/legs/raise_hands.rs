//! Raises hands out of the floor after retargeting.

use super::envelope::envelope;
use super::leg_pair::{LegPair, mean_length};
use super::limb_chain::LimbChain;
use super::out_of_floor::LEAST_RAISE;
use super::raise_limbs::raise_limbs;
use super::settings::Settings;
use super::timeline::Timeline;
use crate::body::{CharacterBody, SupportPoints};
use crate::kinematics::map_frames_towards;
use crate::math::Vec3;
use crate::model::{JointId, ModelPose, Motion, Side};
use std::sync::Arc;

/// Largest number of rounds. A straight elbow moves little per round; the cost is acceptable since few clips have hands in the floor.
const ROUNDS: usize = 8;

/// The motion with hands raised out of the floor by IK of the arms.
pub fn raise_hands(
    mut motion: Motion,
    skin: &SupportPoints,
    time: &Timeline,
    pairs: &[LegPair],
    settings: &Settings,
) -> Motion {
    if skin.hands.iter().all(Vec::is_empty) {
        return motion;
    }
    let leg_length = mean_length(pairs);
    let character = Arc::clone(&motion.character);
    let body = CharacterBody::new(&character);
    let arms = Side::BOTH.map(|side| LimbChain::arm(&body, side));
    if !may_be_in_floor(&motion, skin, &arms) {
        return motion;
    }
    let reach = time.reach(settings.body_raise_time);
    for _ in 0..ROUNDS {
        let joints = skin.hands.iter().flatten().map(|(joint, _)| *joint);
        let of = |model: &ModelPose| skin.hands_below_floor(model);
        let low = map_frames_towards(character.skeleton(), &motion.clip, joints, of);
        let rise = |k: usize| {
            let sunk = |f: usize| (-low[f][k] - settings.penetration * leg_length).max(0.0);
            let needed: Vec<f64> = (0..time.unknowns()).map(sunk).collect();
            let rise = envelope(&needed, &time.is_cut, time.cycle, reach);
            (0..time.frames).map(|f| rise[time.unknown(f)]).collect::<Vec<f64>>()
        };
        let rises: Vec<(&LimbChain, Vec<f64>)> =
            arms.iter().enumerate().filter_map(|(k, arm)| Some((arm.as_ref()?, rise(k)))).collect();
        if rises.iter().flat_map(|(_, rise)| rise).all(|rise| *rise < LEAST_RAISE * leg_length) {
            break;
        }
        motion = raise_limbs(motion, &rises, settings);
    }
    motion
}

/// Whether a hand may be in the floor in some frame, from the heights of the wrists alone: in most takes no hand comes near it.
fn may_be_in_floor(motion: &Motion, skin: &SupportPoints, arms: &[Option<LimbChain>; 2]) -> bool {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    // Fingers with translations of their own may be anywhere.
    let length = |id: JointId| match clip.translated().binary_search(&id) {
        Ok(_) => f64::INFINITY,
        Err(_) => skeleton.joint(id).rest.translation.norm(),
    };
    let reach = |wrist: JointId, points: &[(JointId, Vec3)]| {
        let to_joint = |joint: JointId| match skeleton.is_ancestor(wrist, joint) {
            true => skeleton.path_to_root(joint).take_while(|id| *id != wrist).map(length).sum(),
            false => f64::INFINITY,
        };
        points.iter().map(|(joint, at)| to_joint(*joint) + at.norm()).fold(0.0, f64::max)
    };
    let hands = arms.iter().zip(&skin.hands).filter_map(|(arm, points)| Some((arm.as_ref()?.foot, points)));
    let wrists: Vec<(JointId, f64)> = hands.map(|(wrist, points)| (wrist, reach(wrist, points))).collect();
    let near = |model: &ModelPose| wrists.iter().any(|(wrist, reach)| model.position(*wrist).y < *reach);
    map_frames_towards(skeleton, clip, wrists.iter().map(|(wrist, _)| *wrist), near).contains(&true)
}
