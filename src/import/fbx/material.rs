//! Converts the materials of a scene to glTF materials: base colour, emission and normals with their textures, opacity, metalness
//! and roughness as numbers.
//!
//! Phong surfaces have none of the last three. They are taken as Blender's exporter writes them: roughness from shininess, and, from
//! Blender and this program only, metalness from reflection, which elsewhere is a mirror.
//!
//! A texture is embedded in the file or is loaded from the file's folder: by the relative path in the file, by its bare name,
//! or from the `NAME.fbm` or `textures` folder; nothing outside the file's folder is opened, whatever symbolic links lead there.
//! Textures with one picture share its bytes.

use crate::fbx_document::follows_blender;
use crate::gltf_document::{CLAMP, EMISSIVE_STRENGTH, GlbBuilder};
use crate::import::import_error::ImportError;
use crate::memory_budget::MemoryBudget;
use crate::model::has_alpha;
use crate::regular_file::{read_regular, regular_inside};
use crate::report::{Warnings, one_line, shortened};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use ufbx::{Material, MaterialMap, Scene, SceneRoot, Texture, WrapMode};

/// Roughness of surfaces whose shader does not define it: painted, not polished.
const ROUGH: f64 = 0.8;
/// Largest image that is read, bytes.
const IMAGE: u64 = 1 << 28;
/// The wrap mode of glTF that repeats a texture.
const REPEAT: u32 = 10497;
/// Copies of a picture while the GLB is built: in its binary chunk, and in the file.
const COPIES: u64 = 2;

/// The materials and textures of the GLB.
#[derive(Default)]
pub(super) struct GlbMaterials {
    pub(super) materials: Vec<Value>,
    pub(super) textures: Vec<Value>,
    pub(super) images: Vec<Value>,
    pub(super) samplers: Vec<Value>,
    /// Whether each image has an alpha channel.
    has_alpha: Vec<bool>,
}

impl GlbMaterials {
    /// The extensions that the materials use.
    pub(super) fn extensions(&self) -> Vec<&'static str> {
        let used = self.materials.iter().any(|m| m.get("extensions").is_some());
        if used { vec![EMISSIVE_STRENGTH] } else { Vec::new() }
    }

    /// Whether the image of a `textureInfo` has an alpha channel.
    fn has_alpha(&self, info: &Value) -> bool {
        let index = |value: &Value, key: &str| usize::try_from(value.get(key)?.as_u64()?).ok();
        let image = index(info, "index").and_then(|t| index(self.textures.get(t)?, "source"));
        image.is_some_and(|image| self.has_alpha.get(image) == Some(&true))
    }
}

/// The materials of the scene, in its order.
pub(super) fn looks(
    scene: &SceneRoot,
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
    let blender = follows_blender(scene);
    for material in &scene.materials {
        let sets = texture_sets(scene, material);
        let mut map = |map: &MaterialMap| -> Result<Option<Value>, ImportError> {
            let Some(texture) = map.texture.as_ref().filter(|_| map.texture_enabled) else { return Ok(None) };
            let Some(index) = textures.index(texture, binary, warnings)? else { return Ok(None) };
            let set = sets.iter().position(|name| **name == *texture.uv_set).unwrap_or(0);
            Ok(Some(json!({ "index": index, "texCoord": set })))
        };
        let (pbr, fbx) = (&material.pbr, &material.fbx);
        let maps = GlbMaps {
            base_color: map(&pbr.base_color)?,
            normal: map(&pbr.normal_map)?,
            emission: map(&pbr.emission_color)?,
        };
        let shown = |map: &MaterialMap| map.texture_enabled && map.texture.is_some();
        if [&pbr.metalness, &pbr.roughness, &fbx.reflection_factor].into_iter().any(shown) {
            let message = "textures of metalness and roughness were left out; their numbers are used";
            warnings.add("fbx-surface-texture", message, one_line(&material.element.name));
        }
        let opacity = [&fbx.transparency_factor, &fbx.transparency_color, &pbr.opacity];
        let opacity = opacity.into_iter().find(|map| shown(map)).and_then(|map| map.texture.as_deref());
        let same = opacity
            .is_some_and(|map| pbr.base_color.texture.as_deref().is_some_and(|base| is_same(base, map)));
        if opacity.is_some() && !same {
            let message = "textures of opacity other than that of the colour were left out";
            warnings.add("fbx-opacity-texture", message, one_line(&material.element.name));
        }
        let cut_out = same && maps.base_color.as_ref().is_some_and(|info| textures.looks.has_alpha(info));
        textures.looks.materials.push(look(material, maps, blender, cut_out));
    }
    Ok(textures.looks)
}

