//! Takes, formats and a place become jobs, each made when it is asked for: a batch holds the names of its takes and little
//! more.

use super::plan::PlanError;
use super::sections::OutputFormat;
use super::seen::key;
use super::take_list::TakeList;
use super::takes::Take;
use crate::export;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Where outputs go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Into this file, which the user named and which is replaced.
    File(PathBuf),
    /// Into this folder, each named after its take.
    Folder(PathBuf),
}

impl Placement {
    /// The folder, where outputs go to one that keeps a record of them.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Placement::File(_) => None,
            Placement::Folder(folder) => Some(folder),
        }
    }
}

/// What one run does: some takes, usually one, into some formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The takes; several where they become the animations of one file.
    pub takes: Vec<Take>,
    /// The formats and the files they go to.
    pub outputs: Vec<(OutputFormat, PathBuf)>,
    /// The other take that one of the outputs would also be that of: then neither is written.
    pub collision: Option<Collision>,
}

/// Two takes would go to one file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{other}` would go to `{output}` too, and neither does\n\
     give their common folder as a glob (`takes/**/*.bvh`), which keeps sub-folders, or rename one",
    other = other.display(), output = output.display()
)]
pub struct Collision {
    /// The other take.
    pub other: PathBuf,
    /// The file.
    pub output: PathBuf,
}

/// The jobs of one pipeline.
#[derive(Clone, Debug)]
pub struct Jobs {
    takes: TakeList,
    formats: Vec<OutputFormat>,
    placement: Placement,
    /// By the number of the job.
    collisions: BTreeMap<usize, Collision>,
}

impl Jobs {
    /// The jobs of these takes: one for each, or one for all where they are merged into one file. Takes that would go to
    /// one file are told so by their jobs.
    ///
    /// `inputs` are further files that no output may replace.
    ///
    /// # Errors
    /// A [`PlanError`] for outputs that are inputs, and for an output whose format is not known.
    pub fn new(
        takes: TakeList,
        formats: &[OutputFormat],
        placement: &Placement,
        inputs: &[PathBuf],
    ) -> Result<Self, PlanError> {
        let formats = match placement {
            Placement::Folder(_) => formats.to_vec(),
            Placement::File(path) => vec![output_format(path)?],
        };
        let mut jobs = Self { takes, formats, placement: placement.clone(), collisions: BTreeMap::new() };
        jobs.over_no_input(inputs)?;
        jobs.collisions = jobs.collide();
        Ok(jobs)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self.placement {
            Placement::File(_) => 1,
            Placement::Folder(_) => self.takes.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The job of this number, from 0.
    pub fn get(&self, number: usize) -> Job {
        let collision = self.collisions.get(&number).cloned();
        let takes = match self.placement {
            Placement::File(_) => self.takes.iter().collect(),
            Placement::Folder(_) => vec![self.takes.get(number)],
        };
        Job { takes, outputs: self.outputs(number).collect(), collision }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Job> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// The formats and files of the job of this number.
    pub fn outputs(&self, number: usize) -> impl Iterator<Item = (OutputFormat, PathBuf)> {
        let path = match &self.placement {
            Placement::File(path) => path.clone(),
            Placement::Folder(folder) => folder.join(self.takes.get(number).relative),
        };
        self.formats.iter().map(move |format| match &self.placement {
            Placement::File(_) => (*format, path.clone()),
            Placement::Folder(_) => (*format, path.with_extension(format.extension())),
        })
    }

    /// Every output of every job.
    fn all_outputs(&self) -> impl Iterator<Item = PathBuf> {
        (0..self.len()).flat_map(|number| self.outputs(number)).map(|output| output.1)
    }

    /// Refuses outputs that are read: takes, and `inputs`.
    fn over_no_input(&self, inputs: &[PathBuf]) -> Result<(), PlanError> {
        let mut folders: HashMap<PathBuf, PathBuf> = HashMap::new();
        // The real path; that of a folder is looked up once. A link is what it leads to.
        let mut real = |path: &Path| -> PathBuf {
            if path.is_symlink() {
                return path.canonicalize().unwrap_or_else(|_| path.to_owned());
            }
            let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
            let folder = folders.entry(folder.to_owned()).or_insert_with_key(|folder| {
                let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                shown.canonicalize().unwrap_or_else(|_| folder.clone())
            });
            folder.join(name)
        };
        let parent = |path: PathBuf| path.parent().map(Path::to_owned);
        let written: HashSet<Option<PathBuf>> = self.all_outputs().map(|o| parent(real(&o))).collect();
        let takes = self.takes.iter().map(|t| t.path);
        let read = takes.chain(inputs.iter().cloned()).map(|path| real(&path));
        // Files in folders that nothing is written to need not be remembered.
        let read = read.filter(|path| written.contains(&parent(path.clone())));
        let name = |path: &Path| key(&[path.as_os_str().as_encoded_bytes()]);
        let read: HashSet<u128> = read.map(|path| name(&path)).collect();
        match self.all_outputs().find(|o| !read.is_empty() && o.exists() && read.contains(&name(&real(o)))) {
            Some(output) => Err(PlanError::OverInput { output: output.display().to_string() }),
            None => Ok(()),
        }
    }

    /// What is to be told to every job whose outputs another one has too.
    fn collide(&self) -> BTreeMap<usize, Collision> {
        // As few bytes as [`super::claims::Claims`] has.
        let mut first: HashMap<u64, u32> = HashMap::with_capacity(self.len());
        let mut told = BTreeMap::new();
        for number in 0..self.len() {
            for (_, output) in self.outputs(number) {
                let other = match first.entry(key(&[output.as_os_str().as_encoded_bytes()]) as u64) {
                    Entry::Vacant(free) => *free.insert(number as u32) as usize,
                    Entry::Occupied(other) => *other.get() as usize,
                };
                for (one, other) in [(other, number), (number, other)].into_iter().filter(|(a, b)| a != b) {
                    let other = self.takes.get(other).path;
                    told.entry(one).or_insert_with(|| Collision { other, output: output.clone() });
                }
            }
        }
        told
    }
}

/// The format of an output that the user named.
///
/// # Errors
/// [`PlanError::Extension`].
pub(super) fn output_format(path: &Path) -> Result<OutputFormat, PlanError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let allowed = || export::FORMATS.iter().map(|f| format!("`.{}`", f.name)).collect::<Vec<_>>().join(", ");
    OutputFormat::of_extension(&extension)
        .ok_or_else(|| PlanError::Extension { output: path.display().to_string(), allowed: allowed() })
}
