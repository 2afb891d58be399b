//! Motions become the stage of a USD file, by itself or packed with its textures.
//!
//! Space: model space, Y up. Units: metres, frames of the first clip.

use super::mesh_prims::BoundMeshes;
use super::preview_materials::PreviewMaterials;
use super::usda_text::{self, PrimNames, UsdaText};
use super::{animated_extent, mesh_prims, skeleton_prims};
use crate::export::format::Format;
use crate::export::nominal_rate::nominal;
use crate::export::save::{ExportError, ExportOptions, OutputFile, Written};
use crate::export::zip_archive::{Packing, archive};
use crate::model::Motion;
use crate::report::Warnings;

/// USD as text.
pub const USDA: Format = Format {
    name: "usda",
    about: "USD as text, textures beside it; Blender plays it at 24 frames a second: set its rate",
    loses: "morphs, cameras, lights, metal and roughness; four joints a vertex",
    several: true,
    write: |motions, options| {
        let folder = format!("{}_textures", options.stem);
        let stage = stage(motions, &format!("./{folder}"))?;
        let mut files = vec![OutputFile { name: options.file("usda"), bytes: stage.text.into_bytes() }];
        let beside = stage.textures.into_iter();
        files.extend(beside.map(|t| OutputFile { name: format!("{folder}/{}", t.name), ..t }));
        Ok((files, stage.warnings))
    },
};

/// USD packed with its textures.
pub const USDZ: Format = Format {
    name: "usdz",
    about: "USD and its textures in one file; Blender plays it at 24 frames a second: set its rate",
    loses: USDA.loses,
    several: true,
    write: packed,
};

/// Where the content of each file of a package begins, in bytes.
const MULTIPLE: usize = 64;
/// The folder of the textures in a package.
const TEXTURES: &str = "textures";

fn packed(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let stage = stage(motions, TEXTURES)?;
    // What comes first is the stage.
    let mut files = vec![OutputFile { name: "scene.usda".to_owned(), bytes: stage.text.into_bytes() }];
    let within = stage.textures.into_iter();
    files.extend(within.map(|t| OutputFile { name: format!("{TEXTURES}/{}", t.name), ..t }));
    let bytes = archive(&files, Packing::Stored(MULTIPLE))?;
    Ok((vec![OutputFile { name: options.file("usdz"), bytes }], stage.warnings))
}

/// A stage as text, and what it refers to.
struct UsdLayer {
    text: String,
    textures: Vec<OutputFile>,
    warnings: Warnings,
}

/// The stage of motions of one character, whose textures lie in `folder`.
fn stage(motions: &[Motion], folder: &str) -> Result<UsdLayer, ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let character = &first.character;
    let mut warnings = Warnings::new();
    let rate = nominal(first.clip.sample_rate);
    let bound = BoundMeshes::of(character, &mut warnings);
    let mut looks = PreviewMaterials::new(folder);

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
    text.line(&format!("rel skel:skeleton = <{}/Skeleton>", skeleton_prims::ROOT));
    let mut names = PrimNames::default();
    for (number, bind) in bound.skeletons.iter().enumerate() {
        let name = names.fresh("Skeleton");
        let animated = if number == 0 { motions } else { &[] };
        skeleton_prims::write(&mut text, character.skeleton(), &name, bind, motions, animated, rate);
    }
    for (mesh, placed) in character.meshes.iter().zip(&bound.meshes) {
        let material = looks.of(mesh, &mut warnings);
        mesh_prims::write(&mut text, mesh, placed, &names.fresh(&mesh.name), &material);
    }
    text.close();
    looks.write(&mut text);
    text.close();
    Ok(UsdLayer { text: text.finish(), textures: looks.into_files(), warnings })
}
