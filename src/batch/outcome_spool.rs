//! The outcomes of a batch in a temporary file, for reading in the order of the jobs.

use super::job_outcome::JobOutcome;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

/// Outcomes in a temporary file, which is removed with this value.
#[derive(Debug)]
pub struct OutcomeSpool {
    file: BufWriter<File>,
    end: u64,
    /// The offset and length of each job's outcome; length 0 for a job without one.
    spans: Vec<(u64, u32)>,
    /// The jobs with outcomes, after the first request by number.
    order: Vec<u32>,
}

impl OutcomeSpool {
    /// An empty spool for so many jobs.
    ///
    /// # Errors
    /// The error of the system if a temporary file cannot be made.
    pub fn new(jobs: usize) -> io::Result<Self> {
        let (file, spans) = (BufWriter::new(tempfile::tempfile()?), vec![(0, 0); jobs]);
        Ok(Self { file, end: 0, spans, order: Vec::new() })
    }

    /// Stores the outcome of the job with this number.
    ///
    /// # Errors
    /// The error of the system if the temporary file cannot be written.
    pub fn put(&mut self, job: usize, outcome: &JobOutcome) -> io::Result<()> {
        let text = serde_json::to_vec(outcome).expect("an outcome is plain data");
        self.file.write_all(&text)?;
        self.spans[job] = (self.end, text.len() as u32);
        self.end += text.len() as u64;
        self.order.clear();
        Ok(())
    }

    /// Stores the outcome of one more job, behind the others.
    ///
    /// # Errors
    /// The error of the system if the temporary file cannot be written.
    pub(super) fn push(&mut self, outcome: &JobOutcome) -> io::Result<()> {
        self.spans.push((0, 0));
        self.put(self.spans.len() - 1, outcome)
    }

    /// The stored outcome with this number, from 0, in the order of the jobs.
    ///
    /// # Errors
    /// The error of the system if the temporary file cannot be read.
    pub fn nth(&mut self, number: usize) -> io::Result<JobOutcome> {
        if self.order.is_empty() {
            let kept = self.spans.iter().enumerate().filter(|(_, span)| span.1 > 0);
            self.order = kept.map(|(job, _)| job as u32).collect();
        }
        let job = *self.order.get(number).ok_or(io::ErrorKind::NotFound)?;
        self.file.flush()?;
        read(self.file.get_mut(), self.spans[job as usize])
    }

    /// All stored outcomes, in the order of the jobs.
    pub fn each(&mut self) -> impl Iterator<Item = io::Result<JobOutcome>> {
        let flushed = self.file.flush();
        let file = self.file.get_mut();
        let mut flushed = Some(flushed).filter(Result::is_err);
        let kept = self.spans.iter().filter(|span| span.1 > 0);
        kept.map(move |&span| {
            flushed.take().unwrap_or(Ok(()))?;
            read(file, span)
        })
    }
}

fn read(file: &mut File, (at, length): (u64, u32)) -> io::Result<JobOutcome> {
    let mut bytes = vec![0; length as usize];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    serde_json::from_slice(&bytes).map_err(io::Error::from)
}