/// Whether two textures show one picture.
fn is_same(a: &Texture, b: &Texture) -> bool {
    let (one, other): (&[u8], &[u8]) = (a.content.as_ref(), b.content.as_ref());
    let name = picture_name(a);
    let shared = !one.is_empty() && one.as_ptr() == other.as_ptr();
    shared || (!name.is_empty() && name == picture_name(b))
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
            let mut entry = json!({ "source": source });
            let wrap = [texture.wrap_u, texture.wrap_v]
                .map(|mode| if mode == WrapMode::Clamp { CLAMP } else { REPEAT });
            if wrap != [REPEAT; 2] {
                entry["sampler"] = self.looks.samplers.len().into();
                self.looks.samplers.push(json!({ "wrapS": wrap[0], "wrapT": wrap[1] }));
            }
            self.looks.textures.push(entry);
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
            warnings.add("fbx-texture-missing", message, place(&name));
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
            warnings.add("fbx-texture", message, place(&name));
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
        self.looks.has_alpha.push(has_alpha(&bytes));
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

/// The number of a map from 0 to 1, `usual` where the material has none.
fn number(map: &MaterialMap, usual: f64) -> f64 {
    match map.value_vec4.x {
        x if map.has_value && x.is_finite() => x.clamp(0.0, 1.0),
        _ => usual,
    }
}

/// The value of one of these properties in the material itself, not in the template of the file.
fn own_number(material: &Material, names: &[&str]) -> Option<f64> {
    let named = |p: &&ufbx::Prop| names.iter().any(|name| **name == *p.name);
    let own = material.element.props.props.iter().find(named);
    own.map(|p| p.value_vec4.x).filter(|x| x.is_finite())
}

/// Metalness and roughness.
fn metalness_and_roughness(material: &Material, blender: bool) -> (f64, f64) {
    let (pbr, features) = (&material.pbr, &material.features);
    if features.pbr.enabled {
        let metalness = if features.metalness.enabled { number(&pbr.metalness, 0.0) } else { 0.0 };
        return (metalness, number(&pbr.roughness, ROUGH));
    }
    // `ufbx` has no number where there is a texture.
    let reflection = &material.fbx.reflection_factor;
    let beside = own_number(material, &["ReflectionFactor"]).filter(|_| !reflection.has_value);
    let metalness = beside.map_or_else(|| number(reflection, 0.0), |x| x.clamp(0.0, 1.0));
    let gloss = own_number(material, &["Shininess", "ShininessExponent"]);
    let roughness = match gloss.filter(|_| !pbr.roughness.has_value) {
        Some(gloss) => (1.0 - gloss.max(0.0).sqrt() / 10.0).max(0.0),
        None if blender || gloss.is_some() => number(&pbr.roughness, ROUGH),
        None => ROUGH,
    };
    (if blender { metalness } else { 0.0 }, roughness)
}

/// Opacity, 0 to 1. Some programs write it, others what is let through: as a factor of a colour, which Blender fills otherwise.
fn opacity(material: &Material, blender: bool) -> f64 {
    let (pbr, fbx) = (&material.pbr, &material.fbx);
    if material.features.pbr.enabled && pbr.opacity.has_value {
        return number(&pbr.opacity, 1.0);
    }
    if let Some(stated) = own_number(material, &["Opacity"]) {
        return stated.clamp(0.0, 1.0);
    }
    let color = fbx.transparency_color.value_vec4;
    let color = if blender { 1.0 } else { (color.x + color.y + color.z) / 3.0 };
    let through = number(&fbx.transparency_factor, 0.0) * if color.is_finite() { color } else { 1.0 };
    // Nobody draws what cannot be seen: programs disagree whether 1 is clear or opaque.
    if through < 1.0 { 1.0 - through.max(0.0) } else { 1.0 }
}

/// The glTF material; `cut_out` if the alpha of its texture is used.
fn look(material: &Material, maps: GlbMaps, blender: bool, cut_out: bool) -> Value {
    let pbr = &material.pbr;
    let factor = |map: &MaterialMap| if map.has_value { map.value_vec4.x } else { 1.0 };
    let color = |color: &MaterialMap, map: &MaterialMap, usual: f64| {
        let (c, factor) = (color.value_vec4, factor(map));
        [c.x, c.y, c.z].map(|x| if (x * factor).is_finite() { (x * factor).max(0.0) } else { usual })
    };
    let (metalness, roughness) = metalness_and_roughness(material, blender);
    let mut surface = json!({ "metallicFactor": metalness, "roughnessFactor": roughness });
    let opacity = opacity(material, blender);
    match maps.base_color {
        Some(texture) => {
            surface["baseColorTexture"] = texture;
            if opacity < 1.0 {
                surface["baseColorFactor"] = json!([1.0, 1.0, 1.0, opacity]);
            }
        }
        None => {
            let [r, g, b] = color(&pbr.base_color, &pbr.base_factor, 1.0).map(|c| c.min(1.0));
            surface["baseColorFactor"] = json!([r, g, b, opacity]);
        }
    }
    let name: &str = material.element.name.as_ref();
    let mut look = json!({ "name": name, "pbrMetallicRoughness": surface, "doubleSided": true });
    if opacity < 1.0 || cut_out {
        look["alphaMode"] = "BLEND".into();
    }
    if let Some(normal) = maps.normal {
        look["normalTexture"] = normal;
    }
    // A texture takes the place of the colour.
    let emission = match &maps.emission {
        Some(_) => match factor(&pbr.emission_factor) {
            factor if factor.is_finite() => [factor.max(1.0); 3],
            _ => [1.0; 3],
        },
        None if pbr.emission_color.has_value => color(&pbr.emission_color, &pbr.emission_factor, 0.0),
        None => [0.0; 3],
    };
    if let Some(texture) = maps.emission {
        look["emissiveTexture"] = texture;
    }
    if emission != [0.0; 3] {
        let strength = emission.iter().copied().fold(1.0, f64::max);
        look["emissiveFactor"] = json!(emission.map(|c| c / strength));
        if strength > 1.0 {
            look["extensions"] = json!({ EMISSIVE_STRENGTH: { "emissiveStrength": strength } });
        }
    }
    look
}

/// The path of a texture's picture as in the file.
fn picture_name(texture: &Texture) -> String {
    let names = [&texture.relative_filename, &texture.absolute_filename, &texture.filename];
    names.into_iter().map(|n| n.replace('\\', "/")).find(|n| !n.is_empty()).unwrap_or_default()
}

/// The path of a picture for a message.
fn place(name: &str) -> String {
    /// The longest path of Windows, bytes.
    const LONGEST: usize = 260;
    if name.len() > LONGEST { shortened(name) } else { one_line(name) }
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
