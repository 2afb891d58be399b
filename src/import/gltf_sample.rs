//! The tracks of an animation become the local transforms of joints, frame by frame.
//!
//! A joint that hangs on its parent's node, below scales that are even and stand still, moves as its own channels say:
//! most joints of most files. For the others the nodes are walked down from the scene, affine places in the world, and
//! the rigid frames of the joints in them: so animated scale, and whatever is animated above or between joints, is part
//! of the clip. Blocks of frames are computed side by side. Space: local, parent joint from joint. Units: metres, seconds.

use super::gltf_skeleton::Joints;
use super::gltf_track::Track;
use crate::math::{Quat, Transform, Vec3, same_hemisphere};
use crate::model::{FARTHEST, JointId};
use crate::scene::{Local, NodeTree, World, figure_size};
use rayon::prelude::*;

/// Leaving the rest translation by less than this, relative to the size of the figure, is rounding.
const STILL: f64 = 1e-7;
/// Frames that are computed one after the other: 60 joints of them stay in the second cache.
const BLOCK: usize = 256;

/// A node on the way from the scene to a joint.
#[derive(Clone)]
pub(super) struct Step {
    local: Local,
    parent: Option<usize>,
    /// The tracks of translation, rotation and scale.
    pub(super) tracks: [Option<usize>; 3],
    joint: Option<JointId>,
}

/// The joints' nodes and all nodes above them, parents first, and where each node stands in that list.
pub(super) fn steps(tree: &NodeTree, joints: &Joints) -> (Vec<Step>, Vec<Option<usize>>) {
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
        steps.push(Step {
            local: node.local,
            parent: node.parent.and_then(|p| step_of[p]),
            tracks: [None; 3],
            joint: joints.of_node[n],
        });
    }
    (steps, step_of)
}

/// The frames at which tracks are sampled.
pub(super) struct Span<T> {
    /// How many.
    pub(super) frames: usize,
    /// When, in seconds.
    pub(super) time: T,
    /// How near a key is hit, seconds.
    pub(super) snap: f64,
}

/// Where a joint's local transform comes from.
enum Source {
    /// Its own node, whose translation counts as many metres: the step, and the scale above it.
    Node(usize, f64),
    /// Nothing moves it against its parent.
    Fixed(Transform),
    /// The places of its node and its parent's in the world.
    World,
}

/// What [`Clip::new`](crate::model::Clip::new) asks for.
pub(super) struct Sampled {
    pub(super) rotations: Vec<Quat>,
    pub(super) translated: Vec<JointId>,
    pub(super) translations: Vec<Vec3>,
}

