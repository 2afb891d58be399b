//! The tracks of an animation become the local transforms of joints, frame by frame.
//!
//! A joint that hangs on its parent's node, below scales that are even and stand still, moves as its own channels say:
//! most joints of most files. For the others the nodes are walked down from the scene, affine places in the world, and
//! the rigid frames of the joints in them: so animated scale, and whatever is animated above or between joints, is part
//! of the clip. Where each frame lies among the keys is found once for all tracks that share key times. Blocks of frames are
//! computed side by side. Space: local, parent joint from joint. Units: metres, seconds.

use super::interpolation::{KeyCursor, KeyPosition, KeyTrack};
use super::node_joints::Joints;
use crate::gltf_document::{LocalTransform, NodeTree, WorldTransform};
use crate::kinematics::figure_size;
use crate::math::{Quat, RawQuat, Transform, Vec3, in_wide_registers, same_hemisphere};
use crate::model::{FARTHEST, JointId};
use rayon::prelude::*;

/// Leaving the rest translation by less than this, relative to the size of the figure, is rounding.
const STILL: f64 = 1e-7;
/// Frames that are computed one after the other: 60 joints of them stay in the second cache.
const BLOCK: usize = 256;
/// Frames of one joint that are computed one after the other, before those of the next: its keys lie side by side in the
/// file, and 60 joints of them stay in the first cache.
const TILE: usize = 16;

/// A node on the way from the scene to a joint.
#[derive(Clone)]
pub(super) struct AnimatedNode {
    local: LocalTransform,
    parent: Option<usize>,
    /// The tracks of translation, rotation and scale.
    pub(super) tracks: [Option<usize>; 3],
    joint: Option<JointId>,
}

/// The joints' nodes and all nodes above them, parents first, and where each node stands in that list.
pub(super) fn steps(tree: &NodeTree, joints: &Joints) -> (Vec<AnimatedNode>, Vec<Option<usize>>) {
    let mut needed = vec![false; tree.nodes().len()];
    for node in joints.nodes.iter().flatten() {
        for n in tree.path_to_top(*node) {
            if std::mem::replace(&mut needed[n], true) {
                break;
            }
        }
    }
    let mut step_of = vec![None; needed.len()];
    let mut steps = Vec::new();
    for &n in tree.order().iter().filter(|&&n| needed[n]) {
        let node = tree.node(n);
        step_of[n] = Some(steps.len());
        steps.push(AnimatedNode {
            local: node.local,
            parent: node.parent.and_then(|p| step_of[p]),
            tracks: [None; 3],
            joint: joints.of_node[n],
        });
    }
    (steps, step_of)
}

/// The frames at which tracks are sampled.
pub(super) struct FrameTimes<T> {
    /// How many.
    pub(super) frames: usize,
    /// When, in seconds.
    pub(super) time: T,
    /// How near a key is hit, seconds.
    pub(super) snap: f64,
}

/// Where a joint's local transform comes from.
enum JointMotion {
    /// Its own node, whose translation counts as many metres: the step, and the scale above it.
    Node(usize, f64),
    /// Nothing moves it against its parent.
    Fixed(Transform),
    /// The places of its node and its parent's in the world.
    World,
}

/// What [`Clip::new`](crate::model::Clip::new) asks for.
pub(super) struct SampledTransforms {
    pub(super) rotations: Vec<Quat>,
    pub(super) translated: Vec<JointId>,
    pub(super) translations: Vec<Vec3>,
}

