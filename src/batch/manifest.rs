//! The manifest of an output folder: which outputs are up to date, and which files this program wrote.
//!
//! It is a journal. A run appends what it works on, what it is about to write, and what it wrote from which inputs. So even
//! if a run is killed, the manifest records which files are this program's. Several runs can share a folder; each reads the
//! lines of the others. The last run to end compacts the journal to one sorted line for each output.

use super::file_times::{self, CACHE, FileTimes, short, signature};
use super::journal_index::{JournalIndex, LineOffset, name_and_content};
use super::journal_line::{JournalLine, OutputRecord, other_file};
use super::path_ownership::PathOwnership;
use crate::export::FORMATS;
use crate::pipeline::{CONTACT_TABLE, FileHash, Pipeline, TakeFile, WriteError, hash_of, slashed, sweep};
use crate::regular_file::open_own;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Name of the manifest in its folder.
pub const MANIFEST: &str = ".posemill.jsonl";
/// Name of the lock file: each run in the folder holds a shared lock while it works, and an exclusive one to compact.
const LOCK: &str = ".posemill.lock";

/// The state of an output.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputState {
    /// Inputs and files are as they were when the output was made; with the recorded report and the files.
    UpToDate(Value, Vec<PathBuf>),
    /// To be made; files that exist may be replaced.
    Stale,
    /// A file exists that this program did not write, or that was changed since.
    Foreign(PathBuf),
}

/// Who works on the outputs of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimState {
    /// This run.
    Own,
    /// Another run.
    OtherRun,
    /// Another run, which makes this output with the pipeline file of this name.
    OtherPipeline(PathBuf, String),
}

/// The manifest of one output folder.
#[derive(Debug)]
pub struct Manifest {
    pub(super) folder: PathBuf,
    /// Locked while the run works; `None` for reading only.
    lock: Option<File>,
    run: String,
    index: Mutex<JournalIndex>,
}

impl Manifest {
    /// Joins the runs that work in `folder`, and makes the folder if necessary. Removes unfinished files of runs that have
    /// ended.
    ///
    /// # Errors
    /// A [`WriteError`] if the folder cannot be written.
    pub fn open(folder: &Path) -> Result<Self, WriteError> {
        let path = folder.join(MANIFEST);
        let open = |name: &str| -> Result<File, WriteError> {
            let mut how = OpenOptions::new();
            how.create(true).read(true).append(true);
            let path = folder.join(name);
            open_own(&path, &how).map_err(|e| WriteError::of(&path, &e))
        };
        std::fs::create_dir_all(folder).map_err(|e| WriteError::of(&path, &e))?;
        // The manifest is opened again below: nobody replaces it while a shared lock is held.
        let (_, lock, _) = (open(MANIFEST)?, open(LOCK)?, open(CACHE)?);
        let alone = lock.try_lock().is_ok();
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let run = format!("{}-{}", std::process::id(), since.as_nanos());
        if alone {
            Self::look(folder).sweep();
            let _ = lock.unlock();
        }
        // On a file system without locks users have to run one batch at a time.
        let _ = lock.lock_shared();
        let file = open(MANIFEST)?;
        let mut index = JournalIndex::new(Some(file), FileTimes::open(folder));
        index.refresh(&run);
        if alone {
            // The runs that claimed outputs have ended.
            index.claimed.clear();
        }
        Ok(Self { folder: folder.to_owned(), lock: Some(lock), run, index: Mutex::new(index) })
    }

    /// The manifest of `folder`, for reading only.
    pub fn look(folder: &Path) -> Self {
        let file = open_own(&folder.join(MANIFEST), OpenOptions::new().read(true)).ok();
        let mut index = JournalIndex::new(file, FileTimes::open(folder));
        index.refresh("");
        Self { folder: folder.to_owned(), lock: None, run: String::new(), index: Mutex::new(index) }
    }

