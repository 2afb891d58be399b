//! Reads the motion of a robot from a trainer's file: finds its layout, and reports what in it contradicts the robot.
//!
//! Layouts with the same keys are distinguished by the robot's own kinematics: with the right order of hinges and links the links are
//! where the file has them. Space: the robot's world. Units: metres, radians.

use super::best_layout::best;
use super::motion_arrays::{FrameNumbers, MotionArrays};
use super::motion_doubts::{MotionReading, report_doubts};
use super::motion_order::MotionOrder;
use super::robot_error::RobotError;
use crate::import::format::SourceFile;
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::import::missing_rows::MissingRows;
use crate::math::{Quat, RawQuat, Transform, Vec3, exp, median, same_hemisphere, slerp};
use crate::model::{
    Asset, Character, Clip, JointId, ROBOT_LAYOUTS, Robot, RobotField, RobotLayout, RobotMotion, RotationForm,
};
use crate::report::{Shown, Warnings};
use std::path::Path;
use std::sync::Arc;

/// The motion of the robot in the file `robot`, as an asset.
///
/// # Errors
/// A robot that cannot be read, and a file of no layout.
pub(in crate::import) fn import(
    source: &SourceFile,
    robot: &Path,
    options: &ImportOptions,
) -> Result<Asset, ImportError> {
    let (character, own) = model(robot, options)?;
    let mut arrays = MotionArrays::read(source, options)?;
    let mut warnings = Warnings::new();
    let read = |arrays: &MotionArrays| {
        let read = ROBOT_LAYOUTS.iter().filter_map(|layout| candidate(layout, arrays, &own, options.rate));
        best(read.collect(), arrays, &own)
    };
    let mut found = read(&arrays);
    if found.is_none() && arrays.drop_row_numbers() {
        found = read(&arrays);
        let message = "the first column numbers the rows: it is left out";
        warnings.add("robot-motion-row-numbers", message, source.name);
    }
    let mut found = found.ok_or_else(|| {
        let reason =
            format!("it is of no layout for a robot of {} hinges: {}", own.hinges.len(), widths(&arrays));
        RobotError::NoMotion { file: source.name.to_owned(), reason }
    })?;
    let layout = found.layout;
    warnings.guess("robot-layout", format!("read as `{}`: {}", layout.name, layout.about), source.name);
    if let Some(rival) = found.rival {
        let message = format!(
            "its quaternions are read as `{}` has them, those of `{}` fit as well: the robot was assumed to head X at first",
            layout.name, rival.name
        );
        warnings.add("robot-motion-rival", message, source.name);
    }
    if let Some(reason) = &found.assumed {
        let rate = found.motion.rate;
        let message = format!("{rate} frames per second were assumed ({reason}; `input.rate` sets it)");
        warnings.add("robot-motion-assumed-rate", message, source.name);
    }
    report_names(&found, &arrays, source.name, &mut warnings);
    report_doubts(&found, &arrays, &own, source.name, &mut warnings);
    fill_gaps(&mut found, &arrays, source, options, &mut warnings)?;
    let clips = clips(&found, &arrays, &own, source.name, &mut warnings);
    Ok(Asset { character, clips, meant: 0, warnings, companions: Vec::new(), observed: None })
}

/// Reports names that no layout or no hinge of the robot has.
fn report_names(found: &MotionReading, arrays: &MotionArrays, place: &str, warnings: &mut Warnings) {
    let layout = found.layout.name;
    if !found.layout.header && !arrays.header.is_empty() {
        let read = match found.order.named {
            Some(true) => "hinges are read by their names, the base",
            _ => "they are read",
        };
        let message =
            format!("the first line names the columns as no layout does: {read} in the order of `{layout}`");
        warnings.add("robot-motion-columns", message, place);
    } else if found.order.named == Some(false) {
        let why = match arrays.names.values().any(Vec::is_empty) {
            true => "its names are no texts (Python objects are not read: write them with `dtype=str`)",
            false => "its names of hinges are not those of the robot",
        };
        let message = format!("{why}: they are read in the order of `{layout}`");
        warnings.add("robot-motion-names", message, place);
    }
}

