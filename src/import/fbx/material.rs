//! Converts the materials of a scene to glTF materials: base colour, emission and normals with their textures, metalness and
//! roughness as numbers.
//!
//! A texture is embedded in the file or is loaded from the file's folder: by the relative path in the file, by its bare name,
//! or from the `NAME.fbm` or `textures` folder; nothing outside the file's folder is opened, whatever symbolic links lead there.
//! Textures with one picture share its bytes.

use crate::gltf_document::GlbBuilder;
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::regular_file::{read_regular, regular_inside};
use crate::report::{Warnings, one_line};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use ufbx::{Material, MaterialMap, Scene, Texture};

/// Roughness of surfaces whose shader does not define it: painted, not polished.
const ROUGH: f64 = 0.8;
/// Largest image that is read, bytes.
const IMAGE: u64 = 1 << 28;
/// Copies of a picture while the GLB is built: in its binary chunk, and in the file.
const COPIES: u64 = 2;

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
    budget: &MemoryBudget,
    warnings: &mut Warnings,
) -> Result<GlbMaterials, ImportError> {
    let mut textures = SceneTextures {
        looks: GlbMaterials::default(),
        known: BTreeMap::new(),
        pictures: HashMap::new(),
        folder,
        budget,
    };
    for material in &scene.materials {
        let sets = texture_sets(scene, material);
        let mut map = |map: &MaterialMap| -> Result<Option<Value>, ImportError> {
            let Some(texture) = map.texture.as_ref().filter(|_| map.texture_enabled) else { return Ok(None) };
            let Some(index) = textures.index(texture, binary, warnings)? else { return Ok(None) };
            let set = sets.iter().position(|name| **name == *texture.uv_set).unwrap_or(0);
            Ok(Some(json!({ "index": index, "texCoord": set })))
        };
        let pbr = &material.pbr;
        let maps = GlbMaps {
            base_color: map(&pbr.base_color)?,
            normal: map(&pbr.normal_map)?,
            emission: map(&pbr.emission_color)?,
        };
        let left_out =
            [&pbr.metalness, &pbr.roughness].iter().any(|m| m.texture.is_some() && m.texture_enabled);
        if left_out {
            let message = "textures of metalness and roughness were left out; their numbers are used";
            warnings.add("fbx-surface-texture", message, one_line(&material.element.name));
        }
        textures.looks.materials.push(look(material, maps));
    }
    Ok(textures.looks)
}

/// The names of the sets of texture coordinates of the first mesh with the material, in order.
fn texture_sets(scene: &Scene, material: &Material) -> Vec<String> {
    let own = |m: &&ufbx::Ref<ufbx::Mesh>| {
        m.materials.iter().any(|m| m.element.element_id == material.element.element_id)
    };
    let mesh = scene.meshes.iter().find(own);
    mesh.map_or(Vec::new(), |mesh| mesh.uv_sets.iter().map(|set| set.name.to_string()).collect())
}

/// The textures of a scene as those of a GLB, each once.
struct SceneTextures<'a> {
    looks: GlbMaterials,
    /// The index of each texture by its element; `None` for one that is missing.
    known: BTreeMap<u32, Option<usize>>,
    /// The image of each picture; `None` for one that cannot be used.
    pictures: HashMap<TextureImage, Option<usize>>,
    folder: Option<&'a Path>,
    budget: &'a MemoryBudget,
}

