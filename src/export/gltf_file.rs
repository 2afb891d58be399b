//! The glTF formats: GLB, glTF with its buffers beside it, and VRM, whose file is a GLB.

use super::format::Format;
use super::gltf::{self, GltfOptions};
use super::save::{ExportError, Options, OutputFile, Written};
use crate::gltf_document::{Chunks, Json};
use crate::memory_budget::MAX_MEMORY;
use crate::model::{Clip, Container, Motion};

/// Binary glTF.
pub const GLB: Format = Format {
    name: "glb",
    about: "binary glTF: one file",
    loses: "nothing of a glTF character",
    several: true,
    write: |motions, options| save(motions, Container::Glb, "glb", options),
};

/// glTF as JSON; a character that came as GLB brings its binary data along as a data URI.
pub const GLTF: Format = Format {
    name: "gltf",
    about: "glTF: JSON with files beside it",
    loses: "nothing of a glTF character",
    several: true,
    write: |motions, options| save(motions, Container::Gltf, "gltf", options),
};

/// The file of a VRM character with clips added.
pub const VRM: Format = Format {
    name: "vrm",
    about: "VRM, of VRM characters: the file they came in, with clips added",
    loses: "nothing",
    several: true,
    write: |motions, options| {
        let document = motions.first().and_then(|m| m.character.document.as_ref());
        let avatar = document.map(|d| extends(&d.bytes, &["VRM", "VRMC_vrm"])).transpose()?.unwrap_or(false);
        if !avatar {
            return Err(ExportError::NotVrm);
        }
        save(motions, Container::Glb, "vrm", options)
    },
};

/// Whether a document has one of these extensions.
pub(super) fn extends(bytes: &[u8], names: &[&str]) -> Result<bool, ExportError> {
    let chunks = Chunks::open(bytes)?;
    let json = Json::parse(chunks.json, chunks.json_offset)?;
    let extensions = json.value("extensions").unwrap_or_default();
    Ok(names.iter().any(|name| extensions.get(name).is_some()))
}

/// What one joint of one frame takes where the file is read again, bytes: its keys, the rotation and the place they become.
const READ_BACK: u64 = 88;

fn save(
    motions: &[Motion],
    container: Container,
    extension: &str,
    options: &Options,
) -> Result<Written, ExportError> {
    let Some(first) = motions.first() else { return Err(ExportError::Empty) };
    let inside = options.clips_inside && first.character.document.is_some();
    let clips: Vec<&Clip> = motions.iter().filter(|_| !inside).map(|m| &m.clip).collect();
    let how = GltfOptions {
        replace: options.replace_animations,
        container: Some(container),
        files: options.files.clone(),
        made_by: options.made_by.clone(),
    };
    let mut written = gltf::write(&first.character, &clips, &how)?;
    if first.character.document.as_ref().is_some_and(|d| d.fbx.is_some()) {
        let said = "the character came as FBX: its meshes and materials were converted";
        written.warnings.add("fbx-rebuilt", said, first.character.name.clone());
    }
    let samples: u64 = clips.iter().map(|c| c.frames() as u64 * c.joints() as u64).sum();
    if samples.saturating_mul(READ_BACK) > MAX_MEMORY {
        let needed = samples.saturating_mul(READ_BACK).div_ceil(1_000_000_000);
        let said = format!(
            "the file is longer than it is read by itself: `--set input.memory={needed}GB` where it shall be read"
        );
        written.warnings.add("gltf-long", said, first.character.name.clone());
    }
    let mut files = vec![OutputFile { name: options.file(extension), bytes: written.bytes }];
    files.extend(written.beside.into_iter().map(|(name, bytes)| OutputFile { name, bytes: bytes.to_vec() }));
    Ok((files, written.warnings))
}
