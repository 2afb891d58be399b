//! What a job made becomes the page beside its output.

use super::plan::Job;
use super::report::{CLIP_PAGE, REPORT_PAGE};
use crate::model::Motion;
use crate::page::{CLIPS, ClipPage, Shown, clip_page};
use crate::render::{Format, PreviewOptions, Size, Subject, preview};
use crate::report::Report;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Poses of the contact sheet on a page: one row of them.
const POSES: usize = 6;
/// The size of each.
const POSE: Size = Size { width: 200, height: 260 };

/// The page beside `path`, linked to that of the folder where there is one.
pub(super) fn page(
    job: &Job,
    path: &Path,
    arrived: &[Motion],
    motions: &[Motion],
    report: &mut Report,
    in_folder: bool,
) -> (PathBuf, Vec<u8>) {
    let clips: Vec<Shown> = arrived.iter().zip(motions).map(shown).collect();
    let options = PreviewOptions { frames: Some(POSES), size: Some(POSE), ..PreviewOptions::default() };
    let subjects: Vec<Subject> = match clips.as_slice() {
        [Shown { source: Some(source), result }] => {
            vec![labelled(source, "source"), labelled(result, "result")]
        }
        several => several.iter().take(CLIPS).map(|s| Subject::from(s.result)).collect(),
    };
    let picture = preview(&subjects, &options, Format::Png, &|_, _| {});
    if let Err(error) = &picture {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        report.warnings.add("preview", format!("there is no picture on the page: {error}"), stem);
    }
    let depth = job.takes.first().map_or(0, |t| t.relative.components().count().saturating_sub(1));
    let page = ClipPage {
        title: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        inputs: job.takes.iter().map(|t| t.path.display().to_string()).collect(),
        clips,
        report,
        picture: picture.as_deref().ok(),
        batch: in_folder.then(|| "../".repeat(depth) + REPORT_PAGE),
    };
    (path.with_extension(CLIP_PAGE), clip_page(&page).into_bytes())
}

/// A take that stays with its own body needs no second one beside it.
fn shown<'a>((source, result): (&'a Motion, &'a Motion)) -> Shown<'a> {
    let other = !Arc::ptr_eq(&source.character, &result.character);
    Shown { source: other.then_some(source), result }
}

fn labelled<'a>(motion: &'a Motion, label: &str) -> Subject<'a> {
    Subject { label: label.to_owned(), ..Subject::from(motion) }
}
