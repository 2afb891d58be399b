//! Archives made in code: axes, paths, orders of rotations.

mod made_archive;
mod rotation_orders;
mod smpl_axes;
mod undeclared_axes;
