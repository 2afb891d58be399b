//! Frames of an animation: motions drawn side by side by clip time, with one palette and exact delays.
//!
//! Every frame stores only the rectangle that changed, and in it only the pixels that changed. Frames are drawn and
//! packed on all threads and written in order.

use super::actor::Actor;
use super::camera::View;
use super::framing::{Follow, Framing};
use super::options::{MAX_PIXELS, PreviewOptions, RenderError, Size, Subject};
use super::palette::{Palette, UNCHANGED};
use super::picture::Picture;
use super::sheet::{INK, PALE_INK, label_scale, metres};
use super::studio::{Easel, Studio};
use super::text;
use super::timing;
use crate::parallel;

pub(super) const PICTURE: Size = Size { width: 480, height: 480 };
/// Number of frames sampled for the palette.
const PALETTE_FRAMES: usize = 5;
/// Frames per thread that are drawn before they are written, which limits memory.
const AHEAD: usize = 4;
/// sRGB colour of the progress bar.
const BAR: [u8; 3] = [122, 134, 205];

/// A frame as it is stored: the rectangle that changed, in palette indices.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Patch {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) indices: Vec<u8>,
}

impl Patch {
    /// What changed from `before` to `now`, both of `width` pixels across; everything if there is no frame before.
    pub(super) fn between(before: Option<&[u8]>, now: &[u8], width: usize) -> Self {
        let height = now.len() / width;
        let Some(before) = before else {
            return Self { left: 0, top: 0, width, height, indices: now.to_vec() };
        };
        let (mut left, mut right, mut top, mut bottom) = (width, 0, height, 0);
        for y in 0..height {
            let (old, new) = (&before[y * width..][..width], &now[y * width..][..width]);
            let Some(first) = old.iter().zip(new).position(|(a, b)| a != b) else { continue };
            let last = old.iter().zip(new).rposition(|(a, b)| a != b).unwrap_or(first);
            (left, right) = (left.min(first), right.max(last + 1));
            (top, bottom) = (top.min(y), y + 1);
        }
        if right == 0 {
            return Self { left: 0, top: 0, width: 1, height: 1, indices: vec![UNCHANGED] };
        }
        let mut indices = Vec::with_capacity((right - left) * (bottom - top));
        for y in top..bottom {
            let span = y * width + left..y * width + right;
            let pairs = before[span.clone()].iter().zip(&now[span]);
            indices.extend(pairs.map(|(old, new)| if old == new { UNCHANGED } else { *new }));
        }
        Self { left, top, width: right - left, height: bottom - top, indices }
    }
}

/// All motions of an animation, ready to be drawn.
struct Show<'a> {
    studios: Vec<Studio<'a>>,
    subjects: &'a [Subject<'a>],
    times: Vec<f64>,
    duration: f64,
    grid: f64,
    size: Size,
    labels: bool,
}

impl Show<'_> {
    /// The whole picture of one frame.
    fn draw(&self, frame: usize, easels: &mut [Easel]) -> Picture {
        let (width, height) = (self.size.width as usize, self.size.height as usize);
        let time = self.times[frame];
        let mut whole = Picture::new(width * self.studios.len(), height, [0; 3]);
        let scale = label_scale(self.size.width.min(self.size.height));
        for (k, (studio, easel)) in self.studios.iter().zip(easels).enumerate() {
            let mut picture = studio.draw(time, easel);
            if self.labels {
                let label = text::fitted(&self.subjects[k].label, scale, width.saturating_sub(8 * scale));
                text::draw(&mut picture, 4 * scale, 4 * scale, &label, scale, INK);
            }
            whole.put(k * width, 0, &picture);
        }
        if self.labels {
            let line = height.saturating_sub(text::line_height(scale) + 4 * scale);
            text::draw(&mut whole, 4 * scale, line, &format!("{time:.2} s"), scale, PALE_INK);
            let grid = format!("grid {}", metres(self.grid));
            let right = whole.width.saturating_sub(text::width(&grid, scale) + 4 * scale);
            text::draw(&mut whole, right, line, &grid, scale, PALE_INK);
            let progress = if self.duration > 0.0 { time / self.duration } else { 0.0 };
            let bar = (progress * whole.width as f64).round() as usize;
            whole.fill(0, height - scale.min(height), bar, scale, BAR);
        }
        whole
    }

    fn easels(&self) -> Vec<Easel> {
        self.studios.iter().map(Studio::easel).collect()
    }
}

