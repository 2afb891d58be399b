//! Errors of BVH files, each with its line and column and a hint.

use crate::memory_budget::OverBudget;
use crate::model::SkeletonError;
use std::fmt;

/// A position in a text file. Lines and columns count from 1; columns count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The line; CR, LF and CRLF each end one.
    pub line: usize,
    /// The byte within the line.
    pub column: usize,
}

impl TextPosition {
    /// The position of the byte at `offset`.
    pub fn of(text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let mut line = 1;
        let mut start = 0;
        for (i, &b) in before.iter().enumerate() {
            // Of a CRLF only the LF is counted.
            if b == b'\n' || (b == b'\r' && text.get(i + 1) != Some(&b'\n')) {
                line += 1;
                start = i + 1;
            }
        }
        Self { line, column: before.len() - start + 1 }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why bytes cannot be read as BVH.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BvhError {
    /// Nothing but white space.
    #[error("the file is empty\n  hint: export the take again: a BVH file starts with `HIERARCHY`")]
    Empty,
    /// Two bytes per character.
    #[error("the file is UTF-16 text\n  hint: save it as UTF-8 or ASCII")]
    Utf16,
    /// A word that the grammar does not allow at its position.
    #[error("{place}: expected {expected}, found {found}\n  hint: {hint}")]
    Unexpected {
        /// Where.
        place: TextPosition,
        /// What the grammar allows there.
        expected: &'static str,
        /// What was found: a word in backticks, or the end of the file.
        found: String,
        /// How to fix it.
        hint: &'static str,
    },
    /// A word where a number is required.
    #[error("{place}: {found} is not a number\n  hint: correct it in the file or export the take again")]
    Number {
        /// Where.
        place: TextPosition,
        /// What was found.
        found: String,
    },
    /// An offset that is infinite, not a number, or farther than `model::FARTHEST`: no bone length can be derived.
    #[error(
        "{place}: the offset {found} is not finite, or far beyond any body\n  hint: write the bone's length there"
    )]
    OffsetNotFinite {
        /// Where.
        place: TextPosition,
        /// What was found.
        found: String,
    },
    /// A channel that BVH does not have.
    #[error(
        "{place}: unknown channel {found}\n  hint: name one of `Xposition`, `Xrotation`, `Xscale`, and the same for Y and Z"
    )]
    BvhChannel {
        /// Where.
        place: TextPosition,
        /// What was found.
        found: String,
    },
    /// A row of numbers that cannot be assigned to the channels.
    #[error(
        "{place}: a row of {found} numbers, the hierarchy has {expected} channels\n  hint: \
         add or remove numbers in that row, or correct the `CHANNELS` lines"
    )]
    Row {
        /// Where the row starts.
        place: TextPosition,
        /// The channels of the hierarchy.
        expected: usize,
        /// The numbers of the row.
        found: usize,
    },
    /// More than a limit allows.
    #[error("{found} {what}, at most {limit} can be read (`{name}`)\n  hint: split the file")]
    Limit {
        /// What is counted.
        what: &'static str,
        /// How many there are, or were when counting stopped.
        found: usize,
        /// The limit.
        limit: usize,
        /// The constant that holds it.
        name: &'static str,
    },
    /// The memory limit of the file is exceeded.
    #[error(transparent)]
    Memory(#[from] OverBudget),
    /// The joints do not form a skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_ends_one_line() {
        let text = b"a\nb\r\nc\rd";
        assert_eq!(TextPosition::of(text, 0), TextPosition { line: 1, column: 1 });
        assert_eq!(TextPosition::of(text, 2), TextPosition { line: 2, column: 1 });
        assert_eq!(TextPosition::of(text, 5), TextPosition { line: 3, column: 1 });
        assert_eq!(TextPosition::of(text, 7), TextPosition { line: 4, column: 1 });
        assert_eq!(TextPosition::of(text, 99), TextPosition { line: 4, column: 2 });
    }

    #[test]
    fn messages_name_the_place_and_the_fix() {
        let place = TextPosition { line: 3, column: 7 };
        let row = BvhError::Row { place, expected: 54, found: 53 };
        assert_eq!(
            row.to_string(),
            "line 3, column 7: a row of 53 numbers, the hierarchy has 54 channels\n  hint: \
             add or remove numbers in that row, or correct the `CHANNELS` lines"
        );
        let number = BvhError::Number { place, found: "`12abc`".into() };
        assert_eq!(
            number.to_string(),
            "line 3, column 7: `12abc` is not a number\n  hint: correct it in the file or export the take again"
        );
    }
}
