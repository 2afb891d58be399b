//! Archives made in code: axes, paths, orders of rotations.

mod made_archive;
mod smpl_axes;
