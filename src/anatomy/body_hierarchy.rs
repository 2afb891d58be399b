//! Parents of body parts in anatomy, independent of the joint tree of a file.

use crate::model::{JointId, Rig, Role};

/// The parent of `role` in the body: the nearest role towards the hips that the rig has; `None` for the hips and for
/// roles without such a parent.
pub fn parent_role(rig: &Rig, role: Role) -> Option<Role> {
    std::iter::successors(inner(rig, role), |role| inner(rig, *role)).find(|role| rig.joint(*role).is_some())
}

/// The joint of [`parent_role`].
pub fn parent_joint(rig: &Rig, role: Role) -> Option<JointId> {
    parent_role(rig, role).and_then(|role| rig.joint(role))
}

/// The last role of a numbered chain.
pub fn last(rig: &Rig, role: fn(u8) -> Role) -> Option<Role> {
    let count = rig.chain(role).len();
    u8::try_from(count).ok().and_then(|n| n.checked_sub(1)).map(role)
}

/// The parent of `role` in a body with all roles, given the spine and neck of this rig.
fn inner(rig: &Rig, role: Role) -> Option<Role> {
    let chest = || last(rig, Role::Spine).unwrap_or(Role::Hips);
    Some(match role {
        Role::Hips => return None,
        Role::Spine(0) | Role::Tail(0) | Role::UpperLeg(_) => Role::Hips,
        Role::Spine(n) => Role::Spine(n - 1),
        Role::Neck(0) | Role::Clavicle(_) => chest(),
        Role::Neck(n) => Role::Neck(n - 1),
        Role::Head => last(rig, Role::Neck).unwrap_or_else(chest),
        Role::UpperArm(s) => Role::Clavicle(s),
        Role::LowerArm(s) => Role::UpperArm(s),
        Role::Hand(s) => Role::LowerArm(s),
        Role::Finger(s, _, 0) => Role::Hand(s),
        Role::Finger(s, f, n) => Role::Finger(s, f, n - 1),
        Role::LowerLeg(s) => Role::UpperLeg(s),
        Role::Foot(s) => Role::LowerLeg(s),
        Role::Toes(s) => Role::Foot(s),
        Role::Tail(n) => Role::Tail(n - 1),
    })
}