/// Local rotations, the joints that translate, and their translations, frame by frame.
///
/// # Errors
/// The first frame in which a joint is nowhere.
pub(super) fn sample(
    mut steps: Vec<Step>,
    tracks: &[Track],
    joints: &Joints,
    span: &Span<impl Fn(usize) -> f64 + Sync>,
) -> Result<Sampled, usize> {
    let skeleton = &joints.skeleton;
    let n = skeleton.len();
    for step in &mut steps {
        if step.tracks != [None; 3] {
            // Animated nodes are taken as translation, rotation and scale.
            step.local.matrix = None;
        }
        // Exporters like to write a scale that never changes.
        if let Some(scale) = step.tracks[2].filter(|s| tracks[*s].is_constant()) {
            step.local.scale = tracks[scale].clone().sample((span.time)(0), span.snap);
            step.tracks[2] = None;
        }
    }
    let walk = Walk::new(&steps, tracks, joints);
    // A joint without a track of its own may stand elsewhere than at rest all the same.
    let still = STILL * figure_size(skeleton);
    let rest = |k: usize| skeleton.joints()[k].rest.translation;
    let may_leave = |k: &usize| match walk.sources[*k] {
        Source::World => true,
        Source::Node(s, scale) => {
            steps[s].tracks[0].is_some() || (steps[s].local.translation * scale - rest(*k)).amax() > still
        }
        Source::Fixed(local) => (local.translation - rest(*k)).amax() > still,
    };
    let loose: Vec<usize> = (0..n).filter(may_leave).collect();

    let mut rotations = vec![Quat::identity(); span.frames * n];
    let mut translations = vec![Vec3::zeros(); span.frames * loose.len()];
    // Rows of translations go along with rows of rotations, even where no joint translates.
    let mut rows: Vec<&mut [Vec3]> = match loose.len() {
        0 => (0..span.frames.div_ceil(BLOCK)).map(|_| &mut [][..]).collect(),
        width => translations.chunks_mut(BLOCK * width).collect(),
    };
    let leaves: Vec<Result<Vec<f64>, usize>> = rotations
        .par_chunks_mut(BLOCK * n)
        .zip(&mut rows)
        .enumerate()
        .map(|(block, (rotations, translations))| {
            let mut frame = walk.start((span.time)(block * BLOCK), span.snap);
            let mut leaves = vec![0.0f64; loose.len()];
            for (f, row) in rotations.chunks_mut(n).enumerate() {
                let now = (span.time)(block * BLOCK + f);
                frame.go(now, span.snap);
                let mut places =
                    translations[f * loose.len()..].iter_mut().zip(&mut leaves).zip(&loose).peekable();
                for (k, q) in row.iter_mut().enumerate() {
                    let local = frame.local(k, now, span.snap);
                    if !(local.is_finite() && local.translation.amax() <= FARTHEST) {
                        return Err(block * BLOCK + f);
                    }
                    *q = local.rotation;
                    if let Some(((place, leaves), _)) = places.next_if(|(_, joint)| **joint == k) {
                        *place = local.translation;
                        *leaves = leaves.max((local.translation - rest(k)).amax());
                    }
                }
            }
            Ok(leaves)
        })
        .collect();
    let mut most = vec![0.0f64; loose.len()];
    for leaves in leaves {
        most.iter_mut().zip(leaves?).for_each(|(most, leaves)| *most = most.max(leaves));
    }
    for k in n..rotations.len() {
        rotations[k] = same_hemisphere(rotations[k], &rotations[k - n]);
    }
    let kept: Vec<usize> = (0..loose.len()).filter(|i| most[*i] > still).collect();
    let translated = kept.iter().map(|i| JointId::new(loose[*i])).collect();
    if kept.len() < loose.len() {
        let rows = translations.chunks_exact(loose.len());
        translations = rows.flat_map(|row| kept.iter().map(|i| row[*i])).collect();
    }
    Ok(Sampled { rotations, translated, translations })
}

/// The way down the nodes, as far as some joint needs it.
struct Walk<'a> {
    steps: &'a [Step],
    tracks: &'a [Track<'a>],
    joints: &'a Joints,
    sources: Vec<Source>,
    /// The steps whose places change and are asked for, parents first.
    walked: Vec<usize>,
    /// The places of all steps where nothing has moved yet.
    worlds: Vec<World>,
}

