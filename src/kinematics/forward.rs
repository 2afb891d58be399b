//! Forward kinematics: one frame, or all frames of a clip, from local to model space.
//!
//! One pass in joint order, parents first: `Q_i = Q_p q_i`, `x_i = x_p + Q_p o_i`. [`forward`] is exact, for one frame;
//! `map_frames` is the same for all frames. [`Forward`] computes eight frames at once in `f32` lanes (positions within 1e-5
//! of the exact ones, relative to their distance from the model's origin and the size of the character) and passes each
//! block to a consumer while it is in the cache; results of whole clips are not stored.
//! Space: model space from joint space. Units: metres.

use super::FramePoses;
use crate::math::{
    LANES, LaneTransform, LaneVec3, Transform, Vec3, in_wide_registers, lane_quat, lane_vec3, splat_vec3,
};
use crate::model::{Clip, JointId, ModelPose, Pose, RotationRow, Skeleton};
use crate::parallel;

/// One frame of `clip` in model space, written over `model`.
///
/// `scratch` is a pose of the same skeleton whose translations are overwritten for translated joints and must
/// hold the rest translations elsewhere, as [`Skeleton::rest_pose`] gives them. Nothing is allocated once
/// `model` has its size.
///
/// # Panics
/// Where the clip or the scratch pose belongs to another skeleton, or there is no such frame.
pub fn forward(skeleton: &Skeleton, clip: &Clip, frame: usize, scratch: &mut Pose, model: &mut ModelPose) {
    clip.read_pose(frame, scratch);
    model.set(skeleton, scratch);
}

/// Maps `of` over the exact model-space poses of all frames of `clip`, in order, computed on all threads.
///
/// # Panics
/// Where the clip belongs to another skeleton.
pub fn map_frames<T: Send>(
    skeleton: &Skeleton,
    clip: &Clip,
    of: impl Fn(&ModelPose) -> T + Send + Sync,
) -> Vec<T> {
    map_frames_towards(skeleton, clip, skeleton.ids(), of)
}

/// As `map_frames`, but computes only `wanted` and their ancestors; other joints stay at rest.
///
/// # Panics
/// Where the clip belongs to another skeleton.
pub fn map_frames_towards<T: Send>(
    skeleton: &Skeleton,
    clip: &Clip,
    wanted: impl IntoIterator<Item = JointId>,
    of: impl Fn(&ModelPose) -> T + Send + Sync,
) -> Vec<T> {
    let towards = Towards::new(skeleton, wanted);
    let start = || FramePoses::new(&towards, clip);
    parallel::map_with(clip.frames(), 1, start, |poses, frame| of(poses.at(frame)))
}

/// Some joints of a skeleton and their ancestors, for poses in which no other joint is needed.
#[derive(Clone, Debug)]
pub struct Towards<'a> {
    skeleton: &'a Skeleton,
    joints: Vec<JointId>,
}

impl<'a> Towards<'a> {
    /// The joints `wanted` and their ancestors.
    pub fn new(skeleton: &'a Skeleton, wanted: impl IntoIterator<Item = JointId>) -> Self {
        let needed = up_to_the_root(skeleton, wanted);
        Self { skeleton, joints: skeleton.ids().filter(|id| needed[id.index()]).collect() }
    }

    /// The joints, parents first.
    pub fn joints(&self) -> &[JointId] {
        &self.joints
    }

    /// The skeleton of these joints.
    pub fn skeleton(&self) -> &'a Skeleton {
        self.skeleton
    }

    /// Computes the model-space pose of a local one, as [`ModelPose::set`]; other joints of `model` are unchanged.
    ///
    /// # Panics
    /// Where one of the poses belongs to another skeleton.
    pub fn set(&self, pose: &Pose, model: &mut ModelPose) {
        model.set_only(self.skeleton, pose, &self.joints);
    }
}

/// For each joint whether it is in `wanted` or an ancestor of one of them.
fn up_to_the_root(skeleton: &Skeleton, wanted: impl IntoIterator<Item = JointId>) -> Vec<bool> {
    let mut needed = vec![false; skeleton.len()];
    wanted.into_iter().for_each(|id| needed[id.index()] = true);
    skeleton.above(|id| needed[id.index()])
}

/// Up to eight consecutive frames in model space.
#[derive(Clone, Debug)]
pub struct Block {
    first: usize,
    frames: usize,
    joints: Vec<LaneTransform>,
}

impl Block {
    /// The frame in the first lane.
    pub fn first(&self) -> usize {
        self.first
    }

    /// The number of lanes with frames, 1 to 8; the remaining lanes repeat the last frame.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// All joints, eight frames side by side.
    pub fn lanes(&self) -> &[LaneTransform] {
        &self.joints
    }

