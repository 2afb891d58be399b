//! The links and hinges that a reader finds, and the checks that hold for every format.

use super::robot_error::RobotError;
use super::xml_element::Element;
use crate::math::Transform;
use crate::model::{Hinge, Link, Robot, Shape};
use crate::report::Warnings;
use std::collections::HashSet;

/// Most links of a robot; a humanoid with hands has 80.
pub(super) const MAX_LINKS: usize = 4096;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct RobotParts {
    pub(super) links: Vec<Link>,
    pub(super) hinges: Vec<Hinge>,
    /// Shapes of each link that the file lets collide, and those that it does not.
    pub(super) shapes: Vec<[Vec<Shape>; 2]>,
    /// Shapes for collisions that are meshes, which are not read.
    pub(super) meshes: usize,
    names: HashSet<String>,
    hinge_names: HashSet<String>,
    pub(super) warnings: Warnings,
}

impl RobotParts {
    /// Adds a link; one without a name gets a number.
    ///
    /// # Errors
    /// A name that is taken, and too many links.
    pub(super) fn link(
        &mut self,
        element: &Element<'_, '_>,
        parent: Option<usize>,
        parent_from_link: Transform,
    ) -> Result<usize, RobotError> {
        if self.links.len() >= MAX_LINKS {
            let (file, what) = (element.tree.file().to_owned(), "links");
            return Err(RobotError::Limit { file, what, limit: MAX_LINKS, name: "MAX_LINKS" });
        }
        let name = unique(&mut self.names, element, "link", self.links.len())?;
        self.links.push(Link { name, parent, parent_from_link, shapes: Vec::new() });
        self.shapes.push([Vec::new(), Vec::new()]);
        Ok(self.links.len() - 1)
    }

    /// Adds a hinge; one without a name gets a number.
    ///
    /// # Errors
    /// A name that is taken.
    pub(super) fn hinge(&mut self, element: &Element<'_, '_>, hinge: Hinge) -> Result<(), RobotError> {
        let name = unique(&mut self.hinge_names, element, "joint", self.hinges.len())?;
        self.hinges.push(Hinge { name, ..hinge });
        Ok(())
    }

    /// The robot. Its first link gets no hinge: where it has one, a link is put before it.
    ///
    /// # Errors
    /// A file without hinges.
    pub(super) fn robot(mut self, name: &str, file: &str) -> Result<(Robot, Warnings), RobotError> {
        if self.hinges.is_empty() {
            let reason = format!("it has {} links and no hinge", self.links.len());
            return Err(RobotError::NoRobot { file: file.to_owned(), reason });
        }
        // Models for training turn the collisions of most links off: their shapes are those of the robot nevertheless.
        for (link, [collide, drawn]) in self.links.iter_mut().zip(self.shapes) {
            link.shapes = if collide.is_empty() { drawn } else { collide };
        }
        if self.meshes > 0 {
            let message = format!(
                "{} shapes are meshes, which are not read: collisions are those of the other shapes, and of the links where there \
                 are none",
                self.meshes
            );
            self.warnings.add("robot-meshes", message, file);
        }
        let mut robot = Robot { name: name.to_owned(), links: self.links, hinges: self.hinges };
        if robot.hinges_of(0).next().is_some() {
            add_base(&mut robot, &self.names);
        }
        Ok((robot, self.warnings))
    }
}

/// Puts a link without hinges before the first.
fn add_base(robot: &mut Robot, names: &HashSet<String>) {
    let name = ["base", "world", "floating_base"].iter().find(|name| !names.contains(**name));
    let name = name.map_or_else(|| format!("base_{}", robot.links.len()), |name| (*name).to_owned());
    robot.links.iter_mut().for_each(|link| link.parent = Some(link.parent.map_or(0, |parent| parent + 1)));
    robot.hinges.iter_mut().for_each(|hinge| hinge.link += 1);
    let base = Link { name, parent: None, parent_from_link: Transform::identity(), shapes: Vec::new() };
    robot.links.insert(0, base);
}

fn unique(
    taken: &mut HashSet<String>,
    element: &Element<'_, '_>,
    kind: &str,
    number: usize,
) -> Result<String, RobotError> {
    let name = element.node.attribute("name").filter(|name| !name.is_empty());
    let mut free = name.map_or_else(|| format!("{kind}_{number}"), str::to_owned);
    while name.is_none() && taken.contains(&free) {
        free.push('_');
    }
    if !taken.insert(free.clone()) {
        let reason = format!("the name of {} is taken", element.shown());
        return Err(element.fault(reason, "give every link and every hinge a name of its own"));
    }
    Ok(free)
}
