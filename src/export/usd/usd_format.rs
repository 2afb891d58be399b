//! The formats `usda`, `usdc`, `usd` and `usdz`: assembles the layer of a USD file, and packs it with its textures.
//!
//! Space: model space, Y up. Units: metres, frames of the first clip.

use super::mesh_prims::{BoundMeshes, MeshReferences};
use super::preview_materials::PreviewMaterials;
use super::prim_names::PrimNames;
use super::skeleton_prims::ClipsInSkeleton;
use super::usd_layer::{ROOT, UsdLayer, UsdValue};
use super::usda_text::text;
use super::{animated_extent, blend_shapes, crate_writer, mesh_prims, skeleton_prims};
use crate::export::export_options::ExportOptions;
use crate::export::nominal_rate::nominal;
use crate::export::omitted_parts::warn_of_omitted;
use crate::export::save::{ExportError, Format, OutputFile, Written};
use crate::export::whole_mesh::whole_meshes;
use crate::export::zip_archive::{Packing, archive};
use crate::model::Motion;
use crate::report::Warnings;

/// USD as text.
pub const USDA: Format = Format {
    name: "usda",
    about: "USD as text with separate textures; Blender plays it at 24 frames per second: set its rate",
    loses: "cameras, lights, material extensions of glTF, and animation of nodes that are no joints",
    morphs: true,
    several: true,
    write: |motions, options| with_textures(motions, options, "usda", |layer| Ok(text(layer).into_bytes())),
};

/// Binary USD.
pub const USDC: Format = Format {
    name: "usdc",
    about: "binary USD with separate textures, for long takes",
    write: |motions, options| with_textures(motions, options, "usdc", crate_writer::bytes),
    ..USDA
};

/// USD under its general name, which is binary, as from usd-core and Blender.
pub const USD: Format = Format {
    name: "usd",
    about: "the same as `.usdc`",
    write: |motions, options| with_textures(motions, options, "usd", crate_writer::bytes),
    ..USDA
};

/// Binary USD packed with its textures.
pub const USDZ: Format = Format {
    name: "usdz",
    about: "binary USD with textures in one file; Blender plays it at 24 frames per second: set its rate",
    write: packed,
    ..USDA
};

/// Most bytes of the paths of all joints. A path lists every joint above; those of a hand's fingers have 300 bytes each.
const MAX_PATHS: u64 = 1 << 24;
/// Folder of the textures in a package.
const TEXTURES: &str = "textures";

/// A layer with its textures in a folder next to it.
fn with_textures(
    motions: &[Motion],
    options: &ExportOptions,
    extension: &str,
    bytes: fn(&UsdLayer) -> Result<Vec<u8>, ExportError>,
) -> Result<Written, ExportError> {
    let folder = format!("{}_textures", options.stem);
    let made = layer(motions, &format!("./{folder}"))?;
    let mut files = vec![OutputFile { name: options.file(extension), bytes: bytes(&made.layer)? }];
    let textures = made.textures.into_iter();
    files.extend(textures.map(|t| OutputFile { name: format!("{folder}/{}", t.name), ..t }));
    Ok((files, made.warnings))
}

fn packed(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let made = layer(motions, TEXTURES)?;
    // The layer has to be the first file.
    let bytes = crate_writer::bytes(&made.layer)?;
    let mut files = vec![OutputFile { name: "scene.usdc".to_owned(), bytes }];
    let textures = made.textures.into_iter();
    files.extend(textures.map(|t| OutputFile { name: format!("{TEXTURES}/{}", t.name), ..t }));
    let bytes = archive(&files, Packing::Stored)?;
    Ok((vec![OutputFile { name: options.file("usdz"), bytes }], made.warnings))
}

/// A layer with the textures that it refers to.
struct TexturedLayer {
    layer: UsdLayer,
    textures: Vec<OutputFile>,
    warnings: Warnings,
}

/// The layer of motions of one character, with textures in `folder`.
fn layer(motions: &[Motion], folder: &str) -> Result<TexturedLayer, ExportError> {
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
    let meshes = whole_meshes(character);
    warn_of_omitted(character, &mut warnings);
    let bound = BoundMeshes::of(character, &meshes, &mut warnings);
    let (morph_names, morphs_of_meshes) = blend_shapes::names(&meshes, motions);
    let mut materials = PreviewMaterials::new(folder);

    let mut layer = UsdLayer::new(rate, first.clip.frames().saturating_sub(1));
    layer.open_component("Xform", "Root");
    layer.open("SkelRoot", "Character", &["SkelBindingAPI"]);
    layer.attribute("float3[] extent", UsdValue::Triples(animated_extent::of(motions, &bound).to_vec()));
    layer.relationship("skel:skeleton", format!("{ROOT}/Skeleton"));
    let mut names = PrimNames::default();
    for (number, bind) in bound.skeletons.iter().enumerate() {
        let name = names.fresh("Skeleton");
        let animated = if number == 0 { motions } else { &[] };
        let clips = ClipsInSkeleton { motions, contained: animated, morphs: &morph_names, rate };
        skeleton_prims::write(&mut layer, character.skeleton(), &name, bind, &clips);
    }
    for ((whole, placed), morphs) in meshes.iter().zip(&bound.meshes).zip(morphs_of_meshes) {
        let paths = whole.materials().into_iter().map(|(_, part)| materials.of(part, &mut warnings));
        let paths = paths.collect();
        let references = MeshReferences { name: names.fresh(&whole.first.name), materials: paths, morphs };
        mesh_prims::write(&mut layer, whole, placed, &references);
    }
    layer.close();
    materials.write(&mut layer);
    layer.close();
    Ok(TexturedLayer { layer, textures: materials.files, warnings })
}
