//! Gives prims valid names that differ from those of their siblings.

use crate::model::UniqueNames;

/// The names in use among siblings.
pub(super) struct PrimNames(UniqueNames);

impl Default for PrimNames {
    fn default() -> Self {
        Self(UniqueNames::new([]))
    }
}

impl PrimNames {
    /// A valid prim name that no sibling has: letters, digits and `_`, not starting with a digit.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut base: String = name.chars().map(legal).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        self.0.fresh(&base)
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
        let last = (0..50_000).map(|_| names.fresh("材質")).last().unwrap();
        assert_eq!(last, "___50000");
        assert_eq!(fresh, ["thigh_L", "thigh_L_2", "_2nd", "_", "__2", "thigh_L_2_2"]);
    }
}
