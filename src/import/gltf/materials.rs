//! Reads the images and materials of a document.
//!
//! Colours are linear; an alpha that is not blended counts as 1. A texture that is missing is left out with a warning.
//! Source: glTF 2.0 specification, sections 3.8 and 3.9.

use super::accessors::Accessors;
use super::mesh_context::MeshContext;
use super::resources::Resources;
use crate::gltf_document::{GltfError, Json};
use crate::model::{Material, Texture, TextureMap};
use crate::report::Warnings;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The encoded images of the document; `None` for missing ones.
pub(super) fn images(
    json: &Json,
    accessors: &Accessors,
    resources: &mut Resources,
    warnings: &mut Warnings,
) -> Result<Vec<Option<Arc<[u8]>>>, GltfError> {
    let items = json.items("images").unwrap_or_default();
    // Several images may name one view: its bytes are shared.
    let mut of_view: BTreeMap<usize, Arc<[u8]>> = BTreeMap::new();
    let mut view = |index: usize, path: &str| -> Result<Arc<[u8]>, GltfError> {
        if let Some(known) = of_view.get(&index) {
            return Ok(Arc::clone(known));
        }
        let bytes = accessors.view(index, path)?;
        accessors.budget().reserve(bytes.len() as u64, || format!("`{path}`"))?;
        let bytes: Arc<[u8]> = Arc::from(bytes);
        of_view.insert(index, Arc::clone(&bytes));
        Ok(bytes)
    };
    let mut load = |(i, raw): (usize, &str)| {
        let path = format!("images[{i}]");
        let image: Value = serde_json::from_str(raw).unwrap_or_default();
        let bytes = match (image.get("uri").and_then(Value::as_str), image.get("bufferView")) {
            (Some(uri), _) => resources.load(uri, &path),
            (None, Some(index)) => {
                let index = index.as_u64().and_then(|v| usize::try_from(v).ok()).unwrap_or(usize::MAX);
                view(index, &path)
            }
            (None, None) => Err(GltfError::value(path.clone(), "neither `uri` nor `bufferView`")),
        };
        match bytes {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) => {
                let error = error.unless_memory()?;
                warnings.add("gltf-missing-image", format!("an image is missing: {error}"), path);
                Ok(None)
            }
        }
    };
    items.into_iter().enumerate().map(&mut load).collect()
}

/// A material, and the number of the texture coordinates of its base colour in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct GltfMaterial {
    pub(super) material: Material,
    /// `TEXCOORD_n` of the base colour.
    pub(super) set: u32,
}

/// The materials of the document, in its order.
pub(super) fn materials(source: &MeshContext) -> Vec<GltfMaterial> {
    let raw = source.json.items("materials").unwrap_or_default();
    let textures: Vec<Option<usize>> = source
        .json
        .items("textures")
        .unwrap_or_default()
        .iter()
        .map(|raw| image_of(&serde_json::from_str(raw).ok()?))
        .collect();
    let textures = GltfTextures { image_of: textures, images: source.images };
    raw.into_iter().map(|raw| material(&serde_json::from_str(raw).unwrap_or_default(), &textures)).collect()
}

/// The images of the textures of a document.
struct GltfTextures<'a> {
    image_of: Vec<Option<usize>>,
    images: &'a [Option<Arc<[u8]>>],
}

impl GltfTextures<'_> {
    /// The texture of a `textureInfo`, and its `TEXCOORD_n`.
    fn texture(&self, info: Option<&Value>) -> Option<(Texture, u32)> {
        let info = info?;
        let index = usize::try_from(info.get("index")?.as_u64()?).ok()?;
        let bytes = self.images.get((*self.image_of.get(index)?)?)?.clone()?;
        let set = info.get("texCoord").and_then(Value::as_u64).and_then(|set| u32::try_from(set).ok());
        Some((Texture { bytes }, set.unwrap_or(0)))
    }
}

