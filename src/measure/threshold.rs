//! A line such as `foot_skate_p95>0.01` becomes a threshold that measurements may pass.

use super::catalogue::{find, names_near};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which side of the number is bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    AtOrAbove,
    Below,
    AtOrBelow,
}

impl Side {
    const ALL: [(&'static str, Side); 4] =
        [(">=", Side::AtOrAbove), ("<=", Side::AtOrBelow), (">", Side::Above), ("<", Side::Below)];
}

/// A value that a measure must not pass; written as text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Threshold {
    /// The measure.
    pub name: String,
    side: Side,
    value: f64,
}

impl Threshold {
    /// Whether `value` is on the bad side; what is not a number is.
    pub fn is_passed_by(&self, value: f64) -> bool {
        !match self.side {
            Side::Above => value <= self.value,
            Side::AtOrAbove => value < self.value,
            Side::Below => value >= self.value,
            Side::AtOrBelow => value > self.value,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = Side::ALL.iter().find(|s| s.1 == self.side).map_or("", |s| s.0);
        write!(f, "{}{word}{}", self.name, self.value)
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

/// Why a line is no threshold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdError {
    /// It does not read `NAME>VALUE`.
    #[error(
        "`{0}` is no threshold\nwrite a measure, `>`, `>=`, `<` or `<=`, and a number: `foot_skate_p95>0.01`"
    )]
    Shape(String),
    /// There is no such measure.
    #[error("there is no measure `{name}`\nmeasures are {known}")]
    Name {
        /// The word.
        name: String,
        /// All names, the nearest first.
        known: String,
    },
    /// What follows the sign is no number.
    #[error(
        "`{text}` has no number behind `{sign}`\nwrite one in the unit of the measure, {unit}: `{name}{sign}0.01`"
    )]
    Value {
        /// The line.
        text: String,
        /// The measure.
        name: &'static str,
        /// The sign.
        sign: &'static str,
        /// The measure's unit.
        unit: &'static str,
    },
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Self, ThresholdError> {
        let split = Side::ALL.into_iter().find_map(|(sign, side)| {
            text.split_once(sign).map(|(name, value)| (name.trim(), sign, side, value.trim()))
        });
        let Some((name, sign, side, value)) = split.filter(|s| !s.0.is_empty()) else {
            return Err(ThresholdError::Shape(text.to_owned()));
        };
        let Some(measure) = find(name) else {
            let known = names_near(name).iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
            return Err(ThresholdError::Name { name: name.to_owned(), known });
        };
        match value.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Self { name: measure.name.to_owned(), side, value }),
            _ => {
                let (text, name, unit) = (text.to_owned(), measure.name, measure.unit);
                Err(ThresholdError::Value { text, name, sign, unit })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_says_which_side_is_bad() {
        let passed = |text: &str, value: f64| text.parse::<Threshold>().unwrap().is_passed_by(value);
        for (text, at_below_above) in [
            ("jerk>2", [false, false, true]),
            ("jerk >= 2", [true, false, true]),
            ("jerk<2", [false, true, false]),
            ("jerk<=2.0", [true, true, false]),
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
        assert!(said("foot_skate").starts_with("`foot_skate` is no threshold\nwrite a measure"));
        assert!(said(">1").starts_with("`>1` is no threshold"));
        assert!(
            said("foot_skat>1").starts_with("there is no measure `foot_skat`\nmeasures are `foot_skate`, ")
        );
        assert_eq!(
            said("jerk>fast"),
            "`jerk>fast` has no number behind `>`\nwrite one in the unit of the measure, m/s^3: `jerk>0.01`"
        );
    }
}
