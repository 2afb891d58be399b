//! Writes materials with embedded textures: a Phong surface, whose shininess and reflection hold roughness and metalness.
//!
//! Meshes with equal materials share one, and materials with the same image share its texture. Colours are linear, as in the
//! source. Roughness and metalness of one glTF image become two grey images; occlusion has no place in the format.
//! Source of the names, and of shininess from roughness: the files that Blender's exporter writes.

use super::fbx_builder::{FbxBuilder, uv_set};
use super::record_properties::{int_row, object, properties, row, triple_row};
use super::records::FbxRecord;
use crate::export::surface_hash::{SurfaceHashes, wrap};
use crate::export::texture_file::{grey_channel, left_out, texture_file};
use crate::model::{AlphaMode, Material, Texture, TextureMap, TextureWrap};
use crate::report::{Warnings, one_line};
use std::borrow::Cow;
use std::collections::HashMap;

/// Hash of an image, its channel, its set of texture coordinates, how it continues.
type ImageKey = (u64, Option<usize>, usize, [u8; 2]);

/// The materials of a new file.
#[derive(Default)]
pub(super) struct FbxMaterials<'a> {
    hashes: SurfaceHashes<'a>,
    /// The object ids of materials, by their hashes.
    materials: HashMap<u64, Vec<(&'a Material, i64)>>,
    /// What is written already, with the object id of its texture; `None` for unsupported images.
    textures: HashMap<ImageKey, Vec<(PlacedImage<'a>, Option<i64>)>>,
    pub(super) warnings: Warnings,
}

/// An image as a map of a material.
#[derive(Clone, Copy, PartialEq)]
struct PlacedImage<'a> {
    texture: &'a Texture,
    /// The only channel that is written (1 green, 2 blue); `None` for all.
    channel: Option<usize>,
    /// The set of its texture coordinates.
    set: usize,
    wrap: [TextureWrap; 2],
}

impl<'a> FbxMaterials<'a> {
    /// The object id of a material; one without name is named after the first mesh that uses it.
    pub(super) fn material(&mut self, document: &mut FbxBuilder, source: &'a Material, mesh: &str) -> i64 {
        let alike = self.materials.entry(self.hashes.material(source)).or_default();
        if let Some((_, known)) = alike.iter().find(|(m, _)| *m == source) {
            return *known;
        }
        let id = document.id();
        alike.push((source, id));
        let name = if source.name.is_empty() { mesh } else { &source.name };
        document.add(
            FbxBuilder::object("Material", id, name, "Material", "")
                .add(FbxRecord::new("Version").int(102))
                .add(FbxRecord::new("ShadingModel").string("phong"))
                .add(FbxRecord::new("MultiLayer").int(0))
                .add(properties(surface(source))),
        );
        for (property, image) in images(source) {
            if let Some(texture) = self.texture(document, image, mesh, name) {
                document.connect_property(texture, id, property);
            }
        }
        if matches!(source.alpha_mode, AlphaMode::Mask(_)) {
            let message = "the cutoff of alpha has no place in FBX: what it cuts out is blended";
            self.warnings.add("fbx-cutoff", message, format!("material `{name}`"));
        }
        let factors = factors_beside_textures(source);
        if !factors.is_empty() {
            let message = format!(
                "the {} of textured materials has no place in FBX: the texture is shown as it is",
                factors.join(" and the ")
            );
            self.warnings.add("fbx-factor", message, format!("material `{}`", one_line(name)));
        }
        if source.occlusion_map.is_some() {
            let message = "occlusion maps have no place in FBX and were left out";
            self.warnings.add("fbx-occlusion", message, format!("material `{name}`"));
        }
        id
    }

    fn texture(
        &mut self,
        document: &mut FbxBuilder,
        image: PlacedImage<'a>,
        mesh: &str,
        material: &str,
    ) -> Option<i64> {
        let key = (self.hashes.image(image.texture), image.channel, image.set, wrap(image.wrap));
        let alike = self.textures.entry(key).or_default();
        if let Some((_, known)) = alike.iter().find(|(known, _)| *known == image) {
            return *known;
        }
        let file: Option<(Cow<[u8]>, &str)> = match image.channel {
            None => texture_file(image.texture).map(|file| (file.bytes, file.extension)),
            Some(channel) => grey_channel(image.texture, channel).map(|png| (png.into(), "png")),
        };
        let id = file.map(|(bytes, extension)| write(document, &bytes, (mesh, extension), image));
        let place = || format!("material `{}`", one_line(material));
        if image.wrap.contains(&TextureWrap::Mirror) {
            let message = "textures that repeat mirrored repeat plainly in FBX";
            self.warnings.add("fbx-mirrored", message, place());
        }
        if id.is_none() {
            self.warnings.add("fbx-texture", left_out(image.texture), place());
        }
        alike.push((image, id));
        id
    }
}

