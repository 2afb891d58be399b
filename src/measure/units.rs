//! Units for display and input: centimetres, degrees, percent.

use crate::math::DEGREE;

/// A dimension: the unit of the catalogue, the index of the one for display, and all that may be written, each with its size
/// in the first.
#[derive(Debug)]
struct Dimension {
    unit: &'static str,
    shown: usize,
    written: &'static [(&'static str, f64)],
}

const DIMENSIONS: [Dimension; 9] = [
    Dimension { unit: "m", shown: 1, written: &[("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)] },
    Dimension { unit: "m/s", shown: 1, written: &[("m/s", 1.0), ("cm/s", 1e-2), ("mm/s", 1e-3)] },
    Dimension { unit: "m/s^2", shown: 0, written: &[("m/s^2", 1.0)] },
    Dimension { unit: "m/s^3", shown: 0, written: &[("m/s^3", 1.0)] },
    Dimension { unit: "rad", shown: 1, written: &[("rad", 1.0), ("deg", DEGREE), ("°", DEGREE)] },
    Dimension { unit: "rad/s", shown: 0, written: &[("rad/s", 1.0), ("deg/s", DEGREE)] },
    Dimension { unit: "s", shown: 0, written: &[("s", 1.0), ("ms", 1e-3), ("min", 60.0)] },
    Dimension { unit: "Hz", shown: 0, written: &[("Hz", 1.0)] },
    Dimension { unit: "1", shown: 0, written: &[("", 1.0), ("%", 1e-2)] },
];

fn dimension(unit: &str) -> Option<&'static Dimension> {
    DIMENSIONS.iter().find(|d| d.unit == unit)
}

/// A value of this unit of the catalogue in the one that people use, about three digits long: `1.23 cm`.
pub fn shown(value: f64, unit: &str) -> String {
    let (word, size) = dimension(unit).map_or(("", 1.0), |d| d.written[d.shown]);
    let space = if word.is_empty() { "" } else { " " };
    let value = value / size;
    let digits = match value.abs() {
        x if x >= 100.0 || x == 0.0 => 0,
        x if x >= 10.0 => 1,
        x if x >= 1.0 => 2,
        x if x >= 0.001 => 3,
        _ => return format!("{value:.1e}{space}{word}"),
    };
    format!("{value:.digits$}{space}{word}")
}

/// A number with its unit, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ValueWithUnit {
    /// The number.
    pub(super) number: f64,
    /// Its unit, as written; empty for ratios and counts.
    pub(super) word: &'static str,
    /// The value in the unit of the catalogue.
    pub(super) value: f64,
}

/// Why a text is not a number with a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum QuantityFault {
    /// There is no finite number.
    Number,
    /// A number that needs a unit has none.
    NoUnit,
    /// The unit is not one of this dimension.
    Unit,
}

/// Reads `1cm/s` or `1 cm/s` where the catalogue's unit is `m/s`. A number without a unit is accepted only for measures
/// without one: a threshold meant in the unit of the tables would otherwise be off by a factor of a hundred, unnoticed.
pub(super) fn read(text: &str, unit: &str) -> Result<ValueWithUnit, QuantityFault> {
    // The letter of an exponent belongs to the number; no unit begins with it.
    let of_unit = |c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E') || c == '%' || c == '°';
    let end = text.find(of_unit).unwrap_or(text.len());
    let (number, word) = (text[..end].trim(), text[end..].trim());
    let number = number.parse::<f64>().ok().filter(|n| n.is_finite()).ok_or(QuantityFault::Number)?;
    let written = dimension(unit).map_or(&[("", 1.0)][..], |d| d.written);
    match written.iter().find(|w| w.0 == word) {
        Some(&(word, size)) => Ok(ValueWithUnit { number, word, value: number * size }),
        None if word.is_empty() => Err(QuantityFault::NoUnit),
        None => Err(QuantityFault::Unit),
    }
}

/// The value of a number with its unit, in `unit` of the catalogue; numbers of other units are counts, which have none.
///
/// # Errors
/// A sentence, and what to write.
#[cfg(feature = "cli")]
pub(crate) fn quantity(text: &str, unit: &str) -> Result<f64, (String, String)> {
    read(text, unit).map(|quantity| quantity.value).map_err(|fault| {
        let examples: Vec<String> = words(unit).map(|word| format!("`1{word}`")).collect();
        let message = match fault {
            QuantityFault::Number => "there is no number here".to_owned(),
            QuantityFault::NoUnit => format!("`{text}` has no unit"),
            QuantityFault::Unit => format!("`{text}` has another unit than this column"),
        };
        let hint = if examples.is_empty() {
            "write a number without a unit".to_owned()
        } else {
            format!("write one: {}", examples.join(", "))
        };
        (message, hint)
    })
}

/// The units that a number of this dimension may be written in, the one that people are shown first.
pub(super) fn words(unit: &str) -> impl Iterator<Item = &'static str> {
    let (first, all) = dimension(unit).map_or(("", &[][..]), |d| (d.written[d.shown].0, d.written));
    std::iter::once(first)
        .chain(all.iter().map(|w| w.0).filter(move |w| *w != first))
        .filter(|w| !w.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::MEASURES;
    use super::*;

    #[test]
    fn values_are_shown_in_the_units_of_people() {
        let all = [(0.0123, "m"), (0.5, "m/s"), (0.5, "rad"), (0.0, "1"), (1234.5, "m/s^3"), (1e-7, "1")];
        let written = all.map(|(v, u)| shown(v, u));
        assert_eq!(written, ["1.23 cm", "50.0 cm/s", "28.6 deg", "0", "1234 m/s^3", "1.0e-7"]);
    }

    #[test]
    fn what_is_written_is_read_in_the_unit_of_the_catalogue() {
        for (text, unit, value) in [
            ("1cm/s", "m/s", 0.01),
            ("1e-1 m/s", "m/s", 0.1),
            ("-5 mm", "m", -0.005),
            ("180deg", "rad", std::f64::consts::PI),
            ("90°", "rad", std::f64::consts::FRAC_PI_2),
            ("2 m/s^3", "m/s^3", 2.0),
            ("1e9m/s^3", "m/s^3", 1e9),
            ("0.5", "1", 0.5),
            ("50%", "1", 0.5),
        ] {
            assert_eq!(read(text, unit).map(|q| q.value), Ok(value), "{text}");
        }
        assert_eq!(read("1", "m/s"), Err(QuantityFault::NoUnit));
        assert_eq!(read("1 m", "m/s"), Err(QuantityFault::Unit));
        assert_eq!(read("5 deg", "1"), Err(QuantityFault::Unit));
        for none in ["", "cm", "fast", "1e999m", "1..2 m", "nan m", "--1m"] {
            assert_eq!(read(none, "m"), Err(QuantityFault::Number), "{none}");
        }
    }

    #[test]
    fn every_measure_has_a_dimension() {
        MEASURES.iter().for_each(|m| assert!(dimension(m.unit).is_some(), "{}", m.name));
    }
}
