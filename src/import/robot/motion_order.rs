//! The order of hinges, links and columns in a robot's motion file: by the names that the file has, else that of the layout.

use super::motion_arrays::MotionArrays;
use crate::model::{ROBOT_LAYOUTS, Robot, RobotField, RobotLayout};
use std::collections::HashMap;

/// The order of a file as one layout.
#[derive(Clone, Debug)]
pub(super) struct MotionOrder {
    /// The robot's hinge and link at each place of the file.
    pub(super) hinges: Vec<usize>,
    pub(super) links: Vec<usize>,
    /// The column of the file at each place of the layout, where all of them have names.
    pub(super) columns: Option<Vec<usize>>,
    /// Whether the names of the hinges are the robot's; `None` for a file without names.
    pub(super) named: Option<bool>,
}

impl MotionOrder {
    /// The order in which a file has the robot's hinges and links if it is of this layout.
    pub(super) fn of(layout: &RobotLayout, arrays: &MotionArrays, robot: &Robot) -> Self {
        let places = arrays.get(layout, |field| field == RobotField::LinkPlaces);
        let has_all = places.is_some_and(|places| places.width == 3 * robot.links.len());
        let usual = robot.links_of(layout, robot.merges(layout) && !has_all);
        let of_links: Vec<usize> =
            usual.iter().flat_map(|&link| robot.hinges_of(link).map(|(hinge, _)| hinge)).collect();
        let hinge_names: Vec<&str> = robot.hinges.iter().map(|hinge| hinge.name.as_str()).collect();
        let link_names: Vec<&str> = robot.links.iter().map(|link| link.name.as_str()).collect();
        let names = |wanted: fn(RobotField) -> bool| {
            let mut fields = ROBOT_LAYOUTS.iter().flat_map(|layout| layout.fields);
            fields.find_map(|(name, field)| arrays.names.get(name).filter(|_| wanted(*field)))
        };
        let links = names(|field| field == RobotField::LinkNames).and_then(|names| order(names, &link_names));
        let mut found = Self { links: links.unwrap_or(usual), hinges: of_links, columns: None, named: None };
        let hinges = match arrays.header.is_empty() {
            true => names(|field| matches!(field, RobotField::HingeNames | RobotField::JointNames))
                .map(|names| order(names, &hinge_names)),
            false if layout.header => {
                let hinge = |k: usize| hinge_names[k].to_owned();
                let wanted = layout.fields.iter().flat_map(|&(name, field)| {
                    let column = move |k| RobotLayout::column(name, field, k, hinge);
                    (0..field.columns(hinge_names.len())).map(column)
                });
                let wanted: Vec<String> = wanted.collect();
                found.columns = order(&wanted, &arrays.header).filter(|order| order.len() == wanted.len());
                Some(found.columns.is_some().then(|| (0..hinge_names.len()).collect()))
            }
            false => {
                // Without names of the layout's own, the hinges are the last columns.
                let cells = arrays.header.iter().skip(arrays.header.len().saturating_sub(hinge_names.len()));
                let names: Vec<&str> = cells.map(|cell| cell.strip_suffix("_dof").unwrap_or(cell)).collect();
                Some(order(&names, &hinge_names))
            }
        };
        found.named = hinges.as_ref().map(Option::is_some);
        found.hinges = hinges.flatten().unwrap_or(found.hinges);
        found
    }
}

/// The index in `known` of each name; `None` unless each of `known` has its name once. The joint of the floating base may come first.
fn order(names: &[impl AsRef<str>], known: &[impl AsRef<str>]) -> Option<Vec<usize>> {
    let index: HashMap<&str, usize> = known.iter().enumerate().map(|(k, name)| (name.as_ref(), k)).collect();
    let base = names.len() == known.len() + 1 && !index.contains_key(names[0].as_ref());
    let order: Option<Vec<usize>> =
        names[usize::from(base)..].iter().map(|name| index.get(name.as_ref()).copied()).collect();
    let mut seen = vec![false; known.len()];
    let once = |k: &usize| !std::mem::replace(&mut seen[*k], true);
    order.filter(|order| order.len() == known.len() && order.iter().all(once))
}
