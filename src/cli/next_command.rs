//! The commands to run next on files of a folder: which take goes onto which body, by the check that `posemill retarget` makes.

use super::diagnosis::{Diagnosis, FileKind};
use super::measure::is_take;
use super::planned_faults::MOST_TRIED;
use crate::batch::quoted;
use crate::pipeline::{DEFAULT_NAME, DEFAULT_PIPELINE, Pipeline, PipelineConfig, RunError};
use crate::report::Shown;
use crate::retarget::{MapError, draft};
use crate::stages::STAGES;
use std::path::{Path, PathBuf};

/// Where suggested commands write: a folder, so that they never replace a file that this program did not write.
const OUT: &str = "out/";

/// A body that takes can be retargeted onto.
#[derive(Debug)]
struct TargetBody {
    path: PathBuf,
    /// The pipeline of `posemill retarget ... --onto PATH`.
    pipeline: Pipeline,
    /// Whether parts of a body were recognised.
    is_body: bool,
}

/// The pipeline of `posemill retarget ... --onto PATH`, with these overrides.
fn retargeting(path: &Path, sets: &[String]) -> Result<Pipeline, String> {
    let config = PipelineConfig::parse(DEFAULT_NAME, DEFAULT_PIPELINE, sets, STAGES);
    let config = config.map_err(|e| e.to_string())?;
    Pipeline::new(&config, Path::new(""), Some(&path.to_string_lossy())).map_err(|e| e.to_string())
}

/// Whether a take fits; `None` if it has no body of its own.
fn check(pipeline: &Pipeline, take: &Diagnosis) -> Option<Result<(), RunError>> {
    take.body.as_ref().map(|body| pipeline.check_take(body))
}

impl TargetBody {
    fn check(&self, take: &Diagnosis) -> Option<Result<(), RunError>> {
        check(&self.pipeline, take)
    }

    /// Whether `posemill map` prints a map from the take's body, or the lines that one lacks.
    fn can_be_mapped(&self, take: &Diagnosis) -> bool {
        take.body.as_ref().zip(self.pipeline.character.as_ref()).is_some_and(|(from, onto)| {
            let refused = draft(from, onto).refused;
            matches!(refused, None | Some(MapError::Missing(_) | MapError::NothingShared { .. }))
        })
    }
}

/// Adds to each file the command to run next, and to takes and maps why no body fits. `more` says whether a folder has more files
/// with the extension of this path than were read. Returns the command for all of them.
pub fn advise(all: &mut [Diagnosis], more: &dyn Fn(&Path) -> bool) -> Option<String> {
    let bodies = bodies(all);
    let takes: Vec<PathBuf> = all.iter().filter(|f| f.body.is_some()).map(|f| f.path.clone()).collect();
    // The body that each take goes onto.
    let mut onto: Vec<Option<usize>> = vec![None; all.len()];
    for (found, onto) in all.iter_mut().zip(&mut onto) {
        if found.error.is_some() {
            continue;
        }
        let file = word(&found.path);
        found.next = match found.kind {
            FileKind::Take | FileKind::Arrays | FileKind::Face => match &found.robot {
                Some(robot) => Some(format!("posemill inspect {file} --onto {}", word(robot))),
                None => {
                    *onto = fitting(found, &bodies);
                    Some(of_take(&file, *onto, found, &bodies))
                }
            },
            FileKind::Result => Some(of_result(&file, found, &takes)),
            FileKind::Character | FileKind::Robot | FileKind::Skeleton => {
                Some(format!("posemill inspect {file}"))
            }
            FileKind::Pipeline => Some(format!("posemill run {file}")),
            FileKind::Scene => Some(format!("posemill simulate {file} -o {OUT}")),
            FileKind::Map
            | FileKind::ContactLabels
            | FileKind::Forces
            | FileKind::Report
            | FileKind::Targets
            | FileKind::Unknown
            | FileKind::Unreadable => None,
        };
    }
    let takes: Vec<(usize, usize)> =
        onto.iter().enumerate().filter_map(|(take, onto)| Some((take, (*onto)?))).collect();
    for k in 0..all.len() {
        if all[k].kind == FileKind::Map {
            let (doubtful, next) = of_map(&all[k].path, all, &bodies);
            all[k].doubtful.extend(doubtful);
            all[k].next = next;
        }
    }
    let pipeline = all.iter().find(|found| found.kind == FileKind::Pipeline && found.next.is_some());
    let first = || all.iter().find_map(|found| found.next.clone());
    pipeline
        .and_then(|found| found.next.clone())
        .or_else(|| of_takes(all, &takes, &bodies, more))
        .or_else(first)
}

