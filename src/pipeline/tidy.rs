//! A manifest with a story becomes one with a state: one line for each output that is there, sorted, and after them the
//! files that were written once and that no output lists any more.

use super::known::{Place, pair};
use super::line::{FileHash, Line, Record, hash_of};
use super::manifest::{MANIFEST, Manifest};
use super::write::{Draft, WriteError};
use std::collections::{BTreeMap, BTreeSet, HashSet};
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
        let last: HashSet<u64> = known.records.values().map(|place| place.0).collect();
        let mut loose = Loose::default();
        let mut kept: BTreeMap<String, Place> = BTreeMap::new();
        let mut at = 0;
        let mut bytes = Vec::new();
        let Some(mut reader) = known.reader() else { return Ok(()) };
        while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let place = (at, bytes.len() as u32 - 1);
            at += bytes.len() as u64;
            match std::str::from_utf8(&bytes).ok().and_then(|t| Line::decode(t.trim_end_matches('\n'))) {
                Some(Line::Record(record)) => {
                    let there = record.files.first().is_some_and(|f| self.folder.join(&f.path).exists());
                    if last.contains(&place.0) && there {
                        loose.held(&record);
                        kept.extend(record.name().map(|name| (name.to_owned(), place)));
                    } else {
                        record.files.into_iter().for_each(|f| loose.add(f));
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
        for place in kept.into_values() {
            let line = known.line(place).unwrap_or_default();
            writeln!(draft, "{line}").map_err(|e| WriteError::of(&path, &e))?;
        }
        for (path_of, hashes) in loose.files {
            let Some(there) = hash_of(&self.folder.join(&path_of)) else { continue };
            if hashes.contains(&there.blake3) && !loose.listed.contains(&pair(&path_of, &there.blake3)) {
                let left = Line::Left(FileHash { path: path_of, blake3: there.blake3 });
                draft.write_all(left.encode().as_bytes()).map_err(|e| WriteError::of(&path, &e))?;
            }
        }
        draft.finish()
    }
}

/// Files that may be there although no record lists them as they are.
#[derive(Default)]
struct Loose {
    /// Contents by path.
    files: BTreeMap<String, BTreeSet<String>>,
    /// What records list.
    listed: HashSet<u128>,
}

impl Loose {
    fn add(&mut self, file: FileHash) {
        self.files.entry(file.path).or_default().insert(file.blake3);
    }

    /// A record that stays: what it lists is no longer loose.
    fn held(&mut self, record: &Record) {
        for file in &record.files {
            self.files.remove(&file.path);
            self.listed.insert(pair(&file.path, &file.blake3));
        }
    }
}
