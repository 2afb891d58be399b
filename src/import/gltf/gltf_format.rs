//! glTF, GLB, VRM and VRM animation as an import format.
//!
//! The format defines its units and axes (metres, +Y up, +Z front): a figure is only rotated to face +Z if it does not.

use super::gltf_file::GltfFile;
use crate::anatomy::{is_rigid, skin_mass};
use crate::import::file_unit::warn_of_size;
use crate::import::format::ReadFormat;
use crate::import::import_error::ImportError;
use crate::import::import_options::ImportOptions;
use crate::import::reference_pose::{self, UncalibratedBody};
use crate::import::rig_detection::{RigClues, detect_rig};
use crate::math::Vec3;
use crate::model::{Asset, Character, Clip};
use std::sync::Arc;

/// glTF 2.0 and what is built on it.
pub const FORMAT: ReadFormat = ReadFormat {
    name: "gltf",
    suffixes: &["gltf", "glb", "vrm", "vrma"],
    about: "glTF 2.0, VRM 0 and 1, VRM animation: characters and takes",
    loses: "nothing on export to GLB or glTF; in other formats cameras, lights and, but for FBX and USD, morph weights",
    recognise: |head| {
        let json = head.trim_ascii_start().starts_with(b"{");
        head.starts_with(b"glTF") || json && head.windows(7).any(|w| w == b"\"asset\"")
    },
    read: |source, options| {
        let budget = options.budget(source.bytes);
        asset(GltfFile::read_within(source.kept(), source.folder, &budget)?, source.name, options)
    },
};

/// The asset of a file: with roles, reference pose, and rotated to face +Z.
pub(crate) fn asset(mut file: GltfFile, name: &str, options: &ImportOptions) -> Result<Asset, ImportError> {
    let mut warnings = std::mem::take(&mut file.warnings);
    let rest = file.bind.clone().unwrap_or_else(|| file.skeleton.rest_model_pose());
    let humanoid = file.humanoid.as_ref().map_or(&[][..], |h| h.bones.as_slice());
    let clips: Vec<&Clip> = file.clips.iter().collect();
    let mass = skin_mass(&file.meshes, file.skeleton.len());
    let detected = detect_rig(&RigClues {
        skeleton: &file.skeleton,
        rest: &rest,
        bound: file.bind.is_some(),
        humanoid,
        mass: mass.as_deref(),
        rigid: is_rigid(&file.meshes),
        trees: &file.trees,
        clips: &clips,
        up: Some(Vec3::y()),
        vocabulary: &options.vocabulary(),
        mirrored: file.mirrored,
        body: options.body.as_deref(),
    });
    warnings.extend(detected.warnings);
    let rig = detected.rig;
    // A VRM and a VRM animation rest in a T-pose by their specification.
    let bound = file.bind.is_some() || file.humanoid.is_some();
    // A character without clips is not what the key is for: it accompanies takes of another format.
    if options.units.is_some() && !clips.is_empty() {
        let said = "`input.units` applies to formats that state no unit; this one is in metres or states its unit, so it was read \
                    as it says (scale the file where it was made)";
        warnings.add("units-stated", said, "the file");
    }
    if !clips.is_empty() {
        options.warn_of_stated_up(&mut warnings);
    }
    let body = UncalibratedBody {
        rig: &rig,
        rest: &rest,
        bound,
        clips: &clips,
        up: Some(Vec3::y()),
        place: "nodes",
    };
    let calibrated = body.calibrate(options, &mut warnings)?;
    let facing = body.facing(calibrated.as_ref());
    let roles: Vec<_> = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    file.warnings = warnings;
    let mut asset = file.into_asset(name, roles, facing);
    let found = calibrated.map(|c| c.calibration);
    let calibration = reference_pose::kept(found, options, asset.character.skeleton())
        .or_else(|| reference_pose::stood_up(&asset.character, &mut asset.warnings));
    if calibration.is_some() {
        asset.character = Arc::new(Character { calibration, ..(*asset.character).clone() });
    }
    warn_of_size(&asset.character, &mut asset.warnings);
    Ok(asset)
}
