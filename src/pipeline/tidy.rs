//! A manifest with a story becomes one with a state: one line for each output that is there, sorted, and after them the
//! files that were written once and that no output lists any more.

use super::known::Place;
use super::line::{FileHash, Line, Record, hash_of};
use super::manifest::{MANIFEST, Manifest};
use super::seen::short;
use super::write::{Draft, WriteError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};

impl Manifest {
    /// Writes the manifest anew where there is more in it than its state: only to be called while no other run is.
    ///
    /// # Errors
    /// A [`WriteError`] where it cannot be written.
    pub(super) fn tidy(&self) -> Result<(), WriteError> {
        let mut known = self.known();
        if !known.untidy {
            return Ok(());
        }
        let mut loose = Loose::default();
        let mut kept = Kept::default();
        let mut at = 0;
        let mut bytes = Vec::new();
        let Some(mut reader) = known.reader() else { return Ok(()) };
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let place = at;
            at += bytes.len() as u64;
            match std::str::from_utf8(&bytes).ok().and_then(|t| Line::decode(t.trim_end_matches('\n'))) {
                Some(Line::Record(record)) => {
                    let there = record.files.first().is_some_and(|f| self.folder.join(&f.path).exists());
                    let name = record.name().filter(|name| {
                        there && known.records.get(&short(&[name.as_bytes()])) == Some(&place)
                    });
                    match name {
                        Some(name) => {
                            loose.held(&record);
                            kept.push(name, place);
                        }
                        None => record.files.into_iter().for_each(|f| loose.add(f)),
                    }
                }
                Some(Line::Intent { files, .. }) => files.into_iter().for_each(|f| loose.add(f)),
                Some(Line::Left(file)) => loose.add(file),
                Some(Line::Claim { .. }) | None => {}
            }
            bytes.clear();
        }
        let path = self.folder.join(MANIFEST);
        let mut draft = Draft::new(&path)?;
        for place in kept.sorted() {
            let line = known.line(place).unwrap_or_default();
            // An output that was about to be made again, and was not, lists what it did.
            if let (false, Some(Line::Record(record))) = (loose.files.is_empty(), Line::decode(&line)) {
                loose.listed(&record);
            }
            writeln!(draft, "{line}").map_err(|e| WriteError::of(&path, &e))?;
        }
        for (path_of, hashes) in loose.files {
            let Some(there) = hash_of(&self.folder.join(&path_of)) else { continue };
            if hashes.contains(&there.blake3) {
                let left = Line::Left(FileHash { path: path_of, blake3: there.blake3 });
                draft.write_all(left.encode().as_bytes()).map_err(|e| WriteError::of(&path, &e))?;
            }
        }
        draft.finish()
    }
}

/// The names of records that stay, one behind the other, and where each stands and its line begins.
#[derive(Default)]
struct Kept {
    names: String,
    places: Vec<(usize, u32, Place)>,
}

impl Kept {
    fn push(&mut self, name: &str, place: Place) {
        self.places.push((self.names.len(), name.len() as u32, place));
        self.names.push_str(name);
    }

    /// The places of lines in the order of their names.
    fn sorted(mut self) -> impl Iterator<Item = Place> {
        let name = |&(start, length, _): &(usize, u32, Place)| &self.names[start..][..length as usize];
        self.places.sort_unstable_by(|a, b| name(a).cmp(name(b)));
        self.places.into_iter().map(|place| place.2)
    }
}

/// Files that may be there although no record lists them as they are.
#[derive(Default)]
struct Loose {
    /// Contents by path.
    files: BTreeMap<String, BTreeSet<String>>,
}

impl Loose {
    fn add(&mut self, file: FileHash) {
        self.files.entry(file.path).or_default().insert(file.blake3);
    }

    /// A record that stays: what was told of its files before it is no longer loose.
    fn held(&mut self, record: &Record) {
        for file in &record.files {
            self.files.remove(&file.path);
        }
    }

    /// A record that stays lists these contents.
    fn listed(&mut self, record: &Record) {
        for file in &record.files {
            if let Some(hashes) = self.files.get_mut(&file.path) {
                hashes.remove(&file.blake3);
            }
        }
    }
}
