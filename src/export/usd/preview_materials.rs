//! Writes materials as UsdPreviewSurface shaders, and their textures as files.
//!
//! Colours are linear; textures of colours are sRGB, the others raw. USD reads PNG and JPEG: WebP is converted to PNG.
//! Source: the UsdPreviewSurface specification 2.6 of Pixar's USD.

use super::prim_names::PrimNames;
use super::usd_layer::{UsdLayer, UsdValue};
use crate::export::OutputFile;
use crate::export::surface_hash::SurfaceHashes;
use crate::export::texture_file::{left_out, texture_file};
use crate::model::{AlphaMode, Material, Mesh, Texture, TextureWrap};
use crate::report::{Warnings, one_line};
use std::collections::HashMap;

/// The prim that holds the materials.
const ROOT: &str = "/Root/Materials";

/// The materials of a layer, without duplicates.
pub(super) struct PreviewMaterials<'a> {
    folder: &'a str,
    hashes: SurfaceHashes<'a>,
    materials: Vec<PreviewMaterial<'a>>,
    /// The places of materials in the list, by their hashes.
    places: HashMap<u64, Vec<usize>>,
    /// The files of textures, by their hashes.
    textures: HashMap<u64, Vec<(&'a Texture, Option<usize>)>>,
    pub(super) files: Vec<OutputFile>,
    names: PrimNames,
}

/// A material of the layer.
struct PreviewMaterial<'a> {
    material: &'a Material,
    /// Whether vertex colours are used; the mesh has multiplied them by the base colour.
    vertex_colors: bool,
    name: String,
    maps: Vec<SurfaceMap>,
}

/// A texture of a material.
#[derive(Clone, Copy, PartialEq)]
struct SurfaceMap {
    kind: MapKind,
    /// The index of its file.
    file: usize,
    /// The set of its texture coordinates.
    set: usize,
    wrap: [TextureWrap; 2],
}

/// What a texture is for.
#[derive(Clone, Copy, PartialEq)]
enum MapKind {
    Color,
    /// The same, with opacity in alpha.
    ColorAndAlpha,
    MetallicRoughness,
    Normal,
    Emission,
    Occlusion,
}

impl MapKind {
    /// The name of the shader, and the inputs of the surface with the outputs that they take.
    fn inputs(self) -> (&'static str, &'static [(&'static str, &'static str)]) {
        match self {
            MapKind::Color => ("Color", &[("color3f inputs:diffuseColor", "rgb")]),
            MapKind::ColorAndAlpha => {
                ("Color", &[("color3f inputs:diffuseColor", "rgb"), ("float inputs:opacity", "a")])
            }
            MapKind::MetallicRoughness => {
                ("MetallicRoughness", &[("float inputs:metallic", "b"), ("float inputs:roughness", "g")])
            }
            MapKind::Normal => ("Normal", &[("normal3f inputs:normal", "rgb")]),
            MapKind::Emission => ("Emission", &[("color3f inputs:emissiveColor", "rgb")]),
            MapKind::Occlusion => ("Occlusion", &[("float inputs:occlusion", "r")]),
        }
    }

    /// The factor and the offset of the values of the image, and its colour space.
    fn values(self, material: &Material) -> ([f32; 4], [f32; 4], &'static str) {
        let [r, g, b, alpha] = material.base_color;
        match self {
            MapKind::Color => ([r, g, b, 1.0], [0.0; 4], "sRGB"),
            MapKind::ColorAndAlpha => ([r, g, b, alpha], [0.0; 4], "sRGB"),
            MapKind::MetallicRoughness => {
                ([1.0, material.roughness, material.metallic, 1.0], [0.0; 4], "raw")
            }
            // An image has -1 to 1 as 0 to 1.
            MapKind::Normal => ([2.0, 2.0, 2.0, 1.0], [-1.0, -1.0, -1.0, 0.0], "raw"),
            MapKind::Emission => {
                let [r, g, b] = material.emissive;
                ([r, g, b, 1.0], [0.0; 4], "sRGB")
            }
            MapKind::Occlusion => ([1.0; 4], [0.0; 4], "raw"),
        }
    }
}

/// The name of the primvar of a set of texture coordinates.
pub(super) fn texcoord_name(set: usize) -> String {
    if set == 0 { "st".to_owned() } else { format!("st{set}") }
}

impl<'a> PreviewMaterials<'a> {
    /// An empty list; textures will be in `folder`.
    pub(super) fn new(folder: &'a str) -> Self {
        Self {
            folder,
            hashes: SurfaceHashes::default(),
            materials: Vec::new(),
            places: HashMap::new(),
            textures: HashMap::new(),
            files: Vec::new(),
            names: PrimNames::default(),
        }
    }

