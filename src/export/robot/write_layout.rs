//! Writes a robot's motion in one of the layouts.

use super::default_pose::led;
use super::pickle::Pickle;
use super::robot_track::{FieldValues, RobotTrack};
use crate::export::export_options::RobotOptions;
use crate::export::file_rate::at_file_rate;
use crate::export::nominal_rate::nominal;
#[cfg(feature = "formats")]
use crate::export::numpy_arrays::{doubles, floats, integers, npy, texts};
use crate::export::save::{ExportError, Format, one_each};
#[cfg(feature = "formats")]
use crate::export::zip_archive::{Packing, archive};
use crate::model::{Motion, ROBOT_LAYOUTS, RobotField, RobotLayout, RobotMotion};
use crate::report::{Warnings, csv_field, one_line};
use std::fmt::Write;

/// Pickles: motions of robots.
pub const PKL: Format = Format {
    name: "pkl",
    about: "pickle of a robot's motion, as GMR and MimicKit read it",
    loses: "everything but base and hinges of a robot; one clip a file",
    morphs: false,
    several: false,
    write: |motions, options| {
        one_each("pkl", motions, options, |motion, warnings| {
            let robot = robot_bytes(motion, "pkl", &options.robot, warnings)?;
            robot.ok_or(ExportError::NoRobot { format: "pkl" })
        })
    },
};

/// The file of a motion in a robot's layout; `None` if the character is no robot, or no layout is wanted: the format's own tables
/// are written then.
///
/// # Errors
/// A layout that does not exist or has another extension, or that is asked for although the character is no robot, joints that leave their
/// hinges, and what an archive cannot hold.
pub(in crate::export) fn robot_bytes(
    motion: &Motion,
    extension: &'static str,
    options: &RobotOptions,
    warnings: &mut Warnings,
) -> Result<Option<Vec<u8>>, ExportError> {
    let Some(robot) = motion.character.robot.as_ref().filter(|_| options.layout != "none") else {
        return match options.layout.as_str() {
            "" | "none" => Ok(None),
            layout => {
                let (layout, character) = (one_line(layout), one_line(&motion.character.name));
                Err(ExportError::LayoutWithoutRobot { layout, character })
            }
        };
    };
    let layout = layout(extension, &options.layout)?;
    let wanted = if options.rate > 0.0 { Some(options.rate) } else { layout.rate };
    let at_rate = wanted.and_then(|rate| at_file_rate(motion, rate));
    let found = RobotMotion::of(at_rate.as_ref().unwrap_or(motion)).map_err(ExportError::Robot)?;
    let found = led(
        robot,
        RobotMotion { rate: nominal(found.rate), ..found },
        (&options.default_pose, options.lead),
        warnings,
    )?;
    if let Some(usual) = layout.rate.filter(|usual| *usual != found.rate) {
        warnings.add("robot-rate", rate_message(layout, usual, found.rate), layout.name);
    }
    let track = RobotTrack::new(robot, &found, layout);
    Ok(Some(match extension {
        "csv" => table(&track, layout).into_bytes(),
        "pkl" => pickle(&track, layout),
        _ => arrays(&track, layout)?,
    }))
}

/// What is said of a rate that is not the usual one of a layout.
fn rate_message(layout: &RobotLayout, usual: f64, rate: f64) -> String {
    let expected = format!("readers of `{}` expect {usual} Hz, the file has {rate} Hz", layout.name);
    let in_array = layout.fields.iter().any(|(_, field)| *field == RobotField::RateArray);
    if !in_array || rate.fract() == 0.0 {
        return expected;
    }
    format!(
        "{expected}: `fps` is not a whole number, and readers that make it one take {}; `--set output.robot.rate={}` avoids that",
        rate.trunc(),
        rate.round().max(1.0)
    )
}

