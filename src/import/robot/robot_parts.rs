//! The links and hinges that a reader finds, and the checks that hold for every format.

use super::couplings::resolve;
use super::robot_error::RobotError;
use super::robot_meshes::MeshUse;
use super::xml_element::Element;
use crate::math::{Transform, Vec3};
use crate::model::{CollisionShape, Hinge, Link, Robot};
use crate::report::{Warnings, counted};
use std::collections::HashSet;

/// Most links of a robot; a humanoid with hands has 80.
const MAX_LINKS: usize = 4096;
/// Most hinges of a robot; a humanoid with hands has 70.
const MAX_HINGES: usize = 4096;
/// Most shapes of a robot, drawn ones included; a detailed one has 200. Every pair of them may collide.
const MAX_SHAPES: usize = 2048;

/// A robot as its file has it, but for its meshes.
#[derive(Debug)]
pub(super) struct FoundRobot {
    pub(super) robot: Robot,
    pub(super) meshes: Vec<MeshUse>,
    /// Shapes for collisions that cannot be read.
    pub(super) unread: usize,
    pub(super) warnings: Warnings,
}

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct RobotParts {
    pub(super) links: Vec<Link>,
    pub(super) hinges: Vec<Hinge>,
    /// Shapes of each link that the file lets collide, and those that it does not.
    shapes: Vec<[Vec<CollisionShape>; 2]>,
    shape_count: usize,
    meshes: Vec<MeshUse>,
    /// Shapes for collisions that cannot be read.
    pub(super) unread: usize,
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
        room(self.links.len(), MAX_LINKS, "links", "MAX_LINKS", element)?;
        let name = unique(&mut self.names, element, "link", None, self.links.len())?;
        self.links.push(Link { name, parent, parent_from_link, shapes: Vec::new(), centre: None });
        self.shapes.push([Vec::new(), Vec::new()]);
        Ok(self.links.len() - 1)
    }

    /// Adds a hinge; one without a name gets a number.
    ///
    /// # Errors
    /// A name that is taken, and too many hinges.
    pub(super) fn hinge(&mut self, element: &Element<'_, '_>, hinge: Hinge) -> Result<(), RobotError> {
        self.hinge_named(element, None, hinge)
    }

    /// Adds one of the hinges that are one joint of the file, whose names end in letters of their own.
    ///
    /// # Errors
    /// A name that is taken, and too many hinges.
    pub(super) fn hinge_named(
        &mut self,
        element: &Element<'_, '_>,
        letter: Option<&str>,
        hinge: Hinge,
    ) -> Result<(), RobotError> {
        room(self.hinges.len(), MAX_HINGES, "hinges", "MAX_HINGES", element)?;
        let name = unique(&mut self.hinge_names, element, "joint", letter, self.hinges.len())?;
        self.hinges.push(Hinge { name, ..hinge });
        Ok(())
    }

    /// Adds a joint that rotates freely, as hinges about X, Y and Z of its link, one after the other.
    ///
    /// # Errors
    /// A name that is taken, and too many hinges.
    pub(super) fn ball(
        &mut self,
        element: &Element<'_, '_>,
        link: usize,
        anchor: Vec3,
        range: Option<[f64; 2]>,
    ) -> Result<(), RobotError> {
        for (letter, axis) in [("x", Vec3::x()), ("y", Vec3::y()), ("z", Vec3::z())] {
            let (name, slides, zero, speed, follows) = (String::new(), false, 0.0, None, None);
            let joint = anchor;
            let hinge = Hinge { name, link, slides, axis, anchor, joint, zero, range, speed, follows };
            self.hinge_named(element, Some(letter), hinge)?;
        }
        let message = "a joint that rotates freely is read as three hinges about X, Y and Z, in this order: files have their angles, \
                       no quaternion";
        self.warnings.add("robot-spherical", message, element.shown());
        Ok(())
    }

    /// Adds a shape to a link.
    ///
    /// # Errors
    /// Too many shapes.
    pub(super) fn shape(
        &mut self,
        element: &Element<'_, '_>,
        link: usize,
        collides: bool,
        shape: CollisionShape,
    ) -> Result<(), RobotError> {
        room(self.shape_count, MAX_SHAPES, "shapes", "MAX_SHAPES", element)?;
        self.shape_count += 1;
        self.shapes[link][usize::from(!collides)].push(shape);
        Ok(())
    }

    /// Adds a mesh to a link; `None` is one that cannot be read.
    pub(super) fn mesh(&mut self, mesh: Option<MeshUse>, collides: bool) {
        match mesh {
            Some(mesh) if self.meshes.len() < MAX_SHAPES => self.meshes.push(mesh),
            _ => self.unread += usize::from(collides),
        }
    }

    /// The robot. Its first link gets no hinge: where it has one, a link is put before it.
    ///
    /// # Errors
    /// A file without hinges.
    pub(super) fn robot(mut self, name: &str, file: &str) -> Result<FoundRobot, RobotError> {
        if self.hinges.is_empty() {
            let reason = format!("it has {} and no hinge", counted(self.links.len(), "link"));
            return Err(RobotError::NoRobot { file: file.to_owned(), reason });
        }
        // Models for training turn the collisions of most links off: their shapes are those of the robot nevertheless.
        for (link, [collide, drawn]) in self.links.iter_mut().zip(self.shapes) {
            link.shapes = if collide.is_empty() { drawn } else { collide };
        }
        resolve(&mut self.hinges, file, &mut self.warnings);
        let mut robot =
            Robot { name: name.to_owned(), links: self.links, hinges: self.hinges, merges_fixed: false };
        if robot.hinges_of(0).next().is_some() {
            add_base(&mut robot, &self.names);
            self.meshes.iter_mut().for_each(|mesh| mesh.link += 1);
        }
        Ok(FoundRobot { robot, meshes: self.meshes, unread: self.unread, warnings: self.warnings })
    }
}

/// Puts a link without hinges before the first.
fn add_base(robot: &mut Robot, names: &HashSet<String>) {
    let name = ["base", "world", "floating_base"].iter().find(|name| !names.contains(**name));
    let name = name.map_or_else(|| format!("base_{}", robot.links.len()), |name| (*name).to_owned());
    robot.links.iter_mut().for_each(|link| link.parent = Some(link.parent.map_or(0, |parent| parent + 1)));
    robot.hinges.iter_mut().for_each(|hinge| hinge.link += 1);
    let base = Link {
        name,
        parent: None,
        parent_from_link: Transform::identity(),
        shapes: Vec::new(),
        centre: None,
    };
    robot.links.insert(0, base);
}

/// Fails where there is no room for one more.
fn room(
    count: usize,
    limit: usize,
    what: &'static str,
    name: &'static str,
    element: &Element<'_, '_>,
) -> Result<(), RobotError> {
    if count < limit {
        return Ok(());
    }
    Err(RobotError::Limit { file: element.tree.file().to_owned(), what, limit, name })
}

fn unique(
    taken: &mut HashSet<String>,
    element: &Element<'_, '_>,
    kind: &str,
    letter: Option<&str>,
    number: usize,
) -> Result<String, RobotError> {
    let name = element.node.attribute("name").filter(|name| !name.is_empty());
    let mut free = name.map_or_else(|| format!("{kind}_{number}"), str::to_owned);
    free.extend(letter.into_iter().flat_map(|letter| ["_", letter]));
    while name.is_none() && taken.contains(&free) {
        free.push('_');
    }
    if !taken.insert(free.clone()) {
        let reason = format!("the name of {} is taken", element.shown());
        return Err(element.fault(reason, "give every link and every hinge a name of its own"));
    }
    Ok(free)
}
