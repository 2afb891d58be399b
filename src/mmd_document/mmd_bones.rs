//! Bones of a model, with the bones that they copy and the chains that they pull.

use crate::math::{Quat, Transform, Vec3, exp, log};

/// A bone. All its axes are those of the model in the bind pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MmdBone {
    /// The Japanese name, by which motions address it.
    pub name: String,
    /// The bone above it, in the file.
    pub parent: Option<usize>,
    /// The bone above it in the skeleton that is imported: see [`attach`].
    pub above: Option<usize>,
    /// Its position in the bind pose, metres.
    pub position: Vec3,
    /// Bones are evaluated by this number, then in their order: `(after physics, layer)`.
    pub order: (bool, i32),
    /// What it takes from another bone.
    pub append: Option<Append>,
    /// The chain that follows it.
    pub ik: Option<IkChain>,
}

/// A share of another bone's own motion, which a bone adds to its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Append {
    /// The other bone.
    pub source: usize,
    /// The share; may be negative.
    pub ratio: f64,
    /// Whether rotations are copied.
    pub rotates: bool,
    /// Whether displacements are copied.
    pub moves: bool,
}

/// Bones that rotate so that one of them reaches the bone that has the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct IkChain {
    /// The bone that reaches.
    pub target: usize,
    /// Passes over the chain.
    pub loops: u32,
    /// Largest rotation of a bone in a pass, radians.
    pub step: f64,
    /// The bones that rotate, the nearest to the target first.
    pub links: Vec<IkLink>,
}

/// A bone of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct IkLink {
    /// The bone.
    pub bone: usize,
    /// Least and greatest angle about each axis, radians.
    pub limit: Option<[Vec3; 2]>,
}

impl Append {
    /// The share of a rotation and a displacement.
    pub fn of(&self, moved: &Transform) -> Transform {
        let rotation = match self.rotates {
            true => exp(&(log(&moved.rotation) * self.ratio)),
            false => Quat::identity(),
        };
        let translation = if self.moves { moved.translation * self.ratio } else { Vec3::zeros() };
        Transform::new(rotation, translation)
    }
}

impl MmdBone {
    /// The position in the space of the bone above it in the file, in the bind pose.
    pub fn offset(&self, bones: &[MmdBone]) -> Vec3 {
        self.position - self.parent.map_or_else(Vec3::zeros, |p| bones[p].position)
    }

    /// The rotation and displacement that the bone has of its own, if its transform in its parent is `local` and it takes `share`.
    pub fn own(&self, bones: &[MmdBone], local: &Transform, share: &Transform) -> Transform {
        let rotation = local.rotation * share.rotation.inverse();
        Transform::new(rotation, local.translation - self.offset(bones) - share.translation)
    }
}

/// Two bones closer than this are at one place, metres: a hundredth of a unit, above the rounding of editors.
const SAME_PLACE: f64 = 8e-4;

/// Sets what each bone is attached to in the imported skeleton. Two bones move elsewhere; clips are converted, so that no bone moves
/// differently:
/// * A bone that copies the whole rotation of another one at the same place (`左足D`), below it: it follows also if only the other is
///   animated.
/// * The upper body (`上半身`) below the lower body (`下半身`), which are siblings in files: then the lower body is the hips, which
///   are parents of spine and legs, as in other programs.
pub fn attach(bones: &mut [MmdBone]) {
    for bone in bones.iter_mut() {
        bone.above = bone.parent;
    }
    for k in 0..bones.len() {
        let Some(append) = bones[k].append.clone().filter(|a| a.rotates && !a.moves && a.ratio == 1.0) else {
            continue;
        };
        let (copy, source) = (&bones[k], &bones[append.source]);
        let near = (copy.position - source.position).norm() < SAME_PLACE;
        // Their parents move alike: they are one, or the one was attached to the other.
        let alike = copy.parent == source.parent
            || copy.parent.is_some_and(|p| source.parent.is_some() && bones[p].above == source.parent);
        if near && alike && !is_below(bones, append.source, k) {
            bones[k].above = Some(append.source);
        }
    }
    let find = |bones: &[MmdBone], name: &str| bones.iter().position(|bone| bone.name == name);
    if let (Some(upper), Some(lower)) = (find(bones, "上半身"), find(bones, "下半身"))
        && bones[upper].parent == bones[lower].parent
        && !is_below(bones, lower, upper)
    {
        bones[upper].above = Some(lower);
    }
}

/// Whether a bone is attached below another one, or is it.
fn is_below(bones: &[MmdBone], bone: usize, top: usize) -> bool {
    std::iter::successors(Some(bone), |b| bones[*b].above).any(|b| b == top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bone(name: &str, parent: Option<usize>, copies: Option<usize>) -> MmdBone {
        let copy = |source| Append { source, ratio: 1.0, rotates: true, moves: false };
        MmdBone { name: name.into(), parent, append: copies.map(copy), ..MmdBone::default() }
    }

    #[test]
    fn copies_follow_what_they_copy_and_the_lower_body_carries_the_upper() {
        let mut bones = vec![
            bone("腰", None, None),
            bone("上半身", Some(0), None),
            bone("下半身", Some(0), None),
            bone("左足", Some(2), None),
            bone("左ひざ", Some(3), None),
            bone("左足D", Some(2), Some(3)),
            bone("左ひざD", Some(5), Some(4)),
            bone("左足先EX", Some(6), None),
            // Somewhere else.
            MmdBone { position: Vec3::x(), ..bone("左目", Some(0), Some(3)) },
        ];
        attach(&mut bones);
        let above: Vec<Option<usize>> = bones.iter().map(|b| b.above).collect();
        assert_eq!(above, [None, Some(2), Some(0), Some(2), Some(3), Some(3), Some(4), Some(6), Some(0)]);
    }

    #[test]
    fn a_share_of_a_rotation_may_be_negative() {
        let half = Append { source: 0, ratio: -0.5, rotates: true, moves: true };
        let moved = Transform::new(exp(&Vec3::new(0.2, 0.0, 0.0)), Vec3::y());
        let share = half.of(&moved);
        assert!((log(&share.rotation) - Vec3::new(-0.1, 0.0, 0.0)).norm() < 1e-12);
        assert!((share.translation + Vec3::y() * 0.5).norm() < 1e-12);
    }
}
