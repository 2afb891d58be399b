//! Chooses the layout of a robot's motion file: the one that contradicts the robot least.

use super::motion_arrays::MotionArrays;
use super::motion_doubts::{MotionReading, link_error, own_up, slip};
use crate::math::Transform;
use crate::model::{ROBOT_LAYOUTS, Robot, RobotMotion};
use crate::robot_body::RobotBody;
use std::sync::Arc;

/// What a sole that slips by 1 m/s counts, next to links in metres and hinges in radians: less than a base that lies (1), since
/// robots also jump and slide.
const SLIP: f64 = 0.5;

/// Layouts whose doubts differ by less are not told apart: in a pose that leans by up to 14 degrees, quaternions of the other order may
/// stand more upright. Steps of a walker differ by ten times this. At half of it every fourth row of a walk is read the other way round.
const SAME_DOUBT: f64 = 0.03;

/// Hinges of a table are in another order if that leaves less than this share of the doubt: in 21 takes on three robots at least 1.49 of it
/// in files in MuJoCo's order, and at most 0.52 in those in Isaac Lab's.
const OTHER_ORDER: f64 = 0.75;

/// The reading of a file, of those as each layout, that fits best; of two that fit alike, as of a single row, the one whose base heads X
/// rather than back.
pub(super) fn best(
    mut all: Vec<MotionReading>,
    arrays: &MotionArrays,
    robot: &Arc<Robot>,
) -> Option<MotionReading> {
    let body = RobotBody::of(robot).ok();
    let doubt_of = |found: &MotionReading| {
        let slip = body.as_ref().map_or(0.0, |body| slip(found, body));
        doubt(found, arrays, robot) + SLIP * slip
    };
    for found in &mut all {
        found.doubt = doubt_of(found);
        let other = breadth_first(found, robot).map(|other| doubt_of(&other));
        let fits = |other: &f64| other + SAME_DOUBT < found.doubt && *other < OTHER_ORDER * found.doubt;
        if let Some(other) = other.filter(fits) {
            (found.doubt, found.misordered) = (other, true);
        }
    }
    all.sort_by(|a, b| a.doubt.total_cmp(&b.doubt));
    let first = all.first()?.doubt;
    let base = |found: &MotionReading| found.motion.base.first().map(|base| base.rotation);
    all.retain(|found| found.doubt - first < SAME_DOUBT);
    let turned = |found: &MotionReading| base(found).map_or(0.0, |rotation| rotation.angle());
    let rival = match &all[..] {
        [a, b, ..] if a.layout.extension == "csv" && base(a) != base(b) => {
            let second = usize::from(turned(a) <= turned(b));
            Some(all.remove(second).layout)
        }
        _ => None,
    };
    all.into_iter().next().map(|found| MotionReading { rival, ..found })
}

/// How little a candidate fits: the distance of links, hinges beyond their ranges, a base that lies.
fn doubt(found: &MotionReading, arrays: &MotionArrays, robot: &Robot) -> f64 {
    let links = link_error(found, arrays, robot).unwrap_or(0.0);
    let up = own_up(robot);
    let up = |base: &Transform| 1.0 - (base.rotation * up).z;
    let frames = found.motion.frames().max(1) as f64;
    let lies = found.motion.base.iter().map(up).sum::<f64>() / frames;
    let beyond = |frame: usize| {
        robot.hinges.iter().zip(found.motion.values(frame)).map(|(hinge, value)| {
            hinge.range.map_or(0.0, |[low, high]| (low - value).max(value - high).max(0.0))
        })
    };
    let beyond = (0..found.motion.frames()).flat_map(beyond).sum::<f64>() / frames;
    links + lies + beyond
}

/// A reading of a table without names as if its hinges were breadth first, as in Isaac Lab; `None` if they are, or are known to be in
/// another order.
fn breadth_first(found: &MotionReading, robot: &Robot) -> Option<MotionReading> {
    if found.layout.extension != "csv" || found.order.named.is_some() {
        return None;
    }
    let layout = ROBOT_LAYOUTS.iter().find(|layout| layout.breadth_first)?;
    let hinges = |link| robot.hinges_of(link).map(|(hinge, _)| hinge);
    let order: Vec<usize> = robot.links_of(layout, false).into_iter().flat_map(hinges).collect();
    let own = &found.order.hinges;
    if order == *own {
        return None;
    }
    let mut motion = RobotMotion { values: vec![0.0; found.motion.values.len()], ..found.motion.clone() };
    for (frame, values) in motion.values.chunks_exact_mut(order.len()).enumerate() {
        let written = found.motion.values(frame);
        order.iter().zip(own).for_each(|(&hinge, &column)| values[hinge] = written[column]);
    }
    Some(MotionReading { motion, ..found.clone() })
}
