//! A resolved pipeline: the character is loaded, names are joints, outputs have formats. Only this can run.

use super::clip_choice::is_bare_take;
use super::config::PipelineConfig;
use super::config_error::{ConfigFault, ConfigSource};
use super::config_parts::{CharacterLimit, WrittenStageConfig};
use super::default_pipeline::{CONVERT_NAME, DEFAULT_NAME};
use super::file_hash::FileHash;
use super::fingerprint::Fingerprint;
use super::job_step::StepListener;
#[cfg(feature = "physics")]
use super::output_section::ForceFiles;
use super::output_section::Preview;
use super::plan_error::PlanError;
use super::planned_files::PlannedFiles;
use crate::body::{CharacterBody, MobilityOverride};
use crate::export;
use crate::import;
use crate::measure::{MetricContext, Threshold};
use crate::model::{Asset, Character};
use crate::regular_file::read_text;
use crate::report::{Warning, Warnings};
use crate::stages::{StageError, WrittenStage};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A pipeline that can run.
#[derive(Debug)]
pub struct Pipeline {
    /// The name in messages: the path of the pipeline file.
    pub name: String,
    /// The folder that its relative paths start from.
    pub folder: PathBuf,
    /// How motion files are read.
    pub import: import::ImportOptions,
    /// The character that takes are retargeted onto.
    pub character: Option<Arc<Character>>,
    /// The character's file.
    pub character_file: Option<PathBuf>,
    /// BLAKE3 of the character's file.
    pub(crate) character_hash: Option<String>,
    /// The path of the character's file if it holds motion and no skin, as takes do.
    pub bare_take: Option<String>,
    /// Which clip of each take; `None` for all of them.
    pub clip: Option<String>,
    /// What the import changed in the character's file.
    pub warnings: Warnings,
    /// The stages, in order.
    pub stages: Vec<Arc<dyn WrittenStage>>,
    /// The position of each in the file, from 1: disabled stages count.
    pub(crate) stage_numbers: Vec<usize>,
    /// How outputs are written.
    pub export: export::ExportOptions,
    /// The picture next to each output.
    pub preview: Preview,
    /// Whether to write `report.json` and the report pages.
    pub report: bool,
    /// Whether to measure results even without a report: the program prints one line on each.
    pub verdict: bool,
    /// Whether every take gets a page in a report, or only takes that exceed a limit.
    pub every_page: bool,
    /// Limits of measures that results must not exceed.
    pub fail_on: Vec<Threshold>,
    /// Whether to write contact labels next to each output.
    pub contacts: bool,
    /// Which files of forces are written next to each output.
    #[cfg(feature = "physics")]
    pub forces: ForceFiles,
    /// A hash of everything that outputs depend on apart from the takes: the stages and their keys, the character, the
    /// content of the files that the pipeline names, the version of this program.
    pub fingerprint: String,
    /// The measured character, made at the first request; all takes share it.
    pub(crate) body: OnceLock<Arc<CharacterBody>>,
    /// Receives each step of a job.
    pub(crate) steps: StepListener,
    /// What measures need of the character, likewise.
    pub(crate) metric_context: OnceLock<Arc<MetricContext>>,
}

impl Pipeline {
    /// The name of the pipeline file without its folder; empty for a command without a pipeline file.
    pub fn file_name(&self) -> String {
        let of_command = [DEFAULT_NAME, CONVERT_NAME].contains(&self.name.as_str());
        let file = Path::new(&self.name).file_name().filter(|_| !of_command);
        file.unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Resolves `config` for one of its characters; relative paths start from `folder`.
    ///
    /// # Errors
    /// A [`PlanError`] for a character that cannot be loaded or that no stage uses, and with every file of the pipeline that
    /// does not exist and every name in it that the character lacks.
    pub fn new(config: &PipelineConfig, folder: &Path, character: Option<&str>) -> Result<Self, PlanError> {
        let mut files = PlannedFiles::new(config, folder);
        files.faults.extend(check_character(config, character));
        files.faults.extend(check_limits(config, character));
        let mut fingerprint = Fingerprint::new(config);
        add_config(&mut fingerprint, config, &mut files);
        let loaded = character.and_then(|path| load_character(config, path, &mut files, &mut fingerprint));
        files.check()?;
        let character_file = character.map(|path| folder.join(path));
        let bare_take = loaded.as_ref().and_then(|l| l.bare_take.clone());
        let character_hash = loaded.as_ref().map(|l| l.hash.clone());
        let (character, mut warnings) =
            loaded.map_or_else(|| (None, Warnings::new()), |l| (Some(l.character), l.warnings));
        for (number, old, new) in &config.renamed {
            let message =
                format!("the stage `{old}` is now `{new}`\n  hint: write `use = \"{new}\"` without `mode`");
            warnings.push(Warning {
                code: "stage-renamed",
                message,
                first: format!("stage {number}"),
                count: 1,
                sure: false,
                fix: None,
            });
        }
        Ok(Self {
            name: config.sources[0].name.clone(),
            folder: folder.to_owned(),
            import: config.input.options(folder),
            character,
            character_file,
            character_hash,
            bare_take,
            clip: config.input.clip.clone(),
            warnings,
            stages: config.stages.iter().map(|s| Arc::clone(&s.stage)).collect(),
            stage_numbers: config.stages.iter().map(|s| s.number).collect(),
            export: config.output.options(),
            preview: config.output.preview,
            report: config.output.report,
            verdict: false,
            every_page: true,
            fail_on: config.output.fail_on.clone(),
            contacts: config.output.contacts,
            #[cfg(feature = "physics")]
            forces: config.output.forces,
            fingerprint: fingerprint.finish(),
            body: OnceLock::new(),
            metric_context: OnceLock::new(),
            steps: StepListener::default(),
        })
    }

    /// The names of its stages, in order.
    pub(crate) fn stage_names(&self) -> Vec<&'static str> {
        self.stages.iter().map(|stage| stage.name()).collect()
    }

