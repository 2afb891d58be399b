//! What one file holds, what is missing or doubtful in it, by the checks of `inspect`, `run`, `map` and `simulate`.

use super::console::{Color, Console};
use super::exit::Failure;
use super::inspect::capture_errors;
use super::load_file::load_and_name;
use super::measure::recorded_take;
use super::output_summary::short_path;
use super::planned_faults::first_fault;
use super::run_command::{self, RunArguments};
use super::simulate::scene_error;
use crate::batch::OFTEN_OTHER;
use crate::dynamics::{SCENE_KEYS, Scene};
use crate::export::{lost_buffer, made_by};
use crate::import::{FORMATS, ImportError};
use crate::model::{Asset, Character, Role};
use crate::pipeline::{CONTACT_TABLE, REPORT, is_skinned};
use crate::regular_file::read_text;
use crate::report::{Shown, counted, io_reason, one_line};
use crate::retarget::{MapError, draft};
use crate::stages::read_targets;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A recorded clip on a bare skeleton.
    Take,
    /// A recorded clip as arrays or as a table.
    Arrays,
    /// Weights of the morph targets of a face.
    Face,
    /// A skinned character, with or without clips.
    Character,
    /// A character with a clip that this program made.
    Result,
    /// A robot.
    Robot,
    /// Joints without skin and motion.
    Skeleton,
    /// A pipeline file.
    Pipeline,
    /// A joint map.
    Map,
    /// A scene of rigid bodies.
    Scene,
    /// Contact labels next to results.
    #[serde(rename = "report")]
    #[schemars(skip)]
    ContactLabels,
    /// Forces of contacts next to results.
    #[serde(rename = "report")]
    #[schemars(skip)]
    Forces,
    /// A report, contact labels or forces next to results.
    Report,
    /// A table of target positions.
    Targets,
    /// None of these.
    Unknown,
    /// A file of a known format with an error.
    Unreadable,
}

impl FileKind {
    /// The words for users.
    pub fn words(self) -> &'static str {
        match self {
            Self::Take => "take",
            Self::Arrays => "take as arrays",
            Self::Face => "weights of a face",
            Self::Character => "character",
            Self::Result => "result of posemill",
            Self::Robot => "robot",
            Self::Skeleton => "skeleton",
            Self::Pipeline => "pipeline",
            Self::Map => "joint map",
            Self::Scene => "scene",
            Self::ContactLabels => "contact labels",
            Self::Forces => "forces",
            Self::Report => "report",
            Self::Targets => "table of targets",
            Self::Unknown => "not known",
            Self::Unreadable => "not readable",
        }
    }
}

/// What one file holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The file as named or found.
    pub file: String,
    /// What it is for.
    pub kind: FileKind,
    /// The name of its format, if it is one that is read; else null.
    pub format: Option<&'static str>,
    /// Its content in a line.
    pub about: String,
    /// Number of clips.
    pub clips: usize,
    /// What a command would lack.
    pub missing: Vec<String>,
    /// What is a guess or looks wrong.
    pub doubtful: Vec<String>,
    /// Why it cannot be used; null if it can.
    pub error: Option<String>,
    /// The command to run next with it; null if there is none.
    pub next: Option<String>,
    /// The path.
    #[serde(skip)]
    pub path: PathBuf,
    /// The body, to be compared with others.
    #[serde(skip)]
    pub body: Option<Arc<Character>>,
    /// The take that it was made from as its record has it, of a result.
    #[serde(skip)]
    pub made_from: Option<serde_json::Value>,
    /// The robot that the file was read for, if it holds motion of one.
    #[serde(skip)]
    pub robot: Option<PathBuf>,
    /// Whether its document lacks data without which it cannot be written as a GLB.
    #[serde(skip)]
    pub incomplete: bool,
    /// Whether parts of a body were recognised.
    #[serde(skip)]
    pub is_body: bool,
}

/// Formats whose takes are arrays or tables.
const ARRAYS: [&str; 3] = ["npz", "points", "csv"];
/// Keys that only a joint map has at its top level.
const MAP_KEYS: [&str; 5] =
    ["pair", "source_roles", "target_roles", "swap_source_sides", "swap_target_sides"];
/// Ends of the names of files that are written next to results.
const BESIDE_RESULTS: [(&[&str], FileKind); 3] = [
    (&[CONTACT_TABLE], FileKind::ContactLabels),
    (&[".forces.csv", ".forces.npz"], FileKind::Forces),
    (&[REPORT], FileKind::Report),
];
/// Sections of a pipeline.
const PIPELINE_KEYS: [&str; 3] = ["input", "output", "stage"];

impl Diagnosis {
    fn new(path: &Path, kind: FileKind, about: impl Into<String>) -> Self {
        Self {
            file: path.display().to_string(),
            kind,
            format: None,
            about: about.into(),
            clips: 0,
            missing: Vec::new(),
            doubtful: Vec::new(),
            error: None,
            next: None,
            path: path.to_owned(),
            body: None,
            made_from: None,
            robot: None,
            incomplete: false,
            is_body: false,
        }
    }

