//! Reads BVH rows in any unambiguous layout: wrapped or overlong rows, decimal commas, text after the rows.
//!
//! Slower than `motion_rows`: line by line on one thread, with a position for each fault.

use super::bvh_error::{BvhError, TextPosition};
use super::lexer::shown;
use super::parse_decimal::number;
use super::row_layout::{DecodedRows, RowBuffers, RowLayout};
use crate::math::{Quat, Vec3};
use crate::memory_budget::MemoryBudget;
use crate::model::FARTHEST;
use crate::report::Warnings;

/// Reads rows in any unambiguous layout.
pub(super) struct IrregularRows<'a> {
    text: &'a [u8],
    at: usize,
    layout: &'a RowLayout,
    stated: Option<u64>,
    budget: &'a MemoryBudget,
    warnings: &'a mut Warnings,
    scratch: RowBuffers,
    /// The previous row, which replaces numbers that are not finite.
    held: Vec<f64>,
    /// Numbers that do not make a whole row yet.
    pending: Vec<f64>,
    rows: DecodedRows,
}

impl<'a> IrregularRows<'a> {
    pub(super) fn new(
        text: &'a [u8],
        at: usize,
        layout: &'a RowLayout,
        stated: Option<u64>,
        budget: &'a MemoryBudget,
        warnings: &'a mut Warnings,
    ) -> Self {
        let held = vec![0.0; layout.channels()];
        let (scratch, rows) = (layout.scratch(), DecodedRows::default());
        Self { text, at, layout, stated, budget, warnings, scratch, held, pending: Vec::new(), rows }
    }

    pub(super) fn read(mut self) -> Result<DecodedRows, BvhError> {
        let expected = self.layout.channels();
        let mut row_start = self.at;
        loop {
            let before = self.pending.len();
            let Some(line) = self.line()? else { break };
            if expected == 0 {
                self.warn("bvh-row-long", || "rows were ignored: no joint has channels".into(), line);
                return Ok(self.rows);
            }
            if before == 0 {
                row_start = line;
            }
            let found = self.pending.len();
            if found < expected {
                continue;
            }
            if found.is_multiple_of(expected) {
                if found > expected || before > 0 {
                    self.warn("bvh-rows-wrapped", || "rows do not end with their lines".into(), line);
                }
            } else if before == 0 {
                let message = || format!("in rows of more than {expected} numbers the rest was ignored");
                self.warn("bvh-row-long", message, line);
                self.pending.truncate(expected);
            } else {
                return Err(BvhError::Row {
                    place: TextPosition::of(self.text, row_start),
                    expected,
                    found: before,
                });
            }
            let pending = std::mem::take(&mut self.pending);
            for row in pending.chunks_exact(expected) {
                self.frame(row)?;
            }
            self.pending = pending;
            self.pending.clear();
        }
        if !self.pending.is_empty() {
            let found = self.pending.len();
            let message = || format!("a last row of {found} numbers instead of {expected} was dropped");
            self.warn("bvh-row-cut", message, row_start);
        }
        Ok(self.rows)
    }

    /// Appends the numbers of the next line that has some; returns its offset, or `None` after the last row.
    fn line(&mut self) -> Result<Option<usize>, BvhError> {
        loop {
            self.at += self.text[self.at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
            let start = self.at;
            let rest = &self.text[start..];
            if rest.is_empty() {
                return Ok(None);
            }
            if rest.starts_with(b"#") || rest.starts_with(b"//") {
                self.warn("bvh-comment", || "comments are not kept".into(), start);
                self.at += rest.iter().take_while(|b| !matches!(b, b'\n' | b'\r')).count();
                continue;
            }
            while let Some(word) = self.word() {
                let at = self.at - word.len();
                match self.value(word, at) {
                    Some(value) => self.pending.push(value),
                    None if self.at == self.text.len() && starts_number(word) => {
                        self.warn("bvh-row-cut", || "a number cut off at the end was dropped".into(), at);
                        return Ok(Some(start));
                    }
                    None if at == start && self.complete() => {
                        self.warn("bvh-text-after-rows", || "text after the last row was ignored".into(), at);
                        self.at = self.text.len();
                        return Ok(None);
                    }
                    None => {
                        return Err(BvhError::Number {
                            place: TextPosition::of(self.text, at),
                            found: shown(word),
                        });
                    }
                }
            }
            return Ok(Some(start));
        }
    }

    /// Whether as many rows as stated by `Frames:` were read.
    fn complete(&self) -> bool {
        self.pending.is_empty() && self.stated.is_none_or(|n| self.rows.frames as u64 >= n)
    }

    /// The next word of this line.
    fn word(&mut self) -> Option<&'a [u8]> {
        let line_end = |b: &u8| matches!(b, b'\n' | b'\r');
        let rest = &self.text[self.at..];
        let blanks = rest.iter().take_while(|b| b.is_ascii_whitespace() && !line_end(b)).count();
        let rest = &rest[blanks..];
        let n = rest.iter().take_while(|b| !b.is_ascii_whitespace()).count();
        self.at += blanks + n;
        (n > 0).then_some(&rest[..n])
    }