/// Local rotations, the joints that translate, and their translations, frame by frame. `hands` are on the lists of key times
/// that the tracks name.
///
/// # Errors
/// The first frame in which a joint is nowhere.
pub(super) fn sample(
    mut steps: Vec<AnimatedNode>,
    tracks: &[KeyTrack],
    hands: &[KeyCursor],
    joints: &Joints,
    span: &FrameTimes<impl Fn(usize) -> f64 + Sync>,
) -> Result<SampledTransforms, usize> {
    let skeleton = &joints.skeleton;
    let n = skeleton.len();
    for step in &mut steps {
        if step.tracks != [None; 3] {
            // Animated nodes are taken as translation, rotation and scale.
            step.local.matrix = None;
        }
        // Exporters like to write a scale that never changes.
        if let Some(scale) = step.tracks[2].filter(|s| tracks[*s].is_constant()) {
            step.local.scale = tracks[scale].sample(KeyPosition::default());
            step.tracks[2] = None;
        }
    }
    let walk = SamplingPlan::new(&steps, tracks, joints);
    // A joint without a track of its own may stand elsewhere than at rest all the same.
    let still = STILL * figure_size(skeleton);
    let rest = |k: usize| skeleton.joints()[k].rest.translation;
    let may_leave = |k: &usize| match walk.sources[*k] {
        JointMotion::World => true,
        JointMotion::Node(s, scale) => {
            steps[s].tracks[0].is_some() || (steps[s].local.translation * scale - rest(*k)).amax() > still
        }
        JointMotion::Fixed(local) => (local.translation - rest(*k)).amax() > still,
    };
    let loose: Vec<usize> = (0..n).filter(may_leave).collect();

    let mut rotations = Vec::with_capacity(span.frames * n);
    let mut translations = vec![Vec3::zeros(); span.frames * loose.len()];
    let mut most = vec![0.0f64; loose.len()];
    // The list grows with each wave of blocks: memory is first touched just before it is filled.
    let wave = match rayon::current_num_threads() {
        0 | 1 => BLOCK,
        threads => 4 * threads * BLOCK,
    };
    for first in (0..span.frames).step_by(wave) {
        let frames = wave.min(span.frames - first);
        rotations.resize((first + frames) * n, Quat::identity());
        // Rows of translations go along with rows of rotations, even where no joint translates.
        let mut rows: Vec<&mut [Vec3]> = match loose.len() {
            0 => (0..frames.div_ceil(BLOCK)).map(|_| &mut [][..]).collect(),
            width => translations[first * width..][..frames * width].chunks_mut(BLOCK * width).collect(),
        };
        let blocks = rotations[first * n..].par_chunks_mut(BLOCK * n).zip(&mut rows).enumerate();
        let filled = blocks.map(|(block, (rotations, translations))| {
            let first = first + block * BLOCK;
            let mut instants = FrameSampler::new(&walk, hands, (span.time)(first), span.snap);
            let frames = rotations.len() / n;
            for begin in (0..frames).step_by(TILE) {
                let end = frames.min(begin + TILE);
                let (before, ahead) = rotations.split_at_mut(begin * n);
                instants.go((first + begin..first + end).map(&span.time), span.snap);
                let mut tile = Tile {
                    joints: n,
                    before: before.rchunks_exact(n).next(),
                    rotations: &mut ahead[..(end - begin) * n],
                    loose: &loose,
                    translations: &mut translations[begin * loose.len()..end * loose.len()],
                    lost: None,
                };
                in_wide_registers(
                    #[inline(always)]
                    || instants.fill(&mut tile),
                );
                if let Some(frame) = tile.lost {
                    return Err(first + begin + frame);
                }
            }
            let mut leaves = vec![0.0f64; loose.len()];
            for row in translations.chunks_exact(loose.len().max(1)) {
                for ((leaves, t), k) in leaves.iter_mut().zip(row).zip(&loose) {
                    *leaves = leaves.max((t - rest(*k)).amax());
                }
            }
            Ok(leaves)
        });
        for leaves in filled.collect::<Vec<Result<Vec<f64>, usize>>>() {
            most.iter_mut().zip(leaves?).for_each(|(most, leaves)| *most = most.max(leaves));
        }
    }
    // Each block began in the hemisphere that the file has; what follows a turned quaternion turns with it.
    for begin in (BLOCK * n..rotations.len()).step_by(BLOCK * n) {
        for joint in begin..begin + n {
            for k in (joint..rotations.len()).step_by(n) {
                let q = same_hemisphere(rotations[k], &rotations[k - n]);
                // By their numbers: a rotation equals its negative.
                if q.coords == rotations[k].coords {
                    break;
                }
                rotations[k] = q;
            }
        }
    }
    let kept: Vec<usize> = (0..loose.len()).filter(|i| most[*i] > still).collect();
    let translated = kept.iter().map(|i| JointId::new(loose[*i])).collect();
    if kept.len() < loose.len() {
        let rows = translations.chunks_exact(loose.len());
        translations = rows.flat_map(|row| kept.iter().map(|i| row[*i])).collect();
    }
    Ok(SampledTransforms { rotations, translated, translations })
}

/// The way down the nodes, as far as some joint needs it.
struct SamplingPlan<'a> {
    steps: &'a [AnimatedNode],
    tracks: &'a [KeyTrack<'a>],
    joints: &'a Joints,
    sources: Vec<JointMotion>,
    /// The joints that hang in the world.
    hanging: Vec<JointId>,
    /// The steps whose places change and are asked for, parents first.
    walked: Vec<usize>,
    /// The places of all steps where nothing has moved yet.
    worlds: Vec<WorldTransform>,
}

