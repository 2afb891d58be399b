//! The rows of a BVH file become rotations and translations, frame by frame, without a copy of the numbers.
//!
//! Files as writers make them, one row on each line, are cut into chunks at line ends and the chunks decoded on
//! all threads. The cuts depend on the text alone, so the result does not depend on the threads. Any other text
//! (wrapped rows, rows too long, decimal commas, text behind the rows) is read again, line by line and with a
//! place for each fault.

use super::bvh_error::{BvhError, TextPosition};
use super::header_scanner::shown;
use super::parse_decimal::number;
use super::row_layout::{RowLayout, Scratch};
use crate::math::{Quat, RawQuat, Vec3, in_wide_registers};
use crate::memory_budget::MemoryBudget;
use crate::model::FARTHEST;
use crate::report::Warnings;
use rayon::prelude::*;

/// Text that one worker decodes at a time: its frames then fit a core's own cache.
const CHUNK_BYTES: usize = 1 << 17;

/// Decoded rows, frame-major as in a clip.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DecodedRows {
    pub frames: usize,
    pub rotations: Vec<Quat>,
    pub translations: Vec<Vec3>,
}

/// Decodes all rows of `text` from `start` on. `stated` is what `Frames:` says.
///
/// # Errors
/// [`BvhError`] with the place of a row or number that fits no reading.
pub(super) fn rows(
    text: &[u8],
    start: usize,
    layout: &RowLayout,
    stated: Option<u64>,
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<DecodedRows, BvhError> {
    let body = &text[start..];
    let rows = match even_rows(body, layout, budget)? {
        Some(rows) => rows,
        None => OddRows::new(text, start, layout, stated, budget, warnings).read()?,
    };
    if let Some(stated) = stated
        && stated != rows.frames as u64
    {
        let message = format!("`Frames:` says {stated}, {} rows follow and were read", rows.frames);
        warnings.add("bvh-row-count", message, "the header");
    }
    Ok(rows)
}

/// Takes what so many frames fill: joints without channels cost a file no bytes, and every frame a rotation each.
fn take(frames: usize, layout: &RowLayout, budget: &MemoryBudget) -> Result<(), BvhError> {
    let (joints, places) = (layout.joints() as u64, layout.places() as u64);
    let frame = joints * size_of::<Quat>() as u64 + places * size_of::<Vec3>() as u64;
    let told = || format!("{frames} rows of {joints} joints");
    Ok(budget.reserve(frame.saturating_mul(frames as u64), told)?)
}

/// The rows where each line holds exactly one; `None` where some line does not.
fn even_rows(
    body: &[u8],
    layout: &RowLayout,
    budget: &MemoryBudget,
) -> Result<Option<DecodedRows>, BvhError> {
    let body = body.trim_ascii_end();
    let channels = layout.channels();
    if body.is_empty() {
        return Ok(Some(DecodedRows::default()));
    }
    if channels == 0 {
        return Ok(None);
    }
    let line_end = if body.contains(&b'\n') { b'\n' } else { b'\r' };
    let chunks = cut(body, line_end);
    let lines: Vec<usize> = chunks
        .par_iter()
        .map(|chunk| {
            // In bytes, of which a vector holds many; 255 of them cannot overflow one.
            let in_part = |part: &[u8]| part.iter().map(|&b| u8::from(b == line_end)).sum::<u8>();
            let ends: usize = chunk.chunks(255).map(|part| usize::from(in_part(part))).sum();
            ends + usize::from(chunk.last() != Some(&line_end))
        })
        .collect();
    let frames: usize = lines.iter().sum();
    // A row takes a digit and a separator for each number: fewer bytes cannot hold so many rows.
    if frames.saturating_mul(2 * channels) > body.len() + 1 {
        return Ok(None);
    }
    take(frames, layout, budget)?;
    let translated = layout.places();
    let mut rows = DecodedRows {
        frames,
        rotations: Vec::with_capacity(frames * layout.joints()),
        translations: Vec::with_capacity(frames * translated),
    };
    // The lists grow with each wave of chunks: memory is first touched just before it is filled.
    let wave = match rayon::current_num_threads() {
        0 | 1 => 1,
        threads => 4 * threads,
    };
    for (chunks, lines) in chunks.chunks(wave).zip(lines.chunks(wave)) {
        let n: usize = lines.iter().sum();
        let (r, t) = (rows.rotations.len(), rows.translations.len());
        rows.rotations.par_extend(rayon::iter::repeat_n(Quat::identity(), n * layout.joints()));
        rows.translations.resize(t + n * translated, Vec3::zeros());
        let mut work = Vec::with_capacity(chunks.len());
        let (mut rotations, mut translations) = (&mut rows.rotations[r..], &mut rows.translations[t..]);
        for (&chunk, &n) in chunks.iter().zip(lines) {
            let (r, rest) = rotations.split_at_mut(n * layout.joints());
            let (t, tail) = translations.split_at_mut(n * translated);
            (rotations, translations) = (rest, tail);
            work.push((chunk, r, t));
        }
        let decoded = |(chunk, r, t): (&[u8], &mut [Quat], &mut [Vec3])| {
            in_wide_registers(
                #[inline(always)]
                || even_chunk(chunk, line_end, layout, &mut *r, &mut *t),
            )
        };
        let even = match work.len() {
            1 => work.into_iter().all(decoded),
            _ => work.into_par_iter().map(decoded).reduce(|| true, |a, b| a && b),
        };
        if !even {
            return Ok(None);
        }
    }
    join_hemispheres(&mut rows.rotations, layout.joints(), &lines);
    Ok(Some(rows))
}

/// Cuts at line ends, every [`CHUNK_BYTES`] or soon after.
fn cut(mut body: &[u8], line_end: u8) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    while body.len() > CHUNK_BYTES {
        let Some(n) = body[CHUNK_BYTES..].iter().position(|&b| b == line_end) else { break };
        let (chunk, rest) = body.split_at(CHUNK_BYTES + n + 1);
        chunks.push(chunk);
        body = rest;
    }
    if !body.is_empty() {
        chunks.push(body);
    }
    chunks
}

