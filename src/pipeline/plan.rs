//! A pipeline as understood: the character is loaded, the outputs have names; only this can run.

use super::clips::is_bare_take;
use super::config::PipelineConfig;
use super::fault::{ConfigError, ConfigFault};
use super::sections::{OutputFormat, Preview};
use super::seen::key;
use super::takes::{Take, TakesError};
use crate::anatomy::ToldMobility;
use crate::export;
use crate::import::{self, ImportError};
use crate::measure::Threshold;
use crate::model::{Asset, Character};
use crate::report::Warnings;
use crate::stages::WrittenStage;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The pipeline of `posemill retarget`.
///
/// A take without faults comes out of `repair` bit for bit.
/// Joint limits are no part of it: a take that leaves the ranges of people does so by itself, and is left alone.
pub const DEFAULT_PIPELINE: &str = r#"
[output]
report = false

[[stage]]
use = "repair"

[[stage]]
use = "contacts"

[[stage]]
use = "retarget"

[[stage]]
use = "foot_lock"
"#;

/// A pipeline that can run.
#[derive(Debug)]
pub struct Pipeline {
    /// What people call it: the path of its file.
    pub name: String,
    /// The folder that relative paths in it start from.
    pub folder: PathBuf,
    /// How motion files are read.
    pub import: import::Options,
    /// The character that takes are carried onto.
    pub character: Option<Arc<Character>>,
    /// The path of the character's file where it holds motion and no skin, as takes do.
    pub bare_take: Option<String>,
    /// Which clip of each take; all of them where none is named.
    pub clip: Option<String>,
    /// What had to be bent in the character's file.
    pub warnings: Warnings,
    /// The steps, in order.
    pub stages: Vec<Box<dyn WrittenStage>>,
    /// How outputs are written.
    pub export: export::Options,
    /// The picture beside each output.
    pub preview: Preview,
    /// Whether to write `report.json` and the pages.
    pub report: bool,
    /// Whether results are measured that are measured in a moment: somebody waits for them, and reads one line on each.
    pub verdict: bool,
    /// What a result must not pass.
    pub fail_on: Vec<Threshold>,
    /// Whether to write contact labels beside each output.
    pub contacts: bool,
    /// A hash of everything but the takes that outputs depend on: the stages and their keys, the character, the
    /// files that stages read, this program's version.
    pub fingerprint: String,
}

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
    pub collision: Option<Box<Collision>>,
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

/// Why nothing can start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The pipeline file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The takes.
    #[error(transparent)]
    Takes(#[from] TakesError),
    /// The character cannot be loaded.
    #[error("character `{path}`: {error}")]
    Character {
        /// The path as written.
        path: String,
        /// Why.
        error: ImportError,
    },
    /// A file that the pipeline names cannot be read.
    #[error("the file `{path}` cannot be read: {reason}")]
    File {
        /// The path as written.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// An output would replace what the run reads.
    #[error("`{output}` is an input of this run\nname another output")]
    OverInput {
        /// The file.
        output: String,
    },
    /// An output file name whose extension is no format.
    #[error(
        "`{output}` has no extension of a format that can be written\nend it with {allowed}, or with `/` for a folder"
    )]
    Extension {
        /// The file.
        output: String,
        /// The extensions that are known.
        allowed: String,
    },
}

