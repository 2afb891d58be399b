//! Quotes text as a TOML string.

use crate::report::one_line;
use std::fmt::Write as _;

/// A TOML string on one line for any text.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if one_line(c.encode_utf8(&mut [0; 4])).starts_with('\\') => {
                let _ = write!(out, "\\U{:08X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_stays_on_its_line_and_reads_back() {
        for text in ["plain", "a\nb", "\"\\", "\u{1b}[2J", "\u{202e}左", "tab\tx", "\u{7f}\u{85}"] {
            let quoted = quoted(text);
            assert_eq!(one_line(&quoted), quoted);
            let read: toml::Table = toml::from_str(&format!("x = {quoted}")).unwrap();
            assert_eq!(read["x"].as_str(), Some(text));
        }
    }
}