    /// The index. A panic in another thread leaves it consistent, since lines are added one by one.
    pub(super) fn index(&self) -> MutexGuard<'_, JournalIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The index with the lines that other runs have added.
    pub(super) fn refreshed(&self) -> MutexGuard<'_, JournalIndex> {
        let mut index = self.index();
        index.refresh(&self.run);
        index
    }

    /// Whether `output` is up to date for this pipeline and this take.
    pub fn state(&self, output: &Path, pipeline: &str, take: &TakeFile) -> OutputState {
        let name = self.name(output);
        let Some(record) = self.record(&name) else {
            return match self.may_replace(output) {
                true => OutputState::Stale,
                false => OutputState::Foreign(output.to_owned()),
            };
        };
        let now = self.signature(&record, take, Some(SystemTime::now()));
        let files = || record.files.iter().map(|f| self.folder.join(&f.path));
        let id = short(&[name.as_bytes()]);
        let same = record.pipeline == pipeline;
        if same && now.is_some_and(|now| self.index().times.is(id, now)) {
            let files = files().collect();
            return OutputState::UpToDate(record.report, files);
        }
        let mut complete = true;
        for (file, path) in record.files.iter().zip(files()) {
            match hash_of(&path) {
                Some(found) if found.blake3 == file.blake3 => {}
                // Contact tables are meant to be corrected.
                Some(_) if is_editable(&path) => {}
                Some(_) if !self.may_replace(&path) => return OutputState::Foreign(path),
                _ => complete = false,
            }
        }
        let unchanged = |(source, path): (&FileHash, PathBuf)| {
            hash_of(&path).is_some_and(|found| found.blake3 == source.blake3)
        };
        let named = record.sources.first().is_some_and(|s| s.path == slashed(&take.relative));
        if !(complete && same && named && record.sources.iter().zip(sources(&record, take)).all(unchanged)) {
            return OutputState::Stale;
        }
        self.index().times.put(id, now);
        let files = files().collect();
        OutputState::UpToDate(record.report, files)
    }

    /// A hash of sizes and times of all files of a record; `None` as in [`signature`].
    fn signature(&self, record: &OutputRecord, take: &TakeFile, when: Option<SystemTime>) -> Option<u64> {
        let files: Vec<PathBuf> = record.files.iter().map(|f| self.folder.join(&f.path)).collect();
        let read: Vec<PathBuf> = sources(record, take).collect();
        let made = record.files.iter().chain(&record.sources).map(|f| f.blake3.as_str());
        let made = made.chain([record.pipeline.as_str()]).collect::<Vec<_>>().concat();
        signature(&made, read.iter().map(PathBuf::as_path), files.iter().map(PathBuf::as_path), when)
    }

    /// Whether `path` does not exist, or has the content that this program wrote.
    pub fn may_replace(&self, path: &Path) -> bool {
        match std::fs::symlink_metadata(path) {
            // A name that is too long for the file system: writing reports the error of the system.
            Err(e) => {
                let none = [ErrorKind::NotFound, ErrorKind::NotADirectory, ErrorKind::InvalidFilename];
                return none.contains(&e.kind());
            }
            // A folder cannot be replaced by a file: writing reports the error of the system.
            Ok(found) if found.is_dir() => return true,
            Ok(_) => {}
        }
        let Some(found) = hash_of(path) else { return false };
        let key = name_and_content(&self.name(path), &found.blake3);
        let mut index = self.index();
        index.written.contains(&key) || {
            index.refresh(&self.run);
            index.written.contains(&key)
        }
    }

    /// Whether the record of this output has this content.
    pub(super) fn lists(&self, output: &Path, blake3: &str) -> bool {
        let record = self.record(&self.name(output));
        record.is_some_and(|r| r.files.first().is_some_and(|f| f.blake3 == blake3))
    }

    /// The file name of the pipeline that made `output`, if it still exists and was made by a pipeline file of another name.
    pub(super) fn other_pipeline(&self, output: &Path, pipeline: &Pipeline) -> Option<String> {
        let record = self.record(&self.name(output))?;
        let there = record.files.first().is_some_and(|file| self.folder.join(&file.path).exists());
        // A pipeline file that was renamed makes the same.
        let other = there && record.pipeline != pipeline.fingerprint;
        Some(record).filter(|_| other).and_then(|record| record.other_file(pipeline))
    }

    /// The file name of another pipeline that made an output of this name in another format, with `file` beside it; with other content
    /// than `blake3`, where that is known. Outputs that `run` makes do not count.
    pub(super) fn other_beside(
        &self,
        (output, file): (&Path, &Path),
        blake3: Option<&str>,
        pipeline: &Pipeline,
        run: &PathOwnership,
    ) -> Option<String> {
        let name = self.name(file);
        let others = FORMATS.iter().map(|format| output.with_extension(format.name));
        others.filter(|other| other != output && !run.plans(other)).find_map(|other| {
            let record = self.record(&self.name(&other))?;
            let differs = |f: &FileHash| f.path == name && blake3.is_none_or(|blake3| blake3 != f.blake3);
            let beside = record.files.iter().skip(1).any(differs) && other.exists();
            // The same stages are no reason: files of two formats cannot both be the first beside it.
            Some(record).filter(|_| beside).and_then(|record| record.other_file(pipeline))
        })
    }

    /// An existing output that `run` does not make, and whose record has other content for its file at `path`.
    pub(super) fn other_owner(&self, path: &Path, blake3: &str, run: &PathOwnership) -> Option<PathBuf> {
        let name = self.name(path);
        let owners = {
            let index = self.refreshed();
            index.shared.get(&short(&[name.as_bytes()])).cloned()?
        };
        let differs = |owner: &String| {
            let files = self.record(owner).map(|r| r.files).unwrap_or_default();
            files.iter().any(|f| f.path == name && f.blake3 != blake3)
        };
        let owner = |owner: &String| self.folder.join(owner);
        let found = owners.iter().find(|o| !run.plans(&owner(o)) && owner(o).exists() && differs(o));
        found.map(owner)
    }

    /// The record of an output.
    pub(super) fn record(&self, name: &str) -> Option<OutputRecord> {
        let id = short(&[name.as_bytes()]);
        let mut index = self.refreshed();
        let offset = *index.records.get(&id)?;
        let line = index.line(offset);
        drop(index);
        match JournalLine::decode(&line?) {
            Some(JournalLine::Record(record)) => Some(record).filter(|record| record.name() == Some(name)),
            _ => None,
        }
    }

    /// Records that this run works on these outputs, unless another run does. To be called by one run at a time.
    ///
    /// # Errors
    /// A [`WriteError`] if the manifest cannot be appended to.
    pub fn claim<'p>(
        &self,
        outputs: impl Iterator<Item = &'p Path> + Clone,
        pipeline: &Pipeline,
    ) -> Result<ClaimState, WriteError> {
        let mut index = self.refreshed();
        let mut elsewhere = false;
        for output in outputs.clone() {
            let id = short(&[self.name(output).as_bytes()]);
            let Some(offset) = index.claimed.get(&id).copied() else { continue };
            elsewhere = true;
            let line = index.line(offset);
            if let Some(JournalLine::Claim { pipeline: other, pipeline_file, .. }) =
                line.as_deref().and_then(JournalLine::decode)
                && other != pipeline.fingerprint
                && let Some(file) = other_file(pipeline_file, pipeline)
            {
                return Ok(ClaimState::OtherPipeline(output.to_owned(), file));
            }
        }
        if elsewhere {
            return Ok(ClaimState::OtherRun);
        }
        for output in outputs {
            let line = JournalLine::Claim {
                output: self.name(output),
                run: self.run.clone(),
                pipeline: pipeline.fingerprint.clone(),
                pipeline_file: pipeline.file_name(),
            };
            self.append(&mut index, &line)?;
        }
        Ok(ClaimState::Own)
    }

    /// Records that these files of `output` are about to be written.
    ///
    /// # Errors
    /// A [`WriteError`] if the manifest cannot be appended to.
    pub fn intend(&self, output: &Path, files: &[FileHash]) -> Result<(), WriteError> {
        let relative =
            |f: &FileHash| FileHash { path: self.name(Path::new(&f.path)), blake3: f.blake3.clone() };
        let files = files.iter().map(relative).collect();
        self.append(&mut self.index(), &JournalLine::Intent { output: self.name(output), files })
    }

    /// Adds the record of an output that was written, with the take, if it has one, and the moment before it was read. Makes
    /// the paths of its files relative.
    ///
    /// # Errors
    /// A [`WriteError`] if the manifest cannot be appended to.
    pub fn add(
        &self,
        mut record: OutputRecord,
        take: Option<(&TakeFile, SystemTime)>,
    ) -> Result<(), WriteError> {
        for file in &mut record.files {
            file.path = self.name(Path::new(&file.path));
        }
        if !record.planned.is_empty() {
            record.planned = self.name(Path::new(&record.planned));
        }
        let Some(id) = record.name().map(|name| short(&[name.as_bytes()])) else { return Ok(()) };
        let now = take.and_then(|(take, when)| self.signature(&record, take, Some(when)));
        let mut index = self.index();
        index.times.put(id, now);
        if let Some((_, when)) = take {
            index.times.took(id, when.elapsed().unwrap_or_default());
        }
        self.append(&mut index, &JournalLine::Record(record))
    }

    fn append(&self, index: &mut JournalIndex, line: &JournalLine) -> Result<(), WriteError> {
        index.append(line).map_err(|e| WriteError::of(&self.folder.join(MANIFEST), &e))?;
        index.refresh(&self.run);
        Ok(())
    }

    /// Calls `closing` in one run at a time.
    pub fn one_at_a_time<T>(&self, closing: impl FnOnce() -> T) -> T {
        let _locked = file_times::locked(&self.folder);
        closing()
    }

    /// Ends the run. The last run in the folder compacts the manifest to one line for each output that still exists, sorted.
    ///
    /// # Errors
    /// A [`WriteError`] if the manifest cannot be written.
    pub fn finish(&self) -> Result<(), WriteError> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let mut index = self.index();
        index.refresh(&self.run);
        if let Some(mut file) = file_times::locked(&self.folder) {
            let JournalIndex { times, records, .. } = &mut *index;
            // If the cache cannot be written, only time is lost.
            let _ = times.save(&mut file, |output| records.contains_key(&output));
        }
        let _ = lock.unlock();
        if lock.try_lock().is_err() {
            return Ok(());
        }
        index.refresh(&self.run);
        drop(index);
        self.sweep();
        let compacted = self.compact();
        let _ = lock.unlock();
        compacted
    }

    /// The path of an output as in the journal: relative, with `/`.
    pub(super) fn name(&self, path: &Path) -> String {
        slashed(path.strip_prefix(&self.folder).unwrap_or(path))
    }
}

/// Whether people may correct the file by hand: it is never overwritten, and its output stays up to date.
pub(super) fn is_editable(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(CONTACT_TABLE))
}

/// The files that a record was made from, for the take at its present path.
fn sources(record: &OutputRecord, take: &TakeFile) -> impl Iterator<Item = PathBuf> {
    let referred = record.sources.iter().skip(1).map(|s| take.path.with_file_name(&s.path));
    std::iter::once(take.path.clone()).chain(referred)
}

/// The folders of the files that `files` names.
pub(super) fn folders_of(folder: &Path, files: &[FileHash]) -> HashSet<PathBuf> {
    files.iter().filter_map(|f| Some(folder.join(&f.path).parent()?.to_owned())).collect()
}

impl Manifest {
    /// Removes the unfinished files of runs that have ended. Only to be called while there is no other run.
    fn sweep(&self) {
        let mut index = self.index();
        sweep(&self.folder);
        let offsets: Vec<LineOffset> = index.intents.values().copied().collect();
        for offset in offsets {
            if let Some(JournalLine::Intent { files, .. }) =
                index.line(offset).as_deref().and_then(JournalLine::decode)
            {
                folders_of(&self.folder, &files).iter().for_each(|f| sweep(f));
            }
        }
    }
}
