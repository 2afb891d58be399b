//! Textures as files that other programs open: PNG and JPEG unchanged, WebP as PNG, one channel of an image as a grey PNG.

use crate::model::Texture;
use image::ImageFormat;
use std::borrow::Cow;
use std::io::Cursor;

/// An encoded image with its file extension.
pub(super) struct TextureFile<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) extension: &'static str,
    /// Whether it was another format before.
    pub(super) converted: bool,
}

/// The file of a texture; `None` for an image that is not PNG, JPEG or WebP, or that cannot be decoded.
pub(super) fn texture_file(texture: &Texture) -> Option<TextureFile<'_>> {
    let unchanged =
        |extension| TextureFile { bytes: (&texture.bytes[..]).into(), extension, converted: false };
    match image::guess_format(&texture.bytes).ok()? {
        ImageFormat::Png => Some(unchanged("png")),
        ImageFormat::Jpeg => Some(unchanged("jpg")),
        ImageFormat::WebP => Some(TextureFile {
            bytes: png(&decoded(texture, ImageFormat::WebP)?)?.into(),
            extension: "png",
            converted: true,
        }),
        _ => None,
    }
}

/// The first bytes of a KTX2 file.
const KTX2: &[u8] = b"\xabKTX 20\xbb";

/// Why a texture has no file.
pub(super) fn left_out(texture: &Texture) -> &'static str {
    if texture.bytes.starts_with(KTX2) {
        "a KTX2 texture was left out: convert it to PNG (`ktx extract` of Khronos), or write GLB, which keeps it"
    } else {
        "a texture was left out: it is not PNG, JPEG or WebP, or cannot be decoded"
    }
}

/// One channel (0 red, 1 green, 2 blue) as a grey PNG; `None` for an image that cannot be decoded.
pub(super) fn grey_channel(texture: &Texture, channel: usize) -> Option<Vec<u8>> {
    let format = image::guess_format(&texture.bytes).ok()?;
    let usual = matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP);
    let image = usual.then(|| decoded(texture, format))??.into_rgb8();
    let grey = image::GrayImage::from_fn(image.width(), image.height(), |x, y| {
        image::Luma([image.get_pixel(x, y)[channel]])
    });
    png(&grey.into())
}

fn decoded(texture: &Texture, format: ImageFormat) -> Option<image::DynamicImage> {
    // The crate has limits by default: at most half a GiB.
    image::ImageReader::with_format(Cursor::new(&texture.bytes[..]), format).decode().ok()
}

fn png(image: &image::DynamicImage) -> Option<Vec<u8>> {
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).ok()?;
    Some(png.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(pixels: &image::RgbaImage, format: ImageFormat) -> Texture {
        let mut bytes = Cursor::new(Vec::new());
        image::DynamicImage::from(pixels.clone()).write_to(&mut bytes, format).unwrap();
        Texture { bytes: bytes.into_inner().into() }
    }

    #[test]
    fn webp_is_converted_to_png_and_others_are_unchanged() {
        let pixels =
            image::RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8 * 80, y as u8 * 90, 7, 255]));
        let (webp, png) = (coded(&pixels, ImageFormat::WebP), coded(&pixels, ImageFormat::Png));
        let file = texture_file(&webp).unwrap();
        assert_eq!((file.extension, file.converted), ("png", true));
        assert_eq!(image::load_from_memory(&file.bytes).unwrap().to_rgba8(), pixels);
        assert_eq!(texture_file(&png).unwrap().bytes, &png.bytes[..]);
        assert!(texture_file(&Texture { bytes: b"GIF89a"[..].into() }).is_none());
        let ktx2 = Texture { bytes: [KTX2, &[0; 40]].concat().into() };
        assert!(texture_file(&ktx2).is_none() && left_out(&ktx2).contains("KTX2"));
        let half = Texture { bytes: webp.bytes[..webp.bytes.len() / 2].into() };
        assert!(texture_file(&half).is_none() && grey_channel(&half, 0).is_none());
    }

    #[test]
    fn a_channel_is_a_grey_image() {
        let pixels =
            image::RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8 * 80, y as u8 * 90, 7, 255]));
        let green = grey_channel(&coded(&pixels, ImageFormat::Png), 1).unwrap();
        let green = image::load_from_memory(&green).unwrap();
        assert_eq!(green.color(), image::ColorType::L8);
        assert_eq!(green.to_luma8().into_raw(), [0, 0, 0, 90, 90, 90]);
    }
}
