//! The numbers of a robot's motion file, by what each is: a table (`.csv`) or an archive of arrays (`.npz`).

use super::robot_error::RobotError;
use crate::import::format::SourceFile;
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
#[cfg(feature = "formats")]
use crate::import::npz::NpzArchive;
use crate::model::{RobotField, RobotLayout};
use crate::report::shortened;
use std::collections::BTreeMap;

/// Numbers of one frame after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameNumbers {
    /// Numbers of a frame.
    pub(super) width: usize,
    pub(super) values: Vec<f64>,
}

impl FrameNumbers {
    /// The numbers of one frame.
    pub(super) fn frame(&self, frame: usize) -> &[f64] {
        &self.values[frame * self.width..][..self.width]
    }

    /// The number of frames.
    pub(super) fn frames(&self) -> usize {
        self.values.len() / self.width.max(1)
    }
}

/// The arrays of a file; those of a table without names have one name, the empty one.
#[derive(Clone, Debug, Default)]
pub(super) struct MotionArrays {
    pub(super) arrays: BTreeMap<String, FrameNumbers>,
    /// The names of a table's columns, if it has a header.
    pub(super) header: Vec<String>,
    /// The names in an archive, of hinges and of links; empty if it states none, without elements if they are no texts.
    pub(super) names: BTreeMap<&'static str, Vec<String>>,
    /// The numbers of a table's rows, once their column is left out.
    pub(super) row_numbers: Vec<f64>,
}

impl MotionArrays {
    /// Reads a table or an archive.
    ///
    /// # Errors
    /// A table whose rows differ in length or hold what is no number; a damaged archive.
    pub(super) fn read(source: &SourceFile, options: &ImportOptions) -> Result<Self, ImportError> {
        if source.bytes.starts_with(b"PK\x03\x04") {
            return archive(source, options);
        }
        table(source, options)
    }

    /// Leaves out the first column of a table if it numbers the rows, as pandas writes it; returns whether it does.
    pub(super) fn drop_row_numbers(&mut self) -> bool {
        let Some(table) = self.arrays.get_mut("").filter(|table| table.width > 1) else { return false };
        let numbers: Vec<f64> = table.values.chunks_exact(table.width).map(|row| row[0]).collect();
        if numbers.iter().any(|x| x.fract() != 0.0) || !numbers.is_sorted_by(|a, b| a < b) {
            return false;
        }
        table.values = table.values.chunks_exact(table.width).flat_map(|row| &row[1..]).copied().collect();
        table.width -= 1;
        self.header = self.header.split_off(self.header.len().min(1));
        self.row_numbers = numbers;
        true
    }

    /// The numbers of a field, named as in a layout.
    pub(super) fn get(
        &self,
        layout: &RobotLayout,
        wanted: impl Fn(RobotField) -> bool,
    ) -> Option<&FrameNumbers> {
        let (name, _) = layout.fields.iter().find(|(_, field)| wanted(*field))?;
        self.arrays.get(*name)
    }
}

#[cfg(not(feature = "formats"))]
fn archive(source: &SourceFile, _: &ImportOptions) -> Result<MotionArrays, ImportError> {
    let (file, reason) =
        (source.name.to_owned(), "this program was built without archives of arrays".to_owned());
    Err(RobotError::NoMotion { file, reason }.into())
}

#[cfg(feature = "formats")]
fn archive(source: &SourceFile, options: &ImportOptions) -> Result<MotionArrays, ImportError> {
    let budget = options.budget(source.bytes);
    let mut archive = NpzArchive::open(source.bytes, &budget)?;
    let mut found = MotionArrays::default();
    for (name, field) in crate::model::ROBOT_LAYOUTS.iter().flat_map(|layout| layout.fields) {
        let known = found.arrays.contains_key(*name) || found.names.contains_key(name);
        if *field == RobotField::Nothing || known || archive.has(&[name]).is_none() {
            continue;
        }
        if matches!(field, RobotField::HingeNames | RobotField::JointNames | RobotField::LinkNames) {
            found.names.insert(name, archive.texts(name).unwrap_or_default());
            continue;
        }
        let array = archive.array(name)?;
        let width = array.shape.iter().skip(1).product::<usize>().max(1);
        found.arrays.insert((*name).to_owned(), FrameNumbers { width, values: array.values });
    }
    if found.arrays.is_empty() {
        let reason = format!("its arrays are those of no layout of robots: {}", archive.contents());
        return Err(RobotError::NoMotion { file: format!("{}.npz", source.name), reason }.into());
    }
    Ok(found)
}

