//! Transforms and positions of limbs in every frame of a motion, and what moves them.
//!
//! Space: model space. Units: metres.

use super::limb_chain::LimbChain;
use super::timeline::TOGETHER;
use crate::contacts::REPEAT_TOLERANCE;
use crate::kinematics::{FramePoses, Towards};
use crate::math::{Quat, Transform, Vec3, exp, log};
use crate::model::{JointId, ModelPose, Motion};
use crate::parallel;
use crate::signal::distinct_frames;

/// A foot tilted by more than 60 degrees from the reference pose lies (cosine): feet whose heels are low tilt less, lying feet by 90.
const FOOT_LIES: f64 = 0.5;

/// The model-space transforms of a limb (leg or arm) in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbPose {
    /// The upper leg or arm.
    pub upper: Transform,
    /// The lower leg or forearm.
    pub lower: Transform,
    /// The foot or hand.
    pub foot: Transform,
    /// The toes; the foot, if there is no toe joint.
    pub toes: Transform,
}

impl LimbPose {
    /// The leg in a pose.
    pub fn of(chain: &LimbChain, model: &ModelPose) -> LimbPose {
        let mut foot = *model.joint(chain.foot);
        if let Some(end) = &chain.shin_end {
            foot.translation = foot.point(end);
        }
        let toes = chain.toes.map_or(foot, |t| *model.joint(t));
        LimbPose { upper: *model.joint(chain.upper), lower: *model.joint(chain.lower), foot, toes }
    }

    /// Hip, knee and ankle.
    pub fn hip_knee_ankle(&self) -> [Vec3; 3] {
        [self.upper.translation, self.lower.translation, self.foot.translation]
    }

    /// The positions of the joints.
    pub fn positions(&self) -> LimbPositions {
        let [hip, knee, ankle] = self.hip_knee_ankle();
        LimbPositions { hip, knee, ankle, toes: self.toes.translation }
    }

    /// The leg translated by `offset`.
    pub fn translated(&self, offset: &Vec3) -> LimbPose {
        let at = |t: &Transform| Transform::new(t.rotation, t.translation + offset);
        LimbPose {
            upper: at(&self.upper),
            lower: at(&self.lower),
            foot: at(&self.foot),
            toes: at(&self.toes),
        }
    }

    /// The leg with foot and toes rotated about the ankle.
    pub fn with_foot_rotated(&self, delta: &Quat) -> LimbPose {
        self.with_foot_tilted(&FootDelta { foot: *delta, toes: *delta })
    }

    /// The leg with its foot rotated about the ankle and its toes about their joint.
    pub fn with_foot_tilted(&self, FootDelta { foot, toes }: &FootDelta) -> LimbPose {
        let ankle = self.foot.translation;
        let at = |t: &Transform, delta: &Quat| {
            Transform::new(delta * t.rotation, ankle + foot * (t.translation - ankle))
        };
        LimbPose { foot: at(&self.foot, foot), toes: at(&self.toes, toes), ..*self }
    }

    /// The leg with its toes rotated about their joint.
    pub fn with_toes_rotated(&self, delta: &Quat) -> LimbPose {
        LimbPose { toes: Transform::new(delta * self.toes.rotation, self.toes.translation), ..*self }
    }

    /// The model-space position of a point of the sole.
    pub fn sole(&self, chain: &LimbChain, joint: JointId, at: &Vec3) -> Vec3 {
        let parent = if Some(joint) == chain.toes { &self.toes } else { &self.foot };
        parent.point(at)
    }

    /// Whether the foot lies on its instep, on its side or on its heel, so that its sole is off the floor.
    pub fn foot_lies(&self, chain: &LimbChain) -> bool {
        (self.foot.rotation * chain.foot_up).y < FOOT_LIES
    }

    /// The rotation of the foot.
    pub fn foot_rotation(&self) -> &Quat {
        &self.foot.rotation
    }
}

/// The delta rotations of a foot and of its toes in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootDelta {
    /// Of the foot.
    pub foot: Quat,
    /// Of the toes, in full: that of the foot moves them about the ankle and does not rotate them.
    pub toes: Quat,
}

impl FootDelta {
    /// Both rotations times `share`.
    pub fn times(&self, share: f64) -> FootDelta {
        let part = |delta: &Quat| exp(&(log(delta) * share));
        FootDelta { foot: part(&self.foot), toes: part(&self.toes) }
    }
}

