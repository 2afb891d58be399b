//! Gives prims valid names that differ from those of their siblings.

use std::collections::BTreeSet;

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
}
