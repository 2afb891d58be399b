//! Converts the materials of a scene to glTF materials: base colour, its texture, metalness and roughness.
//!
//! A texture is embedded in the file or is loaded from the file's folder: by the relative path in the file, by its bare name,
//! or from the `NAME.fbm` or `textures` folder; nothing outside the file's folder is opened.

use crate::gltf_document::GlbBuilder;
use crate::report::{Warnings, one_line};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use ufbx::{Material, Scene, Texture};

/// Roughness of surfaces whose shader does not define it: painted, not polished.
const ROUGH: f64 = 0.8;
/// Largest image that is read, bytes.
const IMAGE: u64 = 1 << 28;

/// The materials and textures of the GLB.
#[derive(Default)]
pub(super) struct GlbMaterials {
    pub(super) materials: Vec<Value>,
    pub(super) textures: Vec<Value>,
    pub(super) images: Vec<Value>,
}

/// The materials of the scene, in its order.
pub(super) fn looks(
    scene: &Scene,
    folder: Option<&Path>,
    binary: &mut GlbBuilder,
    warnings: &mut Warnings,
) -> GlbMaterials {
    let mut looks = GlbMaterials::default();
    let mut known: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    for material in &scene.materials {
        let texture =
            material.pbr.base_color.texture.as_ref().filter(|_| material.pbr.base_color.texture_enabled);
        let image = texture.and_then(|texture| {
            *known.entry(texture.element.element_id).or_insert_with(|| {
                let bytes = image(texture, folder, warnings)?;
                let kind = if bytes.starts_with(b"\x89PNG") { "image/png" } else { "image/jpeg" };
                looks.images.push(json!({ "bufferView": binary.view(&bytes, None), "mimeType": kind }));
                looks.textures.push(json!({ "source": looks.images.len() - 1 }));
                Some(looks.textures.len() - 1)
            })
        });
        looks.materials.push(look(material, image));
    }
    looks
}

fn look(material: &Material, texture: Option<usize>) -> Value {
    let pbr = &material.pbr;
    let factor = if pbr.base_factor.has_value { pbr.base_factor.value_vec4.x } else { 1.0 };
    let c = pbr.base_color.value_vec4;
    let color = [c.x, c.y, c.z].map(|x| if x.is_finite() { (x * factor).clamp(0.0, 1.0) } else { 1.0 });
    let said = |map: &ufbx::MaterialMap, usual: f64| match map.value_vec4.x {
        x if map.has_value && x.is_finite() => x.clamp(0.0, 1.0),
        _ => usual,
    };
    let physical = material.features.pbr.enabled;
    let mut surface = json!({
        "metallicFactor": if physical && material.features.metalness.enabled { said(&pbr.metalness, 0.0) } else { 0.0 },
        "roughnessFactor": if physical { said(&pbr.roughness, ROUGH) } else { ROUGH },
    });
    match texture {
        Some(texture) => surface["baseColorTexture"] = json!({ "index": texture }),
        None => surface["baseColorFactor"] = json!([color[0], color[1], color[2], 1.0]),
    }
    let name: &str = material.element.name.as_ref();
    json!({ "name": name, "pbrMetallicRoughness": surface, "doubleSided": true })
}

/// The bytes of a texture, PNG or JPEG.
fn image(texture: &Texture, folder: Option<&Path>, warnings: &mut Warnings) -> Option<Vec<u8>> {
    let usual = |bytes: &[u8]| bytes.starts_with(b"\x89PNG") || bytes.starts_with(b"\xff\xd8");
    let embedded: &[u8] = texture.content.as_ref();
    let name = [&texture.relative_filename, &texture.absolute_filename, &texture.filename];
    let name = name.into_iter().map(|n| n.replace('\\', "/")).find(|n| !n.is_empty()).unwrap_or_default();
    let bytes = if embedded.is_empty() { in_folder(folder?, &name) } else { Some(embedded.to_vec()) };
    match bytes {
        Some(bytes) if usual(&bytes) => Some(bytes),
        Some(_) => {
            let said = "a texture is neither PNG nor JPEG and was left out";
            warnings.add("fbx-texture", said, one_line(&name));
            None
        }
        None => {
            let said = "a texture is neither in the file nor in its folder";
            warnings.add("fbx-texture-missing", said, one_line(&name));
            None
        }
    }
}

/// An image in `folder`, by its path in the file.
fn in_folder(folder: &Path, name: &str) -> Option<Vec<u8>> {
    let given = PathBuf::from(name);
    let inside = given.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    let bare = PathBuf::from(name.rsplit('/').next().filter(|n| !n.is_empty() && *n != "..")?);
    // `NAME.fbm` is where the vendor's programs unpack what was embedded.
    let unpacked =
        name.split('/').find(|part| part.ends_with(".fbm")).map(|part| Path::new(part).join(&bare));
    let places = [
        Some(given).filter(|_| inside),
        Some(bare.clone()),
        unpacked,
        Some(Path::new("textures").join(&bare)),
    ];
    places.into_iter().flatten().find_map(|place| {
        let path = folder.join(place);
        let size = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
        if size > IMAGE { None } else { std::fs::read(path).ok() }
    })
}
