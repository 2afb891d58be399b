//! A skeleton that is understood: which joint plays which role, how sure that is, and why.

use super::{JointId, Role, Skeleton};
use std::collections::BTreeMap;

/// One joint's role, with the confidence and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The joint.
    pub joint: JointId,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// Why, for people: names the evidence.
    pub reason: String,
}

/// A skeleton that is understood: every role has at most one joint and every joint at most one role.
#[derive(Clone, Debug, PartialEq)]
pub struct Rig {
    skeleton: Skeleton,
    by_role: BTreeMap<Role, Assignment>,
    roles: Vec<Option<Role>>,
}

impl Rig {
    /// A rig of these roles; later entries replace earlier ones of the same role or joint.
    pub fn new(skeleton: Skeleton, assignments: impl IntoIterator<Item = (Role, Assignment)>) -> Self {
        let roles = vec![None; skeleton.len()];
        let mut rig = Self { skeleton, by_role: BTreeMap::new(), roles };
        for (role, assignment) in assignments {
            if let Some(old) = rig.by_role.remove(&role) {
                rig.roles[old.joint.index()] = None;
            }
            if let Some(old) = rig.roles[assignment.joint.index()].replace(role) {
                rig.by_role.remove(&old);
            }
            rig.by_role.insert(role, assignment);
        }
        rig
    }

    /// The joint tree.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The joint that plays `role`.
    pub fn joint(&self, role: Role) -> Option<JointId> {
        self.by_role.get(&role).map(|a| a.joint)
    }

    /// The role that `joint` plays.
    pub fn role(&self, joint: JointId) -> Option<Role> {
        self.roles[joint.index()]
    }

    /// The assignment of `role`.
    pub fn assignment(&self, role: Role) -> Option<&Assignment> {
        self.by_role.get(&role)
    }

    /// All roles that are played, in the order of [`Role`].
    pub fn assignments(&self) -> impl Iterator<Item = (Role, &Assignment)> {
        self.by_role.iter().map(|(role, a)| (*role, a))
    }

    /// The joints of a chain of roles (`Role::Spine`, `Role::Neck`, ...), from the body outwards.
    pub fn chain(&self, role: impl Fn(u8) -> Role) -> Vec<JointId> {
        (0..=u8::MAX).map_while(|n| self.joint(role(n))).collect()
    }
}
