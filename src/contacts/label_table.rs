//! Reads and writes contact labels as a table of comma-separated values (CSV).
//!
//! One row a frame: `frame`, then for every part that was looked at a column of 0 and 1 under its name
//! (`left_heel`). Two kinds of columns may be left out: `ground`, the height of the ground, and `left_heel_height`,
//! the height of what the part rests on where that is not the ground. Units: metres, model space, Y up.

use crate::model::{ContactPart, Contacts, Hold, Motion};
use std::fmt::Write;

/// The labels of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Labels {
    /// The frame of the first row.
    pub first: usize,
    /// How many rows there are.
    pub frames: usize,
    /// The contacts; heights that the table does not give are 0.
    pub contacts: Contacts,
    /// Whether the table gives the height of the ground.
    pub has_ground: bool,
    /// The parts whose heights the table gives.
    pub with_heights: Vec<ContactPart>,
}

impl Labels {
    /// The contacts of a motion by these labels. Heights that neither the table nor `ground` gives are measured: where
    /// the soles of the motion rest.
    pub fn on(&self, motion: &Motion, ground: Option<f64>) -> Contacts {
        let given = self.has_ground.then_some(self.contacts.ground);
        let height = ground.or(given).unwrap_or_else(|| super::ground(motion, &self.contacts));
        let mut contacts = self.contacts.clone();
        contacts.ground = height;
        let parts: Vec<ContactPart> = contacts.parts().filter(|p| !self.with_heights.contains(p)).collect();
        for part in parts {
            let holds = contacts
                .holds(part)
                .iter()
                .map(|h| Hold { frames: h.frames.clone(), height, slide: 0.0 })
                .collect();
            contacts.set(part, holds);
        }
        contacts
    }
}

/// Why a table cannot be read. Lines count from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// A file without a line.
    #[error("the table is empty\n  hint: name the columns in the first line: `frame,left_heel,left_ball`")]
    Empty,
    /// The first column is another one.
    #[error("line 1, column 1: `{found}` instead of `frame`")]
    First {
        /// Its name.
        found: String,
    },
    /// A column of no known name.
    #[error(
        "line 1, column {column}: `{found}` is no part of the body\n  hint: name one of `left_heel`, `left_ball`, `left_hand`, `left_elbow`, `left_knee`, the same of the right, `pelvis` and `head`; each with `_height` behind it; and `ground`"
    )]
    Column {
        /// The column, from 1.
        column: usize,
        /// Its name.
        found: String,
    },
    /// Two columns of one name.
    #[error("line 1, column {column}: `{found}` stands twice")]
    Twice {
        /// The later column, from 1.
        column: usize,
        /// Its name.
        found: String,
    },
    /// Heights of a part without labels.
    #[error("line 1, column {column}: heights of `{part}` without a column `{part}`")]
    Orphan {
        /// The column, from 1.
        column: usize,
        /// The part.
        part: ContactPart,
    },
    /// A row with more or fewer values than columns.
    #[error("line {line}: {found} values in {expected} columns")]
    Row {
        /// The line.
        line: usize,
        /// Columns.
        expected: usize,
        /// Values.
        found: usize,
    },
    /// A row that does not follow the one before it.
    #[error("line {line}, column `frame`: `{found}` where frame {expected} follows")]
    Frame {
        /// The line.
        line: usize,
        /// The frame that follows.
        expected: usize,
        /// The text.
        found: String,
    },
    /// A value that is none.
    #[error("line {line}, column `{column}`: `{found}` is not {expected}")]
    Value {
        /// The line.
        line: usize,
        /// The column's name.
        column: String,
        /// What it may be.
        expected: &'static str,
        /// The text.
        found: String,
    },
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Rests(ContactPart),
    Height(ContactPart),
    Ground,
}

