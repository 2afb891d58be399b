//! An entry of the catalogue of measures.

/// One measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// The stable word.
    pub name: &'static str,
    /// The unit: `m`, `m/s`, `rad`, `1` for ratios.
    pub unit: &'static str,
    /// The value that a good clip does not exceed, where there is one.
    pub at_most: Option<f64>,
    /// What it is, as a formula in words.
    pub formula: &'static str,
    /// Whether higher values are worse. False for shares of correct labels.
    pub greatest_is_worst: bool,
}

/// A measure whose greatest value is the worst.
pub(super) const fn measure(name: &'static str, unit: &'static str, formula: &'static str) -> Measure {
    Measure { name, unit, at_most: None, formula, greatest_is_worst: true }
}

/// The same with a value that a good clip does not exceed.
pub(super) const fn limited(
    name: &'static str,
    unit: &'static str,
    at_most: f64,
    formula: &'static str,
) -> Measure {
    Measure { at_most: Some(at_most), ..measure(name, unit, formula) }
}

/// A share of what is right.
pub(super) const fn share(name: &'static str, formula: &'static str) -> Measure {
    Measure { greatest_is_worst: false, ..measure(name, "1", formula) }
}