    /// The path of the material of a mesh.
    pub(super) fn of(&mut self, mesh: &'a Mesh, warnings: &mut Warnings) -> String {
        let material = &mesh.material;
        let maps = self.maps(mesh, warnings);
        let textured = maps.iter().any(|map| matches!(map.kind, MapKind::Color | MapKind::ColorAndAlpha));
        let vertex_colors = !mesh.colors.is_empty() && !textured;
        if !mesh.colors.is_empty() && textured {
            let message = "vertex colours are written, but a textured material does not show them";
            warnings.add("usd-colours", message, mesh.name.clone());
        }
        let equal = |l: &&PreviewMaterial| {
            l.material == material && l.vertex_colors == vertex_colors && l.maps == maps
        };
        let alike = self.places.entry(self.hashes.material(material)).or_default();
        let name = match alike.iter().map(|place| &self.materials[*place]).find(equal) {
            Some(known) => known.name.clone(),
            None => {
                alike.push(self.materials.len());
                let own = if material.name.is_empty() { "Material" } else { &material.name };
                let name = self.names.fresh(own);
                self.materials.push(PreviewMaterial { material, vertex_colors, name: name.clone(), maps });
                name
            }
        };
        format!("{ROOT}/{name}")
    }

    /// The textures of the material of a mesh, as far as the mesh has texture coordinates for them.
    fn maps(&mut self, mesh: &'a Mesh, warnings: &mut Warnings) -> Vec<SurfaceMap> {
        let material = &mesh.material;
        let placed =
            |map: &'a Option<crate::model::TextureMap>| map.as_ref().map(|m| (&m.texture, m.set, m.wrap));
        let base = material.texture.as_ref();
        let see_through = material.alpha_mode != AlphaMode::Opaque && base.is_some_and(Texture::has_alpha);
        let all = [
            (
                if see_through { MapKind::ColorAndAlpha } else { MapKind::Color },
                base.map(|texture| (texture, 0, material.texture_wrap)),
            ),
            (MapKind::MetallicRoughness, placed(&material.metallic_roughness_map)),
            (MapKind::Normal, placed(&material.normal_map)),
            (MapKind::Emission, placed(&material.emissive_map)),
            (MapKind::Occlusion, placed(&material.occlusion_map)),
        ];
        let mut maps = Vec::new();
        for (kind, map) in all {
            let Some((texture, set, wrap)) = map.filter(|(_, set, _)| !mesh.texture_set(*set).is_empty())
            else {
                continue;
            };
            if let Some(file) = self.file(texture, mesh, warnings) {
                maps.push(SurfaceMap { kind, file, set, wrap });
            }
        }
        maps
    }

    /// The index of the file of a texture; `None` for an unsupported image.
    fn file(&mut self, texture: &'a Texture, mesh: &Mesh, warnings: &mut Warnings) -> Option<usize> {
        let alike = self.textures.entry(self.hashes.image(texture)).or_default();
        if let Some((_, known)) = alike.iter().find(|(t, _)| *t == texture) {
            return *known;
        }
        let number = texture_file(texture).map(|file| {
            if file.converted {
                warnings.add("usd-webp", "WebP textures were converted to PNG", mesh.name.clone());
            }
            let name = format!("texture_{}.{}", self.files.len() + 1, file.extension);
            self.files.push(OutputFile { name, bytes: file.bytes.into_owned() });
            self.files.len() - 1
        });
        if number.is_none() {
            let place = match mesh.material.name.as_str() {
                "" => format!("mesh `{}`", one_line(&mesh.name)),
                name => format!("material `{}`", one_line(name)),
            };
            warnings.add("usd-texture", left_out(texture), place);
        }
        alike.push((texture, number));
        number
    }

    /// Writes all materials.
    pub(super) fn write(&self, layer: &mut UsdLayer) {
        if self.materials.is_empty() {
            return;
        }
        layer.open("Scope", "Materials", &[]);
        for material in &self.materials {
            self.write_material(layer, material);
        }
        layer.close();
    }

