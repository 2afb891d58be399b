//! Finds cuts and cycles; filters, pins and averages must not cross a cut.
//!
//! A cut is an edge (a pair of consecutive frames) over which the whole body jumps, compared with the edges shortly before
//! and after: fast motion alone is not a cut. Space: model space. Units: radians, fractions of the body's size.

use super::{Block, Forward};
use crate::math::{
    DEGREE, LANES, Quat, Real, RealX4, Transform, Vec3, in_wide_registers, median, swing_twist,
};
use crate::model::{Clip, JointId, ModelPose, Motion, Role};
use crate::parallel;
use std::ops::Range;

/// Over a cut the median joint moves by at least this fraction of the body's size. The fastest kicks of captures at 30 Hz
/// come near half of it; with twice the value, cuts between two takes of the same standing person are missed.
const JUMP: f64 = 0.03;
/// Over a cut the mean rotation of the joints is at least this, radians; half and twice the value as for [`JUMP`].
const ROTATION: f64 = 6.0 * DEGREE;
/// Over a cut both are at least this multiple of the largest value over the two edges before and the two after: with 2,
/// stamping feet count as cuts, with 8, cuts within a run are missed.
const SUDDEN: f64 = 4.0;
/// Over a cut at least half of the joints rotate, each by more than this, radians, ...
const OWN_ROTATION: f64 = DEGREE;
/// ... and by more than this multiple of its own largest rotation over the edges around: of 227 joined takes all but one are
/// found that the mean alone finds, and flips of one to three joints are none. With twice the value ten more are missed.
const OWN_SUDDEN: f64 = 2.0;
/// The fewest frames of a clip with cuts: shorter clips have too few edges to compare with.
const SHORTEST: usize = 9;
/// The last frame of a cycle repeats the first within this: radians of any joint, and fraction of the body's size of the
/// height.
const CLOSED: (f64, f64) = (DEGREE, 0.01);

/// Edges per unit of work: their joint paths fit the cache of a core.
const CHUNK: usize = 256;

/// The frames that follow a cut, ascending: the cut is between such a frame and the one before it.
pub fn cuts(motion: &Motion) -> Vec<usize> {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    if clip.frames() < SHORTEST {
        return Vec::new();
    }
    let edges = clip.frames() - 1;
    let size = size(&skeleton.rest_model_pose());
    let forward = Forward::new(skeleton, clip);
    let start = || (forward.workspace(), JointPaths::default());
    let sudden = |step: &dyn Fn(usize) -> f64, least: f64, edge: usize| {
        let own = step(edge);
        own > least && own > SUDDEN * around(edge, edges).map(step).fold(1e-9_f64, f64::max)
    };
    // The edges with a jump (true), and those whose rotation may exceed the limit (false).
    let of_chunk = |(block, paths): &mut (Block, JointPaths), chunk: usize| -> Vec<(usize, bool)> {
        let (first, end) = (chunk * CHUNK, edges.min((chunk + 1) * CHUNK));
        paths.read(&forward, block, first.saturating_sub(2), (end + 2).min(edges));
        let moved = |edge: usize| paths.median_step(edge) / size;
        // Almost no edge comes near a limit, and a test without roots and medians rejects those that do not.
        let far = paths.far((JUMP * size * NEARLY) as f32);
        let few = least_rotating(clip, first);
        let candidate = |edge: usize| {
            let many = 2 * far[edge - paths.first] as usize + 1 >= clip.joints();
            let jumps = many && sudden(&moved, JUMP, edge);
            (jumps || may_rotate(clip, few, edge)).then_some((edge, jumps))
        };
        (first..end).filter_map(candidate).collect()
    };
    let mut cuts = parallel::map_with(edges.div_ceil(CHUNK), 1, start, of_chunk).concat();
    if cuts.iter().any(|(_, jumps)| !jumps) {
        let rotating = turning(clip);
        cuts.retain(|(edge, jumps)| {
            *jumps
                || sudden(&|edge| mean_rotation(clip, &rotating, edge), ROTATION, *edge)
                    && most_rotate(clip, &rotating, *edge)
        });
    }
    cuts.into_iter().map(|(edge, _)| edge + 1).collect()
}

