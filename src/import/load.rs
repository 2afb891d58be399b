//! A file becomes an asset: the format by its content, then units, axes, front and roles.
//!
//! Formats that state their units and axes (glTF: metres, +Y up, +Z front) are only turned to face +Z where they do
//! not; BVH states nothing, so size, up and front are read off the figure, reported, and can be overridden.

use super::bvh::{self, BvhOptions, Normalization, Positions};
use super::bvh_error::BvhError;
use super::gltf::{self, GltfFile};
use crate::anatomy::{Evidence, Figure, guess_unit, motion_up, orientation, skin_mass, understand_with};
use crate::math::{Quat, Transform, Vec3, arc};
use crate::model::{Asset, Character, Clip, ModelPose, Rig, Skeleton};
use crate::report::Warnings;
use crate::scene::GltfError;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// +Y.
    Y,
    /// +Z.
    Z,
}

impl Axis {
    fn vector(self) -> Vec3 {
        match self {
            Axis::Y => Vec3::y(),
            Axis::Z => Vec3::z(),
        }
    }
}

/// What the user says about files that do not say it themselves (BVH).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Metres per unit; `None`: guessed from the figure.
    pub units: Option<f64>,
    /// The up axis of rest pose and motion; `None`: guessed from both.
    pub up: Option<Axis>,
    /// How position channels and offsets go together; `None`: decided from the data.
    pub bvh_positions: Option<Positions>,
}

/// Why a file cannot be imported.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The content is of no known format.
    #[error(
        "`{name}` is neither BVH nor glTF{found}\n  hint: formats read are .bvh, .gltf, .glb, .vrm and .vrma"
    )]
    Unknown {
        /// The name of the file.
        name: String,
        /// What the first bytes look like, as a clause; may be empty.
        found: String,
    },
    /// A fault of a BVH file.
    #[error(transparent)]
    Bvh(#[from] BvhError),
    /// A fault of a glTF file.
    #[error(transparent)]
    Gltf(#[from] GltfError),
}

/// Reads one file.
///
/// # Errors
/// An [`ImportError`] with the place in the file.
pub fn load(path: &Path, options: &Options) -> Result<Asset, ImportError> {
    from_file(&read(path)?, path, options)
}

/// The bytes of one file.
///
/// # Errors
/// [`ImportError::Read`] with what the system says.
pub fn read(path: &Path) -> Result<Vec<u8>, ImportError> {
    std::fs::read(path)
        .map_err(|reason| ImportError::Read { path: path.to_owned(), reason: reason.to_string() })
}

/// Reads `bytes`, which were read from the file at `path`.
///
/// # Errors
/// An [`ImportError`] with the place in the file.
pub fn from_file(bytes: &[u8], path: &Path, options: &Options) -> Result<Asset, ImportError> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    from_bytes(bytes, &name, path.extension().and_then(|e| e.to_str()), path.parent(), options)
}

/// Reads the content of one file called `name`. Relative URIs of a glTF lie in `folder`.
///
/// # Errors
/// An [`ImportError`] with the place in the file.
pub fn from_bytes(
    bytes: &[u8],
    name: &str,
    extension: Option<&str>,
    folder: Option<&Path>,
    options: &Options,
) -> Result<Asset, ImportError> {
    let file = extension.map_or_else(|| name.to_owned(), |extension| format!("{name}.{extension}"));
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let is_gltf = bytes.starts_with(b"glTF") || matches!(extension.as_str(), "glb" | "gltf" | "vrm" | "vrma");
    if is_gltf {
        let mut told = Warnings::new();
        let mut asset = gltf::import(bytes, folder, name, |file| understand_gltf(file, &mut told))?;
        asset.warnings.extend(told);
        return Ok(asset);
    }
    let head = &bytes[..bytes.len().min(4096)];
    let says_bvh = head.to_ascii_uppercase().windows(9).any(|w| w == b"HIERARCHY");
    // UTF-16 hides the word; the reader then says so.
    if extension == "bvh" || says_bvh {
        return Ok(import_bvh(bytes, name, options)?);
    }
    let found = if head.starts_with(b"Kaydara FBX") || head.starts_with(b"; FBX") {
        ", but FBX"
    } else if head.trim_ascii_start().starts_with(b"{") {
        ", but JSON of another kind"
    } else {
        ""
    };
    Err(ImportError::Unknown { name: file, found: found.into() })
}

