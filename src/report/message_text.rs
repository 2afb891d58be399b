//! Texts of messages: names and paths that cannot break a line, counts, fields of tables.

use serde::Serialize;
use std::path::Path;

/// The system's error message in the style of this program: without the error number, in lower case.
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

/// A message, and its hint if it has one: messages end with a line `  hint: what to do`. The last such line is the hint, since names in
/// a message may hold line breaks.
pub(crate) fn split_hint(message: &str) -> (&str, Option<&str>) {
    message.rsplit_once("\n  hint: ").map_or((message, None), |(fact, hint)| (fact, Some(hint)))
}

/// A confidence with four digits, as reports print it: more would be rounding errors.
pub(crate) fn rounded(confidence: f64) -> f64 {
    (confidence * 1e4).round() / 1e4
}

/// Escapes control characters, line separators and characters that change the writing direction, so that a name cannot
/// add a line to a message or file, or control a terminal.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unsafe(c) {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// JSON text on one line, in which what [`one_line`] escapes is written as `\u` and four digits: the value is the same.
#[cfg(any(feature = "cli", test))]
pub(crate) fn json_line(value: &impl Serialize) -> String {
    printable_json(serde_json::to_string(value).expect("documents are plain data"))
}

/// Indented JSON text, escaped as that of [`json_line`].
pub(crate) fn json_text(value: &impl Serialize) -> String {
    printable_json(serde_json::to_string_pretty(value).expect("documents are plain data"))
}

/// Only strings hold such characters. Below U+0020 they are escaped already; line breaks are between the parts.
fn printable_json(text: String) -> String {
    let left = |c: char| c != '\n' && is_unsafe(c);
    if text.is_ascii() && !text.contains('\u{7f}') {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match left(c) {
            true => out += &format!("\\u{:04x}", u32::from(c)),
            false => out.push(c),
        }
    }
    out
}

/// A text as a field of a table of comma-separated values (RFC 4180), quoted if necessary. Spreadsheets run a field that begins with
/// `=`, `+`, `-`, `@`, a tab or a return as a formula: such a text, and one of apostrophes before it, gets an apostrophe in front.
/// So a reader that takes one away from fields of that form has the text again.
pub(crate) fn csv_field(text: &str) -> String {
    let text = if is_formula(text) { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// Whether spreadsheets run a text as a formula, but for apostrophes before it.
pub(crate) fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// The first sixty characters of a text from a file, escaped by [`one_line`]: enough to find it.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => one_line(&text[..end]) + "...",
        None => one_line(text),
    }
}

/// "1 joint", "2 joints".
pub(crate) fn counted(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// The nearest of `names`, if it is close enough to be the intended one: a few typing errors, or the same start.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    let slips = name.chars().count() / 3;
    let near = |n: &&'n str| {
        let other = n.to_lowercase();
        strsim::damerau_levenshtein(&name, &other) <= slips || strsim::jaro_winkler(&name, &other) > 0.85
    };
    names.filter(near).min_by_key(|n| strsim::damerau_levenshtein(&name, &n.to_lowercase()))
}

/// A path as text for messages, escaped by [`one_line`]; a trait so that it reads like `Path::display`.
pub(crate) trait Shown {
    /// The text.
    fn shown(&self) -> String;
}

impl Shown for Path {
    fn shown(&self) -> String {
        one_line(&self.display().to_string())
    }
}

/// A message of several lines with each line escaped by [`one_line`].
pub fn printable(text: &str) -> String {
    text.split('\n').map(one_line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_no_formula_and_reads_back() {
        let unquoted = |field: &str| match field.strip_prefix('"').and_then(|f| f.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => field.to_owned(),
        };
        let formula = |text: &str| text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        for text in [
            "Hips",
            "=cmd|' /C calc'!A0",
            "+1",
            "-x",
            "@a",
            "\t=",
            "\r",
            "'=1",
            "''-1",
            "'quoted",
            "a,\"b\n",
            "",
        ] {
            let written = unquoted(&csv_field(text));
            assert!(!formula(&written), "{written}");
            let marked = written.starts_with('\'') && formula(written.trim_start_matches('\''));
            assert_eq!(if marked { &written[1..] } else { written.as_str() }, text);
        }
        assert_eq!(csv_field("LeftArm"), "LeftArm");
    }

    #[test]
    fn json_has_no_character_that_commands_a_terminal() {
        let names = ["a\u{7f}\u{80}\u{9b}31m\u{9f}", "\u{202e}\u{2028}\u{feff}\n", "ü 左 \u{a0}", "plain"];
        for text in [json_line(&names), json_text(&names)] {
            assert!(!text.chars().any(|c| c != '\n' && is_unsafe(c)), "{text}");
            assert!(text.contains(r"a\u007f\u0080\u009b31m\u009f") && text.contains("ü 左 \u{a0}"), "{text}");
            assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
        }
        assert_eq!(json_line(&names).lines().count(), 1);
    }

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(one_line("a\nb\u{1b}[2J\u{202e}\u{85}ü 左"), "a\\nb\\u{1b}[2J\\u{202e}\\u{85}ü 左");
    }
}
