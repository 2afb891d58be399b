//! What an output folder holds and from what it was made: which outputs are up to date, which files are ours.
//!
//! Lines are appended while a run goes on: what it works on, what it is about to write, and what it wrote with all that
//! it was made from. Whenever a run ends, even by force, the file says which files are this program's. Several runs share
//! a folder: each reads what the others append. The last of them to end leaves one sorted line for each output.

use super::claims::Claims;
use super::known::{Known, Place, pair};
use super::line::{FileHash, Line, Record, hash_of};
use super::seen::{self, Seen, short, signature};
use super::takes::Take;
use super::write::{self, WriteError};
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The name of the manifest in its folder.
pub const MANIFEST: &str = ".posemill.jsonl";
/// The name of the file that every run in a folder holds a lock on: shared while it works, alone while it tidies up.
const LOCK: &str = ".posemill.lock";

/// What a manifest knows about an output.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Everything is as it was when the output was made: what the run had to say, and the files it wrote.
    UpToDate(Value, Vec<PathBuf>),
    /// To be made; what is there may be replaced.
    Stale,
    /// Something is there that this program did not write.
    Foreign(PathBuf),
}

/// The records of one output folder.
#[derive(Debug)]
pub struct Manifest {
    pub(super) folder: PathBuf,
    /// Held for as long as the run works; none where it only looks.
    lock: Option<File>,
    run: String,
    known: Mutex<Known>,
}

impl Manifest {
    /// Joins the runs that work in `folder`, which is made where there is none. What runs left that are no more is
    /// swept.
    ///
    /// # Errors
    /// A [`WriteError`] where the folder takes no files.
    pub fn open(folder: &Path) -> Result<Self, WriteError> {
        let path = folder.join(MANIFEST);
        let open = || -> std::io::Result<(File, File)> {
            std::fs::create_dir_all(folder)?;
            let mut how = OpenOptions::new();
            how.create(true).read(true).append(true);
            Ok((how.open(folder.join(LOCK))?, how.open(&path)?))
        };
        // Nobody replaces the manifest while a shared lock is held: the file is opened again behind it.
        let (lock, _) = open().map_err(|e| WriteError::of(&path, &e))?;
        let alone = lock.try_lock().is_ok();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let run = format!("{}-{}", std::process::id(), since.as_nanos());
        if alone {
            let dead = Self::look(folder);
            dead.sweep();
            let _ = lock.unlock();
        }
        // A file system without locks has one run at a time: there is nothing better to do than to go on.
        let _ = lock.lock_shared();
        let (_, file) = open().map_err(|e| WriteError::of(&path, &e))?;
        let mut known = Known::new(Some(file), Seen::open(folder));
        known.refresh(&run);
        if alone {
            // Whoever claimed something is no more.
            known.claimed.clear();
        }
        Ok(Self { folder: folder.to_owned(), lock: Some(lock), run, known: Mutex::new(known) })
    }

    /// What `folder` holds, to be read only.
    pub fn look(folder: &Path) -> Self {
        let file = File::open(folder.join(MANIFEST)).ok();
        let mut known = Known::new(file, Seen::open(folder));
        known.refresh("");
        Self { folder: folder.to_owned(), lock: None, run: String::new(), known: Mutex::new(known) }
    }

    /// A panic elsewhere leaves what is known whole: lines are taken in one by one.
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `output` is up to date for this pipeline and this take.
    pub fn state(&self, output: &Path, pipeline: &str, take: &Take) -> State {
        let name = self.name(output);
        let Some(record) = self.record(&name) else {
            return match self.may_replace(output) {
                true => State::Stale,
                false => State::Foreign(output.to_owned()),
            };
        };
        let when = SystemTime::now();
        let now = self.signature(&record, take, Some(when));
        let files = || record.files.iter().map(|f| self.folder.join(&f.path));
        let id = short(&[name.as_bytes()]);
        let same = record.pipeline == pipeline;
        if same && now.is_some_and(|now| self.known().seen.is(id, now)) {
            let files = files().collect();
            return State::UpToDate(record.report, files);
        }
        let mut there = true;
        for (file, path) in record.files.iter().zip(files()) {
            match hash_of(&path) {
                Some(found) if found.blake3 == file.blake3 => {}
                // The table of labels is there to be corrected.
                Some(_) if is_editable(&path) => {}
                Some(_) if !self.may_replace(&path) => return State::Foreign(path),
                _ => there = false,
            }
        }
        let unchanged = |(source, path): (&FileHash, PathBuf)| {
            hash_of(&path).is_some_and(|found| found.blake3 == source.blake3)
        };
        let named = record.sources.first().is_some_and(|s| s.path == slashed(&take.relative));
        if !(there && same && named && record.sources.iter().zip(sources(&record, take)).all(unchanged)) {
            return State::Stale;
        }
        self.known().seen.put(id, now);
        let files = files().collect();
        State::UpToDate(record.report, files)
    }