    fn value(&mut self, word: &[u8], at: usize) -> Option<f64> {
        let whole = |w: &[u8]| number(w).filter(|&(_, n)| n == w.len()).map(|(value, _)| value);
        if let Some(value) = whole(word) {
            return Some(value);
        }
        if let Some(value) = word.strip_suffix(b",").or(word.strip_suffix(b";")).and_then(whole) {
            self.warn("bvh-separator", || "separators between numbers were ignored".into(), at);
            return Some(value);
        }
        if let Some(comma) = word.iter().position(|&b| b == b',') {
            let mut pointed = word.to_vec();
            pointed[comma] = b'.';
            let value = whole(&pointed)?;
            self.warn("bvh-decimal-comma", || "decimal commas were read as points".into(), at);
            return Some(value);
        }
        // NaN and infinity as printed by C libraries: `-nan(ind)`, `1.#IND`, `-1.#INF00`.
        let word = word.to_ascii_lowercase();
        let word = word.strip_prefix(b"-").unwrap_or(&word);
        (word.starts_with(b"nan(") || word.starts_with(b"1.#")).then_some(f64::NAN)
    }

    fn frame(&mut self, row: &[f64]) -> Result<(), BvhError> {
        self.layout.take(1, self.budget)?;
        for (held, &value) in self.held.iter_mut().zip(row) {
            if value.abs() <= FARTHEST {
                *held = value;
            } else {
                let frame = format!("frame {}", self.rows.frames);
                let message = "numbers that are not finite, or far beyond any body, were replaced by those of the previous frame";
                self.warnings.add("bvh-not-finite", message, frame);
            }
        }
        self.scratch.values.copy_from_slice(&self.held);
        let (joints, positions) = (self.layout.joints(), self.layout.positions());
        let start = self.rows.rotations.len();
        self.rows.rotations.resize(start + joints, Quat::identity());
        let t = self.rows.translations.len();
        self.rows.translations.resize(t + positions, Vec3::zeros());
        let (before, rotations) = self.rows.rotations.split_at_mut(start);
        let before = before.rchunks_exact(joints).next();
        self.layout.decode(&mut self.scratch, before, rotations, &mut self.rows.translations[t..]);
        self.rows.frames += 1;
        Ok(())
    }

    fn warn(&mut self, code: &'static str, message: impl FnOnce() -> String, at: usize) {
        // Counting lines is linear in the file, so only the first position of each code is computed.
        if self.warnings.has(code) {
            self.warnings.add(code, "", "");
        } else {
            self.warnings.add(code, message(), TextPosition::of(self.text, at).to_string());
        }
    }
}

/// Whether a word could become a number with more characters: the end of a file that was cut off.
fn starts_number(word: &[u8]) -> bool {
    word.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
}

/// Decodes rows that are already numbers.
///
/// # Errors
/// [`BvhError::Row`] for a row of another length than the channels; its line is that of the frame.
pub(super) fn rows_of<'a>(
    frames: impl Iterator<Item = &'a [f32]>,
    layout: &RowLayout,
    budget: &MemoryBudget,
) -> Result<DecodedRows, BvhError> {
    let mut warnings = Warnings::new();
    let mut reader = IrregularRows::new(&[], 0, layout, None, budget, &mut warnings);
    for (i, frame) in frames.enumerate() {
        if frame.len() != layout.channels() {
            let place = TextPosition { line: i + 1, column: 1 };
            return Err(BvhError::Row { place, expected: layout.channels(), found: frame.len() });
        }
        let row: Vec<f64> = frame.iter().copied().map(f64::from).collect();
        reader.frame(&row)?;
    }
    Ok(reader.rows)
}
