//! A pipeline as understood: the character is loaded, the outputs have names; only this can run.

use super::clips::is_bare_take;
use super::config::{PipelineConfig, StageAsWritten, Told};
use super::fault::{ConfigError, ConfigFault, Source};
use super::sections::Preview;
use super::takes::TakesError;
use crate::body::{CharacterBody, ToldMobility};
use crate::export;
use crate::import::{self, ImportError};
use crate::measure::{MetricContext, Threshold};
use crate::model::{Asset, Character};
use crate::report::Warnings;
use crate::stages::{StageError, WrittenStage};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The pipeline but for what asks for physics.
macro_rules! everyday {
    () => {
        r#"
[output]
report = false

[[stage]]
use = "repair"

[[stage]]
use = "contacts"

[[stage]]
use = "retarget"

[[stage]]
use = "ground"
enabled = false

[[stage]]
use = "foot_lock"

[[stage]]
use = "limits"
enabled = false

[[stage]]
use = "loop"
enabled = false
"#
    };
}

/// The pipeline of `posemill retarget`.
///
/// A take without faults comes out of `repair` bit for bit.
/// What is not enabled does nothing until somebody asks for it, `--set stage.ground.enabled=true`: joint limits too, since a
/// take that leaves the ranges of people does so by itself, and is left alone.
#[cfg(feature = "physics")]
pub const DEFAULT_PIPELINE: &str = concat!(everyday!(), "\n[[stage]]\nuse = \"settle\"\nenabled = false\n");
/// The pipeline of `posemill retarget`, without the stage that asks for physics.
#[cfg(not(feature = "physics"))]
pub const DEFAULT_PIPELINE: &str = everyday!();

/// A pipeline that can run.
#[derive(Debug)]
pub struct Pipeline {
    /// What people call it: the path of its file.
    pub name: String,
    /// The folder that relative paths in it start from.
    pub folder: PathBuf,
    /// How motion files are read.
    pub import: import::ImportOptions,
    /// The character that takes are carried onto.
    pub character: Option<Arc<Character>>,
    /// The character's file.
    pub character_file: Option<PathBuf>,
    /// The path of the character's file where it holds motion and no skin, as takes do.
    pub bare_take: Option<String>,
    /// Which clip of each take; all of them where none is named.
    pub clip: Option<String>,
    /// What had to be bent in the character's file.
    pub warnings: Warnings,
    /// The steps, in order.
    pub stages: Vec<Arc<dyn WrittenStage>>,
    /// How outputs are written.
    pub export: export::ExportOptions,
    /// The picture beside each output.
    pub preview: Preview,
    /// Whether to write `report.json` and the pages.
    pub report: bool,
    /// Whether results are measured that are measured in a moment: somebody waits for them, and reads one line on each.
    pub verdict: bool,
    /// Whether every take gets a page then, or only one that is over a limit.
    pub every_page: bool,
    /// What a result must not pass.
    pub fail_on: Vec<Threshold>,
    /// Whether to write contact labels beside each output.
    pub contacts: bool,
    /// A hash of everything but the takes that outputs depend on: the stages and their keys, the character, the
    /// files that stages read, this program's version.
    pub fingerprint: String,
    /// The character as it was measured, and what measures need of it, once somebody asked: all takes share both.
    pub(crate) body: OnceLock<Arc<CharacterBody>>,
    pub(crate) metric_context: OnceLock<Arc<MetricContext>>,
}

