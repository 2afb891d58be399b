//! Returns feet and hands to where they were, after rotations of other joints have changed.
//!
//! Space: model space, Y up. Units: metres.

use super::limb_chain::LimbChain;
use super::limb_pose::{LimbPose, limb_poses};
use super::settings::Settings;
use super::soft_knee::{MAX_BEND, knee_directions, knee_offset, solve_limbs};
use super::write_clip::{SolvedFrames, write};
use crate::body::CharacterBody;
use crate::math::{Quat, Vec3};
use crate::model::{JointId, Motion, Role, Side};

/// The motion `after` with its ankles and wrists where `before` has them, by IK of legs and arms. A foot or hand keeps the
/// world rotation that it had, changed only as it was itself rotated in its parent. A knee that bends backwards within its range keeps
/// that bend, and its foot may miss its goal along the leg. Limbs with a joint for which `excluded` is true do not change;
/// frames that are equal keep every bit.
pub(crate) fn keep_ends(before: &Motion, after: Motion, excluded: impl Fn(JointId) -> bool) -> Motion {
    let body = CharacterBody::new(&after.character);
    let of_side = |side: Side| [LimbChain::of(&body, side), LimbChain::arm(&body, side)];
    let limbs: Vec<LimbChain> = Side::BOTH.into_iter().flat_map(of_side).flatten().collect();
    let limbs: Vec<&LimbChain> = limbs.iter().filter(|limb| !limb.joints().any(&excluded)).collect();
    let same = |f: usize| before.clip.rotations(f) == after.clip.rotations(f);
    let still: Vec<bool> = (0..after.clip.frames()).map(same).collect();
    if limbs.is_empty() || still.iter().all(|still| *still) {
        return after;
    }
    let old = limb_poses(before, &limbs);
    let mut poses = limb_poses(&after, &limbs);
    let knee_directions = anatomical(knee_directions(&poses), &limbs, &body);
    for ((limb, poses), old) in limbs.iter().zip(&mut poses).zip(&old) {
        for (f, (pose, old)) in poses.iter_mut().zip(old).enumerate().filter(|(f, _)| !still[*f]) {
            let [from, to] = [before, &after].map(|motion| motion.clip.rotations(f)[limb.foot.index()]);
            let own: Quat = old.foot.rotation * from.inverse() * to;
            *pose = pose.with_foot_rotated(&(own * pose.foot.rotation.inverse()));
        }
    }
    let ends = |k: usize, f: usize, pose: &LimbPose| {
        let ([hip, _, ankle], goal) = (pose.hip_knee_ankle(), old[k][f].foot.translation);
        let line = (goal - hip).try_normalize(1e-12)?;
        let backwards = knee_offset(pose).dot(&(pose.upper.rotation * knee_directions[k])) < 0.0;
        let goal = if backwards { hip + line * (ankle - hip).norm() } else { goal };
        (old[k][f] != *pose && !still[f]).then_some([hip, goal])
    };
    solve_limbs(&limbs, &mut poses, &knee_directions, MAX_BEND, &Settings::default(), ends);
    write(after, &SolvedFrames { legs: &limbs, poses: &poses, body: &[], still: &|f| still[f] })
}

/// The directions of knees and elbows, reversed where they are not those of the body: knees bend forwards, elbows backwards. In a
/// clip whose knee bends the wrong way throughout, the mean direction is wrong.
fn anatomical(mut knee_directions: Vec<Vec3>, limbs: &[&LimbChain], body: &CharacterBody) -> Vec<Vec3> {
    let Some(figure) = body.figure() else { return knee_directions };
    let front = figure.front();
    for (knee_direction, limb) in knee_directions.iter_mut().zip(limbs) {
        let is_leg = body.rig().role(limb.foot) == Some(Role::Foot(limb.side));
        let bulge = body.reference_pose().joint(limb.upper).rotation * *knee_direction;
        if bulge.dot(&front) * if is_leg { 1.0 } else { -1.0 } < 0.0 {
            *knee_direction = -*knee_direction;
        }
    }
    knee_directions
}
