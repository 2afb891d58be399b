//! The formats `usda` and `usdz`: assembles the layer of a USD file, and packs it with its textures.
//!
//! Space: model space, Y up. Units: metres, frames of the first clip.

use super::mesh_prims::{BoundMeshes, MeshReferences};
use super::preview_materials::PreviewMaterials;
use super::skeleton_prims::ClipsInSkeleton;
use super::usda_text::{self, PrimNames, ROOT, UsdaText};
use super::{animated_extent, blend_shapes, mesh_prims, skeleton_prims};
use crate::export::format::Format;
use crate::export::nominal_rate::nominal;
use crate::export::save::{ExportError, ExportOptions, OutputFile, Written};
use crate::export::whole_mesh::whole_meshes;
use crate::export::zip_archive::{Packing, archive};
use crate::model::Motion;
use crate::report::Warnings;

/// USD as text.
pub const USDA: Format = Format {
    name: "usda",
    about: "USD as text with separate textures; Blender plays it at 24 frames per second: set its rate",
    loses: "cameras, lights, and animation of nodes that are no joints",
    morphs: true,
    several: true,
    write: |motions, options| {
        let folder = format!("{}_textures", options.stem);
        let layer = layer(motions, &format!("./{folder}"))?;
        let mut files = vec![OutputFile { name: options.file("usda"), bytes: layer.text.into_bytes() }];
        let textures = layer.textures.into_iter();
        files.extend(textures.map(|t| OutputFile { name: format!("{folder}/{}", t.name), ..t }));
        Ok((files, layer.warnings))
    },
};

/// USD packed with its textures.
pub const USDZ: Format = Format {
    name: "usdz",
    about: "USD with textures in one file; Blender plays it at 24 frames per second: set its rate",
    loses: USDA.loses,
    morphs: true,
    several: true,
    write: packed,
};

/// Alignment of the files in a package, bytes (usdz specification).
const ALIGNMENT: usize = 64;
/// Most bytes of the paths of all joints. A path lists every joint above; those of a hand's fingers have 300 bytes each.
const MAX_PATHS: u64 = 1 << 24;
/// Folder of the textures in a package.
const TEXTURES: &str = "textures";

fn packed(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let layer = layer(motions, TEXTURES)?;
    // The layer has to be the first file.
    let mut files = vec![OutputFile { name: "scene.usda".to_owned(), bytes: layer.text.into_bytes() }];
    let textures = layer.textures.into_iter();
    files.extend(textures.map(|t| OutputFile { name: format!("{TEXTURES}/{}", t.name), ..t }));
    let bytes = archive(&files, Packing::Stored(ALIGNMENT))?;
    Ok((vec![OutputFile { name: options.file("usdz"), bytes }], layer.warnings))
}

/// A layer as text, with the textures that it refers to.
struct UsdLayer {
    text: String,
    textures: Vec<OutputFile>,
    warnings: Warnings,
}

/// The layer of motions of one character, with textures in `folder`.
fn layer(motions: &[Motion], folder: &str) -> Result<UsdLayer, ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let character = &first.character;
    let bytes = skeleton_prims::bytes_of_paths(character.skeleton());
    if bytes > MAX_PATHS {
        let reason = format!(
            "the paths of its joints have {bytes} bytes, at most {MAX_PATHS} are written (`MAX_PATHS`)"
        );
        return Err(ExportError::Usd { reason });
    }
    let mut warnings = Warnings::new();
    let rate = nominal(first.clip.sample_rate);
    let meshes = whole_meshes(&character.meshes);
    let bound = BoundMeshes::of(character, &meshes, &mut warnings);
    let (morph_names, morphs_of_meshes) = blend_shapes::names(&meshes, motions);
    let mut materials = PreviewMaterials::new(folder);

    let mut text = UsdaText::new(&[
        r#"defaultPrim = "Root""#.to_owned(),
        concat!(r#"doc = "written by posemill "#, env!("CARGO_PKG_VERSION"), '"').to_owned(),
        "metersPerUnit = 1".to_owned(),
        r#"upAxis = "Y""#.to_owned(),
        format!("timeCodesPerSecond = {rate}"),
        format!("framesPerSecond = {rate}"),
        "startTimeCode = 0".to_owned(),
        format!("endTimeCode = {}", first.clip.frames().saturating_sub(1)),
    ]);
    text.open(r#"def Xform "Root""#, &[r#"kind = "component""#]);
    text.open(r#"def SkelRoot "Character""#, &[r#"prepend apiSchemas = ["SkelBindingAPI"]"#]);
    text.line(&format!("float3[] extent = {}", usda_text::tuples(animated_extent::of(motions))));
    text.line(&format!("rel skel:skeleton = <{}/Skeleton>", ROOT));
    let mut names = PrimNames::default();
    for (number, bind) in bound.skeletons.iter().enumerate() {
        let name = names.fresh("Skeleton");
        let animated = if number == 0 { motions } else { &[] };
        let clips = ClipsInSkeleton { motions, contained: animated, morphs: &morph_names, rate };
        skeleton_prims::write(&mut text, character.skeleton(), &name, bind, &clips);
    }
    for ((whole, placed), morphs) in meshes.iter().zip(&bound.meshes).zip(morphs_of_meshes) {
        let paths = whole.materials().into_iter().map(|(_, part)| materials.of(part, &mut warnings));
        let paths = paths.collect();
        let references = MeshReferences { name: names.fresh(&whole.first.name), materials: paths, morphs };
        mesh_prims::write(&mut text, whole, placed, &references);
    }
    text.close();
    materials.write(&mut text);
    text.close();
    Ok(UsdLayer { text: text.finish(), textures: materials.into_files(), warnings })
}