    /// The model-space transform of one joint, `lane` frames after the first.
    pub fn joint(&self, lane: usize, id: JointId) -> Transform {
        self.joints[id.index()].lane(lane)
    }

    /// The position of one joint in metres, `lane` frames after the first.
    pub fn position(&self, lane: usize, id: JointId) -> Vec3 {
        self.joints[id.index()].position(lane)
    }
}

/// A clip prepared for forward kinematics in batches.
#[derive(Clone, Debug)]
pub struct Forward<'a> {
    clip: &'a Clip,
    joints: usize,
    links: Vec<PreparedJoint>,
}

#[derive(Clone, Debug)]
struct PreparedJoint {
    joint: usize,
    parent: Option<usize>,
    rest: LaneVec3,
    /// The index among the clip's translated joints.
    track: Option<usize>,
}

impl<'a> Forward<'a> {
    /// Prepares `clip`, which plays on `skeleton`.
    ///
    /// # Panics
    /// Where the clip belongs to another skeleton.
    pub fn new(skeleton: &Skeleton, clip: &'a Clip) -> Self {
        Self::towards(skeleton, clip, skeleton.ids())
    }

    /// Prepares `clip` for these joints and their ancestors; blocks are undefined for the others.
    ///
    /// # Panics
    /// Where the clip belongs to another skeleton.
    pub fn towards(skeleton: &Skeleton, clip: &'a Clip, wanted: impl IntoIterator<Item = JointId>) -> Self {
        assert_eq!(clip.joints(), skeleton.len(), "a clip belongs to its skeleton");
        let needed = up_to_the_root(skeleton, wanted);
        let link = |id: JointId| PreparedJoint {
            joint: id.index(),
            parent: skeleton.parent(id).map(JointId::index),
            rest: splat_vec3(&skeleton.joint(id).rest.translation),
            track: clip.translated().binary_search(&id).ok(),
        };
        let links = skeleton.ids().filter(|id| needed[id.index()]).map(link).collect();
        Self { clip, joints: skeleton.len(), links }
    }

    /// The number of blocks of the clip.
    pub fn blocks(&self) -> usize {
        self.clip.frames().div_ceil(LANES)
    }

    /// An empty block to compute into.
    pub fn workspace(&self) -> Block {
        Block { first: 0, frames: 0, joints: vec![LaneTransform::identity(); self.joints] }
    }

    /// Computes the block of this number into `block`, bit-identical on every processor, without allocation.
    ///
    /// # Panics
    /// Where there is no such block, or the workspace belongs to another skeleton.
    pub fn compute(&self, number: usize, block: &mut Block) {
        let mut composition = self.composition(number, block);
        in_wide_registers(
            #[inline(always)]
            || composition.compose(),
        );
    }

    fn composition<'b>(&'b self, number: usize, block: &'b mut Block) -> Composition<'b> {
        let frames = self.clip.frames();
        block.first = number * LANES;
        block.frames = LANES.min(frames - block.first);
        let frame = |lane: usize| (block.first + lane).min(frames - 1);
        Composition {
            links: &self.links,
            rotations: std::array::from_fn(|lane| self.clip.rotations(frame(lane))),
            translations: std::array::from_fn(|lane| self.clip.translations(frame(lane))),
            joints: &mut block.joints[..self.joints],
        }
    }

    /// Calls `consume` with every block, in order.
    pub fn for_each(&self, mut consume: impl FnMut(&Block)) {
        let mut block = self.workspace();
        for number in 0..self.blocks() {
            self.compute(number, &mut block);
            consume(&block);
        }
    }
}