/// Decodes the rows of a chunk; `false` where some line is not one row of finite numbers.
#[inline(always)]
fn even_chunk(
    chunk: &[u8],
    line_end: u8,
    layout: &RowLayout,
    rotations: &mut [Quat],
    translations: &mut [Vec3],
) -> bool {
    let mut scratch = layout.scratch();
    let (joints, places) = (layout.joints(), layout.places());
    let mut at = 0;
    for frame in 0..rotations.len() / joints {
        match even_row(chunk, at, line_end, &mut scratch.values) {
            Some(next) => at = next,
            None => return false,
        }
        let (before, rest) = rotations.split_at_mut(frame * joints);
        let before = before.rchunks_exact(joints).next();
        let translations = &mut translations[frame * places..][..places];
        layout.decode(&mut scratch, before, &mut rest[..joints], translations);
    }
    at == chunk.len()
}

/// Reads one number for each of `values` and the line end; the place of the next line.
#[inline(always)]
fn even_row(chunk: &[u8], mut at: usize, line_end: u8, values: &mut [f64]) -> Option<usize> {
    let mut finite = true;
    for value in values {
        at = skip_blanks(chunk, at);
        let (x, n) = number(&chunk[at..])?;
        at += n;
        finite &= x.abs() <= FARTHEST;
        // A number that something else than white space ends is for the careful reader.
        if chunk.get(at).is_some_and(|b| !b.is_ascii_whitespace()) {
            return None;
        }
        *value = x;
    }
    at = skip_blanks(chunk, at);
    match chunk.get(at) {
        _ if !finite => None,
        None => Some(at),
        Some(&b) if b == line_end => Some(at + 1),
        Some(b'\r') if line_end == b'\n' && chunk.get(at + 1) == Some(&b'\n') => Some(at + 2),
        Some(_) => None,
    }
}