impl<'a> SamplingPlan<'a> {
    fn new(steps: &'a [AnimatedNode], tracks: &'a [KeyTrack<'a>], joints: &'a Joints) -> Self {
        let skeleton = &joints.skeleton;
        let mut worlds = Vec::with_capacity(steps.len());
        let (mut moves, mut swells) = (vec![false; steps.len()], vec![false; steps.len()]);
        for (k, step) in steps.iter().enumerate() {
            moves[k] = step.tracks != [None; 3] || step.parent.is_some_and(|p| moves[p]);
            swells[k] = step.tracks[2].is_some() || step.parent.is_some_and(|p| swells[p]);
            worlds.push(
                step.parent.map_or(WorldTransform::identity(), |p: usize| worlds[p]).child(&step.local),
            );
        }
        let mut step_of = vec![None; skeleton.len()];
        for (k, step) in steps.iter().enumerate() {
            step.joint.into_iter().for_each(|joint| step_of[joint.index()] = Some(k));
        }
        let source = |joint: JointId| -> Option<JointMotion> {
            let s = step_of[joint.index()]?;
            let above = steps[s].parent?;
            let hangs = steps[above].joint.is_some() && steps[above].joint == skeleton.parent(joint);
            let plain = !swells[s] && steps[s].local.matrix.is_none() && steps[s].local.scale.min() > 0.0;
            let scale = worlds[above].uniform_scale()?;
            let source = match steps[s].tracks {
                [None, None, _] => {
                    JointMotion::Fixed(worlds[above].rigid().0.inverse() * worlds[s].rigid().0)
                }
                _ => JointMotion::Node(s, scale),
            };
            (hangs && plain).then_some(source)
        };
        let sources: Vec<JointMotion> =
            skeleton.ids().map(|joint| source(joint).unwrap_or(JointMotion::World)).collect();
        let mut asked = vec![false; steps.len()];
        let hangs = |joint: &JointId| matches!(sources[joint.index()], JointMotion::World);
        let hanging: Vec<JointId> = skeleton.ids().filter(hangs).collect();
        for joint in &hanging {
            for id in [Some(*joint), skeleton.parent(*joint)].into_iter().flatten() {
                step_of[id.index()].into_iter().for_each(|s: usize| asked[s] = true);
            }
        }
        for k in (0..steps.len()).rev() {
            if let Some(above) = steps[k].parent.filter(|_| asked[k]) {
                asked[above] = true;
            }
        }
        let walked = (0..steps.len()).filter(|k| asked[*k] && moves[*k]).collect();
        Self { steps, tracks, joints, sources, hanging, walked, worlds }
    }
}

/// Frames that are filled together, joint after joint.
struct Tile<'a> {
    /// How many joints a row of rotations has.
    joints: usize,
    /// The rotations of the frame before, as far as there is one in the block.
    before: Option<&'a [Quat]>,
    rotations: &'a mut [Quat],
    /// The joints of a row of translations, ascending.
    loose: &'a [usize],
    translations: &'a mut [Vec3],
    /// The first frame in which a joint is nowhere.
    lost: Option<usize>,
}

impl Tile<'_> {
    fn frames(&self) -> usize {
        self.rotations.len() / self.joints
    }

    /// The rotations of a joint side by side, `x, y, z, w`, each put into the hemisphere of the one before.
    #[inline(always)]
    fn turn(&mut self, joint: usize, c: [[f64; TILE]; 4]) {
        let mut sides = [0.0; TILE];
        for n in 1..TILE {
            let m = n - 1;
            sides[n] = c[0][n] * c[0][m] + c[1][n] * c[1][m] + c[2][n] * c[2][m] + c[3][n] * c[3][m];
        }
        if let Some(q) = self.before.map(|row| &row[joint]) {
            sides[0] = c[0][0] * q.i + c[1][0] * q.j + c[2][0] * q.k + c[3][0] * q.w;
        }
        let mut sign = 1.0;
        for (n, q) in self.rotations[joint..].iter_mut().step_by(self.joints).enumerate() {
            sign = if sides[n] * sign < 0.0 { -1.0 } else { 1.0 };
            let [x, y, z, w] = [c[0][n] * sign, c[1][n] * sign, c[2][n] * sign, c[3][n] * sign];
            *q = Quat::new_unchecked(RawQuat::new(w, x, y, z));
        }
    }

    /// The translations of a joint, which are all the same where it is not loose.
    #[inline(always)]
    fn shift(&mut self, joint: usize, value: impl Fn(usize) -> Vec3) {
        // What is no number is not near either.
        let near = |t: &Vec3| t.iter().all(|x| x.abs() <= FARTHEST);
        let Ok(place) = self.loose.binary_search(&joint) else { return self.check(0, near(&value(0))) };
        for frame in 0..self.frames() {
            let t = value(frame);
            self.translations[frame * self.loose.len() + place] = t;
            self.check(frame, near(&t));
        }
    }

    fn check(&mut self, frame: usize, somewhere: bool) {
        if !somewhere {
            self.lost = Some(self.lost.map_or(frame, |lost| lost.min(frame)));
        }
    }
}

