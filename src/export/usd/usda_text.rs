//! Formats prims, numbers and names as the text of a `.usda` file.
//!
//! Numbers have the fewest digits that read back as the same 32 bits (matrices: 64 bits). Source: the text format of Pixar's USD, 1.0.

use crate::math::Mat4;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// The prim that holds skeletons and meshes.
pub(super) const ROOT: &str = "/Root/Character";

/// A layer under construction.
pub(super) struct UsdaText {
    out: String,
    depth: usize,
}

impl UsdaText {
    /// A layer with this metadata.
    pub(super) fn new(metadata: &[String]) -> Self {
        let mut text = Self { out: "#usda 1.0\n".to_owned(), depth: 0 };
        text.line("(");
        text.within(|text| metadata.iter().for_each(|line| text.line(line)));
        text.line(")\n");
        text
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: &str) {
        self.out.extend(std::iter::repeat_n("    ", self.depth));
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Begins a prim, with metadata.
    pub(super) fn open(&mut self, head: &str, metadata: &[&str]) {
        match metadata {
            [] => self.line(head),
            metadata => {
                self.line(&format!("{head} ("));
                self.within(|text| metadata.iter().for_each(|line| text.line(line)));
                self.line(")");
            }
        }
        self.line("{");
        self.depth += 1;
    }

    /// Ends a prim.
    pub(super) fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.line("}");
    }

    /// Adds an attribute with values per vertex; `size` is the number of values per vertex if it is not one.
    pub(super) fn per_vertex(&mut self, attribute: &str, size: Option<usize>) {
        self.line(&format!("{attribute} ("));
        self.within(|text| {
            if let Some(size) = size {
                text.line(&format!("elementSize = {size}"));
            }
            text.line(r#"interpolation = "vertex""#);
        });
        self.line(")");
    }

    /// Adds an attribute with a value at each of these time codes.
    pub(super) fn samples(&mut self, attribute: &str, samples: impl Iterator<Item = (f64, String)>) {
        self.line(&format!("{attribute}.timeSamples = {{"));
        self.within(|text| samples.for_each(|(time, value)| text.line(&format!("{time}: {value},"))));
        self.line("}");
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn within(&mut self, inner: impl FnOnce(&mut Self)) {
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }
}

/// A 32-bit number.
pub(super) struct SingleNumber(pub(super) f32);

impl fmt::Display for SingleNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Below this, scientific notation is shorter.
        const SMALL: f32 = 1e-3;
        match self.0 {
            0.0 => f.write_str("0"),
            x if x.abs() < SMALL => write!(f, "{x:e}"),
            x => write!(f, "{x}"),
        }
    }
}

/// `[1, 2]`.
pub(super) fn list<T: fmt::Display>(values: impl IntoIterator<Item = T>) -> String {
    let mut text = "[".to_owned();
    for (k, value) in values.into_iter().enumerate() {
        let _ = write!(text, "{}{value}", if k > 0 { ", " } else { "" });
    }
    text.push(']');
    text
}

/// `(1, 2, 3)`.
pub(super) fn tuple<const N: usize>(values: [f32; N]) -> String {
    let mut text = "(".to_owned();
    for (k, value) in values.into_iter().enumerate() {
        let _ = write!(text, "{}{}", if k > 0 { ", " } else { "" }, SingleNumber(value));
    }
    text.push(')');
    text
}

/// `[(1, 2), (3, 4)]`.
pub(super) fn tuples<const N: usize>(values: impl IntoIterator<Item = [f32; N]>) -> String {
    list(values.into_iter().map(tuple))
}

/// `["a", "b"]`.
pub(super) fn tokens<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    list(values.into_iter().map(|v| format!("\"{}\"", v.as_ref().replace('\\', "\\\\").replace('"', "\\\""))))
}

/// A matrix in the row-vector convention of USD: the transpose.
pub(super) fn matrix(m: &Mat4<f64>) -> String {
    // Adding 0 removes the sign of a negative zero.
    let row = |c: usize| {
        format!("({}, {}, {}, {})", m[(0, c)] + 0.0, m[(1, c)] + 0.0, m[(2, c)] + 0.0, m[(3, c)] + 0.0)
    };
    format!("({}, {}, {}, {})", row(0), row(1), row(2), row(3))
}

/// The names in use among siblings.
#[derive(Default)]
pub(super) struct PrimNames(BTreeSet<String>);

impl PrimNames {
    /// A valid prim name that no sibling has: letters, digits and `_`, not starting with a digit.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = name.chars().map(legal).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        let found = std::iter::once(base.clone()).chain(numbered).find(|n| !self.0.contains(n));
        let found = found.unwrap_or(base);
        self.0.insert(found.clone());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_unique() {
        let mut names = PrimNames::default();
        let fresh: Vec<String> =
            ["thigh.L", "thigh-L", "2nd", "頭", "", "thigh_L_2"].map(|n| names.fresh(n)).into();
        assert_eq!(fresh, ["thigh_L", "thigh_L_2", "_2nd", "_", "__2", "thigh_L_2_2"]);
    }

    #[test]
    fn numbers_read_back() {
        for x in [0.0, -0.0, 1.0, -0.1, 1e-9, 3.4e38, f32::MIN_POSITIVE, 0.333_333_34] {
            assert_eq!(SingleNumber(x).to_string().parse::<f32>().unwrap(), x);
        }
        assert_eq!(tuples([[1.0, -0.0], [0.5, 1e-7]]), "[(1, 0), (0.5, 1e-7)]");
        assert_eq!(tokens(["a\"b\\"]), r#"["a\"b\\"]"#);
    }
}
