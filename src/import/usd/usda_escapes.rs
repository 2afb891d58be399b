//! Resolves the escapes in strings of `.usda` text.
//!
//! Source: usd-core 26.11, whose readings the test holds.

use std::borrow::Cow;

/// A string without its escapes, as usd-core resolves them: letters of control characters, `\x` with up to two hexadecimal digits,
/// up to three octal ones, and any other character as itself.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        let (byte, length) = match (first, after) {
            (b'\\', [b'x', digits @ ..]) => {
                let (byte, length) = escaped_byte(digits, 16, 2);
                (byte, length + 1)
            }
            (b'\\', [b'0'..=b'7', ..]) => escaped_byte(after, 8, 3),
            (b'\\', [escape, ..]) => (control_character(*escape), 1),
            _ => (*first, 0),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// The byte of up to `most` digits, and their number; larger numbers wrap.
fn escaped_byte(digits: &[u8], radix: u32, most: usize) -> (u8, usize) {
    let values = digits.iter().take(most).map_while(|digit| char::from(*digit).to_digit(radix));
    values.fold((0, 0), |(byte, length), value| ((u32::from(byte) * radix + value) as u8, length + 1))
}

/// The control character that a letter after a backslash stands for, else the character itself.
fn control_character(escape: u8) -> u8 {
    match escape {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_as_usd_core_does() {
        // Written by hand, read by usd-core 26.11.
        let read = [
            (r"plain", "plain"),
            (r"a\\b", "a\\b"),
            (r#"a\"b\'c"#, "a\"b'c"),
            (r"\a\b\t\n\v\f\r", "\x07\x08\t\n\x0b\x0c\r"),
            (r"a\x41b\x4\xg1\x414", "aAb\x04\0g1A4"),
            (r"a\101b\1234\400\89", "aAbS4\089"),
            (r"\q\xe6\x97\xa5", "q日"),
        ];
        for (written, text) in read {
            assert_eq!(unescaped(written), text, "{written}");
        }
    }
}
