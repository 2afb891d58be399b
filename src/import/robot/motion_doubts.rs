//! What in a robot's motion file contradicts the robot: order of links, quaternions, units, rate, limits.

use super::motion_arrays::MotionArrays;
use super::motion_order::MotionOrder;
use crate::math::{Transform, Vec3, log, median};
use crate::model::{Robot, RobotField, RobotLayout, RobotMotion, RotationForm};
use crate::report::{Warnings, one_line};
use crate::robot_body::RobotBody;

/// Frames of which the links are compared: every part of a take has some.
const COMPARED: usize = 64;
/// Mean distance of links beyond which they are not where the hinges put them, metres: `f32` has a micrometre there.
const LINKS_OFF: f64 = 0.005;
/// Share of a hinge's values beyond its range from which it is reported, and how far beyond counts, radians.
const BEYOND: (f64, f64) = (0.02, 0.02);
/// Angles beyond this are no radians of a hinge: two and a half circles.
const DEGREES: f64 = 16.0;
/// Mean deviation of a quaternion's length from one that is no rounding.
const STRETCHED: f64 = 1e-3;
/// Mean height of the base's up axis below which it lies, as a cosine.
const LIES: f64 = 0.3;
/// Heights of the base in metres beyond which another unit is meant; a robot's base is at most 1.2 m high.
const HIGH: f64 = 10.0;
/// Hinges of a table in degrees that never leave zero by more than this are probably in radians, radians: three degrees, where the
/// knees of a robot that only stands bend by more.
const STIFF: f64 = 0.055;
/// Height of the base below which a table in centimetres is probably in metres: that of the thinnest robot that lies.
const LOW: f64 = 0.03;
/// Cosine between the stated angular velocity of the base and that of its quaternions below which they are another rotation.
const OTHER_SPIN: f64 = 0.5;
/// Slower bases say nothing of it, radians per second.
const STILL: f64 = 0.05;
/// The ratio of stated speeds to those of the values that is no rounding or smoothing.
const SPEED_RATIO: f64 = 0.1;
/// Slower hinges say nothing about the ratio of speeds, radians per second.
const SLOW: f64 = 0.1;

/// A file read as one layout.
#[derive(Clone, Debug)]
pub(super) struct MotionReading {
    pub(super) layout: &'static RobotLayout,
    pub(super) motion: RobotMotion,
    /// In what order the file has hinges and links.
    pub(super) order: MotionOrder,
    /// Why its rate is what it is, unless the file or the user states it.
    pub(super) assumed: Option<String>,
    /// Mean deviation of the quaternions' lengths from one.
    pub(super) stretched: f64,
    /// How little it fits the robot.
    pub(super) doubt: f64,
    /// Whether the hinges of a table fit much better breadth first.
    pub(super) misordered: bool,
    /// Another layout that fits as well.
    pub(super) rival: Option<&'static RobotLayout>,
}

