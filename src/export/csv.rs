//! Writes a motion as a table with one row per frame, or one row per joint and frame.
//!
//! Space: model space, Y up, for positions and rotations; quaternions do not change their sign between frames. Units: metres,
//! seconds; quaternions x, y, z, w. Source: RFC 4180 (fields with commas or quotes are quoted; lines end with a line feed only); a
//! name that a spreadsheet would run as a formula begins with an apostrophe.

pub use super::export_options::{CsvOptions, Layout};
use super::robot::robot_bytes;
use super::save::{Format, one_each};
use crate::math::{Quat, same_hemisphere};
use crate::model::{ModelPose, Motion};
use crate::report::csv_field;
use std::fmt::Write;

/// Comma-separated values.
pub const FORMAT: Format = Format {
    name: "csv",
    about: "table of positions and rotations of joints in model space, metres",
    loses: "everything but joint positions and rotations; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        one_each("csv", motions, options, |motion, warnings| {
            let robot = robot_bytes(motion, "csv", &options.robot, warnings)?;
            Ok(robot.unwrap_or_else(|| write(motion, &options.csv).into_bytes()))
        })
    },
};

/// The columns of a joint: position and rotation.
const COLUMNS: [&str; 7] = ["px", "py", "pz", "qx", "qy", "qz", "qw"];

/// The table of a motion.
pub fn write(motion: &Motion, options: &CsvOptions) -> String {
    let (skeleton, clip) = (motion.character.skeleton(), &motion.clip);
    let names: Vec<&str> = skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    let mut table = match options.layout {
        Layout::Wide => {
            let columns = names
                .iter()
                .flat_map(|name| COLUMNS.map(|c| format!(",{}", csv_field(&format!("{name}.{c}")))));
            format!("time{}", columns.collect::<String>())
        }
        Layout::Long => format!("frame,time,joint,{}", COLUMNS.join(",")),
    };
    table.push('\n');
    let mut pose = skeleton.rest_pose();
    let mut model = ModelPose::new(Vec::with_capacity(names.len()));
    let mut before = vec![Quat::identity(); names.len()];
    for frame in 0..clip.frames() {
        clip.read_pose(frame, &mut pose);
        model.set(skeleton, &pose);
        let time = clip.time(frame);
        if options.layout == Layout::Wide {
            let _ = write!(table, "{time}");
        }
        for ((joint, before), name) in model.joints().iter().zip(&mut before).zip(&names) {
            *before = same_hemisphere(joint.rotation, before);
            if options.layout == Layout::Long {
                let _ = write!(table, "{frame},{time},{}", csv_field(name));
            }
            for number in joint.translation.iter().chain(before.coords.iter()) {
                // 32 bits are finer than any capture; adding 0 removes the sign of a negative zero.
                let _ = write!(table, ",{}", *number as f32 + 0.0);
            }
            if options.layout == Layout::Long {
                table.push('\n');
            }
        }
        if options.layout == Layout::Wide {
            table.push('\n');
        }
    }
    table
}
