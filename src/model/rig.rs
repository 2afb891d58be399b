//! A skeleton with roles assigned to joints (with confidence and reason) and user-specified ranges of motion.

use super::{JointId, Mobility, Role, Skeleton};
use std::collections::BTreeMap;

/// One joint's role, with the confidence and the reason.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Assignment {
    /// The joint.
    pub joint: JointId,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f64,
    /// The evidence, as text for the user.
    pub reason: String,
    /// The second-best joint and its confidence, if there was a candidate.
    pub runner_up: Option<(JointId, f64)>,
}

impl Assignment {
    /// Below this confidence an assignment is a guess: it is reported with its runner-up, and for indispensable roles
    /// it is not used unless the user confirms it. Half of the confidence of a plain name (1.0): the evidence for and
    /// against is then equal.
    pub const SURE: f64 = 0.5;

    /// Below this confidence an assignment is used and reported as doubtful, with its runner-up and the line that changes it.
    /// The lowest confidence of a role read from an unambiguous name or shape; at 0.5 a wrong role passes in silence, at
    /// 0.9 every role of a rig without names is reported.
    pub const DOUBTFUL: f64 = 0.7;

    /// An assignment without another candidate.
    pub fn new(joint: JointId, confidence: f64, reason: impl Into<String>) -> Self {
        Self { joint, confidence, reason: reason.into(), runner_up: None }
    }

    /// The same, with the second-best joint.
    #[must_use]
    pub fn with_runner_up(self, runner_up: Option<(JointId, f64)>) -> Self {
        Self { runner_up, ..self }
    }

    /// Whether the joint can be used without confirmation.
    pub fn is_sure(&self) -> bool {
        self.confidence >= Self::SURE
    }

    /// Whether a user should check the joint.
    pub fn is_doubtful(&self) -> bool {
        self.confidence < Self::DOUBTFUL
    }
}

/// A skeleton with roles: every role has at most one joint and every joint at most one role.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Rig {
    skeleton: Skeleton,
    by_role: BTreeMap<Role, Assignment>,
    roles: Vec<Option<Role>>,
    mobilities: BTreeMap<Role, Mobility>,
}

impl Rig {
    /// A rig of these roles; later entries replace earlier ones of the same role or joint.
    pub fn new(skeleton: Skeleton, assignments: impl IntoIterator<Item = (Role, Assignment)>) -> Self {
        let roles = vec![None; skeleton.len()];
        let mut rig = Self { skeleton, by_role: BTreeMap::new(), roles, mobilities: BTreeMap::new() };
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

    /// The same skeleton with other roles; user-specified mobilities are kept.
    #[must_use]
    pub fn with_roles(&self, assignments: impl IntoIterator<Item = (Role, Assignment)>) -> Self {
        Self { mobilities: self.mobilities.clone(), ..Self::new(self.skeleton.clone(), assignments) }
    }

    /// The same rig with a user-specified range of motion for the joint of `role`.
    #[must_use]
    pub fn with_mobility(mut self, role: Role, mobility: Mobility) -> Self {
        self.mobilities.insert(role, mobility);
        self
    }

    /// The user-specified range of motion for the joint of `role`; without one the published human range applies.
    pub fn mobility_override(&self, role: Role) -> Option<&Mobility> {
        self.mobilities.get(&role)
    }

    /// The joint tree.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The joint of `role`.
    pub fn joint(&self, role: Role) -> Option<JointId> {
        self.by_role.get(&role).map(|a| a.joint)
    }

    /// The role of `joint`.
    pub fn role(&self, joint: JointId) -> Option<Role> {
        self.roles[joint.index()]
    }

    /// The assignment of `role`.
    pub fn assignment(&self, role: Role) -> Option<&Assignment> {
        self.by_role.get(&role)
    }

    /// All assigned roles, in the order of [`Role`].
    pub fn assignments(&self) -> impl Iterator<Item = (Role, &Assignment)> {
        self.by_role.iter().map(|(role, a)| (*role, a))
    }

    /// The joints of a chain of roles (`Role::Spine`, `Role::Neck`, ...), from the body outwards.
    pub fn chain(&self, role: impl Fn(u8) -> Role) -> Vec<JointId> {
        (0..=u8::MAX).map_while(|n| self.joint(role(n))).collect()
    }
}