/// The layout of this name, or the default of an extension.
fn layout(extension: &'static str, name: &str) -> Result<&'static RobotLayout, ExportError> {
    let fitting = || ROBOT_LAYOUTS.iter().filter(|layout| layout.extension == extension);
    let found = fitting().find(|layout| name.is_empty() || layout.name == name);
    found.ok_or_else(|| ExportError::RobotLayout {
        layout: name.to_owned(),
        format: extension,
        known: fitting().map(|layout| format!("`{}`", layout.name)).collect::<Vec<_>>().join(", "),
    })
}

fn table(track: &RobotTrack, layout: &RobotLayout) -> String {
    let columns: Vec<(&str, RobotField, FieldValues)> = (layout.fields.iter())
        .filter_map(|(name, field)| Some((*name, *field, track.numbers(*field)?)))
        .collect();
    let mut text = String::new();
    if layout.header {
        let names = columns.iter().flat_map(|(name, field, numbers)| {
            (0..numbers.shape[0]).map(|k| {
                csv_field(&RobotLayout::column(name, *field, k, |k| track.hinge_names()[k].to_owned()))
            })
        });
        text += &names.collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    for frame in 0..track.frames() {
        let mut first = true;
        for (_, field, numbers) in &columns {
            let width = numbers.shape[0];
            for value in &numbers.values[frame * width..][..width] {
                text.push_str(if std::mem::take(&mut first) { "" } else { "," });
                // A micrometre; adding 0 removes the sign of a negative zero.
                let rounded = (value * MICRO).round() / MICRO + 0.0;
                let _ = if *field == RobotField::Frame {
                    write!(text, "{value}")
                } else {
                    write!(text, "{rounded:.6}")
                };
            }
        }
        text.push('\n');
    }
    text
}

/// Steps per unit of a number in a table: six digits after the point.
const MICRO: f64 = 1e6;

fn pickle(track: &RobotTrack, layout: &RobotLayout) -> Vec<u8> {
    let mut pickle = Pickle::new();
    for (name, field) in layout.fields {
        match (*field, track.numbers(*field)) {
            (_, Some(numbers)) => {
                let shape: Vec<usize> = [track.frames()].into_iter().chain(numbers.shape).collect();
                pickle.array(name, &shape, &numbers.values);
            }
            (RobotField::Rate, None) => pickle.number(name, track.rate()),
            (RobotField::Whole(number), None) => pickle.whole(name, number),
            _ => pickle.none(name),
        }
    }
    pickle.finish()
}

#[cfg(not(feature = "formats"))]
fn arrays(_: &RobotTrack, _: &RobotLayout) -> Result<Vec<u8>, ExportError> {
    Err(ExportError::NoRobot { format: "npz" })
}

#[cfg(feature = "formats")]
fn arrays(track: &RobotTrack, layout: &RobotLayout) -> Result<Vec<u8>, ExportError> {
    let mut files = Vec::new();
    for (name, field) in layout.fields {
        if let Some(numbers) = track.numbers(*field) {
            let shape: Vec<usize> = [track.frames()].into_iter().chain(numbers.shape).collect();
            files.push(floats(name, &shape, numbers.values.iter().map(|x| *x as f32).collect()));
            continue;
        }
        files.push(match field {
            // Whole where it is, as the scripts of the layouts write it; readers take `fps` as it is.
            RobotField::RateArray => match track.rate() {
                rate if rate.fract() == 0.0 => integers(name, &[1], vec![rate as i32]),
                rate => doubles(name, &[1], vec![rate]),
            },
            RobotField::Rate => npy(name, "<f8", &[], &track.rate().to_le_bytes()),
            RobotField::HingeNames => {
                let names = track.hinge_names();
                texts(name, &[names.len()], &names)
            }
            RobotField::JointNames => {
                let names = track.joint_names();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                texts(name, &[names.len()], &names)
            }
            RobotField::LinkNames => {
                let names = track.link_names();
                texts(name, &[names.len()], &names)
            }
            RobotField::JointCount => integers(name, &[], vec![1 + track.hinges.len() as i32]),
            RobotField::JointTypes => {
                let types = track.joint_types();
                integers(name, &[types.len()], types)
            }
            RobotField::Ends => integers(name, &[2], vec![0, track.frames() as i32]),
            _ => continue,
        });
    }
    // As `numpy.savez`: angles and positions of a motion would lose a tenth of their size for a seventh of the time of a retarget.
    archive(&files, Packing::Stored)
}
