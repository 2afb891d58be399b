//! Conditions on rows of the table of results: `foot_skate_p95 < 2cm/s and (duration > 1s or verdict == good)`.
//!
//! `or` binds less than `and`, `not` most. A comparison with something that a row does not have is unknown, as in SQL: so is its
//! opposite, and a row is kept only where the whole condition is true.

use super::result_table::ResultRow;
use crate::measure::{Judgement, find, names_near, quantity};
use crate::report::one_line;
use std::cmp::Ordering;
use std::ops::Range;

/// A condition on a row.
#[derive(Clone, Debug, PartialEq)]
pub enum RowFilter {
    /// All of them.
    All(Vec<RowFilter>),
    /// One of them.
    Any(Vec<RowFilter>),
    /// The opposite.
    Not(Box<RowFilter>),
    /// A number compared with a value in the unit of the table.
    Number(String, ComparisonSign, f64),
    /// A text compared with another.
    Text(String, ComparisonSign, String),
}

/// A sign between a name and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonSign {
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `>`
    More,
}

/// Every sign, the longer ones first.
const SIGNS: [(&str, ComparisonSign); 7] = [
    ("<=", ComparisonSign::AtMost),
    (">=", ComparisonSign::AtLeast),
    ("==", ComparisonSign::Equal),
    ("!=", ComparisonSign::NotEqual),
    ("<", ComparisonSign::Less),
    (">", ComparisonSign::More),
    ("=", ComparisonSign::Equal),
];

impl ComparisonSign {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::AtMost => order.is_le(),
            Self::AtLeast => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::More => order.is_gt(),
        }
    }
}

/// Why a text is no condition: the place of the fault in it, the message and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterFault {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// One sentence.
    pub message: String,
    /// What to write.
    pub hint: Option<String>,
}

/// Columns with numbers, and their units.
const NUMBERS: [(&str, &str); 8] = [
    ("frames", "frames"),
    ("rate", "Hz"),
    ("rate_hz", "Hz"),
    ("duration", "s"),
    ("duration_s", "s"),
    ("warnings", "warnings"),
    ("took", "s"),
    ("took_s", "s"),
];
/// Columns with texts.
const TEXTS: [&str; 8] =
    ["folder", "output", "output_blake3", "input", "input_blake3", "pipeline", "skeleton", "verdict"];
/// What the column `verdict` may hold.
const VERDICTS: [Judgement; 3] = [Judgement::Good, Judgement::AsRecorded, Judgement::Over];
/// The column of the take with the same content, empty for the first of them.
const DUPLICATE: &str = "duplicate_of";

impl RowFilter {
    /// The condition of a text on rows with these measures and units.
    ///
    /// # Errors
    /// A [`FilterFault`] with its place.
    pub fn parse(text: &str, columns: &[(String, String)]) -> Result<Self, FilterFault> {
        let mut reader = FilterReader { text, at: 0, depth: 0, columns };
        let found = reader.any()?;
        reader.space();
        match reader.at == text.len() {
            true => Ok(found),
            false => {
                let rest = reader.at..text.len();
                Err(fault(
                    rest,
                    "this is no part of the condition",
                    "write `and` or `or` between comparisons",
                ))
            }
        }
    }

    /// Whether a row fulfils it; `None` where that depends on something that the row does not have.
    pub fn holds(&self, row: &ResultRow) -> Option<bool> {
        match self {
            Self::All(parts) => decided_by(false, parts, row),
            Self::Any(parts) => decided_by(true, parts, row),
            Self::Not(part) => part.holds(row).map(|holds| !holds),
            Self::Number(name, sign, value) => {
                number(row, name).and_then(|x| x.partial_cmp(value)).map(|order| sign.holds(order))
            }
            Self::Text(name, sign, value) => {
                text(row, name).map(|found| sign.holds(found.cmp(value.as_str())))
            }
        }
    }
}

