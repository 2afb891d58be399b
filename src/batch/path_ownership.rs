//! Path ownership: two jobs of a run never write the same file, unless both write the same bytes.

use super::file_times::key;
use super::jobs::Jobs;
use crate::pipeline::Job;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files of a run and the jobs that own them.
#[derive(Debug, Default)]
pub struct PathOwnership {
    /// The current folder.
    here: PathBuf,
    /// Hashes of the paths of all planned outputs. Two paths with the same 64 bits would be reported as a collision; with a
    /// million paths that happens in one of forty million runs.
    planned: HashSet<u64>,
    /// Hashes of content and job of the other files, by the hash of their paths.
    others: Mutex<HashMap<u64, (u64, u64)>>,
}

impl PathOwnership {
    /// The ownership of the outputs of these jobs.
    pub fn of<'j>(batches: impl Iterator<Item = &'j Jobs>) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let mut owners = Self { here, ..Self::default() };
        for jobs in batches {
            owners.planned.reserve(jobs.len());
            for number in 0..jobs.len() {
                for (_, path) in jobs.outputs(number) {
                    let path = owners.path(&path);
                    owners.planned.insert(path);
                }
            }
        }
        owners
    }

    fn path(&self, path: &Path) -> u64 {
        key(&[self.here.join(path).as_os_str().as_encoded_bytes()]) as u64
    }

    /// Whether this file is an output of one of the jobs.
    pub(super) fn plans(&self, path: &Path) -> bool {
        self.planned.contains(&self.path(path))
    }

    /// A job is identified by its first output, which no other job has.
    fn owner(&self, job: &Job) -> u64 {
        job.outputs.first().map_or(0, |o| self.path(&o.1))
    }

    /// Claims the file at `path` with this content for the job; `false` if another job owns it.
    pub fn claim(&self, job: &Job, path: &Path, bytes: &[u8]) -> bool {
        let (owner, path) = (self.owner(job), self.path(path));
        if self.planned.contains(&path) {
            return job.outputs.iter().any(|output| self.path(&output.1) == path);
        }
        let content = key(&[bytes]) as u64;
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, by) = *others.entry(path).or_insert((content, owner));
        by == owner || first == content
    }
}
