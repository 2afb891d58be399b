//! The formats `glb`, `gltf` (JSON) and `vrm` (a GLB).

use super::add_clips::{GltfOptions, write};
use crate::export::export_options::ExportOptions;
use crate::export::save::{ExportError, Format, OutputFile, Written};
use crate::gltf_document::{Chunks, Json};
use crate::memory_budget::MAX_MEMORY;
use crate::model::{Clip, Container, Motion};

/// Binary glTF.
pub const GLB: Format = Format {
    name: "glb",
    about: "binary glTF: one file",
    loses: "nothing of a glTF character",
    morphs: true,
    several: true,
    write: |motions, options| save(motions, Container::Glb, "glb", options),
};

/// glTF as JSON; the binary chunk of a character that was read from GLB is written as a data URI.
pub const GLTF: Format = Format {
    name: "gltf",
    about: "glTF: JSON, with the animation inside; files that the character refers to stay separate",
    loses: "nothing of a glTF character",
    morphs: true,
    several: true,
    write: |motions, options| save(motions, Container::Gltf, "gltf", options),
};

/// The file of a VRM character with clips added.
pub const VRM: Format = Format {
    name: "vrm",
    about: "VRM, for VRM characters only: their own file with clips added",
    loses: "nothing",
    morphs: true,
    several: true,
    write: |motions, options| {
        let document = motions.first().and_then(|m| m.character.document.as_ref());
        let is_vrm =
            document.map(|d| has_extension(&d.bytes, &["VRM", "VRMC_vrm"])).transpose()?.unwrap_or(false);
        if !is_vrm {
            return Err(ExportError::NotVrm);
        }
        save(motions, Container::Glb, "vrm", options)
    },
};

/// Whether a document has one of these extensions.
pub(crate) fn has_extension(bytes: &[u8], names: &[&str]) -> Result<bool, ExportError> {
    let chunks = Chunks::open(bytes)?;
    let json = Json::parse(chunks.json, chunks.json_offset)?;
    let extensions = json.value("extensions").unwrap_or_default();
    Ok(names.iter().any(|name| extensions.get(name).is_some()))
}

/// Memory for one joint in one frame when the file is read again, bytes: its keys and the sampled rotation and translation.
const READ_BACK: u64 = 88;

fn save(
    motions: &[Motion],
    container: Container,
    extension: &str,
    options: &ExportOptions,
) -> Result<Written, ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let inside = options.clips_inside && first.character.document.is_some();
    let clips: Vec<&Clip> = motions.iter().filter(|_| !inside).map(|m| &m.clip).collect();
    let gltf_options = GltfOptions {
        replace: options.replace_animations,
        container: Some(container),
        files: options.files.clone(),
        made_by: options.made_by.clone(),
    };
    let mut written = write(&first.character, &clips, &gltf_options)?;
    if first.character.document.as_ref().is_some_and(|d| d.fbx.is_some()) {
        let message = "the character was read from FBX: its meshes and materials were converted";
        written.warnings.add("fbx-rebuilt", message, first.character.name.clone());
    }
    let samples: u64 = clips.iter().map(|c| c.frames() as u64 * c.joints() as u64).sum();
    if samples.saturating_mul(READ_BACK) > MAX_MEMORY {
        let needed = samples.saturating_mul(READ_BACK).div_ceil(1_000_000_000);
        let message = format!(
            "reading the file again exceeds the default memory limit; use `--set input.memory={needed}GB` for that"
        );
        written.warnings.add("gltf-long", message, first.character.name.clone());
    }
    let mut files = vec![OutputFile { name: options.file(extension), bytes: written.bytes }];
    files.extend(
        written.resources.into_iter().map(|(name, bytes)| OutputFile { name, bytes: bytes.to_vec() }),
    );
    Ok((files, written.warnings))
}