/// One part with the value `deciding` decides; otherwise all others have to be known.
fn decided_by(deciding: bool, parts: &[RowFilter], row: &ResultRow) -> Option<bool> {
    let mut all = Some(!deciding);
    for part in parts {
        match part.holds(row) {
            Some(holds) if holds == deciding => return Some(deciding),
            Some(_) => {}
            None => all = None,
        }
    }
    all
}

fn number(row: &ResultRow, name: &str) -> Option<f64> {
    match name {
        "frames" => row.frames.map(|n| n as f64),
        "rate" | "rate_hz" => row.rate_hz,
        "duration" | "duration_s" => row.duration_s,
        "warnings" => Some(row.warnings.len() as f64),
        "took" | "took_s" => row.took_s,
        measure => row.measures.iter().find(|m| m.name == measure).map(|m| m.value),
    }
}

fn text<'a>(row: &'a ResultRow, name: &str) -> Option<&'a str> {
    match name {
        "folder" => Some(&row.folder),
        "output" => Some(&row.output),
        "output_blake3" => Some(&row.output_blake3),
        "input" => Some(&row.input),
        "input_blake3" => Some(&row.input_blake3),
        "pipeline" => Some(&row.pipeline),
        "skeleton" => row.skeleton.as_deref(),
        "verdict" => row.verdict,
        DUPLICATE => Some(row.duplicate_of.as_deref().unwrap_or_default()),
        _ => None,
    }
}

fn fault(span: Range<usize>, message: impl Into<String>, hint: impl Into<String>) -> FilterFault {
    FilterFault { span, message: message.into(), hint: Some(hint.into()) }
}

/// Most conditions inside each other: more would be no condition that somebody wrote.
const MOST_NESTED: usize = 64;

/// Reads a condition.
struct FilterReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    columns: &'a [(String, String)],
}

