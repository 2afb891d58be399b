//! An element with its attributes as numbers, the defaults of its class included.

use super::robot_error::RobotError;
use super::xml_files::{XmlTree, line};
use crate::math::Vec3;
use crate::model::FARTHEST;
use crate::report::shortened;
use roxmltree::Node;
use std::collections::HashMap;

/// Attributes by name.
pub(super) type Attributes<'d> = HashMap<&'d str, &'d str>;

/// An element, and the attributes that it inherits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'d, 't> {
    pub(super) tree: &'d XmlTree<'t>,
    pub(super) node: Node<'d, 't>,
    pub(super) inherited: Option<&'d Attributes<'d>>,
}

impl<'d, 't> Element<'d, 't> {
    /// An element that inherits nothing.
    pub(super) fn new(tree: &'d XmlTree<'t>, node: Node<'d, 't>) -> Self {
        Self { tree, node, inherited: None }
    }

    /// An attribute, its own or an inherited one.
    pub(super) fn text(&self, name: &str) -> Option<&'d str> {
        self.node.attribute(name).or_else(|| self.inherited?.get(name).copied())
    }

    /// An error at this element.
    pub(super) fn fault(&self, reason: impl Into<String>, hint: &'static str) -> RobotError {
        let (file, line) = (self.tree.file_of(&self.node).to_owned(), line(&self.node));
        RobotError::Element { file, line, reason: reason.into(), hint }
    }

    /// The element as a message names it.
    pub(super) fn shown(&self) -> String {
        let tag = self.node.tag_name().name();
        let name = self.node.attribute("name");
        name.map_or_else(|| format!("<{tag}>"), |name| format!("<{tag} name=\"{}\">", shortened(name)))
    }

    /// The numbers of an attribute.
    ///
    /// # Errors
    /// A word that is no finite number.
    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, RobotError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = |word: &str| {
            let number = word.parse::<f64>().ok().filter(|x| x.abs() < FARTHEST);
            number.ok_or_else(|| {
                let reason = format!("`{name}` of {} is not a number: `{}`", self.shown(), shortened(word));
                self.fault(reason, "write numbers with spaces between them")
            })
        };
        text.split_ascii_whitespace().map(number).collect::<Result<_, _>>().map(Some)
    }

    /// The first N numbers of an attribute.
    ///
    /// # Errors
    /// Fewer numbers, and what is none.
    pub(super) fn array<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, RobotError> {
        let Some(numbers) = self.numbers(name)? else { return Ok(None) };
        let first = numbers.get(..N).and_then(|first| first.try_into().ok());
        first.map(Some).ok_or_else(|| {
            let reason = format!("`{name}` of {} has {} numbers, expected {N}", self.shown(), numbers.len());
            self.fault(reason, "add the missing numbers")
        })
    }

    /// A vector; `default` if it is not written.
    pub(super) fn vector(&self, name: &str, default: Vec3) -> Result<Vec3, RobotError> {
        Ok(self.array::<3>(name)?.map_or(default, Vec3::from))
    }

    /// An axis as a vector of length one; `default` if it is not written.
    ///
    /// # Errors
    /// A vector of length zero.
    pub(super) fn axis(&self, name: &str, default: Vec3) -> Result<Vec3, RobotError> {
        let axis = self.vector(name, default)?.try_normalize(SHORTEST_AXIS);
        axis.ok_or_else(|| {
            let reason = format!("the axis of {} is zero", self.shown());
            self.fault(reason, "write the direction of the hinge, such as `0 0 1`")
        })
    }

    /// Lowest and highest value.
    ///
    /// # Errors
    /// A highest value that is not above the lowest.
    pub(super) fn range(&self, [low, high]: [f64; 2]) -> Result<[f64; 2], RobotError> {
        if low < high {
            return Ok([low, high]);
        }
        if low == high {
            let reason = format!("the limits of {} are equal: {low}", self.shown());
            return Err(self.fault(reason, "attach a link that does not move without a hinge"));
        }
        let reason = format!("the limits of {} are reversed: {low} to {high}", self.shown());
        Err(self.fault(reason, "write the lower limit first, below the upper one"))
    }
}

/// An axis shorter than this has no direction: MuJoCo's smallest.
const SHORTEST_AXIS: f64 = 1e-10;
