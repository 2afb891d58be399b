//! Options of formats that are numbers of a range.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// A number from `low` to `high`, in this unit.
///
/// # Errors
/// Any other number, also one that is not finite, with what is allowed.
pub(super) fn number_within<'de, D: Deserializer<'de>>(
    deserializer: D,
    [low, high]: [f64; 2],
    unit: &str,
) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let wrong = || D::Error::custom(format!("{number} is out of range, allowed is {low} to {high} {unit}"));
    (low..=high).contains(&number).then_some(number).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use crate::export::{ExportOptions, RobotOptions};

    #[test]
    fn numbers_out_of_range_are_refused_with_what_is_allowed() {
        let robot = |text: &str| toml::from_str::<RobotOptions>(text).map_err(|error| error.to_string());
        for (text, allowed) in [
            ("rate = -5", "allowed is 0 to 10000 frames per second"),
            ("rate = nan", "allowed is 0 to 10000 frames per second"),
            ("lead = -1", "allowed is 0 to 60 seconds"),
            ("lead = 1e9", "allowed is 0 to 60 seconds"),
        ] {
            let error = robot(text).unwrap_err();
            assert!(error.contains(allowed), "{text}: {error}");
        }
        assert_eq!(robot("rate = 50\nlead = 2.5").unwrap().rate, 50.0);
        assert_eq!(robot("").unwrap(), ExportOptions::default().robot);
    }

    #[cfg(feature = "formats")]
    #[test]
    fn a_tolerance_is_no_negative_number() {
        let fbx = |text: &str| toml::from_str::<crate::export::FbxOptions>(text);
        assert!(fbx("tolerance = 0.1").is_ok());
        for text in ["tolerance = -1", "tolerance = nan", "tolerance = 1e9"] {
            assert!(fbx(text).unwrap_err().to_string().contains("allowed is 0 to 90 degrees"), "{text}");
        }
    }
}
