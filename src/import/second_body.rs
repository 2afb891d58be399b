//! Finds further bodies in a file of which only one is used.
//!
//! Space: any, Y up. Units: those of the skeleton.

use crate::anatomy::detect_roles;
use crate::model::{Joint, JointId, ModelPose, Rig, Role, Side, Skeleton};
use crate::report::{Warnings, one_line};
use std::collections::BTreeMap;

/// Fewest joints of a body: hips, trunk, head, two legs and two arms of three joints.
const LEAST: usize = 15;

/// Warns of every body beside the one that has the roles of `rig`.
pub(super) fn warn_of_second_bodies(rig: &Rig, rest: &ModelPose, warnings: &mut Warnings) {
    let Some(hips) = rig.joint(Role::Hips) else { return };
    let skeleton = rig.skeleton();
    let mut on_path = vec![false; skeleton.len()];
    skeleton.path_to_root(hips).for_each(|id| on_path[id.index()] = true);
    // The branch of every joint: the first joint beside the path from the root to the hips.
    let mut branch: Vec<Option<JointId>> = vec![None; skeleton.len()];
    let mut branches: BTreeMap<JointId, Vec<JointId>> = BTreeMap::new();
    for id in skeleton.ids().filter(|id| !on_path[id.index()]) {
        let Some(parent) = skeleton.parent(id) else { continue };
        branch[id.index()] = match branch[parent.index()] {
            None if on_path[parent.index()] && parent != hips => Some(id),
            above => above,
        };
        if let Some(top) = branch[id.index()] {
            branches.entry(top).or_default().push(id);
        }
    }
    for (top, own) in branches {
        if own.len() < LEAST || own.iter().any(|id| rig.role(*id).is_some()) {
            continue;
        }
        let Some(found) = body_of(skeleton, rest, &own) else { continue };
        let name = |id: JointId| one_line(&skeleton.joint(id).name);
        let message = format!(
            "the file holds a second body of {} joints, which gets no motion: only the body of `{}` is used (export the body you \
             want as a file of its own, or assign its joints in a joint map, beginning with `hips = \"{}\"`)",
            own.len(),
            name(hips),
            name(found)
        );
        warnings.add("second-body", message, format!("joint {}", name(top)));
    }
}

/// The hips of the body that these joints are, if they are one with legs and arms.
fn body_of(skeleton: &Skeleton, rest: &ModelPose, own: &[JointId]) -> Option<JointId> {
    let joints = own.iter().map(|&id| {
        let parent = skeleton.parent(id).and_then(|p| own.binary_search(&p).ok()).map(JointId::new);
        let joint = skeleton.joint(id).clone();
        let rest = if parent.is_some() { joint.rest } else { *rest.joint(id) };
        Joint { parent, rest, ..joint }
    });
    let part = Skeleton::new(joints.collect()).ok()?;
    let pose = ModelPose::new(own.iter().map(|id| *rest.joint(*id)).collect());
    let rig = detect_roles(part, &pose, &[]);
    let whole =
        Side::BOTH.into_iter().flat_map(|s| [Role::UpperLeg(s), Role::LowerLeg(s), Role::UpperArm(s)]);
    let hips = rig.joint(Role::Hips)?;
    whole.into_iter().all(|role| rig.joint(role).is_some()).then(|| own[hips.index()])
}
