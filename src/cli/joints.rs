//! `posemill joints`: world-space joint positions.
//!
//! Space: Y up; a glTF, FBX or USD character keeps the heading that it has in its file. Units: metres and seconds.

use super::console::Console;
use super::exit::{Exit, Failure};
use super::load_file::{clip, load};
use crate::kinematics::{FramePoses, Towards};
use crate::math::Quat;
use crate::model::{Asset, JointId};
use crate::report::{Shown, csv_field, json_line, one_line};
use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;

/// Print world-space joint positions, in metres, Y up
///
/// Units and up axis of the file are converted. A file without a clip prints its rest pose as frame 0. Without `--json` or `--csv`
/// the output is a table for reading.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    posemill joints take.bvh --frames 0,10,last\n  \
    posemill joints hero.glb --clip Walk --json > walk.json")]
pub struct JointsArguments {
    /// A motion file or a character; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The frames, from 0, e.g. `0,10,last` [default: all]
    #[arg(long, value_name = "FRAMES", value_delimiter = ',')]
    frames: Vec<String>,
    /// The clip, by name or number from 0 [default: the first that posemill added, else the first]
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Print one JSON document: the joints, and for each frame their positions
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print rows of frame, time, joint, x, y, z
    #[arg(long)]
    csv: bool,
    /// Override how the file is read, e.g. `input.units=cm` (keys: `posemill stages --reference`)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

const SCHEMA: &str = "posemill.joints/1";

/// Positions of the joints of a clip, in world space with Y up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JointsDocument {
    /// The name and version of this document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The file.
    file: String,
    /// The name of the clip; null for the rest pose of a file without clips.
    clip: Option<String>,
    /// Metres per unit of `positions`: 1.
    metres_per_unit: f64,
    /// The axis that points up: `y`.
    up: &'static str,
    /// The joints of the file, parents first.
    joints: Vec<ListedJoint>,
    /// The frames that were asked for.
    frames: Vec<FramePositions>,
}

/// A joint.
#[derive(Debug, Serialize, JsonSchema)]
struct ListedJoint {
    /// The name in the file.
    name: String,
    /// The number of the parent in `joints`, from 0; -1 for a root.
    parent: i64,
    #[serde(skip)]
    id: JointId,
}

/// The positions of all joints at one frame.
#[derive(Debug, Serialize, JsonSchema)]
struct FramePositions {
    /// The number of the frame, from 0.
    frame: usize,
    /// The time of the frame, seconds.
    time: f64,
    /// The position of each joint, in the order of `joints`: x, y and z in metres, world space.
    positions: Vec<[f64; 3]>,
}

/// Prints the positions.
pub fn run(arguments: &JointsArguments, console: &Console) -> Result<Exit, Failure> {
    let asset = load(&arguments.file, &arguments.sets)?;
    let document = document(&asset, arguments)?;
    console.warnings_of(&arguments.file.shown(), &asset.warnings);
    if arguments.json {
        console.data(&(json_line(&document) + "\n"));
    } else if arguments.csv {
        console.data(&rows(&document));
    } else {
        console.data(&table(&document));
    }
    Ok(Exit::Good)
}

fn document(asset: &Asset, arguments: &JointsArguments) -> Result<JointsDocument, Failure> {
    let skeleton = asset.character.skeleton();
    let clip = clip(asset, arguments.clip.as_deref())?;
    let count = clip.map_or(1, |c| c.frames());
    let wanted = frames(&arguments.frames, count)?;

    // Joints that the import added are left out; their children get the next ancestor from the file.
    let mut position = vec![-1; skeleton.len()];
    let mut joints: Vec<ListedJoint> = Vec::new();
    for id in skeleton.ids() {
        let parent = skeleton.parent(id).map_or(-1, |p| position[p.index()]);
        position[id.index()] = match &skeleton.joint(id).file_name {
            Some(name) => {
                joints.push(ListedJoint { name: name.clone(), parent, id });
                joints.len() as i64 - 1
            }
            None => parent,
        };
    }

    let file_from_model =
        asset.character.document.as_ref().map_or(Quat::identity(), |d| d.model_from_file.inverse());
    let all = Towards::new(skeleton, skeleton.ids());
    let mut poses = clip.map(|clip| FramePoses::new(&all, clip));
    let rest = skeleton.rest_model_pose();
    let frame = |frame: usize| {
        let model = poses.as_mut().map_or(&rest, |poses| poses.at(frame));
        let place = |j: &ListedJoint| (file_from_model * model.position(j.id)).into();
        let positions = joints.iter().map(place).collect();
        FramePositions { frame, time: clip.map_or(0.0, |c| c.time(frame)), positions }
    };
    Ok(JointsDocument {
        schema: SCHEMA,
        file: arguments.file.display().to_string(),
        clip: clip.map(|c| c.name.clone()),
        metres_per_unit: 1.0,
        up: "y",
        frames: wanted.into_iter().map(frame).collect(),
        joints,
    })
}

