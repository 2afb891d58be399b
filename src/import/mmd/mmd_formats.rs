//! PMX and VMD as import formats.

use super::mmd_error::MmdError;
use super::pmx_model::PmxModel;
use super::pmx_text::SIGNATURE;
use super::pmx_to_glb::document;
use super::vmd_keys::{SIGNATURES, VmdKeys};
use crate::import::format::{ReadFormat, SourceFile};
use crate::import::gltf::{self, GltfFile, VrmHumanoid, VrmVersion};
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::memory_budget::MemoryBudget;
use crate::mmd_document::{FRAME_RATE, humanoid_bones};
use crate::model::{Asset, JointId};
use crate::regular_file::read_regular;
use crate::report::{Warnings, io_reason};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Characters of MikuMikuDance.
pub const PMX: ReadFormat = ReadFormat {
    name: "pmx",
    suffixes: &["pmx"],
    about: "MikuMikuDance model, PMX 2.0 and 2.1: characters",
    loses: "physics, outlines, toon and sphere textures, spherical deformation, morph targets of bones and materials",
    recognise: |head| head.starts_with(SIGNATURE),
    read: |source, options| {
        let mut warnings = Warnings::new();
        let budget = options.budget(source.bytes);
        let model = PmxModel::read(source.bytes, &budget, &mut warnings)?;
        let made = document(&model, source.folder, None, &budget, &mut warnings)?;
        let file = file(&model, made, &budget)?;
        finished(file, warnings, source.name, options)
    },
};

/// Motions of MikuMikuDance.
pub const VMD: ReadFormat = ReadFormat {
    name: "vmd",
    suffixes: &["vmd"],
    about: "MikuMikuDance motion, with its character (PMX) in the same folder or a standard figure: takes",
    loses: "camera, light, shadow, visibility, interpolation curves (every frame is evaluated)",
    recognise: |head| SIGNATURES.iter().any(|signature| head.starts_with(signature)),
    read: |source, options| import(source, options),
};

/// Largest character that is read with a motion, bytes; large ones have 50 MB.
const MOST_CHARACTER: u64 = 1 << 30;

fn import(source: &SourceFile, options: &ImportOptions) -> Result<Asset, ImportError> {
    let mut warnings = Warnings::new();
    let budget = options.budget(source.bytes);
    let keys = VmdKeys::read(source.bytes, &budget, &mut warnings)?;
    let path = options.skeleton.clone().or_else(|| companion(source));
    let mut read = None;
    let motion = Some((&keys, source.name));
    let (model, made) = match &path {
        Some(path) => {
            let fault = |reason: String| MmdError::Character { path: path.clone(), reason };
            let bytes = read_regular(path, MOST_CHARACTER).map_err(|e| fault(io_reason(&e)))?;
            budget.grow(bytes.len() as u64);
            let model = PmxModel::read(&bytes, &budget, &mut warnings).map_err(|e| fault(e.to_string()))?;
            let made = document(&model, path.parent(), motion, &budget, &mut warnings)?;
            read = options.skeleton.is_none().then_some(bytes);
            (model, made)
        }
        None => {
            let said = "a VMD has no skeleton, and there is no `.pmx` of the same name next to it: the motion plays on a standard \
                        figure (`input.skeleton` names the `.pmx` that it was made for)";
            warnings.add("vmd-figure", said, "the file");
            let model = PmxModel::standard(keys.morph_names());
            let made = document(&model, None, motion, &budget, &mut warnings)?;
            (model, made)
        }
    };
    let mut file = file(&model, made, &budget)?;
    for clip in &mut file.clips {
        // Times in a GLB are 32-bit floats, and a single frame defines no rate.
        clip.sample_rate = FRAME_RATE;
    }
    let mut asset = finished(file, warnings, source.name, options)?;
    if let (Some(path), Some(bytes)) = (path, read) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        asset.companions.push((name, Arc::from(bytes)));
    }
    Ok(asset)
}

/// The character with the name of the motion in its folder.
fn companion(source: &SourceFile) -> Option<PathBuf> {
    let folder = source.folder?;
    let names = ["pmx", "PMX"].map(|suffix| folder.join(Path::new(&format!("{}.{suffix}", source.name))));
    names.into_iter().find(|path| path.is_file())
}

/// The document as the glTF reader reads it, with the roles of bones that have the usual names.
fn file(model: &PmxModel, made: Vec<u8>, budget: &MemoryBudget) -> Result<GltfFile, ImportError> {
    let mut file = GltfFile::read_within(Arc::new(made), None, budget)?;
    let joint = |bone: usize| file.document.nodes.iter().position(|node| *node == Some(bone));
    let bones: Vec<(String, JointId)> = humanoid_bones(&model.bones)
        .into_iter()
        .filter_map(|(word, bone)| Some((word, JointId::new(joint(bone)?))))
        .collect();
    if !bones.is_empty() {
        file.humanoid = Some(VrmHumanoid { version: VrmVersion::One, bones });
    }
    Ok(file)
}

fn finished(
    mut file: GltfFile,
    mut warnings: Warnings,
    name: &str,
    options: &ImportOptions,
) -> Result<Asset, ImportError> {
    warnings.extend(std::mem::take(&mut file.warnings));
    file.warnings = warnings;
    gltf::asset(file, name, options)
}
