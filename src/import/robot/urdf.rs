//! Reads URDF: links, and joints that name their parent and child.
//!
//! Space: a link's frame is at its joint; Z up. Units: metres, radians. Source: the URDF XML specification of ROS.

use super::robot_error::RobotError;
use super::robot_meshes::MeshUse;
use super::robot_parts::{FoundRobot, RobotParts};
use super::xml_element::Element;
use super::xml_files::XmlTree;
use crate::math::{Quat, Transform, Vec3};
use crate::model::{CollisionShape, Coupling, Form, Hinge};
use crate::report::shortened;
use roxmltree::Node;
use std::collections::{HashMap, HashSet};

/// The robot of a file.
pub(super) fn read(tree: &XmlTree<'_>, name: &str) -> Result<FoundRobot, RobotError> {
    let children = tree.children(tree.root());
    let mut links: HashMap<&str, Node> = HashMap::new();
    for node in children.iter().filter(|node| node.has_tag_name("link")) {
        if links.insert(node.attribute("name").unwrap_or_default(), *node).is_some() {
            let element = Element::new(tree, *node);
            let reason = format!("the name of {} is taken", element.shown());
            return Err(element.fault(reason, "give every link a name of its own"));
        }
    }
    let mut below: HashMap<&str, Vec<UrdfJoint>> = HashMap::new();
    let mut attached: HashSet<&str> = HashSet::new();
    for node in children.iter().filter(|node| node.has_tag_name("joint")) {
        let joint = UrdfJoint::read(tree, *node, &links)?;
        if !attached.insert(joint.child) {
            let reason = format!("the link `{}` has two parents", shortened(joint.child));
            return Err(joint.element.fault(reason, "give every link one parent"));
        }
        below.entry(joint.parent).or_default().push(joint);
    }
    let named = children.iter().filter(|node| node.has_tag_name("link"));
    let free: Vec<&str> = named
        .map(|node| node.attribute("name").unwrap_or_default())
        .filter(|link| !attached.contains(link))
        .collect();
    let no_robot = |reason: String| RobotError::NoRobot { file: tree.file().to_owned(), reason };
    let top = match free[..] {
        [top] => top,
        [] if links.is_empty() => return Err(no_robot("it has no links".to_owned())),
        [] => return Err(no_robot("every link has a parent: its joints go round in a circle".to_owned())),
        [first, second, ..] => {
            let (first, second) = (shortened(first), shortened(second));
            return Err(no_robot(format!("the links `{first}` and `{second}` both have no parent")));
        }
    };
    let mut reader = UrdfReader { tree, links: &links, below: &below, parts: RobotParts::default() };
    let mut mimics = Vec::new();
    let (base, world_from_base, left_out) = reader.base(top)?;
    reader.link(base, None, world_from_base, None, &mut mimics)?;
    let mut parts = reader.parts;
    for (hinge, node, other) in mimics {
        let mimic = Element::new(tree, node);
        let number = |key, default| mimic.array::<1>(key).map(|n| n.map_or(default, |[n]| n));
        let (offset, multiplier) = (number("offset", 0.0)?, number("multiplier", 1.0)?);
        let Some(other) = parts.hinges.iter().position(|h| h.name == other).filter(|o| *o != hinge) else {
            let message = format!(
                "the coupling of `{}` names no other joint that moves, `{}`: it moves freely",
                shortened(&parts.hinges[hinge].name),
                shortened(other)
            );
            parts.warnings.add("robot-coupling", message, tree.file());
            continue;
        };
        parts.hinges[hinge].follows =
            Some(Coupling { hinge: other, coefficients: [offset, multiplier, 0.0, 0.0, 0.0] });
    }
    if parts.links.len() + left_out < links.len() {
        return Err(no_robot(
            "some links are not attached to the others: their joints go round in a circle".to_owned(),
        ));
    }
    let mut found = parts.robot(tree.root().attribute("name").unwrap_or(name), tree.file())?;
    found.robot.merges_fixed = true;
    Ok(found)
}

/// A joint as written.
#[derive(Debug)]
struct UrdfJoint<'d, 't> {
    element: Element<'d, 't>,
    kind: &'d str,
    parent: &'d str,
    child: &'d str,
}

impl<'d, 't> UrdfJoint<'d, 't> {
    fn read(
        tree: &'d XmlTree<'t>,
        node: Node<'d, 't>,
        links: &HashMap<&str, Node<'_, '_>>,
    ) -> Result<Self, RobotError> {
        let element = Element::new(tree, node);
        let link = |tag: &str| {
            let named = child(node, tag).and_then(|end| end.attribute("link"));
            named.filter(|name| links.contains_key(name)).ok_or_else(|| {
                let reason = format!("{} has no {tag} link that exists", element.shown());
                element.fault(reason, "name a link of this file")
            })
        };
        let (parent, child) = (link("parent")?, link("child")?);
        Ok(Self { element, kind: node.attribute("type").unwrap_or("revolute"), parent, child })
    }
}