/// Reads a table.
///
/// # Errors
/// A [`TableError`] with line and column.
pub fn read(text: &str) -> Result<Labels, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or(TableError::Empty)?;
    let names: Vec<&str> = head.split(',').map(str::trim).collect();
    let columns = columns(&names)?;
    let parts = columns.iter().filter_map(|c| if let Column::Rests(part) = c { Some(*part) } else { None });
    let mut contacts = Contacts::new(0.0, parts.clone());
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut first = 0;
    for (k, line) in lines {
        let line_number = k + 1;
        let values: Vec<&str> = line.split(',').map(str::trim).collect();
        if values.len() != names.len() {
            return Err(TableError::Row { line: line_number, expected: names.len(), found: values.len() });
        }
        // Frames far beyond any take would leave no numbers for the rows behind them.
        let frame = values[0].parse::<u32>().ok().map(|frame| frame as usize);
        let expected = if rows.is_empty() { frame.unwrap_or(0) } else { first + rows.len() };
        if frame != Some(expected) {
            return Err(TableError::Frame { line: line_number, expected, found: values[0].into() });
        }
        if rows.is_empty() {
            first = expected;
        }
        let cells = values[1..].iter().zip(&columns).zip(&names[1..]);
        let row = cells.map(|((text, column), name)| {
            value(text, *column).map_err(|expected| TableError::Value {
                line: line_number,
                column: (*name).into(),
                expected,
                found: (*text).into(),
            })
        });
        rows.push(row.collect::<Result<_, _>>()?);
    }
    let place = |column: Column| columns.iter().position(|c| *c == column);
    let ground = place(Column::Ground).zip(rows.first()).map(|(k, row)| row[k]);
    contacts.ground = ground.filter(|h| h.is_finite()).unwrap_or(0.0);
    let mut with_heights = Vec::new();
    for part in parts {
        let Some(rests) = place(Column::Rests(part)) else { continue };
        let heights = place(Column::Height(part));
        with_heights.extend(heights.map(|_| part));
        let mut holds: Vec<Hold> = Vec::new();
        for (k, row) in rows.iter().enumerate().filter(|(_, row)| row[rests] > 0.0) {
            let height = heights.map(|h| row[h]).filter(|h| h.is_finite()).unwrap_or(contacts.ground);
            let frame = first + k;
            match holds.last_mut() {
                Some(last) if last.frames.end == frame && last.height == height => last.frames.end += 1,
                _ => holds.push(Hold { frames: frame..frame + 1, height, slide: 0.0 }),
            }
        }
        contacts.set(part, holds);
    }
    Ok(Labels { first, frames: rows.len(), contacts, has_ground: ground.is_some(), with_heights })
}

/// The columns behind `frame`.
fn columns(names: &[&str]) -> Result<Vec<Column>, TableError> {
    if names[0] != "frame" {
        return Err(TableError::First { found: names[0].into() });
    }
    let mut columns = Vec::with_capacity(names.len());
    for (k, name) in names.iter().enumerate().skip(1) {
        let part = |text: &str| text.parse::<ContactPart>().ok();
        let column = match name.strip_suffix("_height") {
            _ if *name == "ground" => Some(Column::Ground),
            Some(text) => part(text).map(Column::Height),
            None => part(name).map(Column::Rests),
        };
        let column = column.ok_or_else(|| TableError::Column { column: k + 1, found: (*name).into() })?;
        if columns.contains(&column) {
            return Err(TableError::Twice { column: k + 1, found: (*name).into() });
        }
        columns.push(column);
    }
    for (k, column) in columns.iter().enumerate() {
        if let Column::Height(part) = column
            && !columns.contains(&Column::Rests(*part))
        {
            return Err(TableError::Orphan { column: k + 2, part: *part });
        }
    }
    Ok(columns)
}

/// A label as 0 or 1, a height in metres (not a number where it is left out); else what was expected.
fn value(text: &str, column: Column) -> Result<f64, &'static str> {
    match (column, text) {
        (Column::Rests(_), "0") => Ok(0.0),
        (Column::Rests(_), "1") => Ok(1.0),
        (Column::Rests(_), _) => Err("0 or 1"),
        (_, "") => Ok(f64::NAN),
        _ => text.parse().ok().filter(|h: &f64| h.is_finite()).ok_or("a height in metres"),
    }
}

