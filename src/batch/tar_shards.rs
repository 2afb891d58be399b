//! Writes the files of rows of the table as tar shards of a data set, as WebDataset reads them.
//!
//! The names of a sample begin with its key, which is the output without extension and without further dots: `run/a.v2.glb` is
//! `run/a_v2.glb`, and its row of the table is `run/a_v2.glb.json`; where several folders have outputs of one name, it begins with
//! the folder. All headers are alike, so that shards depend on the rows and
//! the files alone. WebDataset: A. Aizman, G. Maltby, T. Breuel, High performance I/O for large scale deep learning, 2019.

use super::result_table::{ResultRow, without_extension};
use crate::import::MAX_FILE_BYTES;
use crate::pipeline::{AtomicFile, FileHash, WriteError};
use crate::regular_file::read_regular;
use crate::regular_file::tar_archive;
use crate::report::{Shown, io_reason, json_line};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Permissions of members: readable by all, writable by the owner.
const MODE: u32 = 0o644;

/// Why shards are not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardsError {
    /// The folder has shards already, which another list may have made.
    #[error("`{folder}` already holds `{1}`\n  hint: name a folder without shards", folder = .0.shown())]
    NotEmpty(PathBuf, String),
    /// A file of a row cannot be read.
    #[error("`{file}` cannot be read: {1}", file = .0.shown())]
    Read(PathBuf, String),
    /// A file that was changed after the run.
    #[error("`{}` is not as the run wrote it\n  hint: run its pipeline again with `--force`, which replaces it", .0.shown())]
    Changed(PathBuf),
    /// Two outputs have one key.
    #[error(
        "`{0}` and `{1}` would be the same sample, `{2}`\n  hint: leave one out with `--where`, or rename a take"
    )]
    SameKey(String, String, String),
    /// A shard cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The number of samples and of shards written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShardCounts {
    /// Samples.
    pub samples: usize,
    /// Shards.
    pub shards: usize,
}

/// Writes `folder/00000.tar` and so on, each with at most `size` samples, in the order of the rows.
///
/// # Errors
/// A [`ShardsError`]: the shards before it are whole.
///
/// # Panics
/// If `size` is 0.
pub fn write_shards(
    rows: impl Iterator<Item = ResultRow>,
    folder: &Path,
    size: usize,
) -> Result<ShardCounts, ShardsError> {
    assert!(size > 0, "a shard has at least one sample");
    refuse_shards(folder)?;
    let mut counts = ShardCounts::default();
    // The first output of each key.
    let mut keys: HashMap<String, String> = HashMap::new();
    let mut open: Option<OpenShard> = None;
    for row in rows {
        let stem = without_extension(&row.output);
        let key = row.sample_folder.clone() + &sample_key(stem);
        let output = row.sample_folder.clone() + &row.output;
        let first = keys.entry(key.clone()).or_insert_with(|| output.clone());
        if without_extension(first) != without_extension(&output) {
            return Err(ShardsError::SameKey(first.clone(), output, key));
        }
        // Formats of one take follow each other and are one sample.
        let new = *first == output;
        let full = open.as_ref().is_none_or(|shard| new && shard.samples >= size);
        let mut shard = match open.take() {
            Some(shard) if !full => shard,
            before => {
                before.map_or(Ok(()), OpenShard::finish)?;
                counts.shards += 1;
                OpenShard::new(folder, counts.shards - 1)?
            }
        };
        shard.samples += usize::from(new);
        counts.samples += usize::from(new);
        shard.add_row(&row, stem.len(), &key)?;
        open = Some(shard);
    }
    open.map_or(Ok(()), OpenShard::finish)?;
    Ok(counts)
}

/// The key of the sample of an output, given without its extension: a key has no dots behind its folders.
fn sample_key(stem: &str) -> String {
    let name = stem.rfind('/').map_or(0, |at| at + 1);
    stem[..name].to_owned() + &stem[name..].replace('.', "_")
}

fn refuse_shards(folder: &Path) -> Result<(), ShardsError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.file_name().into()).collect();
    names.sort();
    match names.iter().find(|name| tar_archive::has_extension(name)) {
        Some(name) => Err(ShardsError::NotEmpty(folder.to_owned(), name.shown().to_string())),
        None => Ok(()),
    }
}

/// A shard that is being written.
struct OpenShard {
    path: PathBuf,
    tar: tar::Builder<AtomicFile>,
    samples: usize,
}

impl OpenShard {
    fn new(folder: &Path, number: usize) -> Result<Self, ShardsError> {
        let path = folder.join(format!("{number:05}.tar"));
        Ok(Self { tar: tar::Builder::new(AtomicFile::new(&path)?), path, samples: 0 })
    }

    /// Adds the files of a row, whose names have the key in place of their first `stem` bytes, and the row.
    fn add_row(&mut self, row: &ResultRow, stem: usize, key: &str) -> Result<(), ShardsError> {
        // Pages are for people.
        for FileHash { path, blake3 } in row.files.iter().filter(|file| !file.path.ends_with(".html")) {
            let file = Path::new(&row.folder).join(path);
            let bytes = read_regular(&file, MAX_FILE_BYTES)
                .map_err(|e| ShardsError::Read(file.clone(), io_reason(&e)))?;
            if blake3::hash(&bytes).to_hex().as_str() != blake3 {
                return Err(ShardsError::Changed(file));
            }
            let same = path.get(..stem).is_some_and(|front| front == &row.output[..stem]);
            // Further files of an output have its name with another extension.
            let name = if same { key.to_owned() + &path[stem..] } else { row.sample_folder.clone() + path };
            self.add(&name, &bytes)?;
        }
        let mut document = serde_json::to_value(row).expect("rows have text keys");
        // Where a run was made is no part of a data set.
        document.as_object_mut().expect("a row is an object").shift_remove("folder");
        self.add(&format!("{key}{}.json", &row.output[stem..]), json_line(&document).as_bytes())
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), ShardsError> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(MODE);
        header.set_mtime(0);
        let written = self.tar.append_data(&mut header, name, bytes);
        written.map_err(|e| ShardsError::Write(WriteError::of(&self.path, &e)))
    }

    fn finish(self) -> Result<(), ShardsError> {
        let file = self.tar.into_inner().map_err(|e| WriteError::of(&self.path, &e))?;
        Ok(file.finish()?)
    }
}
