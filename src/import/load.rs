//! A file becomes an asset: the format by its content, then units, axes, front and roles.
//!
//! Formats that state their units and axes (glTF: metres, +Y up, +Z front) are only turned to face +Z where they do
//! not; BVH states nothing, so size, up and front are read off the figure, reported, and can be overridden.

use super::bvh::{self, BvhOptions, Normalization, Positions};
use super::bvh_error::BvhError;
use super::calibration::{self, BVH, Body, Calibrate, Calibrated};
use super::gltf::GltfFile;
use super::understand::{File, understand};
use crate::anatomy::{Figure, Vocabulary, Word, guess_unit, motion_up, orientation, skin_mass};
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
    pub(super) fn vector(self) -> Vec3 {
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
    /// The pose in which the body is compared with others.
    pub calibration: Calibrate,
    /// Words in the names of joints, beside those that are known.
    pub words: Vec<Word>,
}

impl Options {
    /// The words that names are read by.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::built_in().with(&self.words)
    }
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
    /// The frame to calibrate by is not there.
    #[error(
        "there is no frame {frame} to calibrate by: the take has {frames} frames, counted from 0\n  hint: `input.calibration.frame` is the number of a frame in which the figure stands in a T-pose"
    )]
    CalibrationFrame {
        /// The frame that was asked for.
        frame: usize,
        /// Frames of the take.
        frames: usize,
    },
    /// The file to calibrate by cannot be read.
    #[error("`{}`, the file to calibrate by: {error}", path.display())]
    Calibration {
        /// The file.
        path: PathBuf,
        /// Why.
        error: Box<ImportError>,
    },
    /// The file to calibrate by is of another skeleton.
    #[error(
        "no joint of the take has the name of a joint in `{}`\n  hint: `input.calibration.file` is a take of the same skeleton", path.display()
    )]
    CalibrationFile {
        /// The file.
        path: PathBuf,
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
        return import_gltf(bytes, name, folder, options);
    }
    let head = &bytes[..bytes.len().min(4096)];
    let says_bvh = head.to_ascii_uppercase().windows(9).any(|w| w == b"HIERARCHY");
    // UTF-16 hides the word; the reader then says so.
    if extension == "bvh" || says_bvh {
        return import_bvh(bytes, name, options);
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

/// Reads a glTF file; its roles, calibration pose and the turn that makes it face +Z: a multiple of 90 degrees, since the
/// format says +Z and what is less than 45 degrees off is the figure's own.
fn import_gltf(
    bytes: &[u8],
    name: &str,
    folder: Option<&Path>,
    options: &Options,
) -> Result<Asset, ImportError> {
    let mut file = GltfFile::read(bytes, folder)?;
    let mut warnings = std::mem::take(&mut file.warnings);
    let rest = file.bind.clone().unwrap_or_else(|| file.skeleton.rest_model_pose());
    let humanoid = file.humanoid.as_ref().map_or(&[][..], |h| h.bones.as_slice());
    let clips: Vec<&Clip> = file.clips.iter().collect();
    let mass = skin_mass(&file.meshes, file.skeleton.len());
    let understood = understand(&File {
        skeleton: &file.skeleton,
        rest: &rest,
        bound: file.bind.is_some(),
        humanoid,
        mass: mass.as_deref(),
        clips: &clips,
        up: Some(Vec3::y()),
        vocabulary: &options.vocabulary(),
    });
    warnings.extend(understood.warnings);
    let rig = understood.rig;
    // A VRM and a VRM animation rest in a T-pose by their specification.
    let bound = file.bind.is_some() || file.humanoid.is_some();
    let body = Body { rig: &rig, rest: &rest, bound, clips: &clips, up: Some(Vec3::y()), place: "nodes" };
    let calibrated = body.calibrate(options, &mut warnings)?;
    let turn = match &calibrated {
        Some(calibrated) => calibrated.turn,
        None => orientation(&rig, &rest, Some(Vec3::y()), true)
            .map_or_else(Quat::identity, |o| o.normal_from_rest),
    };
    let roles: Vec<_> = rig.assignments().map(|(r, a)| (r, a.clone())).collect();
    file.warnings = warnings;
    let mut asset = file.into_asset(name, roles, turn);
    let calibration = match (calibrated, &options.calibration) {
        (Some(calibrated), _) => Some(calibrated.calibration),
        (None, Calibrate::Rest) => Some(calibration::rest(asset.character.skeleton())),
        (None, _) => None,
    };
    if calibration.is_some() {
        asset.character = Arc::new(Character { calibration, ..(*asset.character).clone() });
    }
    Ok(asset)
}

/// Reads a BVH file and finds its units and axes.
fn import_bvh(bytes: &[u8], name: &str, options: &Options) -> Result<Asset, ImportError> {
    let mut raw = bvh::read(bytes, &BvhOptions { positions: options.bvh_positions })?;
    let (rig, normalization, calibrated) =
        understand_bvh(&raw.skeleton, &raw.clip, options, &mut raw.warnings)?;
    let mut raw = raw.normalize(&normalization);
    raw.clip.name = name.to_owned();
    let roles = rig.assignments().map(|(r, a)| (r, a.clone()));
    let mut character = Character::new(name, Rig::new(raw.skeleton, roles));
    character.calibration = calibrated.map(|c| c.scaled(normalization.metres_per_unit));
    // A clip without frames is a file without a clip: its rest pose is all there is.
    let clips = if raw.clip.frames() > 0 { vec![raw.clip] } else { Vec::new() };
    Ok(Asset { character: Arc::new(character), clips, meant: 0, warnings: raw.warnings })
}

/// Roles, units and axes of a BVH file.
fn understand_bvh(
    skeleton: &Skeleton,
    clip: &Clip,
    options: &Options,
    warnings: &mut Warnings,
) -> Result<(Rig, Normalization, Option<Calibrated>), ImportError> {
    let rest = skeleton.rest_model_pose();
    let told = options.up_vector();
    let vocabulary = options.vocabulary();
    let clips = [clip];
    let clips: &[&Clip] = if clip.frames() > 0 { &clips } else { &[] };
    // Names need no up axis, shapes do: where a figure standing along Y shows no legs, one along Z may.
    let upright = |up: Vec3| {
        let turn = Transform::from_rotation(arc(&up, &Vec3::y(), &Vec3::x()));
        let turned = ModelPose::new(rest.joints().iter().map(|t| turn * *t).collect());
        let file = File {
            skeleton,
            rest: &turned,
            bound: false,
            humanoid: &[],
            mass: None,
            clips,
            up: told,
            vocabulary: &vocabulary,
        };
        let understood = understand(&file);
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
    let body = Body { rig: &rig, rest: &rest, bound: false, clips, up: told, place: BVH };
    let calibrated = body.calibrate(options, warnings)?;
    let (rest_from_file, world_from_file) = match (&stands, told) {
        _ if calibrated.is_some() => {
            let turn = calibrated.as_ref().map_or_else(Quat::identity, |c| c.turn);
            (turn, turn)
        }
        (Some(o), None) => (o.normal_from_rest, motion_up(&rig, clip, o)),
        (Some(o), Some(_)) => (o.normal_from_rest, o.normal_from_rest),
        (None, up) => {
            let turn = arc(&up.unwrap_or_else(Vec3::y), &Vec3::y(), &Vec3::x());
            (turn, turn)
        }
    };
    if stands.is_none() && calibrated.is_none() {
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
    let upright = match &calibrated {
        Some(calibrated) => calibrated.calibration.pose.clone(),
        None => {
            let turn = Transform::from_rotation(rest_from_file);
            ModelPose::new(rest.joints().iter().map(|t| turn * *t).collect())
        }
    };
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
    Ok((rig, Normalization { metres_per_unit, rest_from_file, world_from_file }, calibrated))
}