/// The table of these contacts over a clip of `frames` frames; [`read`] gives the same contacts, except that holds
/// which follow each other at the same height become one.
pub fn write(contacts: &Contacts, frames: usize) -> String {
    let parts: Vec<ContactPart> = contacts.parts().collect();
    let elsewhere = |part: &ContactPart| contacts.holds(*part).iter().any(|h| h.height != contacts.ground);
    let raised: Vec<ContactPart> = parts.iter().copied().filter(elsewhere).collect();
    let mut text = String::from("frame");
    parts.iter().for_each(|part| text += &format!(",{part}"));
    raised.iter().for_each(|part| text += &format!(",{part}_height"));
    text += ",ground\n";
    for frame in 0..frames {
        let written = write!(text, "{frame}");
        written.expect("text takes all that is written to it");
        for part in &parts {
            text += if contacts.rests(*part, frame) { ",1" } else { ",0" };
        }
        for part in &raised {
            text += &contacts.hold(*part, frame).map_or_else(|| ",".into(), |h| format!(",{}", h.height));
        }
        text += &format!(",{}\n", contacts.ground);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Side;

    #[test]
    fn what_is_written_reads_back() {
        let (heel, hand) = (ContactPart::Heel(Side::Left), ContactPart::Hand(Side::Right));
        let mut contacts = Contacts::new(0.0123, [heel, hand, ContactPart::Pelvis]);
        contacts.set(
            heel,
            vec![
                Hold { frames: 2..5, height: 0.0123, slide: 0.0 },
                Hold { frames: 5..9, height: 0.21, slide: 0.0 },
            ],
        );
        contacts.set(hand, vec![Hold { frames: 0..1, height: 0.0123, slide: 0.0 }]);
        let read = read(&write(&contacts, 10)).unwrap();
        assert_eq!((read.first, read.frames, read.has_ground), (0, 10, true));
        assert_eq!((read.contacts, read.with_heights), (contacts, vec![heel]));
    }

    #[test]
    fn heights_and_ground_may_be_left_out() {
        let labels = read("\u{feff}frame, left_heel,pelvis\r\n7,0,1\r\n8,1,1\r\n\r\n").unwrap();
        let heel = ContactPart::Heel(Side::Left);
        assert_eq!((labels.first, labels.frames, labels.has_ground), (7, 2, false));
        assert_eq!(labels.contacts.holds(heel), [Hold { frames: 8..9, height: 0.0, slide: 0.0 }]);
        assert_eq!(labels.contacts.holds(ContactPart::Pelvis)[0].frames, 7..9);
    }

    #[test]
    fn faults_name_line_and_column() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        let first = |text: &str| message(text).lines().next().unwrap().to_owned();
        assert_eq!(first(""), "the table is empty");
        assert_eq!(first("time,left_heel\n"), "line 1, column 1: `time` instead of `frame`");
        assert_eq!(first("frame,left_wing\n"), "line 1, column 2: `left_wing` is no part of the body");
        assert_eq!(first("frame,head,head\n"), "line 1, column 3: `head` stands twice");
        assert_eq!(
            first("frame,head_height\n"),
            "line 1, column 2: heights of `head` without a column `head`"
        );
        assert_eq!(first("frame,head\n0,1,1\n"), "line 2: 3 values in 2 columns");
        assert_eq!(first("frame,head\n0,1\n\n2,1\n"), "line 4, column `frame`: `2` where frame 1 follows");
        assert_eq!(first("frame,head\nx,1\n"), "line 2, column `frame`: `x` where frame 0 follows");
        assert_eq!(first("frame,head\n0,yes\n"), "line 2, column `head`: `yes` is not 0 or 1");
        assert_eq!(
            first("frame,head,ground\n0,1,inf\n"),
            "line 2, column `ground`: `inf` is not a height in metres"
        );
    }
}