#[inline(always)]
fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// Negates the quaternions of a chunk whose first frame lies in the other hemisphere than the frame before.
fn join_hemispheres(rotations: &mut [Quat], joints: usize, lines: &[usize]) {
    let mut frame = 0;
    for pair in lines.windows(2) {
        frame += pair[0];
        let (before, rest) = rotations.split_at_mut(frame * joints);
        let before = &before[(frame - 1) * joints..];
        for joint in 0..joints {
            if before[joint].coords.dot(&rest[joint].coords) < 0.0 {
                for q in rest.iter_mut().skip(joint).step_by(joints).take(pair[1]) {
                    *q = Quat::new_unchecked(RawQuat::from(-q.coords));
                }
            }
        }
    }
}

/// The careful reader: any layout of rows that has one reading.
struct OddRows<'a> {
    text: &'a [u8],
    at: usize,
    layout: &'a RowLayout,
    stated: Option<u64>,
    budget: &'a MemoryBudget,
    warnings: &'a mut Warnings,
    scratch: Scratch,
    /// The row before, for numbers that are not finite.
    held: Vec<f64>,
    /// Numbers that do not make a whole row yet.
    pending: Vec<f64>,
    rows: DecodedRows,
}

impl<'a> OddRows<'a> {
    fn new(
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

    fn read(mut self) -> Result<DecodedRows, BvhError> {
        let expected = self.layout.channels();
        let mut row_start = self.at;
        loop {
            let before = self.pending.len();
            let Some(line) = self.line()? else { break };
            if expected == 0 {
                self.warn("bvh-row-long", || "rows were read over: no joint has channels".into(), line);
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
                let message = || format!("of rows longer than {expected} numbers the rest was read over");
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

    /// Appends the numbers of the next line that has some; where it starts, or `None` behind the last row.
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
                        self.warn(
                            "bvh-text-after-rows",
                            || "text behind the last row was read over".into(),
                            at,
                        );
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

    /// Whether all rows that `Frames:` promises were read.
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
            self.warn("bvh-separator", || "separators between numbers were read over".into(), at);
            return Some(value);
        }
        if let Some(comma) = word.iter().position(|&b| b == b',') {
            let mut pointed = word.to_vec();
            pointed[comma] = b'.';
            let value = whole(&pointed)?;
            self.warn("bvh-decimal-comma", || "decimal commas were read as points".into(), at);
            return Some(value);
        }
        // What C libraries print for a number that is none: `-nan(ind)`, `1.#IND`, `-1.#INF00`.
        let word = word.to_ascii_lowercase();
        let word = word.strip_prefix(b"-").unwrap_or(&word);
        (word.starts_with(b"nan(") || word.starts_with(b"1.#")).then_some(f64::NAN)
    }

    fn frame(&mut self, row: &[f64]) -> Result<(), BvhError> {
        take(1, self.layout, self.budget)?;
        for (held, &value) in self.held.iter_mut().zip(row) {
            if value.abs() <= FARTHEST {
                *held = value;
            } else {
                let frame = format!("frame {}", self.rows.frames);
                let message =
                    "for numbers that are not finite, or far beyond any body, the frame before was held";
                self.warnings.add("bvh-not-finite", message, frame);
            }
        }
        self.scratch.values.copy_from_slice(&self.held);
        let (joints, places) = (self.layout.joints(), self.layout.places());
        let start = self.rows.rotations.len();
        self.rows.rotations.resize(start + joints, Quat::identity());
        let t = self.rows.translations.len();
        self.rows.translations.resize(t + places, Vec3::zeros());
        let (before, rotations) = self.rows.rotations.split_at_mut(start);
        let before = before.rchunks_exact(joints).next();
        self.layout.decode(&mut self.scratch, before, rotations, &mut self.rows.translations[t..]);
        self.rows.frames += 1;
        Ok(())
    }

    fn warn(&mut self, code: &'static str, message: impl FnOnce() -> String, at: usize) {
        // Counting lines is linear in the file: only the first place of each code is asked for.
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

/// Decodes rows that are numbers already.
///
/// # Errors
/// [`BvhError::Row`] for a row of another length than the channels; its line is that of the frame.
pub(super) fn rows_of<'a>(
    frames: impl Iterator<Item = &'a [f32]>,
    layout: &RowLayout,
    budget: &MemoryBudget,
) -> Result<DecodedRows, BvhError> {
    let mut warnings = Warnings::new();
    let mut reader = OddRows::new(&[], 0, layout, None, budget, &mut warnings);
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
