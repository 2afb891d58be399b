//! Reads MJCF: bodies inside of bodies, several hinges per body, defaults by class.
//!
//! Space: body frames relative to the body around them; Z up. Units: metres, degrees unless `compiler angle="radian"`.
//! Source: the XML reference of MuJoCo 3.

use super::mjcf_defaults::MjcfDefaults;
use super::mjcf_meshes::MjcfMeshes;
use super::mjcf_shape::{Geom, place, read as read_geom};
use super::robot_error::RobotError;
use super::robot_parts::{FoundRobot, RobotParts};
use super::xml_element::Element;
use super::xml_files::XmlTree;
use crate::math::{Transform, Vec3};
use crate::model::{Coupling, Hinge};
use crate::report::{counted, shortened};
use roxmltree::Node;

/// Smallest volume that three axes of length one span and are independent: 0 in a plane, 1 at right angles.
const SPANS: f64 = 0.1;

/// What holds for everything inside of the world, a body or a `frame`.
#[derive(Clone, Copy)]
struct Around<'d> {
    link: usize,
    class: Option<&'d str>,
    link_from_frame: Transform,
}

/// Visits the elements inside of `node`, those inside of its frames included, in the order of the file.
fn visit<'d, 't>(
    tree: &'d XmlTree<'t>,
    defaults: &MjcfDefaults<'d>,
    node: Node<'d, 't>,
    around: Around<'d>,
    element: &mut dyn FnMut(Node<'d, 't>, Around<'d>) -> Result<(), RobotError>,
) -> Result<(), RobotError> {
    for child in tree.children(node) {
        if child.has_tag_name("frame") {
            let class = child.attribute("childclass").or(around.class);
            let link_from_frame = around.link_from_frame * place(defaults, &Element::new(tree, child))?;
            visit(tree, defaults, child, Around { class, link_from_frame, ..around }, element)?;
        } else {
            element(child, around)?;
        }
    }
    Ok(())
}

/// A floating body with fewer joints is an object, not the robot of a scene.
const OBJECT_JOINTS: usize = 6;

/// The robot of a file: of several bodies in the world the one with the most hinges, of those that float if any of them has some.
pub(super) fn read(tree: &XmlTree<'_>, name: &str) -> Result<FoundRobot, RobotError> {
    let defaults = MjcfDefaults::read(tree)?;
    let sections = tree.children(tree.root());
    let worlds = sections.iter().filter(|node| node.has_tag_name("worldbody"));
    let (mut bodies, mut scenery) = (Vec::new(), 0);
    for world in worlds {
        let class = world.attribute("childclass");
        let around = Around { link: 0, class, link_from_frame: Transform::identity() };
        visit(tree, &defaults, *world, around, &mut |node, around| {
            if node.has_tag_name("body") {
                bodies.push((node, around));
            } else if node.has_tag_name("geom") {
                let kind = defaults.element(tree, node, around.class).text("type");
                scenery += usize::from(kind != Some("plane"));
            }
            Ok(())
        })?;
    }
    let joints = |body: &Node| body.descendants().filter(|node| node.has_tag_name("joint")).count();
    let free = |node: Node| node.has_tag_name("freejoint") || node.attribute("type") == Some("free");
    let rank = |body: &Node| {
        let joints = joints(body);
        (joints > OBJECT_JOINTS && body.children().any(free), joints)
    };
    let Some((body, around)) = bodies.iter().rev().max_by_key(|(body, _)| rank(body)) else {
        let (file, reason) = (tree.file().to_owned(), "its world has no body".to_owned());
        return Err(RobotError::NoRobot { file, reason });
    };
    let meshes = MjcfMeshes::read(tree, &defaults, &sections);
    let mut reader = MjcfReader { tree, defaults: &defaults, meshes, parts: RobotParts::default() };
    reader.body(*body, None, *around)?;
    let MjcfReader { mut parts, .. } = reader;
    if bodies.len() > 1 {
        let message = format!("{} bodies beside the robot are left out", bodies.len() - 1);
        parts.warnings.add("robot-scene", message, tree.file());
    }
    if scenery > 0 {
        let message = format!(
            "{} of the world that {} no plane {} left out: the robot stands on level ground",
            counted(scenery, "shape"),
            if scenery == 1 { "is" } else { "are" },
            if scenery == 1 { "is" } else { "are" }
        );
        parts.warnings.add("robot-scene", message, tree.file());
    }
    float_base(&mut parts, tree.file());
    couple(tree, &defaults, &sections, &mut parts)?;
    parts.robot(tree.root().attribute("model").unwrap_or(name), tree.file())
}

/// A file while it is read.
struct MjcfReader<'d, 't> {
    tree: &'d XmlTree<'t>,
    defaults: &'d MjcfDefaults<'d>,
    meshes: MjcfMeshes<'d>,
    parts: RobotParts,
}

impl<'d, 't> MjcfReader<'d, 't> {
    fn body(
        &mut self,
        node: Node<'d, 't>,
        parent: Option<usize>,
        around: Around<'d>,
    ) -> Result<(), RobotError> {
        let (tree, defaults) = (self.tree, self.defaults);
        let element = Element::new(tree, node);
        let parent_from_link = around.link_from_frame * place(defaults, &element)?;
        let link = self.parts.link(&element, parent, parent_from_link)?;
        let class = node.attribute("childclass").or(around.class);
        // All hinges come before the bodies inside, as MuJoCo orders them.
        let mut inside = Vec::new();
        let around = Around { link, class, link_from_frame: Transform::identity() };
        visit(tree, defaults, node, around, &mut |child, around| {
            match child.tag_name().name() {
                "body" => inside.push((child, around)),
                "joint" => self.joint(child, around)?,
                "geom" => self.geom(child, around)?,
                "inertial" => {
                    let centre = Element::new(tree, child).vector("pos", Vec3::zeros())?;
                    self.parts.links[link].centre = Some(centre);
                }
                "replicate" | "attach" | "composite" | "flexcomp" => {
                    let message = format!("`{}` is not read", child.tag_name().name());
                    self.parts.warnings.add("robot-element", message, tree.file());
                }
                _ => {}
            }
            Ok(())
        })?;
        for (body, around) in inside {
            self.body(body, Some(link), around)?;
        }
        Ok(())
    }

    fn geom(&mut self, node: Node<'d, 't>, around: Around<'d>) -> Result<(), RobotError> {
        let geom = self.defaults.element(self.tree, node, around.class);
        match read_geom(self.defaults, &geom, around.link_from_frame)? {
            Geom::Shape(shape, collides) => self.parts.shape(&geom, around.link, collides, shape)?,
            Geom::Mesh(name, place, collides) => {
                self.parts.mesh(self.meshes.of_link(name, around.link, place, collides), collides);
            }
            Geom::Other => {}
        }
        Ok(())
    }

    fn joint(&mut self, node: Node<'d, 't>, around: Around<'d>) -> Result<(), RobotError> {
        let joint = self.defaults.element(self.tree, node, around.class);
        let kind = joint.text("type").unwrap_or("hinge");
        let slides = match kind {
            "hinge" => false,
            "slide" => true,
            // The base floats in any case.
            "free" if around.link == 0 => return Ok(()),
            "ball" => return self.ball(&joint, around),
            _ => {
                let reason = format!("{} is of the type `{kind}`", joint.shown());
                return Err(joint.fault(reason, "replace it by hinges, one for each axis"));
            }
        };
        let unit = if slides { 1.0 } else { self.defaults.angle };
        let range = joint.array::<2>("range")?.filter(|_| self.defaults.is_limited(&joint));
        let frame = around.link_from_frame;
        let anchor = frame.point(&joint.vector("pos", Vec3::zeros())?);
        let hinge = Hinge {
            name: String::new(),
            link: around.link,
            slides,
            axis: frame.vector(&joint.axis("axis", Vec3::z())?),
            anchor,
            joint: anchor,
            zero: joint.array::<1>("ref")?.map_or(0.0, |[zero]| zero * unit),
            range: range.map(|range| joint.range(range)).transpose()?.map(|range| range.map(|x| x * unit)),
            speed: None,
            follows: None,
        };
        self.parts.hinge(&joint, hinge)
    }

    /// A ball joint: its angle is limited in every direction alike.
    fn ball(&mut self, joint: &Element<'d, 't>, around: Around<'d>) -> Result<(), RobotError> {
        let anchor = around.link_from_frame.point(&joint.vector("pos", Vec3::zeros())?);
        let range = joint.array::<2>("range")?.filter(|_| self.defaults.is_limited(joint));
        let range = range.map(|[_, most]| [-most, most].map(|angle| angle * self.defaults.angle));
        self.parts.ball(joint, around.link, anchor, range)
    }
}

/// Reads `equality/joint`: hinges that follow others, or are locked.
fn couple<'d>(
    tree: &'d XmlTree<'_>,
    defaults: &'d MjcfDefaults<'d>,
    sections: &[Node<'d, '_>],
    parts: &mut RobotParts,
) -> Result<(), RobotError> {
    let equalities = sections.iter().filter(|node| node.has_tag_name("equality"));
    for node in equalities.flat_map(|section| tree.children(*section)) {
        let element = defaults.element_as(tree, node, None, "equality");
        if element.text("active") == Some("false") {
            continue;
        }
        if !node.has_tag_name("joint") {
            let message =
                format!("`equality/{}` is not read: what it ties moves freely", node.tag_name().name());
            parts.warnings.add("robot-equality", message, tree.file());
            continue;
        }
        let find = |name: &str| parts.hinges.iter().position(|hinge| hinge.name == name);
        let Some(one) = element.text("joint1").and_then(find) else { continue };
        // Without a second joint the first is locked: it is coupled to itself until couplings are resolved.
        let Some(hinge) = element.text("joint2").map_or(Some(one), find) else { continue };
        let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
        let written = element.numbers("polycoef")?.unwrap_or_default();
        coefficients.iter_mut().zip(&written).for_each(|(to, from)| *to = *from);
        if one != hinge || element.text("joint2").is_none() {
            parts.hinges[one].follows = Some(Coupling { hinge, coefficients });
        }
    }
    Ok(())
}

/// Takes three slides and three hinges of the first body for the floating base that they are.
fn float_base(parts: &mut RobotParts, file: &str) {
    let own: Vec<&Hinge> = parts.hinges.iter().take_while(|hinge| hinge.link == 0).collect();
    let spans = |slides: bool| {
        let axes: Vec<Vec3> =
            own.iter().filter(|hinge| hinge.slides == slides).map(|hinge| hinge.axis).collect();
        matches!(axes[..], [a, b, c] if a.dot(&b.cross(&c)).abs() > SPANS)
    };
    if own.len() != 6 || !spans(true) || !spans(false) {
        return;
    }
    let message = format!(
        "three slides and three hinges of the first body, `{}` to `{}`, are read as the floating base: files have its place and \
         rotation in their stead",
        shortened(&own[0].name),
        shortened(&own[5].name)
    );
    parts.warnings.add("robot-floating-base", message, file);
    parts.hinges.drain(..6);
}
