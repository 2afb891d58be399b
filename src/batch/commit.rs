//! Commits the outputs of a job: writes them to the disk, or compares them with the files.
//!
//! In a folder with a manifest the order is: record what will be written, write the files next to the outputs, write the
//! outputs, record what was written. So whoever sees an output finds the files that it refers to, and after an
//! interruption the manifest records which files this program wrote.

use super::journal_line::OutputRecord;
use super::manifest::{Manifest, is_editable};
use super::output_origin::OutputOrigin;
use super::path_ownership::PathOwnership;
use crate::pipeline::{FileHash, Job, JobOutputs, PendingFile, Pipeline, RunError, write_whole};
use crate::regular_file::open_regular;
use crate::report::Warnings;
use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Where the files of a job go, and what may be replaced.
#[derive(Clone, Copy, Debug)]
pub(super) struct Commit<'a> {
    /// The manifest of the folder; `None` for an output that the user named.
    pub manifest: Option<&'a Manifest>,
    /// The owners of all files of the run.
    pub owners: &'a PathOwnership,
    /// Replace files that this program did not write.
    pub force: bool,
}

impl Commit<'_> {
    /// Writes everything; `when` is the moment before the takes were read.
    ///
    /// # Errors
    /// A [`RunError`]. All checks come before the first file is written.
    pub fn write(
        &self,
        job: &Job,
        pipeline: &Pipeline,
        mut outputs: JobOutputs,
        when: SystemTime,
    ) -> Result<Value, RunError> {
        // Only the manifest needs hashes.
        let hashes = self.manifest.map(|_| hashes(&outputs)).unwrap_or_default();
        self.check_owners(job, pipeline, &outputs, &hashes)?;
        let kept = self.keep_corrected(&mut outputs);
        let blocked = |file: &&PendingFile| !kept.contains(file) && !self.may_replace(job, &file.0, &file.1);
        if let Some((path, _)) = outputs.files().find(blocked) {
            return Err(RunError::Foreign(path.clone()));
        }
        if let Some(manifest) = self.manifest {
            for ((_, output), files) in job.outputs.iter().zip(&hashes) {
                manifest.intend(output, files)?;
            }
        }
        for files in &outputs.outputs {
            for (path, bytes) in files.iter().rev().filter(|f| !kept.contains(f)) {
                write_whole(path, bytes)?;
            }
        }
        let report = outputs.report;
        let take = self.manifest.zip(job.takes.first());
        let origin = take.map(|(manifest, take)| OutputOrigin::new(&manifest.folder, take, pipeline));
        for ((_, planned), files) in job.outputs.iter().zip(hashes) {
            let Some(manifest) = self.manifest else { break };
            // A format that holds one clip per file has its clips in files of their own.
            let apart = files.first().is_some_and(|f| Path::new(&f.path) != planned);
            let planned = if apart { planned.to_string_lossy().into_owned() } else { String::new() };
            let (pipeline_file, report) = (pipeline.file_name(), report.clone());
            let (pipeline, sources) = (pipeline.fingerprint.clone(), outputs.sources.clone());
            let take = job.takes.first();
            let origin = origin.clone();
            let record = OutputRecord { files, planned, pipeline, pipeline_file, sources, origin, report };
            manifest.add(record, take.map(|take| (take, when)))?;
        }
        Ok(report)
    }

    /// Refuses files that belong to another job of this run, or to an output of an earlier one.
    fn check_owners(
        &self,
        job: &Job,
        pipeline: &Pipeline,
        outputs: &JobOutputs,
        hashes: &[Vec<FileHash>],
    ) -> Result<(), RunError> {
        for (path, bytes) in outputs.files() {
            if !self.owners.claim(job, path, bytes) {
                return Err(RunError::Claimed(path.clone()));
            }
        }
        if let Some(manifest) = self.manifest.filter(|_| !self.force) {
            for file in hashes.iter().flat_map(|files| files.iter().skip(1)) {
                let path = PathBuf::from(&file.path);
                if let Some(of) = manifest.other_owner(&path, &file.blake3, self.owners) {
                    return Err(RunError::Shared { path, of });
                }
            }
            for ((_, output), files) in job.outputs.iter().zip(hashes) {
                for file in files.iter().skip(1).filter(|file| !is_editable(Path::new(&file.path))) {
                    let path = PathBuf::from(&file.path);
                    let beside = (output.as_path(), path.as_path());
                    let other = manifest.other_beside(beside, Some(&file.blake3), pipeline, self.owners);
                    if let Some(pipeline) = other {
                        return Err(RunError::OtherPipeline { path, pipeline });
                    }
                }
            }
        }
        Ok(())
    }

    /// The contact tables that were corrected by hand, which stay; adds a warning for each.
    fn keep_corrected(&self, outputs: &mut JobOutputs) -> Vec<PendingFile> {
        let Some(manifest) = self.manifest.filter(|_| !self.force) else { return Vec::new() };
        let corrected = |(path, bytes): &&PendingFile| {
            is_editable(path) && path.exists() && !manifest.may_replace(path) && !has_content(path, bytes)
        };
        let kept: Vec<PendingFile> = outputs.files().filter(corrected).cloned().collect();
        let mut warnings = Warnings::new();
        for (path, _) in &kept {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let message =
                "a table of contact labels was corrected by hand and stays as it is; `--force` replaces it";
            warnings.add("labels-kept", message, name);
        }
        if let Some(known) = outputs.report.get_mut("warnings").and_then(Value::as_array_mut) {
            known.extend(warnings.iter().map(|warning| json!(warning)));
        }
        kept
    }

    fn may_replace(&self, job: &Job, path: &Path, bytes: &[u8]) -> bool {
        let own = || match self.manifest {
            Some(manifest) => manifest.may_replace(path),
            // The user named the output: it is replaced, and so are the files that are named after it.
            None => {
                let name = |p: &Path| p.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let stem = job.outputs[0].1.with_extension("");
                !path.exists() || name(path).starts_with(&name(&stem))
            }
        };
        self.force || own() || has_content(path, bytes)
    }

    /// Compares everything with the files.
    ///
    /// # Errors
    /// [`RunError::Absent`] and [`RunError::Differs`] for the first file that is not as it would be written.
    pub fn verify(&self, outputs: &JobOutputs) -> Result<Value, RunError> {
        for (path, bytes) in outputs.files() {
            match path.exists() {
                false => return Err(RunError::Absent(path.clone())),
                true if has_content(path, bytes) || is_editable(path) => {}
                true => return Err(RunError::Differs(path.clone())),
            }
        }
        Ok(outputs.report.clone())
    }
}

fn hashes(outputs: &JobOutputs) -> Vec<Vec<FileHash>> {
    let hash = |(path, bytes): &PendingFile| FileHash::of(path.to_string_lossy().into_owned(), bytes);
    outputs.outputs.iter().map(|files| files.iter().map(hash).collect()).collect()
}

/// Whether the file exists with exactly this content.
fn has_content(path: &Path, bytes: &[u8]) -> bool {
    let same = || -> std::io::Result<bool> {
        let (mut file, size) = open_regular(path)?;
        if size != bytes.len() as u64 {
            return Ok(false);
        }
        let mut there = Vec::with_capacity(bytes.len());
        file.read_to_end(&mut there)?;
        Ok(there == bytes)
    };
    same().unwrap_or(false)
}
