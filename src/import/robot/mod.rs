//! Reads the models of robots, MJCF and URDF, as characters whose joints are hinges.
//!
//! [`xml_files`] opens a file and what it includes, [`mjcf`] and [`urdf`] read the tree of links, [`mesh_files`] its meshes,
//! [`robot_format`] makes the character. [`motion_file`] reads its motion from trainers' files.

mod robot_error;
mod xml_files;
mod xml_element;
mod couplings;
mod mesh_vertices;
mod collada;
mod mesh_files;
mod robot_meshes;
mod robot_parts;
mod mjcf_defaults;
mod mjcf_shape;
mod mjcf_meshes;
mod mjcf;
mod urdf;
mod robot_format;
mod motion_arrays;
mod motion_order;
mod motion_doubts;
mod best_layout;
mod motion_file;

pub(super) use motion_file::{import as import_motion, make_robot};
pub use robot_error::RobotError;
pub use robot_format::{MJCF, URDF};

#[cfg(test)]
mod tests;
