//! The index of a manifest's journal in memory, kept up to date with the lines that other runs append.
//!
//! An output is stored as the offset of its line, a file as the hash of its name and content.

use super::file_times::{FileTimes, short};
use super::journal_line::JournalLine;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

/// Offset of a line in the file, bytes.
pub(super) type LineOffset = u64;

/// The content of the lines that were read so far.
#[derive(Debug, Default)]
pub(super) struct JournalIndex {
    pub(super) file: Option<File>,
    /// The offset up to which the file was read.
    end: u64,
    /// The last record of each output, by the hash of the output's name.
    pub(super) records: HashMap<u64, LineOffset>,
    /// The last intent of each output without a record after it.
    pub(super) intents: HashMap<u64, LineOffset>,
    /// Every file that this program wrote, by the hash of its name and content.
    pub(super) written: HashSet<u64>,
    /// The outputs that refer to a file that is not named after them, by the hash of its name.
    pub(super) shared: HashMap<u64, BTreeSet<String>>,
    /// The lines in which other runs claim the outputs that they work on.
    pub(super) claimed: HashMap<u64, LineOffset>,
    /// Whether the file has more than one line for each output, in order.
    pub(super) needs_compaction: bool,
    /// The name of the last output that was read.
    last: String,
    pub(super) times: FileTimes,
}

impl JournalIndex {
    /// The index of `file` before any line is read.
    pub(super) fn new(file: Option<File>, times: FileTimes) -> Self {
        Self { file, times, ..Self::default() }
    }

    /// Reads the lines that were appended since; claims of `run` are its own.
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
                        let line =
                            std::str::from_utf8(&bytes[..count - 1]).ok().and_then(JournalLine::decode);
                        self.add(line, self.end, run);
                        self.end += count as u64;
                    }
                    _ => break,
                }
            }
            // The rest is part of a line that a killed run was writing.
            self.needs_compaction |= length > self.end;
        }
        self.file = Some(file);
    }

    fn add(&mut self, line: Option<JournalLine>, offset: LineOffset, run: &str) {
        match line {
            Some(JournalLine::Record(record)) => {
                let Some(name) = record.name() else { return };
                let id = short(&[name.as_bytes()]);
                self.needs_compaction |= name <= self.last.as_str();
                name.clone_into(&mut self.last);
                self.written.extend(record.files.iter().map(|f| name_and_content(&f.path, &f.blake3)));
                for file in record.files.iter().skip(1).filter(|f| !named_after(&f.path, name)) {
                    self.shared.entry(short(&[file.path.as_bytes()])).or_default().insert(name.to_owned());
                }
                self.intents.remove(&id);
                self.claimed.remove(&id);
                self.records.insert(id, offset);
                return;
            }
            Some(JournalLine::Claim { output, run: who, .. }) if who != run => {
                self.claimed.insert(short(&[output.as_bytes()]), offset);
            }
            Some(JournalLine::Intent { output, files }) => {
                self.written.extend(files.iter().map(|f| name_and_content(&f.path, &f.blake3)));
                self.intents.insert(short(&[output.as_bytes()]), offset);
            }
            Some(JournalLine::Left(file)) => {
                // They come after the records.
                self.written.insert(name_and_content(&file.path, &file.blake3));
                return;
            }
            Some(JournalLine::Claim { .. }) | None => {}
        }
        self.needs_compaction = true;
    }

    pub(super) fn append(&mut self, line: &JournalLine) -> std::io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut text = line.encode();
        if file.metadata()?.len() > self.end {
            // Ends the part of a line that a killed run left.
            text.insert(0, '\n');
        }
        // One call, so that lines of several runs do not mix.
        file.write_all(text.as_bytes())
    }

    /// The line at this offset, without its line break.
    pub(super) fn line(&mut self, offset: LineOffset) -> Option<String> {
        let file = self.file.as_mut()?;
        let mut line = String::new();
        file.seek(SeekFrom::Start(offset)).and_then(|_| BufReader::new(file).read_line(&mut line)).ok()?;
        line.truncate(line.trim_end_matches('\n').len());
        Some(line)
    }

    /// A reader of the whole file.
    pub(super) fn reader(&self) -> Option<BufReader<File>> {
        let mut file = self.file.as_ref()?.try_clone().ok()?;
        file.seek(SeekFrom::Start(0)).ok()?;
        Some(BufReader::new(file))
    }
}

/// Whether a file next to an output belongs to it alone: its name begins with that of the output.
fn named_after(file: &str, output: &str) -> bool {
    file.starts_with(&*Path::new(output).with_extension("").to_string_lossy())
}

/// The hash of a file's name and content.
pub(super) fn name_and_content(path: &str, blake3: &str) -> u64 {
    short(&[path.as_bytes(), blake3.as_bytes()])
}
