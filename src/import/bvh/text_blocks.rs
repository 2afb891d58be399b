//! Reads a long BVH text block by block: its text and its frames are never in memory together.
//!
//! Only for files with one row on each line; any other is read whole, by `raw_bvh`. The result is the same, bit for bit.

use super::header_scanner::scan;
use super::motion_rows::{EvenRows, check_count, cut, lines_of};
use super::raw_bvh::{BvhReadOptions, RawBvh, added_roots, assemble};
use super::row_layout::RowLayout;
use crate::memory_budget::MemoryBudget;
use crate::model::RotationRows;
use crate::report::Warnings;
use std::io::Read;

/// Bytes that are read at once: chunks for eight threads, and fifty times the header of a character with fingers.
pub(super) const BLOCK: usize = 4 << 20;

/// Reads a text of `size` bytes, which `seen` gets too; `None` for a text that has to be read whole, be it for its error.
pub(super) fn read_blocks(
    source: &mut dyn Read,
    size: u64,
    options: &BvhReadOptions,
    budget: &MemoryBudget,
    seen: &mut dyn FnMut(&[u8]),
) -> Option<RawBvh> {
    let mut text = Vec::with_capacity(2 * BLOCK);
    // Whether more may follow.
    let mut more = |text: &mut Vec<u8>| {
        let read = Read::take(&mut *source, BLOCK as u64).read_to_end(text).ok()?;
        seen(&text[text.len() - read..]);
        Some(read == BLOCK)
    };
    let mut follows = more(&mut text)?;
    let mut warnings = Warnings::new();
    let header = scan(&text, &mut warnings).ok()?;
    let layout = RowLayout::new(&header, added_roots(&header));
    text.drain(..header.rows);
    // A header that reaches into the last half of its block may be cut off.
    if header.rows > BLOCK / 2 || layout.channels() == 0 || !text.contains(&b'\n') {
        return None;
    }
    // A row has at least a digit and a separator per number.
    let most = size / (2 * layout.channels() as u64) + 1;
    let stated = header.frames.unwrap_or(0).min(most) as usize;
    let mut rotations = RotationRows::new(layout.joints());
    rotations.reserve(stated);
    let mut translations = Vec::with_capacity(stated * layout.positions());
    let mut rows = EvenRows::new(&layout, b'\n', 0);
    loop {
        let mut chunks = cut(if follows { &text } else { text.trim_ascii_end() }, b'\n');
        if follows {
            chunks.pop();
        }
        let lines = lines_of(&chunks, b'\n');
        layout.take(lines.iter().sum(), budget).ok()?;
        if !rows.extend(&chunks, &lines) {
            return None;
        }
        rows.drain(|rows| {
            rotations.extend(&rows.rotations);
            translations.extend_from_slice(&rows.translations);
        });
        if !follows {
            break;
        }
        let used: usize = chunks.iter().map(|chunk| chunk.len()).sum();
        text.drain(..used);
        follows = more(&mut text)?;
    }
    check_count(header.frames, rotations.frames(), &mut warnings);
    assemble(&header, &layout, (rotations, translations), options, warnings).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::bvh::read;

    /// Two joints that turn by many turns, in angles from -180 to 180, with `frames` rows and this text at the end of each.
    fn text(frames: usize, end: &str) -> String {
        let mut text = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 90 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
            JOINT Spine\n{\nOFFSET 0 10 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 10 0\n}\n}\n}\n"
            .to_owned();
        text += &format!("MOTION\nFrames: {frames}\nFrame Time: 0.01\n");
        for f in 0..frames {
            let [angle, back, thrice] =
                [7.3, -2.92, 21.9].map(|step| (step * f as f64 + 180.0).rem_euclid(360.0) - 180.0);
            text += &format!(
                "{:.4} 90.0000 0.0000 {angle:.4} {back:.4} 0.0000 0.0000 {thrice:.4} {angle:.4}{end}",
                0.01 * f as f64
            );
        }
        text
    }

    fn blocks(text: &str) -> (Option<RawBvh>, usize) {
        let (size, mut seen) = (text.len() as u64, 0);
        let budget = MemoryBudget::new(size, None);
        let raw =
            read_blocks(&mut text.as_bytes(), size, &BvhReadOptions::default(), &budget, &mut |block| {
                seen += block.len();
            });
        (raw, seen)
    }

    #[test]
    fn blocks_are_read_as_the_whole_text_bit_for_bit() {
        for end in ["\n", " \r\n"] {
            let mut text = text(150_000, end);
            assert!(text.len() > 2 * BLOCK);
            for ends in ["", "\n\n", "junk"] {
                text += ends;
                let whole = read(text.as_bytes(), &BvhReadOptions::default());
                let (raw, seen) = blocks(&text);
                match raw {
                    Some(raw) => {
                        let whole = whole.unwrap();
                        assert!(raw.clip.has_numbers_of(&whole.clip));
                        let flips = |pair: [usize; 2]| {
                            let [a, b] = pair.map(|f| raw.clip.rotations(f));
                            a.iter().zip(b.iter()).any(|(a, b)| a.coords.dot(&b.coords) < 0.0)
                        };
                        assert_eq!((1..raw.clip.frames()).find(|f| flips([f - 1, *f])), None);
                        assert_eq!((raw, seen), (whole, text.len()));
                    }
                    None => assert_eq!(ends, "junk"),
                }
            }
        }
    }

    #[test]
    fn a_text_that_is_not_one_row_a_line_is_left_to_the_reader_of_whole_texts() {
        let even = text(60_000, "\n");
        assert!(blocks(&even).0.is_some());
        let at = even.len() - 100;
        let line = at + even[at..].find('\n').unwrap();
        for odd in ["\n", " 1", " nan", "\n1 2 3"] {
            let mut text = even.clone();
            text.insert_str(line, odd);
            assert!(blocks(&text).0.is_none(), "{odd:?}");
        }
        assert!(blocks(&text(60_000, "\r")).0.is_none());
        assert!(blocks("HIERARCHY").0.is_none());
    }
}