/// The ranges of frames between cuts, ascending; none for a clip without frames.
pub fn shots(motion: &Motion) -> Vec<Range<usize>> {
    shots_between(cuts(motion), motion.clip.frames())
}

/// The spans of `frames` frames between cuts, each given by the first frame after it, ascending; none is empty.
pub fn shots_between(cuts: impl IntoIterator<Item = usize>, frames: usize) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = cuts.into_iter().chain([frames]);
    ends.map(|end| std::mem::replace(&mut start, end)..end).filter(|shot| !shot.is_empty()).collect()
}

/// Whether the last frame repeats the first: all joints with the same rotation, at the same median height.
pub fn is_cycle(motion: &Motion) -> bool {
    repeats_first(motion, |_, _| Quat::identity())
}

/// Whether the last frame repeats the first but for the direction in which the body faces, as on a walk around a bend: such a clip
/// loops as well.
pub fn is_loop(motion: &Motion) -> bool {
    repeats_first(motion, |first, last| {
        swing_twist(&(last.rotation * first.rotation.inverse()), &Vec3::y()).1
    })
}

/// Whether the last frame repeats the first, rotated about the vertical as `turned` tells from the hips in both: joints from the hips on
/// with the same rotation, all at the same median height.
fn repeats_first(motion: &Motion, turned: impl Fn(&Transform, &Transform) -> Quat) -> bool {
    let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
    let Some(last) = clip.frames().checked_sub(1).filter(|last| *last > 2) else { return false };
    let pair = [0, last].map(|f| motion.model_pose(f));
    let hips = motion.character.rig.joint(Role::Hips).unwrap_or(JointId::new(0));
    let turn = turned(pair[0].joint(hips), pair[1].joint(hips));
    let from_hips = skeleton.below(&[hips]);
    let angle = |((a, b), from_hips): ((&Transform, &Transform), &bool)| match from_hips {
        true => (turn * a.rotation).angle_to(&b.rotation),
        false => a.rotation.angle_to(&b.rotation),
    };
    let joints = pair[0].joints().iter().zip(pair[1].joints());
    let most = joints.zip(&from_hips).map(angle).fold(0.0, f64::max);
    let root = pair.each_ref().map(|pose| median(pose.joints().iter().map(|t| t.translation.y).collect()));
    most < CLOSED.0 && (root[0] - root[1]).abs() < CLOSED.1 * size(&skeleton.rest_model_pose())
}

/// The indices of the joints whose local rotation changes over a clip; the clip must have frames.
pub fn turning(clip: &Clip) -> Vec<usize> {
    let first = clip.rotations(0);
    let rests = |chunk: usize| {
        let mut still: Vec<usize> = (0..clip.joints()).collect();
        for frame in chunk * CHUNK..clip.frames().min((chunk + 1) * CHUNK) {
            let rotations = clip.rotations(frame);
            still.retain(|j| rotations[*j] == first[*j]);
        }
        still
    };
    let still: Vec<Vec<usize>> = parallel::map(clip.frames().div_ceil(CHUNK), 1, rests);
    (0..clip.joints()).filter(|j| still.iter().any(|still| still.binary_search(j).is_err())).collect()
}

/// The edges with which an edge is compared: the two before and the two after, of `edges` edges.
fn around(edge: usize, edges: usize) -> impl Iterator<Item = usize> {
    let around = [edge.checked_sub(2), edge.checked_sub(1), Some(edge + 1), Some(edge + 2)];
    around.into_iter().flatten().filter(move |g| *g < edges)
}

/// The rotation of a joint over an edge, radians, from the chord of the half angle: exact to one percent up to 60 degrees,
/// smaller than the angle beyond.
fn rotation_over(clip: &Clip, joint: usize, edge: usize) -> f64 {
    let [from, to] = [edge, edge + 1].map(|frame| clip.rotations(frame)[joint].coords);
    2.0 * (2.0 - 2.0 * from.dot(&to).abs().min(1.0)).sqrt()
}