/// Interpolates the frames that the numbers of a table leave out.
///
/// # Errors
/// Frames out of order, more missing frames than there are, and the memory limit of the file.
fn fill_gaps(
    found: &mut MotionReading,
    arrays: &MotionArrays,
    source: &SourceFile,
    options: &ImportOptions,
    warnings: &mut Warnings,
) -> Result<(), ImportError> {
    let numbers = frame_numbers(found.layout, arrays, &found.order);
    let missing = MissingRows::of(&numbers).map_err(|fault| {
        let row = fault.row(numbers.len()) + 1;
        let reason = format!("row {row} of the numbers: {}", fault.said(&numbers));
        RobotError::NoMotion { file: source.name.to_owned(), reason }
    })?;
    let Some(missing) = missing else { return Ok(()) };
    let own = &found.motion;
    let width = own.values(0).len() + 7;
    options
        .budget(source.bytes)
        .reserve_list::<f64>((missing.count * width) as u64, || "the missing frames".to_owned())?;
    warnings.add("robot-motion-missing-frames", missing.said(numbers.len()), source.name);
    let mut filled = RobotMotion { rate: own.rate, base: Vec::new(), values: Vec::new() };
    for (before, share) in missing.rows(&numbers) {
        let (a, b) = (&own.base[before], &own.base[before + 1]);
        filled.base.push(Transform::new(
            slerp(&a.rotation, &b.rotation, share),
            a.translation.lerp(&b.translation, share),
        ));
        let pairs = own.values(before).iter().zip(own.values(before + 1));
        filled.values.extend(pairs.map(|(a, b)| a + (b - a) * share));
    }
    found.motion = filled;
    Ok(())
}

/// The clips of a file: one, or those between its split points.
fn clips(
    found: &MotionReading,
    arrays: &MotionArrays,
    robot: &Robot,
    name: &str,
    warnings: &mut Warnings,
) -> Vec<Clip> {
    let motion = &found.motion;
    let whole = || vec![motion.clip(name, robot)];
    let Some(ends) = arrays.get(found.layout, |field| field == RobotField::Ends) else { return whole() };
    let (ends, frames) = (&ends.values, motion.frames() as f64);
    let valid = ends.first() == Some(&0.0)
        && ends.last() == Some(&frames)
        && ends.iter().all(|end| end.fract() == 0.0)
        && ends.is_sorted_by(|a, b| a < b);
    if !valid {
        let message =
            format!("its split points do not rise from 0 to its {frames} frames: it is read as one clip");
        warnings.add("robot-motion-splits", message, name);
        return whole();
    }
    if ends.len() == 2 {
        return whole();
    }
    let part = |(k, ends): (usize, &[f64])| {
        let [from, to] = [ends[0], ends[1]].map(|end| end as usize);
        let values = (from..to).flat_map(|frame| motion.values(frame)).copied().collect();
        let part = RobotMotion { rate: motion.rate, base: motion.base[from..to].to_vec(), values };
        part.clip(&format!("{name}_{}", k + 1), robot)
    };
    ends.windows(2).enumerate().map(part).collect()
}

/// The robot in a file.
fn model(robot: &Path, options: &ImportOptions) -> Result<(Arc<Character>, Arc<Robot>), ImportError> {
    let without = ImportOptions { robot: None, ..options.clone() };
    let character = crate::import::load(robot, &without)?.character;
    let Some(own) = character.robot.clone() else {
        let (file, reason) = (robot.shown(), "it holds no robot".to_owned());
        return Err(RobotError::NoRobot { file, reason }.into());
    };
    Ok((character, own))
}

/// Farthest that a joint of a file may rest from where the robot's does, metres and radians: `f32` keeps a tenth of it.
const SAME_REST: f64 = 1e-5;

/// Gives a file whose skeleton is that of the robot in the file `robot` its hinges, shapes and ranges; others stay as they are.
///
/// # Errors
/// A robot that cannot be read.
pub(in crate::import) fn make_robot(
    asset: &mut Asset,
    robot: &Path,
    options: &ImportOptions,
) -> Result<(), ImportError> {
    let (character, _) = model(robot, options)?;
    let [theirs, own] = [&asset.character, &character].map(|character| character.skeleton());
    let same = |id: JointId| {
        let (a, b) = (theirs.joint(id), own.joint(id));
        let near = (a.rest.translation - b.rest.translation).norm() < SAME_REST
            && a.rest.rotation.angle_to(&b.rest.rotation) < SAME_REST;
        a.name == b.name && near
    };
    if theirs.parents() == own.parents() && own.ids().all(same) {
        asset.character = character;
    }
    Ok(())
}

