//! The settings of an MJCF file that hold for many elements: `compiler`, and `default` by class.

use super::robot_error::RobotError;
use super::xml_element::{Attributes, Element};
use super::xml_files::XmlTree;
use crate::math::{DEGREE, Quat, RawQuat, UnitVec3, Vec3, arc, from_columns};
use roxmltree::Node;
use std::collections::HashMap;

/// What a class adds to elements, by their tag: its own attributes and those of the classes around it.
type ClassDefaults<'d> = HashMap<&'d str, Attributes<'d>>;

/// Most attributes of all classes, each with those that it inherits; a large model has some thousands.
const MAX_DEFAULTS: usize = 1 << 20;

/// The settings of a file.
#[derive(Debug)]
pub(super) struct MjcfDefaults<'d> {
    /// Radians per unit of angle.
    pub(super) angle: f64,
    euler: &'d str,
    autolimits: bool,
    classes: HashMap<&'d str, ClassDefaults<'d>>,
    main: &'d str,
    /// Attributes of all classes so far.
    attributes: usize,
}

impl<'d> MjcfDefaults<'d> {
    /// The settings of a file.
    ///
    /// # Errors
    /// Too many defaults.
    pub(super) fn read(tree: &'d XmlTree<'_>) -> Result<Self, RobotError> {
        let sections = tree.children(tree.root());
        let mut found = Self {
            angle: DEGREE,
            euler: "xyz",
            autolimits: true,
            classes: HashMap::new(),
            main: "main",
            attributes: 0,
        };
        for compiler in sections.iter().filter(|node| node.has_tag_name("compiler")) {
            if let Some(angle) = compiler.attribute("angle") {
                found.angle = if angle == "radian" { 1.0 } else { DEGREE };
            }
            found.euler = compiler.attribute("eulerseq").unwrap_or(found.euler);
            found.autolimits =
                compiler.attribute("autolimits").map_or(found.autolimits, |word| word == "true");
        }
        for default in sections.iter().filter(|node| node.has_tag_name("default")) {
            let name = default.attribute("class").unwrap_or(found.main);
            found.main = name;
            let inherited = found.classes.get(name).cloned().unwrap_or_default();
            found.learn(tree, *default, name, inherited)?;
        }
        Ok(found)
    }

    fn learn(
        &mut self,
        tree: &'d XmlTree<'_>,
        node: Node<'d, '_>,
        name: &'d str,
        mut own: ClassDefaults<'d>,
    ) -> Result<(), RobotError> {
        let children = tree.children(node);
        for child in children.iter().filter(|child| !child.has_tag_name("default")) {
            let attributes = child.attributes().map(|a| (a.name(), a.value()));
            own.entry(child.tag_name().name()).or_default().extend(attributes);
        }
        self.attributes += own.values().map(HashMap::len).sum::<usize>();
        if self.attributes > MAX_DEFAULTS {
            let (file, what) = (tree.file().to_owned(), "attributes of default classes");
            return Err(RobotError::Limit { file, what, limit: MAX_DEFAULTS, name: "MAX_DEFAULTS" });
        }
        self.classes.insert(name, own.clone());
        for child in children.into_iter().filter(|child| child.has_tag_name("default")) {
            self.learn(tree, child, child.attribute("class").unwrap_or_default(), own.clone())?;
        }
        Ok(())
    }

    /// An element with the defaults of its class, else of `class`, which the bodies around it name.
    pub(super) fn element<'t>(
        &'d self,
        tree: &'d XmlTree<'t>,
        node: Node<'d, 't>,
        class: Option<&str>,
    ) -> Element<'d, 't> {
        self.element_as(tree, node, class, node.tag_name().name())
    }

    /// An element with the defaults that its class has for the tag `tag`.
    pub(super) fn element_as<'t>(
        &'d self,
        tree: &'d XmlTree<'t>,
        node: Node<'d, 't>,
        class: Option<&str>,
        tag: &str,
    ) -> Element<'d, 't> {
        let class = node.attribute("class").or(class).unwrap_or(self.main);
        let inherited = self.classes.get(class).or_else(|| self.classes.get(self.main));
        Element { tree, node, inherited: inherited.and_then(|c| c.get(tag)) }
    }

    /// Whether a hinge with a range is limited.
    pub(super) fn is_limited(&self, hinge: &Element<'_, '_>) -> bool {
        match hinge.text("limited") {
            Some("true") => true,
            Some("false") => false,
            // MuJoCo takes 0 to 0, its default, for no range.
            _ => {
                self.autolimits
                    && !matches!(hinge.array::<2>("range"), Ok(Some([low, high])) if low == 0.0 && high == 0.0)
            }
        }
    }

    /// The rotation of an element: `quat`, `euler`, `axisangle`, `xyaxes` or `zaxis`.
    ///
    /// # Errors
    /// Numbers that are missing or none.
    pub(super) fn rotation(&self, element: &Element<'_, '_>) -> Result<Quat, RobotError> {
        if let Some([w, x, y, z]) = element.array::<4>("quat")? {
            let raw = RawQuat::new(w, x, y, z);
            return match raw.norm() > 0.0 {
                true => Ok(Quat::new_normalize(raw)),
                false => Err(element.fault(
                    format!("`quat` of {} is zero", element.shown()),
                    "write w x y z of length one, such as `1 0 0 0`",
                )),
            };
        }
        if let Some(angles) = element.array::<3>("euler")? {
            let mut rotation = Quat::identity();
            for (axis, angle) in self.euler.chars().zip(angles) {
                let about = match axis.to_ascii_lowercase() {
                    'x' => Vec3::x_axis(),
                    'y' => Vec3::y_axis(),
                    _ => Vec3::z_axis(),
                };
                let next = Quat::from_axis_angle(&about, angle * self.angle);
                // Lower case: about axes that rotate along; upper case: about fixed axes.
                rotation = if axis.is_ascii_lowercase() { rotation * next } else { next * rotation };
            }
            return Ok(rotation);
        }
        if let Some([x, y, z, angle]) = element.array::<4>("axisangle")? {
            let axis = UnitVec3::try_new(Vec3::new(x, y, z), 0.0);
            return Ok(
                axis.map_or_else(Quat::identity, |axis| Quat::from_axis_angle(&axis, angle * self.angle))
            );
        }
        if let Some(axes) = element.array::<6>("xyaxes")? {
            let (x, y) = (Vec3::from_column_slice(&axes[..3]), Vec3::from_column_slice(&axes[3..]));
            let x = x.try_normalize(0.0).unwrap_or_else(Vec3::x);
            let y = (y - x * x.dot(&y)).try_normalize(0.0).unwrap_or_else(Vec3::y);
            return Ok(from_columns(&x, &y, &x.cross(&y)));
        }
        let z = element.array::<3>("zaxis")?;
        Ok(z.map_or_else(Quat::identity, |z| arc(&Vec3::z(), &Vec3::from(z), &Vec3::x())))
    }
}