/// A file while it is read.
struct UrdfReader<'d, 't> {
    tree: &'d XmlTree<'t>,
    links: &'d HashMap<&'d str, Node<'d, 't>>,
    below: &'d HashMap<&'d str, Vec<UrdfJoint<'d, 't>>>,
    parts: RobotParts,
}

/// A hinge that mimics another: its number, the element, and the name of the other.
type Mimic<'d, 't> = (usize, Node<'d, 't>, &'d str);

impl<'d, 't> UrdfReader<'d, 't> {
    /// The first link of the robot, where the file puts it, and how many links are left out: those above a floating joint, and frames
    /// without mass and shape to which the robot is fixed (`world`, `base_footprint`, or the `base_link` that ROS's KDL asks for). No
    /// simulator moves such a frame as a body.
    fn base(&mut self, top: &'d str) -> Result<(&'d str, Transform, usize), RobotError> {
        let (mut link, mut place, mut left_out) = (top, Transform::identity(), 0);
        loop {
            let joints = self.below.get(link).map_or(&[][..], Vec::as_slice);
            // Frames beside the robot, such as that of a camera.
            let is_frame =
                |joint: &&UrdfJoint| self.is_empty(joint.child) && !self.below.contains_key(joint.child);
            let robot: Vec<&UrdfJoint> = joints.iter().filter(|joint| !is_frame(joint)).collect();
            let [only] = robot[..] else { break };
            let fixed = only.kind == "fixed" && (link == "world" || self.is_empty(link));
            if only.kind != "floating" && !fixed {
                break;
            }
            place = place * self.origin(only.element.node)?;
            left_out += joints.len();
            link = only.child;
        }
        if link != top {
            let message = format!(
                "`{}` is the world, above a floating joint, or a frame without mass and shape: the base is `{}`",
                shortened(top),
                shortened(link)
            );
            self.parts.warnings.add("robot-base", message, self.tree.file());
        }
        Ok((link, place, left_out))
    }

    /// Whether a link has neither mass nor shape.
    fn is_empty(&self, link: &str) -> bool {
        let has = |tag: &str| child(self.links[link], tag).is_some();
        let mass = child(self.links[link], "inertial").and_then(|inertial| child(inertial, "mass"));
        let mass = mass.and_then(|mass| mass.attribute("value")).and_then(|mass| mass.trim().parse().ok());
        !has("visual") && !has("collision") && mass.is_none_or(|mass: f64| mass <= 0.0)
    }

    /// Reads a link and what is attached to it. The depth is bounded: every link has one parent.
    fn link(
        &mut self,
        name: &'d str,
        parent: Option<usize>,
        parent_from_link: Transform,
        joint: Option<&'d UrdfJoint<'d, 't>>,
        mimics: &mut Vec<Mimic<'d, 't>>,
    ) -> Result<(), RobotError> {
        // A chain of links is walked with a list of its own, not on the stack.
        let mut open = vec![(name, parent, parent_from_link, joint)];
        while let Some((name, parent, parent_from_link, joint)) = open.pop() {
            let node = self.links[name];
            let link = self.parts.link(&Element::new(self.tree, node), parent, parent_from_link)?;
            if let Some(inertial) = child(node, "inertial") {
                self.parts.links[link].centre = Some(self.origin(inertial)?.translation);
            }
            if let Some(joint) = joint {
                self.hinge(joint, link, mimics)?;
            }
            self.shapes(node, link)?;
            for joint in self.below.get(name).into_iter().flatten().rev() {
                let place = self.origin(joint.element.node)?;
                open.push((joint.child, Some(link), place, Some(joint)));
            }
        }
        Ok(())
    }

    fn hinge(
        &mut self,
        joint: &UrdfJoint<'d, 't>,
        link: usize,
        mimics: &mut Vec<Mimic<'d, 't>>,
    ) -> Result<(), RobotError> {
        let element = &joint.element;
        let slides = match joint.kind {
            "fixed" => return Ok(()),
            "revolute" | "continuous" => false,
            "prismatic" => true,
            "spherical" => return self.parts.ball(element, link, Vec3::zeros(), None),
            other => {
                let reason = format!("{} is of the type `{}`", element.shown(), shortened(other));
                return Err(element.fault(reason, "replace it by hinges, one for each axis"));
            }
        };
        let inside = |tag: &str| child(element.node, tag).map(|node| Element::new(self.tree, node));
        let axis = inside("axis").map_or(Ok(Vec3::x()), |axis| {
            axis.axis("xyz", Vec3::x()).map_err(|_| {
                let reason = format!("the axis of {} is zero, or none", element.shown());
                axis.fault(reason, "write the direction of the hinge, such as `0 0 1`")
            })
        })?;
        let (mut range, mut speed) = (None, None);
        if let Some(limit) = inside("limit") {
            let number = |key| limit.array::<1>(key).map(|n| n.map(|[n]| n));
            if joint.kind != "continuous" {
                let (low, high) = (number("lower")?.unwrap_or(0.0), number("upper")?.unwrap_or(0.0));
                if low != 0.0 || high != 0.0 {
                    range = Some(element.range([low, high])?);
                } else {
                    let message = "without limits, or with 0 and 0, a hinge is not limited, as in MuJoCo (write its limits, or `fixed`)";
                    self.parts.warnings.add("robot-no-limits", message, element.shown());
                }
            }
            speed = number("velocity")?.filter(|speed| *speed > 0.0);
        }
        let (name, zero, follows) = (String::new(), 0.0, None);
        let (anchor, joint) = (Vec3::zeros(), Vec3::zeros());
        let hinge = Hinge { name, link, slides, axis, anchor, joint, zero, range, speed, follows };
        self.parts.hinge(element, hinge)?;
        if let Some(mimic) = child(element.node, "mimic") {
            mimics.push((self.parts.hinges.len() - 1, mimic, mimic.attribute("joint").unwrap_or_default()));
        }
        Ok(())
    }

    /// The place of `origin` inside of an element.
    fn origin(&self, node: Node<'d, 't>) -> Result<Transform, RobotError> {
        let Some(origin) = child(node, "origin") else { return Ok(Transform::identity()) };
        let origin = Element::new(self.tree, origin);
        let place = origin.vector("xyz", Vec3::zeros())?;
        let [roll, pitch, yaw] = origin.array::<3>("rpy")?.unwrap_or_default();
        Ok(Transform::new(Quat::from_euler_angles(roll, pitch, yaw), place))
    }

    fn shapes(&mut self, link: Node<'d, 't>, number: usize) -> Result<(), RobotError> {
        for (tag, collides) in [("collision", true), ("visual", false)] {
            for node in link.children().filter(|node| node.has_tag_name(tag)) {
                let Some(form) = child(node, "geometry").and_then(|g| g.children().find(Node::is_element))
                else {
                    continue;
                };
                let element = Element::new(self.tree, form);
                let number_of = |key: &str| {
                    let found = element.array::<1>(key)?.map(|[n]| n).filter(|n| *n > 0.0);
                    let reason = || format!("{} has no `{key}` above 0", element.shown());
                    found.ok_or_else(|| element.fault(reason(), "write its size"))
                };
                let form = match form.tag_name().name() {
                    "sphere" => Form::Sphere { radius: number_of("radius")? },
                    "cylinder" => {
                        Form::Cylinder { radius: number_of("radius")?, half: number_of("length")? / 2.0 }
                    }
                    "capsule" => {
                        Form::Capsule { radius: number_of("radius")?, half: number_of("length")? / 2.0 }
                    }
                    "box" => Form::Box { half: element.vector("size", Vec3::zeros())? / 2.0 },
                    _ => {
                        let mesh = mesh(&element, number, collides, self.origin(node)?);
                        self.parts.mesh(mesh, collides);
                        continue;
                    }
                };
                let link_from_shape = self.origin(node)?;
                self.parts.shape(&element, number, collides, CollisionShape { form, link_from_shape })?;
            }
        }
        Ok(())
    }
}

/// A mesh of a link; `None` of any other element, and of a mesh whose scale means nothing.
fn mesh(
    element: &Element<'_, '_>,
    link: usize,
    collides: bool,
    link_from_mesh: Transform,
) -> Option<MeshUse> {
    let scale = match element.numbers("scale").ok()?.as_deref() {
        None => Vec3::repeat(1.0),
        Some(&[x, y, z]) => Vec3::new(x, y, z),
        Some(&[all]) => Vec3::repeat(all),
        Some(_) => return None,
    };
    let file = element.text("filename").filter(|_| element.node.has_tag_name("mesh"))?.to_owned();
    Some(MeshUse { link, collides, file, scale, moved: Transform::identity(), link_from_mesh })
}

fn child<'d, 't>(node: Node<'d, 't>, tag: &str) -> Option<Node<'d, 't>> {
    node.children().find(|child| child.has_tag_name(tag))
}
