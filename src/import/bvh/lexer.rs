//! Reads words, names and numbers of a BVH header, and makes the warnings and errors with their position.

use super::bvh_error::{BvhError, TextPosition};
use super::parse_decimal::number;
use crate::report::Warnings;

/// The text of a file and the offset up to which it has been read.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a [u8],
    pub(super) at: usize,
    pub(super) warnings: &'a mut Warnings,
}

impl<'a> Lexer<'a> {
    /// The word after the colon, on the same line, and its offset.
    pub(super) fn header_value(&mut self) -> (&'a [u8], usize) {
        let blank = |b: &u8| matches!(b, b' ' | b'\t' | b':');
        let start = self.at + self.text[self.at..].iter().take_while(|b| blank(b)).count();
        let n = self.text[start..].iter().take_while(|b| !b.is_ascii_whitespace()).count();
        self.at = start + n;
        (&self.text[start..start + n], start)
    }

    /// A whole word as a number; a decimal comma is read as a point.
    pub(super) fn value(&mut self, word: &[u8], at: usize) -> Option<f64> {
        let whole = |w: &[u8]| number(w).filter(|&(_, n)| n == w.len()).map(|(v, _)| v);
        if let Some(value) = whole(word) {
            return Some(value);
        }
        let comma = word.iter().position(|&b| b == b',')?;
        let mut pointed = word.to_vec();
        pointed[comma] = b'.';
        let value = whole(&pointed)?;
        self.warn("bvh-decimal-comma", "decimal commas were read as points", at);
        Some(value)
    }

    /// The name after a keyword: up to a brace or the end of the line, trimmed.
    pub(super) fn name(&mut self, start: usize) -> String {
        let rest = &self.text[self.at..];
        let n = rest.iter().position(|b| matches!(b, b'{' | b'}' | b'\n' | b'\r')).unwrap_or(rest.len());
        self.at += n;
        let bytes = rest[..n].trim_ascii();
        let name: String = match std::str::from_utf8(bytes) {
            Ok(name) => name.to_owned(),
            Err(_) => {
                self.warn("bvh-name-latin1", "names that are not UTF-8 were read as Latin-1", start);
                bytes.iter().map(|&b| char::from(b)).collect()
            }
        };
        if !name.contains(|c: char| c.is_control() && c != '\t') {
            return name;
        }
        self.warn("bvh-name-control", "control characters in names were replaced", start);
        name.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}")
    }

    /// The next word or brace; empty at the end of the file.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.skip_space();
        let rest = &self.text[self.at..];
        let n = match rest.first() {
            Some(b'{' | b'}') => 1,
            _ => rest
                .iter()
                .position(|b| b.is_ascii_whitespace() || matches!(b, b'{' | b'}'))
                .unwrap_or(rest.len()),
        };
        self.at += n;
        &rest[..n]
    }

    /// The offset of the next word.
    pub(super) fn next_at(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// Skips white space, and lines that start with `#` or `//`.
    pub(super) fn skip_space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            let rest = &self.text[self.at..];
            if !rest.starts_with(b"#") && !rest.starts_with(b"//") {
                return;
            }
            let start = self.at;
            self.at += rest.iter().take_while(|b| !matches!(b, b'\n' | b'\r')).count();
            self.warn("bvh-comment", "comments are not kept", start);
        }
    }

    pub(super) fn place(&self, at: usize) -> TextPosition {
        TextPosition::of(self.text, at)
    }

    pub(super) fn warn(&mut self, code: &'static str, message: &str, at: usize) {
        // Counting lines is linear in the file, so only the first position of each code is computed.
        let first = if self.warnings.has(code) { String::new() } else { self.place(at).to_string() };
        self.warnings.add(code, message, first);
    }

    pub(super) fn unexpected(&self, at: usize, expected: &'static str, hint: &'static str) -> BvhError {
        let mut peek = at;
        while self.text.get(peek).is_some_and(|b| !b.is_ascii_whitespace()) {
            peek += 1;
        }
        BvhError::Unexpected { place: self.place(at), expected, found: shown(&self.text[at..peek]), hint }
    }
}

/// A word for a message.
pub(super) fn shown(word: &[u8]) -> String {
    if word.is_empty() {
        return "the end of the file".to_owned();
    }
    format!("`{}`", clip(&String::from_utf8_lossy(word)))
}

/// At most 40 characters of a word, so that messages stay short.
pub(super) fn clip(word: &str) -> String {
    if word.chars().count() <= 40 {
        return word.to_owned();
    }
    word.chars().take(39).chain(['\u{2026}']).collect()
}

pub(super) fn is(word: &[u8], keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword.as_bytes())
}

pub(super) fn starts_with(text: &[u8], keyword: &str) -> bool {
    text.get(..keyword.len()).is_some_and(|start| is(start, keyword))
}

/// Whether a word ends a list of channels or numbers.
pub(super) fn keyword(word: &[u8]) -> bool {
    let keywords = ["{", "}", "JOINT", "ROOT", "End", "EndSite", "OFFSET", "CHANNELS", "MOTION", "HIERARCHY"];
    keywords.iter().any(|k| is(word, k))
}