impl<'a> FilterReader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// The word at the reader, of letters, digits and `_`.
    fn word(&self) -> &'a str {
        let end = self.rest().find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest().len());
        &self.rest()[..end]
    }

    /// Takes the word if it is next.
    fn took(&mut self, word: &str) -> bool {
        self.space();
        let next = self.word() == word;
        self.at += if next { word.len() } else { 0 };
        next
    }

    fn any(&mut self) -> Result<RowFilter, FilterFault> {
        let mut parts = vec![self.all()?];
        while self.took("or") {
            parts.push(self.all()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { RowFilter::Any(parts) })
    }

    fn all(&mut self) -> Result<RowFilter, FilterFault> {
        let mut parts = vec![self.one()?];
        while self.took("and") {
            parts.push(self.one()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { RowFilter::All(parts) })
    }

    /// A comparison, or a condition in brackets or behind `not`.
    fn one(&mut self) -> Result<RowFilter, FilterFault> {
        self.space();
        let start = self.at;
        self.depth += 1;
        if self.depth > MOST_NESTED {
            let message = format!("more than {MOST_NESTED} conditions are inside each other (`MOST_NESTED`)");
            return Err(fault(start..self.text.len(), message, "write a simpler one"));
        }
        let found = if self.took("not") {
            RowFilter::Not(Box::new(self.one()?))
        } else if self.rest().starts_with('(') {
            self.at += 1;
            let inner = self.any()?;
            self.space();
            if !self.rest().starts_with(')') {
                return Err(fault(
                    start..start + 1,
                    "this bracket is not closed",
                    "write `)` behind the condition",
                ));
            }
            self.at += 1;
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn comparison(&mut self) -> Result<RowFilter, FilterFault> {
        let name = self.word();
        let named = self.at..self.at + name.len();
        if name.is_empty() {
            let end = self.rest().chars().next().map_or(self.at, |c| self.at + c.len_utf8());
            return Err(fault(self.at..end, "a comparison is missing here", "write one: `duration > 1s`"));
        }
        self.at = named.end;
        self.space();
        let Some((word, sign)) = SIGNS.into_iter().find(|sign| self.rest().starts_with(sign.0)) else {
            let hint = format!("write `<`, `<=`, `>`, `>=`, `==` or `!=` behind `{name}`");
            return Err(fault(named, format!("`{name}` is compared with nothing"), hint));
        };
        self.at += word.len();
        self.space();
        if TEXTS.contains(&name) || name == DUPLICATE {
            let start = self.at;
            let value = self.text_value()?;
            if name == "verdict" && !VERDICTS.iter().any(|known| known.word() == value) {
                let words: Vec<String> = VERDICTS.iter().map(|v| format!("`'{}'`", v.word())).collect();
                let message = format!("no verdict is `{}`", one_line(&value));
                return Err(fault(start..self.at, message, format!("use one of {}", words.join(", "))));
            }
            return Ok(RowFilter::Text(name.to_owned(), sign, value));
        }
        let unit = self.unit(name).ok_or_else(|| self.unknown(name, named))?;
        Ok(RowFilter::Number(name.to_owned(), sign, self.number_value(&unit)?))
    }

    /// The unit of a column with numbers.
    fn unit(&self, name: &str) -> Option<String> {
        let fixed = NUMBERS.iter().find(|column| column.0 == name).map(|column| column.1.to_owned());
        let found = || self.columns.iter().find(|column| column.0 == name).map(|column| column.1.clone());
        fixed.or_else(found).or_else(|| find(name).map(|measure| measure.unit.to_owned()))
    }

    fn unknown(&self, name: &str, span: Range<usize>) -> FilterFault {
        // How many names a message offers.
        let near: Vec<String> = names_near(name).into_iter().take(3).map(|n| format!("`{n}`")).collect();
        let columns = NUMBERS.iter().map(|c| c.0).chain(TEXTS).chain([DUPLICATE]);
        let columns: Vec<String> = columns.map(|column| format!("`{column}`")).collect();
        let hint =
            format!("use a measure, the nearest are {}, or one of {}", near.join(", "), columns.join(", "));
        fault(span, format!("there is no column `{name}`"), hint)
    }

    /// A number with its unit.
    fn number_value(&mut self, unit: &str) -> Result<f64, FilterFault> {
        let start = self.at;
        let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
        let mut end = self.rest().find(|c| !of_number(c)).unwrap_or(self.rest().len());
        // An exponent; no unit begins with its letter.
        if end > 0 && self.rest()[end..].starts_with(['e', 'E']) {
            let digits = &self.rest()[end + 1..];
            end += 1 + digits.find(|c| !of_number(c)).unwrap_or(digits.len());
        }
        let behind = &self.rest()[end..];
        let word = behind.trim_start();
        let of_unit = |c: char| c.is_alphanumeric() || matches!(c, '/' | '^' | '%' | '°');
        let word = &word[..word.find(|c| !of_unit(c)).unwrap_or(word.len())];
        let space = behind.len() - behind.trim_start().len();
        let has_unit = !["and", "or", ""].contains(&word);
        self.at = start + end + if has_unit { space + word.len() } else { 0 };
        let written = &self.text[start..self.at];
        quantity(written, unit).map_err(|(message, hint)| {
            let span = if written.is_empty() { start..self.text.len() } else { start..self.at };
            fault(span, message, hint)
        })
    }

    /// A text in quotes, or a word.
    fn text_value(&mut self) -> Result<String, FilterFault> {
        let start = self.at;
        if let Some(quote) = self.rest().chars().next().filter(|c| ['"', '\''].contains(c)) {
            let inner = &self.rest()[1..];
            let Some(end) = inner.find(quote) else {
                return Err(fault(
                    start..self.text.len(),
                    "this text is not closed",
                    format!("end it with {quote}"),
                ));
            };
            self.at += end + 2;
            return Ok(inner[..end].to_owned());
        }
        let end =
            self.rest().find(|c: char| c.is_whitespace() || "()".contains(c)).unwrap_or(self.rest().len());
        if end == 0 {
            return Err(fault(
                start..self.text.len(),
                "a text is missing here",
                "write one: `verdict == good`",
            ));
        }
        self.at += end;
        Ok(self.text[start..self.at].to_owned())
    }
}