/// An animation ready to be written: what it shows, its palette, and how long each frame lasts.
pub(super) struct Film<'a> {
    show: Show<'a>,
    pub(super) palette: Palette,
    /// Hundredths of a second.
    pub(super) delays: Vec<u16>,
}

/// The actors of an animation in a picture of the given size, both checked.
pub(super) fn cast<'a>(
    subjects: &'a [Subject<'a>],
    options: &PreviewOptions,
) -> Result<(Vec<Actor<'a>>, Size), RenderError> {
    options.check(subjects)?;
    let size = options.size.unwrap_or(PICTURE);
    let pixels = u64::from(size.width) * u64::from(size.height) * subjects.len() as u64;
    if pixels > MAX_PIXELS || size.width as usize * subjects.len() > usize::from(u16::MAX) {
        return Err(RenderError::Pixels { pixels });
    }
    let side = (2 * size.width.max(size.height)).clamp(256, 2048);
    Ok((parallel::map_each(subjects, 1, |s| Actor::new(s, side)), size))
}

impl<'a> Film<'a> {
    /// Frames, palette and delays for the actors; `shot` has to live as long.
    pub(super) fn new(
        actors: &'a [Actor<'a>],
        subjects: &'a [Subject<'a>],
        shot: &'a Framing,
        times: Vec<f64>,
        duration: f64,
        size: Size,
        options: &PreviewOptions,
    ) -> Self {
        let studio =
            |(k, a)| Studio::new(a, shot, k, (size.width, size.height), options.skeleton, options.path);
        let studios = actors.iter().enumerate().map(studio).collect();
        let delays = timing::delays(duration, times.len());
        let show = Show { studios, subjects, times, duration, grid: shot.grid, size, labels: options.labels };
        let count = show.times.len();
        let looks = PALETTE_FRAMES.min(count);
        let sampled: Vec<usize> = (0..looks).map(|k| k * count / looks).collect();
        let draw = |easels: &mut Vec<Easel>, k: usize| show.draw(sampled[k], easels);
        let samples: Vec<Picture> = parallel::map_with(looks, 1, || show.easels(), draw);
        let palette = Palette::of(&samples);
        Self { show, palette, delays }
    }

    /// The size of all pictures side by side.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.show.size.width * self.show.studios.len() as u32, self.show.size.height)
    }

    /// Draws all frames, packs them in parallel and writes them in order.
    pub(super) fn roll<F: Send>(
        &self,
        pack: impl Fn(Patch, u16) -> F + Sync,
        mut write: impl FnMut(F) -> Result<(), RenderError>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), RenderError> {
        let count = self.show.times.len();
        let width = self.size().0 as usize;
        let frames: Vec<usize> = (0..count).collect();
        let mut before: Option<Vec<u8>> = None;
        for chunk in frames.chunks(AHEAD * crate::parallel::threads()) {
            let draw =
                |easels: &mut Vec<Easel>, k: usize| self.palette.indices(&self.show.draw(chunk[k], easels));
            let drawn: Vec<Vec<u8>> = parallel::map_with(chunk.len(), 1, || self.show.easels(), draw);
            let patch = |k: usize| {
                let before = if k == 0 { before.as_deref() } else { Some(drawn[k - 1].as_slice()) };
                pack(Patch::between(before, &drawn[k], width), self.delays[chunk[k]])
            };
            let packed: Vec<F> = parallel::map(chunk.len(), 1, patch);
            for (frame, k) in packed.into_iter().zip(chunk) {
                write(frame)?;
                progress(k + 1, count);
            }
            before = drawn.into_iter().next_back();
        }
        Ok(())
    }
}

/// The shot of an animation.
pub(super) fn shot(actors: &[Actor], times: &[f64], size: Size, options: &PreviewOptions) -> Framing {
    let follow = if options.view == View::Follow { Follow::Calmly } else { Follow::No };
    let free = if options.labels { (0.07, 0.06) } else { (0.04, 0.04) };
    Framing::new(actors, options.view, follow, times, (size.width, size.height), free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_holds_what_changed_and_nothing_else() {
        let before = [1; 20];
        let mut now = before;
        (now[7], now[14]) = (3, 4);
        let patch = Patch::between(Some(&before), &now, 5);
        let expected =
            Patch { left: 2, top: 1, width: 3, height: 2, indices: vec![3, 255, 255, 255, 255, 4] };
        assert_eq!(patch, expected);
        assert_eq!(Patch::between(Some(&now), &now, 5).indices, [UNCHANGED]);
        assert_eq!(Patch::between(None, &now, 5).indices, now);
    }
}
