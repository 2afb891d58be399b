//! What a part hangs from in a body, whatever the tree of the file says.

use crate::model::{Rig, Role};

/// The role that carries `role` on this rig; `None` for the hips and for what hangs from nothing.
pub(super) fn carrier(rig: &Rig, role: Role) -> Option<Role> {
    let has = |role: &Role| rig.joint(*role).is_some();
    let chest = || last(rig, Role::Spine).unwrap_or(Role::Hips);
    let above: [Option<Role>; 2] = match role {
        Role::Hips => [None, None],
        Role::Spine(0) | Role::Tail(0) | Role::UpperLeg(_) => [Some(Role::Hips), None],
        Role::Spine(n) => [Some(Role::Spine(n - 1)), None],
        Role::Neck(0) | Role::Clavicle(_) => [Some(chest()), None],
        Role::Neck(n) => [Some(Role::Neck(n - 1)), None],
        Role::Head => [last(rig, Role::Neck), Some(chest())],
        Role::UpperArm(s) => [Some(Role::Clavicle(s)), Some(chest())],
        Role::LowerArm(s) => [Some(Role::UpperArm(s)), None],
        Role::Hand(s) => [Some(Role::LowerArm(s)), None],
        Role::Finger(s, _, 0) => [Some(Role::Hand(s)), None],
        Role::Finger(s, f, n) => [Some(Role::Finger(s, f, n - 1)), Some(Role::Hand(s))],
        Role::LowerLeg(s) => [Some(Role::UpperLeg(s)), None],
        Role::Foot(s) => [Some(Role::LowerLeg(s)), None],
        Role::Toes(s) => [Some(Role::Foot(s)), None],
        Role::Tail(n) => [Some(Role::Tail(n - 1)), None],
    };
    above.into_iter().flatten().find(has)
}

/// The last role of a chain that counts from 0.
pub(super) fn last(rig: &Rig, role: fn(u8) -> Role) -> Option<Role> {
    let count = rig.chain(role).len();
    u8::try_from(count).ok().and_then(|n| n.checked_sub(1)).map(role)
}