/// The positions of a limb's joints in one frame, without rotations: less memory than a [`LimbPose`] for long takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimbPositions {
    /// Hip, of an arm the shoulder.
    pub hip: Vec3,
    /// Knee, of an arm the elbow.
    pub knee: Vec3,
    /// Ankle, of an arm the wrist.
    pub ankle: Vec3,
    /// The toe joint; the ankle, if there is none.
    pub toes: Vec3,
}

impl LimbPositions {
    /// The positions multiplied by `k`.
    pub fn scaled(&self, k: f64) -> LimbPositions {
        LimbPositions { hip: self.hip * k, knee: self.knee * k, ankle: self.ankle * k, toes: self.toes * k }
    }

    /// Whether no joint is further than [`REPEAT_TOLERANCE`] from another frame's.
    fn repeats(&self, other: &LimbPositions) -> bool {
        let all = |pose: &LimbPositions| [pose.hip, pose.knee, pose.ankle, pose.toes];
        all(self).into_iter().zip(all(other)).all(|(a, b)| (a - b).norm() < REPEAT_TOLERANCE)
    }
}

/// The transforms of every leg over a motion, by leg and frame.
pub fn limb_poses(motion: &Motion, legs: &[&LimbChain]) -> Vec<Vec<LimbPose>> {
    let nowhere = Transform::identity();
    let empty = LimbPose { upper: nowhere, lower: nowhere, foot: nowhere, toes: nowhere };
    map_frames(motion, legs, empty, |pose| pose)
}

/// The joint positions of every leg over a motion, by leg and frame.
pub fn limb_positions(motion: &Motion, legs: &[&LimbChain]) -> Vec<Vec<LimbPositions>> {
    map_frames(motion, legs, LimbPositions::default(), |pose| pose.positions())
}

/// Whether the legs in each frame differ from the last one that counts: a pose that is held counts once.
pub fn distinct_poses(poses: &[Vec<LimbPositions>]) -> Vec<bool> {
    let frames = poses.iter().map(Vec::len).min().unwrap_or(0);
    distinct_frames(frames, |a, b| poses.iter().all(|poses| poses[a].repeats(&poses[b])))
}

/// The result of `of` for every leg in every frame.
fn map_frames<T: Copy + Send>(
    motion: &Motion,
    legs: &[&LimbChain],
    empty: T,
    of: impl Fn(LimbPose) -> T + Sync,
) -> Vec<Vec<T>> {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let towards = Towards::new(skeleton, legs.iter().flat_map(|chain| chain.joints()));
    let mut all: Vec<Vec<T>> = legs.iter().map(|_| vec![empty; clip.frames()]).collect();
    /// Frames per parallel task; the same frames of all legs are processed together.
    const BLOCK: usize = 64;
    let mut blocks: Vec<Vec<&mut [T]>> = Vec::new();
    blocks.resize_with(clip.frames().div_ceil(BLOCK), Vec::new);
    for poses in &mut all {
        blocks.iter_mut().zip(poses.chunks_mut(BLOCK)).for_each(|(block, poses)| block.push(poses));
    }
    parallel::for_each(&mut blocks, 1, |number, block| {
        let mut models = FramePoses::new(&towards, clip);
        for n in 0..block.first().map_or(0, |poses| poses.len()) {
            let model = models.at(number * BLOCK + n);
            legs.iter().zip(&mut *block).for_each(|(chain, poses)| poses[n] = of(LimbPose::of(chain, model)));
        }
    });
    all
}

/// Changes the pose of every frame by that frame's element of `by`; none if it is empty.
pub fn each<T: Sync>(poses: &mut [LimbPose], by: &[T], change: impl Fn(&mut LimbPose, &T) + Sync) {
    let count = poses.len().min(by.len());
    parallel::for_each(&mut poses[..count], TOGETHER, |f, pose| change(pose, &by[f]));
}

/// Rotates the foot of a leg and its toes.
pub fn rotate_foot(poses: &mut [LimbPose], deltas: &[FootDelta]) {
    each(poses, deltas, |pose, delta| *pose = pose.with_foot_tilted(delta));
}

/// Translates a leg.
pub fn translate(poses: &mut [LimbPose], offsets: &[Vec3]) {
    each(poses, offsets, |pose, offset| *pose = pose.translated(offset));
}

/// Translates each leg by the motion of its hip joint when the pelvis tilts; orientations stay.
pub fn tilt_hips(direct_poses: &mut [Vec<LimbPose>], tilts: &[Quat]) {
    let [left, right] = direct_poses else { return };
    left.iter_mut().zip(right).zip(tilts).for_each(|((left, right), delta)| {
        let across = left.upper.translation - right.upper.translation;
        let half = (delta * across - across) * 0.5;
        (*left, *right) = (left.translated(&half), right.translated(&-half));
    });
}
