//! Motions become a file: the one their character came in, with clips added, or a new one.
//!
//! Which of the two, and why it is not the first, is decided here. Units and space: those of the parts.

use super::fbx_builder::FbxBuilder;
use super::material::FbxMaterials;
use super::{animation_stack, limb_nodes, mesh};
#[cfg(feature = "fbx")]
use super::{append_clips, original_nodes};
use crate::export::format::Format;
use crate::export::save::{ExportError, ExportOptions, OutputFile, Written};
use crate::export::synthetic_root::has_synthetic_root;
use crate::math::Transform;
use crate::model::{Clip, Document, Motion};
use crate::report::Warnings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FBX.
pub const FORMAT: Format = Format {
    name: "fbx",
    about: "binary FBX: a new file, or an FBX character's own with clips added",
    loses: "of other than FBX characters all but skin, base colours, their textures and the clips that are written",
    several: true,
    write: save,
};

/// What FBX files shall hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FbxOptions {
    /// Whether the character's meshes, materials and textures are written; without them the file is a skeleton and its
    /// clips, also where the character came as FBX.
    pub skin: bool,
}

impl Default for FbxOptions {
    fn default() -> Self {
        Self { skin: true }
    }
}

fn save(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let document = motions.first().and_then(|m| m.character.document.as_ref());
    let own = document.and_then(|d| d.fbx.as_deref().map(|bytes| (d, bytes))).filter(|_| options.fbx.skin);
    let Some((document, bytes)) = own else { return fresh(motions, options) };
    if options.clips_inside {
        return Ok((
            vec![OutputFile { name: options.file(FORMAT.name), bytes: bytes.to_vec() }],
            Warnings::new(),
        ));
    }
    match spliced(motions, document, bytes, options) {
        Ok(written) => Ok(written),
        Err(why) => {
            let (files, mut warnings) = fresh(motions, options)?;
            let said = format!(
                "the character's own file could not take the clips: {why}; a new file holds its skin, base colours and textures"
            );
            warnings.add("fbx-rebuilt", said, "the character");
            Ok((files, warnings))
        }
    }
}

/// The file that the character came in, with the clips added; a sentence where it cannot take them.
#[cfg(feature = "fbx")]
fn spliced(
    motions: &[Motion],
    document: &Document,
    bytes: &[u8],
    options: &ExportOptions,
) -> Result<Written, String> {
    let Some(first) = motions.first() else { return Err("there is no clip".to_owned()) };
    let character = &first.character;
    let mut splice =
        append_clips::FbxSplice::open(bytes, options.replace_animations).map_err(|e| e.to_string())?;
    let native = original_nodes::OriginalFile::open(bytes, document)?;
    let mut warnings = Warnings::new();
    let mut clips = Vec::new();
    for clip in motions.iter().map(|m| &m.clip).filter(|c| c.frames() > 0) {
        let name = splice.free_name(&clip.name);
        let stack = native.stack(character, document, clip, name.clone())?;
        if (stack.rate / native.rate - 1.0).abs() > 1e-4 {
            let said = format!(
                "the character's file runs at {} frames a second and the clip at {}: it keeps its time, and keys stand between frames",
                native.rate, stack.rate
            );
            warnings.add("fbx-rate", said, format!("clip `{name}`"));
        }
        splice.add(&stack, native.metres_per_unit).map_err(|e| e.to_string())?;
        clips.push((clip, name));
    }
    let written = splice.to_bytes().map_err(|e| e.to_string())?;
    native.check(&written, character, document, &clips)?;
    Ok((vec![OutputFile { name: options.file(FORMAT.name), bytes: written }], warnings))
}

/// Without the reader nothing is known of the file's own transforms.
#[cfg(not(feature = "fbx"))]
fn spliced(_: &[Motion], _: &Document, _: &[u8], _: &ExportOptions) -> Result<Written, String> {
    Err("this program was built without the reader of FBX".to_owned())
}

/// A new file.
fn fresh(motions: &[Motion], options: &ExportOptions) -> Result<Written, ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let character = &first.character;
    let name = options.file(FORMAT.name);
    let clips: Vec<&Clip> = motions.iter().map(|m| &m.clip).filter(|c| c.frames() > 0).collect();
    let meshes = if options.fbx.skin { character.meshes.as_slice() } else { &[] };
    let at_rest = character.bind.as_ref().is_none_or(|bind| bind.joints()[0] == Transform::identity());
    let synthetic_root = |clip: &&Clip| has_synthetic_root(character.skeleton(), clip);
    let left_out = at_rest && !clips.is_empty() && clips.iter().all(synthetic_root);
    let mut document = FbxBuilder::default();
    let bones = limb_nodes::write(&mut document, character, left_out);
    let mut looks = FbxMaterials::default();
    mesh::write(&mut document, meshes, &bones, &mut looks);
    let mut taken = Vec::new();
    for clip in clips {
        let free = animation_stack::free_name(&clip.name, &taken);
        document.add_stack(&bones.stack(clip, free.clone()));
        taken.push(free);
    }
    let bytes = document.into_bytes(&name).map_err(|e| ExportError::Fbx { reason: e.to_string() })?;
    Ok((vec![OutputFile { name, bytes }], looks.warnings))
}
