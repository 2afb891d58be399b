//! Entry point: draws motions into the bytes of a picture file.

use super::animation;
use super::options::{PreviewOptions, RenderError, Subject};
use super::sheet::contact_sheet;
use std::str::FromStr;

/// The file formats of a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// A contact sheet as PNG.
    Png,
    /// A contact sheet as JPEG: a sixth of the bytes, lossy.
    Jpeg,
    /// An animation as GIF.
    Gif,
    /// An animation as APNG.
    Apng,
}

impl FromStr for PictureFormat {
    type Err = String;

    /// By file extension, in any case.
    fn from_str(extension: &str) -> Result<Self, String> {
        match extension.to_ascii_lowercase().as_str() {
            "png" => Ok(PictureFormat::Png),
            "jpg" | "jpeg" => Ok(PictureFormat::Jpeg),
            "gif" => Ok(PictureFormat::Gif),
            "apng" => Ok(PictureFormat::Apng),
            _ => Err(format!("`{extension}` is no preview format, allowed are png, jpg, gif, apng")),
        }
    }
}

/// Draws the subjects side by side by clip time; one that ends earlier holds its last pose.
///
/// The camera's direction is taken from the first subject and shared, and so is the scale. `progress` is called
/// from any thread with the number of finished pictures and of all pictures. The bytes do not depend on the number of threads.
///
/// # Errors
/// A [`RenderError`] for options out of range, clips without frames and motions that break the normal form.
pub fn preview(
    subjects: &[Subject],
    options: &PreviewOptions,
    format: PictureFormat,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<u8>, RenderError> {
    match format {
        PictureFormat::Png => contact_sheet(subjects, options, progress)?.to_png(),
        PictureFormat::Jpeg => contact_sheet(subjects, options, progress)?.to_jpeg(),
        PictureFormat::Gif => animation::gif(subjects, options, progress),
        PictureFormat::Apng => animation::apng(subjects, options, progress),
    }
}