fn material(value: &Value, textures: &GltfTextures) -> GltfMaterial {
    let none = Value::Null;
    let pbr = value.get("pbrMetallicRoughness").unwrap_or(&none);
    let numbers = |value: Option<&Value>, usual: f64| -> Vec<f32> {
        let list = value.and_then(Value::as_array);
        list.into_iter().flatten().map(|v| v.as_f64().unwrap_or(usual) as f32).collect()
    };
    let mut base_color = [1.0f32; 4];
    base_color.iter_mut().zip(numbers(pbr.get("baseColorFactor"), 1.0)).for_each(|(c, v)| *c = v);
    // Alpha is used only if the material is blended.
    if value.get("alphaMode").and_then(Value::as_str) != Some("BLEND") {
        base_color[3] = 1.0;
    }
    let mut emissive = [0.0f32; 3];
    emissive.iter_mut().zip(numbers(value.get("emissiveFactor"), 0.0)).for_each(|(c, v)| *c = v);
    let factor = |name: &str| pbr.get(name).and_then(Value::as_f64).unwrap_or(1.0) as f32;
    let base = textures.texture(pbr.get("baseColorTexture"));
    let set = base.as_ref().map_or(0, |(_, set)| *set);
    let map = |info: Option<&Value>| {
        let (texture, number) = textures.texture(info)?;
        Some(TextureMap { texture, set: place_of_set(number, set) })
    };
    let material = Material {
        name: value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        base_color,
        texture: base.map(|(texture, _)| texture),
        metallic: factor("metallicFactor"),
        roughness: factor("roughnessFactor"),
        emissive,
        metallic_roughness_map: map(pbr.get("metallicRoughnessTexture")),
        normal_map: map(value.get("normalTexture")),
        emissive_map: map(value.get("emissiveTexture")),
        occlusion_map: map(value.get("occlusionTexture")),
        double_sided: value.get("doubleSided").and_then(Value::as_bool).unwrap_or(false),
    };
    GltfMaterial { material, set }
}

/// The place of `TEXCOORD_n` in a mesh, where the set of the base colour comes first and the others follow in order.
fn place_of_set(number: u32, base: u32) -> usize {
    match number.cmp(&base) {
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Less => number as usize + 1,
        std::cmp::Ordering::Greater => number as usize,
    }
}

/// Extensions that name the image of a texture. Images that are not decoded come last, so that an output that cannot hold them
/// reports them.
const IMAGE_EXTENSIONS: &[&str] =
    &["EXT_texture_webp", "KHR_texture_basisu", "EXT_texture_avif", "MSFT_texture_dds"];

/// The image of a texture: its own, or that of an extension.
fn image_of(texture: &Value) -> Option<usize> {
    let extensions = texture.get("extensions");
    let further = || {
        let mut named = IMAGE_EXTENSIONS.iter().filter_map(|name| extensions?.get(name)?.get("source"));
        named.next()
    };
    let index = texture.get("source").or_else(further)?.as_u64()?;
    usize::try_from(index).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_of_the_base_colour_comes_first() {
        assert_eq!([0, 1, 2].map(|n| place_of_set(n, 0)), [0, 1, 2]);
        assert_eq!([0, 1, 2].map(|n| place_of_set(n, 1)), [1, 0, 2]);
        assert_eq!([0, 1, 2].map(|n| place_of_set(n, 2)), [1, 2, 0]);
    }

    #[test]
    fn an_image_that_is_not_decoded_comes_last() {
        let image = |value: serde_json::Value| image_of(&value);
        let basis = serde_json::json!({ "KHR_texture_basisu": { "source": 2 } });
        assert_eq!(image(serde_json::json!({ "extensions": basis })), Some(2));
        assert_eq!(image(serde_json::json!({ "source": 1, "extensions": basis })), Some(1));
        let both =
            serde_json::json!({ "EXT_texture_webp": { "source": 3 }, "KHR_texture_basisu": { "source": 2 } });
        assert_eq!(image(serde_json::json!({ "extensions": both })), Some(3));
    }

    #[test]
    fn every_map_of_a_material_is_read() {
        let images: Vec<Option<Arc<[u8]>>> = (0..5u8).map(|k| Some(Arc::from(vec![k]))).collect();
        let textures = GltfTextures { image_of: (0..5).map(Some).collect(), images: &images };
        let value = serde_json::json!({
            "name": "skin", "doubleSided": true, "emissiveFactor": [0.1, 0.2, 0.3],
            "normalTexture": { "index": 1 }, "emissiveTexture": { "index": 2, "texCoord": 1 },
            "occlusionTexture": { "index": 3 },
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 0.25, 1.0, 0.5], "metallicFactor": 0.25, "roughnessFactor": 0.75,
                "baseColorTexture": { "index": 0, "texCoord": 1 }, "metallicRoughnessTexture": { "index": 4 },
            },
        });
        let GltfMaterial { material, set } = material(&value, &textures);
        let map = |k: u8, set| Some(TextureMap { texture: Texture { bytes: Arc::from(vec![k]) }, set });
        let expected = Material {
            name: "skin".into(),
            base_color: [0.5, 0.25, 1.0, 1.0],
            texture: map(0, 0).map(|m| m.texture),
            metallic: 0.25,
            roughness: 0.75,
            emissive: [0.1, 0.2, 0.3],
            metallic_roughness_map: map(4, 1),
            normal_map: map(1, 1),
            emissive_map: map(2, 0),
            occlusion_map: map(3, 1),
            double_sided: true,
        };
        assert_eq!((material, set), (expected, 1));
    }
}
