//! Bones of MikuMikuDance, for import and export: names, units, axes, bones that copy others, and a standard figure.
//!
//! A file of a motion (`.vmd`) names bones and has neither a skeleton nor a rest pose. Space: model space (right-handed, Y up, facing
//! +Z); `mmd_space` converts from and to the left-handed space of the files. Units: metres.

mod shift_jis;
mod mmd_space;
mod mmd_bones;
mod bone_extras;
mod standard_figure;

pub(crate) use bone_extras::{bone_extras, bones_of_document};
pub(crate) use mmd_bones::{Append, IkChain, IkLink, MmdBone, attach};
pub(crate) use mmd_space::{FRAME_RATE, point_from_mmd, point_to_mmd, rotation_from_mmd, rotation_to_mmd};
pub(crate) use shift_jis::{NAME_BYTES, decoded, encoded, without_padding};
pub(crate) use standard_figure::{ARM_SLOPE, humanoid_bones, standard_bones};
