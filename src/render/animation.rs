//! Encodes an animation as a GIF or APNG file that loops forever.

use super::film::{Film, Patch, cast, shot};
use super::options::{PreviewOptions, RenderError, Subject};
use super::palette::{COLORS, Palette, UNCHANGED};
use super::timing;

/// The animation as a GIF file. `progress` is called with the number of finished frames and of all frames.
pub(super) fn gif(
    subjects: &[Subject],
    options: &PreviewOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<u8>, RenderError> {
    let fault = |e: gif::EncodingError| RenderError::Encode { reason: e.to_string() };
    let mut bytes = Vec::new();
    with_film(subjects, options, |film| {
        let (width, height) = film.size();
        let palette = padded(&film.palette);
        let mut encoder =
            gif::Encoder::new(&mut bytes, width as u16, height as u16, &palette).map_err(fault)?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(fault)?;
        let pack = |patch: Patch, delay: u16| {
            let mut frame = gif::Frame {
                left: patch.left as u16,
                top: patch.top as u16,
                width: patch.width as u16,
                height: patch.height as u16,
                delay,
                dispose: gif::DisposalMethod::Keep,
                transparent: Some(UNCHANGED),
                buffer: patch.indices.into(),
                ..gif::Frame::default()
            };
            frame.make_lzw_pre_encoded();
            frame
        };
        film.roll(pack, |frame| encoder.write_lzw_pre_encoded_frame(&frame).map_err(fault), progress)
    })?;
    Ok(bytes)
}

/// The animation as an APNG file. `progress` is called with the number of finished frames and of all frames.
pub(super) fn apng(
    subjects: &[Subject],
    options: &PreviewOptions,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Vec<u8>, RenderError> {
    let fault = |e: png::EncodingError| RenderError::Encode { reason: e.to_string() };
    let mut bytes = Vec::new();
    with_film(subjects, options, |film| {
        let (width, height) = film.size();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_palette(padded(&film.palette));
        let mut opacity = vec![255; usize::from(UNCHANGED)];
        opacity.push(0);
        encoder.set_trns(opacity);
        encoder.set_compression(png::Compression::Fast);
        encoder.set_filter(png::Filter::NoFilter);
        encoder.set_animated(film.delays.len() as u32, 0).map_err(fault)?;
        encoder.set_blend_op(png::BlendOp::Over).map_err(fault)?;
        let mut writer = encoder.write_header().map_err(fault)?;
        let write = |(patch, delay): (Patch, u16)| {
            writer.set_frame_delay(delay, 100)?;
            // The encoder checks position and size against each other: back to the corner first.
            writer.reset_frame_position()?;
            writer.set_frame_dimension(patch.width as u32, patch.height as u32)?;
            writer.set_frame_position(patch.left as u32, patch.top as u32)?;
            writer.write_image_data(&patch.indices)
        };
        let mut write = write;
        film.roll(|patch, delay| (patch, delay), |frame| write(frame).map_err(fault), progress)?;
        writer.finish().map_err(fault)
    })?;
    Ok(bytes)
}

fn with_film(
    subjects: &[Subject],
    options: &PreviewOptions,
    run: impl FnOnce(&Film) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    let (actors, size) = cast(subjects, options)?;
    let duration = subjects.iter().map(|s| s.motion.clip.duration()).fold(0.0, f64::max);
    let count = options.frame_count(duration)?;
    let times = timing::times(duration, count);
    let shot = shot(&actors, &times, size, options);
    run(&Film::new(&actors, subjects, &shot, times, duration, size, options))
}

/// Red, green and blue of 256 colours.
fn padded(palette: &Palette) -> Vec<u8> {
    let mut bytes = palette.bytes().to_vec();
    bytes.resize(3 * (COLORS + 1), 0);
    bytes
}