    /// What stands for the present state of all files of a record.
    fn signature(&self, record: &Record, take: &Take, when: Option<SystemTime>) -> Option<u64> {
        let files: Vec<PathBuf> = record.files.iter().map(|f| self.folder.join(&f.path)).collect();
        let read: Vec<PathBuf> = sources(record, take).collect();
        let made = record.files.iter().chain(&record.sources).map(|f| f.blake3.as_str());
        let made = made.chain([record.pipeline.as_str()]).collect::<Vec<_>>().concat();
        signature(&made, read.iter().map(PathBuf::as_path), files.iter().map(PathBuf::as_path), when)
    }

    /// Whether `path` is absent, or there as this program wrote it.
    pub fn may_replace(&self, path: &Path) -> bool {
        match std::fs::symlink_metadata(path) {
            Err(e) => return e.kind() == ErrorKind::NotFound || e.kind() == ErrorKind::NotADirectory,
            // A folder cannot be replaced by a file: the system says so.
            Ok(there) if there.is_dir() => return true,
            Ok(_) => {}
        }
        let Some(there) = hash_of(path) else { return false };
        let pair = pair(&self.name(path), &there.blake3);
        let mut known = self.known();
        known.ours.contains(&pair) || {
            known.refresh(&self.run);
            known.ours.contains(&pair)
        }
    }

    /// Whether the record of this output says that it has this content.
    pub(super) fn lists(&self, output: &Path, blake3: &str) -> bool {
        let record = self.record(&self.name(output));
        record.is_some_and(|r| r.files.first().is_some_and(|f| f.blake3 == blake3))
    }

    /// An output that is there, that this run does not make, and whose record says that the file at `path` beside it has
    /// another content than this.
    pub(super) fn other_owner(&self, path: &Path, blake3: &str, claims: &Claims) -> Option<PathBuf> {
        let name = self.name(path);
        let owners = {
            let mut known = self.known();
            known.refresh(&self.run);
            known.shared.get(&short(&[name.as_bytes()])).cloned()?
        };
        let differs = |owner: &String| {
            let files = self.record(owner).map(|r| r.files).unwrap_or_default();
            files.iter().any(|f| f.path == name && f.blake3 != blake3)
        };
        let owner = |owner: &String| self.folder.join(owner);
        let found = owners.iter().find(|o| !claims.plans(&owner(o)) && owner(o).exists() && differs(o));
        found.map(owner)
    }

    /// The record of an output.
    fn record(&self, name: &str) -> Option<Record> {
        let id = short(&[name.as_bytes()]);
        let mut known = self.known();
        known.refresh(&self.run);
        let place = *known.records.get(&id)?;
        let line = known.line(place);
        drop(known);
        match Line::decode(&line?) {
            Some(Line::Record(record)) => Some(record).filter(|record| record.name() == Some(name)),
            _ => None,
        }
    }

    /// Says that this run works on `output`; `false` where another one does.
    ///
    /// # Errors
    /// A [`WriteError`] where the manifest cannot be appended to.
    pub fn claim(&self, output: &Path) -> Result<bool, WriteError> {
        let output = self.name(output);
        let mut known = self.known();
        known.refresh(&self.run);
        if known.claimed.contains(&short(&[output.as_bytes()])) {
            return Ok(false);
        }
        self.append(&mut known, &Line::Claim { output, run: self.run.clone() })?;
        Ok(true)
    }

