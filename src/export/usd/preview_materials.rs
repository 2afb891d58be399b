//! Materials become UsdPreviewSurface shaders, their textures files.
//!
//! Colours are linear; textures are sRGB and multiplied by the base colour. USD reads PNG and JPEG: WebP becomes PNG.

use super::usda_text::{PrimNames, SingleNumber, UsdaText, tuple};
use crate::export::OutputFile;
use crate::model::{Material, Mesh, Texture};
use crate::report::Warnings;
use image::ImageFormat;
use std::io::Cursor;

/// The prim that holds the materials.
const ROOT: &str = "/Root/Materials";
/// How rough every surface is: the models of the program do not say.
const ROUGHNESS: f32 = 0.7;

/// The materials of a stage, each once.
pub(super) struct PreviewMaterials<'a> {
    folder: &'a str,
    looks: Vec<PreviewMaterial<'a>>,
    textures: Vec<(&'a Texture, Option<usize>)>,
    files: Vec<OutputFile>,
    names: PrimNames,
}

struct PreviewMaterial<'a> {
    material: &'a Material,
    /// Whether the colour of each vertex counts, which the mesh has multiplied by the base colour.
    painted: bool,
    name: String,
    /// The number of its file.
    texture: Option<usize>,
}

impl<'a> PreviewMaterials<'a> {
    /// No materials yet; their textures will lie in `folder`.
    pub(super) fn new(folder: &'a str) -> Self {
        Self {
            folder,
            looks: Vec::new(),
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
        let painted = !mesh.colors.is_empty() && texture.is_none();
        if !mesh.colors.is_empty() && !painted {
            let said = "colours of vertices are written, but a textured material does not show them";
            warnings.add("usd-colours", said, mesh.name.clone());
        }
        let alike =
            |l: &&PreviewMaterial| l.material == material && l.painted == painted && l.texture == texture;
        let name = match self.looks.iter().find(alike) {
            Some(known) => known.name.clone(),
            None => {
                let name = self.names.fresh("Material");
                self.looks.push(PreviewMaterial { material, painted, name: name.clone(), texture });
                name
            }
        };
        format!("{ROOT}/{name}")
    }

    /// The number of the file of a texture.
    fn file(&mut self, texture: &'a Texture, place: &str, warnings: &mut Warnings) -> Option<usize> {
        if let Some((_, known)) = self.textures.iter().find(|(t, _)| *t == texture) {
            return *known;
        }
        let encoded = match image::guess_format(&texture.bytes) {
            Ok(ImageFormat::Png) => Some(("png", texture.bytes.to_vec())),
            Ok(ImageFormat::Jpeg) => Some(("jpg", texture.bytes.to_vec())),
            Ok(ImageFormat::WebP) => png(&texture.bytes).map(|bytes| {
                warnings.add("usd-webp", "WebP textures became PNG", place);
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
            warnings.add("usd-texture", "a texture that is neither PNG nor JPEG was left out", place);
        }
        self.textures.push((texture, number));
        number
    }

    /// Writes all materials.
    pub(super) fn write(&self, text: &mut UsdaText) {
        if self.looks.is_empty() {
            return;
        }
        text.open(r#"def Scope "Materials""#, &[]);
        for look in &self.looks {
            self.material(text, look);
        }
        text.close();
    }

    fn material(&self, text: &mut UsdaText, look: &PreviewMaterial) {
        let path = format!("{ROOT}/{}", look.name);
        let [r, g, b, alpha] = look.material.base_color;
        text.open(&format!("def Material \"{}\"", look.name), &[]);
        text.line(&format!("token outputs:surface.connect = <{path}/Surface.outputs:surface>"));
        text.open(r#"def Shader "Surface""#, &[]);
        text.line(r#"uniform token info:id = "UsdPreviewSurface""#);
        if look.texture.is_some() {
            text.line(&format!("color3f inputs:diffuseColor.connect = <{path}/Color.outputs:rgb>"));
        } else if look.painted {
            text.line(&format!("color3f inputs:diffuseColor.connect = <{path}/Color.outputs:result>"));
        } else {
            text.line(&format!("color3f inputs:diffuseColor = {}", tuple([r, g, b])));
        }
        text.line("float inputs:metallic = 0");
        text.line(&format!("float inputs:opacity = {}", SingleNumber(alpha)));
        text.line(&format!("float inputs:roughness = {}", SingleNumber(ROUGHNESS)));
        text.line("token outputs:surface");
        text.close();
        if let Some(file) = look.texture.and_then(|t| self.files.get(t)) {
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
        } else if look.painted {
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

/// A path in the marks of an asset.
fn asset(path: &str) -> String {
    match path.contains('@') {
        true => format!("@@@{}@@@", path.replace("@@@", "\\@@@")),
        false => format!("@{path}@"),
    }
}

/// A WebP image as PNG; `None` where it cannot be read.
fn png(webp: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let image = image::load_from_memory_with_format(webp, ImageFormat::WebP).ok()?;
    image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}
