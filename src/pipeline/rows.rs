//! What became of the jobs of a batch, out of memory until it is asked for in the order of the jobs.

use super::batch::Outcome;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

/// Outcomes in a temporary file, which is gone with this value.
#[derive(Debug)]
pub struct Rows {
    file: BufWriter<File>,
    end: u64,
    places: Vec<(u64, u32)>,
    /// The jobs that were kept, once they are asked for by number.
    order: Vec<u32>,
}

impl Rows {
    /// Room for the outcomes of as many jobs.
    ///
    /// # Errors
    /// What the system says where there is no room for temporary files.
    pub fn new(jobs: usize) -> io::Result<Self> {
        let (file, places) = (BufWriter::new(tempfile::tempfile()?), vec![(0, 0); jobs]);
        Ok(Self { file, end: 0, places, order: Vec::new() })
    }

    /// Keeps what became of the job of this number.
    ///
    /// # Errors
    /// What the system says where the temporary file cannot be written.
    pub fn put(&mut self, job: usize, outcome: &Outcome) -> io::Result<()> {
        let text = serde_json::to_vec(outcome).expect("an outcome is plain data");
        self.file.write_all(&text)?;
        self.places[job] = (self.end, text.len() as u32);
        self.end += text.len() as u64;
        self.order.clear();
        Ok(())
    }

    /// What was kept as the one of this number, from 0, in the order of the jobs.
    ///
    /// # Errors
    /// What the system says where the temporary file cannot be read.
    pub fn nth(&mut self, number: usize) -> io::Result<Outcome> {
        if self.order.is_empty() {
            let kept = self.places.iter().enumerate().filter(|(_, place)| place.1 > 0);
            self.order = kept.map(|(job, _)| job as u32).collect();
        }
        let job = *self.order.get(number).ok_or(io::ErrorKind::NotFound)?;
        self.file.flush()?;
        read(self.file.get_mut(), self.places[job as usize])
    }

    /// Everything that was kept, in the order of the jobs.
    pub fn each(&mut self) -> impl Iterator<Item = io::Result<Outcome>> {
        let flushed = self.file.flush();
        let file = self.file.get_mut();
        let mut flushed = Some(flushed).filter(Result::is_err);
        let kept = self.places.iter().filter(|place| place.1 > 0);
        kept.map(move |&place| {
            flushed.take().unwrap_or(Ok(()))?;
            read(file, place)
        })
    }
}

fn read(file: &mut File, (at, length): (u64, u32)) -> io::Result<Outcome> {
    let mut bytes = vec![0; length as usize];
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(&mut bytes)?;
    serde_json::from_slice(&bytes).map_err(io::Error::from)
}
