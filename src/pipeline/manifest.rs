//! What an output folder holds and from what it was made: which outputs are up to date, which files are ours.
//!
//! One line of JSON for each output is appended when it is written, so that an interrupted run loses nothing; a
//! later line replaces an earlier one, and a finished run leaves the lines sorted.

use super::write::{self, WriteError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of the manifest in its folder.
pub const MANIFEST: &str = ".posemill.jsonl";

/// A file and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// The path; of outputs relative to the folder of the manifest.
    pub path: String,
    /// BLAKE3 of the content, hexadecimal.
    pub blake3: String,
}

impl Record {
    /// What the record is found by: the output that was planned, or its main file.
    fn name(&self) -> Option<&str> {
        let main = self.files.first()?.path.as_str();
        Some(if self.planned.is_empty() { main } else { &self.planned })
    }
}

/// One output and all it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The files of the output, the main one first.
    pub files: Vec<FileHash>,
    /// The output that was planned, where its clips went to files of their own instead, relative to the folder; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub planned: String,
    /// The fingerprint of the pipeline.
    pub pipeline: String,
    /// The files read.
    pub sources: Vec<FileHash>,
    /// What the run had to say.
    pub report: Value,
}

/// What a manifest knows about an output.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Everything is as it was when the output was made: what the run had to say, and the files it wrote.
    UpToDate(Value, Vec<PathBuf>),
    /// To be made; what is there may be replaced.
    Stale,
    /// Something is there that this program did not write.
    Foreign,
}

/// The records of one output folder.
#[derive(Debug)]
pub struct Manifest {
    folder: PathBuf,
    records: BTreeMap<String, Record>,
    torn: bool,
}

impl Manifest {
    /// The manifest of a folder; empty where there is none. Lines that cannot be read count as lost: their
    /// outputs are then not ours.
    pub fn open(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join(MANIFEST)).unwrap_or_default();
        let mut records = BTreeMap::new();
        for line in text.lines() {
            if let Ok(record) = serde_json::from_str::<Record>(line)
                && let Some(name) = record.name()
            {
                records.insert(name.to_owned(), record);
            }
        }
        let torn = !text.is_empty() && !text.ends_with('\n');
        Self { folder: folder.to_owned(), records, torn }
    }

    /// Whether `output` is up to date for this pipeline and these takes.
    pub fn state(&self, output: &Path, pipeline: &str, takes: &[PathBuf]) -> State {
        let Some(record) = self.records.get(&self.name(output)) else {
            return if output.exists() { State::Foreign } else { State::Stale };
        };
        let ours = |file: &FileHash| match hash_of(&self.folder.join(&file.path)) {
            Some(there) => there.blake3 == file.blake3,
            None => true,
        };
        if !record.files.iter().all(ours) {
            return State::Foreign;
        }
        let there = record.files.iter().all(|f| self.folder.join(&f.path).exists());
        let unchanged = |file: &FileHash| hash_of(Path::new(&file.path)).as_ref() == Some(file);
        let listed = |take: &PathBuf| record.sources.iter().any(|s| Path::new(&s.path) == take);
        let same = record.pipeline == pipeline && takes.iter().all(listed);
        match there && same && record.sources.iter().all(unchanged) {
            true => {
                let files = record.files.iter().map(|f| self.folder.join(&f.path)).collect();
                State::UpToDate(record.report.clone(), files)
            }
            false => State::Stale,
        }
    }

    /// Whether `path` is absent, or there as this program wrote it.
    pub fn may_replace(&self, path: &Path) -> bool {
        let Some(there) = hash_of(path) else { return true };
        let name = self.name(path);
        let ours = |f: &FileHash| f.path == name && f.blake3 == there.blake3;
        match self.records.get(&name) {
            Some(record) => record.files.iter().any(ours),
            None => self.records.values().flat_map(|r| &r.files).any(ours),
        }
    }

    /// Adds the record of an output that was just written; the paths of `files` are made relative here.
    ///
    /// # Errors
    /// A [`WriteError`] where the manifest cannot be appended to.
    pub fn add(&mut self, mut record: Record) -> Result<(), WriteError> {
        for file in &mut record.files {
            file.path = self.name(Path::new(&file.path));
        }
        if !record.planned.is_empty() {
            record.planned = self.name(Path::new(&record.planned));
        }
        let Some(name) = record.name().map(str::to_owned) else { return Ok(()) };
        let mut line = serde_json::to_string(&record).expect("a record is plain data");
        line.push('\n');
        self.records.insert(name, record);
        if self.torn {
            self.torn = false;
            return self.finish();
        }
        let path = self.folder.join(MANIFEST);
        let append = || -> std::io::Result<()> {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&path)?;
            file.write_all(line.as_bytes())
        };
        append().map_err(|e| WriteError { path: path.clone(), reason: write::reason(&e) })
    }

    /// Leaves one line for each output that is still there, sorted.
    ///
    /// # Errors
    /// A [`WriteError`] where the manifest cannot be written.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let folder = &self.folder;
        self.records.retain(|_, record| record.files.first().is_some_and(|f| folder.join(&f.path).exists()));
        if self.records.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        for record in self.records.values() {
            text += &serde_json::to_string(record).expect("a record is plain data");
            text.push('\n');
        }
        write::whole(&self.folder.join(MANIFEST), text.as_bytes())
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// The hash of a file's content, where it can be read.
pub fn hash_of(path: &Path) -> Option<FileHash> {
    let bytes = std::fs::read(path).ok()?;
    let blake3 = blake3::hash(&bytes).to_hex().to_string();
    Some(FileHash { path: path.to_string_lossy().into_owned(), blake3 })
}
