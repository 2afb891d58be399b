//! An entry of the catalogue of measures, and how to find one by its name.

use super::catalogue::MEASURES;
use crate::report::Metric;

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

/// The measure of this name.
pub fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|m| m.name == name)
}

/// A value of the measure of this name.
///
/// # Panics
/// Where the list has no such name.
pub fn metric(name: &str, value: f64) -> Metric {
    let measure = find(name).expect("the list has every name that is measured");
    Metric { name: name.to_owned(), value, unit: measure.unit, at_most: measure.at_most, ..Metric::default() }
}

/// All names, the nearest to `name` first.
pub fn names_near(name: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = MEASURES.iter().map(|m| m.name).collect();
    // A name that starts alike, or holds the word, is nearer than one that needs many changes.
    let distance = |other: &str| {
        let alike = strsim::jaro_winkler(name, other);
        ((1.0 - alike) * 1e6) as u64
    };
    names.sort_by_key(|n| distance(n));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_nearest_comes_first() {
        for (k, measure) in MEASURES.iter().enumerate() {
            assert!(MEASURES[..k].iter().all(|m| m.name != measure.name), "{}", measure.name);
            assert_eq!(names_near(measure.name)[0], measure.name);
        }
        assert_eq!(names_near("foot_skates")[0], "foot_skate");
        assert_eq!(names_near("penetraton_max")[0], "penetration_max");
    }
}
