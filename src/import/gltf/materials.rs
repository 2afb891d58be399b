//! Reads the images and materials of a document.
//!
//! Colours are linear; an alpha that is not blended counts as 1. A texture that is missing is left out with a warning. Texture
//! transforms are applied to the texture coordinates. Source: glTF 2.0 specification, sections 3.8 and 3.9.

use super::accessors::Accessors;
use super::mesh_context::MeshContext;
use super::resources::Resources;
use super::texture_transform::TextureTransform;
use crate::gltf_document::{CLAMP, EMISSIVE_STRENGTH, GltfError, Json, MIRROR};
use crate::model::{AlphaMode, Material, Mesh, Texture, TextureMap, TextureWrap};
use crate::report::{Warnings, one_line};
use serde_json::{Value, json};
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

/// A material, and where its texture coordinates are in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct GltfMaterial {
    pub(super) material: Material,
    /// `TEXCOORD_n` of the base colour.
    pub(super) set: u32,
    /// The transform of each `TEXCOORD_n` that a texture uses.
    transforms: Vec<(u32, TextureTransform)>,
    /// Parts of the material that are not read, by name.
    omitted: Vec<String>,
}

impl GltfMaterial {
    /// The bytes of its texts, which every mesh that has it holds.
    pub(super) fn text_bytes(&self) -> u64 {
        let omitted = self.omitted.iter().map(|part| size_of::<String>() + part.len()).sum::<usize>();
        (self.material.name.len() + omitted) as u64
    }

    /// Gives a mesh, whose texture coordinates are in place, this material.
    pub(super) fn apply(self, mesh: &mut Mesh) {
        let Self { material, set, transforms, omitted } = self;
        mesh.material = material;
        mesh.omitted.extend(omitted);
        for (number, transform) in transforms {
            let list = match place_of_set(number, set).checked_sub(1) {
                None => Some(&mut mesh.texcoords),
                Some(k) => mesh.further_texcoords.get_mut(k),
            };
            transform.apply(list.map_or(&mut [], Vec::as_mut_slice));
        }
    }
}

/// The materials of the document, in its order.
pub(super) fn materials(source: &MeshContext) -> Vec<GltfMaterial> {
    let parsed = |key| -> Vec<Value> {
        let raw = source.json.items(key).unwrap_or_default();
        raw.into_iter().map(|raw| serde_json::from_str(raw).unwrap_or_default()).collect()
    };
    let samplers = parsed("samplers");
    let textures = parsed("textures");
    let textures = GltfTextures {
        image_of: textures.iter().map(image_of).collect(),
        wrap_of: textures.iter().map(|texture| wrap_of(texture, &samplers)).collect(),
        images: source.images,
    };
    parsed("materials").iter().map(|value| material(value, &textures)).collect()
}

/// How a texture continues along U and V (glTF 2.0, 5.26).
fn wrap_of(texture: &Value, samplers: &[Value]) -> [TextureWrap; 2] {
    let index = texture.get("sampler").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
    let sampler = index.and_then(|index| samplers.get(index));
    ["wrapS", "wrapT"].map(|axis| match sampler.and_then(|s| s.get(axis)?.as_u64()) {
        Some(mode) if mode == u64::from(CLAMP) => TextureWrap::Clamp,
        Some(mode) if mode == u64::from(MIRROR) => TextureWrap::Mirror,
        _ => TextureWrap::Repeat,
    })
}

/// The images of the textures of a document.
struct GltfTextures<'a> {
    image_of: Vec<Option<usize>>,
    wrap_of: Vec<[TextureWrap; 2]>,
    images: &'a [Option<Arc<[u8]>>],
}

/// A texture of a material.
struct GltfTexture {
    texture: Texture,
    wrap: [TextureWrap; 2],
    /// Its `TEXCOORD_n`.
    number: u32,
    transform: TextureTransform,
}

impl GltfTextures<'_> {
    /// The texture of a `textureInfo`.
    fn texture(&self, info: Option<&Value>) -> Option<GltfTexture> {
        let info = info?;
        let index = usize::try_from(info.get("index")?.as_u64()?).ok()?;
        let bytes = self.images.get((*self.image_of.get(index)?)?)?.clone()?;
        let (transform, number) = TextureTransform::of(info);
        let number =
            number.or_else(|| info.get("texCoord")?.as_u64()).and_then(|set| u32::try_from(set).ok());
        let wrap = self.wrap_of.get(index).copied().unwrap_or_default();
        Some(GltfTexture { texture: Texture { bytes }, wrap, number: number.unwrap_or(0), transform })
    }
}

/// The extension with the material model that glTF had before metalness.
const SPECULAR_GLOSSINESS: &str = "KHR_materials_pbrSpecularGlossiness";

