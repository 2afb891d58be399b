//! Reads the tables of joint positions and rotations that posemill writes (`export/csv.rs`), wide or long.
//!
//! A table states no parents: the parent of a joint is the earlier joint relative to which it moves least, the nearest if there
//! are several; left joints never hang on right ones. Rest rotations are the identity, rest offsets medians; the reference
//! pose follows from the motion. Space: model space, Y up. Units: metres, seconds; quaternions x, y, z, w. Source: RFC 4180.

use super::format::{ReadFormat, SourceFile};
use super::import_error::{CsvError, ImportError};
use super::import_options::ImportOptions;
use super::known_axes::{KnownAxesFile, MotionUp};
use super::missing_rows::{MissingRows, RowFault};
use crate::anatomy::JointLabel;
use crate::math::{Quat, RawQuat, Transform, Vec3, median_of, same_hemisphere};
use crate::memory_budget::MemoryBudget;
use crate::model::{Asset, Clip, FARTHEST_ON_EARTH, Joint, JointId, Side, Skeleton, is_frame_rate};
use crate::report::{Warnings, is_formula, shortened};

/// Tables of positions and rotations.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "csv",
    suffixes: &["csv"],
    about: "tables of joint positions and rotations as posemill writes them: takes",
    loses: "rest pose and parents are not in the table: they are estimated from the motion",
    recognise: |head| {
        let line = head.split(|b| *b == b'\n').next().unwrap_or_default();
        let wide = line.starts_with(b"time,") && line.windows(3).any(|w| w == b".px");
        wide || line.starts_with(LONG.as_bytes())
    },
    read: |source, options| import(source, options),
};

/// The first columns of a table with a row per joint.
const LONG: &str = "frame,time,joint,px";
/// Numbers of a joint: position and rotation.
const WIDTH: usize = 7;
/// The suffixes of the columns of a joint.
const COLUMNS: [&str; WIDTH] = [".px", ".py", ".pz", ".qx", ".qy", ".qz", ".qw"];
/// Most joints: parents are searched among all pairs.
const MAX_JOINTS: usize = 2000;
/// Frames in which parents are searched.
const SAMPLES: usize = 64;
/// A joint that moves less than this in the frame of another is fixed to it, metres: the precision of 32-bit numbers at 100 m.
const STAYS: f64 = 2e-5;
/// The rate below which times are probably milliseconds, Hz: cameras take at most 1000 frames per second.
const SLOWEST: f64 = 1.0;
/// The location that warnings name.
const PLACE: &str = "the table";

/// Joints in model space, frame by frame.
struct Table {
    names: Vec<String>,
    times: Vec<f64>,
    /// The line of each time.
    lines: Vec<usize>,
    joints: Vec<Transform>,
}

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let budget = options.budget(source.bytes);
    // A number has two characters at least; joints are 56 bytes for seven numbers, twice while they are converted.
    budget.reserve(8 * source.bytes.len() as u64, || "the table".to_owned())?;
    let mut table = Table::read(source.bytes)?;
    let mut warnings = Warnings::new();
    if let Some((gap, step)) = table.space_evenly(&budget)? {
        let message = format!(
            "the rows are not evenly spaced: the largest step is {gap:.4} s, the usual step is {step:.4} s; the frames between were interpolated"
        );
        warnings.add("csv-uneven-times", message, PLACE);
    }
    let (first, last) = (table.times[0], table.times[table.times.len() - 1]);
    let rate = (table.times.len() - 1) as f64 / (last - first);
    let rate = match is_frame_rate(rate) {
        // Times are printed with all digits; their differences are off by the last ones.
        true => (rate * 1e6).round() / 1e6,
        false => {
            let rate = options.rate.unwrap_or(30.0);
            warnings.add(
                "csv-rate",
                format!("the table states no usable times: {rate} frames per second were assumed (`input.rate` sets it)"),
                PLACE,
            );
            rate
        }
    };
    if rate <= SLOWEST {
        let step = 1.0 / rate;
        let message = format!(
            "the rows are {step:.3} s apart: the column `time` is in seconds, and here probably in milliseconds"
        );
        warnings.add("csv-slow", message, PLACE);
    }
    let said = "the table states no parents and no rest pose: they were estimated from the motion (`.npz` keeps them)";
    warnings.add("csv-parents", said, PLACE);
    options.warn_of_stated_up(&mut warnings);
    let (skeleton, mut clip) = table.clip(rate, source.name)?;
    clip.start = if first.abs() < FARTHEST_ON_EARTH { first } else { 0.0 };
    let stated = KnownAxesFile {
        skeleton,
        clip,
        motion_up: MotionUp::Y,
        states_rest: false,
        metres_per_unit: Some(1.0),
        place: PLACE,
        warnings,
    };
    stated.asset(source.name, options)
}

