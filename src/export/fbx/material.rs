//! Writes materials with embedded textures.
//!
//! Meshes with equal materials share one, and materials with the same image share its texture. Colours are linear, as in the
//! source. PNG and JPEG are embedded unchanged; WebP, which FBX programs cannot open, is converted to PNG.

use super::fbx_builder::{FbxBuilder, UV_SET};
use super::record_properties::{object, properties, row, triple_row};
use super::records::FbxRecord;
use crate::model::{Material, Texture};
use crate::report::Warnings;
use image::ImageFormat;
use std::borrow::Cow;
use std::io::Cursor;

/// The materials of a new file.
#[derive(Default)]
pub(super) struct FbxMaterials<'a> {
    materials: Vec<(&'a Material, i64)>,
    /// Images and the object ids of their textures; `None` for unsupported images.
    textures: Vec<(&'a Texture, Option<i64>)>,
    pub(super) warnings: Warnings,
}

impl<'a> FbxMaterials<'a> {
    /// The object id of a material, which is named after the first mesh that uses it.
    pub(super) fn material(&mut self, document: &mut FbxBuilder, source: &'a Material, mesh: &str) -> i64 {
        if let Some((_, known)) = self.materials.iter().find(|(m, _)| *m == source) {
            return *known;
        }
        let id = document.id();
        let [r, g, b, alpha] = source.base_color.map(f64::from);
        let color = |name, v| triple_row(name, "Color", "", "A", v);
        let number = |name, value| row(name, "Number", "", "A").double(value);
        let rows = [
            color("DiffuseColor", [r, g, b]),
            number("DiffuseFactor", 1.0),
            color("TransparentColor", [1.0; 3]),
            number("TransparencyFactor", 1.0 - alpha),
            number("SpecularFactor", 0.0),
            number("ShininessExponent", 6.0),
            row("Opacity", "double", "Number", "").double(alpha),
        ];
        document.add(
            FbxBuilder::object("Material", id, mesh, "Material", "")
                .add(FbxRecord::new("Version").int(102))
                .add(FbxRecord::new("ShadingModel").string("phong"))
                .add(FbxRecord::new("MultiLayer").int(0))
                .add(properties(rows)),
        );
        if let Some(texture) = source.texture.as_ref().and_then(|t| self.texture(document, t, mesh)) {
            document.connect_property(texture, id, "DiffuseColor");
        }
        self.materials.push((source, id));
        id
    }

    fn texture(&mut self, document: &mut FbxBuilder, texture: &'a Texture, mesh: &str) -> Option<i64> {
        if let Some((_, known)) = self.textures.iter().find(|(t, _)| *t == texture) {
            return *known;
        }
        let id = match encoded_image(&texture.bytes) {
            Some((bytes, suffix)) => Some(write(document, &bytes, mesh, suffix)),
            None => {
                let message = "a texture that is not PNG, JPEG or WebP was omitted";
                self.warnings.add("fbx-texture", message, format!("mesh `{mesh}`"));
                None
            }
        };
        self.textures.push((texture, id));
        id
    }
}

/// An image in a format that FBX programs open, and its file extension.
fn encoded_image(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, &'static str)> {
    match image::guess_format(bytes).ok()? {
        ImageFormat::Png => Some((bytes.into(), "png")),
        ImageFormat::Jpeg => Some((bytes.into(), "jpg")),
        ImageFormat::WebP => {
            let mut reader = image::ImageReader::with_format(Cursor::new(bytes), ImageFormat::WebP);
            // The default limits of the crate: at most half a GiB.
            reader.limits(image::Limits::default());
            let mut png = Cursor::new(Vec::new());
            reader.decode().ok()?.write_to(&mut png, ImageFormat::Png).ok()?;
            Some((png.into_inner().into(), "png"))
        }
        _ => None,
    }
}

fn write(document: &mut FbxBuilder, bytes: &[u8], name: &str, suffix: &str) -> i64 {
    let (video, texture) = (document.id(), document.id());
    // The id distinguishes names that differ only in characters that a file name cannot contain.
    let letter = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let file = format!("{}_{texture}.{suffix}", name.chars().map(letter).collect::<String>());
    document.add(
        FbxBuilder::object("Video", video, name, "Video", "Clip")
            .add(FbxRecord::new("Type").string("Clip"))
            .add(properties([row("Path", "KString", "XRefUrl", "").string(&file)]))
            .add(FbxRecord::new("UseMipMap").int(0))
            .add(FbxRecord::new("Filename").string(&file))
            .add(FbxRecord::new("RelativeFilename").string(&file))
            .add(FbxRecord::new("Content").raw(bytes)),
    );
    document.add(
        FbxBuilder::object("Texture", texture, name, "Texture", "")
            .add(FbxRecord::new("Type").string("TextureVideoClip"))
            .add(FbxRecord::new("Version").int(202))
            .add(FbxRecord::new("TextureName").string(&object(name, "Texture")))
            .add(properties([
                row("UVSet", "KString", "", "").string(UV_SET),
                row("UseMaterial", "bool", "", "").int(1),
            ]))
            .add(FbxRecord::new("Media").string(&object(name, "Video")))
            .add(FbxRecord::new("FileName").string(&file))
            .add(FbxRecord::new("RelativeFilename").string(&file))
            .add(FbxRecord::new("ModelUVTranslation").double(0.0).double(0.0))
            .add(FbxRecord::new("ModelUVScaling").double(1.0).double(1.0))
            .add(FbxRecord::new("Texture_Alpha_Source").string("None"))
            .add(FbxRecord::new("Cropping").int(0).int(0).int(0).int(0)),
    );
    document.connect(video, texture);
    texture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webp_is_converted_to_png_and_others_are_unchanged() {
        let pixels =
            image::RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8 * 80, y as u8 * 90, 7, 255]));
        let coded = |format| {
            let mut bytes = Cursor::new(Vec::new());
            image::DynamicImage::from(pixels.clone()).write_to(&mut bytes, format).unwrap();
            bytes.into_inner()
        };
        let (webp, png) = (coded(ImageFormat::WebP), coded(ImageFormat::Png));
        let (found, suffix) = encoded_image(&webp).unwrap();
        assert_eq!(suffix, "png");
        assert_eq!(image::load_from_memory(&found).unwrap().to_rgba8(), pixels);
        assert_eq!(encoded_image(&png), Some((Cow::Borrowed(&png[..]), "png")));
        assert_eq!(encoded_image(b"GIF89a"), None);
        assert_eq!(encoded_image(&webp[..webp.len() / 2]), None);
    }
}
