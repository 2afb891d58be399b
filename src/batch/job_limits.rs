//! Limits of time and memory for each job.

use crate::pipeline::Memory;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Limits for each job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobLimits {
    /// Most time from the request to the result.
    pub timeout: Option<Timeout>,
    /// Most memory of the worker process (Linux).
    pub memory: Option<Memory>,
}

impl JobLimits {
    /// Whether there is a limit.
    pub fn are_set(self) -> bool {
        self != Self::default()
    }
}

/// As options of the command line, each after a space.
impl fmt::Display for JobLimits {
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

/// A duration with its unit: "60s", "2min".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(pub Duration);

/// Units in seconds. If one unit ends with another, it comes first.
const UNITS: [(&str, f64); 4] = [("min", 60.0), ("ms", 1e-3), ("s", 1.0), ("h", 3600.0)];

/// Longest time, seconds: a week. Nobody waits longer for a take, and the clocks of all systems can represent it.
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

/// The program that runs worker processes, and what each job may use.
#[derive(Clone, Debug)]
pub struct WorkerProgram {
    /// The path of the program `posemill`, of the same version as this library; a bare name is looked up in `PATH`.
    pub path: PathBuf,
    /// Limits of each job.
    pub limits: JobLimits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units_and_only_with_them() {
        let parsed = |text: &str| text.parse::<Timeout>().map(|t| t.to_string());
        for (text, shown) in
            [("60s", "60s"), ("1ms", "1ms"), ("1.5 s", "1500ms"), ("2min", "120s"), ("1h", "3600s")]
        {
            assert_eq!(parsed(text).as_deref(), Ok(shown));
            assert_eq!(parsed(shown).as_deref(), Ok(shown));
        }
        for text in ["", "60", "s", "-1s", "0s", "nan s", "inf s", "1e9h", "2 days"] {
            assert!(parsed(text).is_err(), "{text}");
        }
    }
}
