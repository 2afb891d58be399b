//! Subjects and options of a preview, and its errors.

use super::camera::View;
use super::marks;
use crate::model::{Mark, Motion, ObservedPoints};
use std::str::FromStr;

/// The smallest side of a picture, pixels: below it nothing can be recognised.
const MIN_SIDE: u32 = 16;
/// The largest side of a picture: the buffers of one picture stay below 300 MB.
const MAX_SIDE: u32 = 4096;
/// Frames of one animation: seven minutes at 24 Hz.
const MAX_FRAMES: usize = 10_000;
/// Most motions side by side.
const MAX_SUBJECTS: usize = 64;
/// Pixels of a whole sheet or of one animation frame, all motions together.
pub(super) const MAX_PIXELS: u64 = 1 << 26;
/// Highest frame rate, hertz: GIF players slow down frames shorter than two hundredths of a second.
const MAX_FPS: f64 = 50.0;

/// One motion of a preview.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The motion to draw.
    pub motion: &'a Motion,
    /// The label in the picture.
    pub label: String,
    /// Contacts and targets to be shown with it.
    pub marks: Vec<Mark>,
    /// Points to which the motion was fitted, drawn as dots.
    pub observed: Option<&'a ObservedPoints>,
}

impl<'a> From<&'a Motion> for Subject<'a> {
    /// A subject labelled with the name of its clip, or of its character where the clip has none, with the contacts
    /// of the motion.
    fn from(motion: &'a Motion) -> Self {
        let name = if motion.clip.name.is_empty() { &motion.character.name } else { &motion.clip.name };
        Self { motion, label: name.clone(), marks: marks::contact_marks(motion), observed: None }
    }
}

/// The size of one picture in pixels: of a sheet's cell, of each motion of an animation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl FromStr for Size {
    type Err = RenderError;

    /// `480` (a square) or `640x360`.
    fn from_str(text: &str) -> Result<Self, RenderError> {
        let side =
            |t: &str| t.trim().parse::<u32>().map_err(|_| RenderError::SizeText { found: text.into() });
        let (width, height) = match text.split_once(['x', 'X']) {
            Some((w, h)) => (side(w)?, side(h)?),
            None => (side(text)?, side(text)?),
        };
        let size = Self { width, height };
        size.check().map(|()| size)
    }
}

impl Size {
    pub(super) fn check(self) -> Result<(), RenderError> {
        let fits = |side| (MIN_SIDE..=MAX_SIDE).contains(&side);
        if fits(self.width) && fits(self.height) {
            return Ok(());
        }
        Err(RenderError::Size { width: self.width, height: self.height })
    }
}

/// How a preview is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewOptions {
    /// The size of one picture; by default 240 x 320 for a cell of a sheet and 480 x 480 for an animation.
    pub size: Option<Size>,
    /// Position of the camera. In a contact sheet it always follows the figure.
    pub view: View,
    /// Frames per second of an animation.
    pub fps: f64,
    /// How many poses a sheet, or frames an animation has; by default 12, or the number that follows from `fps`.
    pub frames: Option<usize>,
    /// Whether the skeleton is drawn over the figure as lines.
    pub skeleton: bool,
    /// Whether the path of the hips is drawn on the ground.
    pub path: bool,
    /// Whether names, times and the grid's size are written into the picture.
    pub labels: bool,
}

impl Default for PreviewOptions {
    fn default() -> Self {
        Self {
            size: None,
            view: View::default(),
            fps: 25.0,
            frames: None,
            skeleton: false,
            path: true,
            labels: true,
        }
    }
}

impl PreviewOptions {
    /// Checks the options and the motions that they are for.
    pub(super) fn check(&self, subjects: &[Subject]) -> Result<(), RenderError> {
        if let Some(size) = self.size {
            size.check()?;
        }
        if !(self.fps > 0.0 && self.fps <= MAX_FPS) {
            return Err(RenderError::Fps { found: self.fps });
        }
        if let Some(found) = self.frames.filter(|n| !(1..=MAX_FRAMES).contains(n)) {
            return Err(RenderError::Frames { found });
        }
        if subjects.is_empty() || subjects.len() > MAX_SUBJECTS {
            return Err(RenderError::Subjects { found: subjects.len() });
        }
        for subject in subjects {
            let fault = |reason: String| RenderError::Motion { label: subject.label.clone(), reason };
            if subject.motion.clip.frames() == 0 {
                return Err(RenderError::Empty { label: subject.label.clone() });
            }
            subject.motion.check().map_err(|e| fault(e.to_string()))?;
        }
        Ok(())
    }

    /// The number of frames of an animation that lasts `duration` seconds.
    pub(super) fn frame_count(&self, duration: f64) -> Result<usize, RenderError> {
        // Evenly spread frames: the last one lasts as long as all others.
        let asked = self.frames.unwrap_or_else(|| (duration * self.fps).round().max(1.0) as usize);
        if asked > MAX_FRAMES {
            return Err(RenderError::Frames { found: asked });
        }
        Ok(asked.min(((duration * MAX_FPS).floor() as usize).max(1)))
    }
}

/// Why a preview cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// No motion, or too many of them.
    #[error("{found} motions side by side, allowed are 1 to {MAX_SUBJECTS}")]
    Subjects {
        /// The number.
        found: usize,
    },
    /// A clip without frames.
    #[error("`{label}` has no frames to show")]
    Empty {
        /// The motion's label.
        label: String,
    },
    /// A motion that violates the normal form.
    #[error("`{label}` cannot be drawn: {reason}")]
    Motion {
        /// The motion's label.
        label: String,
        /// The violation.
        reason: String,
    },
    /// A size out of range.
    #[error("a picture of {width} x {height} pixels, allowed are {MIN_SIDE} to {MAX_SIDE} a side")]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// A text that is not a size.
    #[error("`{found}` is no size\n  hint: write `480` or `640x360`")]
    SizeText {
        /// The text.
        found: String,
    },
    /// All pictures together are too large.
    #[error(
        "{pixels} pixels in one picture, allowed are {MAX_PIXELS}\n  hint: ask for a smaller size or fewer frames"
    )]
    Pixels {
        /// The number.
        pixels: u64,
    },
    /// A frame rate out of range.
    #[error("a frame rate of {found} Hz: allowed is above 0 to {MAX_FPS}")]
    Fps {
        /// The rate.
        found: f64,
    },
    /// A number of frames out of range.
    #[error("{found} frames, allowed are 1 to {MAX_FRAMES}")]
    Frames {
        /// The number.
        found: usize,
    },
    /// The picture format cannot hold this.
    #[error("the picture cannot be written: {reason}")]
    Encode {
        /// The error of the encoder.
        reason: String,
    },
}