impl SceneTextures<'_> {
    fn index(
        &mut self,
        texture: &Texture,
        binary: &mut GlbBuilder,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, ImportError> {
        let element = texture.element.element_id;
        if let Some(known) = self.known.get(&element) {
            return Ok(*known);
        }
        let source = self.picture(texture, binary, warnings)?;
        let index = source.map(|source| {
            self.looks.textures.push(json!({ "source": source }));
            self.looks.textures.len() - 1
        });
        self.known.insert(element, index);
        Ok(index)
    }

    /// The image of a texture; `None` and a warning if there is none, or if it is neither PNG nor JPEG.
    fn picture(
        &mut self,
        texture: &Texture,
        binary: &mut GlbBuilder,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, ImportError> {
        let name = picture_name(texture);
        let embedded: &[u8] = texture.content.as_ref();
        let picture = match embedded {
            [] => self.folder.and_then(|folder| in_folder(folder, &name)).map(TextureImage::File),
            _ => Some(TextureImage::Embedded(embedded.as_ptr() as usize)),
        };
        let Some(picture) = picture else {
            let message = "a texture is neither in the file nor in its folder";
            warnings.add("fbx-texture-missing", message, one_line(&name));
            return Ok(None);
        };
        let known = match self.pictures.get(&picture) {
            Some(known) => *known,
            None => {
                let image = self.image(&picture, embedded, binary)?;
                self.pictures.insert(picture, image);
                image
            }
        };
        if known.is_none() {
            let message = "a texture is neither PNG nor JPEG and was left out";
            warnings.add("fbx-texture", message, one_line(&name));
        }
        Ok(known)
    }

    /// Adds a picture to the images; `None` if it is neither PNG nor JPEG.
    fn image(
        &mut self,
        picture: &TextureImage,
        embedded: &[u8],
        binary: &mut GlbBuilder,
    ) -> Result<Option<usize>, ImportError> {
        let bytes = match picture {
            TextureImage::Embedded(_) => Cow::Borrowed(embedded),
            TextureImage::File(path) => {
                let Ok(bytes) = read_regular(path, IMAGE) else { return Ok(None) };
                self.budget.grow(bytes.len() as u64);
                Cow::Owned(bytes)
            }
        };
        let kind = match &*bytes {
            [0x89, b'P', b'N', b'G', ..] => "image/png",
            [0xff, 0xd8, ..] => "image/jpeg",
            _ => return Ok(None),
        };
        self.budget.reserve(COPIES * bytes.len() as u64, || "a texture".into())?;
        self.looks.images.push(json!({ "bufferView": binary.view(&bytes, None), "mimeType": kind }));
        Ok(Some(self.looks.images.len() - 1))
    }
}

/// A picture that several textures may have.
#[derive(PartialEq, Eq, Hash)]
enum TextureImage {
    /// In the scene, at this address.
    Embedded(usize),
    /// In a file of the folder.
    File(PathBuf),
}

/// The textures of a material, as glTF names them.
struct GlbMaps {
    base_color: Option<Value>,
    normal: Option<Value>,
    emission: Option<Value>,
}

fn look(material: &Material, maps: GlbMaps) -> Value {
    let pbr = &material.pbr;
    let color = |color: &MaterialMap, factor: &MaterialMap, usual: f64| {
        let factor = if factor.has_value { factor.value_vec4.x } else { 1.0 };
        let c = color.value_vec4;
        [c.x, c.y, c.z].map(|x| if x.is_finite() { (x * factor).clamp(0.0, 1.0) } else { usual })
    };
    let said = |map: &MaterialMap, usual: f64| match map.value_vec4.x {
        x if map.has_value && x.is_finite() => x.clamp(0.0, 1.0),
        _ => usual,
    };
    let physical = material.features.pbr.enabled;
    let mut surface = json!({
        "metallicFactor": if physical && material.features.metalness.enabled { said(&pbr.metalness, 0.0) } else { 0.0 },
        "roughnessFactor": if physical { said(&pbr.roughness, ROUGH) } else { ROUGH },
    });
    match maps.base_color {
        Some(texture) => surface["baseColorTexture"] = texture,
        None => {
            let [r, g, b] = color(&pbr.base_color, &pbr.base_factor, 1.0);
            surface["baseColorFactor"] = json!([r, g, b, 1.0]);
        }
    }
    let name: &str = material.element.name.as_ref();
    let mut look = json!({ "name": name, "pbrMetallicRoughness": surface, "doubleSided": true });
    if let Some(normal) = maps.normal {
        look["normalTexture"] = normal;
    }
    let emission = color(&pbr.emission_color, &pbr.emission_factor, 0.0);
    match maps.emission {
        // A texture takes the place of the colour.
        Some(texture) => {
            look["emissiveTexture"] = texture;
            look["emissiveFactor"] = json!([1.0, 1.0, 1.0]);
        }
        None if pbr.emission_color.has_value && emission != [0.0; 3] => {
            look["emissiveFactor"] = json!(emission)
        }
        None => {}
    }
    look
}

/// The path of a texture's picture as in the file.
fn picture_name(texture: &Texture) -> String {
    let names = [&texture.relative_filename, &texture.absolute_filename, &texture.filename];
    names.into_iter().map(|n| n.replace('\\', "/")).find(|n| !n.is_empty()).unwrap_or_default()
}

/// The file of an image in `folder`, by its path in the FBX file.
fn in_folder(folder: &Path, name: &str) -> Option<PathBuf> {
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
    let fits = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|found| found.len() <= IMAGE);
    places.into_iter().flatten().find_map(|place| regular_inside(folder, &place).filter(fits))
}