fn frames(words: &[String], count: usize) -> Result<Vec<usize>, Failure> {
    let frame = |word: &String| {
        let number = match word.trim() {
            "last" => count.checked_sub(1),
            word => word.parse().ok(),
        };
        let there = number.filter(|&n| n < count);
        there.ok_or_else(|| {
            let has = match count {
                0 => "the clip has no frames".to_owned(),
                n => format!("frames are 0 to {}, or `last`", n - 1),
            };
            Failure::Argument(format!("there is no frame `{word}`\n  hint: {has}"))
        })
    };
    if words.is_empty() { Ok((0..count).collect()) } else { words.iter().map(frame).collect() }
}

fn rows(document: &JointsDocument) -> String {
    let names: Vec<String> = document.joints.iter().map(|j| csv_field(&one_line(&j.name))).collect();
    let mut text = "frame,time,joint,x,y,z\n".to_owned();
    for frame in &document.frames {
        for (name, [x, y, z]) in names.iter().zip(&frame.positions) {
            let _ = writeln!(text, "{},{},{name},{x},{y},{z}", frame.frame, frame.time);
        }
    }
    text
}

fn table(document: &JointsDocument) -> String {
    let width = document.joints.iter().map(|j| j.name.chars().count()).max().unwrap_or(0);
    let names: Vec<String> =
        document.joints.iter().map(|j| format!("  {:width$}", one_line(&j.name))).collect();
    let mut text = String::new();
    for frame in &document.frames {
        let _ = writeln!(text, "frame {} at {:.4} s", frame.frame, frame.time);
        for (name, position) in names.iter().zip(&frame.positions) {
            text.push_str(name);
            for x in position {
                text.push(' ');
                push_number(&mut text, *x);
            }
            text.push('\n');
        }
    }
    text
}

/// Appends a number as `{x:10.4}` does, which takes fifty times as long: a long clip has millions.
fn push_number(text: &mut String, x: f64) {
    /// Numbers below this, ten-thousandths, have at most four digits before the point.
    const MOST: f64 = 99_999_999.0;
    /// The product by 10,000 is exact to less than this; nearer to the middle between two numbers it does not decide.
    const ROUNDING: f64 = 1e-6;
    let scaled = x.abs() * 1e4;
    if !(scaled < MOST && (scaled.fract() - 0.5).abs() > ROUNDING) {
        let _ = write!(text, "{x:10.4}");
        return;
    }
    let mut columns = *b"    0.0000";
    let mut rest = scaled.round() as u64;
    let mut first = 4;
    for place in [9, 8, 7, 6, 4, 3, 2, 1] {
        if rest > 0 {
            columns[place] = b'0' + (rest % 10) as u8;
            first = first.min(place);
        }
        rest /= 10;
    }
    if x.is_sign_negative() {
        columns[first - 1] = b'-';
    }
    text.extend(columns.map(char::from));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(x: f64) {
        let mut text = String::new();
        push_number(&mut text, x);
        assert_eq!(text, format!("{x:10.4}"));
    }

    #[test]
    fn odd_numbers_are_printed_as_ever() {
        let odd = [
            0.0, 0.00004, 0.00005, 0.00015, 0.03125, 0.09375, 1.00005, 9999.9998, 9999.99995, 1e4, 1e9, 1e300,
        ];
        let odd = odd.into_iter().chain([f64::NAN, f64::INFINITY, 5e-324, 9.9999, 0.99995]);
        odd.flat_map(|x| [x, -x]).for_each(check);
        (0..20_000).for_each(|k| check(f64::from(k) / 64_000.0));
    }

    proptest! {
        #[test]
        fn numbers_are_printed_as_ever(x in -2e4..2e4f64, small in -2.0..2.0f64) {
            check(x);
            check(small);
            check(f64::from(small as f32));
        }
    }
}
