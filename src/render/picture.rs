//! A rectangle of sRGB pixels: filled, joined, drawn upon, and written as PNG.

use super::options::RenderError;

/// JPEG quality out of 100: at 75 the row of poses is a fifth of a report page; at 45 thin limbs have fringes.
const SHEET_QUALITY: u8 = 60;

/// An sRGB picture, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// A picture of one colour.
    pub(super) fn new(width: usize, height: usize, color: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![color; width * height] }
    }

    /// Blends `color` over a pixel; outside the picture nothing happens.
    pub(super) fn blend(&mut self, x: i64, y: i64, color: [u8; 3], alpha: f32) {
        let inside = (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y);
        if !inside || alpha <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[y as usize * self.width + x as usize];
        let weight = (alpha.min(1.0) * 256.0) as i32;
        for (p, c) in pixel.iter_mut().zip(color) {
            *p = (i32::from(*p) + (((i32::from(c) - i32::from(*p)) * weight + 128) >> 8)) as u8;
        }
    }

    /// Fills a rectangle, clipped to the picture.
    pub(super) fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, color: [u8; 3]) {
        let (right, bottom) = ((x + width).min(self.width), (y + height).min(self.height));
        for row in y.min(bottom)..bottom {
            self.pixels[row * self.width + x.min(right)..row * self.width + right].fill(color);
        }
    }

    /// Draws another picture over this one with its upper left corner at `x`, `y`; it must fit.
    pub(super) fn put(&mut self, x: usize, y: usize, other: &Picture) {
        for row in 0..other.height {
            let to = (y + row) * self.width + x;
            self.pixels[to..to + other.width]
                .copy_from_slice(&other.pixels[row * other.width..][..other.width]);
        }
    }

    /// The picture as a JPEG file.
    pub(super) fn to_jpeg(&self) -> Result<Vec<u8>, RenderError> {
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, SHEET_QUALITY);
        let (width, height) = (self.width as u32, self.height as u32);
        let fault = |e: image::ImageError| RenderError::Encode { reason: e.to_string() };
        encoder
            .encode(self.pixels.as_flattened(), width, height, image::ExtendedColorType::Rgb8)
            .map_err(fault)?;
        Ok(bytes)
    }

    /// The picture as a PNG file.
    pub(super) fn to_png(&self) -> Result<Vec<u8>, RenderError> {
        let mut bytes = Vec::new();
        let fault = |e: png::EncodingError| RenderError::Encode { reason: e.to_string() };
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        let mut writer = encoder.write_header().map_err(fault)?;
        writer.write_image_data(self.pixels.as_flattened()).map_err(fault)?;
        writer.finish().map_err(fault)?;
        Ok(bytes)
    }
}
