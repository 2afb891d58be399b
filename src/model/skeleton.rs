//! The immutable joint tree: names, parents and rest transforms; parents first, one root, by construction.

use super::{ModelPose, Pose};
use crate::math::{Transform, Vec3};
use std::collections::HashMap;
use std::ops::Range;

/// The index of a joint in its skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct JointId(u32);

impl JointId {
    /// The joint at position `index` of its skeleton.
    ///
    /// # Panics
    /// If `index` exceeds `u32::MAX`; importers limit the joint count far below.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("joint counts are bounded at import"))
    }

    /// The position in the skeleton's joint list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Length of the placeholder end site written for a leaf without a tip in formats that require one, as a share of (and
/// along) the nearest ancestor bone with a length. Importers ignore an end site of exactly this length.
pub const NO_TIP: f64 = 3.0 / 32.0;

/// Largest plausible distance in a file, metres: seven times the distance of the sun. Larger numbers are damage, and
/// squares of lengths would exceed the range of the 32-bit floats in which results are written.
pub const FARTHEST: f64 = 1e12;
/// Largest plausible distance of a body from the origin of an array or a table, metres: half the circumference of the earth.
pub const FARTHEST_ON_EARTH: f64 = 2e7;

/// One node of a skeleton.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Joint {
    /// Unique within the skeleton and never empty.
    pub name: String,
    /// The name in the file, possibly empty or repeated; `None` for a joint added by the import.
    pub file_name: Option<String>,
    /// The parent joint; `None` for the root only.
    pub parent: Option<JointId>,
    /// The rest transform, parent space from joint space, metres.
    pub rest: Transform,
    /// End of a leaf's bone in joint space, metres, if the file has one (BVH End Site, `_end` node).
    pub tip: Option<Vec3>,
}

impl Joint {
    /// A joint with the file's name and without a tip.
    pub fn new(name: impl Into<String>, parent: Option<JointId>, rest: Transform) -> Self {
        let name = name.into();
        Self { file_name: Some(name.clone()), name, parent, rest, tip: None }
    }
}

/// Why a list of joints is not a skeleton.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// The list is empty.
    #[error("a skeleton needs at least one joint")]
    Empty,
    /// A joint precedes its parent, or refers to a parent that does not exist.
    #[error("joint `{joint}` precedes its parent")]
    ParentAfterChild {
        /// The child's name.
        joint: String,
    },
    /// A second joint without a parent.
    #[error("joint `{joint}` is a second root")]
    SecondRoot {
        /// The second root's name.
        joint: String,
    },
    /// A name that is empty or already used.
    #[error("joint {index} has the name `{name}`, which is empty or already used")]
    Name {
        /// The position of the later joint.
        index: usize,
        /// The name.
        name: String,
    },
    /// A rest transform with a number that is not finite.
    #[error("the rest transform of joint `{joint}` is not finite")]
    NotFinite {
        /// The joint's name.
        joint: String,
    },
}

/// An immutable joint tree: parents precede children, the first joint is the only root, names are unique.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", serde(try_from = "Vec<Joint>", into = "Vec<Joint>"))]
pub struct Skeleton {
    joints: Vec<Joint>,
    parents: Vec<Option<JointId>>,
    children: Vec<Vec<JointId>>,
    /// As [`Skeleton::subtrees`] returns it.
    subtrees: Vec<Range<usize>>,
    by_name: HashMap<String, JointId>,
}

#[cfg(feature = "serialize")]
impl TryFrom<Vec<Joint>> for Skeleton {
    type Error = SkeletonError;

    fn try_from(joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        Self::new(joints)
    }
}

#[cfg(feature = "serialize")]
impl From<Skeleton> for Vec<Joint> {
    fn from(skeleton: Skeleton) -> Self {
        skeleton.joints
    }
}