    /// Says that these files of `output` are about to be written.
    ///
    /// # Errors
    /// A [`WriteError`] where the manifest cannot be appended to.
    pub fn intend(&self, output: &Path, files: &[FileHash]) -> Result<(), WriteError> {
        let relative =
            |f: &FileHash| FileHash { path: self.name(Path::new(&f.path)), blake3: f.blake3.clone() };
        let files = files.iter().map(relative).collect();
        self.append(&mut self.known(), &Line::Intent { output: self.name(output), files })
    }

    /// Adds the record of an output that was just written from `take`, where it has one, which was read after `when`;
    /// the paths of its files are made relative here.
    ///
    /// # Errors
    /// A [`WriteError`] where the manifest cannot be appended to.
    pub fn add(&self, mut record: Record, take: Option<(&Take, SystemTime)>) -> Result<(), WriteError> {
        for file in &mut record.files {
            file.path = self.name(Path::new(&file.path));
        }
        if !record.planned.is_empty() {
            record.planned = self.name(Path::new(&record.planned));
        }
        let Some(id) = record.name().map(|name| short(&[name.as_bytes()])) else { return Ok(()) };
        let now = take.and_then(|(take, when)| self.signature(&record, take, Some(when)));
        let mut known = self.known();
        known.seen.put(id, now);
        self.append(&mut known, &Line::Record(record))
    }

    fn append(&self, known: &mut Known, line: &Line) -> Result<(), WriteError> {
        known.append(line).map_err(|e| WriteError::of(&self.folder.join(MANIFEST), &e))?;
        known.refresh(&self.run);
        Ok(())
    }

    /// Lets one run at a time do what `closing` does.
    pub fn one_at_a_time<T>(&self, closing: impl FnOnce() -> T) -> T {
        let _locked = seen::locked(&self.folder);
        closing()
    }

    /// Ends the run: the last one in the folder leaves one line for each output that is still there, sorted.
    ///
    /// # Errors
    /// A [`WriteError`] where the manifest cannot be written.
    pub fn finish(&self) -> Result<(), WriteError> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let mut known = self.known();
        known.refresh(&self.run);
        if let Some(mut file) = seen::locked(&self.folder) {
            let Known { seen, records, .. } = &mut *known;
            // Nothing but time is lost where it cannot be written.
            let _ = seen.save(&mut file, |output| records.contains_key(&output));
        }
        let _ = lock.unlock();
        if lock.try_lock().is_err() {
            return Ok(());
        }
        known.refresh(&self.run);
        drop(known);
        self.sweep();
        let tidied = self.tidy();
        let _ = lock.unlock();
        tidied
    }

    /// The path of an output as lines have it.
    pub(super) fn name(&self, path: &Path) -> String {
        slashed(path.strip_prefix(&self.folder).unwrap_or(path))
    }
}

/// Whether a file is there for people to correct: it is never written over, and its output stays up to date.
pub(super) fn is_editable(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(super::beside::LABELS))
}

/// The files that a record was made from, for the take as it is called now.
fn sources(record: &Record, take: &Take) -> impl Iterator<Item = PathBuf> {
    let beside = record.sources.iter().skip(1).map(|s| take.path.with_file_name(&s.path));
    std::iter::once(take.path.clone()).chain(beside)
}

/// A path with `/` on every system.
pub(super) fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// The folders of the files that `files` names.
pub(super) fn folders_of(folder: &Path, files: &[FileHash]) -> HashSet<PathBuf> {
    files.iter().filter_map(|f| Some(folder.join(&f.path).parent()?.to_owned())).collect()
}

impl Manifest {
    /// Removes the unfinished files of runs that are no more: only to be called while there is no other.
    fn sweep(&self) {
        let mut known = self.known();
        write::sweep(&self.folder);
        let places: Vec<Place> = known.intents.values().copied().collect();
        for place in places {
            if let Some(Line::Intent { files, .. }) = known.line(place).as_deref().and_then(Line::decode) {
                folders_of(&self.folder, &files).iter().for_each(|f| write::sweep(f));
            }
        }
    }
}
