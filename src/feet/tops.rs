//! The joints that carry a body through the world: moving these moves all of it, whatever the tree of the file says.

use crate::model::{Clip, JointId, Rig, Role};

/// The hips, and every part of the body that hangs elsewhere than under them (feet under a root bone, rigs exported in
/// pieces): joints with a role below, or that travel by themselves. What stands above the hips is left out, and
/// nothing that another of the list carries is in it.
pub fn tops(rig: &Rig, clip: &Clip) -> Vec<JointId> {
    let skeleton = rig.skeleton();
    let Some(hips) = rig.joint(Role::Hips) else { return vec![JointId::new(0)] };
    let mut body = vec![false; skeleton.len()];
    for id in skeleton.ids().rev() {
        body[id.index()] |= rig.role(id).is_some() || clip.translated().binary_search(&id).is_ok();
        if let Some(parent) = skeleton.parent(id).filter(|_| body[id.index()]) {
            body[parent.index()] = true;
        }
    }
    let above = |id: JointId| id != hips && skeleton.is_ancestor(id, hips);
    let top = |id: &JointId| {
        let hangs = skeleton.parent(*id).is_none_or(above);
        *id == hips || (body[id.index()] && hangs && !above(*id))
    };
    skeleton.ids().filter(top).collect()
}
