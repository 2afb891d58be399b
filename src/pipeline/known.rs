//! The lines of a manifest become what is known of a folder, and keep up with what other runs append.
//!
//! In memory an output is a place in the file, a file the hash of its name and content.

use super::line::Line;
use super::seen::{Seen, short};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

/// Where a line begins in the file.
pub(super) type Place = u64;

/// What the lines say that were read so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) file: Option<File>,
    /// How far the file was read.
    end: u64,
    /// The place of the last record of each output.
    pub(super) records: HashMap<u64, Place>,
    /// The place of the last intent of each output that has no record behind it.
    pub(super) intents: HashMap<u64, Place>,
    /// Every file that was ever written: the key of its name and content.
    pub(super) ours: HashSet<u64>,
    /// The outputs that refer to a file that is not named after them, by the key of its name.
    pub(super) shared: HashMap<u64, BTreeSet<String>>,
    /// What other runs work on.
    pub(super) claimed: HashSet<u64>,
    /// Whether there is more in the file than one line for each output, in order.
    pub(super) untidy: bool,
    last: String,
    pub(super) seen: Seen,
}

impl Known {
    /// Nothing yet of what stands in `file`.
    pub(super) fn new(file: Option<File>, seen: Seen) -> Self {
        Self { file, seen, ..Self::default() }
    }

    /// Takes in the lines that are new since; those of `run` are its own.
    pub(super) fn refresh(&mut self, run: &str) {
        let Some(mut file) = self.file.take() else { return };
        let length = file.metadata().map_or(self.end, |m| m.len());
        if length > self.end && file.seek(SeekFrom::Start(self.end)).is_ok() {
            let mut reader = BufReader::new(&file);
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                match reader.read_until(b'\n', &mut bytes) {
                    Ok(count) if count > 0 && bytes.ends_with(b"\n") => {
                        let line = std::str::from_utf8(&bytes[..count - 1]).ok().and_then(Line::decode);
                        self.take_in(line, self.end, run);
                        self.end += count as u64;
                    }
                    _ => break,
                }
            }
            // What a run that was killed wrote of its last line.
            self.untidy |= length > self.end;
        }
        self.file = Some(file);
    }

    fn take_in(&mut self, line: Option<Line>, place: Place, run: &str) {
        match line {
            Some(Line::Record(record)) => {
                let Some(name) = record.name() else { return };
                let id = short(&[name.as_bytes()]);
                self.untidy |= name <= self.last.as_str();
                name.clone_into(&mut self.last);
                self.ours.extend(record.files.iter().map(|f| pair(&f.path, &f.blake3)));
                for file in record.files.iter().skip(1).filter(|f| !named_after(&f.path, name)) {
                    self.shared.entry(short(&[file.path.as_bytes()])).or_default().insert(name.to_owned());
                }
                self.intents.remove(&id);
                self.claimed.remove(&id);
                self.records.insert(id, place);
                return;
            }
            Some(Line::Claim { output, run: who }) if who != run => {
                self.claimed.insert(short(&[output.as_bytes()]));
            }
            Some(Line::Intent { output, files }) => {
                self.ours.extend(files.iter().map(|f| pair(&f.path, &f.blake3)));
                self.intents.insert(short(&[output.as_bytes()]), place);
            }
            Some(Line::Left(file)) => {
                // Those stand behind the records.
                self.ours.insert(pair(&file.path, &file.blake3));
                return;
            }
            Some(Line::Claim { .. }) | None => {}
        }
        self.untidy = true;
    }

    pub(super) fn append(&mut self, line: &Line) -> std::io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = line.encode();
        if file.metadata()?.len() > self.end {
            // Half a line stays half a line.
            text.insert(0, '\n');
        }
        // One call: lines of several runs do not mix.
        file.write_all(text.as_bytes())
    }

    /// The line at this place, without its end.
    pub(super) fn line(&mut self, place: Place) -> Option<String> {
        let file = self.file.as_mut()?;
        let mut line = String::new();
        file.seek(SeekFrom::Start(place)).and_then(|_| BufReader::new(file).read_line(&mut line)).ok()?;
        line.truncate(line.trim_end_matches('\n').len());
        Some(line)
    }

    /// The whole file from its start.
    pub(super) fn reader(&self) -> Option<BufReader<File>> {
        let mut file = self.file.as_ref()?.try_clone().ok()?;
        file.seek(SeekFrom::Start(0)).ok()?;
        Some(BufReader::new(file))
    }
}

/// Whether a file beside an output is its own: such a name begins as that of the output does.
fn named_after(file: &str, output: &str) -> bool {
    file.starts_with(&*Path::new(output).with_extension("").to_string_lossy())
}

/// What stands for a file with this content.
pub(super) fn pair(path: &str, blake3: &str) -> u64 {
    short(&[path.as_bytes(), blake3.as_bytes()])
}
