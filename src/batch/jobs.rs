//! The jobs of a batch. Each is made on request, so that a batch stores little more than the names of its takes.

use super::file_times::key;
use super::take_list::TakeList;
use crate::import::FormatKnownBy;
use crate::pipeline::{Collision, Job, OutputFormat, PlanError, output_format};
use crate::regular_file::named_folder;
use crate::regular_file::tar_archive::unarchived;
use crate::report::Shown;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Where outputs go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To this file, which the user named and which is replaced.
    File(PathBuf),
    /// To this folder, each named after its take.
    Folder(PathBuf),
}

impl Destination {
    /// The folder, which has a manifest; `None` for a file.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Destination::File(_) => None,
            Destination::Folder(folder) => Some(folder),
        }
    }
}

/// The jobs of one pipeline.
#[derive(Clone, Debug)]
pub struct Jobs {
    takes: TakeList,
    formats: Vec<OutputFormat>,
    destination: Destination,
    /// By job number.
    collisions: BTreeMap<usize, Collision>,
}

impl Jobs {
    /// The jobs of these takes: one for each, or one for all if they are merged into one file. Takes that would go to the
    /// same file have jobs with a collision.
    ///
    /// `inputs` are further files that no output may replace.
    ///
    /// # Errors
    /// A [`PlanError`] for outputs that are inputs, and for an output of unknown format.
    pub fn new(
        takes: TakeList,
        formats: &[OutputFormat],
        destination: &Destination,
        inputs: &[PathBuf],
    ) -> Result<Self, PlanError> {
        let formats = match destination {
            Destination::Folder(_) => formats.to_vec(),
            Destination::File(path) => vec![output_format(path)?],
        };
        let mut jobs = Self { takes, formats, destination: destination.clone(), collisions: BTreeMap::new() };
        jobs.check_inputs(inputs)?;
        jobs.collisions = jobs.collisions();
        Ok(jobs)
    }

    /// Where outputs go.
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self.destination {
            Destination::File(_) => 1,
            Destination::Folder(_) => self.takes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The job with this number, from 0.
    pub fn get(&self, number: usize) -> Job {
        let collision = self.collisions.get(&number).cloned();
        let takes = match self.destination {
            Destination::File(_) => self.takes.iter().collect(),
            Destination::Folder(_) => vec![self.takes.get(number)],
        };
        Job { takes, outputs: self.outputs(number).collect(), collision }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Job> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// The formats and files of the job with this number.
    pub fn outputs(&self, number: usize) -> impl Iterator<Item = (OutputFormat, PathBuf)> {
        let path = match &self.destination {
            Destination::File(path) => path.clone(),
            Destination::Folder(folder) => folder.join(unarchived(&self.takes.get(number).relative)),
        };
        self.formats.iter().map(move |format| match &self.destination {
            Destination::File(_) => (*format, path.clone()),
            Destination::Folder(_) => (*format, path.with_extension(format.extension())),
        })
    }

    /// Every output of every job.
    fn all_outputs(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.len()).flat_map(|number| self.outputs(number)).map(|output| output.1)
    }

    /// Refuses outputs that are inputs: takes, and `inputs`.
    fn check_inputs(&self, inputs: &[PathBuf]) -> Result<(), PlanError> {
        let mut folders: HashMap<PathBuf, PathBuf> = HashMap::new();
        // The real path; that of each folder is looked up once. A link counts as its target.
        let mut real = |path: &Path| -> PathBuf {
            if path.is_symlink() {
                return path.canonicalize().unwrap_or_else(|_| path.to_owned());
            }
            let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
            let folder = folders.entry(folder.to_owned()).or_insert_with_key(|folder| {
                named_folder(folder).canonicalize().unwrap_or_else(|_| folder.clone())
            });
            folder.join(name)
        };
        let parent = |path: PathBuf| path.parent().map(Path::to_owned);
        let written: HashSet<Option<PathBuf>> = self.all_outputs().map(|o| parent(real(&o))).collect();
        let takes = self.takes.iter().map(|t| t.path);
        let read = takes.chain(inputs.iter().cloned()).map(|path| real(&path));
        // Inputs in folders without outputs need not be stored.
        let read = read.filter(|path| written.contains(&parent(path.clone())));
        let name = |path: &Path| key(&[path.as_os_str().as_encoded_bytes()]);
        let read: HashSet<u128> = read.map(|path| name(&path)).collect();
        match self.all_outputs().find(|o| !read.is_empty() && o.exists() && read.contains(&name(&real(o)))) {
            Some(output) => Err(PlanError::OverInput { output: output.shown() }),
            None => Ok(()),
        }
    }

    /// How the format of the take of a job is known.
    fn known_by(&self, number: usize) -> FormatKnownBy {
        FormatKnownBy::of(&self.takes.get(number).path)
    }

    /// The collisions of jobs that share an output. It belongs to the take whose content is of a known format, if the other
    /// has nothing but the extension; a take of no known format has no output and an error of its own.
    fn collisions(&self) -> BTreeMap<usize, Collision> {
        // 64 bits per path, as in [`super::path_ownership::PathOwnership`].
        let mut first: HashMap<u64, u32> = HashMap::with_capacity(self.len());
        let mut collisions = BTreeMap::new();
        for number in 0..self.len() {
            for (_, output) in self.outputs(number) {
                let mut owner = match first.entry(key(&[output.as_os_str().as_encoded_bytes()]) as u64) {
                    Entry::Vacant(free) => {
                        free.insert(number as u32);
                        continue;
                    }
                    Entry::Occupied(owner) => owner,
                };
                let other = *owner.get() as usize;
                if other == number {
                    continue;
                }
                let (own, others) = (self.known_by(number), self.known_by(other));
                if own > others {
                    owner.insert(number as u32);
                }
                for (one, known, other, others) in
                    [(number, own, other, others), (other, others, number, own)]
                {
                    if known > others || known == FormatKnownBy::Nothing {
                        continue;
                    }
                    collisions.entry(one).or_insert_with(|| Collision {
                        other: self.takes.get(other).path,
                        output: output.clone(),
                        other_is_written: known < others,
                    });
                }
            }
        }
        collisions
    }
}