/// The mean distance of the links from where the hinges put them, metres; `None` for a layout without links.
pub(super) fn link_error(found: &MotionReading, arrays: &MotionArrays, robot: &Robot) -> Option<f64> {
    let order = &found.order.links;
    let places = arrays.get(found.layout, |field| field == RobotField::LinkPlaces)?;
    let frames = found.motion.frames().min(places.frames());
    let (mut sum, mut count) = (0.0, 0);
    for frame in (0..frames).step_by(frames.div_ceil(COMPARED).max(1)) {
        let links = robot.links_in_world(found.motion.base[frame], found.motion.values(frame));
        for (place, &link) in places.frame(frame).chunks_exact(3).zip(order) {
            sum += (links[link].translation - Vec3::from_column_slice(place)).norm();
            count += 1;
        }
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Mean speed of the lower sole, m/s: of a robot that walks it is small, unless the base's quaternion has another order. A base
/// that is upright in one order often is in the other, half a circle about the vertical away.
pub(super) fn slip(found: &MotionReading, body: &RobotBody) -> f64 {
    let motion = &found.motion;
    let lower = |frame: usize| {
        let links = body.robot.links_in_world(motion.base[frame], motion.values(frame));
        let points =
            body.soles.each_ref().map(|sole| [sole.heel, sole.ball].map(|p| links[sole.link].point(&p)));
        points.concat()
    };
    let pairs = motion.frames().saturating_sub(1);
    let (mut sum, mut count) = (0.0, 0);
    for frame in (0..pairs).step_by(pairs.div_ceil(COMPARED).max(1)) {
        let (before, after) = (lower(frame), lower(frame + 1));
        let lowest = (0..before.len()).min_by(|&a, &b| before[a].z.total_cmp(&before[b].z)).unwrap_or(0);
        sum += (after[lowest] - before[lowest]).norm() * motion.rate;
        count += 1;
    }
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Adds a warning for each contradiction.
pub(super) fn report_doubts(
    found: &MotionReading,
    arrays: &MotionArrays,
    robot: &Robot,
    name: &str,
    warnings: &mut Warnings,
) {
    let motion = &found.motion;
    let frames = motion.frames().max(1) as f64;
    if let Some(off) = link_error(found, arrays, robot).filter(|off| *off > LINKS_OFF) {
        let message = format!(
            "the links are {off:.3} m from where the hinges put them: another robot, another order of hinges or links, or another \
             order of quaternions"
        );
        warnings.add("robot-motion-links", message, name);
    }
    if found.misordered {
        let message = format!(
            "the hinges fit the robot breadth first, as Isaac Lab orders them, not in MuJoCo's order, which `{}` has: put its columns in \
             the order of `inspect`",
            found.layout.name
        );
        warnings.add("robot-motion-order", message, name);
    }
    if found.stretched > STRETCHED {
        let message = format!("the base's quaternions are not of length one, by {:.3}", found.stretched);
        warnings.add("robot-motion-quaternion", message, name);
    }
    let up = own_up(robot);
    let up = motion.base.iter().map(|base| (base.rotation * up).z).sum::<f64>() / frames;
    if up < LIES {
        let message =
            "the base lies or is upside down: if the robot does not, the quaternion has another order";
        warnings.add("robot-motion-lies", message, name);
    }
    let high = median(motion.base.iter().map(|base| base.translation.z.abs()).collect());
    if high > HIGH {
        warnings.add("robot-motion-unit", format!("the base is {high:.0} m high: another unit"), name);
    }
    hinges(found, robot, name, warnings);
    lengths(found, arrays, name, warnings);
    units(found, high, name, warnings);
    speeds(found, arrays, robot, name, warnings);
    spin(found, arrays, robot, name, warnings);
}

/// Arrays of other lengths: frames that one of them lacks are not read.
fn lengths(found: &MotionReading, arrays: &MotionArrays, name: &str, warnings: &mut Warnings) {
    let per_frame = |field: &RobotField| {
        matches!(
            field,
            RobotField::Positions
                | RobotField::Hinges(_)
                | RobotField::LinkPlaces
                | RobotField::LinkRotations
                | RobotField::PlaceVectorHinges
        )
    };
    let fields = found.layout.fields.iter().filter(|(_, field)| per_frame(field));
    let counts: Vec<(&str, usize)> =
        fields.filter_map(|(name, _)| Some((*name, arrays.arrays.get(*name)?.frames()))).collect();
    let frames = found.motion.frames();
    if let Some((longer, count)) = counts.iter().find(|(_, count)| *count > frames) {
        let shorter = counts.iter().find(|(_, count)| *count == frames).map_or("", |(name, _)| *name);
        let message = format!(
            "`{shorter}` has {frames} frames, `{longer}` has {count}: only the first {frames} are read"
        );
        warnings.add("robot-motion-lengths", message, name);
    }
}

/// Tables that are read in degrees and centimetres, and are in radians or metres. `high` is the usual height of the base, metres.
fn units(found: &MotionReading, high: f64, name: &str, warnings: &mut Warnings) {
    let (mut degrees, mut lengths) = (false, 1.0);
    for (_, field) in found.layout.fields {
        match field {
            RobotField::BasePlace(scale) => lengths = *scale,
            RobotField::BaseRotation(form) => degrees |= *form == RotationForm::FixedXyzDegrees,
            _ => {}
        }
    }
    let motion = &found.motion;
    let values = (0..motion.frames()).flat_map(|frame| motion.values(frame));
    let largest = values.fold(0.0f64, |most, value| most.max(value.abs()));
    if degrees && largest > 0.0 && largest < STIFF {
        let message = format!(
            "no hinge is farther than {:.1} degrees from zero: `{}` is in degrees, and these are probably radians",
            largest.to_degrees(),
            found.layout.name
        );
        warnings.add("robot-motion-radians", message, name);
    }
    if lengths > 1.0 && high > 0.0 && high < LOW {
        let message = format!(
            "the base is {high:.4} m high: `{}` is in centimetres, and these are probably metres",
            found.layout.name
        );
        warnings.add("robot-motion-unit", message, name);
    }
}

/// The stated angular velocity of the base against that of its quaternions, which another order of their numbers changes.
fn spin(found: &MotionReading, arrays: &MotionArrays, robot: &Robot, name: &str, warnings: &mut Warnings) {
    let motion = &found.motion;
    let Some(stated) = arrays.get(found.layout, |field| field == RobotField::Velocities) else { return };
    if stated.width != 6 + robot.hinges.len() || stated.frames() != motion.frames() {
        return;
    }
    let (mut along, mut own_square, mut stated_square, mut count) = (0.0f64, 0.0f64, 0.0f64, 0);
    for frame in 1..motion.frames().saturating_sub(1) {
        let [before, after] = [&motion.base[frame - 1], &motion.base[frame + 1]];
        let own = log(&(before.rotation.inverse() * after.rotation)) * (motion.rate / 2.0);
        let stated = Vec3::from_column_slice(&stated.frame(frame)[3..6]);
        along += own.dot(&stated);
        own_square += own.norm_squared();
        stated_square += stated.norm_squared();
        count += 1;
    }
    let moves = own_square > STILL * STILL * f64::from(count) && stated_square > 0.0;
    if moves && along < OTHER_SPIN * (own_square * stated_square).sqrt() {
        let message = "the stated angular velocity of the base is not that of its quaternions: they probably are in another order than \
                       w, x, y, z";
        warnings.add("robot-motion-quaternion-order", message, name);
    }
}

/// Hinges beyond their ranges.
fn hinges(found: &MotionReading, robot: &Robot, name: &str, warnings: &mut Warnings) {
    let motion = &found.motion;
    let all = || (0..motion.frames()).map(|frame| motion.values(frame));
    let largest = all().flatten().fold(0.0f64, |most, value| most.max(value.abs()));
    if largest > DEGREES {
        let message = format!("a hinge is at {largest:.0} radians: its values are degrees");
        warnings.add("robot-motion-degrees", message, name);
        return;
    }
    let mut beyond: Vec<(f64, &str)> = Vec::new();
    for (k, hinge) in robot.hinges.iter().enumerate() {
        let Some([low, high]) = hinge.range else { continue };
        let outside =
            all().filter(|values| values[k] < low - BEYOND.1 || values[k] > high + BEYOND.1).count();
        let share = outside as f64 / motion.frames().max(1) as f64;
        if share > BEYOND.0 {
            beyond.push((share, hinge.name.as_str()));
        }
    }
    let worst = beyond.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    if let Some((share, worst)) = worst {
        let message = format!(
            "{} hinges are beyond their ranges, `{}` in {:.0} percent of the frames: another robot, or another order of hinges",
            beyond.len(),
            one_line(worst),
            share * 100.0
        );
        warnings.add("robot-motion-range", message, name);
    }
}

/// Stated speeds against those of the values.
fn speeds(found: &MotionReading, arrays: &MotionArrays, robot: &Robot, name: &str, warnings: &mut Warnings) {
    let count = robot.hinges.len();
    let of_hinges = |field: RobotField| matches!(field, RobotField::HingeSpeeds | RobotField::Velocities);
    let Some(stated) = arrays.get(found.layout, of_hinges) else { return };
    // The velocities of the base come first.
    let base = stated.width.saturating_sub(count);
    if stated.width != count + base || ![0, 6].contains(&base) || stated.frames() != found.motion.frames() {
        return;
    }
    let size = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let ratio = |frame: usize| {
        let [before, after] = [found.motion.values(frame - 1), found.motion.values(frame + 1)];
        let own = size(&mut before.iter().zip(after).map(|(a, b)| (b - a) * found.motion.rate / 2.0));
        (own > SLOW).then(|| size(&mut stated.frame(frame)[base..].iter().copied()) / own)
    };
    let ratios: Vec<f64> = (1..stated.frames().saturating_sub(1)).filter_map(ratio).collect();
    let usual = median(ratios.clone());
    if !ratios.is_empty() && (usual - 1.0).abs() > SPEED_RATIO {
        let message = format!(
            "the stated speeds of the hinges are {usual:.2} times those of their values at {} Hz: another rate",
            found.motion.rate
        );
        warnings.add("robot-motion-rate", message, name);
    }
}

/// The direction in the base's space that is up while the robot stands.
pub(super) fn own_up(robot: &Robot) -> Vec3 {
    let base = robot.links.first().map_or_else(Transform::identity, |link| link.parent_from_link);
    base.rotation.inverse() * Vec3::z()
}
