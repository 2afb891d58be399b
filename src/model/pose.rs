//! Poses of a skeleton, in local and in model space: two types, so that spaces cannot be confused.

use super::{JointId, Skeleton};
use crate::math::{Transform, Vec3};

/// A pose in local space: parent space from joint space, for every joint. Units: metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    local: Vec<Transform>,
}

impl Pose {
    /// A pose of these local transforms, in joint order.
    pub fn new(local: Vec<Transform>) -> Self {
        Self { local }
    }

    /// The local transforms in joint order.
    pub fn local(&self) -> &[Transform] {
        &self.local
    }

    /// The local transforms, mutable.
    pub fn local_mut(&mut self) -> &mut [Transform] {
        &mut self.local
    }

    /// The local transform of one joint.
    pub fn joint(&self, id: JointId) -> &Transform {
        &self.local[id.index()]
    }
}

/// A pose in model space: model space from joint space, for every joint. Units: metres.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ModelPose {
    joints: Vec<Transform>,
}

impl ModelPose {
    /// A pose of these model-space transforms, in joint order.
    pub fn new(joints: Vec<Transform>) -> Self {
        Self { joints }
    }

    /// The model-space pose of a local one: `model_from_joint = model_from_parent * parent_from_joint`.
    ///
    /// # Panics
    /// Where the pose has another number of joints than the skeleton.
    pub fn of(skeleton: &Skeleton, pose: &Pose) -> Self {
        let mut model = Self { joints: Vec::with_capacity(skeleton.len()) };
        model.set(skeleton, pose);
        model
    }

    /// As [`ModelPose::of`], overwriting this value without allocation.
    ///
    /// # Panics
    /// Where the pose has another number of joints than the skeleton.
    pub fn set(&mut self, skeleton: &Skeleton, pose: &Pose) {
        assert_eq!(pose.local().len(), skeleton.len(), "a pose belongs to its skeleton");
        self.joints.clear();
        // Most joints directly follow their parent in the list: its transform is kept at hand.
        let mut last = Transform::identity();
        for (id, (parent, local)) in skeleton.parents().iter().zip(pose.local()).enumerate() {
            last = match parent {
                Some(p) if p.index() + 1 == id => last * *local,
                Some(p) => self.joints[p.index()] * *local,
                None => *local,
            };
            self.joints.push(last);
        }
    }

    /// As [`ModelPose::set`], for these joints only. The list must contain every joint's parent, before the joint.
    ///
    /// # Panics
    /// Where this value or the pose has another number of joints than the skeleton.
    pub fn set_only(&mut self, skeleton: &Skeleton, pose: &Pose, joints: &[JointId]) {
        assert_eq!(pose.local().len(), skeleton.len(), "a pose belongs to its skeleton");
        assert_eq!(self.joints.len(), skeleton.len(), "a pose belongs to its skeleton");
        let mut last: Option<(JointId, Transform)> = None;
        for &id in joints {
            let local = *pose.joint(id);
            let model = match (skeleton.parent(id), last) {
                (Some(p), Some((above, model))) if p == above => model * local,
                (Some(p), _) => self.joints[p.index()] * local,
                (None, _) => local,
            };
            self.joints[id.index()] = model;
            last = Some((id, model));
        }
    }

    /// The local pose of this one: `parent_from_joint = model_from_parent^-1 * model_from_joint`.
    pub fn to_local(&self, skeleton: &Skeleton) -> Pose {
        let local = skeleton.parents().iter().zip(&self.joints).map(|(parent, model)| match parent {
            Some(p) => self.joints[p.index()].inverse() * *model,
            None => *model,
        });
        Pose::new(local.collect())
    }

    /// The model-space transforms in joint order.
    pub fn joints(&self) -> &[Transform] {
        &self.joints
    }

    /// The model-space transforms, mutable.
    pub(crate) fn joints_mut(&mut self) -> &mut [Transform] {
        &mut self.joints
    }

    /// The model-space transform of one joint.
    pub fn joint(&self, id: JointId) -> &Transform {
        &self.joints[id.index()]
    }

    /// The position of one joint in metres.
    pub fn position(&self, id: JointId) -> Vec3 {
        self.joints[id.index()].translation
    }
}
