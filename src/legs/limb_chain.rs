//! Leg and arm chains of a rig, and their transforms in every frame of a motion.
//!
//! Space: model space unless said otherwise. Units: metres.

use crate::body::CharacterBody;
use crate::kinematics::Towards;
use crate::math::{Quat, Transform, Vec3, exp, log};
use crate::model::{ContactPart, JointId, ModelPose, Motion, Role, Side};
use crate::parallel;

/// A two-bone limb whose end can be in contact: a leg with its foot, or an arm with its hand.
#[derive(Clone, Debug, PartialEq)]
pub struct LimbChain {
    /// The side of the body.
    pub side: Side,
    /// The hip joint, of an arm the shoulder.
    pub upper: JointId,
    /// The knee joint, of an arm the elbow.
    pub lower: JointId,
    /// The ankle joint, of an arm the wrist.
    pub foot: JointId,
    /// The toe joint, if there is one.
    pub toes: Option<JointId>,
    /// The lengths of thigh and shin in the reference pose.
    pub bones: [f64; 2],
    /// Height of the ankle above the sole in the reference pose.
    pub ankle: f64,
    /// Horizontal distance from ankle to ball in the reference pose: the lever of a rising heel; 0 if there is no ball.
    /// Skin and bones agree about it, unlike about the heel.
    pub forefoot: f64,
    /// The contact points of the sole: the part, its joint, and the position in that joint's space.
    pub soles: Vec<(ContactPart, JointId, Vec3)>,
}

impl LimbChain {
    /// The leg of one side of a body; `None` if a joint of it is missing.
    pub fn of(body: &CharacterBody, side: Side) -> Option<LimbChain> {
        Self::limb(body, [Role::UpperLeg(side), Role::LowerLeg(side), Role::Foot(side)])
    }

    /// The arm of one side, with the palm as its sole.
    pub fn arm(body: &CharacterBody, side: Side) -> Option<LimbChain> {
        Self::limb(body, [Role::UpperArm(side), Role::LowerArm(side), Role::Hand(side)])
    }

    fn limb(body: &CharacterBody, roles: [Role; 3]) -> Option<LimbChain> {
        let (rig, stand) = (body.rig(), body.pose());
        let side = roles[2].side()?;
        let [upper, lower, foot] = roles.map(|role| rig.joint(role));
        let (upper, lower, foot) = (upper?, lower?, foot?);
        let at = [upper, lower, foot].map(|id| stand.position(id));
        let bones = [(at[1] - at[0]).norm(), (at[2] - at[1]).norm()];
        let toes = rig.joint(Role::Toes(side)).filter(|_| roles[2] == Role::Foot(side));
        let of_limb = |part: ContactPart| match roles[2] {
            Role::Foot(_) => part == ContactPart::Heel(side) || part == ContactPart::Ball(side),
            _ => part == ContactPart::Hand(side),
        };
        let soles: Vec<_> = body.contact_points().iter().filter(|p| of_limb(p.part)).collect();
        let lowest = soles.iter().map(|p| stand.joint(p.joint).point(&p.at).y - p.radius);
        let ankle = lowest.min_by(f64::total_cmp).map_or(0.0, |low| (at[2].y - low).max(0.0));
        let ball = soles.iter().find(|p| p.part == ContactPart::Ball(side));
        let forefoot = ball.map_or(0.0, |p| (stand.joint(p.joint).point(&p.at) - at[2]).xz().norm());
        let soles = soles.iter().map(|p| (p.part, p.joint, p.at)).collect();
        let whole = bones.iter().all(|b| *b > 1e-6);
        whole.then_some(LimbChain { side, upper, lower, foot, toes, bones, ankle, forefoot, soles })
    }

    /// The length of thigh plus shin.
    pub fn length(&self) -> f64 {
        self.bones[0] + self.bones[1]
    }

    /// The joints, from the hip to the toes.
    pub fn joints(&self) -> impl Iterator<Item = JointId> {
        [self.upper, self.lower, self.foot].into_iter().chain(self.toes)
    }
}

/// The model-space transforms of a leg in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbPose {
    /// The upper leg.
    pub upper: Transform,
    /// The lower leg.
    pub lower: Transform,
    /// The foot.
    pub foot: Transform,
    /// The toes; the foot, if there is no toe joint.
    pub toes: Transform,
}

impl LimbPose {
    /// Hip, knee and ankle.
    pub fn hip_knee_ankle(&self) -> [Vec3; 3] {
        [self.upper.translation, self.lower.translation, self.foot.translation]
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
    pub fn sole(&self, leg: &LimbChain, joint: JointId, at: &Vec3) -> Vec3 {
        let parent = if Some(joint) == leg.toes { &self.toes } else { &self.foot };
        parent.point(at)
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

/// The positions of a leg's joints in one frame, without rotations: less memory than a [`LimbPose`] for long takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LimbPositions {
    /// The upper leg.
    pub hip: Vec3,
    /// The lower leg.
    pub knee: Vec3,
    /// The foot.
    pub ankle: Vec3,
    /// The toes; the foot, if there is no toe joint.
    pub toes: Vec3,
}

impl LimbPositions {
    /// The positions multiplied by `k`.
    pub fn scaled(&self, k: f64) -> LimbPositions {
        LimbPositions { hip: self.hip * k, knee: self.knee * k, ankle: self.ankle * k, toes: self.toes * k }
    }
}

/// Types with the joint positions of a leg.
pub trait HasPositions: Sync {
    /// The joint positions.
    fn positions(&self) -> LimbPositions;
}

impl HasPositions for LimbPositions {
    fn positions(&self) -> LimbPositions {
        *self
    }
}

impl HasPositions for LimbPose {
    fn positions(&self) -> LimbPositions {
        let [hip, knee, ankle] = self.hip_knee_ankle();
        LimbPositions { hip, knee, ankle, toes: self.toes.translation }
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

/// The result of `of` for every leg in every frame.
fn map_frames<T: Copy + Send>(
    motion: &Motion,
    legs: &[&LimbChain],
    empty: T,
    of: impl Fn(LimbPose) -> T + Sync,
) -> Vec<Vec<T>> {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let towards = Towards::new(skeleton, legs.iter().flat_map(|leg| leg.joints()));
    let leg_pose = |leg: &LimbChain, model: &ModelPose| {
        let foot = *model.joint(leg.foot);
        let toes = leg.toes.map_or(foot, |t| *model.joint(t));
        LimbPose { upper: *model.joint(leg.upper), lower: *model.joint(leg.lower), foot, toes }
    };
    let mut all: Vec<Vec<T>> = legs.iter().map(|_| vec![empty; clip.frames()]).collect();
    /// Frames per parallel task; the same frames of all legs are processed together.
    const BLOCK: usize = 64;
    let mut blocks: Vec<Vec<&mut [T]>> = Vec::new();
    blocks.resize_with(clip.frames().div_ceil(BLOCK), Vec::new);
    for poses in &mut all {
        blocks.iter_mut().zip(poses.chunks_mut(BLOCK)).for_each(|(block, poses)| block.push(poses));
    }
    parallel::for_each(&mut blocks, 1, |number, block| {
        let (mut pose, mut model) = (skeleton.rest_pose(), skeleton.rest_model_pose());
        for n in 0..block.first().map_or(0, |poses| poses.len()) {
            clip.read_pose(number * BLOCK + n, &mut pose);
            towards.set(&pose, &mut model);
            legs.iter().zip(&mut *block).for_each(|(leg, poses)| poses[n] = of(leg_pose(leg, &model)));
        }
    });
    all
}
