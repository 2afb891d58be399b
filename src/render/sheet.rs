//! Contact sheet: poses over time in bands, with one row per motion in every band.

use super::actor::Actor;
use super::framing::{Follow, Framing};
use super::options::{MAX_PIXELS, PreviewOptions, RenderError, Size, Subject};
use super::picture::Picture;
use super::studio::Studio;
use super::text;
use super::timing;
use crate::parallel;

/// Size of a cell by default, pixels.
const CELL: Size = Size { width: 240, height: 320 };
/// Poses of a sheet by default.
const POSES: usize = 12;
/// Most poses in a row before the next band begins.
const COLUMNS: usize = 6;
/// sRGB colour of the background.
const PAPER: [u8; 3] = [255; 3];
/// sRGB colour of names.
pub(super) const INK: [u8; 3] = [52, 58, 70];
/// sRGB colour of secondary text: 4.7:1 on white, where WCAG 2.2 (1.4.3) asks for 4.5.
pub(super) const PALE_INK: [u8; 3] = [108, 116, 130];

/// The dot size of labels in a picture whose least side is `side` pixels.
pub(super) fn label_scale(side: u32) -> usize {
    match side {
        0..=139 => 1,
        140..=639 => 2,
        640..=1399 => 3,
        _ => 4,
    }
}

/// A length as text, with its unit.
pub(super) fn metres(grid: f64) -> String {
    if grid >= 1.0 {
        format!("{grid:.0} m")
    } else if grid >= 0.0099 {
        format!("{:.0} cm", grid * 100.0)
    } else {
        format!("{:.1} mm", grid * 1000.0)
    }
}

/// The contact sheet. `progress` is called with the number of finished poses and of all poses.
pub(super) fn contact_sheet(
    subjects: &[Subject],
    options: &PreviewOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Picture, RenderError> {
    options.check(subjects)?;
    let Size { width, height } = options.size.unwrap_or(CELL);
    let count = options.frames.unwrap_or(POSES);
    let duration = subjects.iter().map(|s| s.motion.clip.duration()).fold(0.0, f64::max);
    let count = if duration > 0.0 { count } else { 1 };
    let columns = count.min(COLUMNS);
    let bands = count.div_ceil(columns);

    let scale = label_scale(width.min(height));
    let line = text::line_height(scale) + 3 * scale;
    let (header, caption) = if options.labels { (line + 4 * scale, line) } else { (0, 0) };
    let gap = 2 * scale;
    let (cell_w, cell_h) = (width as usize, height as usize);
    let band_h = subjects.len() * (cell_h + gap) + caption;
    let sheet_w = columns * (cell_w + gap) + gap;
    let sheet_h = header + gap + bands * band_h;
    let pixels = sheet_w as u64 * sheet_h as u64;
    if pixels > MAX_PIXELS {
        return Err(RenderError::Pixels { pixels });
    }

    let times = timing::poses(duration, count);
    let actors: Vec<Actor> =
        parallel::map_each(subjects, 1, |s| Actor::new(s, (2 * width.max(height)).clamp(256, 2048)));
    let free = if options.labels && subjects.len() > 1 { (0.07, 0.04) } else { (0.04, 0.04) };
    let shot = Framing::new(&actors, options.view, Follow::Exactly, &times, (width, height), free);
    let studio = |(k, a)| Studio::new(a, &shot, k, (width, height), options.skeleton, options.path);
    let studios: Vec<Studio> = actors.iter().enumerate().map(studio).collect();

    let mut sheet = Picture::new(sheet_w, sheet_h, PAPER);
    let done = std::sync::atomic::AtomicUsize::new(0);
    let total = count * studios.len();
    for (row, studio) in studios.iter().enumerate() {
        let draw = |easel: &mut _, k: usize| {
            let picture = studio.draw(times[k], easel);
            progress(1 + done.fetch_add(1, std::sync::atomic::Ordering::Relaxed), total);
            picture
        };
        let cells: Vec<Picture> = parallel::map_with(times.len(), 1, || studio.easel(), draw);
        for (k, mut cell) in cells.into_iter().enumerate() {
            if options.labels && subjects.len() > 1 && k % columns == 0 {
                let label = text::fitted(&subjects[row].label, scale, cell_w - 4 * scale);
                text::draw(&mut cell, 3 * scale, 3 * scale, &label, scale, INK);
            }
            let (x, y) = (gap + k % columns * (cell_w + gap), header + gap + k / columns * band_h);
            sheet.put(x, y + row * (cell_h + gap), &cell);
        }
    }
    if options.labels {
        for (k, time) in times.iter().enumerate() {
            let x = gap + k % columns * (cell_w + gap) + 3 * scale;
            let y = header + gap + k / columns * band_h + subjects.len() * (cell_h + gap) + scale;
            text::draw(&mut sheet, x, y, &format!("{time:.2} s"), scale, PALE_INK);
        }
        write_header(subjects, duration, shot.grid, scale, &mut sheet);
    }
    Ok(sheet)
}

/// The names, and what the sheet shows if there is room next to them.
fn write_header(subjects: &[Subject], duration: f64, grid: f64, scale: usize, sheet: &mut Picture) {
    let (x, y) = (5 * scale, 4 * scale);
    let grid = format!("grid {}", metres(grid));
    let facts = match subjects {
        [only] if only.motion.clip.frames() > 1 => {
            let clip = &only.motion.clip;
            let (frames, hz) = (clip.frames(), rate(clip.sample_rate));
            format!("{duration:.2} s, {frames} frames at {hz} Hz, {grid}")
        }
        _ if duration > 0.0 => format!("{duration:.2} s, {grid}"),
        _ => grid,
    };
    let names: Vec<&str> = subjects.iter().map(|s| s.label.as_str()).collect();
    let names = names.join(" | ");
    let title = text::fitted(&names, scale, sheet.width.saturating_sub(2 * x));
    text::draw(sheet, x, y, &title, scale, INK);
    let (used, wanted) = (text::width(&title, scale), text::width(&facts, scale));
    if used + wanted + 4 * x <= sheet.width {
        text::draw(sheet, sheet.width - wanted - x, y, &facts, scale, PALE_INK);
    }
}

/// A sample rate with no more digits than it needs.
fn rate(hz: f64) -> String {
    let text = format!("{hz:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
