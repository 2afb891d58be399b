//! Formats numbers with units as short text: centimetres, degrees, three digits.

/// A display unit: its factor and its symbol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) factor: f64,
    pub(super) symbol: &'static str,
    /// Whether values are counts.
    whole: bool,
}

impl Unit {
    /// The display unit for values up to `largest` in the report's unit `of`.
    pub(super) fn of(of: &str, largest: f64) -> Self {
        let largest = largest.abs();
        let unit = |factor, symbol| Unit { factor, symbol, whole: false };
        match of {
            "m" if largest < 0.01 => unit(1e3, "mm"),
            "m" if largest < 1.0 => unit(1e2, "cm"),
            "m" => unit(1.0, "m"),
            "m/s" if largest < 1.0 => unit(1e2, "cm/s"),
            "m/s" => unit(1.0, "m/s"),
            "m/s2" | "m/s^2" => unit(1.0, "m/s²"),
            "m/s3" | "m/s^3" => unit(1.0, "m/s³"),
            "rad" => unit(1f64.to_degrees(), "°"),
            "rad/s" => unit(1f64.to_degrees(), "°/s"),
            "rad/s2" | "rad/s^2" => unit(1f64.to_degrees(), "°/s²"),
            "s" if largest < 1.0 => unit(1e3, "ms"),
            "s" => unit(1.0, "s"),
            "m2" | "m^2" if largest < 0.1 => unit(1e4, "cm²"),
            "m2" | "m^2" => unit(1.0, "m²"),
            "frames" => Unit { factor: 1.0, symbol: "frames", whole: true },
            "joints" => Unit { factor: 1.0, symbol: "joints", whole: true },
            "deg" => unit(1.0, "°"),
            "Hz" => unit(1.0, "Hz"),
            "kg" => unit(1.0, "kg"),
            _ => unit(1.0, ""),
        }
    }

    /// The value without its unit, about three digits long.
    pub(super) fn number(&self, value: f64) -> String {
        let x = value * self.factor;
        if !x.is_finite() {
            return "–".to_owned();
        }
        let size = x.abs();
        let digits = match size {
            _ if self.whole && size.fract() == 0.0 => 0,
            s if s >= 100.0 => 0,
            s if s >= 10.0 => 1,
            s if s >= 1.0 || s == 0.0 => 2,
            _ => 3,
        };
        let text = format!("{x:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        // U+2212 is as wide as a plus; minus zero prints as zero.
        match text.strip_prefix('-') {
            Some("0") => "0".to_owned(),
            Some(rest) => format!("\u{2212}{rest}"),
            None => text.to_owned(),
        }
    }

    /// The value with its unit.
    pub(super) fn text(&self, value: f64) -> String {
        let number = self.number(value);
        match self.symbol {
            "" => number,
            "°" => format!("{number}°"),
            symbol => format!("{number} {symbol}"),
        }
    }
}

/// A duration as text.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.1} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_in_the_unit_that_reads_best() {
        assert_eq!(Unit::of("m", 0.0042).text(0.0042), "4.2 mm");
        assert_eq!(Unit::of("m", 0.31).text(0.0042), "0.42 cm");
        assert_eq!(Unit::of("m", 2.0).text(-1.25), "\u{2212}1.25 m");
        assert_eq!(Unit::of("rad", 1.0).text(std::f64::consts::FRAC_PI_2), "90°");
        assert_eq!(Unit::of("frames", 12.0).text(1200.0), "1200 frames");
        assert_eq!(Unit::of("1", 0.5).text(0.5), "0.5");
        assert_eq!(Unit::of("m", 0.5).text(-1e-9), "0 cm");
        assert_eq!(Unit::of("m", 0.5).text(f64::NAN), "– cm");
        assert_eq!(duration(12.34), "12.3 s");
        assert_eq!(duration(605.0), "10 min 05 s");
    }
}
