//! What surfaces look like becomes materials with their textures inside the file.
//!
//! Meshes that look the same share a material, materials with the same picture its texture. Colours are linear, as they
//! came. PNG and JPEG go in as they are; WebP, which FBX programs cannot open, as PNG.

use super::fbx_builder::FbxBuilder;
use super::record_properties::{object, properties, row, triple_row};
use super::records::FbxRecord;
use crate::model::{Material, Texture};
use crate::report::Warnings;
use image::ImageFormat;
use std::borrow::Cow;
use std::io::Cursor;

/// The materials of a file in the making.
#[derive(Default)]
pub(super) struct FbxMaterials<'a> {
    materials: Vec<(&'a Material, i64)>,
    /// Pictures and their textures; `None` for those that cannot be kept.
    textures: Vec<(&'a Texture, Option<i64>)>,
    pub(super) warnings: Warnings,
}

impl<'a> FbxMaterials<'a> {
    /// The object of a material, which is named after the first mesh that has it.
    pub(super) fn material(&mut self, document: &mut FbxBuilder, look: &'a Material, mesh: &str) -> i64 {
        if let Some((_, known)) = self.materials.iter().find(|(m, _)| *m == look) {
            return *known;
        }
        let id = document.id();
        let [r, g, b, alpha] = look.base_color.map(f64::from);
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
        if let Some(texture) = look.texture.as_ref().and_then(|t| self.texture(document, t, mesh)) {
            document.connect_property(texture, id, "DiffuseColor");
        }
        self.materials.push((look, id));
        id
    }

    fn texture(&mut self, document: &mut FbxBuilder, texture: &'a Texture, mesh: &str) -> Option<i64> {
        if let Some((_, known)) = self.textures.iter().find(|(t, _)| *t == texture) {
            return *known;
        }
        let id = match picture(&texture.bytes) {
            Some((bytes, suffix)) => Some(write(document, &bytes, mesh, suffix)),
            None => {
                let said = "a texture that is no PNG, JPEG or WebP was left out";
                self.warnings.add("fbx-texture", said, format!("mesh `{mesh}`"));
                None
            }
        };
        self.textures.push((texture, id));
        id
    }
}

/// A picture as FBX programs open it, and what its file would be called.
fn picture(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, &'static str)> {
    match image::guess_format(bytes).ok()? {
        ImageFormat::Png => Some((bytes.into(), "png")),
        ImageFormat::Jpeg => Some((bytes.into(), "jpg")),
        ImageFormat::WebP => {
            let mut reader = image::ImageReader::with_format(Cursor::new(bytes), ImageFormat::WebP);
            // The crate's own limits: at most half a GiB.
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
    // The number keeps names apart that differ only in what a file name cannot hold.
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
                row("UVSet", "KString", "", "").string(super::mesh::UV_SET),
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
    fn webp_becomes_png_and_others_stay() {
        let pixels =
            image::RgbaImage::from_fn(3, 2, |x, y| image::Rgba([x as u8 * 80, y as u8 * 90, 7, 255]));
        let coded = |format| {
            let mut bytes = Cursor::new(Vec::new());
            image::DynamicImage::from(pixels.clone()).write_to(&mut bytes, format).unwrap();
            bytes.into_inner()
        };
        let (webp, png) = (coded(ImageFormat::WebP), coded(ImageFormat::Png));
        let (found, suffix) = picture(&webp).unwrap();
        assert_eq!(suffix, "png");
        assert_eq!(image::load_from_memory(&found).unwrap().to_rgba8(), pixels);
        assert_eq!(picture(&png), Some((Cow::Borrowed(&png[..]), "png")));
        assert_eq!(picture(b"GIF89a"), None);
        assert_eq!(picture(&webp[..webp.len() / 2]), None);
    }
}
