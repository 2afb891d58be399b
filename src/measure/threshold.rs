//! Parses thresholds of measures, such as `rest_slip_p95>5cm/s`.

use super::catalogue::{find, names_near};
use super::units::{self, QuantityFault, ValueWithUnit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The side of the number that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BadSide {
    Above,
    AtOrAbove,
    Below,
    AtOrBelow,
}

impl BadSide {
    const ALL: [(&'static str, BadSide); 4] = [
        (">=", BadSide::AtOrAbove),
        ("<=", BadSide::AtOrBelow),
        (">", BadSide::Above),
        ("<", BadSide::Below),
    ];
}

/// A value that a measure must not pass; written as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Threshold {
    /// The measure.
    pub name: String,
    side: BadSide,
    limit: ValueWithUnit,
}

impl Threshold {
    /// Whether `value` is on the failing side; NaN is.
    pub fn is_exceeded_by(&self, value: f64) -> bool {
        !match self.side {
            BadSide::Above => value <= self.limit.value,
            BadSide::AtOrAbove => value < self.limit.value,
            BadSide::Below => value >= self.limit.value,
            BadSide::AtOrBelow => value > self.limit.value,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = BadSide::ALL.iter().find(|s| s.1 == self.side).map_or("", |s| s.0);
        write!(f, "{}{word}{}{}", self.name, self.limit.number, self.limit.word)
    }
}

impl From<Threshold> for String {
    fn from(threshold: Threshold) -> Self {
        threshold.to_string()
    }
}

impl TryFrom<String> for Threshold {
    type Error = ThresholdError;

    fn try_from(text: String) -> Result<Self, ThresholdError> {
        text.parse()
    }
}

/// Why a text is not a threshold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// It does not read `NAME>VALUE`.
    #[error(
        "`{0}` is no threshold\n  hint: write a measure, `>`, `>=`, `<` or `<=`, and a number with its unit: `rest_slip_p95>5cm/s`"
    )]
    Shape(String),
    /// There is no such measure.
    #[error(
        "there is no measure `{name}`, the nearest are {near}\n  hint: list all with `posemill measure --help`"
    )]
    Name {
        /// The word.
        name: String,
        /// The names that come nearest.
        near: String,
    },
    /// What follows the sign is no number.
    #[error("`{text}` has no number behind `{sign}`\n  hint: write one: {examples}")]
    Value {
        /// The line.
        text: String,
        /// The sign.
        sign: &'static str,
        /// What could stand there.
        examples: String,
    },
    /// The number has no unit, and could be meant in several.
    #[error("`{text}` has no unit\n  hint: write one: {examples}")]
    NoUnit {
        /// The line.
        text: String,
        /// What could stand there.
        examples: String,
    },
    /// The measure is not measured in that.
    #[error("`{text}` has a unit that `{name}` is not measured in\n  hint: write {examples}")]
    Unit {
        /// The line.
        text: String,
        /// The measure.
        name: &'static str,
        /// What could stand there.
        examples: String,
    },
}

/// Why some of several lines are no thresholds, each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ThresholdErrors(pub Vec<ThresholdError>);

impl std::error::Error for ThresholdErrors {}

impl fmt::Display for ThresholdErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one] = self.0.as_slice() else {
            write!(f, "{} thresholds cannot be read", self.0.len())?;
            return self
                .0
                .iter()
                .try_for_each(|e| write!(f, "\n{}", e.to_string().replace("\n  hint: ", ": ")));
        };
        one.fmt(f)
    }
}

impl Threshold {
    /// Message if `value`, in the unit of the catalogue, is beyond the threshold or missing.
    pub fn failure_message(&self, value: Option<f64>) -> Option<String> {
        let unit = find(&self.name).map_or("", |m| m.unit);
        match value {
            Some(value) if !self.is_exceeded_by(value) => None,
            Some(value) => {
                Some(format!("`{}` is {}, the run fails on `{self}`", self.name, units::shown(value, unit)))
            }
            None => Some(format!("`{}` was not measured, the run fails on `{self}`", self.name)),
        }
    }

