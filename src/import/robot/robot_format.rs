//! Import formats MJCF and URDF: a robot is read as a character whose joints are its hinges.

use super::mesh_files::MeshFiles;
use super::robot_error::RobotError;
use super::xml_files::XmlFiles;
use super::{mjcf, urdf};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::model::{Asset, Character, Rig};
use crate::robot_body::{centre_joints, robot_roles, stand};
use std::sync::Arc;

/// MuJoCo's models.
pub const MJCF: ReadFormat = ReadFormat {
    name: "mjcf",
    suffixes: &["xml", "mjcf"],
    about: "MuJoCo model of a robot: a character whose joints are hinges",
    loses: "meshes but their convex hulls, masses, actuators, sensors, everything beside the robot",
    // An URDF may hold options of MuJoCo.
    recognise: |head| {
        place(head, b"<mujoco").is_some_and(|at| place(head, b"<robot").is_none_or(|other| at < other))
    },
    read: import,
};

/// ROS's models.
pub const URDF: ReadFormat = ReadFormat {
    name: "urdf",
    suffixes: &["urdf"],
    about: "ROS model of a robot: a character whose joints are hinges",
    loses: "meshes, masses, transmissions",
    recognise: |head| place(head, b"<robot").is_some(),
    read: import,
};

fn place(head: &[u8], word: &[u8]) -> Option<usize> {
    head.windows(word.len()).position(|found| found == word)
}

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let files = XmlFiles::read(source)?;
    let tree = files.parse()?;
    let mut found = match tree.root().tag_name().name() {
        "mujoco" | "mujocoinclude" => mjcf::read(&tree, source.name)?,
        "robot" => urdf::read(&tree, source.name)?,
        other => {
            let (file, reason) = (tree.file().to_owned(), format!("its first element is <{other}>"));
            return Err(RobotError::NoRobot { file, reason }.into());
        }
    };
    let budget = options.budget(source.bytes);
    let mut meshes = MeshFiles::new(source.folder, &budget);
    found.add_meshes(&mut meshes, tree.file())?;
    drop(tree);
    let (mut robot, mut warnings) = (found.robot, found.warnings);
    warnings.extend(stand(&mut robot, source.name));
    centre_joints(&mut robot);
    let skeleton = robot.skeleton().map_err(RobotError::from)?;
    let rig = Rig::new(skeleton, robot_roles(&robot));
    let character = Character { robot: Some(Arc::new(robot)), ..Character::new(source.name, rig) };
    let mut companions = files.included();
    companions.extend(meshes.contents());
    Ok(Asset {
        character: Arc::new(character),
        clips: Vec::new(),
        meant: 0,
        warnings,
        companions,
        observed: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_urdf_with_options_of_mujoco_is_a_urdf() {
        let urdf = b"<robot name=\"a\">\n  <mujoco><compiler meshdir=\"m\"/></mujoco>";
        assert!((URDF.recognise)(urdf) && !(MJCF.recognise)(urdf));
        let mjcf = b"<mujoco model=\"a\">\n  <!-- made of <robot name=\"a\"> -->";
        assert!((MJCF.recognise)(mjcf));
    }
}
