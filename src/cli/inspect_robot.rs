//! What `posemill inspect` prints of a robot: its hinges in the order of trackers' files.

use crate::model::{Hinge, Robot};
use crate::report::{counted, one_line, rounded};
use serde_json::{Value, json};
use std::fmt::Write;

/// The hinges as text.
pub fn robot_page(robot: &Robot) -> String {
    let mut text = format!(
        "\n{} in the order of the file (link, range in degrees or mm)\n",
        counted(robot.hinges.len(), "hinge")
    );
    let widest = robot.hinges.iter().map(|hinge| hinge.name.chars().count()).max().unwrap_or(0);
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

/// Links and hinges as JSON: metres, radians.
pub fn robot_document(robot: &Robot) -> Value {
    let hinges = robot.hinges.iter().map(|hinge| {
        json!({
            "name": hinge.name,
            "link": robot.links[hinge.link].name,
            "slides": hinge.slides,
            "axis": [hinge.axis.x, hinge.axis.y, hinge.axis.z],
            "range": hinge.range,
            "speed": hinge.speed.map(rounded),
            "locked": locked(hinge).map(rounded),
            "follows": hinge.follows.as_ref().filter(|_| locked(hinge).is_none()).map(|f| &robot.hinges[f.hinge].name),
        })
    });
    let links = robot.links.iter().map(|link| {
        let parent = link.parent.map_or(-1, |parent| parent as i64);
        json!({ "name": link.name, "parent": parent, "shapes": link.shapes.len() })
    });
    json!({ "links": links.collect::<Vec<_>>(), "hinges": hinges.collect::<Vec<_>>() })
}