/// The mean rotation angle over an edge of the joints `rotating`, those that rotate at all; static fingers do not count.
fn mean_rotation(clip: &Clip, rotating: &[usize], edge: usize) -> f64 {
    rotating.iter().map(|j| rotation_over(clip, *j, edge)).sum::<f64>() / rotating.len().max(1) as f64
}

/// Whether at least half of the joints `rotating` rotate suddenly over an edge: the mean of all is as large where a few flip.
fn most_rotate(clip: &Clip, rotating: &[usize], edge: usize) -> bool {
    let suddenly = |j: &&usize| {
        let own = rotation_over(clip, **j, edge);
        let others = around(edge, clip.frames() - 1).map(|edge| rotation_over(clip, **j, edge));
        own > OWN_ROTATION && own > OWN_SUDDEN * others.fold(0.0, f64::max)
    };
    2 * rotating.iter().filter(suddenly).count() >= rotating.len()
}

/// A value below this fraction of a limit is below the limit regardless of rounding.
const NEARLY: f64 = 1.0 - 1e-4;

/// A lower bound for the number of rotating joints: those that differ between the first frame and this one.
fn least_rotating(clip: &Clip, frame: usize) -> usize {
    let (first, row) = (clip.rotations(0), clip.rotations(frame));
    first.iter().zip(row.iter()).filter(|(a, b)| a != b).count().max(1)
}

/// Whether the mean rotation over an edge may exceed [`ROTATION`] if at least `joints` joints rotate: a mean of roots is at most
/// the root of the mean.
fn may_rotate(clip: &Clip, joints: usize, edge: usize) -> bool {
    let (from, to) = (clip.rotations(edge), clip.rotations(edge + 1));
    // The squared chords of the half angles; of a rotation whose sign changes it is too large.
    let mut sum = RealX4::splat(0.0);
    in_wide_registers(
        #[inline(always)]
        || {
            for (a, b) in from.iter().zip(to.iter()) {
                let [a, b] = [a, b].map(|q| RealX4::from(<[f64; 4]>::from(q.coords)));
                sum += (a - b) * (a - b);
            }
        },
    );
    4.0 * <[f64; 4]>::from(sum).iter().sum::<f64>() >= joints as f64 * (ROTATION * NEARLY).powi(2)
}

/// The position of every joint over some frames, in `f32`: jumps and steps differ in the leading digits.
#[derive(Default)]
struct JointPaths {
    /// The first frame, and the number of frames.
    first: usize,
    frames: usize,
    /// For each joint the x of all frames, then y, then z.
    at: Vec<f32>,
}

impl JointPaths {
    /// Computes the positions for the edges `first..end`.
    fn read(&mut self, forward: &Forward<'_>, block: &mut Block, first: usize, end: usize) {
        let blocks = first / LANES..end / LANES + 1;
        (self.first, self.frames) = (blocks.start * LANES, blocks.len() * LANES);
        for number in blocks {
            forward.compute(number, block);
            let at = number * LANES - self.first;
            self.at.resize(3 * block.lanes().len() * self.frames, 0.0);
            for (joint, paths) in block.lanes().iter().zip(self.at.chunks_exact_mut(3 * self.frames)) {
                for (axis, path) in paths.chunks_exact_mut(self.frames).enumerate() {
                    path[at..][..LANES].copy_from_slice(&<[f32; LANES]>::from(joint.translation[axis]));
                }
            }
        }
    }

    /// For each edge from the first frame on, the number of joints that move by more than `least`.
    fn far(&self, least: f32) -> Vec<u32> {
        let mut far = vec![0; self.frames - 1];
        for paths in self.at.chunks_exact(3 * self.frames) {
            let [x, y, z] = [0, 1, 2].map(|axis| &paths[axis * self.frames..][..self.frames]);
            for (edge, far) in far.iter_mut().enumerate() {
                let step = [x, y, z].map(|path| path[edge + 1] - path[edge]);
                *far += u32::from(step[0] * step[0] + step[1] * step[1] + step[2] * step[2] > least * least);
            }
        }
        far
    }