    /// The thresholds of these lines.
    ///
    /// # Errors
    /// [`ThresholdErrors`] with every line that is none.
    pub(crate) fn all<S: AsRef<str>>(lines: &[S]) -> Result<Vec<Self>, ThresholdErrors> {
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for line in lines {
            match line.as_ref().parse() {
                Ok(threshold) => good.push(threshold),
                Err(error) => bad.push(error),
            }
        }
        if bad.is_empty() { Ok(good) } else { Err(ThresholdErrors(bad)) }
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let split = BadSide::ALL.into_iter().find_map(|(sign, side)| {
            text.split_once(sign).map(|(name, value)| (name.trim(), sign, side, value.trim()))
        });
        let Some((name, sign, side, value)) = split.filter(|s| !s.0.is_empty()) else {
            return Err(ThresholdError::Shape(text.to_owned()));
        };
        let quoted =
            |names: Vec<String>| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let Some(measure) = find(name) else {
            let near = names_near(name).into_iter().take(NEAR).map(str::to_owned).collect();
            return Err(ThresholdError::Name { name: name.to_owned(), near: quoted(near) });
        };
        let (name, text) = (measure.name, text.to_owned());
        let examples = |number: &str| match units::words(measure.unit).collect::<Vec<_>>() {
            none if none.is_empty() => format!("`{name}{sign}{number}`"),
            words => quoted(words.into_iter().map(|w| format!("{name}{sign}{number}{w}")).collect()),
        };
        match units::read(value, measure.unit) {
            Ok(limit) => Ok(Self { name: name.to_owned(), side, limit }),
            Err(QuantityFault::Number) => Err(ThresholdError::Value { text, sign, examples: examples("1") }),
            Err(QuantityFault::NoUnit) => Err(ThresholdError::NoUnit { text, examples: examples(value) }),
            Err(QuantityFault::Unit) => Err(ThresholdError::Unit { text, name, examples: examples("1") }),
        }
    }
}

/// How many names a message offers for one that is not known.
const NEAR: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_says_which_side_is_bad() {
        let passed = |text: &str, value: f64| text.parse::<Threshold>().unwrap().is_exceeded_by(value);
        for (text, at_below_above) in [
            ("jerk>2m/s^3", [false, false, true]),
            ("jerk >= 2 m/s^3", [true, false, true]),
            ("foot_skate<200cm/s", [false, true, false]),
            ("jerk_ratio<=2.0", [true, true, false]),
        ] {
            assert_eq!([2.0, 1.0, 3.0].map(|v| passed(text, v)), at_below_above, "{text}");
            assert!(passed(text, f64::NAN));
            let again = text.parse::<Threshold>().unwrap();
            assert_eq!(again.to_string().parse(), Ok(again));
        }
    }

    #[test]
    fn what_is_no_threshold_says_why() {
        let said = |text: &str| text.parse::<Threshold>().unwrap_err().to_string();
        assert!(said("foot_skate").starts_with("`foot_skate` is no threshold\n  hint: write a measure"));
        assert!(said(">1").starts_with("`>1` is no threshold"));
        assert_eq!(
            said("foot_skat>1cm/s"),
            "there is no measure `foot_skat`, the nearest are `foot_skate`, `foot_skate_p95`, `foot_skate_max`\n  hint: \
             list all with `posemill measure --help`"
        );
        assert_eq!(
            said("jerk>fast"),
            "`jerk>fast` has no number behind `>`\n  hint: write one: `jerk>1m/s^3`"
        );
        assert_eq!(
            said("foot_skate>=1"),
            "`foot_skate>=1` has no unit\n  hint: write one: `foot_skate>=1cm/s`, `foot_skate>=1m/s`, `foot_skate>=1mm/s`"
        );
        assert_eq!(
            said("penetration_max>1deg"),
            "`penetration_max>1deg` has a unit that `penetration_max` is not measured in\n  hint: \
             write `penetration_max>1cm`, `penetration_max>1m`, `penetration_max>1mm`"
        );
        let all = Threshold::all(&["jerk>1", "jerk_ratio>2", "jerky>2"]).unwrap_err().to_string();
        assert_eq!(all.lines().count(), 3, "{all}");
        assert!(all.contains("`jerk>1` has no unit: write one: `jerk>1m/s^3`"), "{all}");
    }
}
