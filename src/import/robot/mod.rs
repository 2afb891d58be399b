//! Reads the models of robots, MJCF and URDF, as characters whose joints are hinges.
//!
//! [`xml_files`] opens a file and what it includes, [`mjcf`] and [`urdf`] read the tree of links, [`robot_format`] makes the
//! character.

mod robot_error;
mod xml_files;
mod xml_element;
mod robot_parts;
mod mjcf_defaults;
mod mjcf_shape;
mod mjcf;
mod urdf;
mod robot_format;

pub use robot_error::RobotError;
pub use robot_format::{MJCF, URDF};

#[cfg(test)]
mod tests;