/// The fields of one line (RFC 4180), and the rest of the text.
fn fields<'a>(mut text: &'a str, row: &mut Vec<std::borrow::Cow<'a, str>>) -> &'a str {
    row.clear();
    loop {
        if let Some(quoted) = text.strip_prefix('"') {
            let mut field = String::new();
            let mut rest = quoted;
            loop {
                let Some((part, after)) = rest.split_once('"') else {
                    field.push_str(rest);
                    rest = "";
                    break;
                };
                field.push_str(part);
                rest = after;
                let Some(after) = rest.strip_prefix('"') else { break };
                field.push('"');
                rest = after;
            }
            row.push(field.into());
            text = rest;
        } else {
            let end = text.find([',', '\n']).unwrap_or(text.len());
            row.push(text[..end].trim_end_matches('\r').into());
            text = &text[end..];
        }
        match text.strip_prefix(',') {
            Some(rest) => text = rest,
            None => return text.find('\n').map_or("", |end| &text[end + 1..]),
        }
    }
}

/// A name as it was before it was made safe for spreadsheets.
fn name(field: &str) -> &str {
    field.strip_prefix('\'').filter(|_| is_formula(field)).unwrap_or(field)
}

/// A joint of seven numbers.
fn joint(row: &[std::borrow::Cow<'_, str>]) -> Option<Transform> {
    let mut v = [0.0; WIDTH];
    for (x, field) in v.iter_mut().zip(row) {
        *x = field.trim().parse::<f64>().ok().filter(|x| x.abs() < FARTHEST_ON_EARTH)?;
    }
    let rotation = Quat::try_new(RawQuat::new(v[6], v[3], v[4], v[5]), 1e-6)?;
    Some(Transform::new(rotation, Vec3::new(v[0], v[1], v[2])))
}

impl Table {
    fn read(bytes: &[u8]) -> Result<Self, CsvError> {
        let fault = |line: usize, reason: String| CsvError::Table { line, reason };
        let text = std::str::from_utf8(bytes).map_err(|_| fault(1, "it is not UTF-8".into()))?;
        let text = text.trim_start_matches('\u{feff}');
        let mut row = Vec::new();
        let mut rest = fields(text, &mut row);
        let long = text.starts_with(LONG);
        let mut table = Self { names: Vec::new(), times: Vec::new(), lines: Vec::new(), joints: Vec::new() };
        if !long {
            for group in row.get(1..).unwrap_or_default().chunks(WIDTH) {
                let named = group[0].strip_suffix(COLUMNS[0]).unwrap_or_default();
                let fits = group.len() == WIDTH
                    && group.iter().zip(COLUMNS).all(|(f, c)| f.strip_suffix(c) == Some(named));
                if !fits {
                    return Err(fault(
                        1,
                        format!("`{}` where the columns of a joint begin", shortened(&group[0])),
                    ));
                }
                table.names.push(name(named).to_owned());
            }
        }
        let mut line = 1;
        while !rest.is_empty() {
            line += 1;
            rest = fields(rest, &mut row);
            if row.len() == 1 && row[0].is_empty() {
                continue;
            }
            match long {
                true => table.add_joint(&row, line)?,
                false => table.add_frame(&row, line)?,
            }
        }
        let whole = table.names.len() * table.times.len();
        match () {
            () if table.times.is_empty() => Err(fault(line, "there are no frames".into())),
            () if table.names.is_empty() => Err(fault(1, "there are no joints".into())),
            () if table.names.len() > MAX_JOINTS => {
                Err(fault(1, format!("{} joints, at most {MAX_JOINTS} are read", table.names.len())))
            }
            () if table.joints.len() != whole => Err(fault(line, "the last frame is incomplete".into())),
            () => Ok(table),
        }
    }

    fn add_frame(&mut self, row: &[std::borrow::Cow<'_, str>], line: usize) -> Result<(), CsvError> {
        let fault = |reason: String| CsvError::Table { line, reason };
        if row.len() != 1 + WIDTH * self.names.len() {
            return Err(fault(format!("{} fields, expected {}", row.len(), 1 + WIDTH * self.names.len())));
        }
        self.lines.push(line);
        self.times.push(row[0].parse().map_err(|_| fault(format!("the time `{}`", shortened(&row[0]))))?);
        for group in row[1..].chunks(WIDTH) {
            self.joints.push(
                joint(group).ok_or_else(|| fault("a joint's numbers are no position and rotation".into()))?,
            );
        }
        Ok(())
    }

    fn add_joint(&mut self, row: &[std::borrow::Cow<'_, str>], line: usize) -> Result<(), CsvError> {
        let fault = |reason: String| CsvError::Table { line, reason };
        if row.len() != 3 + WIDTH {
            return Err(fault(format!("{} fields, expected {}", row.len(), 3 + WIDTH)));
        }
        let number = |k: usize| -> Result<f64, CsvError> {
            row[k].parse().map_err(|_| fault(format!("`{}` is no number", shortened(&row[k]))))
        };
        let (frame, time, named) = (number(0)?, number(1)?, name(&row[2]));
        if frame == self.times.len() as f64 {
            self.lines.push(line);
            self.times.push(time);
        } else if frame + 1.0 != self.times.len() as f64 {
            return Err(fault(format!("frame {frame} does not follow the previous one")));
        }
        if self.times.len() == 1 {
            self.names.push(named.to_owned());
        }
        let at = self.joints.len() % self.names.len().max(1);
        if self.times.len() > 1 && self.names[at] != named {
            return Err(fault(format!("the joint `{}` is not expected here", shortened(named))));
        }
        self.joints
            .push(joint(&row[3..]).ok_or_else(|| fault("its numbers are no position and rotation".into()))?);
        Ok(())
    }

    /// The parent of each joint: the earlier joint in whose frame it moves least; of those in which it stays, the nearest.
    fn parents(&self) -> Vec<Option<usize>> {
        let (frames, joints) = (self.times.len(), self.names.len());
        let step = frames.div_ceil(SAMPLES);
        let sides: Vec<Option<Side>> = self.names.iter().map(|name| JointLabel::of(name).side).collect();
        let find = |joint: usize| {
            let candidate = |parent: usize| {
                let local = |f: usize| {
                    let row = &self.joints[f * joints..(f + 1) * joints];
                    let between = row[joint].translation - row[parent].translation;
                    row[parent].rotation.inverse_transform_vector(&between)
                };
                let first = local(0);
                let moved = (0..frames).step_by(step).map(|f| (local(f) - first).norm()).fold(0.0, f64::max);
                (if moved < STAYS { 0.0 } else { moved }, first.norm(), parent)
            };
            let order = |(moved, near, a): &(f64, f64, usize), (other, far, b): &(f64, f64, usize)| {
                moved.total_cmp(other).then(near.total_cmp(far)).then(b.cmp(a))
            };
            // What hangs on a left joint is left: hip joints that never move stay in the frame of each other and of the spine.
            let same_side = |parent: &usize| sides[*parent].is_none() || sides[*parent] == sides[joint];
            let candidates = (0..joint).filter(same_side).map(candidate);
            candidates.min_by(order).map(|found| found.2).or(joint.checked_sub(1))
        };
        (0..joints).map(find).collect()
    }

    /// Interpolates the frames at the usual step where rows are missing, and returns the largest step and the usual one, seconds;
    /// `None` for a table that is even, or states no times.
    ///
    /// # Errors
    /// A row that does not come after the one before, more missing rows than there are, and the memory limit of the file.
    fn space_evenly(&mut self, budget: &MemoryBudget) -> Result<Option<(f64, f64)>, CsvError> {
        let found = MissingRows::of(&self.times).map_err(|fault| match fault {
            RowFault::Order(row) => {
                let (time, before) = (self.times[row], self.times[row - 1]);
                let reason = format!("the time {time} s is not after {before} s, that of the row before");
                CsvError::Table { line: self.lines[row], reason }
            }
            RowFault::Sparse(count) => {
                let reason = format!("more rows are missing than there are: {} of {count}", self.times.len());
                CsvError::Table { line: self.lines[self.lines.len() - 1], reason }
            }
        })?;
        let Some(found) = found else { return Ok(None) };
        let count = found.count;
        let n = self.names.len();
        budget.reserve_list::<Transform>((count * n) as u64, || "the missing rows".to_owned())?;
        let mut joints = Vec::with_capacity(count * n);
        for (before, share) in found.rows(&self.times) {
            let (a, b) = (&self.joints[before * n..][..n], &self.joints[(before + 1) * n..][..n]);
            joints.extend(a.iter().zip(b).map(|(a, b)| a.interpolated(b, share)));
        }
        let times = (0..count).map(|k| self.times[0] + found.usual * k as f64).collect();
        (self.times, self.joints) = (times, joints);
        Ok(Some((found.largest, found.usual)))
    }

    fn clip(self, rate: f64, name: &str) -> Result<(Skeleton, Clip), CsvError> {
        let parents = self.parents();
        let (frames, joints) = (self.times.len(), self.names.len());
        let mut local: Vec<Transform> = Vec::with_capacity(self.joints.len());
        for frame in self.joints.chunks_exact(joints) {
            for (at, parent) in frame.iter().zip(&parents) {
                local.push(parent.map_or(*at, |parent| frame[parent].inverse() * *at));
            }
        }
        let track = |joint: usize| local.iter().skip(joint).step_by(joints).map(|t| t.translation);
        let mut rest: Vec<Vec3> = (0..joints).map(|joint| median_of(track(joint))).collect();
        // The rest pose is at the origin, at the usual height.
        rest[0] = Vec3::new(0.0, rest[0].y, 0.0);
        let stays = |joint: &usize| *joint > 0 && track(*joint).all(|t| (t - rest[*joint]).norm() < STAYS);
        let moving: Vec<usize> = (0..joints).filter(|joint| !stays(joint)).collect();
        let mut rotations: Vec<Quat> = local.iter().map(|t| t.rotation).collect();
        for k in joints..rotations.len() {
            rotations[k] = same_hemisphere(rotations[k], &rotations[k - joints]);
        }
        let mut translations = Vec::with_capacity(frames * moving.len());
        for frame in local.chunks_exact(joints) {
            translations.extend(moving.iter().map(|joint| frame[*joint].translation));
        }
        let joint = |((name, parent), offset): ((String, Option<usize>), Vec3)| {
            Joint::new(name, parent.map(JointId::new), Transform::from_translation(offset))
        };
        let list = self.names.into_iter().zip(parents).zip(rest).map(joint).collect();
        let moving = moving.into_iter().map(JointId::new).collect();
        Ok((Skeleton::new(list)?, Clip::new(name, rate, joints, rotations, moving, translations)))
    }
}