/// The metallic-roughness model of a material: its own, or, where that names no base colour, one made of diffuse colour and
/// glossiness, without metalness.
fn metallic_roughness(value: &Value, omitted: &mut Vec<String>) -> Value {
    let own = value.get("pbrMetallicRoughness").cloned().unwrap_or_default();
    let glossy = value.get("extensions").and_then(|e| e.get(SPECULAR_GLOSSINESS));
    let colored = ["baseColorFactor", "baseColorTexture"].iter().any(|name| own.get(name).is_some());
    let Some(glossy) = glossy.filter(|_| !colored) else { return own };
    omitted.push(format!("the specular colour of `{SPECULAR_GLOSSINESS}`"));
    if glossy.get("specularGlossinessTexture").is_some() {
        omitted.push(format!("`specularGlossinessTexture` of `{SPECULAR_GLOSSINESS}`"));
    }
    let gloss = glossy.get("glossinessFactor").and_then(Value::as_f64).unwrap_or(1.0);
    json!({
        "baseColorFactor": glossy.get("diffuseFactor"),
        "baseColorTexture": glossy.get("diffuseTexture"),
        "metallicFactor": 0.0,
        "roughnessFactor": (1.0 - gloss).clamp(0.0, 1.0),
    })
}

fn material(value: &Value, textures: &GltfTextures) -> GltfMaterial {
    let extensions = value.get("extensions").and_then(Value::as_object);
    let names = extensions.into_iter().flatten().map(|(name, _)| name);
    let unread = names.filter(|name| {
        name.starts_with("KHR_materials_")
            && ![SPECULAR_GLOSSINESS, EMISSIVE_STRENGTH].contains(&name.as_str())
    });
    let mut omitted: Vec<String> = unread.map(|name| format!("`{}`", one_line(name))).collect();
    for (map, key, what) in [
        ("normalTexture", "scale", "the scale of a normal map"),
        ("occlusionTexture", "strength", "the strength of an occlusion map"),
    ] {
        let factor = value.get(map).and_then(|map| map.get(key)?.as_f64());
        omitted.extend(factor.filter(|factor| *factor != 1.0).map(|_| what.to_owned()));
    }
    let pbr = metallic_roughness(value, &mut omitted);
    let numbers = |value: Option<&Value>, usual: f64| -> Vec<f32> {
        let list = value.and_then(Value::as_array);
        list.into_iter().flatten().map(|v| v.as_f64().unwrap_or(usual) as f32).collect()
    };
    let mut base_color = [1.0f32; 4];
    base_color.iter_mut().zip(numbers(pbr.get("baseColorFactor"), 1.0)).for_each(|(c, v)| *c = v);
    let alpha_mode = match value.get("alphaMode").and_then(Value::as_str) {
        Some("BLEND") => AlphaMode::Blend,
        Some("MASK") => {
            let cutoff = value.get("alphaCutoff").and_then(Value::as_f64).unwrap_or(0.5) as f32;
            // The factor of alpha is 1 here.
            AlphaMode::Mask(if base_color[3] > 0.0 { cutoff / base_color[3] } else { f32::MAX })
        }
        _ => AlphaMode::Opaque,
    };
    // Alpha is used only if the material is blended.
    if alpha_mode != AlphaMode::Blend {
        base_color[3] = 1.0;
    }
    let mut emissive = [0.0f32; 3];
    emissive.iter_mut().zip(numbers(value.get("emissiveFactor"), 0.0)).for_each(|(c, v)| *c = v);
    let strength = extensions.and_then(|e| e.get(EMISSIVE_STRENGTH)?.get("emissiveStrength")?.as_f64());
    let strength = strength.map_or(1.0, |s| s as f32);
    emissive = emissive.map(|c| if (c * strength).is_finite() { c * strength } else { c });
    let factor = |name: &str| pbr.get(name).and_then(Value::as_f64).unwrap_or(1.0) as f32;
    let base = textures.texture(pbr.get("baseColorTexture"));
    let set = base.as_ref().map_or(0, |base| base.number);
    let mut transforms: Vec<(u32, TextureTransform)> =
        base.iter().map(|base| (base.number, base.transform)).collect();
    let mut map = |info: Option<&Value>| {
        let GltfTexture { texture, wrap, number, transform } = textures.texture(info)?;
        match transforms.iter().find(|(known, _)| *known == number) {
            Some((_, known)) if *known != transform => {
                omitted.push("a texture transform that differs from that of the base colour".to_owned());
            }
            Some(_) => {}
            None => transforms.push((number, transform)),
        }
        Some(TextureMap { texture, set: place_of_set(number, set), wrap })
    };
    let material = Material {
        name: value.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        base_color,
        texture_wrap: base.as_ref().map(|base| base.wrap).unwrap_or_default(),
        texture: base.map(|base| base.texture),
        alpha_mode,
        metallic: factor("metallicFactor"),
        roughness: factor("roughnessFactor"),
        emissive,
        metallic_roughness_map: map(pbr.get("metallicRoughnessTexture")),
        normal_map: map(value.get("normalTexture")),
        emissive_map: map(value.get("emissiveTexture")),
        occlusion_map: map(value.get("occlusionTexture")),
        double_sided: value.get("doubleSided").and_then(Value::as_bool).unwrap_or(false),
    };
    omitted.dedup();
    GltfMaterial { material, set, transforms, omitted }
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
        let textures =
            GltfTextures { image_of: (0..5).map(Some).collect(), wrap_of: Vec::new(), images: &images };
        let value = serde_json::json!({
            "name": "skin", "doubleSided": true, "emissiveFactor": [0.1, 0.2, 0.3],
            "normalTexture": { "index": 1 }, "emissiveTexture": { "index": 2, "texCoord": 1 },
            "occlusionTexture": { "index": 3 },
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.5, 0.25, 1.0, 0.5], "metallicFactor": 0.25, "roughnessFactor": 0.75,
                "baseColorTexture": { "index": 0, "texCoord": 1 }, "metallicRoughnessTexture": { "index": 4 },
            },
        });
        let GltfMaterial { material, set, omitted, .. } = material(&value, &textures);
        let wrap = [TextureWrap::Repeat; 2];
        let map = |k: u8, set| Some(TextureMap { texture: Texture { bytes: Arc::from(vec![k]) }, set, wrap });
        let expected = Material {
            name: "skin".into(),
            base_color: [0.5, 0.25, 1.0, 1.0],
            texture: map(0, 0).map(|m| m.texture),
            texture_wrap: wrap,
            alpha_mode: AlphaMode::Opaque,
            metallic: 0.25,
            roughness: 0.75,
            emissive: [0.1, 0.2, 0.3],
            metallic_roughness_map: map(4, 1),
            normal_map: map(1, 1),
            emissive_map: map(2, 0),
            occlusion_map: map(3, 1),
            double_sided: true,
        };
        assert_eq!((material, set, omitted), (expected, 1, Vec::new()));
    }

    fn read(value: &Value) -> GltfMaterial {
        let images: Vec<Option<Arc<[u8]>>> = vec![Some(Arc::from(vec![7u8]))];
        let wrap_of = vec![[TextureWrap::Clamp, TextureWrap::Mirror]];
        material(value, &GltfTextures { image_of: vec![Some(0)], wrap_of, images: &images })
    }

    #[test]
    fn a_transform_that_maps_of_one_set_do_not_share_is_named() {
        let turned = |rotation: f64| json!({ "index": 0, "extensions": { "KHR_texture_transform": { "rotation": rotation } } });
        let value = |normal: f64| json!({ "pbrMetallicRoughness": { "baseColorTexture": turned(1.0) }, "normalTexture": turned(normal) });
        assert!(read(&value(1.0)).omitted.is_empty());
        assert_eq!(
            read(&value(2.0)).omitted,
            ["a texture transform that differs from that of the base colour"]
        );
    }

    #[test]
    fn diffuse_colour_and_glossiness_stand_for_a_missing_base_colour() {
        let glossy = json!({ "diffuseFactor": [0.5, 0.2, 0.1, 1.0], "diffuseTexture": { "index": 0 }, "glossinessFactor": 0.75 });
        let value = |own: Value| json!({ "pbrMetallicRoughness": own, "extensions": { "KHR_materials_pbrSpecularGlossiness": glossy } });
        let GltfMaterial { material, omitted, .. } = read(&value(json!({})));
        assert_eq!(
            (material.base_color, material.metallic, material.roughness),
            ([0.5, 0.2, 0.1, 1.0], 0.0, 0.25)
        );
        assert_eq!(material.texture_wrap, [TextureWrap::Clamp, TextureWrap::Mirror]);
        assert!(material.texture.is_some() && omitted.len() == 1);
        let fallback = read(&value(json!({ "baseColorFactor": [0.0, 0.0, 1.0, 1.0] })));
        assert_eq!((fallback.material.base_color, fallback.omitted.len()), ([0.0, 0.0, 1.0, 1.0], 0));
    }

    #[test]
    fn alpha_emission_and_unread_extensions_of_a_material_are_known() {
        let value = json!({
            "alphaMode": "MASK", "alphaCutoff": 0.25, "emissiveFactor": [1.0, 0.5, 0.0],
            "pbrMetallicRoughness": { "baseColorFactor": [1.0, 1.0, 1.0, 0.5] },
            "extensions": { "KHR_materials_emissive_strength": { "emissiveStrength": 5.0 }, "KHR_materials_unlit": {} },
        });
        let GltfMaterial { material, omitted, .. } = read(&value);
        assert_eq!((material.alpha_mode, material.base_color[3]), (AlphaMode::Mask(0.5), 1.0));
        assert_eq!((material.emissive, omitted), ([5.0, 2.5, 0.0], vec!["`KHR_materials_unlit`".to_owned()]));
    }
}
