//! Previews and report pages next to outputs.

use super::file_hash::slashed;
use super::file_names::{CLIP_PAGE, REPORT_PAGE};
use super::job::Job;
use super::output_section::Preview;
use crate::model::{Mark, Motion};
use crate::page::{ClipPage, ShownClip, clip_page, worst_series};
use crate::render::{PictureFormat, PreviewOptions, Size, Subject, preview};
use crate::report::{Report, Warnings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use crate::page::WorstSeries;

/// Most clips of a take in its preview: more do not fit on a screen.
const PREVIEW_CLIPS: usize = 6;

/// Poses of the contact sheet on a page, one row of them, and the size of each.
const PAGE_POSES: (usize, Size) = (6, Size { width: 160, height: 208 });

/// The preview next to `path`. If a take cannot be drawn, that is a warning.
pub(super) fn picture(
    kind: Preview,
    motions: &[Motion],
    marks: Vec<Vec<Mark>>,
    path: &Path,
    warnings: &mut Warnings,
) -> Option<(PathBuf, Vec<u8>)> {
    let extension = kind.extension()?;
    let format = match kind {
        Preview::Png | Preview::None => PictureFormat::Png,
        Preview::Gif => PictureFormat::Gif,
        Preview::Apng => PictureFormat::Apng,
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut warn = |message: String| warnings.add("preview", message, stem.clone());
    let pairs = motions.iter().zip(marks);
    let mut subjects: Vec<Subject> =
        pairs.map(|(motion, more)| marked(Subject::from(motion), more)).collect();
    if subjects.len() > PREVIEW_CLIPS {
        warn(format!("the preview shows the first {PREVIEW_CLIPS} of {} clips", subjects.len()));
        subjects.truncate(PREVIEW_CLIPS);
    }
    match preview(&subjects, &PreviewOptions::default(), format, &|_, _| {}) {
        Ok(bytes) => Some((path.with_extension(extension), bytes)),
        Err(error) => {
            warn(format!("there is no preview: {error}"));
            None
        }
    }
}

/// A subject with more marks.
fn marked(mut subject: Subject<'_>, more: Vec<Mark>) -> Subject<'_> {
    subject.marks.extend(more);
    subject
}

/// The report page next to `path`, linked to the page of the folder if `listed`.
pub(super) fn page(
    job: &Job,
    path: &Path,
    (originals, unperformed): (&[Motion], &[Option<Motion>]),
    motions: &[Motion],
    report: &mut Report,
    listed: bool,
) -> Option<(PathBuf, Vec<u8>)> {
    // If the take keeps its character, the source is not shown next to it.
    fn shown<'a>(
        ((source, before), result): ((&'a Motion, &'a Option<Motion>), &'a Motion),
    ) -> ShownClip<'a> {
        let other = !Arc::ptr_eq(&source.character, &result.character);
        ShownClip { source: other.then_some(source), unperformed: before.as_ref(), result }
    }
    let clips: Vec<ShownClip> = originals.iter().zip(unperformed).zip(motions).map(shown).collect();
    let (frames, size) = PAGE_POSES;
    let options = PreviewOptions { frames: Some(frames), size: Some(size), ..PreviewOptions::default() };
    fn labelled<'a>(motion: &'a Motion, label: &str) -> Subject<'a> {
        Subject { label: label.to_owned(), ..Subject::from(motion) }
    }
    let subjects: Vec<Subject> = match clips.as_slice() {
        [ShownClip { source: Some(source), result, .. }] => {
            vec![labelled(source, "source"), labelled(result, "result")]
        }
        several => several.iter().take(PREVIEW_CLIPS).map(|s| Subject::from(s.result)).collect(),
    };
    let picture = preview(&subjects, &options, PictureFormat::Jpeg, &|_, _| {});
    if let Err(error) = &picture {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        report.warnings.add("preview", format!("there is no picture on the page: {error}"), stem);
    }
    let depth = job.takes.first().map_or(0, |t| t.relative.components().count().saturating_sub(1));
    let page = ClipPage {
        title: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        // Relative paths, so that the page does not depend on the folder.
        inputs: job.takes.iter().map(|t| slashed(&t.relative)).collect(),
        clips,
        report,
        picture: picture.as_deref().ok(),
        batch: listed.then(|| "../".repeat(depth) + REPORT_PAGE),
    };
    Some((path.with_extension(CLIP_PAGE), clip_page(&page).into_bytes()))
}

/// The time series of the worst measure, for the manifest.
pub(super) fn worst(report: &Report, rate: f64) -> Option<Value> {
    worst_series(report, rate).map(|worst| json!(worst))
}
