//! Who writes which file of a run: two takes never write the same one, unless both write the same bytes.

use super::jobs::{Job, Jobs};
use super::seen::key;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files of a run and whose they are.
#[derive(Debug, Default)]
pub struct Claims {
    here: PathBuf,
    /// Every output that is planned. Two paths that 64 bits do not tell apart would be told as a collision; of a million
    /// that happens once in forty million runs.
    planned: HashSet<u64>,
    /// The content and the job of what lies beside them, as it is made.
    beside: Mutex<HashMap<u64, (u64, u64)>>,
}

impl Claims {
    /// The outputs of these jobs.
    pub fn of<'j>(works: impl Iterator<Item = &'j Jobs>) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let mut claims = Self { here, ..Self::default() };
        for jobs in works {
            claims.planned.reserve(jobs.len());
            for number in 0..jobs.len() {
                for (_, path) in jobs.outputs(number) {
                    let path = claims.path(&path);
                    claims.planned.insert(path);
                }
            }
        }
        claims
    }

    fn path(&self, path: &Path) -> u64 {
        key(&[self.here.join(path).as_os_str().as_encoded_bytes()]) as u64
    }

    /// Whether this file is an output of one of the jobs.
    pub(super) fn plans(&self, path: &Path) -> bool {
        self.planned.contains(&self.path(path))
    }

    /// A job is known by its first output, which no other job has.
    fn owner(&self, job: &Job) -> u64 {
        job.outputs.first().map_or(0, |o| self.path(&o.1))
    }

    /// Gives the file at `path` with this content to the job; `false` where another one has it.
    pub fn take(&self, job: &Job, path: &Path, bytes: &[u8]) -> bool {
        let (owner, path) = (self.owner(job), self.path(path));
        if self.planned.contains(&path) {
            return job.outputs.iter().any(|output| self.path(&output.1) == path);
        }
        let content = key(&[bytes]) as u64;
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, by) = *beside.entry(path).or_insert((content, owner));
        by == owner || first == content
    }
}