impl Pipeline {
    /// The pipeline of `config`, whose relative paths start from `folder`, onto one of its characters.
    ///
    /// # Errors
    /// A [`PlanError`] for a character that cannot be loaded or that no stage uses.
    pub fn new(
        config: &mut PipelineConfig,
        folder: &Path,
        character: Option<&str>,
    ) -> Result<Self, PlanError> {
        let retarget = config.stages.iter().find(|s| s.stage.name() == "retarget");
        match (character, retarget) {
            (None, Some(stage)) => {
                let fault = ConfigFault::at(0, stage.span.clone(), "there is no character to retarget onto");
                let hint = "name one: `character = \"hero.glb\"` in [input]";
                return Err(config.fault(fault.hint(Some(hint))).into());
            }
            (Some(path), None) => {
                let fault = ConfigFault::whole(format!("no stage carries the motion onto `{path}`"));
                let hint = "add a stage: [[stage]] use = \"retarget\"";
                return Err(config.fault(fault.hint(Some(hint))).into());
            }
            _ => {}
        }

        let name = character.map(stem);
        let known: Vec<String> = config.input.character.iter().map(|c| stem(c)).chain(name.clone()).collect();
        let unknown = config.limits.iter().find(|l| !known.contains(&l.character));
        if let Some(limit) = unknown {
            let (source, span) = limit.place.clone();
            let message =
                format!("[input]: `limits` names no character of this pipeline: `{}`", limit.character);
            let hint = "name it as its file is named, without the extension";
            return Err(config.fault(ConfigFault::at(source, span, message).hint(Some(hint))).into());
        }
        let own_limits: Vec<&ToldMobility> =
            config.limits.iter().filter(|l| Some(&l.character) == name.as_ref()).map(|l| &l.told).collect();

        let mut hash = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(env!("CARGO_PKG_VERSION").as_bytes());
        let output = &config.output;
        let kept = (config.input.options(folder), output.options(), output.report, output.contacts);
        let kept = format!("{kept:?}");
        add(kept.as_bytes());
        if let import::Calibrate::File(path) = config.input.options(folder).calibration {
            add(&read(folder, &path.to_string_lossy())?);
        }
        for path in [&config.input.body_model, &config.input.skeleton].into_iter().flatten() {
            add(&read(folder, path)?);
        }
        if let Some(clip) = &config.input.clip {
            add(b"clip");
            add(clip.as_bytes());
        }
        if !output.fail_on.is_empty() {
            // Outputs that were never measured are out of date once measures are asked for.
            add(b"measured");
        }
        if let Some((_, extension)) = output.preview.format() {
            add(extension.as_bytes());
        }
        for stage in &config.stages {
            add(stage.stage.name().as_bytes());
            add(stage.stage.canonical().to_string().as_bytes());
            for path in stage.stage.files() {
                add(&read(folder, &path.to_string_lossy())?);
            }
        }
        let (mut loaded, mut bare_take) = (None, None);
        let mut warnings = Warnings::new();
        if let Some(path) = character {
            add(&read(folder, path)?);
            let told = config.input.options(folder);
            let words =
                import::Options { words: told.words, memory: told.memory, ..import::Options::default() };
            let asset = import::load(&folder.join(path), &words)
                .map_err(|error| PlanError::Character { path: path.to_owned(), error })?;
            for (_, bytes) in resources(&asset) {
                add(bytes);
            }
            add(format!("{own_limits:?}").as_bytes());
            bare_take = is_bare_take(&asset).then(|| path.to_owned());
            let rig = own_limits.iter().fold(asset.character.rig.clone(), |rig, told| told.on(rig));
            loaded = Some(match own_limits.is_empty() {
                true => asset.character,
                false => Arc::new(Character { rig, ..(*asset.character).clone() }),
            });
            warnings.extend_from(asset.warnings, path);
        }
        let stages = config.stages.drain(..).map(|s| s.stage).collect();
        Ok(Self {
            name: config.sources[0].name.clone(),
            folder: folder.to_owned(),
            import: config.input.options(folder),
            character: loaded,
            bare_take,
            clip: config.input.clip.clone(),
            warnings,
            stages,
            export: config.output.options(),
            preview: config.output.preview,
            report: config.output.report,
            verdict: false,
            fail_on: config.output.fail_on.clone(),
            contacts: config.output.contacts,
            fingerprint: hash.finalize().to_hex().to_string(),
        })
    }
}

/// The name of a character's file without the extension.
fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Pipeline {
    /// Whether the results of a take of so many frames are measured: where somebody reads the measures.
    pub fn measured(&self, frames: usize) -> bool {
        self.report || !self.fail_on.is_empty() || (self.verdict && frames <= BRIEF)
    }
}

/// Frames that are measured in some tenths of a second.
const BRIEF: usize = 10_000;