impl<'a> Walk<'a> {
    fn new(steps: &'a [Step], tracks: &'a [Track<'a>], joints: &'a Joints) -> Self {
        let skeleton = &joints.skeleton;
        let mut worlds = Vec::with_capacity(steps.len());
        let (mut moves, mut swells) = (vec![false; steps.len()], vec![false; steps.len()]);
        for (k, step) in steps.iter().enumerate() {
            moves[k] = step.tracks != [None; 3] || step.parent.is_some_and(|p| moves[p]);
            swells[k] = step.tracks[2].is_some() || step.parent.is_some_and(|p| swells[p]);
            worlds.push(step.parent.map_or(World::identity(), |p: usize| worlds[p]).child(&step.local));
        }
        let mut step_of = vec![None; skeleton.len()];
        for (k, step) in steps.iter().enumerate() {
            step.joint.into_iter().for_each(|joint| step_of[joint.index()] = Some(k));
        }
        let source = |joint: JointId| -> Option<Source> {
            let s = step_of[joint.index()]?;
            let above = steps[s].parent?;
            let hangs = steps[above].joint.is_some() && steps[above].joint == skeleton.parent(joint);
            let plain = !swells[s] && steps[s].local.matrix.is_none() && steps[s].local.scale.min() > 0.0;
            let scale = worlds[above].uniform_scale()?;
            let source = match steps[s].tracks {
                [None, None, _] => Source::Fixed(worlds[above].rigid().0.inverse() * worlds[s].rigid().0),
                _ => Source::Node(s, scale),
            };
            (hangs && plain).then_some(source)
        };
        let sources: Vec<Source> =
            skeleton.ids().map(|joint| source(joint).unwrap_or(Source::World)).collect();
        let mut asked = vec![false; steps.len()];
        for joint in skeleton.ids().filter(|j| matches!(sources[j.index()], Source::World)) {
            for id in [Some(joint), skeleton.parent(joint)].into_iter().flatten() {
                step_of[id.index()].into_iter().for_each(|s: usize| asked[s] = true);
            }
        }
        for k in (0..steps.len()).rev() {
            if let Some(above) = steps[k].parent.filter(|_| asked[k]) {
                asked[above] = true;
            }
        }
        let walked = (0..steps.len()).filter(|k| asked[*k] && moves[*k]).collect();
        Self { steps, tracks, joints, sources, walked, worlds }
    }

    /// Everything where it is at `time`, the first of some frames.
    fn start(&self, time: f64, snap: f64) -> Instant<'_, 'a> {
        let mut model = vec![Transform::identity(); self.joints.skeleton.len()];
        for (step, world) in self.steps.iter().zip(&self.worlds) {
            step.joint.into_iter().for_each(|joint| model[joint.index()] = world.rigid().0);
        }
        Instant {
            walk: self,
            tracks: self.tracks.iter().map(|t| t.at(time, snap)).collect(),
            worlds: self.worlds.clone(),
            model,
        }
    }
}

/// A walk at one frame.
struct Instant<'w, 'a> {
    walk: &'w Walk<'a>,
    tracks: Vec<Track<'a>>,
    worlds: Vec<World>,
    model: Vec<Transform>,
}

impl Instant<'_, '_> {
    /// The transform of a node.
    fn sampled(&mut self, step: usize, now: f64, snap: f64) -> Local {
        let Step { mut local, tracks: [t, r, s], .. } = self.walk.steps[step].clone();
        if let Some(t) = t {
            local.translation = self.tracks[t].sample(now, snap);
        }
        if let Some(r) = r {
            local.rotation = self.tracks[r].sample(now, snap);
        }
        if let Some(s) = s {
            local.scale = self.tracks[s].sample(now, snap);
        }
        local
    }

    /// Walks to the frame at `now`.
    fn go(&mut self, now: f64, snap: f64) {
        let walk = self.walk;
        for &k in &walk.walked {
            let local = self.sampled(k, now, snap);
            let step = &walk.steps[k];
            self.worlds[k] = step.parent.map_or(World::identity(), |p| self.worlds[p]).child(&local);
            if let Some(joint) = step.joint {
                self.model[joint.index()] = self.worlds[k].rigid().0;
            }
        }
    }

    /// The local transform of joint `k`.
    fn local(&mut self, k: usize, now: f64, snap: f64) -> Transform {
        match self.walk.sources[k] {
            Source::Node(step, scale) => {
                let local = self.sampled(step, now, snap);
                Transform::new(local.rotation, local.translation * scale)
            }
            Source::Fixed(local) => local,
            Source::World => match self.walk.joints.skeleton.parents()[k] {
                Some(p) => self.model[p.index()].inverse() * self.model[k],
                None => self.model[k],
            },
        }
    }
}
