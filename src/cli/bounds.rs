//! What one take may cost: time and memory, as amounts with units.

use crate::pipeline::Memory;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What one take may cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// How long it may take.
    pub timeout: Option<Timeout>,
    /// What the process that works on it may take of memory.
    pub memory: Option<Memory>,
}

impl Bounds {
    /// Whether there are any.
    pub fn are_told(self) -> bool {
        self != Self::default()
    }
}

/// As the command line has them, each with a space before it.
impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(timeout) = self.timeout {
            write!(f, " --timeout {timeout}")?;
        }
        match self.memory {
            Some(memory) => write!(f, " --memory {memory}"),
            None => Ok(()),
        }
    }
}

/// A time that something may take: "60s", "2min".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(pub Duration);

/// Units and how many seconds each is; the longer of two that end alike first.
const UNITS: [(&str, f64); 4] = [("min", 60.0), ("ms", 1e-3), ("s", 1.0), ("h", 3600.0)];

/// A week: nobody waits longer for a take, and clocks of every system can count it.
const LONGEST: f64 = 7.0 * 24.0 * 3600.0;

impl FromStr for Timeout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, size) =
                UNITS.iter().find_map(|(unit, size)| Some((text.trim().strip_suffix(unit)?, *size)))?;
            let seconds = number.trim().parse::<f64>().ok()? * size;
            (1e-3..=LONGEST).contains(&seconds).then(|| Self(Duration::from_secs_f64(seconds)))
        };
        read().ok_or_else(|| "a time has a unit: `60s`, `500ms`, `5min` or `2h`, up to a week".to_owned())
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.subsec_millis() {
            0 => write!(f, "{}s", self.0.as_secs()),
            _ => write!(f, "{}ms", self.0.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units_and_only_with_them() {
        let told = |text: &str| text.parse::<Timeout>().map(|t| t.to_string());
        for (text, shown) in
            [("60s", "60s"), ("1ms", "1ms"), ("1.5 s", "1500ms"), ("2min", "120s"), ("1h", "3600s")]
        {
            assert_eq!(told(text).as_deref(), Ok(shown));
            assert_eq!(told(shown).as_deref(), Ok(shown));
        }
        for text in ["", "60", "s", "-1s", "0s", "nan s", "inf s", "1e9h", "2 days"] {
            assert!(told(text).is_err(), "{text}");
        }
    }
}
