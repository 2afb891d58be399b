//! Textures: decodes images within limits, reduces them to the resolution of a preview, samples them bilinearly.
//!
//! Colours are stored as in the file (sRGB bytes) and converted to linear when sampled. Texture coordinates repeat.

use super::vector::{V3, add, scale};
use crate::math::{linear_of_srgb, srgb_of_linear};
use crate::model::Texture;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// The largest side of a base-colour image that is decoded.
const MAX_SIDE: u32 = 8192;
/// Memory limit for decoding one image, bytes: an 8192 x 8192 image of four bytes per pixel, and as much work space.
const MAX_BYTES: u64 = 1 << 29;

/// JPEG quality out of 100: above it files grow without a visible gain in small pictures.
const JPEG_QUALITY: u8 = 75;

/// sRGB bytes as linear values.
static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|k| linear_of_srgb(k as f64 / 255.0) as f32));

/// Linear values from 0 to 1 as sRGB bytes.
static ENCODED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let encode = |k: usize| {
        let s = srgb_of_linear((k as f64 + 0.5) / 4096.0);
        (s * 255.0).round() as u8
    };
    (0..4096).map(encode).collect()
});

/// A linear colour as sRGB bytes.
pub(super) fn encode(c: V3) -> [u8; 3] {
    let table = &*ENCODED;
    c.map(|x| table[((x * 4096.0) as i32).clamp(0, 4095) as usize])
}

/// A linear colour of sRGB bytes.
pub(super) fn linear(rgb: [u8; 3]) -> V3 {
    rgb.map(|c| LINEAR[usize::from(c)])
}

/// A texture as a JPEG file of at most `most` pixels a side; `None` where it cannot be read.
pub fn small_jpeg(texture: &Texture, most: u32) -> Option<Vec<u8>> {
    Image::decode(texture, most)?.to_jpeg()
}

/// Pixels of all images of one character before they are reduced: four of the largest, or sixteen of 4096 a side. A few
/// bytes of a file can describe a million pixels; surfaces whose images exceed the limit are drawn in plain colours.
const MAX_PIXELS: u64 = 4 * (MAX_SIDE as u64) * (MAX_SIDE as u64);

/// The images of one character, each decoded once, even if several surfaces use it.
#[derive(Debug)]
pub(super) struct Images {
    most: u32,
    left: u64,
    decoded: HashMap<*const u8, Option<Arc<Image>>>,
}

impl Images {
    /// No image decoded yet; each will be reduced to at most `most` pixels per side.
    pub(super) fn new(most: u32) -> Self {
        Self { most, left: MAX_PIXELS, decoded: HashMap::new() }
    }

    /// The image of a texture; `None` as in [`Image::decode`], and beyond [`MAX_PIXELS`].
    pub(super) fn get(&mut self, texture: &Texture) -> Option<Arc<Image>> {
        let key = texture.bytes.as_ptr();
        if let Some(known) = self.decoded.get(&key) {
            return known.clone();
        }
        let (width, height) = reader(texture).and_then(|r| r.into_dimensions().ok()).unwrap_or_default();
        let pixels = u64::from(width) * u64::from(height);
        let image = (pixels <= self.left).then(|| Image::decode(texture, self.most)).flatten().map(Arc::new);
        self.left = self.left.saturating_sub(pixels);
        self.decoded.insert(key, image.clone());
        image
    }
}

/// A reader of the encoded bytes with the limits set.
fn reader(texture: &Texture) -> Option<image::ImageReader<std::io::Cursor<&[u8]>>> {
    let mut reader = image::ImageReader::new(std::io::Cursor::new(&texture.bytes[..]));
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_BYTES);
    reader.limits(limits);
    reader.with_guessed_format().ok()
}

/// A decoded base-colour image.
#[derive(Clone, Debug)]
pub(super) struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

impl Image {
    /// Decodes a texture and reduces it to at most `most` pixels a side. `None` where it cannot be read or is
    /// larger than the limits: the surface then shows its plain colour.
    pub(super) fn decode(texture: &Texture, most: u32) -> Option<Self> {
        let mut decoded = reader(texture)?.decode().ok()?;
        if decoded.width().max(decoded.height()) > most {
            decoded = decoded.thumbnail(most, most);
        }
        let rgb = decoded.to_rgb8();
        let (width, height) = (rgb.width() as usize, rgb.height() as usize);
        let pixels: Vec<[u8; 3]> = rgb.pixels().map(|p| p.0).collect();
        (!pixels.is_empty()).then_some(Self { width, height, pixels })
    }

    /// The image as a JPEG file.
    fn to_jpeg(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
        let (width, height) = (self.width as u32, self.height as u32);
        encoder.encode(self.pixels.as_flattened(), width, height, image::ExtendedColorType::Rgb8).ok()?;
        Some(bytes)
    }

    /// The linear colour at texture coordinates, interpolated between the four nearest pixels.
    pub(super) fn sample(&self, uv: [f32; 2]) -> V3 {
        let place = |c: f32, n: usize| {
            let c = if c.is_finite() { c - c.floor() } else { 0.0 };
            let at = c * n as f32 - 0.5;
            let low = at.floor();
            let index = |k: f32| (k as i64).rem_euclid(n as i64) as usize;
            (index(low), index(low + 1.0), at - low)
        };
        let (x0, x1, u) = place(uv[0], self.width);
        let (y0, y1, v) = place(uv[1], self.height);
        let at = |x: usize, y: usize| linear(self.pixels[y * self.width + x]);
        let top = add(scale(at(x0, y0), 1.0 - u), scale(at(x1, y0), u));
        let bottom = add(scale(at(x0, y1), 1.0 - u), scale(at(x1, y1), u));
        add(scale(top, 1.0 - v), scale(bottom, v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Texture {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().unwrap();
        let pixels: Vec<u8> =
            (0..width * height * 3).map(|k| if (k / 3) % 2 == 0 { 255 } else { 0 }).collect();
        writer.write_image_data(&pixels).unwrap();
        writer.finish().unwrap();
        Texture { bytes: bytes.into() }
    }

    #[test]
    fn bytes_survive_the_way_to_linear_and_back() {
        for k in 0..=255 {
            let back = encode(linear([k, k, k]))[0];
            assert!(back.abs_diff(k) <= u8::from(k < 40), "{k} became {back}");
        }
        assert_eq!(encode([-1.0, 2.0, f32::NAN]), [0, 255, 0]);
    }

    #[test]
    fn textures_repeat_and_blend_between_pixels() {
        let image = Image::decode(&png(2, 1), 64).unwrap();
        for shift in [-3.0, 0.0, 7.0] {
            assert!((image.sample([0.25 + shift, 0.5])[0] - 1.0).abs() < 1e-4);
            assert!(image.sample([0.75 + shift, 0.5])[0] < 1e-4);
            assert!((image.sample([0.5 + shift, 0.5])[0] - 0.5).abs() < 1e-3);
        }
        assert!(image.sample([f32::NAN, f32::INFINITY])[0].is_finite());
    }

    #[test]
    fn damaged_and_oversized_images_are_refused() {
        let whole = png(8, 8).bytes;
        for cut in 0..whole.len() - 12 {
            assert!(Image::decode(&Texture { bytes: whole[..cut].into() }, 64).is_none(), "cut at {cut}");
        }
        assert!(Image::decode(&png(MAX_SIDE + 1, 1), 64).is_none());
        let reduced = Image::decode(&png(200, 100), 50).unwrap();
        assert_eq!((reduced.width, reduced.height), (50, 25));
    }
}