/// The rotations of a tile's frames, `x, y, z, w`.
#[inline(always)]
fn side_by_side(of_frame: impl Fn(usize) -> Quat) -> [[f64; TILE]; 4] {
    let [mut x, mut y, mut z, mut w] = [[0.0; TILE]; 4];
    for n in 0..TILE {
        let q = of_frame(n);
        [x[n], y[n], z[n], w[n]] = [q.i, q.j, q.k, q.w];
    }
    [x, y, z, w]
}

/// A walk over a tile of frames.
struct FrameSampler<'w, 'a> {
    walk: &'w SamplingPlan<'a>,
    hands: Vec<KeyCursor<'a>>,
    /// Where the frames lie among each list of key times.
    spots: Vec<[KeyPosition; TILE]>,
    worlds: Vec<WorldTransform>,
    model: Vec<Transform>,
    /// The local transforms of joints that hang in the world, frame by frame; empty where none does.
    places: Vec<Transform>,
}

impl<'w, 'a> FrameSampler<'w, 'a> {
    /// Everything where it is at `time`, the first of some frames.
    fn new(walk: &'w SamplingPlan<'a>, hands: &[KeyCursor<'a>], time: f64, snap: f64) -> Self {
        let n = walk.joints.skeleton.len();
        let mut model = vec![Transform::identity(); n];
        for (step, world) in walk.steps.iter().zip(&walk.worlds) {
            step.joint.into_iter().for_each(|joint| model[joint.index()] = world.rigid().0);
        }
        Self {
            walk,
            hands: hands.iter().map(|hand| hand.at(time, snap)).collect(),
            spots: vec![[KeyPosition::default(); TILE]; hands.len()],
            worlds: walk.worlds.clone(),
            model,
            places: vec![Transform::identity(); if walk.hanging.is_empty() { 0 } else { TILE * n }],
        }
    }

    /// A track and where the frames lie among its key times.
    fn track(&self, track: usize) -> (&'w KeyTrack<'a>, &[KeyPosition; TILE]) {
        let track = &self.walk.tracks[track];
        (track, &self.spots[track.times])
    }

    /// Walks to frames at `times`, at most [`TILE`].
    fn go(&mut self, times: impl Iterator<Item = f64>, snap: f64) {
        for (frame, now) in times.enumerate() {
            for (hand, spots) in self.hands.iter_mut().zip(&mut self.spots) {
                spots[frame] = hand.seek(now, snap);
            }
            if !self.places.is_empty() {
                self.walk_down(frame);
            }
        }
    }

    /// The places of all joints that hang in the world.
    fn walk_down(&mut self, frame: usize) {
        let walk = self.walk;
        for &k in &walk.walked {
            let AnimatedNode { mut local, parent, tracks: [t, r, s], joint } = walk.steps[k];
            if let Some((track, spots)) = t.map(|t| self.track(t)) {
                local.translation = track.sample(spots[frame]);
            }
            if let Some((track, spots)) = r.map(|r| self.track(r)) {
                local.rotation = track.sample(spots[frame]);
            }
            if let Some((track, spots)) = s.map(|s| self.track(s)) {
                local.scale = track.sample(spots[frame]);
            }
            self.worlds[k] = parent.map_or(WorldTransform::identity(), |p| self.worlds[p]).child(&local);
            if let Some(joint) = joint {
                self.model[joint.index()] = self.worlds[k].rigid().0;
            }
        }
        let n = self.model.len();
        for &joint in &walk.hanging {
            let own = self.model[joint.index()];
            let above = walk.joints.skeleton.parent(joint).map(|above| self.model[above.index()]);
            self.places[frame * n + joint.index()] = above.map_or(own, |above| above.inverse() * own);
        }
    }

    /// Fills a tile of the frames that were walked to.
    #[inline(always)]
    fn fill(&self, tile: &mut Tile) {
        let n = self.model.len();
        for (k, source) in self.walk.sources.iter().enumerate() {
            match *source {
                JointMotion::Node(step, scale) => {
                    let AnimatedNode { local, tracks: [t, r, _], .. } = &self.walk.steps[step];
                    match r.map(|r| self.track(r)) {
                        Some((track, spots)) => tile.turn(k, track.rotations(spots)),
                        None => tile.turn(k, side_by_side(|_| local.rotation)),
                    }
                    match t.map(|t| self.track(t)) {
                        Some((track, spots)) => tile.shift(k, |f| track.sample::<Vec3>(spots[f]) * scale),
                        None => tile.shift(k, |_| local.translation * scale),
                    }
                }
                JointMotion::Fixed(local) => {
                    tile.turn(k, side_by_side(|_| local.rotation));
                    tile.shift(k, |_| local.translation);
                }
                JointMotion::World => {
                    let place = |f: usize| self.places[f * n + k];
                    tile.turn(k, side_by_side(|f| place(f).rotation));
                    tile.shift(k, |f| place(f).translation);
                    (0..tile.frames()).for_each(|f| tile.check(f, place(f).is_finite()));
                }
            }
        }
    }
}