    fn write_material(&self, layer: &mut UsdLayer, preview: &PreviewMaterial) {
        let path = format!("{ROOT}/{}", preview.name);
        layer.open("Material", &preview.name, &[]);
        layer.display_name(&preview.material.name);
        layer.connected("token outputs:surface", format!("{path}/Surface.outputs:surface"));
        write_surface(layer, preview, &path);
        let mut sets: Vec<usize> = preview.maps.iter().map(|map| map.set).collect();
        sets.sort_unstable();
        sets.dedup();
        for set in sets {
            layer.open("Shader", &coordinates(set), &[]);
            shader(layer, "UsdPrimvarReader_float2");
            layer.attribute("string inputs:varname", UsdValue::Text(texcoord_name(set)));
            layer.declared("float2 outputs:result");
            layer.close();
        }
        for map in &preview.maps {
            self.write_map(layer, preview.material, map, &path);
        }
        if preview.vertex_colors {
            layer.open("Shader", "Color", &[]);
            shader(layer, "UsdPrimvarReader_float3");
            layer.attribute("string inputs:varname", UsdValue::Text("displayColor".into()));
            layer.declared("float3 outputs:result");
            layer.close();
        }
        layer.close();
    }

    /// Writes the shader of a texture.
    fn write_map(&self, layer: &mut UsdLayer, material: &Material, map: &SurfaceMap, path: &str) {
        let Some(file) = self.files.get(map.file) else { return };
        let (scale, bias, space) = map.kind.values(material);
        let (name, inputs) = map.kind.inputs();
        layer.open("Shader", name, &[]);
        shader(layer, "UsdUVTexture");
        layer.attribute("asset inputs:file", UsdValue::Asset(format!("{}/{}", self.folder, file.name)));
        layer.attribute("float4 inputs:scale", UsdValue::Quadruple(scale));
        if bias != [0.0; 4] {
            layer.attribute("float4 inputs:bias", UsdValue::Quadruple(bias));
        }
        layer.attribute("token inputs:sourceColorSpace", UsdValue::Token(space.into()));
        layer.connected("float2 inputs:st", format!("{path}/{}.outputs:result", coordinates(map.set)));
        for (axis, wrap) in ["wrapS", "wrapT"].into_iter().zip(map.wrap) {
            let word = match wrap {
                TextureWrap::Repeat => "repeat",
                TextureWrap::Clamp => "clamp",
                TextureWrap::Mirror => "mirror",
            };
            layer.attribute(&format!("token inputs:{axis}"), UsdValue::Token(word.into()));
        }
        for (_, output) in inputs {
            let kind = if *output == "rgb" { "float3" } else { "float" };
            layer.declared(&format!("{kind} outputs:{output}"));
        }
        layer.close();
    }
}

/// The name of the shader that reads a set of texture coordinates.
fn coordinates(set: usize) -> String {
    if set == 0 { "Coordinates".to_owned() } else { format!("Coordinates_{set}") }
}

/// Writes the shader of the surface: the inputs that textures or vertex colours do not give.
fn write_surface(layer: &mut UsdLayer, preview: &PreviewMaterial, path: &str) {
    let Material { base_color: [r, g, b, alpha], alpha_mode, metallic, roughness, emissive, .. } =
        preview.material;
    layer.open("Shader", "Surface", &[]);
    shader(layer, "UsdPreviewSurface");
    let has = |kind| preview.maps.iter().any(|map| map.kind == kind);
    for map in &preview.maps {
        let (name, inputs) = map.kind.inputs();
        for (input, output) in inputs {
            layer.connected(input, format!("{path}/{name}.outputs:{output}"));
        }
    }
    if preview.vertex_colors {
        layer.connected("color3f inputs:diffuseColor", format!("{path}/Color.outputs:result"));
    } else if !has(MapKind::Color) && !has(MapKind::ColorAndAlpha) {
        layer.attribute("color3f inputs:diffuseColor", UsdValue::Triple([*r, *g, *b]));
    }
    if !has(MapKind::MetallicRoughness) {
        layer.attribute("float inputs:metallic", UsdValue::Single(*metallic));
        layer.attribute("float inputs:roughness", UsdValue::Single(*roughness));
    }
    if !has(MapKind::Emission) && *emissive != [0.0; 3] {
        layer.attribute("color3f inputs:emissiveColor", UsdValue::Triple(*emissive));
    }
    if !has(MapKind::ColorAndAlpha) {
        layer.attribute("float inputs:opacity", UsdValue::Single(*alpha));
    }
    if let (true, AlphaMode::Mask(cutoff)) = (has(MapKind::ColorAndAlpha), alpha_mode) {
        layer.attribute("float inputs:opacityThreshold", UsdValue::Single(*cutoff));
    }
    layer.declared("token outputs:surface");
    layer.close();
}

/// Names the kind of a shader.
fn shader(layer: &mut UsdLayer, kind: &str) {
    layer.attribute("uniform token info:id", UsdValue::Token(kind.to_owned()));
}
