//! A motion becomes where it is cut and whether it is a cycle: what nobody may filter, pin or average across.
//!
//! A cut is an edge between two frames over which the whole body jumps, compared with itself shortly before and after;
//! a fast take has no cuts, however fast it is. Space: model space. Units: radians, shares of the body's size.

use super::{Block, map_blocks};
use crate::math::{Vec3, median};
use crate::model::{Clip, JointId, ModelPose, Motion};
use std::ops::Range;

/// Over a cut the median joint moves by at least this share of the body's size. At half of it the fastest kicks of
/// captures at 30 Hz come near, at double of it cuts between two takes of the same standing person are missed.
const JUMP: f64 = 0.03;
/// Over a cut joints turn by at least this in the mean, radians; half and double as above.
const TURN: f64 = 6.0 * std::f64::consts::PI / 180.0;
/// And by so many times what they do over the two edges before and after: 2 takes stamps for cuts, 8 misses cuts in a run.
const SUDDEN: f64 = 4.0;
/// Clips of fewer frames have no neighbourhood to compare an edge with.
const SHORTEST: usize = 9;
/// The last frame of a cycle is its first once more within this, radians and shares of the body's size.
const CLOSED: (f64, f64) = (std::f64::consts::PI / 180.0, 0.01);

/// The frames that follow a cut, ascending: between each of them and the one before it lies one.
pub fn cuts(motion: &Motion) -> Vec<usize> {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    if clip.frames() < SHORTEST {
        return Vec::new();
    }
    let turns = mean_turns(motion);
    let places = positions(motion);
    let size = size(&skeleton.rest_model_pose());
    let moved = |f: usize| {
        let [before, after] = [f, f + 1].map(|f| &places[f * clip.joints()..][..clip.joints()]);
        median(before.iter().zip(after).map(|(a, b)| f64::from(distance(a, b))).collect()) / size
    };
    let moves: Vec<f64> = (0..clip.frames() - 1).map(moved).collect();
    let sudden = |steps: &[f64], least: f64, f: usize| {
        let around = [f.checked_sub(2), f.checked_sub(1), Some(f + 1), Some(f + 2)];
        let before =
            around.into_iter().flatten().filter_map(|g| steps.get(g)).fold(1e-9_f64, |m, x| m.max(*x));
        steps[f] > least && steps[f] > SUDDEN * before
    };
    let cut = |f: &usize| sudden(&moves, JUMP, *f) || sudden(&turns, TURN, *f);
    (0..clip.frames() - 1).filter(cut).map(|f| f + 1).collect()
}

/// The stretches of frames between cuts, ascending; none of a clip without frames.
pub fn shots(motion: &Motion) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = cuts(motion).into_iter().chain([motion.clip.frames()]);
    ends.map(|end| std::mem::replace(&mut start, end)..end).filter(|shot| !shot.is_empty()).collect()
}

/// Whether the last frame is the first once more: every joint turned alike, the root at the same height.
pub fn is_cycle(motion: &Motion) -> bool {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    let Some(last) = clip.frames().checked_sub(1).filter(|last| *last > 2) else { return false };
    let pair = [0, last].map(|f| motion.model_pose(f));
    let turned =
        |(a, b): (&crate::math::Transform, &crate::math::Transform)| a.rotation.angle_to(&b.rotation);
    let most = pair[0].joints().iter().zip(pair[1].joints()).map(turned).fold(0.0, f64::max);
    let root = pair.each_ref().map(|pose| median(pose.joints().iter().map(|t| t.translation.y).collect()));
    most < CLOSED.0 && (root[0] - root[1]).abs() < CLOSED.1 * size(&skeleton.rest_model_pose())
}

/// The joints that turn at all over a clip that has frames, as places in joint order.
pub fn turning(clip: &Clip) -> Vec<usize> {
    let first = clip.rotations(0);
    let turns = |j: &usize| (1..clip.frames()).any(|f| clip.rotations(f)[*j] != first[*j]);
    (0..clip.joints()).filter(turns).collect()
}

/// The mean turn, over every edge, of the joints that turn at all: fingers that stand still say nothing.
fn mean_turns(motion: &Motion) -> Vec<f64> {
    let clip = &motion.clip;
    let alive = turning(clip);
    let of = |f: usize| {
        let (from, to) = (clip.rotations(f), clip.rotations(f + 1));
        // By the chord of the half angle, which is the arc to a hundredth up to 60 degrees and less beyond.
        let turn = |j: &usize| 2.0 * (2.0 - 2.0 * from[*j].coords.dot(&to[*j].coords).abs().min(1.0)).sqrt();
        alive.iter().map(turn).sum::<f64>() / alive.len().max(1) as f64
    };
    (0..clip.frames() - 1).map(of).collect()
}

/// Where every joint is in every frame, frame-major, to seven digits: a jump is told from a step by the first of them.
fn positions(motion: &Motion) -> Vec<[f32; 3]> {
    let ids: Vec<JointId> = motion.character.skeleton().ids().collect();
    let of = |block: &Block| -> Vec<[f32; 3]> {
        let frame =
            |lane: usize| ids.iter().map(move |&id| block.position(lane, id).map(|x| x as f32).into());
        (0..block.frames()).flat_map(frame).collect()
    };
    map_blocks(motion.character.skeleton(), &motion.clip, of).concat()
}

fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (b - a) * (b - a)).sum::<f32>().sqrt()
}

/// How far the joints of a pose lie apart: half the diagonal of the box around them, about the leg of a person.
pub fn size(rest: &ModelPose) -> f64 {
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for joint in rest.joints() {
        (low, high) = (low.inf(&joint.translation), high.sup(&joint.translation));
    }
    (0.5 * (high - low).norm()).max(1e-9)
}