impl Skeleton {
    /// A skeleton of these joints, in this order.
    ///
    /// # Errors
    /// A [`SkeletonError`] for the first violation: order, single root, unique names, finite numbers.
    pub fn new(joints: Vec<Joint>) -> Result<Self, SkeletonError> {
        if joints.is_empty() {
            return Err(SkeletonError::Empty);
        }
        let mut children = vec![Vec::new(); joints.len()];
        let mut by_name = HashMap::with_capacity(joints.len());
        for (index, joint) in joints.iter().enumerate() {
            match joint.parent {
                Some(parent) if parent.index() < index => {
                    children[parent.index()].push(JointId::new(index));
                }
                Some(_) => return Err(SkeletonError::ParentAfterChild { joint: joint.name.clone() }),
                None if index == 0 => {}
                None => return Err(SkeletonError::SecondRoot { joint: joint.name.clone() }),
            }
            let taken = by_name.insert(joint.name.clone(), JointId::new(index)).is_some();
            if taken || joint.name.is_empty() {
                return Err(SkeletonError::Name { index, name: joint.name.clone() });
            }
            let tip_finite = joint.tip.is_none_or(|t| t.iter().all(|x| x.is_finite()));
            if !joint.rest.is_finite() || !tip_finite {
                return Err(SkeletonError::NotFinite { joint: joint.name.clone() });
            }
        }
        let parents: Vec<Option<JointId>> = joints.iter().map(|j| j.parent).collect();
        let subtrees = subtrees(&parents);
        Ok(Self { joints, parents, children, subtrees, by_name })
    }

    /// The number of joints; at least one.
    #[allow(clippy::len_without_is_empty, reason = "a skeleton is never empty")]
    pub fn len(&self) -> usize {
        self.joints.len()
    }

    /// All joints, parents first.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// One joint.
    pub fn joint(&self, id: JointId) -> &Joint {
        &self.joints[id.index()]
    }

    /// All ids, parents first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = JointId> + ExactSizeIterator + use<> {
        (0..self.joints.len()).map(JointId::new)
    }

    /// The parent of every joint, `None` for the first.
    pub fn parents(&self) -> &[Option<JointId>] {
        &self.parents
    }

    /// The parent of one joint.
    pub fn parent(&self, id: JointId) -> Option<JointId> {
        self.parents[id.index()]
    }

    /// The children of one joint, in joint order.
    pub fn children(&self, id: JointId) -> &[JointId] {
        &self.children[id.index()]
    }

    /// The joint of this unique name.
    pub fn find(&self, name: &str) -> Option<JointId> {
        self.by_name.get(name).copied()
    }

    /// The joints from `id` up to the root, `id` first.
    pub fn path_to_root(&self, id: JointId) -> impl Iterator<Item = JointId> + '_ {
        std::iter::successors(Some(id), |&j| self.parent(j))
    }

    /// Whether `ancestor` lies on the path from `id` to the root; a joint is its own ancestor.
    pub fn is_ancestor(&self, ancestor: JointId, id: JointId) -> bool {
        self.subtrees[ancestor.index()].contains(&self.subtrees[id.index()].start)
    }

    /// For each joint, the numbers of its subtree, itself first, when joints are numbered depth first.
    pub(crate) fn subtrees(&self) -> &[Range<usize>] {
        &self.subtrees
    }

    /// For each joint, whether it or one of its descendants is like this.
    pub fn above(&self, like: impl Fn(JointId) -> bool) -> Vec<bool> {
        let mut above: Vec<bool> = self.ids().map(like).collect();
        for id in self.ids().rev() {
            if let Some(parent) = self.parent(id).filter(|_| above[id.index()]) {
                above[parent.index()] = true;
            }
        }
        above
    }

    /// For each joint, whether it is one of `tops` or a descendant of one.
    pub fn below(&self, tops: &[JointId]) -> Vec<bool> {
        let mut below = vec![false; self.len()];
        tops.iter().for_each(|top| below[top.index()] = true);
        for (k, parent) in self.parents.iter().enumerate() {
            below[k] |= parent.is_some_and(|p| below[p.index()]);
        }
        below
    }

    /// The rest pose in local space.
    pub fn rest_pose(&self) -> Pose {
        Pose::new(self.joints.iter().map(|j| j.rest).collect())
    }

    /// The rest pose in model space.
    pub fn rest_model_pose(&self) -> ModelPose {
        ModelPose::of(self, &self.rest_pose())
    }
}

