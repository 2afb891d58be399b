//! What `posemill inspect` prints of a robot: its hinges in the order of trackers' files.

use super::inspect_page::WIDEST;
use crate::model::{Hinge, Robot};
use crate::report::{counted, one_line, rounded};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// The hinges as text.
pub fn robot_page(robot: &Robot) -> String {
    let mut text = format!(
        "\n{} in the order of the file (link, range in degrees or mm)\n",
        counted(robot.hinges.len(), "hinge")
    );
    let widest = robot.hinges.iter().map(|hinge| hinge.name.chars().count()).max().unwrap_or(0).min(WIDEST);
    for (k, hinge) in robot.hinges.iter().enumerate() {
        let link = one_line(&robot.links[hinge.link].name);
        let unit = |x: f64| if hinge.slides { x * 1000.0 } else { x.to_degrees() };
        let range = hinge
            .range
            .map_or("no limits".to_owned(), |[low, high]| format!("{:.1} to {:.1}", unit(low), unit(high)));
        let kind = if hinge.slides { ", slides" } else { "" };
        let follows = match (&hinge.follows, locked(hinge)) {
            (_, Some(value)) => format!(", locked at {:.1}", unit(value)),
            (Some(f), None) => format!(", follows {}", one_line(&robot.hinges[f.hinge].name)),
            (None, None) => String::new(),
        };
        let name = one_line(&hinge.name);
        let _ = writeln!(text, "  {k:>3} {name:widest$}  {link}, {range}{kind}{follows}");
    }
    let shapes: usize = robot.links.iter().map(|link| link.shapes.len()).sum();
    let _ =
        writeln!(text, "{}, {} for collisions", counted(robot.links.len(), "link"), counted(shapes, "shape"));
    text
}

/// The value at which a hinge is locked: its coupling is a constant.
fn locked(hinge: &Hinge) -> Option<f64> {
    let coupling = hinge.follows.as_ref().filter(|f| f.coefficients[1..].iter().all(|x| *x == 0.0));
    coupling.map(|coupling| hinge.zero + coupling.coefficients[0])
}

/// Links and hinges of a robot.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RobotMember {
    /// The links, parents first.
    links: Vec<ListedLink>,
    /// The hinges, in the order of the file.
    hinges: Vec<ListedHinge>,
}

/// A link of a robot: a rigid part.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedLink {
    /// The name.
    name: String,
    /// The number of the parent link, from 0; -1 for the base.
    parent: i64,
    /// Number of shapes for collisions.
    shapes: usize,
}

/// A hinge of a robot: a degree of freedom.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedHinge {
    /// The name.
    name: String,
    /// The link that it moves.
    link: String,
    /// Whether it slides along its axis, values in metres; else it turns about it, values in radians.
    slides: bool,
    /// The axis in the space of the link, a unit vector.
    axis: [f64; 3],
    /// Least and greatest value, radians or metres; null without limits.
    range: Option<[f64; 2]>,
    /// Greatest speed, radians or metres per second; null if the file has none.
    speed: Option<f64>,
    /// The value at which it is locked, radians or metres; null if it moves.
    locked: Option<f64>,
    /// The hinge that it follows by a coupling; null if it moves on its own.
    follows: Option<String>,
}

impl RobotMember {
    /// Links and hinges of a robot.
    pub fn of(robot: &Robot) -> Self {
        let hinges = robot.hinges.iter().map(|hinge| {
            let follows = hinge.follows.as_ref().filter(|_| locked(hinge).is_none());
            ListedHinge {
                name: hinge.name.clone(),
                link: robot.links[hinge.link].name.clone(),
                slides: hinge.slides,
                axis: [hinge.axis.x, hinge.axis.y, hinge.axis.z],
                range: hinge.range,
                speed: hinge.speed.map(rounded),
                locked: locked(hinge).map(rounded),
                follows: follows.map(|f| robot.hinges[f.hinge].name.clone()),
            }
        });
        let links = robot.links.iter().map(|link| ListedLink {
            name: link.name.clone(),
            parent: link.parent.map_or(-1, |parent| parent as i64),
            shapes: link.shapes.len(),
        });
        Self { links: links.collect(), hinges: hinges.collect() }
    }
}