    /// A file that cannot be used.
    pub fn unreadable(path: &Path, error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::new(path, FileKind::Unreadable, "") }
    }

    /// The diagnosis of one file. `named` by the user, it has to be readable; arrays may hold motion of one of `robots`.
    pub fn of(path: &Path, named: bool, robots: &[PathBuf]) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let suffix = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let beside = BESIDE_RESULTS.iter().find(|(ends, _)| ends.iter().any(|end| name.ends_with(end)));
        if let Some((_, kind)) = beside {
            return Self::new(path, *kind, "");
        }
        if suffix == "toml" {
            return of_toml(path, named);
        }
        match load_and_name(path, &[]) {
            Ok((mut asset, format)) => of_asset(path, &mut asset, format),
            Err(failure) => {
                of_robot(path, &suffix, robots).or_else(|| of_targets(path, &suffix)).unwrap_or_else(|| {
                    let unknown =
                        matches!(&failure, Failure::Import { error: ImportError::Unknown { .. }, .. });
                    let other = !named && (unknown || is_often_other(&suffix));
                    let message = match failure {
                        Failure::Import { error, .. } => error.to_string(),
                        failure => failure.to_string(),
                    };
                    match (other, unknown) {
                        (true, _) => {
                            Self::new(path, FileKind::Unknown, message.lines().next().unwrap_or_default())
                        }
                        (false, true) => Self { kind: FileKind::Unknown, ..Self::unreadable(path, message) },
                        (false, false) => Self::unreadable(path, message),
                    }
                })
            }
        }
    }
}

/// Whether files with this extension are often of other programs, so that an error of one that was not named is none of the user's:
/// XML holds more than robots, and source files hold the words by which formats are recognised.
fn is_often_other(suffix: &str) -> bool {
    let known = FORMATS.iter().flat_map(|format| format.suffixes).any(|known| *known == suffix);
    !known || suffix == "xml" || OFTEN_OTHER.contains(&suffix)
}

/// A table or archive as motion of the first robot that it fits.
fn of_robot(path: &Path, suffix: &str, robots: &[PathBuf]) -> Option<Diagnosis> {
    if !["csv", "npz"].contains(&suffix) {
        return None;
    }
    robots.iter().find_map(|robot| {
        let set = format!("input.robot={}", toml::Value::String(robot.display().to_string()));
        let (mut asset, format) = load_and_name(path, &[set]).ok()?;
        let found = of_asset(path, &mut asset, format);
        let about = format!("motion of the robot `{}`, {}", robot.shown(), found.about);
        Some(Diagnosis { kind: FileKind::Arrays, about, robot: Some(robot.clone()), body: None, ..found })
    })
}

/// A table of target positions.
fn of_targets(path: &Path, suffix: &str) -> Option<Diagnosis> {
    let rows = (suffix == "csv").then(|| read_targets(path).ok()).flatten()?;
    let about = format!("{} of time, x, y, z; for `csv` of the stage `ik`", counted(rows.len(), "row"));
    Some(Diagnosis::new(path, FileKind::Targets, about))
}

fn of_toml(path: &Path, named: bool) -> Diagnosis {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(e) => return Diagnosis::unreadable(path, io_reason(&e)),
    };
    // A text that is not TOML is reported as a pipeline, with the place of the error.
    let keys: Option<Vec<String>> = text.parse::<toml::Table>().ok().map(|t| t.keys().cloned().collect());
    let has = |known: &[&str]| keys.iter().flatten().any(|key| known.contains(&key.as_str()));
    let sections: Vec<&str> =
        SCENE_KEYS.iter().map(|s| s.0.trim_matches(['[', ']'])).filter(|s| !s.is_empty()).collect();
    if keys.is_none() || has(&PIPELINE_KEYS) {
        return of_pipeline(path);
    }
    if has(&MAP_KEYS) {
        return Diagnosis::new(path, FileKind::Map, "");
    }
    if has(&sections) {
        let error = Scene::parse(&text).err().map(|e| scene_error(&path.shown(), &text, &e).to_string());
        let error = error.map(|error| error.trim_start_matches("error: ").to_owned());
        return Diagnosis { error, ..Diagnosis::new(path, FileKind::Scene, "rigid bodies for `simulate`") };
    }
    let message = "it has no section of a pipeline, a joint map or a scene";
    match named {
        true => Diagnosis { kind: FileKind::Unknown, ..Diagnosis::unreadable(path, message) },
        false => Diagnosis::new(path, FileKind::Unknown, message),
    }
}

/// A pipeline, planned as `posemill run` plans it.
fn of_pipeline(path: &Path) -> Diagnosis {
    let quiet = Console::new(true, false, Color::Never);
    let runs = match run_command::plan(path, &RunArguments::of(path.to_owned()), &quiet) {
        Ok(runs) => runs,
        Err(failure) => {
            let error = Some(failure.to_string().trim_start_matches("error: ").to_owned());
            return Diagnosis { error, ..Diagnosis::new(path, FileKind::Pipeline, "") };
        }
    };
    let takes = runs.first().map_or(0, |run| run.jobs.len());
    let onto: Vec<String> = runs
        .iter()
        .filter_map(|run| Some(format!("`{}`", short_path(run.pipeline.character_file.as_ref()?))))
        .collect();
    let onto = if onto.is_empty() { String::new() } else { format!(" onto {}", onto.join(", ")) };
    let unseen: BTreeSet<String> = runs.iter().flat_map(|run| run.unseen.iter().cloned()).collect();
    let about = format!("{}{onto}", counted(takes, "take"));
    let (missing, error) = (unseen.into_iter().collect(), first_fault(&runs));
    Diagnosis { missing, error, ..Diagnosis::new(path, FileKind::Pipeline, about) }
}

