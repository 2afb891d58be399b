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
use crate::model::{ModelPose, Motion, Side};
use std::sync::Arc;

/// Most rounds of raising hands: a straight elbow allows little per round, and clips with hands in the floor are few.
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
    let leg = mean_length(pairs);
    let character = Arc::clone(&motion.character);
    let body = CharacterBody::new(&character);
    let arms = Side::BOTH.map(|side| LimbChain::arm(&body, side));
    let reach = time.reach(settings.body_raise_time);
    for _ in 0..ROUNDS {
        let joints = skin.hands.iter().flatten().map(|(joint, _)| *joint);
        let of = |model: &ModelPose| skin.hands_below_floor(model);
        let low = map_frames_towards(character.skeleton(), &motion.clip, joints, of);
        let rise = |k: usize| {
            let sunk = |f: usize| (-low[f][k] - settings.penetration * leg).max(0.0);
            let needed: Vec<f64> = (0..time.unknowns()).map(sunk).collect();
            let rise = envelope(&needed, &time.cut, time.cycle, reach);
            (0..time.frames).map(|f| rise[time.unknown(f)]).collect::<Vec<f64>>()
        };
        let rises: Vec<(&LimbChain, Vec<f64>)> =
            arms.iter().enumerate().filter_map(|(k, arm)| Some((arm.as_ref()?, rise(k)))).collect();
        if rises.iter().flat_map(|(_, rise)| rise).all(|rise| *rise < LEAST_RAISE * leg) {
            break;
        }
        motion = raise_limbs(motion, &rises, settings);
    }
    motion
}
