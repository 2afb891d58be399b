//! The share of every part in the mass of the body: as in people (Winter's table), or by the volume inside the skin.
//!
//! The two are witnesses of each other. The table holds for bodies that are built like people; where a closed skin says
//! otherwise by a lot, the character is built otherwise, or wears much, and that is reported.

use super::part_kind::PartJoint;
use crate::body::{segment_of, skin_volume};
use crate::model::{Character, MassShares, Role};

/// Share of the body's mass of a joint without a role between two that have one: its length is counted by the part above.
const LINK: f64 = 0.004;

/// The least share of a part by its skin over that by the table: toes and links that move no skin are no more than light.
const LEAST: f64 = 0.1;

/// A skin with less volume than this, m^3 of the performing body, is no body but bones that are drawn: people have 0.07.
const THIN: f64 = 0.02;

/// Shares of a segment that differ by less than this share of the body do not contradict each other: where a thigh begins depends on
/// how a skin is painted, up to 0.14 on characters that are built like people; large heads make 0.2 to 0.6.
const SIMILAR: f64 = 0.15;

/// The shares of the parts, which sum to 1, as `character` asks for them; `scale` metres of the performing body are one of it.
pub fn mass_shares(character: &Character, parts: &[PartJoint], scale: f64) -> Vec<f64> {
    let table = of_table(parts);
    match character.mass.shares {
        MassShares::Table => table,
        MassShares::Skin => of_skin(character, parts, scale, &table).unwrap_or(table),
    }
}

/// Shares as in people; those of missing parts go to the others.
fn of_table(parts: &[PartJoint]) -> Vec<f64> {
    let is_spine = |part: &&PartJoint| matches!(part.role, Some(Role::Spine(_)));
    let spine: f64 = parts.iter().filter(is_spine).map(|part| part.bone.norm()).sum();
    let necks = parts.iter().filter(|part| matches!(part.role, Some(Role::Neck(_)))).count() as f64;
    let share = |part: &PartJoint| {
        let whole = part.role.and_then(segment_of).map_or(LINK, |segment| segment.mass);
        match part.role {
            Some(Role::Spine(_)) => whole * part.bone.norm() / spine,
            Some(Role::Neck(_)) => whole / necks,
            _ => whole,
        }
    };
    normalised(parts.iter().map(share).collect())
}

/// Shares of the volume inside the skin; `None` without a closed skin that is that of a body.
fn of_skin(character: &Character, parts: &[PartJoint], scale: f64, table: &[f64]) -> Option<Vec<f64>> {
    let skeleton = character.skeleton();
    let by_joint = skin_volume(character, &character.reference_pose())?;
    if by_joint.iter().sum::<f64>() * scale * scale * scale < THIN {
        return None;
    }
    let mut volumes = vec![0.0; parts.len()];
    for id in skeleton.ids() {
        let part = |up| parts.iter().position(|part| part.joint == up);
        // What hangs on no part (a root above the hips) moves with the hips, the first part.
        volumes[skeleton.path_to_root(id).find_map(part).unwrap_or(0)] += by_joint[id.index()];
    }
    let shares = normalised(volumes).into_iter().zip(table).map(|(share, least)| share.max(LEAST * least));
    Some(normalised(shares.collect()))
}

fn normalised(mut shares: Vec<f64>) -> Vec<f64> {
    let all: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= all);
    shares
}

/// The segments that are compared: what is between them depends on how a skin is painted.
const SEGMENTS: [&str; 4] = ["head and neck", "trunk", "arms", "legs"];

fn segment(kind: Role) -> usize {
    match kind {
        Role::Head | Role::Neck(_) => 0,
        Role::Hips | Role::Spine(_) | Role::Clavicle(_) | Role::Tail(_) => 1,
        Role::UpperArm(_) | Role::LowerArm(_) | Role::Hand(_) | Role::Finger(..) => 2,
        Role::UpperLeg(_) | Role::LowerLeg(_) | Role::Foot(_) | Role::Toes(_) => 3,
    }
}

/// The segments, with their shares of the table and of the skin, in which the two contradict each other by a lot; `None` without a
/// closed skin.
pub fn contradictions(
    character: &Character,
    parts: &[PartJoint],
    scale: f64,
) -> Option<Vec<(&'static str, [f64; 2])>> {
    let table = of_table(parts);
    let skin = of_skin(character, parts, scale, &table)?;
    let sums = |shares: &[f64]| {
        let mut sums = [0.0; SEGMENTS.len()];
        parts.iter().zip(shares).for_each(|(part, share)| sums[segment(part.kind)] += share);
        sums
    };
    let (table, skin) = (sums(&table), sums(&skin));
    let apart = (0..SEGMENTS.len()).filter(|&k| (table[k] - skin[k]).abs() > SIMILAR);
    Some(apart.map(|k| (SEGMENTS[k], [table[k], skin[k]])).collect())
}
