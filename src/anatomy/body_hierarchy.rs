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
    let last = rig.chain(role).len().checked_sub(1)?;
    u8::try_from(last).ok().map(role)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::model::{Assignment, Joint, Skeleton};

    #[test]
    fn a_spine_of_as_many_joints_as_there_are_numbers_has_a_last_one() {
        let parent = |k: usize| k.checked_sub(1).map(JointId::new);
        let joint = |k: usize| Joint::new(format!("j{k}"), parent(k), Transform::identity());
        let skeleton = Skeleton::new((0..300).map(joint).collect()).unwrap();
        let spine = |n: u8| (Role::Spine(n), Assignment::new(JointId::new(usize::from(n)), 1.0, "test"));
        assert_eq!(
            last(&Rig::new(skeleton.clone(), (0..=255).map(spine)), Role::Spine),
            Some(Role::Spine(255))
        );
        assert_eq!(last(&Rig::new(skeleton, []), Role::Spine), None);
    }
}