/// The files beside the one of an asset that were read with it.
pub(super) fn resources(asset: &Asset) -> impl Iterator<Item = &(String, Arc<[u8]>)> {
    let document = asset.character.document.as_ref();
    document.into_iter().flat_map(|d| &d.resources).chain(&asset.beside)
}

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, PlanError> {
    let fault = |reason: String| PlanError::File { path: path.to_owned(), reason };
    let file = folder.join(path);
    // A pipe or a device may never end.
    if std::fs::metadata(&file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(fault("it is a pipe or a device, not a file".into()));
    }
    std::fs::read(file).map_err(|e| fault(super::write::reason(&e)))
}

/// The jobs of these takes: one for each, or one for all where they are merged into one file. Takes that would go to one
/// file are told so by their jobs.
///
/// `inputs` are further files that no output may replace.
///
/// # Errors
/// A [`PlanError`] for outputs that are inputs, and for an output whose format is not known.
pub fn jobs(
    takes: &[Take],
    formats: &[OutputFormat],
    placement: &Placement,
    inputs: &[PathBuf],
) -> Result<Vec<Job>, PlanError> {
    let mut jobs: Vec<Job> = match placement {
        Placement::File(path) => {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            let format = OutputFormat::of_extension(&extension).ok_or_else(|| PlanError::Extension {
                output: path.display().to_string(),
                allowed: export::FORMATS
                    .iter()
                    .map(|f| format!("`.{}`", f.name))
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
            vec![Job { takes: takes.to_vec(), outputs: vec![(format, path.clone())], collision: None }]
        }
        Placement::Folder(folder) => {
            let output = |take: &Take, f: &OutputFormat| {
                (*f, folder.join(take.relative.with_extension(f.extension())))
            };
            let job = |take: &Take| Job {
                takes: vec![take.clone()],
                outputs: formats.iter().map(|f| output(take, f)).collect(),
                collision: None,
            };
            takes.iter().map(job).collect()
        }
    };
    over_no_input(&jobs, inputs)?;
    tell_collisions(&mut jobs);
    Ok(jobs)
}

/// Refuses outputs that are read: takes, and `inputs`.
fn over_no_input(jobs: &[Job], inputs: &[PathBuf]) -> Result<(), PlanError> {
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
    let outputs = || jobs.iter().flat_map(|j| &j.outputs).map(|o| o.1.as_path());
    let parent = |path: PathBuf| path.parent().map(Path::to_owned);
    let written: HashSet<Option<PathBuf>> = outputs().map(|o| parent(real(o))).collect();
    let takes = jobs.iter().flat_map(|j| &j.takes).map(|t| t.path.as_path());
    let read = takes.chain(inputs.iter().map(PathBuf::as_path)).map(&mut real);
    // Files in folders that nothing is written to need not be remembered.
    let read: HashSet<PathBuf> = read.filter(|path| written.contains(&parent(path.clone()))).collect();
    match outputs().find(|o| !read.is_empty() && o.exists() && read.contains(&real(o))) {
        Some(output) => Err(PlanError::OverInput { output: output.display().to_string() }),
        None => Ok(()),
    }
}

/// Tells every job whose outputs another one has too.
fn tell_collisions(jobs: &mut [Job]) {
    let mut first: HashMap<u128, usize> = HashMap::new();
    let mut found: Vec<(usize, usize, PathBuf)> = Vec::new();
    for (k, job) in jobs.iter().enumerate() {
        for (_, output) in &job.outputs {
            match first.entry(key(&[output.as_os_str().as_encoded_bytes()])) {
                Entry::Vacant(free) => drop(free.insert(k)),
                Entry::Occupied(other) if *other.get() != k => found.push((*other.get(), k, output.clone())),
                Entry::Occupied(_) => {}
            }
        }
    }
    for (a, b, output) in found {
        for (one, other) in [(a, b), (b, a)] {
            let other = jobs[other].takes[0].path.clone();
            let told = || Box::new(Collision { other, output: output.clone() });
            jobs[one].collision.get_or_insert_with(told);
        }
    }
}