/// The images of a material, with the properties that they are connected to.
fn images(source: &Material) -> Vec<(&'static str, PlacedImage<'_>)> {
    fn placed(map: &TextureMap, channel: Option<usize>) -> PlacedImage<'_> {
        PlacedImage { texture: &map.texture, channel, set: map.set, wrap: map.wrap }
    }
    let wrap = source.texture_wrap;
    let base = source.texture.as_ref().map(|texture| PlacedImage { texture, channel: None, set: 0, wrap });
    let mut found: Vec<(&'static str, PlacedImage<'_>)> =
        base.map(|b| ("DiffuseColor", b)).into_iter().collect();
    // Programs take the alpha of the image from here.
    let see_through = source.alpha_mode != AlphaMode::Opaque;
    found.extend(base.filter(|b| see_through && b.texture.has_alpha()).map(|b| ("TransparencyFactor", b)));
    for (property, map, channel) in [
        ("NormalMap", &source.normal_map, None),
        ("EmissiveColor", &source.emissive_map, None),
        ("ShininessExponent", &source.metallic_roughness_map, Some(1)),
        ("ReflectionFactor", &source.metallic_roughness_map, Some(2)),
    ] {
        found.extend(map.as_ref().map(|map| (property, placed(map, channel))));
    }
    found
}

/// The factors of a material that change its textures: a Phong surface has a number or a texture.
fn factors_beside_textures(source: &Material) -> Vec<&'static str> {
    let [r, g, b, _] = source.base_color;
    let brightest = source.emissive.into_iter().fold(1.0, f32::max);
    let emits_all = source.emissive.iter().all(|c| *c == brightest);
    let rough = source.roughness != 1.0 || source.metallic != 1.0;
    [
        ("colour factor", source.texture.is_some() && [r, g, b] != [1.0; 3]),
        ("emission factor", source.emissive_map.is_some() && !emits_all),
        ("factor of roughness or metalness", source.metallic_roughness_map.is_some() && rough),
    ]
    .into_iter()
    .filter_map(|(what, lost)| lost.then_some(what))
    .collect()
}

/// The properties of a surface.
fn surface(source: &Material) -> Vec<FbxRecord<'static>> {
    let [r, g, b, alpha] = source.base_color.map(f64::from);
    let color = |name, v| triple_row(name, "Color", "", "A", v);
    let number = |name, value| row(name, "Number", "", "A").double(value);
    // Readers take roughness as 1 - sqrt(shininess) / 10.
    let gloss = 10.0 * (1.0 - f64::from(source.roughness));
    // Colours are at most 1.
    let light = source.emissive.map(f64::from);
    let strength = light.iter().copied().fold(1.0, f64::max);
    vec![
        color("DiffuseColor", [r, g, b]),
        number("DiffuseFactor", 1.0),
        color("TransparentColor", [1.0; 3]),
        number("TransparencyFactor", 1.0 - alpha),
        color("EmissiveColor", light.map(|c| c / strength)),
        number("EmissiveFactor", strength),
        number("SpecularFactor", 0.0),
        number("Shininess", gloss * gloss),
        number("ShininessExponent", gloss * gloss),
        number("ReflectionFactor", source.metallic.into()),
        row("Opacity", "double", "Number", "").double(alpha),
    ]
}

fn write(document: &mut FbxBuilder, bytes: &[u8], (name, suffix): (&str, &str), image: PlacedImage) -> i64 {
    let mut rows = vec![
        row("UVSet", "KString", "", "").string(&uv_set(image.set)),
        row("UseMaterial", "bool", "", "").int(1),
    ];
    for (axis, wrap) in ["WrapModeU", "WrapModeV"].into_iter().zip(image.wrap) {
        if wrap == TextureWrap::Clamp {
            rows.push(int_row(axis, "enum", "", 1));
        }
    }
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
            .add(properties(rows))
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
    fn equal_materials_are_one_and_thousands_take_no_time() {
        let named = |k: usize, red| Material {
            name: format!("m{k}"),
            base_color: [red, 0.5, 0.5, 1.0],
            ..Material::default()
        };
        let many: Vec<Material> = (0..20_000).map(|k| named(k, 0.0)).collect();
        let twice = [named(7, -0.0), named(7, 0.5), Material { roughness: 0.1, ..named(7, 0.0) }];
        let (mut document, mut written) = (FbxBuilder::default(), FbxMaterials::default());
        let mut ids: Vec<i64> =
            many.iter().chain(&twice).map(|m| written.material(&mut document, m, "mesh")).collect();
        assert_eq!(ids[20_000], ids[7]);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 20_002);
    }
}