/// The numbers of the subtree of every joint, depth first, of a list with parents first.
fn subtrees(parents: &[Option<JointId>]) -> Vec<Range<usize>> {
    let mut sizes = vec![1; parents.len()];
    for (k, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            sizes[parent.index()] += sizes[k];
        }
    }
    let mut subtrees: Vec<Range<usize>> = Vec::with_capacity(parents.len());
    // For each joint, the number that its next child gets.
    let mut next: Vec<usize> = Vec::with_capacity(parents.len());
    for (parent, size) in parents.iter().zip(sizes) {
        let start = parent.map_or(0, |p| next[p.index()]);
        if let Some(parent) = parent {
            next[parent.index()] += size;
        }
        subtrees.push(start..start + size);
        next.push(start + 1);
    }
    subtrees
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joint(name: &str, parent: Option<usize>) -> Joint {
        Joint::new(name, parent.map(JointId::new), Transform::identity())
    }

    #[test]
    fn broken_promises_are_refused_by_name() {
        assert_eq!(Skeleton::new(vec![]), Err(SkeletonError::Empty));
        let late = Skeleton::new(vec![joint("a", None), joint("b", Some(2)), joint("c", Some(0))]);
        assert_eq!(late, Err(SkeletonError::ParentAfterChild { joint: "b".into() }));
        let two = Skeleton::new(vec![joint("a", None), joint("b", None)]);
        assert_eq!(two, Err(SkeletonError::SecondRoot { joint: "b".into() }));
        let same = Skeleton::new(vec![joint("a", None), joint("a", Some(0))]);
        assert_eq!(same, Err(SkeletonError::Name { index: 1, name: "a".into() }));
        let mut bad = joint("a", None);
        bad.rest.translation.x = f64::NAN;
        assert_eq!(Skeleton::new(vec![bad.clone()]), Err(SkeletonError::NotFinite { joint: "a".into() }));
        let message = |joints| Skeleton::new(joints).unwrap_err().to_string();
        assert_eq!(message(vec![]), "a skeleton needs at least one joint");
        let late = vec![joint("a", None), joint("b", Some(2)), joint("c", Some(0))];
        assert_eq!(message(late), "joint `b` precedes its parent");
        assert_eq!(message(vec![joint("a", None), joint("b", None)]), "joint `b` is a second root");
        let used = "joint 1 has the name `a`, which is empty or already used";
        assert_eq!(message(vec![joint("a", None), joint("a", Some(0))]), used);
        assert_eq!(message(vec![joint("", None)]), "joint 0 has the name ``, which is empty or already used");
        assert_eq!(message(vec![bad]), "the rest transform of joint `a` is not finite");
    }

    #[test]
    fn the_tree_can_be_walked_both_ways() {
        let s = Skeleton::new(vec![joint("a", None), joint("b", Some(0)), joint("c", Some(1))]).unwrap();
        let c = s.find("c").unwrap();
        let path: Vec<_> = s.path_to_root(c).map(JointId::index).collect();
        assert_eq!(path, [2, 1, 0]);
        assert_eq!(s.below(&[s.find("b").unwrap()]), [false, true, true]);
        assert!(s.is_ancestor(s.find("a").unwrap(), c) && !s.is_ancestor(c, s.find("a").unwrap()));
    }
    #[test]
    fn ancestors_are_the_joints_on_the_path_to_the_root() {
        // Children of every earlier joint, in an order that is not depth first.
        let parent = |k: usize| (k > 0).then(|| (k * 7919 + 13) % k);
        let joints = (0..60).map(|k| joint(&format!("j{k}"), parent(k))).collect();
        let s = Skeleton::new(joints).unwrap();
        for (a, b) in s.ids().flat_map(|a| s.ids().map(move |b| (a, b))) {
            assert_eq!(s.is_ancestor(a, b), s.path_to_root(b).any(|j| j == a), "{a:?} {b:?}");
        }
    }
}