    /// Whether results are measured, which they are if somebody reads the measures.
    pub fn measured(&self) -> bool {
        self.report || self.verdict || !self.fail_on.is_empty()
    }

    /// The pipeline's own character, measured.
    pub(super) fn body(&self) -> Option<Arc<CharacterBody>> {
        let own = self.character.as_ref()?;
        Some(get_or_make(&self.body, || CharacterBody::new(own)))
    }

    /// What measures need of `character`; for the pipeline's own character it is made once.
    pub(super) fn metric_context(&self, character: &Arc<Character>) -> Arc<MetricContext> {
        let own = self.character.as_ref().filter(|own| Arc::ptr_eq(own, character));
        match own.and_then(|_| self.body()) {
            Some(body) => get_or_make(&self.metric_context, || MetricContext::of(body)),
            None => Arc::new(MetricContext::new(character)),
        }
    }
}

/// The value, made at the first request. Two threads that come at the same time both make it: a thread that waited could
/// wait for work that rayon has put on its own stack.
fn get_or_make<T>(cell: &OnceLock<Arc<T>>, make: impl FnOnce() -> T) -> Arc<T> {
    if let Some(known) = cell.get() {
        return Arc::clone(known);
    }
    let made = Arc::new(make());
    Arc::clone(cell.get_or_init(|| made))
}

/// A fault unless there is a character if and only if a stage retargets onto it.
fn check_character(config: &PipelineConfig, character: Option<&str>) -> Option<ConfigFault> {
    let retarget = config.stages.iter().find(|s| s.stage.name() == "retarget");
    let (fault, hint) = match (character, retarget) {
        (None, Some(stage)) => (
            ConfigFault::at(0, stage.span.clone(), "there is no character to retarget onto"),
            "name one: `character = \"hero.glb\"` in [input]",
        ),
        (Some(path), None) => (
            ConfigFault::whole(format!("no stage retargets the motion onto `{path}`")),
            "add a stage: [[stage]] use = \"retarget\"",
        ),
        _ => return None,
    };
    Some(fault.hint(Some(hint)))
}

/// A fault for each character with limits that the pipeline does not have.
fn check_limits(config: &PipelineConfig, character: Option<&str>) -> Vec<ConfigFault> {
    let known: Vec<String> =
        config.input.character.iter().map(|c| stem(c)).chain(character.map(stem)).collect();
    let fault = |limit: &CharacterLimit| {
        let (source, span) = limit.place.clone();
        let message = format!("[input]: `limits` names no character of this pipeline: `{}`", limit.character);
        let hint = "write the name of the file without its extension";
        ConfigFault::at(source, span, message).hint(Some(hint))
    };
    // Several limits of one character make equal faults, which are shown once.
    config.limits.iter().filter(|l| !known.contains(&l.character)).map(fault).collect()
}

/// The limits of a character as text, for the fingerprint.
fn limits_text(config: &PipelineConfig, character: &str) -> String {
    let name = stem(character);
    let own = config.input.limits.iter().find(|(character, _)| *character.get_ref() == name);
    own.map_or("[]".to_owned(), |(_, limits)| serde_json::to_string(limits).expect("limits are plain data"))
}