/// Why nothing can start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
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
    /// A [`PlanError`] for a character that cannot be loaded or that no stage uses, and with every file of the pipeline that
    /// is not there and every name in it that the character lacks.
    pub fn new(config: &PipelineConfig, folder: &Path, character: Option<&str>) -> Result<Self, PlanError> {
        let retarget = config.stages.iter().find(|s| s.stage.name() == "retarget");
        match (character, retarget) {
            (None, Some(stage)) => {
                let fault = ConfigFault::at(0, stage.span.clone(), "there is no character to retarget onto");
                let hint = "name one: `character = \"hero.glb\"` in [input]";
                return Err(config.error(vec![fault.hint(Some(hint))]).into());
            }
            (Some(path), None) => {
                let fault = ConfigFault::whole(format!("no stage carries the motion onto `{path}`"));
                let hint = "add a stage: [[stage]] use = \"retarget\"";
                return Err(config.error(vec![fault.hint(Some(hint))]).into());
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
            return Err(config.error(vec![ConfigFault::at(source, span, message).hint(Some(hint))]).into());
        }
        let own_limits: Vec<&ToldMobility> =
            config.limits.iter().filter(|l| Some(&l.character) == name.as_ref()).map(|l| &l.told).collect();

        let mut faults = Vec::new();
        let mut told = |texts: &[Told], path: &str| named(folder, path, texts, &mut faults);
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
        for path in config.files() {
            add(&told(&config.texts, path)?);
        }
        if let Some(clip) = &config.input.clip {
            add(b"clip");
            add(clip.as_bytes());
        }
        if !output.fail_on.is_empty() {
            // Outputs that were never measured are out of date once measures are asked for.
            add(b"measured");
        }
        if let Some(extension) = output.preview.extension() {
            add(extension.as_bytes());
        }
        for stage in &config.stages {
            add(stage.stage.name().as_bytes());
            add(stage.stage.canonical().to_string().as_bytes());
            for path in stage.stage.files() {
                add(&told(&stage.texts, &path.to_string_lossy())?);
            }
        }
        let (mut loaded, mut bare_take) = (None, None);
        let mut warnings = Warnings::new();
        if let Some(path) = character {
            let bytes = told(&config.texts, path)?;
            add(&bytes);
            let import::ImportOptions { words, memory, .. } = config.input.options(folder);
            let words = import::ImportOptions { words, memory, ..import::ImportOptions::default() };
            let asset = match import::load(folder.join(path), &words) {
                Ok(asset) => asset,
                Err(error) if faults.is_empty() => {
                    return Err(PlanError::Character { path: path.to_owned(), error });
                }
                Err(_) => return Err(config.error(faults).into()),
            };
            faults.extend(foreseen(config, &asset.character, folder));
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
        if !faults.is_empty() {
            return Err(config.error(faults).into());
        }
        let stages = config.stages.iter().map(|s| Arc::clone(&s.stage)).collect();
        Ok(Self {
            name: config.sources[0].name.clone(),
            folder: folder.to_owned(),
            import: config.input.options(folder),
            character: loaded,
            character_file: character.map(|path| folder.join(path)),
            bare_take,
            clip: config.input.clip.clone(),
            warnings,
            stages,
            export: config.output.options(),
            preview: config.output.preview,
            report: config.output.report,
            verdict: false,
            every_page: true,
            fail_on: config.output.fail_on.clone(),
            contacts: config.output.contacts,
            fingerprint: hash.finalize().to_hex().to_string(),
            body: OnceLock::new(),
            metric_context: OnceLock::new(),
        })
    }
}

/// The name of a character's file without the extension.
fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Pipeline {
    /// The names of its stages, in order.
    pub(crate) fn stage_names(&self) -> Vec<&'static str> {
        self.stages.iter().map(|stage| stage.name()).collect()
    }

    /// Whether the results of a take of so many frames are measured: where somebody reads the measures.
    pub fn measured(&self, frames: usize) -> bool {
        self.report || !self.fail_on.is_empty() || (self.verdict && frames <= BRIEF)
    }

    /// The pipeline's own character as it is measured.
    pub(super) fn body(&self) -> Option<Arc<CharacterBody>> {
        let own = self.character.as_ref()?;
        Some(once(&self.body, || CharacterBody::new(own)))
    }

    /// What measures need of `character`; of the pipeline's own it is read off once.
    pub(super) fn metric_context(&self, character: &Arc<Character>) -> Arc<MetricContext> {
        let own = self.character.as_ref().filter(|own| Arc::ptr_eq(own, character));
        match own.and_then(|_| self.body()) {
            Some(body) => once(&self.metric_context, || MetricContext::of(body)),
            None => Arc::new(MetricContext::new(character)),
        }
    }
}

/// What is known, or is made and known from now on. Two threads that come at once make it twice: one that waited could
/// wait for work that is its own.
fn once<T>(known: &OnceLock<Arc<T>>, make: impl FnOnce() -> T) -> Arc<T> {
    if let Some(known) = known.get() {
        return Arc::clone(known);
    }
    let made = Arc::new(make());
    Arc::clone(known.get_or_init(|| made))
}

/// Frames that are measured in some tenths of a second.
const BRIEF: usize = 10_000;

/// The files beside the one of an asset that were read with it.
pub(super) fn resources(asset: &Asset) -> impl Iterator<Item = &(String, Arc<[u8]>)> {
    let document = asset.character.document.as_ref();
    document.into_iter().flat_map(|d| &d.resources).chain(&asset.beside)
}

/// The content of a file that the pipeline names; a fault where it cannot be read and the name stands in one of `texts`.
pub(super) fn named(
    folder: &Path,
    path: &str,
    texts: &[Told],
    faults: &mut Vec<ConfigFault>,
) -> Result<Vec<u8>, PlanError> {
    read(folder, path).or_else(|error| match texts.iter().find(|t| t.0 == path) {
        Some((_, place)) => {
            faults.push(ConfigFault::told(Some(place.clone()), &error.to_string()));
            Ok(Vec::new())
        }
        None => Err(error),
    })
}

/// What shows on the character before there is a take, of the stages that it arrives at.
fn foreseen(config: &PipelineConfig, character: &Character, folder: &Path) -> Vec<ConfigFault> {
    let carried = config.stages.iter().skip_while(|s| s.stage.name() != "retarget");
    let of_stage = |stage: &StageAsWritten| {
        let fault = |(value, error): (String, StageError)| {
            let place = stage.texts.iter().find(|t| t.0 == value).map(|t| t.1.clone());
            let Some((file, span)) = &error.place else {
                return ConfigFault::told(place, &format!("{}: {error}", stage.label));
            };
            let name = file.display().to_string();
            let inside = std::fs::read_to_string(file).ok();
            let inside = inside.map(|text| Box::new((Source { name, text }, span.clone())));
            ConfigFault { inside, ..ConfigFault::told(place, &error.to_string()) }
        };
        stage.stage.foresee(character, folder).into_iter().map(fault).collect::<Vec<_>>()
    };
    carried.flat_map(of_stage).collect()
}

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, PlanError> {
    let fault = |reason: String| PlanError::File { path: path.to_owned(), reason };
    let file = folder.join(path);
    // A pipe or a device may never end.
    if std::fs::metadata(&file).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return Err(fault("it is a pipe or a device, not a file".into()));
    }
    std::fs::read(file).map_err(|e| fault(crate::report::io_reason(&e)))
}
