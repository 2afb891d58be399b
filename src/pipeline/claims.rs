//! Who writes which file of a run: two takes never write the same one, unless both write the same bytes.

use super::plan::Job;
use super::seen::key;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files of a run and whose they are.
#[derive(Debug, Default)]
pub struct Claims {
    here: PathBuf,
    /// The job of every output that is planned.
    planned: HashMap<u128, u128>,
    /// The content and the job of what lies beside them, as it is made.
    beside: Mutex<HashMap<u128, (u128, u128)>>,
}

impl Claims {
    /// The outputs of these jobs.
    pub fn of<'j>(jobs: impl Iterator<Item = &'j Job>) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let mut claims = Self { here, ..Self::default() };
        for job in jobs {
            let owner = claims.owner(job);
            for (_, path) in &job.outputs {
                let path = claims.path(path);
                claims.planned.insert(path, owner);
            }
        }
        claims
    }

    fn path(&self, path: &Path) -> u128 {
        key(&[self.here.join(path).as_os_str().as_encoded_bytes()])
    }

    /// A job is known by its first output, which no other job has.
    fn owner(&self, job: &Job) -> u128 {
        job.outputs.first().map_or(0, |o| self.path(&o.1))
    }

    /// Gives the file at `path` with this content to the job; `false` where another one has it.
    pub fn take(&self, job: &Job, path: &Path, blake3: &str) -> bool {
        let (owner, path) = (self.owner(job), self.path(path));
        if let Some(planned) = self.planned.get(&path) {
            return *planned == owner;
        }
        let content = key(&[blake3.as_bytes()]);
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, by) = *beside.entry(path).or_insert((content, owner));
        by == owner || first == content
    }
}