/// The bodies among the files: characters without clips first, then robots, and last what only takes with the same joint names fit.
fn bodies(all: &[Diagnosis]) -> Vec<TargetBody> {
    let rank = |found: &Diagnosis| match found.kind {
        _ if found.incomplete => None,
        FileKind::Character if !found.is_body => Some(3),
        FileKind::Character if found.clips == 0 => Some(0),
        FileKind::Character => Some(1),
        FileKind::Robot => Some(2),
        _ => None,
    };
    let mut found: Vec<(i32, &Diagnosis)> = all.iter().filter_map(|f| Some((rank(f)?, f))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    let made = |found: &Diagnosis| {
        let (path, pipeline) = (found.path.clone(), retargeting(&found.path, &[]).ok()?);
        Some(TargetBody { path, pipeline, is_body: found.is_body || found.kind == FileKind::Robot })
    };
    found.iter().filter_map(|(_, found)| made(found)).take(MOST_TRIED).collect()
}

/// The first body that the take fits; if none does, the reason of the first is added to what is missing, unless it is no body.
fn fitting(take: &mut Diagnosis, bodies: &[TargetBody]) -> Option<usize> {
    let found = bodies.iter().position(|body| matches!(body.check(take), Some(Ok(()))));
    if let (None, Some(body)) = (found, bodies.first().filter(|body| body.is_body))
        && let Some(Err(error)) = body.check(take)
    {
        let error = error.to_string();
        let error = error.lines().next().unwrap_or_default();
        take.missing.push(format!("it does not fit `{}`: {error}", body.path.shown()));
    }
    found
}

/// The command for one take.
fn of_take(file: &str, onto: Option<usize>, take: &Diagnosis, bodies: &[TargetBody]) -> String {
    match (onto, bodies.first()) {
        (Some(body), _) => {
            format!("posemill retarget {file} --onto {} -o {OUT}", word(&bodies[body].path))
        }
        (None, Some(body)) if take.kind != FileKind::Face && body.is_body && body.can_be_mapped(take) => {
            format!("posemill map {file} {}", word(&body.path))
        }
        _ if take.incomplete => format!("posemill inspect {file}"),
        _ => format!("posemill convert {file} -o {OUT}"),
    }
}

/// The command for a result: beside its take, if that is one of these files, it is judged as when it was made.
fn of_result(file: &str, result: &Diagnosis, takes: &[PathBuf]) -> String {
    let own = |take: &&PathBuf| {
        // Only files of its name are hashed.
        let named = |recorded: &serde_json::Value| {
            take.file_name().is_some_and(|name| recorded["name"] == *name.to_string_lossy())
        };
        result.made_from.as_ref().is_some_and(|recorded| named(recorded) && is_take(recorded, take))
    };
    match takes.iter().find(own) {
        Some(take) => format!("posemill measure {file} --source {}", word(take)),
        None => format!("posemill measure {file}"),
    }
}

/// The command for several takes of one folder onto one body.
fn of_takes(
    all: &[Diagnosis],
    takes: &[(usize, usize)],
    bodies: &[TargetBody],
    more: &dyn Fn(&Path) -> bool,
) -> Option<String> {
    let of = |&(take, body): &(usize, usize)| (all[take].path.parent(), body);
    // The folder with most takes, of equals the first.
    let size = |group: &(usize, usize)| takes.iter().filter(|other| of(other) == of(group)).count();
    let largest = takes.iter().rev().max_by_key(|group| size(group))?;
    let onto = largest.1;
    let same = takes.iter().filter(|other| of(other) == of(largest));
    let mut words: Vec<String> = Vec::new();
    let mut stems = Vec::new();
    for path in same.map(|(take, _)| &all[*take].path) {
        // Takes of one name would go to one file.
        if stems.contains(&path.file_stem()) {
            continue;
        }
        stems.push(path.file_stem());
        let pattern = || {
            let suffix = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            quoted(&path.with_file_name(format!("*.{suffix}")).to_string_lossy())
        };
        let named = if more(path) { pattern() } else { word(path) };
        if !words.contains(&named) {
            words.push(named);
        }
    }
    Some(format!("posemill retarget {} --onto {} -o {OUT}", words.join(" "), word(&bodies[onto].path)))
}

/// What is doubtful about a joint map, or the command that uses it.
fn of_map(map: &Path, all: &[Diagnosis], bodies: &[TargetBody]) -> (Option<String>, Option<String>) {
    let takes: Vec<&Diagnosis> = all.iter().filter(|found| found.body.is_some()).take(MOST_TRIED).collect();
    let set = [format!("stage.retarget.map={}", toml::Value::String(map.display().to_string()))];
    let mut reason = None;
    for body in bodies {
        let with = match retargeting(&body.path, &set) {
            Ok(with) => with,
            Err(error) => {
                reason.get_or_insert(error);
                continue;
            }
        };
        for take in &takes {
            match check(&with, take) {
                Some(Ok(())) => {
                    let [take, body, map] = [&take.path, &body.path, map].map(word);
                    let command = format!("posemill retarget {take} --onto {body} --map {map} -o {OUT}");
                    return (None, Some(command));
                }
                Some(Err(error)) => _ = reason.get_or_insert(error.to_string()),
                None => {}
            }
        }
    }
    let reason = reason.map_or_else(
        || "it is checked beside its take and its character: name them too".to_owned(),
        |reason| format!("it fits no take and character here: {reason}"),
    );
    (Some(reason), None)
}

/// A path as a word of a shell, which no command reads as an option.
fn word(path: &Path) -> String {
    let text = path.to_string_lossy();
    quoted(&if text.starts_with('-') { format!("./{text}") } else { text.into_owned() })
}