/// Roles of a glTF character, and the turn that makes it face +Z: a multiple of 90 degrees, since the format says
/// +Z and what is less than 45 degrees off is the figure's own.
fn understand_gltf(
    file: &GltfFile,
    warnings: &mut Warnings,
) -> (Vec<(crate::model::Role, crate::model::Assignment)>, Quat) {
    let rest = file.bind.clone().unwrap_or_else(|| file.skeleton.rest_model_pose());
    let humanoid = file.humanoid.as_ref().map_or(&[][..], |h| h.bones.as_slice());
    let mass = skin_mass(&file.meshes, file.skeleton.len());
    let evidence = Evidence { mass: mass.as_deref(), clip: file.clips.get(file.meant) };
    let understood = understand_with(file.skeleton.clone(), &rest, humanoid, &evidence);
    warnings.extend(understood.warnings);
    let rig = understood.rig;
    let turn =
        orientation(&rig, &rest, Some(Vec3::y()), true).map_or_else(Quat::identity, |o| o.normal_from_rest);
    (rig.assignments().map(|(r, a)| (r, a.clone())).collect(), turn)
}

/// Reads a BVH file and finds its units and axes.
fn import_bvh(bytes: &[u8], name: &str, options: &Options) -> Result<Asset, BvhError> {
    let reading = BvhOptions { positions: options.bvh_positions };
    let mut roles = Vec::new();
    let asset = bvh::import(bytes, name, &reading, |skeleton, clip, warnings| {
        let (rig, normalization) = understand_bvh(skeleton, clip, options, warnings);
        roles = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
        normalization
    })?;
    let rig = Rig::new(asset.character.skeleton().clone(), roles);
    let character = Character { rig, ..(*asset.character).clone() };
    Ok(Asset { character: Arc::new(character), ..asset })
}

/// Roles, units and axes of a BVH file.
fn understand_bvh(
    skeleton: &Skeleton,
    clip: &Clip,
    options: &Options,
    warnings: &mut Warnings,
) -> (Rig, Normalization) {
    let rest = skeleton.rest_model_pose();
    let told = options.up.map(Axis::vector);
    // Names need no up axis, shapes do: where a figure standing along Y shows no legs, one along Z may.
    let upright = |up: Vec3| {
        let turn = Transform::from_rotation(arc(&up, &Vec3::y(), &Vec3::x()));
        let turned = ModelPose::new(rest.joints().iter().map(|t| turn * *t).collect());
        let evidence = Evidence { mass: None, clip: Some(clip) };
        let understood = understand_with(skeleton.clone(), &turned, &[], &evidence);
        let stands = orientation(&understood.rig, &rest, told, false);
        (understood, stands)
    };
    let first = upright(told.unwrap_or_else(Vec3::y));
    let (understood, stands) = if first.1.is_some() || told.is_some() {
        first
    } else {
        let second = upright(Vec3::z());
        if second.1.is_some() { second } else { first }
    };
    warnings.extend(understood.warnings);
    let rig = understood.rig;
    let (rest_from_file, world_from_file) = match (&stands, told) {
        (Some(o), None) => (o.normal_from_rest, motion_up(&rig, clip, o)),
        (Some(o), Some(_)) => (o.normal_from_rest, o.normal_from_rest),
        (None, up) => {
            let turn = arc(&up.unwrap_or_else(Vec3::y), &Vec3::y(), &Vec3::x());
            (turn, turn)
        }
    };
    if stands.is_none() {
        warnings.add(
            "bvh-no-figure",
            "no legs were recognised: up is taken to be the file's own and the front +Z",
            "HIERARCHY",
        );
    } else if rest_from_file.angle_to(&world_from_file) > 1e-3 {
        warnings.add(
            "bvh-two-worlds",
            "rest pose and motion stand along different axes; both are turned upright",
            "MOTION",
        );
    }
    let turn = Transform::from_rotation(rest_from_file);
    let upright = ModelPose::new(rest.joints().iter().map(|t| turn * *t).collect());
    let metres_per_unit = options.units.unwrap_or_else(|| match Figure::of(&rig, &upright) {
        Some(figure) => {
            let unit = guess_unit(figure.leg);
            let (code, sure) = if unit.usual {
                ("bvh-unit", "guessed from the length of the legs")
            } else {
                ("bvh-unit-odd", "the legs fit no usual unit and are taken to be those of an adult")
            };
            // Five digits say enough: a CMU unit is 1/45 inch and has no end.
            let metres: f64 = format!("{:.4e}", unit.metres).parse().unwrap_or(unit.metres);
            let message = format!("units are {} ({metres} m each): {sure}", unit.name);
            warnings.add(code, message, "HIERARCHY");
            unit.metres
        }
        None => {
            let size =
                upright.joints().iter().map(|t| (t.translation - upright.joints()[0].translation).norm());
            let metres = if size.fold(0.0, f64::max) > 10.0 { 0.01 } else { 1.0 };
            let message = format!("units are taken to be {metres} m each: there are no legs to compare with");
            warnings.add("bvh-unit", message, "HIERARCHY");
            metres
        }
    });
    (rig, Normalization { metres_per_unit, rest_from_file, world_from_file })
}
