//! What a job made becomes files on the disk, or is compared with the files that are there.
//!
//! In a folder with a record the order is: say what will be written, write what lies beside the outputs, write the outputs,
//! say what was written. Whoever sees an output finds the files it refers to, and whoever comes after an interruption
//! finds which files are this program's.

use super::claims::Claims;
use super::jobs::Job;
use super::line::{FileHash, Record};
use super::manifest::{Manifest, is_editable};
use super::run::{Made, MadeFile, RunError};
use super::write;
use crate::report::Warnings;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where the files of a job go, and what may be replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// That of the folder; `None` for an output that the user named.
    pub manifest: Option<&'a Manifest>,
    /// The files of all jobs.
    pub claims: &'a Claims,
    /// Replace what is there, whoever wrote it.
    pub force: bool,
}

impl Place<'_> {
    /// Writes everything; `when` is the moment before the takes were read.
    ///
    /// # Errors
    /// A [`RunError`]. Before the first file is written all are looked at.
    pub fn write(
        &self,
        job: &Job,
        fingerprint: &str,
        mut made: Made,
        when: SystemTime,
    ) -> Result<Value, RunError> {
        for (path, bytes) in made.outputs.iter().flatten() {
            if !self.claims.take(job, path, bytes) {
                return Err(RunError::Claimed(path.clone()));
            }
        }
        // Only the record asks for them.
        let hashes = self.manifest.map(|_| hashes(&made)).unwrap_or_default();
        if let Some(manifest) = self.manifest.filter(|_| !self.force) {
            for file in hashes.iter().flat_map(|files| files.iter().skip(1)) {
                let path = PathBuf::from(&file.path);
                if let Some(of) = manifest.other_owner(&path, &file.blake3, self.claims) {
                    return Err(RunError::Shared { path, of });
                }
            }
        }
        let kept = self.corrected(&mut made);
        let files = || made.outputs.iter().flatten().filter(|f| !kept.contains(f));
        if let Some((path, _)) = files().find(|(path, bytes)| !self.may_replace(job, path, bytes)) {
            return Err(RunError::Foreign(path.clone()));
        }
        if let Some(manifest) = self.manifest {
            for ((_, output), files) in job.outputs.iter().zip(&hashes) {
                manifest.intend(output, files)?;
            }
        }
        for files in &made.outputs {
            for (path, bytes) in files.iter().rev().filter(|f| !kept.contains(f)) {
                write::whole(path, bytes)?;
            }
        }
        let report = made.report;
        for ((_, planned), files) in job.outputs.iter().zip(hashes) {
            let Some(manifest) = self.manifest else { break };
            // Clips that a format holds one at a time went to files of their own.
            let apart = files.first().is_some_and(|f| Path::new(&f.path) != planned);
            let planned = if apart { planned.to_string_lossy().into_owned() } else { String::new() };
            let (pipeline, sources) = (fingerprint.to_owned(), made.sources.clone());
            let record = Record { files, planned, pipeline, sources, report: report.clone() };
            manifest.add(record, job.takes.first().map(|take| (take, when)))?;
        }
        Ok(report)
    }

    /// The tables of labels that somebody corrected, which stay; a warning tells it.
    fn corrected(&self, made: &mut Made) -> Vec<MadeFile> {
        let Some(manifest) = self.manifest.filter(|_| !self.force) else { return Vec::new() };
        let corrected = |(path, bytes): &&MadeFile| {
            is_editable(path) && path.exists() && !manifest.may_replace(path) && !holds(path, bytes)
        };
        let kept: Vec<MadeFile> = made.outputs.iter().flatten().filter(corrected).cloned().collect();
        let mut told = Warnings::new();
        for (path, _) in &kept {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let said =
                "a table of contact labels was corrected by hand and stays as it is; `--force` replaces it";
            told.add("labels-kept", said, name);
        }
        if let Some(warnings) = made.report.get_mut("warnings").and_then(Value::as_array_mut) {
            warnings.extend(told.iter().map(|warning| json!(warning)));
        }
        kept
    }

    fn may_replace(&self, job: &Job, path: &Path, bytes: &[u8]) -> bool {
        let ours = || match self.manifest {
            Some(manifest) => manifest.may_replace(path),
            // The user named the output: it, and what is named after it, is replaced.
            None => {
                let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let stem = job.outputs[0].1.with_extension("");
                !path.exists() || name(path).starts_with(&name(&stem))
            }
        };
        self.force || ours() || holds(path, bytes)
    }

    /// Compares everything with what is there.
    ///
    /// # Errors
    /// [`RunError::Absent`] and [`RunError::Differs`] for the first file that is not as it would be written.
    pub fn verify(&self, made: &Made) -> Result<Value, RunError> {
        for (path, bytes) in made.outputs.iter().flatten() {
            match path.exists() {
                false => return Err(RunError::Absent(path.clone())),
                true if holds(path, bytes) || is_editable(path) => {}
                true => return Err(RunError::Differs(path.clone())),
            }
        }
        Ok(made.report.clone())
    }
}

fn hashes(made: &Made) -> Vec<Vec<FileHash>> {
    let hash = |(path, bytes): &MadeFile| FileHash {
        path: path.to_string_lossy().into_owned(),
        blake3: blake3::hash(bytes).to_hex().to_string(),
    };
    made.outputs.iter().map(|files| files.iter().map(hash).collect()).collect()
}

/// Whether the file is there with exactly this content.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let same = || -> std::io::Result<bool> {
        let mut file = File::open(path)?;
        if file.metadata()?.len() != bytes.len() as u64 {
            return Ok(false);
        }
        let mut there = Vec::with_capacity(bytes.len());
        file.read_to_end(&mut there)?;
        Ok(there == bytes)
    };
    same().unwrap_or(false)
}