/// Separators of tables that are not read, by their names.
const SEPARATORS: [(char, &str); 3] = [(';', "semicolons"), ('\t', "tabs"), (' ', "spaces")];

/// Whether a line is numbers with this sign between them.
fn separates(sign: char, line: &str) -> bool {
    line.contains(sign)
        && line.split(sign).all(|cell| cell.trim().is_empty() || cell.trim().parse::<f64>().is_ok())
}

fn table(source: &SourceFile, options: &ImportOptions) -> Result<MotionArrays, ImportError> {
    let file = || format!("{}.csv", source.name);
    let fault = |line: usize, reason: String| {
        let hint = "write the same count of numbers in every line, with commas between them";
        ImportError::from(RobotError::Element { file: file(), line, reason, hint })
    };
    let budget = options.budget(source.bytes);
    // The shortest number with its comma has two characters.
    budget.reserve_list::<f64>(source.bytes.len() as u64 / 2, || "the table".to_owned())?;
    let text = String::from_utf8_lossy(source.bytes);
    let mut found = MotionArrays::default();
    let mut numbers = FrameNumbers::default();
    let text = text.trim_start_matches('\u{feff}');
    for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<&str> = line.trim_start_matches('#').split(',').map(str::trim).collect();
        let row: Result<Vec<f64>, &str> = cells
            .iter()
            .map(|cell| cell.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or(*cell))
            .collect();
        // pandas numbers columns that have no names, and leaves the name of the numbers of rows empty.
        let counts = |row: &[f64]| row.len() > 1 && row.iter().enumerate().all(|(k, x)| *x == k as f64);
        let numbered = |cells: &[&str]| {
            let names: Result<Vec<f64>, _> = cells.iter().skip(1).map(|cell| cell.parse::<f64>()).collect();
            cells.first().is_some_and(|cell| cell.is_empty()) && names.is_ok_and(|names| counts(&names))
        };
        match row {
            Ok(row) if numbers.values.is_empty() && counts(&row) => {
                found.header = cells.iter().map(|cell| (*cell).to_owned()).collect()
            }
            // Names of columns, or a comment above them.
            Err(_)
                if numbers.values.is_empty()
                    && (numbered(&cells) || cells.iter().all(|cell| cell.parse::<f64>().is_err())) =>
            {
                found.header = cells.iter().map(|cell| cell.trim_matches('"').to_owned()).collect()
            }
            Err(cell) => return Err(fault(k + 1, format!("`{}` is not a number", shortened(cell)))),
            Ok(row) => {
                if numbers.width != 0 && numbers.width != row.len() {
                    return Err(fault(
                        k + 1,
                        format!("{} numbers, the lines before have {}", row.len(), numbers.width),
                    ));
                }
                numbers.width = row.len();
                numbers.values.extend(row);
            }
        }
    }
    if let ([cell], true) = (&found.header[..], numbers.values.is_empty())
        && let Some((_, name)) = SEPARATORS.into_iter().find(|(sign, _)| separates(*sign, cell))
    {
        return Err(fault(1, format!("its numbers are separated by {name}")));
    }
    if numbers.values.is_empty() {
        let reason = "it has no frames".to_owned();
        return Err(RobotError::NoMotion { file: file(), reason }.into());
    }
    found.arrays.insert(String::new(), numbers);
    Ok(found)
}