fn of_asset(path: &Path, asset: &mut Asset, format: &'static str) -> Diagnosis {
    let character = &Arc::clone(&asset.character);
    let made = character.document.as_ref().and_then(made_by);
    let kind = match asset.clips.is_empty() {
        true if character.robot.is_some() => FileKind::Robot,
        _ if format == "face" => FileKind::Face,
        _ if made.is_some() => FileKind::Result,
        _ if is_skinned(asset) => FileKind::Character,
        true => FileKind::Skeleton,
        false if ARRAYS.contains(&format) => FileKind::Arrays,
        false => FileKind::Take,
    };
    let (clips, about) = (asset.clips.len(), about(asset, kind));
    let is_body = character.rig.joint(Role::Hips).is_some();
    let mut found = Diagnosis { format: Some(format), clips, is_body, ..Diagnosis::new(path, kind, about) };
    found.made_from = recorded_take(asset);
    if kind == FileKind::Skeleton {
        found.missing.push("it holds no motion, and no skin that moves with its joints".to_owned());
    }
    if let Some(error) = character.document.as_ref().and_then(lost_buffer) {
        found.missing.push(format!("it cannot be written as GLB: {error}"));
        found.incomplete = true;
    }
    if ![FileKind::Robot, FileKind::Face].contains(&kind) {
        found.missing.extend(missing_roles(character));
        found.doubtful.extend(doubtful_roles(character));
    }
    let said = asset.warnings.iter().filter(|w| !w.sure);
    found.doubtful.extend(said.map(|w| format!("{} ({})", w.message, one_line(&w.first))));
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    for finding in capture_errors(asset).iter().flatten() {
        *errors.entry(finding.name()).or_default() += 1;
    }
    if !errors.is_empty() {
        let errors: Vec<String> = errors.iter().map(|(name, n)| format!("{n} x {name}")).collect();
        found.doubtful.push(format!("capture errors, which `posemill inspect` lists: {}", errors.join(", ")));
    }
    // A take is compared by its joints alone: its document would keep the bytes of every file in memory.
    let light = || Character { document: None, meshes: Vec::new(), ..(**character).clone() };
    found.body = match kind {
        FileKind::Take | FileKind::Arrays => Some(Arc::new(light())),
        // Its weights are part of the document.
        FileKind::Face => Some(Arc::clone(character)),
        _ => None,
    };
    found
}

/// Joints, meshes and clips in a line.
fn about(asset: &Asset, kind: FileKind) -> String {
    let mut parts = Vec::new();
    if kind != FileKind::Face {
        parts.push(counted(asset.character.skeleton().len(), "joint"));
    }
    if let Some(robot) = &asset.character.robot {
        parts.push(counted(robot.hinges.len(), "hinge"));
    }
    if !asset.character.meshes.is_empty() && kind != FileKind::Face {
        parts.push(counted(asset.character.meshes.len(), "mesh part"));
    }
    match asset.clips.as_slice() {
        [] => {}
        [clip] => parts.push(format!(
            "{} at {:.6} Hz, {:.3} s",
            counted(clip.frames(), "frame"),
            clip.sample_rate,
            clip.duration()
        )),
        clips => {
            let seconds: f64 = clips.iter().map(|clip| clip.duration()).sum();
            parts.push(format!("{}, {seconds:.3} s", counted(clips.len(), "clip")));
        }
    }
    parts.join(", ")
}

/// What retargeting from or onto this body would lack, whatever the other body is.
fn missing_roles(body: &Character) -> Option<String> {
    match draft(body, body).refused {
        Some(MapError::Missing(wanted)) => {
            let roles: BTreeSet<String> = wanted.iter().map(|w| format!("`{}`", w.role)).collect();
            let roles: Vec<String> = roles.into_iter().collect();
            Some(format!("no joint is surely its {}", roles.join(", ")))
        }
        Some(refused) => Some(refused.sentence()),
        None if body.rig.joint(Role::Hips).is_none() => {
            Some("no part of a body was recognised: only files with the same joint names fit".to_owned())
        }
        None => None,
    }
}

/// The roles that are only guesses.
fn doubtful_roles(body: &Character) -> Option<String> {
    let doubtful = body.rig.assignments().filter(|(_, a)| a.is_doubtful());
    let said: Vec<String> = doubtful
        .map(|(role, a)| {
            let joint = one_line(&body.skeleton().joint(a.joint).name);
            format!("`{role}` is `{joint}` ({:.2})", a.confidence)
        })
        .collect();
    (!said.is_empty()).then(|| format!("roles that are guesses (confidence): {}", said.join(", ")))
}
