//! The files that lie beside an output: its picture, the table of its contact labels, its page.

use super::jobs::Job;
use super::manifest::slashed;
use super::report::{CLIP_PAGE, REPORT_PAGE};
use super::sections::Preview;
use crate::contacts;
use crate::model::{Contacts, Motion};
use crate::page::{ClipPage, Shown, clip_page};
use crate::render::{Format, Mark, PreviewOptions, Size, Subject, preview};
use crate::report::{Report, Warnings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The ending of tables of contact labels.
pub(super) const LABELS: &str = "contacts.csv";

/// Clips of one take in its preview: more do not fit on a screen.
const PREVIEW_CLIPS: usize = 6;

/// Poses of the contact sheet on a page, one row of them, and the size of each.
const PAGE_POSES: (usize, Size) = (6, Size { width: 160, height: 208 });

/// The preview beside `path`. A take that cannot be drawn is worth a warning, not its outputs.
pub(super) fn picture(
    kind: Preview,
    motions: &[Motion],
    marks: Vec<Vec<Mark>>,
    path: &Path,
    warnings: &mut Warnings,
) -> Option<(PathBuf, Vec<u8>)> {
    let (format, extension) = kind.format()?;
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

/// The tables of contact labels beside `path`: `NAME.contacts.csv`, for several motions with their numbers from 1.
pub(super) fn labels(motions: &[Motion], path: &Path, warnings: &mut Warnings) -> Vec<(PathBuf, Vec<u8>)> {
    let labelled: Vec<_> =
        motions.iter().enumerate().filter_map(|(k, m)| Some((k, m, m.contacts.as_ref()?))).collect();
    if labelled.is_empty() {
        let message = "no motion carries contact labels: the stage `contacts` finds or reads them";
        warnings.add("contacts", message, path.file_stem().unwrap_or_default().to_string_lossy());
    }
    let table = |(k, motion, contacts): (usize, &Motion, &Contacts)| {
        let number = if motions.len() > 1 { format!("{}.", k + 1) } else { String::new() };
        let text = contacts::write(contacts, motion.clip.frames());
        (path.with_extension(format!("{number}{LABELS}")), text.into_bytes())
    };
    labelled.into_iter().map(table).collect()
}

/// The page beside `path`, linked to that of the folder where `listed`.
pub(super) fn page(
    job: &Job,
    path: &Path,
    arrived: &[Motion],
    motions: &[Motion],
    report: &mut Report,
    listed: bool,
) -> (PathBuf, Vec<u8>) {
    // A take that stays with its own body needs no second one beside it.
    fn shown<'a>((source, result): (&'a Motion, &'a Motion)) -> Shown<'a> {
        let other = !Arc::ptr_eq(&source.character, &result.character);
        Shown { source: other.then_some(source), result }
    }
    let clips: Vec<Shown> = arrived.iter().zip(motions).map(shown).collect();
    let (frames, size) = PAGE_POSES;
    let options = PreviewOptions { frames: Some(frames), size: Some(size), ..PreviewOptions::default() };
    fn labelled<'a>(motion: &'a Motion, label: &str) -> Subject<'a> {
        Subject { label: label.to_owned(), ..Subject::from(motion) }
    }
    let subjects: Vec<Subject> = match clips.as_slice() {
        [Shown { source: Some(source), result }] => {
            vec![labelled(source, "source"), labelled(result, "result")]
        }
        several => several.iter().take(PREVIEW_CLIPS).map(|s| Subject::from(s.result)).collect(),
    };
    let picture = preview(&subjects, &options, Format::Jpeg, &|_, _| {});
    if let Err(error) = &picture {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        report.warnings.add("preview", format!("there is no picture on the page: {error}"), stem);
    }
    let depth = job.takes.first().map_or(0, |t| t.relative.components().count().saturating_sub(1));
    let page = ClipPage {
        title: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        // Not where they are: the page of a take is the same wherever it lies.
        inputs: job.takes.iter().map(|t| slashed(&t.relative)).collect(),
        clips,
        report,
        picture: picture.as_deref().ok(),
        batch: listed.then(|| "../".repeat(depth) + REPORT_PAGE),
    };
    (path.with_extension(CLIP_PAGE), clip_page(&page).into_bytes())
}
