//! Writes materials as UsdPreviewSurface shaders, and their textures as files.
//!
//! Colours are linear; textures are sRGB and multiplied by the base colour. USD reads PNG and JPEG: WebP is converted to PNG.

use super::usda_text::{PrimNames, SingleNumber, UsdaText, tuple};
use crate::export::OutputFile;
use crate::model::{Material, Mesh, Texture};
use crate::report::Warnings;
use image::ImageFormat;
use std::io::Cursor;

/// The prim that holds the materials.
const ROOT: &str = "/Root/Materials";
/// Roughness of every surface: materials here have none.
const ROUGHNESS: f32 = 0.7;

/// The materials of a layer, without duplicates.
pub(super) struct PreviewMaterials<'a> {
    folder: &'a str,
    materials: Vec<PreviewMaterial<'a>>,
    textures: Vec<(&'a Texture, Option<usize>)>,
    files: Vec<OutputFile>,
    names: PrimNames,
}

/// A material of the layer.
struct PreviewMaterial<'a> {
    material: &'a Material,
    /// Whether vertex colours are used; the mesh has multiplied them by the base colour.
    vertex_colors: bool,
    name: String,
    /// The index of its texture file.
    texture: Option<usize>,
}

impl<'a> PreviewMaterials<'a> {
    /// An empty list; textures will be in `folder`.
    pub(super) fn new(folder: &'a str) -> Self {
        Self {
            folder,
            materials: Vec::new(),
            textures: Vec::new(),
            files: Vec::new(),
            names: PrimNames::default(),
        }
    }

    /// The path of the material of a mesh.
    pub(super) fn of(&mut self, mesh: &'a Mesh, warnings: &mut Warnings) -> String {
        let material = &mesh.material;
        let texture = material.texture.as_ref().filter(|_| !mesh.texcoords.is_empty());
        let texture = texture.and_then(|texture| self.file(texture, &mesh.name, warnings));
        let vertex_colors = !mesh.colors.is_empty() && texture.is_none();
        if !mesh.colors.is_empty() && !vertex_colors {
            let message = "vertex colours are written, but a textured material does not show them";
            warnings.add("usd-colours", message, mesh.name.clone());
        }
        let equal = |l: &&PreviewMaterial| {
            l.material == material && l.vertex_colors == vertex_colors && l.texture == texture
        };
        let name = match self.materials.iter().find(equal) {
            Some(known) => known.name.clone(),
            None => {
                let name = self.names.fresh("Material");
                self.materials.push(PreviewMaterial { material, vertex_colors, name: name.clone(), texture });
                name
            }
        };
        format!("{ROOT}/{name}")
    }

    /// The index of the file of a texture; `None` for an unsupported image.
    fn file(&mut self, texture: &'a Texture, mesh: &str, warnings: &mut Warnings) -> Option<usize> {
        if let Some((_, known)) = self.textures.iter().find(|(t, _)| *t == texture) {
            return *known;
        }
        let encoded = match image::guess_format(&texture.bytes) {
            Ok(ImageFormat::Png) => Some(("png", texture.bytes.to_vec())),
            Ok(ImageFormat::Jpeg) => Some(("jpg", texture.bytes.to_vec())),
            Ok(ImageFormat::WebP) => png(&texture.bytes).map(|bytes| {
                warnings.add("usd-webp", "WebP textures were converted to PNG", mesh);
                ("png", bytes)
            }),
            _ => None,
        };
        let number = encoded.map(|(extension, bytes)| {
            let number = self.files.len() + 1;
            self.files.push(OutputFile { name: format!("texture_{number}.{extension}"), bytes });
            number - 1
        });
        if number.is_none() {
            warnings.add("usd-texture", "a texture that is not PNG, JPEG or WebP was omitted", mesh);
        }
        self.textures.push((texture, number));
        number
    }

    /// Writes all materials.
    pub(super) fn write(&self, text: &mut UsdaText) {
        if self.materials.is_empty() {
            return;
        }
        text.open(r#"def Scope "Materials""#, &[]);
        for material in &self.materials {
            self.write_material(text, material);
        }
        text.close();
    }

    fn write_material(&self, text: &mut UsdaText, preview: &PreviewMaterial) {
        let path = format!("{ROOT}/{}", preview.name);
        let [r, g, b, alpha] = preview.material.base_color;
        text.open(&format!("def Material \"{}\"", preview.name), &[]);
        text.line(&format!("token outputs:surface.connect = <{path}/Surface.outputs:surface>"));
        text.open(r#"def Shader "Surface""#, &[]);
        text.line(r#"uniform token info:id = "UsdPreviewSurface""#);
        if preview.texture.is_some() {
            text.line(&format!("color3f inputs:diffuseColor.connect = <{path}/Color.outputs:rgb>"));
        } else if preview.vertex_colors {
            text.line(&format!("color3f inputs:diffuseColor.connect = <{path}/Color.outputs:result>"));
        } else {
            text.line(&format!("color3f inputs:diffuseColor = {}", tuple([r, g, b])));
        }
        text.line("float inputs:metallic = 0");
        text.line(&format!("float inputs:opacity = {}", SingleNumber(alpha)));
        text.line(&format!("float inputs:roughness = {}", SingleNumber(ROUGHNESS)));
        text.line("token outputs:surface");
        text.close();
        if let Some(file) = preview.texture.and_then(|t| self.files.get(t)) {
            text.open(r#"def Shader "Coordinates""#, &[]);
            text.line(r#"uniform token info:id = "UsdPrimvarReader_float2""#);
            text.line(r#"string inputs:varname = "st""#);
            text.line("float2 outputs:result");
            text.close();
            text.open(r#"def Shader "Color""#, &[]);
            text.line(r#"uniform token info:id = "UsdUVTexture""#);
            text.line(&format!("asset inputs:file = {}", asset(&format!("{}/{}", self.folder, file.name))));
            text.line(&format!("float4 inputs:scale = {}", tuple([r, g, b, 1.0])));
            text.line(r#"token inputs:sourceColorSpace = "sRGB""#);
            text.line(&format!("float2 inputs:st.connect = <{path}/Coordinates.outputs:result>"));
            text.line(r#"token inputs:wrapS = "repeat""#);
            text.line(r#"token inputs:wrapT = "repeat""#);
            text.line("float3 outputs:rgb");
            text.close();
        } else if preview.vertex_colors {
            text.open(r#"def Shader "Color""#, &[]);
            text.line(r#"uniform token info:id = "UsdPrimvarReader_float3""#);
            text.line(r#"string inputs:varname = "displayColor""#);
            text.line("float3 outputs:result");
            text.close();
        }
        text.close();
    }

    /// The files of the textures.
    pub(super) fn into_files(self) -> Vec<OutputFile> {
        self.files
    }
}

/// A path as an asset literal.
fn asset(path: &str) -> String {
    match path.contains('@') {
        true => format!("@@@{}@@@", path.replace("@@@", "\\@@@")),
        false => format!("@{path}@"),
    }
}

/// A WebP image as PNG; `None` if it cannot be decoded.
fn png(webp: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let image = image::load_from_memory_with_format(webp, ImageFormat::WebP).ok()?;
    image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}