    /// The median over the joints of their displacement over an edge.
    fn median_step(&self, edge: usize) -> f64 {
        let at = edge - self.first;
        let of = |paths: &[f32]| {
            let position = |frame: usize| [0, 1, 2].map(|axis| paths[axis * self.frames + frame]);
            f64::from(distance(&position(at), &position(at + 1)))
        };
        median(self.at.chunks_exact(3 * self.frames).map(of).collect())
    }
}

fn distance(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (b - a) * (b - a)).sum::<f32>().sqrt()
}

/// The size of a body: half the diagonal of the bounding box of its joints, about the length of a person's leg.
pub fn size(rest: &ModelPose) -> f64 {
    let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    for joint in rest.joints() {
        (low, high) = (low.inf(&joint.translation), high.sup(&joint.translation));
    }
    (0.5 * (high - low).norm()).max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, Transform, exp};
    use crate::model::{Character, Joint, JointId, Rig, Skeleton};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// The cuts, with every median and every mean of every edge.
    fn all_edges(motion: &Motion) -> Vec<usize> {
        let (clip, skeleton) = (&motion.clip, motion.character.skeleton());
        let edges = clip.frames() - 1;
        let rotating = turning(clip);
        let mut positions: Vec<Vec<[f32; 3]>> = Vec::new();
        Forward::new(skeleton, clip).for_each(|block| {
            let position = |lane: usize, id: JointId| block.position(lane, id).map(|x| x as f32).into();
            positions.extend(
                (0..block.frames())
                    .map(|lane| skeleton.ids().map(|id| position(lane, id)).collect::<Vec<_>>()),
            );
        });
        let size = size(&skeleton.rest_model_pose());
        let moved = |edge: usize| {
            let pairs = positions[edge].iter().zip(&positions[edge + 1]);
            median(pairs.map(|(a, b)| f64::from(distance(a, b))).collect()) / size
        };
        let moves: Vec<f64> = (0..edges).map(moved).collect();
        let angles: Vec<f64> = (0..edges).map(|edge| mean_rotation(clip, &rotating, edge)).collect();
        let sudden = |steps: &[f64], least: f64, f: usize| {
            let around = around(f, edges).map(|g| steps[g]);
            steps[f] > least && steps[f] > SUDDEN * around.fold(1e-9_f64, f64::max)
        };
        let turns = |f: usize| sudden(&angles, ROTATION, f) && most_rotate(clip, &rotating, f);
        let cut = |f: &usize| sudden(&moves, JUMP, *f) || turns(*f);
        (0..edges).filter(cut).map(|f| f + 1).collect()
    }

    /// A chain of joints that swings; after frame 20 the rotations of the joints `flipped` are multiplied.
    fn swinging(flipped: std::ops::Range<usize>, by: f64) -> Motion {
        let parent = |k: usize| k.checked_sub(1).map(JointId::new);
        let rest = Transform::from_translation(Vec3::new(0.0, 0.1, 0.0));
        let joint = |k: usize| Joint::new(format!("j{k}"), parent(k), rest);
        let skeleton = Skeleton::new((0..10).map(joint).collect()).unwrap();
        let mut rotations: Vec<Quat> = Vec::new();
        for f in 0..40 {
            let swing = exp(&(Vec3::x() * 0.1 * (0.2 * f64::from(f)).sin()));
            let flip = exp(&(Vec3::y() * by));
            rotations
                .extend((0..10).map(|k| if f >= 20 && flipped.contains(&k) { swing * flip } else { swing }));
        }
        let clip = Clip::new("", 60.0, 10, rotations, Vec::new(), Vec::new());
        Motion::new(Arc::new(Character::new("chain", Rig::new(skeleton, []))), clip)
    }

    #[test]
    fn a_few_joints_that_flip_are_no_cut() {
        let half_turn = std::f64::consts::PI;
        for flipped in [9..10, 8..10, 7..10] {
            assert!(cuts(&swinging(flipped.clone(), half_turn)).is_empty(), "{flipped:?}");
        }
        // The axes of the upper half stay: nearly nothing is displaced, but most joints rotate.
        assert_eq!(cuts(&swinging(4..10, 0.3)), [20]);
    }

    #[test]
    fn a_walk_around_a_bend_is_a_loop_and_no_cycle() {
        let mut motion = swinging(0..0, 0.0);
        let frames = motion.clip.frames();
        for (f, angle) in [(0, 0.3), (frames - 1, 0.3)] {
            motion.clip.rotations_mut(f).fill(exp(&(Vec3::x() * angle)));
        }
        assert!(is_cycle(&motion) && is_loop(&motion));
        let root = &mut motion.clip.rotations_mut(frames - 1)[0];
        *root = exp(&(Vec3::y() * 1.5)) * *root;
        assert!(!is_cycle(&motion) && is_loop(&motion));
        let root = &mut motion.clip.rotations_mut(frames - 1)[0];
        *root = exp(&(Vec3::x() * 0.1)) * *root;
        assert!(!is_loop(&motion), "leaning forwards");
    }

    proptest! {
        #[test]
        fn a_rotation_of_more_than_the_limit_is_never_ruled_out(
            steps in proptest::collection::vec((proptest::array::uniform3(-3.0..3.0f64), 0.09..0.14f64, any::<bool>()), 1..9),
        ) {
            let first: Vec<Quat> = steps.iter().map(|(at, ..)| exp(&Vec3::from(*at))).collect();
            let step = |(from, (_, angle, flipped)): (&Quat, &(_, f64, bool))| {
                let to = exp(&(Vec3::y() * *angle)) * from;
                if *flipped { Quat::new_unchecked(-to.into_inner()) } else { to }
            };
            let second: Vec<Quat> = first.iter().zip(&steps).map(step).collect();
            let joints = steps.len();
            let clip = Clip::new("", 60.0, joints, [first, second].concat(), Vec::new(), Vec::new());
            let all: Vec<usize> = (0..joints).collect();
            prop_assert!(mean_rotation(&clip, &all, 0) <= ROTATION || may_rotate(&clip, joints, 0));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// A body that wanders and sometimes jumps or angles suddenly, by about as much as a cut needs.
        #[test]
        fn what_is_passed_over_is_no_cut(
            joints in 2..9usize, frames in prop_oneof![9..40usize, 250..560usize],
            jumps in proptest::collection::vec((0..560usize, 0.0..0.2f64, 0.0..0.3f64), 0..6),
            still in 0..3usize, pace in 0.0..0.02f64,
        ) {
            let parent = |k: usize| k.checked_sub(1).map(JointId::new);
            let rest = |k: usize| Transform::from_translation(Vec3::new(0.0, if k == 0 { 1.0 } else { 0.3 }, 0.0));
            let joint = |k: usize| Joint::new(format!("j{k}"), parent(k), rest(k));
            let skeleton = Skeleton::new((0..joints).map(joint).collect()).unwrap();
            let behind = |f: usize| jumps.iter().filter(move |jump| jump.0 <= f);
            let mut rotations: Vec<Quat> = Vec::new();
            let mut translations = Vec::new();
            for f in 0..frames {
                let angle: f64 = behind(f).map(|jump| jump.2).sum::<f64>() + pace * f as f64;
                let angle_of = |k: usize| if k < still { Quat::identity() } else { exp(&(Vec3::x() * angle)) };
                rotations.extend((0..joints).map(angle_of));
                let far: f64 = behind(f).map(|jump| jump.1).sum();
                translations.push(Vec3::new(far + 0.1 * (pace * f as f64).sin(), 1.0, 0.0));
            }
            let clip = Clip::new("", 60.0, joints, rotations, vec![JointId::new(0)], translations);
            let character = Arc::new(Character::new("chain", Rig::new(skeleton, [])));
            let motion = Motion::new(character, clip);
            prop_assert_eq!(cuts(&motion), all_edges(&motion));
        }
    }
}
