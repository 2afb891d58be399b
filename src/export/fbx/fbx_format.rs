//! The format `fbx`: writes the character's own file with clips added, or else a new file.
//!
//! Here is decided which of the two, and a new file is reported with the reason.

use super::fbx_builder::FbxBuilder;
use super::material::FbxMaterials;
use super::records::binary_version;
use super::{animation_stack, limb_nodes, mesh};
#[cfg(feature = "fbx")]
use super::{append_clips, original_nodes};
use crate::export::export_options::ExportOptions;
use crate::export::omitted_parts::warn_of_omitted;
use crate::export::save::{ExportError, Format, OutputFile, Written};
use crate::export::synthetic_root::has_synthetic_root;
use crate::export::whole_mesh::whole_meshes;
use crate::kinematics::cuts;
use crate::math::Transform;
use crate::model::{Clip, Document, Motion, UniqueNames};
use crate::report::Warnings;

/// FBX.
pub const FORMAT: Format = Format {
    name: "fbx",
    about: "binary FBX: a new file, or the FBX character's own file with clips added",
    loses: "for characters not from FBX: cameras, lights, occlusion maps, alpha cutoffs, material extensions of glTF, and animation of nodes that are no joints",
    morphs: true,
    several: true,
    write: save,
};

fn save(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let document = motions.first().and_then(|m| m.character.document.as_ref());
    let own = document.and_then(|d| d.fbx.as_deref().map(|bytes| (d, bytes))).filter(|_| options.fbx.skin);
    let Some((document, bytes)) = own else { return new_file(motions, options) };
    if options.clips_inside && binary_version(bytes).is_some_and(|version| version >= OLDEST) {
        return Ok((
            vec![OutputFile { name: options.file(FORMAT.name), bytes: bytes.to_vec() }],
            Warnings::new(),
        ));
    }
    match own_file(motions, document, bytes, options) {
        Ok(written) => Ok(written),
        Err(why) => {
            let (files, mut warnings) = new_file(motions, options)?;
            let message = format!(
                "the clips could not be added to the character's own file: {why}; a new file has its skin, morph targets and materials"
            );
            warnings.add("fbx-rebuilt", message, "the character");
            Ok((files, warnings))
        }
    }
}

/// The oldest version of binary FBX that other programs read.
const OLDEST: u32 = 7100;

/// The character's own file with the clips added.
#[cfg(feature = "fbx")]
fn own_file(
    motions: &[Motion],
    document: &Document,
    bytes: &[u8],
    options: &ExportOptions,
) -> Result<Written, String> {
    let Some(first) = motions.first() else { return Err("there is no clip".to_owned()) };
    let character = &first.character;
    let mut splice =
        append_clips::FbxSplice::open(bytes, options.replace_animations).map_err(|e| e.to_string())?;
    let original = original_nodes::OriginalFile::open(bytes, document)?;
    let mut warnings = Warnings::new();
    let mut clips = Vec::new();
    for motion in motions.iter().filter(|m| m.clip.frames() > 0) {
        let clip = &motion.clip;
        let name = splice.free_name(&clip.name);
        let mut stack = original.stack(character, document, clip, name.clone())?;
        (stack.cuts, stack.tolerance) = (cuts(motion), options.fbx.tolerance);
        if (stack.rate / original.rate - 1.0).abs() > 1e-4 {
            let message = format!(
                "the character's file has {rate} frames per second and the clip {}: times are kept, so keys lie between frames. For a key \
                 on every frame: `--fps {rate}`, or in a pipeline for `posemill run` [[stage]] use = \"resample\" rate_hz = {rate}",
                in_short(stack.rate),
                rate = in_short(original.rate),
            );
            warnings.add("fbx-rate", message, format!("clip `{name}`"));
        }
        splice.add(&stack, original.metres_per_unit).map_err(|e| e.to_string())?;
        clips.push((clip, name));
    }
    let written = splice.to_bytes().map_err(|e| e.to_string())?;
    original.check(&written, character, document, &clips, options.fbx.tolerance == 0.0)?;
    Ok((vec![OutputFile { name: options.file(FORMAT.name), bytes: written }], warnings))
}

/// A rate in the digits by which it is known: 23.976, 29.97, 120.
#[cfg(feature = "fbx")]
fn in_short(rate: f64) -> f64 {
    (rate * 1e3).round() / 1e3
}

/// Without the reader the transforms of the file are unknown.
#[cfg(not(feature = "fbx"))]
fn own_file(_: &[Motion], _: &Document, _: &[u8], _: &ExportOptions) -> Result<Written, String> {
    Err("this program was built without the FBX reader".to_owned())
}

/// A new file.
fn new_file(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let character = &first.character;
    let name = options.file(FORMAT.name);
    let moving: Vec<&Motion> = motions.iter().filter(|m| m.clip.frames() > 0).collect();
    let meshes = if options.fbx.skin { whole_meshes(character) } else { Vec::new() };
    let at_rest = character.bind.as_ref().is_none_or(|bind| bind.joints()[0] == Transform::identity());
    let synthetic_root = |m: &&Motion| has_synthetic_root(character.skeleton(), &m.clip);
    let omit_root = at_rest && !moving.is_empty() && moving.iter().all(synthetic_root);
    let mut document = FbxBuilder::default();
    let clips: Vec<&Clip> = moving.iter().map(|m| &m.clip).collect();
    let bones = limb_nodes::write(&mut document, character, &clips, options.fbx.bind, omit_root);
    let mut materials = FbxMaterials::default();
    if options.fbx.skin {
        warn_of_omitted(character, &mut materials.warnings);
    }
    let morphs = mesh::write(&mut document, &meshes, &bones, &mut materials);
    let mut names = UniqueNames::default();
    for motion in moving {
        let name = animation_stack::free_name(&motion.clip.name, &mut names);
        let mut stack = bones.stack(&motion.clip, name, &morphs);
        (stack.cuts, stack.tolerance) = (cuts(motion), options.fbx.tolerance);
        document.add_stack(&stack);
    }
    let bytes = document.into_bytes(&name).map_err(|e| ExportError::Fbx { reason: e.to_string() })?;
    Ok((vec![OutputFile { name, bytes }], materials.warnings))
}
