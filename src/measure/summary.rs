//! Summary of measures over many clips: median, worst value, and the clip that has it.

use super::catalogue::find;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// One measure over many clips.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The measure.
    pub name: String,
    /// Its unit, such as `m`, `rad` or `m/s`; `1` for ratios.
    pub unit: String,
    /// How many clips have it.
    pub clips: usize,
    /// The value that half of them do not exceed, in `unit`; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub median: f64,
    /// The worst value, in `unit`; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub worst: f64,
    /// The clip or the file that has it; the first of several.
    pub of: String,
}

/// One value: the clip, the name and the unit of the measure, and the value.
pub type ClipMeasure<'a> = (&'a str, &'a str, &'a str, f64);

/// One summary for each measure, in the order of their first values; NaN counts as worst.
pub fn summaries<'a>(measured: impl IntoIterator<Item = ClipMeasure<'a>>) -> Vec<Summary> {
    let mut order: Vec<(&str, &str)> = Vec::new();
    let mut values: BTreeMap<&str, Vec<(f64, &str)>> = BTreeMap::new();
    for (of, name, unit, value) in measured {
        let known = values.entry(name).or_default();
        if known.is_empty() {
            order.push((name, unit));
        }
        known.push((value, of));
    }
    let summary = |(name, unit): (&str, &str)| {
        let found = &values[name];
        let greatest = find(name).is_none_or(|m| m.greatest_is_worst);
        let badness = |value: f64| match (value.is_nan(), greatest) {
            (true, _) => f64::INFINITY,
            (_, true) => value,
            (_, false) => -value,
        };
        let (worst, of) =
            found.iter().copied().reduce(|a, b| if badness(b.0) > badness(a.0) { b } else { a })?;
        let mut sorted: Vec<f64> = found.iter().map(|v| v.0).collect();
        let median = crate::math::percentile_in_place(&mut sorted, 0.5);
        Some(Summary {
            name: name.to_owned(),
            unit: unit.to_owned(),
            clips: found.len(),
            median,
            worst,
            of: of.to_owned(),
        })
    };
    order.into_iter().filter_map(summary).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_a_fault_is_its_greatest_and_of_a_virtue_its_least() {
        let measured = [
            ("a", "jerk", "m/s^3", 3.0),
            ("a", "contact_f1", "1", 0.9),
            ("b", "jerk", "m/s^3", 5.0),
            ("b", "contact_f1", "1", 0.5),
            ("c", "jerk", "m/s^3", 4.0),
        ];
        let found = summaries(measured);
        let lines: Vec<_> =
            found.iter().map(|s| (s.name.as_str(), s.clips, s.median, s.worst, s.of.as_str())).collect();
        assert_eq!(lines, [("jerk", 3, 4.0, 5.0, "b"), ("contact_f1", 2, 0.7, 0.5, "b")]);
    }
}