/// The name of a character's file without the extension.
fn stem(path: &str) -> String {
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Adds the files of `[input]`, the other keys that outputs depend on, and the stages with their files.
fn add_config(fingerprint: &mut Fingerprint, config: &PipelineConfig, files: &mut PlannedFiles<'_>) {
    for path in config.files() {
        fingerprint.add(&files.read(&config.texts, path).unwrap_or_default());
    }
    if let Some(clip) = &config.input.clip {
        fingerprint.add(b"clip");
        fingerprint.add(clip.as_bytes());
    }
    if !config.output.fail_on.is_empty() {
        // Outputs that were never measured are out of date once measures are asked for.
        fingerprint.add(b"measured");
    }
    if let Some(extension) = config.output.preview.extension() {
        fingerprint.add(extension.as_bytes());
    }
    for stage in &config.stages {
        fingerprint.add(stage.stage.name().as_bytes());
        fingerprint.add(stage.stage.canonical().to_string().as_bytes());
        for path in stage.stage.files() {
            fingerprint.add(&files.read_text(&stage.texts, &path).unwrap_or_default());
        }
    }
}

/// A character that was loaded for a pipeline.
struct LoadedCharacter {
    character: Arc<Character>,
    bare_take: Option<String>,
    /// BLAKE3 of its file.
    hash: String,
    warnings: Warnings,
}

/// Loads the character, gives its joints the limits of the pipeline, and lets the stages check their names against it. `None`
/// and a fault if it cannot be loaded.
fn load_character(
    config: &PipelineConfig,
    path: &str,
    files: &mut PlannedFiles<'_>,
    fingerprint: &mut Fingerprint,
) -> Option<LoadedCharacter> {
    let bytes = files.read(&config.texts, path)?;
    fingerprint.add(&bytes);
    let hash = FileHash::of(String::new(), &bytes).blake3;
    drop(bytes);
    let import::ImportOptions { words, memory, mass, .. } = config.input.options(files.folder);
    let options = import::ImportOptions { words, memory, mass, ..import::ImportOptions::default() };
    let loaded = import::load(files.folder.join(path), &options);
    let fault = |error| PlanError::Character { path: path.to_owned(), error };
    let asset = loaded.map_err(|error| files.add(&[], path, fault(error))).ok()?;
    files.faults.extend(foreseen(config, &asset.character, files.folder));
    for (_, bytes) in resources(&asset) {
        fingerprint.add(bytes);
    }
    fingerprint.add(limits_text(config, path).as_bytes());
    let bare_take = is_bare_take(&asset).then(|| path.to_owned());
    let name = stem(path);
    let limits: Vec<&MobilityOverride> =
        config.limits.iter().filter(|l| l.character == name).map(|l| &l.mobility).collect();
    let rig = limits.iter().fold(asset.character.rig.clone(), |rig, limit| limit.on(rig));
    let character = match limits.is_empty() {
        true => asset.character,
        false => Arc::new(Character { rig, ..(*asset.character).clone() }),
    };
    // Its own clips are not played.
    let mut kept = Warnings::new();
    asset.warnings.iter().filter(|w| w.code != import::SCALE_ANIMATED).for_each(|w| kept.push(w.clone()));
    let mut warnings = Warnings::new();
    warnings.extend_from(kept, path);
    Some(LoadedCharacter { character, bare_take, hash, warnings })
}

/// The files that were read together with the file of an asset.
pub(super) fn resources(asset: &Asset) -> impl Iterator<Item = &(String, Arc<[u8]>)> {
    let document = asset.character.document.as_ref();
    document.into_iter().flat_map(|d| &d.resources).chain(&asset.companions)
}

/// The faults that the stages from `retarget` on find on the character before there is a take.
fn foreseen(config: &PipelineConfig, character: &Character, folder: &Path) -> Vec<ConfigFault> {
    let on_character = config.stages.iter().skip_while(|s| s.stage.name() != "retarget");
    let of_stage = |stage: &WrittenStageConfig| {
        let fault = |(value, error): (String, StageError)| {
            let place = stage.texts.iter().find(|t| t.0 == value).map(|t| t.1.clone());
            let Some((file, span)) = &error.place else {
                return ConfigFault::from_error(place, &format!("{}: {error}", stage.label));
            };
            let name = file.display().to_string();
            let inside = read_text(file).ok();
            let inside = inside.map(|text| Box::new((ConfigSource { name, text }, span.clone())));
            ConfigFault { inside, ..ConfigFault::from_error(place, &error.to_string()) }
        };
        stage.stage.foresee(character, folder).into_iter().map(fault).collect::<Vec<_>>()
    };
    on_character.flat_map(of_stage).collect()
}
