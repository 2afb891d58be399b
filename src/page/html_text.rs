//! Escapes text from files for HTML, so that it cannot act as markup or script.

use std::fmt;

/// Text between tags or in a quoted attribute.
pub(super) struct Text<'a>(pub(super) &'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut from = 0;
        for (at, c) in self.0.char_indices() {
            let safe = match c {
                '&' => "&amp;",
                '<' => "&lt;",
                '>' => "&gt;",
                '"' => "&quot;",
                '\'' => "&#39;",
                // Control characters are not allowed in a document.
                '\n' | '\t' => continue,
                c if c.is_control() => "\u{fffd}",
                _ => continue,
            };
            f.write_str(&self.0[from..at])?;
            f.write_str(safe)?;
            from = at + c.len_utf8();
        }
        f.write_str(&self.0[from..])
    }
}

/// A relative path as a relative URL.
pub(super) fn address(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    format!("./{out}")
}

/// An identifier as words: `left_heel_height` gives `Left heel height`.
pub(super) fn words(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_text_can_open_a_tag_or_leave_an_attribute(text in any::<String>()) {
            let shown = Text(&text).to_string();
            prop_assert!(!shown.contains(['<', '>', '"', '\'', '\0']));
        }

        #[test]
        fn an_address_stays_beside_the_page(name in "[^/\\\\]+") {
            let address = address(&name);
            prop_assert!(address.starts_with("./") && !address.contains(['"', ':', '#', '?', ' ']));
        }
    }

    #[test]
    fn names_for_scripts_become_words() {
        assert_eq!(words("left_heel_height"), "Left heel height");
        assert_eq!(words(""), "");
        assert_eq!(Text("a<b> & 'c'").to_string(), "a&lt;b&gt; &amp; &#39;c&#39;");
    }
}
