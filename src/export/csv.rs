//! Writes a motion as a table with one row per frame, or one row per joint and frame.
//!
//! Space: model space, Y up, for positions and rotations; quaternions do not change their sign between frames. Units: metres,
//! seconds; quaternions x, y, z, w. Source: RFC 4180 (fields with commas or quotes are quoted; lines end with a line feed only); a
//! name that a spreadsheet would run as a formula begins with an apostrophe.

use super::format::Format;
use super::robot::{RobotFile, written};
use super::save::{ExportError, OutputFile};
use crate::math::{Quat, same_hemisphere};
use crate::model::{ModelPose, Motion};
use crate::report::{Warnings, csv_field};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Comma-separated values.
pub const FORMAT: Format = Format {
    name: "csv",
    about: "table of positions and rotations of joints in model space, metres",
    loses: "everything but joint positions and rotations; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        let mut warnings = Warnings::new();
        let file = |motion| match written(motion, "csv", &options.robot, &options.stem, &mut warnings)? {
            RobotFile::Robot(file) => Ok(file),
            RobotFile::NoRobot => {
                Ok(OutputFile { name: options.file("csv"), bytes: write(motion, &options.csv).into_bytes() })
            }
        };
        let files = motions.iter().map(file).collect::<Result<_, ExportError>>()?;
        Ok((files, warnings))
    },
};

/// Options of tables (`[output.csv]`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CsvOptions {
    /// The rows of `.csv` files: "wide" has one for each frame, with columns `time` and, for every joint, `NAME.px` to
    /// `NAME.qw`; "long" has one for each joint of each frame.
    pub layout: Layout,
}

/// The content of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A frame.
    #[default]
    Wide,
    /// A joint in a frame.
    Long,
}

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
