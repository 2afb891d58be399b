//! The measures of a batch together: median and worst of each, and results that exceed a threshold.

use super::job_outcome::{JobOutcome, JobStatus};
use crate::measure::{Summary, Threshold, find, summaries};
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};

/// The measures of a batch, outcome by outcome, in a temporary file, so that the memory in use does not grow with the batch.
#[derive(Debug)]
pub(super) struct BatchMetrics {
    file: BufWriter<File>,
    /// Names and units, in the order of their first appearance.
    measures: Vec<(String, String)>,
}

/// Bytes of a value in the file: the number of the measure (u32), the number of the outcome (u32), the value (f64).
const VALUE: usize = 16;

impl BatchMetrics {
    /// Without any outcome.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(tempfile::tempfile()?), measures: Vec::new() })
    }

    /// Adds the measures of the outcome with this number.
    pub(super) fn add(&mut self, number: usize, outcome: &JobOutcome) -> io::Result<()> {
        for (name, unit, value) in metrics(outcome).filter(|m| find(m.0).is_some()) {
            let known = self.measures.iter().position(|m| m.0 == name);
            let measure = known.unwrap_or_else(|| {
                self.measures.push((name.to_owned(), unit.to_owned()));
                self.measures.len() - 1
            });
            self.file.write_all(&(measure as u32).to_le_bytes())?;
            self.file.write_all(&(number as u32).to_le_bytes())?;
            self.file.write_all(&value.to_le_bytes())?;
        }
        Ok(())
    }

    /// One line for each measure over all outcomes that have it, and the number of the worst outcome; counts and other notes
    /// of stages are left out. Reads the file once for each measure.
    pub(super) fn summary(self) -> io::Result<Vec<(Summary, usize)>> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        let mut lines = Vec::with_capacity(self.measures.len());
        for (measure, (name, unit)) in self.measures.iter().enumerate() {
            let mut values: Vec<(usize, f64)> = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            let mut reader = BufReader::with_capacity(1 << 16, &file);
            let mut row = [0; VALUE];
            while !reader.fill_buf()?.is_empty() {
                reader.read_exact(&mut row)?;
                let number =
                    |at: usize| u32::from_le_bytes(row[at..at + 4].try_into().expect("four of them"));
                if number(0) as usize == measure {
                    let value = f64::from_le_bytes(row[8..].try_into().expect("eight of them"));
                    values.push((number(4) as usize, value));
                }
            }
            let line = summaries(values.iter().map(|v| ("", name.as_str(), unit.as_str(), v.1)));
            lines.extend(line.into_iter().map(|line| {
                let worst = values.iter().find(|v| v.1.to_bits() == line.worst.to_bits());
                let number = worst.expect("it is one of them").0;
                (line, number)
            }));
        }
        Ok(lines)
    }
}

/// One sentence for each of `thresholds` that the result exceeds, or for which it has no measure.
pub fn passed(outcome: &JobOutcome, thresholds: &[Threshold]) -> Vec<String> {
    if matches!(outcome.status, JobStatus::Failed | JobStatus::Planned | JobStatus::Left) {
        return Vec::new();
    }
    let sentence = |threshold: &Threshold| {
        threshold.failure_message(metrics(outcome).find(|m| m.0 == threshold.name).map(|m| m.2))
    };
    thresholds.iter().filter_map(sentence).collect()
}

/// Name, unit and value of every measurement; a value that is not a number is NaN.
fn metrics(outcome: &JobOutcome) -> impl Iterator<Item = (&str, &str, f64)> {
    let text = |m: &Value, key: &str| m.get(key).and_then(Value::as_str).is_some();
    outcome.metrics.as_array().into_iter().flatten().filter(move |m| text(m, "name") && text(m, "unit")).map(
        |m| {
            let text = |key: &str| m.get(key).and_then(Value::as_str).unwrap_or_default();
            (text("name"), text("unit"), m.get("value").and_then(Value::as_f64).unwrap_or(f64::NAN))
        },
    )
}
