//! Compacts the journal of a manifest to one record per existing output, sorted, followed by the files that this program
//! wrote and that no output lists any more.

use super::file_times::short;
use super::journal_index::LineOffset;
use super::journal_line::{JournalLine, OutputRecord};
use super::manifest::{MANIFEST, Manifest};
use crate::pipeline::{AtomicFile, FileHash, WriteError, hash_of};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};

impl Manifest {
    /// Compacts the manifest unless it is compact. Only to be called while no other run works in the folder.
    pub(super) fn compact(&self) -> Result<(), WriteError> {
        let mut index = self.index();
        if !index.needs_compaction {
            return Ok(());
        }
        let mut loose = Loose::default();
        let mut kept = KeptRecords::default();
        let mut at = 0;
        let mut bytes = Vec::new();
        let Some(mut reader) = index.reader() else { return Ok(()) };
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let place = at;
            at += bytes.len() as u64;
            match std::str::from_utf8(&bytes).ok().and_then(|t| JournalLine::decode(t.trim_end_matches('\n')))
            {
                Some(JournalLine::Record(record)) => {
                    let there = record.files.first().is_some_and(|f| self.folder.join(&f.path).exists());
                    let name = record.name().filter(|name| {
                        there && index.records.get(&short(&[name.as_bytes()])) == Some(&place)
                    });
                    match name {
                        Some(name) => {
                            loose.replaced_by(&record);
                            kept.push(name, place);
                        }
                        None => record.files.into_iter().for_each(|f| loose.add(f)),
                    }
                }
                Some(JournalLine::Intent { files, .. }) => files.into_iter().for_each(|f| loose.add(f)),
                Some(JournalLine::Left(file)) => loose.add(file),
                Some(JournalLine::Claim { .. }) | None => {}
            }
            bytes.clear();
        }
        let path = self.folder.join(MANIFEST);
        let mut draft = AtomicFile::new(&path)?;
        for place in kept.sorted() {
            let line = index.line(place).unwrap_or_default();
            // If an output was about to be made again and was not, its record still lists its files.
            if let (false, Some(JournalLine::Record(record))) =
                (loose.files.is_empty(), JournalLine::decode(&line))
            {
                loose.listed(&record);
            }
            writeln!(draft, "{line}").map_err(|e| WriteError::of(&path, &e))?;
        }
        for (path_of, hashes) in loose.files {
            let Some(there) = hash_of(&self.folder.join(&path_of)) else { continue };
            if hashes.contains(&there.blake3) {
                let left = JournalLine::Left(FileHash { path: path_of, blake3: there.blake3 });
                draft.write_all(left.encode().as_bytes()).map_err(|e| WriteError::of(&path, &e))?;
            }
        }
        draft.finish()
    }
}

/// The records that stay: their names, concatenated, and for each the start and length of its name and the offset of its
/// line.
#[derive(Default)]
pub(super) struct KeptRecords {
    names: String,
    places: Vec<(usize, u32, LineOffset)>,
}

impl KeptRecords {
    pub(super) fn push(&mut self, name: &str, place: LineOffset) {
        self.places.push((self.names.len(), name.len() as u32, place));
        self.names.push_str(name);
    }

    /// The offsets of lines in the order of their names.
    pub(super) fn sorted(mut self) -> impl Iterator<Item = LineOffset> {
        let name = |&(start, length, _): &(usize, u32, LineOffset)| &self.names[start..][..length as usize];
        self.places.sort_unstable_by(|a, b| name(a).cmp(name(b)));
        self.places.into_iter().map(|place| place.2)
    }
}

/// Files that may exist although no record lists them with their content.
#[derive(Default)]
struct Loose {
    /// Hashes by path.
    files: BTreeMap<String, BTreeSet<String>>,
}

impl Loose {
    fn add(&mut self, file: FileHash) {
        self.files.entry(file.path).or_default().insert(file.blake3);
    }

    /// A record that stays: earlier lines about its files no longer count.
    fn replaced_by(&mut self, record: &OutputRecord) {
        for file in &record.files {
            self.files.remove(&file.path);
        }
    }

    /// A record that stays lists files with these hashes.
    fn listed(&mut self, record: &OutputRecord) {
        for file in &record.files {
            if let Some(hashes) = self.files.get_mut(&file.path) {
                hashes.remove(&file.blake3);
            }
        }
    }
}