/// The arrays of a file with their widths, for a message.
fn widths(arrays: &MotionArrays) -> String {
    let shown = |(name, numbers): (&String, &FrameNumbers)| match name.is_empty() {
        true => format!("{} columns", numbers.width),
        false => format!("`{name}` of {}", numbers.width),
    };
    arrays.arrays.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// The file as one layout; `None` if arrays are missing or have another width.
fn candidate(
    layout: &'static RobotLayout,
    arrays: &MotionArrays,
    robot: &Robot,
    asked: Option<f64>,
) -> Option<MotionReading> {
    let order = MotionOrder::of(layout, arrays, robot);
    let state = match layout.extension {
        "csv" => table_state(layout, arrays, &order)?,
        "npz" => array_state(layout, arrays, &order)?,
        _ => return None,
    };
    let stated = arrays.get(layout, |field| matches!(field, RobotField::Rate | RobotField::RateArray));
    let stated = stated.and_then(|rate| rate.values.first().copied()).or(asked);
    let (rate, assumed) = match stated {
        Some(rate) => (rate, None),
        None => usual_rate(layout, arrays, &order).map(|(rate, reason)| (rate, Some(reason)))?,
    };
    let usable = rate.is_finite() && rate > 0.0 && !state.is_empty();
    let mut motion = RobotMotion { rate, base: Vec::new(), values: Vec::new() };
    let (mut stretched, count) = (0.0, state.len() as f64);
    for (place, rotation, values) in state {
        stretched += (rotation.norm() - 1.0).abs() / count;
        let rotation = Quat::try_new(rotation, 1e-6).unwrap_or_else(Quat::identity);
        let last = motion.base.last().map_or(rotation, |base| base.rotation);
        motion.base.push(Transform::new(same_hemisphere(rotation, &last), place));
        motion.values.extend(values);
    }
    let (doubt, misordered, rival) = (0.0, false, None);
    usable.then_some(MotionReading { layout, motion, order, assumed, stretched, doubt, misordered, rival })
}

/// The rate of a file that states none, and why: that of its layout, over the step between the numbers of its frames.
fn usual_rate(layout: &RobotLayout, arrays: &MotionArrays, order: &MotionOrder) -> Option<(f64, String)> {
    let usual = layout.rate?;
    let numbers = frame_numbers(layout, arrays, order);
    let step = median(numbers.windows(2).map(|pair| pair[1] - pair[0]).collect());
    let step = Some(step).filter(|step| *step > 1.0);
    Some(match step {
        Some(step) => {
            (usual / step, format!("`{}` has {usual}, its frames are numbered by {step}", layout.name))
        }
        None => (usual, format!("`{}` states none and usually has this", layout.name)),
    })
}

/// The numbers that a table has for its frames: those of its layout, else those of its rows.
fn frame_numbers(layout: &RobotLayout, arrays: &MotionArrays, order: &MotionOrder) -> Vec<f64> {
    let numbered = matches!(layout.fields.first(), Some((_, RobotField::Frame)));
    let table = arrays.arrays.get("").filter(|_| numbered);
    let column = order.columns.as_ref().map_or(0, |columns| columns[0]);
    table.map_or_else(
        || arrays.row_numbers.clone(),
        |table| (0..table.frames()).map(|f| table.frame(f)[column]).collect(),
    )
}

/// Place, quaternion and hinges of a frame, in the robot's order.
type RobotFrame = (Vec3, RawQuat, Vec<f64>);

/// Values in the robot's order, from those in a layout's.
fn in_order(values: &[f64], hinges: &[usize], scale: f64) -> Vec<f64> {
    let mut own = vec![0.0; hinges.len()];
    hinges.iter().zip(values).for_each(|(&hinge, value)| own[hinge] = value / scale);
    own
}

fn rotation(values: &[f64], form: RotationForm) -> RawQuat {
    match (form, values) {
        (RotationForm::Xyzw, &[x, y, z, w]) | (RotationForm::Wxyz, &[w, x, y, z]) => RawQuat::new(w, x, y, z),
        (_, values) => {
            let angle = |k: usize| values.get(k).copied().unwrap_or(0.0).to_radians();
            Quat::from_euler_angles(angle(0), angle(1), angle(2)).into_inner()
        }
    }
}

/// The frames of a table.
fn table_state(layout: &RobotLayout, arrays: &MotionArrays, order: &MotionOrder) -> Option<Vec<RobotFrame>> {
    // What names its columns as a layout does is of that layout; a table with other names is one without.
    let named = |layout: &RobotLayout| {
        let column = |name: &str| arrays.header.iter().any(|cell| cell.contains(name));
        layout.header && layout.fields.iter().all(|(name, _)| column(name))
    };
    let fits = layout.header == ROBOT_LAYOUTS.iter().any(named) && layout.header == named(layout);
    let numbers = arrays.arrays.get("").filter(|_| fits)?;
    let width = |field: RobotField| field.columns(order.hinges.len());
    if layout.fields.iter().map(|(_, field)| width(*field)).sum::<usize>() != numbers.width {
        return None;
    }
    let in_frame = |frame: usize| {
        let written = numbers.frame(frame);
        let row: Vec<f64> = match &order.columns {
            Some(columns) => columns.iter().map(|&column| written[column]).collect(),
            None => written.to_vec(),
        };
        let mut rest = row.as_slice();
        let mut state = (Vec3::zeros(), RawQuat::identity(), Vec::new());
        for (_, field) in layout.fields {
            let (own, after) = rest.split_at(width(*field));
            match field {
                RobotField::BasePlace(scale) => state.0 = Vec3::from_column_slice(own) / *scale,
                RobotField::BaseRotation(form) => state.1 = rotation(own, *form),
                RobotField::Hinges(scale) => state.2 = in_order(own, &order.hinges, *scale),
                _ => {}
            }
            rest = after;
        }
        state
    };
    Some((0..numbers.frames()).map(in_frame).collect())
}

/// The frames of an archive.
fn array_state(layout: &RobotLayout, arrays: &MotionArrays, order: &MotionOrder) -> Option<Vec<RobotFrame>> {
    let MotionOrder { links, hinges, .. } = order;
    let of = |wanted: fn(RobotField) -> bool, width: usize| {
        arrays.get(layout, wanted).filter(|numbers| numbers.width == width)
    };
    let base = links.iter().position(|&link| link == 0)?;
    let positions = of(|f| f == RobotField::Positions, 7 + hinges.len());
    let values = of(|f| matches!(f, RobotField::Hinges(_)), hinges.len());
    let places = of(|f| f == RobotField::LinkPlaces, 3 * links.len());
    let rotations = of(|f| f == RobotField::LinkRotations, 4 * links.len());
    let vectors = of(|f| f == RobotField::PlaceVectorHinges, 6 + hinges.len());
    let in_frame = |frame: usize| -> Option<RobotFrame> {
        if let Some(positions) = positions {
            let own = positions.frame(frame);
            let place = Vec3::from_column_slice(&own[..3]);
            return Some((place, rotation(&own[3..7], RotationForm::Wxyz), in_order(&own[7..], hinges, 1.0)));
        }
        if let Some(vectors) = vectors {
            let own = vectors.frame(frame);
            let orientation = exp(&Vec3::from_column_slice(&own[3..6])).into_inner();
            return Some((Vec3::from_column_slice(&own[..3]), orientation, in_order(&own[6..], hinges, 1.0)));
        }
        let place = Vec3::from_column_slice(&places?.frame(frame)[3 * base..][..3]);
        let orientation = rotation(&rotations?.frame(frame)[4 * base..][..4], RotationForm::Wxyz);
        Some((place, orientation, in_order(values?.frame(frame), hinges, 1.0)))
    };
    let first = positions.or(vectors).or(values)?;
    let counts =
        [positions, vectors, values, places, rotations].into_iter().flatten().map(FrameNumbers::frames);
    let frames = counts.fold(first.frames(), usize::min);
    (0..frames).map(in_frame).collect()
}
