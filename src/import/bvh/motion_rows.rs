//! Decodes the rows of a BVH file to rotations and translations, frame by frame, without copying the numbers.
//!
//! Regular files, with one row on each line, are cut into chunks at line ends, which are decoded in parallel. The cuts depend
//! on the text only, so the result does not depend on the number of threads. Any other text is read again by
//! `irregular_rows`.

use super::bvh_error::BvhError;
use super::irregular_rows::IrregularRows;
use super::parse_decimal::number;
use super::row_layout::{DecodedRows, RowLayout};
use crate::math::{Quat, RawQuat, Vec3, in_wide_registers};
use crate::memory_budget::MemoryBudget;
use crate::model::FARTHEST;
use crate::report::Warnings;
use rayon::prelude::*;

/// Size of a chunk of text, bytes: its decoded frames fit in the cache of one core.
const CHUNK_BYTES: usize = 1 << 17;

/// Decodes all rows of `text` from `start` on. `stated` is the number after `Frames:`.
///
/// # Errors
/// [`BvhError`] with the position of an invalid row or number.
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
        None => IrregularRows::new(text, start, layout, stated, budget, warnings).read()?,
    };
    check_count(stated, rows.frames, warnings);
    Ok(rows)
}

/// Warns of a number after `Frames:` that is not that of the rows.
pub(super) fn check_count(stated: Option<u64>, frames: usize, warnings: &mut Warnings) {
    if let Some(stated) = stated
        && stated != frames as u64
    {
        let message = format!("`Frames:` states {stated}, {frames} rows follow and were read");
        warnings.add("bvh-row-count", message, "the header");
    }
}

/// The rows, if each line is exactly one; else `None`.
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
    let lines = lines_of(&chunks, line_end);
    let frames: usize = lines.iter().sum();
    // A row has at least a digit and a separator per number, which limits the number of rows.
    if frames.saturating_mul(2 * channels) > body.len() + 1 {
        return Ok(None);
    }
    layout.take(frames, budget)?;
    let mut rows = EvenRows::new(layout, line_end, frames);
    Ok(rows.extend(&chunks, &lines).then(|| rows.take()))
}

/// The number of lines of each chunk.
pub(super) fn lines_of(chunks: &[&[u8]], line_end: u8) -> Vec<usize> {
    let of_chunk = |chunk: &&[u8]| {
        // Counted in bytes, of which a register holds many; blocks of 255 cannot overflow.
        let in_part = |part: &[u8]| part.iter().map(|&b| u8::from(b == line_end)).sum::<u8>();
        let ends: usize = chunk.chunks(255).map(|part| usize::from(in_part(part))).sum();
        ends + usize::from(chunk.last() != Some(&line_end))
    };
    chunks.par_iter().map(of_chunk).collect()
}

/// The rows of consecutive chunks of a text, each line of which is one row.
pub(super) struct EvenRows<'a> {
    layout: &'a RowLayout,
    line_end: u8,
    rows: DecodedRows,
    /// The number of rows of each chunk.
    lines: Vec<usize>,
    /// The rotations of the last row that was taken.
    last: Vec<Quat>,
}

impl<'a> EvenRows<'a> {
    /// No rows, with room for `frames`.
    pub(super) fn new(layout: &'a RowLayout, line_end: u8, frames: usize) -> Self {
        let rows = DecodedRows {
            frames: 0,
            rotations: Vec::with_capacity(frames * layout.joints()),
            translations: Vec::with_capacity(frames * layout.positions()),
        };
        Self { layout, line_end, rows, lines: Vec::new(), last: Vec::new() }
    }

    /// Appends the rows of chunks with these numbers of lines; `false` if any line is not one row of finite numbers.
    pub(super) fn extend(&mut self, chunks: &[&[u8]], lines: &[usize]) -> bool {
        let Self { layout, line_end, rows, .. } = self;
        let (layout, line_end, translated) = (*layout, *line_end, layout.positions());
        self.lines.extend(lines);
        rows.frames += lines.iter().sum::<usize>();
        // The lists grow with each wave of chunks, so that memory is first touched just before it is filled.
        let wave = match crate::parallel::threads() {
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
                return false;
            }
        }
        true
    }

    /// All rows, with quaternions that do not flip between chunks.
    pub(super) fn take(mut self) -> DecodedRows {
        self.join();
        self.rows
    }

    /// Calls `with` with the rows since the last call, continuous as those of [`EvenRows::take`]; their memory is used again.
    pub(super) fn drain(&mut self, with: impl FnOnce(&DecodedRows)) {
        self.join();
        with(&self.rows);
        self.rows.frames = 0;
        self.rows.rotations.clear();
        self.rows.translations.clear();
    }

    fn join(&mut self) {
        join_hemispheres(&mut self.last, &mut self.rows.rotations, self.layout.joints(), &self.lines);
        self.lines.clear();
    }
}

/// Cuts at line ends, every [`CHUNK_BYTES`] or soon after.
pub(super) fn cut(mut body: &[u8], line_end: u8) -> Vec<&[u8]> {
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

/// Decodes the rows of a chunk; `false` if any line is not one row of finite numbers.
#[inline(always)]
fn even_chunk(
    chunk: &[u8],
    line_end: u8,
    layout: &RowLayout,
    rotations: &mut [Quat],
    translations: &mut [Vec3],
) -> bool {
    let mut scratch = layout.scratch();
    let (joints, positions) = (layout.joints(), layout.positions());
    let mut at = 0;
    for frame in 0..rotations.len() / joints {
        match even_row(chunk, at, line_end, &mut scratch.values) {
            Some(next) => at = next,
            None => return false,
        }
        let (before, rest) = rotations.split_at_mut(frame * joints);
        let before = before.rchunks_exact(joints).next();
        let translations = &mut translations[frame * positions..][..positions];
        layout.decode(&mut scratch, before, &mut rest[..joints], translations);
    }
    at == chunk.len()
}

/// Reads one number for each of `values` and the line end; returns the offset of the next line.
#[inline(always)]
fn even_row(chunk: &[u8], mut at: usize, line_end: u8, values: &mut [f64]) -> Option<usize> {
    let mut finite = true;
    for value in values {
        at = skip_blanks(chunk, at);
        let (x, n) = number(&chunk[at..])?;
        at += n;
        finite &= x.abs() <= FARTHEST;
        // Numbers that do not end in white space are left to `irregular_rows`.
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

/// Negates the quaternions of a chunk whose first frame lies in the other hemisphere than the frame before; `last` is the one before
/// all, if any, and becomes the last.
fn join_hemispheres(last: &mut Vec<Quat>, rotations: &mut [Quat], joints: usize, lines: &[usize]) {
    let mut rest = rotations;
    for lines in lines {
        let (chunk, after) = rest.split_at_mut(lines * joints);
        for (joint, before) in last.iter().enumerate() {
            if before.coords.dot(&chunk[joint].coords) < 0.0 {
                for q in chunk.iter_mut().skip(joint).step_by(joints) {
                    *q = Quat::new_unchecked(RawQuat::from(-q.coords));
                }
            }
        }
        last.clear();
        last.extend_from_slice(&chunk[chunk.len() - joints..]);
        rest = after;
    }
}