/// The inputs and the output of one block: links, frames of the clip, joints in model space.
struct Composition<'a> {
    links: &'a [PreparedJoint],
    rotations: [RotationRow<'a>; LANES],
    translations: [&'a [Vec3]; LANES],
    joints: &'a mut [LaneTransform],
}

impl Composition<'_> {
    #[inline(always)]
    fn compose(&mut self) {
        // Slices of equal length: the bounds check of a joint is made once, not eight times.
        let joints = self.joints.len();
        let mut rotations = self.rotations.each_ref().map(|row| &**row);
        for list in &mut rotations {
            *list = &list[..joints];
        }
        for link in self.links {
            let translation = match link.track {
                Some(k) => lane_vec3(&self.translations, k),
                None => link.rest,
            };
            let local = LaneTransform { rotation: lane_quat(&rotations, link.joint), translation };
            self.joints[link.joint] = match link.parent {
                Some(parent) => self.joints[parent] * local,
                None => local,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, exp};
    use crate::model::Joint;
    use proptest::prelude::*;

    fn vector(size: f64) -> impl Strategy<Value = Vec3> {
        [-size..size, -size..size, -size..size].prop_map(|v| Vec3::new(v[0], v[1], v[2]))
    }

    /// A random tree of `n` joints and a clip of `frames` frames in which the root and the last joint travel.
    fn scene() -> impl Strategy<Value = (Skeleton, Clip)> {
        (2..40usize, 0..20usize).prop_flat_map(|(n, frames)| {
            let joints =
                proptest::collection::vec((vector(0.5), vector(3.0), any::<prop::sample::Index>()), n);
            let rotations = proptest::collection::vec(vector(3.0), n * frames);
            let translations = proptest::collection::vec(vector(5.0), 2 * frames);
            (joints, rotations, translations).prop_map(move |(joints, rotations, translations)| {
                let joint = |(i, (offset, rotation, parent)): (usize, &(Vec3, Vec3, prop::sample::Index))| {
                    let parent = (i > 0).then(|| JointId::new(parent.index(i)));
                    Joint::new(format!("j{i}"), parent, Transform::new(exp(rotation), *offset))
                };
                let skeleton = Skeleton::new(joints.iter().enumerate().map(joint).collect()).unwrap();
                let rotations: Vec<Quat> = rotations.iter().map(exp).collect();
                let translated = vec![JointId::new(0), JointId::new(n - 1)];
                (skeleton, Clip::new("", 30.0, n, rotations, translated, translations))
            })
        })
    }

    proptest! {
        #[test]
        fn batches_agree_with_the_exact_pose((skeleton, clip) in scene()) {
            let mut seen = 0;
            Forward::new(&skeleton, &clip).for_each(|block| {
                assert_eq!(block.first(), seen);
                for lane in 0..block.frames() {
                    let exact = ModelPose::of(&skeleton, &clip.pose(&skeleton, seen + lane));
                    let size = exact.joints().iter().map(|t| t.translation.norm()).fold(1.0, f64::max);
                    for id in skeleton.ids() {
                        let found = block.joint(lane, id);
                        assert!((found.translation - exact.position(id)).norm() < 1e-5 * size);
                        assert!(found.rotation.angle_to(&exact.joint(id).rotation) < 1e-5);
                    }
                }
                seen += block.frames();
            });
            prop_assert_eq!(seen, clip.frames());
        }

        #[test]
        fn wide_registers_change_no_bit((skeleton, clip) in scene()) {
            let forward = Forward::new(&skeleton, &clip);
            let (mut wide, mut plain) = (forward.workspace(), forward.workspace());
            for number in 0..forward.blocks() {
                forward.compute(number, &mut wide);
                forward.composition(number, &mut plain).compose();
                prop_assert_eq!(wide.lanes(), plain.lanes());
            }
        }

        #[test]
        fn some_joints_are_where_all_are((skeleton, clip) in scene(), wanted: prop::sample::Index) {
            let wanted = JointId::new(wanted.index(skeleton.len()));
            let mut all = Vec::new();
            Forward::new(&skeleton, &clip).for_each(|b| all.push(b.joint(b.frames() - 1, wanted)));
            let mut some = Vec::new();
            Forward::towards(&skeleton, &clip, [wanted]).for_each(|b| some.push(b.joint(b.frames() - 1, wanted)));
            prop_assert_eq!(some, all);
        }

        #[test]
        fn a_single_frame_is_the_exact_pose((skeleton, clip) in scene()) {
            let mut scratch = skeleton.rest_pose();
            let mut model = skeleton.rest_model_pose();
            for frame in 0..clip.frames() {
                forward(&skeleton, &clip, frame, &mut scratch, &mut model);
                prop_assert_eq!(&model, &ModelPose::of(&skeleton, &clip.pose(&skeleton, frame)));
            }
        }

        #[test]
        fn all_frames_are_those_one_by_one((skeleton, clip) in scene()) {
            let one_by_one: Vec<ModelPose> =
                (0..clip.frames()).map(|f| ModelPose::of(&skeleton, &clip.pose(&skeleton, f))).collect();
            prop_assert_eq!(map_frames(&skeleton, &clip, ModelPose::clone), one_by_one);
        }

        #[test]
        fn some_joints_of_all_frames_are_where_all_are((skeleton, clip) in scene(), wanted: prop::sample::Index) {
            let wanted = JointId::new(wanted.index(skeleton.len()));
            let some = map_frames_towards(&skeleton, &clip, [wanted], |m| *m.joint(wanted));
            prop_assert_eq!(map_frames(&skeleton, &clip, |m| *m.joint(wanted)), some);
        }
    }
}
